//! Ranges and types in records that are written as in other languages.

use super::engine::Facts;
use crate::diagnostic::Diagnostic;
use crate::foreign_ranges::translate_range;
use crate::parser::Parser;
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

/// What ends a range.
const ENDS: [char; 6] = [',', '}', ']', '(', '{', '"'];

/// Whether the value of an attribute is a range.
pub(super) fn is_bound(key: &str) -> bool {
    matches!(key, "range" | "length" | "size")
}

impl Parser<'_> {
    /// The error about a range that begins with a token, and is written as in prose or as in another
    /// language: `1 <= x <= 5`, `-inf..5`, `1+`.
    pub(super) fn foreign_range(&mut self, first: u32) -> Option<Diagnostic> {
        let (first, key) = self.range_of(first)?;
        let colon = self.previous(first);
        let start = self.span(first).start;
        let line = self.line_from(start);
        // A comma may be part of a range, as in `1,5`, where no key follows it.
        let pair = self.tokens.kind(self.after(first)) == T::Comma;
        let ends: &[char] = if pair { &['}', ']', '(', '{', '"'] } else { &ENDS };
        let text = line[..line.find(ends).unwrap_or(line.len())].trim();
        let span = Span::new(start, start + offset(text.len()));
        if let Some(bounds) = exclusive_bounds(text).filter(|_| key == "range") {
            let entry = Span::new(self.span(self.previous(colon)).start, span.end);
            return self.exclusive_range(entry, &bounds);
        }
        let range = translate_range(text)?;
        self.cover(self.tokens.at(span.end));
        let facts = Facts { spans: &[("range", span)], texts: &[("meant", &range)] };
        self.mistake_with("not-a-range", None, facts)
    }

    /// The first token of the range that a token is part of, and the attribute.
    fn range_of(&self, token: u32) -> Option<(u32, &str)> {
        let mut first = token;
        if matches!(self.tokens.kind(self.previous(first)), T::DotDot | T::DotDotDot) {
            first = self.previous(first);
        }
        let before = self.previous(first);
        if matches!(self.tokens.kind(first), T::DotDot) && self.tokens.kind(before).is_number() {
            first = before;
        }
        let colon = self.previous(first);
        let key = self.text(self.previous(colon));
        (self.tokens.kind(colon) == T::Colon && is_bound(key)).then_some((first, key))
    }

    /// Whether a token is part of a range.
    pub(super) fn is_in_range(&self, token: u32) -> bool {
        self.range_of(token).is_some()
    }

    /// `range: 1 < x < 5`
    fn exclusive_range(&mut self, entry: Span, bounds: &str) -> Option<Diagnostic> {
        self.cover(self.tokens.at(entry.end));
        let of_numbers = bounds.contains("above") || bounds.contains("below");
        let kind = if of_numbers { "exclusive" } else { "inclusive" };
        let facts =
            Facts { spans: &[("entry", entry)], texts: &[("kind", kind), ("bounds", bounds)] };
        self.mistake_with("exclusive-range", None, facts)
    }

    /// `range: [0, 5)`: an interval of mathematics, whose bracket and parenthesis say which bounds
    /// are exclusive.
    pub(super) fn interval(&mut self, open: u32, close: u32) -> Option<Diagnostic> {
        let key = self.key_before(open);
        let inner = self.text_between(self.after(open), self.previous(close));
        let (least, most) = inner.split_once([',', ';'])?;
        let (least, most) = (least.trim(), most.trim());
        let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
        if !is_bound(key) || !is_number(least) || !is_number(most) {
            return None;
        }
        let exclusive = (self.tokens.kind(open) == T::LParen, self.tokens.kind(close) == T::RParen);
        let bounds = match exclusive {
            (false, true) if key == "range" => format!("range: {least}..., below: {most}"),
            (true, false) if key == "range" => format!("above: {least}, range: ...{most}"),
            (false, true) => {
                format!("{key}: {least}..{}", most.parse::<i64>().ok()?.checked_sub(1)?)
            }
            (true, false) => {
                format!("{key}: {}..{most}", least.parse::<i64>().ok()?.checked_add(1)?)
            }
            _ => return None,
        };
        let key = self.previous(self.previous(open));
        let entry = self.span_between(key, close);
        self.exclusive_range(entry, &bounds)
    }
}

/// The attributes that `1 < x < 5` or `1..<5` means.
fn exclusive_bounds(text: &str) -> Option<String> {
    if let Some((least, most)) = text.split_once("..<") {
        let number = |text: &str| text.trim().parse::<f64>().is_ok_and(f64::is_finite);
        let whole = number(least) && number(most);
        return whole.then(|| format!("range: {}..., below: {}", least.trim(), most.trim()));
    }
    let parts: Vec<_> = text.split('<').map(str::trim).collect();
    let [least, _, most] = parts.as_slice() else { return None };
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    (is_number(least) && is_number(most)).then(|| format!("above: {least}, below: {most}"))
}
