//! Keys, values and numbers.

use super::engine::Facts;
use crate::foreign_ranges::translate_range;
use crate::parser::Parser;
use crate::parser::group::Group;
use crate::span::{Span, offset};
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    pub(in crate::parser) fn missing_type(&mut self) {
        if let Some(error) = self.mistake("missing-type", None) {
            return self.report(error);
        }
        if let Some(error) = self.mistake("quoted-label", None) {
            self.report(error);
            return self.error_token();
        }
        self.report_mistake("no-type");
    }

    pub(in crate::parser) fn missing_key(&mut self, group: Group) -> bool {
        let number = self.previous(self.last);
        let comma = self.tokens.kind(self.last) == T::Comma && self.kind().is_number();
        let range = if comma && self.touching() { self.foreign_range(number) } else { None };
        let known = range.or_else(|| self.mistake("key", Some(group)));
        if let Some(error) = known {
            self.report_in(group, error);
        } else {
            let facts = Facts::default();
            self.report_with_cause("unexpected-key", "cause-values", Some(group), facts);
        }
        false
    }

    /// An unexpected token after a key. `true` if a value follows.
    pub(in crate::parser) fn missing_colon(&mut self, group: Group) -> bool {
        if let Some(error) = self.mistake("key-sign", Some(group)) {
            self.report_in(group, error);
            return false;
        }
        if let Some(error) = self.mistake("words-of-key", Some(group)) {
            self.report_in(group, error);
            self.error_token();
            return self.eat(T::Colon);
        }
        if let Some(error) = self.mistake("list-without-brackets", Some(group)) {
            self.report_in(group, error);
            return false;
        }
        let kind = self.kind();
        let other = matches!(kind, T::Equals | T::EqualsGreater | T::DashGreater);
        let value =
            kind.is_number() || matches!(kind, T::DoubleQuoted | T::SingleQuoted | T::Backticked);
        self.report_in_group("no-colon", group);
        if other {
            self.error_token();
        }
        value || other
    }

    pub(in crate::parser) fn missing_value(&mut self) {
        let number = self.tokens.kind(self.at + 1).is_number();
        let range = if self.kind() == T::DotDot { None } else { self.foreign_range(self.at) };
        let known = range.or_else(|| {
            let close = self.closer_of(self.at).filter(|_| self.kind() == T::LParen)?;
            self.interval(self.at, close)
        });
        if let Some(error) = known.or_else(|| self.mistake("value", None)) {
            return self.report(error);
        }
        if let Some(error) = self.mistake("no-value", None) {
            self.report(error);
        } else {
            let facts = Facts::default();
            self.report_with_cause("unexpected-value", "cause-values", None, facts);
        }
        if self.kind() == T::Unclosed {
            self.swallowed = Some(self.at);
            self.leaf(N::Error);
        } else if self.kind() == T::Unknown && number {
            self.error_token();
            self.value();
        }
    }

    pub(in crate::parser) fn missing_bound(&mut self) {
        let first = self.previous(self.last);
        let first = if self.tokens.kind(first).is_number() { first } else { self.last };
        let ends = matches!(self.kind(), T::Comma | T::RBrace);
        let range = if ends { None } else { self.foreign_range(first) };
        if let Some(error) = range.or_else(|| self.mistake("bound", None)) {
            self.report(error);
        }
    }

    /// An invalid number: `1e5`, `08`, `1.`, `50%`.
    pub(in crate::parser) fn after_number(&mut self) {
        let kind = self.kind();
        let runs_on =
            kind.is_number() || matches!(kind, T::Symbol | T::Unknown | T::DotDot | T::DotDotDot);
        if !self.touching() || !runs_on {
            return;
        }
        let start = self.span(self.last).start as usize;
        let text = &self.source.text()[start..];
        let ends = |c: char| c.is_whitespace() || ",;:|(){}[]<>\"'`".contains(c);
        if text.find(ends).is_some_and(|at| at <= self.span(self.last).len() as usize) {
            return;
        }
        let mut end = text.find(ends).unwrap_or(text.len());
        // `09:00`
        if text[end..].starts_with(':') && text[end + 1..].starts_with(|c: char| c.is_ascii_digit())
        {
            let goes_on = |c: char| c.is_ascii_digit() || c == ':';
            end += text[end..].find(|c| !goes_on(c)).unwrap_or(text.len() - end);
        }
        let number = &text[..end];
        let span = Span::new(offset(start), offset(start + number.len()));
        let in_range = self.is_in_range(self.last);
        let error = self.foreign_range(self.last).or_else(|| {
            let (place, meant) = mean_number(number, in_range);
            let facts = Facts { spans: &[("number", span)], texts: &[("meant", &meant)] };
            self.mistake_with(place, None, facts)
        });
        if let Some(error) = error {
            self.report(error);
        }
        self.skip_to(span.end);
    }
}

