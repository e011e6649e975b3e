//! Keys, values and numbers.

use super::Place;
use super::ranges::FORMS;
use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Fix};
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
        let error = known.or_else(|| self.mistake("no-key", Some(group))).unwrap_or_else(|| {
            let message = format!("expected a key, found {}", self.found());
            let error = self
                .error(&codes::UNEXPECTED_TOKEN, self.here(), message)
                .label(self.span(group.opener), "in this record")
                .help("write an entry as key: value");
            self.add_cause(error, Place::Values)
        });
        self.report_in(group, error);
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
        if let Some(error) = self.mistake("no-colon", Some(group)) {
            self.report_in(group, error);
        }
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
        let error = self.mistake("no-value", None).unwrap_or_else(|| {
            let message = format!("expected a value, found {}", self.found());
            let help = "write a string, number, range, word, [list] or {map}; quote text";
            let error = self.error(&codes::MISSING_VALUE, self.here(), message).help(help);
            self.add_cause(error, Place::Values)
        });
        self.report(error);
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
        let error = self.foreign_range(self.last).unwrap_or_else(|| {
            let error = self.error(&codes::NUMBER, span, format!("`{number}` is not a number"));
            malformed_number(error, span, number, in_range)
        });
        self.report(error);
        self.skip_to(span.end);
    }
}

/// Adds help for an invalid number.
fn malformed_number(error: Diagnostic, span: Span, number: &str, in_range: bool) -> Diagnostic {
    let plain = number.replace('_', "");
    if let Some(whole) = number.parse::<f64>().ok().filter(|it| it.fract() == 0.0)
        && number.contains(['e', 'E'])
        && whole.abs() < 1e15
    {
        let write = format!("write {whole}");
        let fix = Fix::replace(Safe, write.clone(), span, whole.to_string());
        return error.help(write).fix(fix);
    }
    if number.contains(['e', 'E']) && number.parse::<f64>().is_ok() {
        return error
            .help("write the number without exponent, or as JSON in a tagged string")
            .fix(Fix::replace(Safe, "tag it as JSON", span, format!("json`{number}`")));
    }
    if number.contains('_') && plain.parse::<i64>().is_ok() {
        return error.help("write digits without separators").fix(Fix::replace(
            Safe,
            "join the digits",
            span,
            plain,
        ));
    }
    let words = number.contains(|c: char| c.is_alphabetic() || "%+".contains(c));
    let is_time = number.starts_with('0') && number.contains(':');
    if !in_range
        && !words
        && !is_time
        && !number.ends_with(['.', '-'])
        && let Some(range) = translate_range(number)
    {
        return error.help(format!("write a range as {range}, or quote text")).fix(Fix::replace(
            NeedsLook,
            "make it a range",
            span,
            range,
        ));
    }
    if number.starts_with('0') && number.parse::<u64>().is_ok() {
        let plain = number.trim_start_matches('0').to_owned();
        return error
            .help("remove the leading 0: octal numbers have only the digits 0 to 7")
            .fix(Fix::replace(NeedsLook, "remove the leading 0", span, plain));
    }
    if let Some(whole) = number.strip_suffix('.')
        && whole.parse::<i64>().is_ok()
    {
        return error.help(format!("write {whole} or {whole}.0")).fix(Fix::replace(
            NeedsLook,
            format!("write {whole}"),
            span,
            whole,
        ));
    }
    if let Some((help, value)) = binary(number).or_else(|| fraction(number)) {
        return error.help(help).fix(Fix::replace(
            NeedsLook,
            format!("write {value}"),
            span,
            value,
        ));
    }
    if !in_range && let Some(value) = milliseconds(number).or_else(|| strip_number_suffix(number)) {
        let write = format!("write {value}");
        return error.help(write.clone()).fix(Fix::replace(NeedsLook, write, span, value));
    }
    if !in_range && (number.contains(['-', ':']) || number.matches('.').count() > 1) {
        let text = format!("\"{number}\"");
        let write = format!("write {text}");
        return error.help(write.clone()).fix(Fix::replace(NeedsLook, write, span, text));
    }
    if number.ends_with('%') {
        return error.help(format!("write a number without `%`, or text: \"{number}\""));
    }
    if in_range {
        return error.help(FORMS);
    }
    error.help("write 5, -5, 0.5, 0x1f, 017 or, with a unit, 2s; quote text").fix(Fix::replace(
        NeedsLook,
        "quote it",
        span,
        format!("\"{number}\""),
    ))
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

/// The value of a binary number such as `0b101`, with help.
fn binary(number: &str) -> Option<(String, String)> {
    let value = u64::from_str_radix(number.strip_prefix("0b")?, 2).ok()?;
    let help = format!("write {value} or 0x{value:x}: numbers are not binary");
    Some((help, value.to_string()))
}

/// The decimal of a fraction such as `1/100`, with help.
fn fraction(number: &str) -> Option<(String, String)> {
    let (above, below) = number.split_once('/')?;
    let (above, below) = (above.parse::<u32>().ok()?, below.parse::<u32>().ok()?);
    let decimal = (f64::from(above) / f64::from(below)).to_string();
    let exact = below > 0 && decimal.len() <= 8;
    exact.then(|| (format!("write {decimal}"), decimal))
}
