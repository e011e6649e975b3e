//! Comments of other languages.

use super::engine::Facts;
use crate::parser::Parser;
use crate::parser::group::is_arrow;
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

/// Maximum length of a comment of another language, in bytes.
const MAX_COMMENT: usize = 200;

impl Parser<'_> {
    /// Passes over a comment up to the end of its line that begins as in another language, and
    /// reports it: `-- words`, `# words`, `; words`. Whether there was one.
    pub(in crate::parser) fn foreign_comment(&mut self) -> bool {
        let dashes = self.kind() == T::Dash;
        if !dashes && self.kind() != T::Unknown {
            return false;
        }
        let start = self.here().start;
        let rest = self.source.text().as_bytes().get(start as usize..).unwrap_or_default();
        // A longer line is no comment of prose, and is not looked at again for each of its marks.
        let Some(len) = memchr::memchr(b'\n', &rest[..rest.len().min(MAX_COMMENT)]) else {
            return false;
        };
        let line = self.source.text()[start as usize..start as usize + len].trim_end();
        let Some(mark) = ["--", "#", ";", "%"].into_iter().find(|mark| line.starts_with(mark))
        else {
            return false;
        };
        let (words, end) = (&line[mark.len()..], start + offset(line.len()));
        let apart = words.starts_with(' ') && self.span(self.last).end < start;
        if words.contains(['(', ')', '[', ']', '{', '}']) || !(apart || mark == "#") {
            return false;
        }
        // The words after the mark.
        let (mut next, mut count) = (self.after(if dashes { self.at + 1 } else { self.at }), 0);
        while self.tokens.kind(next) != T::End && self.span(next).start < end {
            next = self.after(next);
            count += 1;
        }
        // One word may be a node without its parentheses, or an item.
        let arrow = is_arrow(self.tokens.kind(next)) && is_arrow(self.tokens.kind(next + 1));
        if count == 0
            || self.tokens.kind(next) == T::End
            || !(count > 1 || mark == "#" || (dashes && arrow))
        {
            return false;
        }
        let mark = Span::new(start, start + offset(mark.len()));
        self.report_with("foreign-comment", None, Facts { spans: &[("mark", mark)], texts: &[] });
        self.skip_to(end);
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::{SourceFile, parse};

    fn errors(text: &str) -> Vec<String> {
        let parse = parse(SourceFile::new("x.gram", text));
        parse.diagnostics().iter().map(|found| found.message.clone()).collect()
    }

    #[test]
    fn lines_of_two_dashes_are_arrows_where_gram_has_them() {
        assert!(errors("(a) -- // two words here\n(b)").is_empty());
        assert!(errors("(a) --\n(b)").is_empty());
        assert!(errors("(a) -- (b)\n(c)").is_empty());
        assert_eq!(errors("[t | (a) -- two words\n==>(b)]"), ["gram has no `--` comments"]);
        assert_eq!(errors("[t | (a) -- b]\n")[0], "expected a node, found `b`");
    }
}
