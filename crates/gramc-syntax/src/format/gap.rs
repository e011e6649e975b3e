//! The gap between two tokens: spaces, line breaks, comments and empty lines.

use crate::lexer::is_space;
use crate::token::TokenKind as T;

use super::layout::Layout;

/// The columns of `/** `, behind which the text of a doc comment goes on.
const DOC: usize = 4;

/// A comment that is still to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment {
    token: u32,
    /// The number of line breaks before it.
    lines: usize,
}

/// A gap in which the line ends.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // Each is about a different line.
pub(super) struct Break {
    /// The indentation of comments.
    pub(super) inner: u32,
    /// The indentation of the token behind the gap.
    pub(super) outer: u32,
    /// Whether it follows an opening bracket or bar, where empty lines are removed.
    pub(super) opens: bool,
    /// Whether it precedes a closing bracket, where empty lines are removed.
    pub(super) closes: bool,
    /// Whether an empty line is kept where there is no comment.
    pub(super) paragraphs: bool,
    /// Whether an empty line comes before the token and the comments on lines before it.
    pub(super) apart: bool,
}

/// What of a gap has been written.
#[derive(Debug, Default)]
struct Progress {
    /// The line breaks of the text behind the last comment.
    lines: usize,
    /// Whether a comment has been written, and whether one on a line of its own.
    any: bool,
    own_line: bool,
    /// Whether the last comment is a doc comment, which nothing parts from what it describes.
    doc: bool,
}

