//! Errors of the parser: what was found, what was expected, the likely cause and a fix.

mod arrows;
mod brackets;
mod comments;
mod describe;
mod engine;
mod entries;
mod foreign;
mod lexical;
mod names;
mod places;
mod ranges;
mod scan;
mod subjects;
mod table;
mod types;
mod values;

pub(super) use scan::LABELS;

use super::Parser;
use super::group::{Group, is_arrow, is_closer};
use crate::diagnostic::{Code, Diagnostic};
use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

/// Maximum number of tokens to look ahead for the cause of an error.
pub(super) const LOOK_AHEAD: u32 = 200;

impl Parser<'_> {
    fn error(&self, code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, self.source, span, message)
    }

    /// Reports an error at the next token, unless there is one already.
    fn report(&mut self, diagnostic: Diagnostic) {
        let known =
            self.reported == Some(self.at) || self.is_covered() || self.kind() == T::Unclosed;
        self.reported = Some(self.at);
        self.covered = self.covered.max(std::mem::take(&mut self.to_cover));
        if !known && !self.is_full() {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether an error that covers the next token is reported.
    fn is_covered(&self) -> bool {
        self.at < self.covered
    }

    /// Whether the limit of diagnostics is exceeded, so that no message is needed.
    fn is_full(&self) -> bool {
        self.diagnostics.len() > self.limits.max_diagnostics
    }

    /// Reports an error about a group, unless it contains an unclosed string, which includes the rest
    /// of its line.
    fn report_in(&mut self, group: Group, diagnostic: Diagnostic) {
        if self.swallowed.is_some_and(|string| group.opener < string) {
            self.reported = Some(self.at);
            self.to_cover = 0;
        } else {
            self.report(diagnostic);
        }
    }

    /// The span of the next token. At the end of the text, the position after the last token.
    fn here(&self) -> Span {
        if self.kind() == T::End { self.gap() } else { self.span(self.at) }
    }

    /// The empty span after the last token.
    fn gap(&self) -> Span {
        Span::empty(self.span(self.last).end)
    }

    /// Whether there is no trivia between the last token and the next one.
    pub(super) fn touching(&self) -> bool {
        self.span(self.last).end == self.span(self.at).start
    }

    /// A description of the next token for messages.
    fn found(&self) -> String {
        if self.kind() == T::End {
            return "the end of the file".to_owned();
        }
        let text = self.text(self.at);
        if let Some(name) = invisible(text) {
            return name;
        }
        if is_arrow(self.kind()) {
            // An arrow has several tokens.
            return format!("`{}`", self.text_between(self.at, self.arrow_end(self.at)));
        }
        let line = text.lines().next().unwrap_or_default();
        if line.chars().count() > 32 || line.len() < text.trim_end().len() {
            let start: String = line.chars().take(28).collect();
            return format!("`{start}…`");
        }
        if line.contains('`') { line.to_owned() } else { format!("`{line}`") }
    }

    /// Whether a group's own end comes before the next declaration, brackets in between being
    /// whole; with `plain`, before any other bracket or arrow.
    pub(super) fn closes_soon(&self, group: Group, plain: bool) -> bool {
        let mut depth = 0_u32;
        for index in self.at..self.at + LOOK_AHEAD {
            let kind = self.tokens.kind(index);
            if depth == 0 && kind == group.closer {
                return true;
            }
            match kind {
                T::End => return false,
                T::LBracket | T::LParen | T::LBrace if plain || self.begins_line(index) => {
                    return false;
                }
                T::LBracket | T::LParen | T::LBrace => depth += 1,
                _ if is_closer(kind) && kind != T::Greater => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    // The token that the question is about may be a closer too many.
                    None if index == self.at => {}
                    None => return false,
                },
                _ if plain && is_arrow(kind) && is_arrow(self.tokens.kind(index + 1)) => {
                    return false;
                }
                _ => {}
            }
        }
        false
    }

    /// How many closers of the next token's kind, it included, close what was opened before it,
    /// up to the next declaration. Where they are more than open brackets of that kind, the next
    /// token is a slip for another closer.
    pub(super) fn unmatched_closers(&self) -> u32 {
        let closer = self.kind();
        let opener = match closer {
            T::RBracket => T::LBracket,
            T::RParen => T::LParen,
            T::RBrace => T::LBrace,
            _ => T::Less,
        };
        let (mut depth, mut unmatched) = (0_u32, 0);
        for index in self.at..self.at + LOOK_AHEAD {
            let kind = self.tokens.kind(index);
            if kind == T::End || (kind == T::LBracket && self.begins_line(index)) {
                break;
            }
            if kind == opener {
                depth += 1;
            } else if kind == closer {
                match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => unmatched += 1,
                }
            }
        }
        unmatched
    }

    /// Passes over tokens, as an error node, up to where a span ends.
    fn skip_to(&mut self, end: u32) {
        if self.kind() == T::End || self.span(self.at).start >= end {
            return;
        }
        let node = self.open(N::Error);
        while self.kind() != T::End && self.span(self.at).start < end {
            self.bump();
        }
        self.close(node);
    }
}

/// Whether a text is a character without any width.
fn is_zero_width(text: &str) -> bool {
    let mut chars = text.chars();
    let zero = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];
    chars.next().is_some_and(|c| zero.contains(&c)) && chars.next().is_none()
}

/// The name of an invisible character.
fn invisible(text: &str) -> Option<String> {
    let mut chars = text.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else { return None };
    let name = match c {
        '\u{a0}' => "a no-break space",
        '\u{200b}' => "a zero-width space",
        '\u{feff}' => "a byte order mark",
        '\u{ad}' => "a soft hyphen",
        '\u{200c}' => "a zero-width non-joiner",
        '\u{200d}' => "a zero-width joiner",
        '\u{2060}' => "a word joiner",
        '\u{3000}' => "an ideographic space",
        '\u{2028}' => "a line separator",
        '\0' => "a NUL character",
        _ if c.is_control() => "a control character",
        _ => return None,
    };
    Some(format!("{name} (U+{:04X})", u32::from(c)))
}

fn closer_text(closer: T) -> &'static str {
    match closer {
        T::RBracket => "]",
        T::RParen => ")",
        T::Greater => ">",
        _ => "}",
    }
}

/// The stroke of an arrow's token: `-`, `=` or `~`.
fn stroke(token: &str) -> &'static str {
    match token.trim_start_matches('<').chars().next() {
        Some('=') => "=",
        Some('~') => "~",
        _ => "-",
    }
}
