//! What may come between two tokens: whitespace, comments and doc comments.

use super::Writer;

/// How much of it to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trivia {
    /// Nothing, where the grammar lets tokens touch.
    None,
    /// What people write: single spaces, line breaks, a comment now and then.
    Plain,
    /// Everything the grammar allows, at some of the places.
    Wild,
    /// Everything the grammar allows, at most of the places.
    Mad,
}

/// Pieces of comments. Quotes and brackets are among them because a lexer that looks for the end
/// of a string or a bracket must not find it in here.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const COMMENT_PIECES: &[&str] = &[
    "note", " ", "TODO", "\"", "'", "`", "```", "{", "}", "(", ")", "[", "]", "|", ":", "@", "//",
    "/**", "*", "/", "\\", "\\n", "é", "漢字", "😀", "\t", "\r", "->", "true", "0", "\u{feff}",
    "\u{a0}", "gram-allow: portable-gram",
];

/// Pieces of doc comments; `*/` is not among them, and a line break is.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const DOC_PIECES: &[&str] = &[
    "The name.", " ", "\n", "\n * ", "**", "* ", "/ ", "//", "\"", "'", "`", "```", "{", "(", "[",
    "\\", "é", "漢字", "😀", "\t", "\r\n", "/**", "@param", "\u{2028}",
];

const SPACES: &[&str] = &[" ", "  ", "\n", "\t", "\r\n", "\r", "\u{b}", "\u{c}", "\n\n", "\n  "];

impl Writer<'_> {
    /// Writes what may come before a token.
    pub(super) fn trivia(&mut self) {
        let count = match self.profile.trivia {
            Trivia::None => return,
            Trivia::Plain => {
                match self.rng.below(100) {
                    0..=54 => {}
                    55..=84 => self.out.push(' '),
                    85..=96 => self.out.push_str("\n  "),
                    97..=98 => self.comment(),
                    _ => self.doc_comment(),
                }
                return;
            }
            Trivia::Wild if self.rng.chance(70) => return,
            Trivia::Wild => self.rng.between(1, 2),
            Trivia::Mad => self.rng.between(0, 3),
        };
        for _ in 0..count {
            match self.rng.below(10) {
                0..=6 => {
                    let space = self.rng.pick(SPACES);
                    self.out.push_str(space);
                }
                7..=8 => self.comment(),
                _ => self.doc_comment(),
            }
        }
    }

    /// Trivia without a line break, for the places where a line break is a token.
    pub(super) fn trivia_on_line(&mut self) {
        if self.profile.trivia == Trivia::None || self.rng.chance(70) {
            return;
        }
        match self.rng.below(4) {
            0 => self.out.push(' '),
            1 => self.out.push_str("\t\u{b} "),
            2 => self.doc_comment(),
            // The comment's line break is left to the token that follows.
            _ => {
                self.comment();
                let end = self.out.trim_end_matches('\n').len();
                self.out.truncate(end);
            }
        }
    }

    /// A comment, with the line break that ends it.
    pub(super) fn comment(&mut self) {
        self.out.push_str("//");
        for _ in 0..self.rng.below(6) {
            let piece = self.rng.pick(COMMENT_PIECES);
            self.out.push_str(piece);
        }
        self.out.push('\n');
    }

    /// A doc comment.
    pub(super) fn doc_comment(&mut self) {
        self.out.push_str("/**");
        for _ in 0..self.rng.below(6) {
            let piece = self.rng.pick(DOC_PIECES);
            // A star and a slash from two pieces would end the comment too early.
            if self.out.ends_with('*') && piece.starts_with('/') {
                self.out.push(' ');
            }
            self.out.push_str(piece);
        }
        self.out.push_str("*/");
    }
}
