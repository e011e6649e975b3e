//! Ranges that are written as in other languages.

use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Fix};
use crate::foreign_types::bounding_attribute;
use crate::parser::Parser;
use crate::parser::group::Group;
use crate::span::Span;
use crate::token::TokenKind as T;

/// Marks between the bounds of a range that are not gram's. A longer one comes before the one that
/// it begins with.
const RANGE_MARKS: [&str; 11] = ["...", "..=", "..", "…", "–", "—", "−", "~", ":", ";", " to "];

/// The attributes that take ranges.
pub(super) fn is_bound(key: &str) -> bool {
    matches!(key, "range" | "length" | "size")
}

/// The range that prose describes: `between 1 and 5`, `at least 1`.
pub(super) fn range_in_prose(text: &str) -> Option<String> {
    let words: Vec<_> = text.split_whitespace().collect();
    let numbers: Vec<_> = words.iter().filter(|word| word.parse::<f64>().is_ok()).collect();
    match (numbers.as_slice(), *words.first()?) {
        ([least, most], "between" | "from" | "in" | "min" | "at") => {
            Some(format!("{least}..{most}"))
        }
        ([most], "max" | "maximum" | "up" | "below" | "until" | "to") => Some(format!("...{most}")),
        ([least], "min" | "minimum" | "from" | "least") => Some(format!("{least}...")),
        ([bound], "at") if words.get(1) == Some(&"least") => Some(format!("{bound}...")),
        ([bound], "at") if words.get(1) == Some(&"most") => Some(format!("...{bound}")),
        _ => None,
    }
}

/// The range that a text writes with other marks: `1…5`, `1–`, `1:5`, `1-5`.
pub fn foreign_range(text: &str) -> Option<String> {
    let mark = RANGE_MARKS.iter().find(|mark| text.contains(**mark));
    let (least, most) = match mark {
        Some(mark) => text.split_once(mark)?,
        None => text.split_at_checked(1).and_then(|(_, rest)| {
            let at = text.len() - rest.len() + rest.find('-')?;
            Some((&text[..at], &text[at + 1..]))
        })?,
    };
    let (least, most) = (least.trim(), most.trim());
    let number = |text: &str| text.is_empty() || text.parse::<f64>().is_ok_and(f64::is_finite);
    if !number(least) || !number(most) {
        return None;
    }
    match (least, most) {
        ("", "") => None,
        ("", most) => Some(format!("...{most}")),
        (least, "") => Some(format!("{least}...")),
        _ => Some(format!("{least}..{most}")),
    }
}

