//! The content of strings, names and comments, without quotes and delimiters.

use std::borrow::Cow;

use crate::lexer::is_space;
use crate::token::TokenKind as T;
use crate::tree::{Node, NodeKind as N, Token};

impl<'t> Node<'t> {
    /// The content of a name, key or string. Other nodes return their source text.
    ///
    /// Escapes are resolved. The content of a fenced string is the lines between its fences, without
    /// the last line break. An unpaired surrogate becomes U+FFFD.
    #[inline]
    pub fn content(self) -> Cow<'t, str> {
        match self.kind() {
            N::String | N::TaggedString | N::QuotedName | N::DoubleQuotedName => {
                self.string_content()
            }
            _ => Cow::Borrowed(self.text()),
        }
    }

    fn string_content(self) -> Cow<'t, str> {
        // Most are one token.
        let mut tokens = self.tokens();
        let first = tokens.next().and_then(Token::string_content);
        first.or_else(|| tokens.find_map(Token::string_content)).unwrap_or_default()
    }

    /// The tag of a tagged string: `json` of `` json`{}` ``.
    pub fn tag(self) -> Option<&'t str> {
        if self.kind() != N::TaggedString {
            return None;
        }
        self.tokens().find_map(|token| match token.kind() {
            T::Symbol => Some(token.text()),
            T::FencedTagged => {
                let text = token.text().trim_start_matches('`');
                Some(
                    text.lines()
                        .next()
                        .unwrap_or_default()
                        .trim_matches(|c: char| !c.is_ascii_graphic()),
                )
            }
            _ => None,
        })
    }

    /// The text of the doc comment before this node, without the leading `*` of its lines.
    pub fn doc_text(self) -> Option<Cow<'t, str>> {
        self.doc().map(Token::doc_text)
    }
}

impl<'t> Token<'t> {
    /// The text of this doc comment, without the leading `*` of its lines.
    pub fn doc_text(self) -> Cow<'t, str> {
        doc_text(self.text())
    }

    fn string_content(self) -> Option<Cow<'t, str>> {
        let text = self.text();
        match self.kind() {
            T::SingleQuoted | T::DoubleQuoted | T::Backticked => {
                Some(unescape(text.get(1..text.len() - 1)?))
            }
            T::QuoteText => Some(unescape(text)),
            T::Fenced | T::FencedTagged => {
                let body = text.get(text.find('\n')? + 1..text.len().checked_sub(3)?);
                Some(with_plain_line_ends(without_last_newline(body.unwrap_or_default())))
            }
            T::FenceText => Some(with_plain_line_ends(without_last_newline(text))),
            _ => None,
        }
    }
}

fn without_last_newline(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// A text whose lines end with `\n`, whatever they end with in the file.
fn with_plain_line_ends(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// Resolves the escapes of a quoted text.
fn unescape(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut at = first;
    loop {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (c, len) = escape(rest);
        out.push_str(c.encode_utf8(&mut [0; 4]));
        rest = &rest[len..];
        match memchr::memchr(b'\\', rest.as_bytes()) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character of the escape that `text` begins with, and the escape's length.
fn escape(text: &str) -> (char, usize) {
    match text.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => unicode_escape(text),
        Some(c) if c.is_ascii() => (char::from(*c), 2),
        _ => ('\\', 1),
    }
}

fn unicode_escape(text: &str) -> (char, usize) {
    let unit = |from: usize| {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else { return ('\\', 1) };
    let second = unit(6).unwrap_or_default();
    let mut decoded = char::decode_utf16([first, second]);
    match decoded.next() {
        Some(Ok(c)) => (c, if c.len_utf16() == 2 { 12 } else { 6 }),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// The text of a doc comment: without its delimiters, the leading `*` of its lines and the empty
/// lines around it.
pub(crate) fn doc_text(comment: &str) -> Cow<'_, str> {
    let inner = comment.strip_prefix("/**").unwrap_or(comment);
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let space = |c: char| u8::try_from(c).is_ok_and(is_space);
    let unmarked = |line| {
        let line = str::trim_matches(line, space);
        let line = line.strip_prefix('*').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line)
    };
    if memchr::memchr(b'\n', inner.as_bytes()).is_none() {
        return Cow::Borrowed(unmarked(inner).trim_matches(space));
    }
    let text = inner.lines().map(unmarked).collect::<Vec<_>>().join("\n");
    Cow::Owned(text.trim_matches(space).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(unescape(r"a\n\t\r\b\f\/\\\'x"), "a\n\t\r\u{8}\u{c}/\\'x");
        assert_eq!(unescape(r"\u00e4\ud83d\ude00\ud83d-"), "ä😀\u{fffd}-");
        assert_eq!(unescape("plain"), "plain");
    }

    #[test]
    fn lines_of_fenced_strings_end_alike() {
        let parse =
            crate::parse(crate::SourceFile::new("x", "(a {s: ```\r\none\r\ntwo\rthree\r\n```})"));
        let string = parse.tree().root().descendants().find(|node| node.kind() == N::String);
        assert_eq!(string.map(Node::content).as_deref(), Some("one\ntwo\nthree"));
    }

    #[test]
    fn doc_comments_lose_their_stars() {
        assert_eq!(doc_text("/** One. */"), "One.");
        assert_eq!(doc_text("/**\n * One.\n *\n *   Two.\n */"), "One.\n\n  Two.");
        assert_eq!(doc_text("/***/"), "");
    }

    #[test]
    fn strings_of_all_quotings_have_content() {
        let text = "(a {s: 'x', d: \"y\\n\", b: `z`, t: json`{}`, f: ```\nline\n\nlast\n```, g: ```json\n{}\n```, p: \"q\n \"})";
        let parse = crate::parse(crate::SourceFile::new("x", text));
        assert!(!parse.has_errors(), "{:?}", parse.diagnostics());
        let strings: Vec<_> = parse
            .tree()
            .root()
            .descendants()
            .filter(|node| matches!(node.kind(), N::String | N::TaggedString))
            .map(|node| (node.tag().unwrap_or_default(), node.content().into_owned()))
            .collect();
        let expected = [
            ("", "x"),
            ("", "y\n"),
            ("", "z"),
            ("json", "{}"),
            ("", "line\n\nlast"),
            ("json", "{}"),
            ("", "q"),
        ];
        assert_eq!(strings, expected.map(|(tag, text)| (tag, text.to_owned())));
    }
}
