//! Ranges and types in records that are written as in other languages.

use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Fix};
use crate::foreign_ranges::translate_range;
use crate::foreign_types::{bounding_attribute, translate_type};
use crate::parse::is_type;
use crate::parser::Parser;
use crate::parser::group::{Group, is_closer};
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

/// Help for the ends of a range.
pub(super) const FORMS: &str = "write 1..10, 1... (no upper bound) or ...10 (no lower bound)";

/// Attributes whose value is a list of words, which are no types.
const LISTS: [&str; 2] = ["enum", "examples"];

/// What ends a range.
const ENDS: [char; 6] = [',', '}', ']', '(', '{', '"'];

/// Whether the value of an attribute is a range.
pub(super) fn is_bound(key: &str) -> bool {
    matches!(key, "range" | "length" | "size")
}

impl Parser<'_> {
    /// `range: "2026-01-01".."2026-12-31"`
    pub(super) fn range_of_texts(&mut self) -> Diagnostic {
        let end = self.after(self.at);
        let span = self.span_between(self.last, end);
        self.cover(end + 1);
        self.value_error(span, "a range is between two numbers")
            .help("write the bounds of other values into the description")
    }

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
            return Some(self.exclusive_range(
                Span::new(self.span(self.previous(colon)).start, span.end),
                &bounds,
            ));
        }
        let range = translate_range(text)?;
        let message = format!("`{text}` is not a range");
        self.cover(self.tokens.at(span.end));
        Some(
            self.error(&codes::NUMBER, span, message)
                .help(format!("write {range}"))
                .fix(Fix::replace(NeedsLook, format!("write {range}"), span, range)),
        )
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
    fn exclusive_range(&mut self, entry: Span, bounds: &str) -> Diagnostic {
        self.cover(self.tokens.at(entry.end));
        let of_numbers = bounds.contains("above") || bounds.contains("below");
        let what = if of_numbers { "exclusive bounds" } else { "inclusive bounds" };
        self.error(&codes::NUMBER, entry, "the bounds of a range belong to it")
            .help(format!("write {what}: {bounds}"))
            .fix(Fix::replace(NeedsLook, format!("write {bounds}"), entry, bounds))
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
        Some(self.exclusive_range(entry, &bounds))
    }

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

    /// `{range >= 1}`, at the sign.
    pub(super) fn compared_key(&mut self) -> Option<Diagnostic> {
        let signs = matches!(self.kind(), T::Greater | T::Less | T::LessEquals);
        if !signs || !is_bound(self.text(self.last)) {
            return None;
        }
        let start = self.here().start;
        let line = self.line_from(start);
        let text = line[..line.find([',', '}']).unwrap_or(line.len())].trim_end();
        let range = translate_range(text)?;
        let span = Span::new(start, start + offset(text.len()));
        let gap = Span::new(self.gap().start, span.end);
        self.cover(self.tokens.at(span.end));
        let write = format!("{}: {range}", self.text(self.last));
        Some(
            self.error(&codes::NUMBER, span, "a range is not a comparison")
                .help(format!("write {write}"))
                .fix(Fix::replace(NeedsLook, format!("write {write}"), gap, format!(": {range}"))),
        )
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

    /// `(count::Int {1..5})` or `(name::Text {80})`
    pub(super) fn range_without_key(&mut self, group: Group) -> Option<Diagnostic> {
        let dots = self.second();
        let range = (self.kind().is_number() && matches!(dots, T::DotDot | T::DotDotDot))
            || self.kind() == T::DotDotDot;
        let label = self.previous(group.opener);
        let colon = self.tokens.kind(self.previous(label));
        let number = self.kind().is_number() && dots == T::RBrace;
        if !(range || number) || !matches!(colon, T::ColonColon | T::Colon) {
            return None;
        }
        let key = bounding_attribute(self.text(label));
        if number {
            return Some(self.number_without_key(key));
        }
        let end = self.next_of(self.at, &[T::Comma]).or_else(|| self.closer_around(self.at))?;
        self.cover(end);
        let start = Span::empty(self.here().start);
        let entry = format!("{key}: {}", self.text_between(self.at, self.previous(end)));
        let mut edits = vec![edit(start, format!("{key}: "))];
        // `Text{1..80} {description: "…"}`
        let record = self.after(end);
        if self.tokens.kind(end) == T::RBrace && self.tokens.kind(record) == T::LBrace {
            let between = Span::new(self.span(end).start, self.span(record).end);
            edits.push(edit(between, ", "));
            self.cover(self.after(self.closer_of(record)?));
        }
        Some(
            self.value_error(self.here(), "a range needs its key")
                .help(format!("write {{{entry}}}"))
                .fix(likely(format!("write {entry}"), edits)),
        )
    }

    /// `{80}`, after a type that an attribute bounds.
    fn number_without_key(&mut self, key: &str) -> Diagnostic {
        let number = self.text(self.at);
        let start = Span::empty(self.here().start);
        self.cover(self.at + 1);
        let error = self.value_error(self.here(), "a number needs its key");
        let most = format!("{key}: ...{number}");
        if key == "range" {
            // It may as well be the default.
            return error.help(format!("write {{default: {number}}}, or {{{most}}} for a bound"));
        }
        error.help(format!("write {{{most}}}, or {{{key}: {number}..{number}}}")).fix(Fix::replace(
            NeedsLook,
            format!("write {most}"),
            start,
            format!("{key}: ..."),
        ))
    }

    /// `1...5`, after the three dots.
    pub(in crate::parser) fn range_with_three_dots(&mut self) {
        let dots = self.span(self.last);
        let error = self
            .error(&codes::NUMBER, dots, "a range with two bounds has two dots")
            .help(FORMS)
            .fix(Fix::replace(Safe, "write `..`", dots, ".."));
        self.report(error);
        self.error_token();
    }

    /// What is written where a range ends.
    pub(super) fn known_bound(&mut self) -> Option<Diagnostic> {
        let first = self.previous(self.last);
        let first = if self.tokens.kind(first).is_number() { first } else { self.last };
        let end = matches!(self.kind(), T::Comma | T::RBrace);
        if !end && let Some(error) = self.foreign_range(first) {
            return Some(error);
        }
        if self.text(self.last) == "..." && self.kind() == T::Symbol {
            let span = self.span_between(self.last, self.at);
            self.cover(self.at + 1);
            return Some(
                self.value_error(span, "a value is not computed")
                    .help("write the values themselves"),
            );
        }
        let dots = self.span(self.last);
        let next = self.after(self.at);
        let error = self
            .error(
                &codes::NUMBER,
                self.here(),
                format!("expected the range's end, found {}", self.found()),
            )
            .help(FORMS);
        if self.kind() == T::Equals && self.tokens.kind(next).is_number() {
            self.cover(next + 1);
            return Some(error.fix(Fix::replace(NeedsLook, "remove the `=`", self.here(), "")));
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

    /// `read only: true`, at the second word of the key.
    pub(super) fn key_of_words(&self) -> Option<Diagnostic> {
        let (first, second) = (self.text(self.last), self.text(self.at));
        if self.kind() != T::Symbol || self.second() != T::Colon {
            return None;
        }
        let (head, rest) = second.split_at_checked(1)?;
        let key = format!("{first}{}{rest}", head.to_uppercase());
        let span = self.span_between(self.last, self.at);
        Some(
            self.error(&codes::MISSING_VALUE, span, "a key is one word")
                .help(format!("write {key}"))
                .fix(Fix::replace(NeedsLook, format!("write {key}"), span, key)),
        )
    }

    /// `[a", "b"]`, at the text between the quotes.
    pub(super) fn unopened_item(&mut self) -> Option<Diagnostic> {
        let text = self.text(self.at);
        let quoted = matches!(self.kind(), T::DoubleQuoted | T::SingleQuoted);
        let (word, quote) = (self.text(self.last), text.get(..1)?);
        let comma = text.get(1..).is_some_and(|text| text.trim_start().starts_with([',', ']']));
        if !quoted || !comma || self.tokens.kind(self.last) != T::Symbol || !self.touching() {
            return None;
        }
        let start = Span::empty(self.span(self.last).start);
        let message = format!("this string has no opening {quote}");
        let span = Span::new(start.start, self.here().start + 1);
        Some(
            self.error(&codes::UNCLOSED_STRING, span, message)
                .help(format!("write {quote}{word}{quote}"))
                .fix(Fix::replace(NeedsLook, format!("insert the {quote}"), start, quote)),
        )
    }

    /// The error about a type without its quotes in a record, after its first word:
    /// `elementType: Text[]`.
    pub(super) fn unquoted_type(&mut self) -> Option<Diagnostic> {
        let first = self.last;
        let begins = matches!(self.kind(), T::LBracket | T::Less | T::Question | T::Pipe);
        let key = self.text(self.previous(self.previous(first)));
        if self.tokens.kind(first) != T::Symbol || !begins || LISTS.contains(&key) {
            return None;
        }
        let (mut depth, mut last, mut index) = (0_u32, first, self.at);
        for _ in 0..super::LOOK_AHEAD {
            let kind = self.tokens.kind(index);
            match kind {
                T::End => return None,
                T::Comma if depth == 0 => break,
                T::LBracket | T::LParen | T::LBrace | T::Less => depth += 1,
                _ if is_closer(kind) && depth == 0 => break,
                _ if is_closer(kind) => depth -= 1,
                _ => {}
            }
            last = index;
            index = self.after(index);
        }
        let span = self.span_between(first, last);
        let text = self.source.slice(span);
        let ty = if is_type(text) { text.to_owned() } else { translate_type(text)?.text };
        let quoted = format!("\"{}\"", ty.replace('\\', "\\\\").replace('"', "\\\""));
        self.cover(index);
        Some(
            self.error(&codes::MISSING_VALUE, span, "a type in a record is written in quotes")
                .help(format!("write {quoted}"))
                .fix(Fix::replace(NeedsLook, format!("write {quoted}"), span, quoted)),
        )
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