impl Parser<'_> {
    /// `>= 1`
    pub(super) fn comparison(&mut self) -> Option<Diagnostic> {
        let greater = self.kind() == T::Greater;
        let mut number = self.after(self.at);
        let exclusive = self.kind() != T::LessEquals && self.tokens.kind(number) != T::Equals;
        if self.tokens.kind(number) == T::Equals {
            number = self.after(number);
        }
        if !self.tokens.kind(number).is_number() {
            return None;
        }
        let span = self.span_between(self.at, number);
        let bound = self.text(number);
        let message = "a range is not a comparison";
        self.cover(number + 1);
        if exclusive {
            let key = if greater { "above" } else { "below" };
            let help = format!("write an exclusive bound as {key}: {bound}");
            return Some(self.value_error(span, message).help(help));
        }
        let range = if greater { format!("{bound}...") } else { format!("...{bound}") };
        Some(self.value_error(span, message).help(format!("write {range}")).fix(Fix::replace(
            NeedsLook,
            format!("write {range}"),
            span,
            range,
        )))
    }

    /// `range: 1, 5`, at the second number.
    pub(super) fn range_with_comma(&mut self) -> Option<Diagnostic> {
        let least = self.previous(self.last);
        let numbers = self.tokens.kind(least).is_number() && self.kind().is_number();
        if self.tokens.kind(self.last) != T::Comma || !numbers || !is_bound(self.key_before(least))
        {
            return None;
        }
        let span = self.span_between(least, self.at);
        let range = format!("{}..{}", self.text(least), self.text(self.at));
        self.cover(self.at + 1);
        Some(self.range_error(span, range))
    }

    /// `(count::Int {1..5})`
    pub(super) fn range_without_key(&mut self, group: Group) -> Option<Diagnostic> {
        let dots = self.second();
        let range = (self.kind().is_number() && matches!(dots, T::DotDot | T::DotDotDot))
            || self.kind() == T::DotDotDot;
        let label = self.previous(group.opener);
        let colon = self.tokens.kind(self.previous(label));
        if !range || !matches!(colon, T::ColonColon | T::Colon) {
            return None;
        }
        let key = bounding_attribute(self.text(label));
        let end = self.next_of(self.at, &[T::Comma]).or_else(|| self.closer_around(self.at))?;
        self.cover(end);
        let start = Span::empty(self.here().start);
        let entry = format!("{key}: {}", self.text_between(self.at, self.previous(end)));
        Some(
            self.value_error(self.here(), "a range needs its key")
                .help(format!("write {{{entry}}}"))
                .fix(Fix::replace(NeedsLook, format!("write {entry}"), start, format!("{key}: "))),
        )
    }

    /// `1...5`, after the three dots.
    pub(in crate::parser) fn range_with_three_dots(&mut self) {
        let dots = self.span(self.last);
        let error = self
            .error(&codes::NUMBER, dots, "a range with two bounds has two dots")
            .help("write 1..10, 1... (no upper bound) or ...10 (no lower bound)")
            .fix(Fix::replace(Safe, "write `..`", dots, ".."));
        self.report(error);
        self.error_token();
    }

    /// What is written where a range ends.
    pub(super) fn known_bound(&mut self) -> Option<Diagnostic> {
        let dots = self.span(self.last);
        let next = self.after(self.at);
        let error = self
            .error(
                &codes::NUMBER,
                self.here(),
                format!("expected the range's end, found {}", self.found()),
            )
            .help("write 1..10, 1... (no upper bound) or ...10 (no lower bound)");
        if self.kind() == T::Equals && self.tokens.kind(next).is_number() {
            self.cover(next + 1);
            return Some(error.fix(Fix::replace(NeedsLook, "remove the `=`", self.here(), "")));
        }
        if self.kind() == T::Less && self.tokens.kind(next).is_number() {
            self.cover(next + 1);
            let below = format!("below: {}", self.text(next));
            let span = self.span_between(self.last, next);
            return Some(error.help(format!("write an exclusive bound as {below}")).fix(
                Fix::replace(NeedsLook, format!("write {below}"), span, format!("..., {below}")),
            ));
        }
        if self.kind() == T::Symbol {
            let span = Span::new(dots.start, self.here().end);
            self.cover(self.at + 1);
            return Some(error.fix(Fix::replace(NeedsLook, "write `...`", span, "...")));
        }
        let end =
            matches!(self.kind(), T::Comma | T::RBrace | T::RBracket | T::RParen | T::Greater);
        end.then(|| error.fix(Fix::replace(Safe, "write `...`", dots, "...")))
    }

    /// `1 - 10` or `1 to 10`
    pub(super) fn range_in_words(&mut self) -> Option<Diagnostic> {
        let last = self.after(self.at);
        let word = matches!(
            self.text(self.at),
            "-" | "~" | "–" | "—" | "−" | "…" | "to" | "until" | "through" | "and"
        );
        if !word || !self.tokens.kind(last).is_number() || !self.tokens.kind(self.last).is_number()
        {
            return None;
        }
        let span = self.span_between(self.last, last);
        let range = format!("{}..{}", self.text(self.last), self.text(last));
        self.cover(last + 1);
        Some(self.range_error(span, range))
    }

    /// The error about a range that is written otherwise.
    pub(super) fn range_error(&self, span: Span, range: String) -> Diagnostic {
        self.error(&codes::NUMBER, span, "a range has two dots")
            .help(format!("write {range}"))
            .fix(Fix::replace(NeedsLook, format!("write {range}"), span, range))
    }

    /// A range with another mark between its bounds.
    pub(super) fn range_between(&mut self, first: u32, last: u32) -> Option<Diagnostic> {
        let span = self.span_between(first, last);
        let range = foreign_range(self.source.slice(span))?;
        self.cover(last + 1);
        Some(self.range_error(span, range))
    }
}