impl Layout<'_> {
    /// Whether nothing has been written.
    fn at_start(&self) -> bool {
        self.out.is_empty() || self.out == "\u{feff}"
    }

    /// Ends the line, and begins the next one.
    fn new_line(&mut self, empty_line: bool, indent: u32) {
        if !self.at_start() {
            self.out.push_str(self.eol);
            if empty_line {
                self.out.push_str(self.eol);
            }
        }
        self.spaces(indent as usize);
        self.column = indent;
        self.indent = indent;
    }

    fn spaces(&mut self, count: usize) {
        const SPACES: &str = "                                                                ";
        match SPACES.get(..count) {
            Some(spaces) => self.out.push_str(spaces),
            None => self.out.extend(std::iter::repeat_n(' ', count)),
        }
    }

    fn text(&self, token: u32) -> &str {
        self.tree.source.slice(self.tree.tokens.span(token))
    }

    fn line_breaks(&self, token: u32) -> usize {
        self.text(token).bytes().filter(|&byte| byte == b'\n').count()
    }

    /// The gap before a top-level pattern; `behind` is the first token of the gap.
    pub(super) fn top_level_gap(&mut self, behind: u32, token: u32, apart: bool) {
        let opens = self.at_start();
        let place = Break { inner: 0, outer: 0, opens, closes: false, paragraphs: true, apart };
        self.line_gap(behind, token, place);
    }

    /// The gap at the end of the text.
    pub(super) fn end_gap(&mut self, behind: u32) {
        let mut end = behind;
        let mut progress = Progress::default();
        let opens = self.at_start();
        let place =
            Break { inner: 0, outer: 0, opens, closes: true, paragraphs: false, apart: false };
        while self.kind(end) != T::End {
            self.trivia_in_break(end, place, &mut progress);
            end += 1;
        }
        if !self.at_start() {
            self.out.push_str(self.eol);
        }
    }

    /// A gap in which the line ends, between two tokens of a pattern.
    pub(super) fn break_line(&mut self, before: u32, token: u32, place: Break) {
        self.line_gap(before + 1, token, place);
    }

    fn line_gap(&mut self, from: u32, token: u32, place: Break) {
        let mut progress = Progress::default();
        for comment in std::mem::take(&mut self.waiting) {
            progress.lines = comment.lines;
            self.comment_in_break(comment.token, place, &mut progress);
        }
        for trivia in from..token {
            self.trivia_in_break(trivia, place, &mut progress);
        }
        let kept = if progress.any { !place.opens || progress.own_line } else { place.keeps() };
        let kept = progress.lines > 1 && !place.closes && !progress.doc && kept;
        let empty_line = kept || (place.apart && !place.opens && !progress.own_line);
        self.new_line(empty_line, place.outer);
    }

    fn trivia_in_break(&mut self, token: u32, place: Break, progress: &mut Progress) {
        if self.kind(token) == T::Whitespace {
            progress.lines += self.line_breaks(token);
        } else {
            self.comment_in_break(token, place, progress);
        }
    }

    /// A comment where the line ends: on this line, if it stood there, or on one of its own.
    fn comment_in_break(&mut self, token: u32, place: Break, progress: &mut Progress) {
        let comment = self.kind(token) == T::Comment;
        if comment && progress.lines == 0 && !progress.any && !self.at_start() {
            self.out.push(' ');
        } else {
            let apart = place.apart && !place.opens && !progress.own_line;
            let empty_line = apart || (progress.lines > 1 && (!place.opens || progress.own_line));
            self.new_line(empty_line, place.inner);
            progress.own_line = true;
        }
        self.comment(token, place.inner);
        *progress = Progress { lines: 0, any: true, doc: !comment, ..*progress };
    }

    fn comment(&mut self, token: u32, indent: u32) {
        let source = self.tree.source.clone();
        let text = source.slice(self.tree.tokens.span(token));
        if self.kind(token) == T::Comment {
            self.out.push_str(trim_end(text));
        } else {
            self.doc_comment(text, indent as usize);
        }
    }

    /// A doc comment, with the lines behind its first one aligned to it.
    fn doc_comment(&mut self, text: &str, indent: usize) {
        let mut lines = text.split('\n');
        let first = lines.next().unwrap_or_default();
        let Some(least) = lines.clone().filter_map(leading_space).min() else {
            // Lines that begin with stars, or a single line.
            self.out.push_str(if first.len() == text.len() { text } else { trim_end(first) });
            return self.doc_lines(lines, indent, 0, 0);
        };
        let first = trim_end(first);
        self.out.push_str(first);
        let column = if first.len() > "/**".len() { DOC } else { DOC / 2 };
        self.doc_lines(lines, indent, column, least);
    }

    /// The lines of a doc comment behind the first. Those without a star keep their indentation
    /// among each other.
    fn doc_lines<'l>(
        &mut self,
        lines: impl Iterator<Item = &'l str>,
        indent: usize,
        column: usize,
        least: usize,
    ) {
        for line in lines {
            self.out.push_str(self.eol);
            let text = trim_end(line).trim_start_matches(is_space_char);
            if text.starts_with('*') {
                self.spaces(indent + 1);
            } else if let Some(space) = leading_space(line) {
                self.spaces(indent + column + space - least);
            }
            self.out.push_str(text);
        }
    }

    /// A gap within a line, which only a comment can break.
    pub(super) fn within_line(&mut self, before: u32, token: u32, indent: u32) {
        let mut breaks = false;
        let mut lines = 0;
        let mut docs = false;
        for trivia in before + 1..token {
            match self.kind(trivia) {
                T::Whitespace => lines += self.line_breaks(trivia),
                T::Comment => {
                    if breaks || lines > 0 {
                        self.new_line(false, indent);
                    } else {
                        self.out.push(' ');
                    }
                    self.comment(trivia, indent);
                    (breaks, lines, docs) = (true, 0, false);
                }
                _ => {
                    let long = self.text(trivia).contains('\n');
                    if breaks || long {
                        self.new_line(false, indent);
                    } else if docs || !self.out.ends_with(['(', '[', '{', '<', ' ']) {
                        self.out.push(' ');
                    }
                    self.comment(trivia, indent);
                    self.column += self.tree.tokens.span(trivia).len() + 1;
                    (breaks, lines, docs) = (long, 0, true);
                }
            }
        }
        let closes =
            matches!(self.kind(token), T::Comma | T::RParen | T::RBracket | T::RBrace | T::Greater);
        if breaks {
            self.new_line(false, indent);
        } else if self.needs_space(before, token) || (docs && !closes) {
            self.space();
        }
    }

    /// The gap before a comma or bar. Comments wait until it has been written, but for doc
    /// comments, which would describe something else behind it.
    pub(super) fn before_separator(&mut self, before: u32, token: u32, indent: u32) {
        let mut lines = 0;
        if (before + 1..token).any(|trivia| self.kind(trivia) == T::DocComment) {
            return self.within_line(before, token, indent);
        }
        for trivia in before + 1..token {
            if self.kind(trivia) == T::Whitespace {
                lines += self.line_breaks(trivia);
            } else {
                self.waiting.push(Comment { token: trivia, lines });
                lines = 0;
            }
        }
        if self.needs_space(before, token) {
            self.space();
        }
    }

    /// The gap before what begins a line without being an item.
    pub(super) fn own_line(&mut self, before: u32, token: u32, indent: u32, paragraphs: bool) {
        let place = Break {
            inner: indent,
            outer: indent,
            opens: false,
            closes: false,
            paragraphs,
            apart: false,
        };
        self.break_line(before, token, place);
    }
}

impl Break {
    /// Whether an empty line is kept where there is no comment.
    fn keeps(self) -> bool {
        self.paragraphs && !self.opens
    }
}

fn is_space_char(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_space)
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space_char)
}

/// The width of the white space before a doc comment's line of text; nothing for an empty line and
/// for one that begins with a star.
fn leading_space(line: &str) -> Option<usize> {
    let text = line.trim_start_matches(is_space_char);
    (!text.is_empty() && !text.starts_with('*')).then_some(line.len() - text.len())
}