/// The row of the table for an invalid number, and the number that is meant.
fn mean_number(number: &str, in_range: bool) -> (&'static str, String) {
    let is_exponent = number.contains(['e', 'E']) && number.parse::<f64>().is_ok();
    let plain = number.replace('_', "");
    let words = number.contains(|c: char| c.is_alphabetic() || "%+".contains(c));
    let is_time = number.starts_with('0') && number.contains(':');
    let may_be_range = !in_range && !words && !is_time && !number.ends_with(['.', '-']);
    let whole = number.parse::<f64>().ok().filter(|it| it.fract() == 0.0 && it.abs() < 1e15);
    if let Some(whole) = whole.filter(|_| is_exponent) {
        return ("whole-exponent", whole.to_string());
    }
    if is_exponent {
        return ("exponent", format!("json`{number}`"));
    }
    if number.contains('_') && plain.parse::<i64>().is_ok() {
        return ("digit-separators", plain);
    }
    if let Some(range) = translate_range(number).filter(|_| may_be_range) {
        return ("range-of-number", range);
    }
    if number.starts_with('0') && number.parse::<u64>().is_ok() {
        return ("leading-zero", number.trim_start_matches('0').to_owned());
    }
    if let Some(whole) = number.strip_suffix('.').filter(|whole| whole.parse::<i64>().is_ok()) {
        return ("trailing-point", whole.to_owned());
    }
    if let Some(value) = binary(number) {
        return ("binary-number", value.to_string());
    }
    if let Some(value) = fraction(number) {
        return ("number-instead", value);
    }
    if in_range {
        return (if number.ends_with('%') { "percent" } else { "bound-instead" }, String::new());
    }
    if let Some(value) = milliseconds(number).or_else(|| strip_number_suffix(number)) {
        return ("number-instead", value);
    }
    let text = format!("\"{number}\"");
    if number.contains(['-', ':']) || number.matches('.').count() > 1 {
        return ("number-instead", text);
    }
    (if number.ends_with('%') { "percent" } else { "not-a-number" }, text)
}

/// A fraction of a second or a minute as a whole number of a smaller unit: `2.5s`.
fn milliseconds(number: &str) -> Option<String> {
    let (value, factor, unit) = match number.strip_suffix("min") {
        Some(value) => (value, 60.0, "s"),
        None => (number.strip_suffix('s')?, 1000.0, "ms"),
    };
    let whole = value.parse::<f64>().ok()? * factor;
    (value.contains('.') && whole.fract() == 0.0).then(|| format!("{whole}{unit}"))
}

/// A number of Python or C: `0o17`, `1.0f`, `10L`.
fn strip_number_suffix(number: &str) -> Option<String> {
    if let Some(octal) = number.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).is_ok().then(|| format!("0{octal}"));
    }
    let plain = number.trim_end_matches(['f', 'F', 'L', 'l', 'n', 'u', 'U', 'd']);
    let known = plain.parse::<f64>().is_ok() && number.len() - plain.len() <= 2;
    known.then(|| plain.to_owned())
}

/// The value of a binary number such as `0b101`.
fn binary(number: &str) -> Option<u64> {
    u64::from_str_radix(number.strip_prefix("0b")?, 2).ok()
}

/// The decimal of a fraction such as `1/100`.
fn fraction(number: &str) -> Option<String> {
    let (above, below) = number.split_once('/')?;
    let (above, below) = (above.parse::<u32>().ok()?, below.parse::<u32>().ok()?);
    let decimal = (f64::from(above) / f64::from(below)).to_string();
    (below > 0 && decimal.len() <= 8).then_some(decimal)
}
