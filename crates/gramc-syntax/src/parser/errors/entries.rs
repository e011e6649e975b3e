//! Keys and values that are written as in other languages.

// The causes of an error are tried in turn, and all have one type.
#![allow(clippy::unnecessary_wraps)]

use super::ranges::is_bound;
use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Fix};
use crate::foreign_ranges::translate_range;
use crate::parser::Parser;
use crate::parser::group::{Group, Items, is_closer};
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

/// Quotation marks of prose, each with the one that closes it.
const CURLY: [(char, char); 6] =
    [('“', '”'), ('„', '“'), ('‘', '’'), ('«', '»'), ('”', '”'), ('´', '´')];

/// What ends a value that is written without quotes.
const ENDS: [char; 5] = [',', '}', ']', ')', '\n'];

impl Parser<'_> {
    /// The error at an unexpected token after a value, where the cause is known.
    pub(super) fn known_value(&mut self, items: Items) -> Option<Diagnostic> {
        if !matches!(items, Items::Entries | Items::Values) {
            return None;
        }
        let last = self.tokens.kind(self.last);
        let text = matches!(last, T::DoubleQuoted | T::SingleQuoted);
        if items == Items::Entries
            && let Some(error) = self.unquoted_type().or_else(|| self.foreign_range(self.last))
        {
            return Some(error);
        }
        match (self.kind(), self.text(self.at)) {
            (T::Pipe, _) if items == Items::Entries => self.values_with_bars(),
            (T::DotDot | T::DotDotDot, _) if text => Some(self.range_of_texts()),
            (T::Unknown, "+") if text => self.joined_texts(),
            (T::DoubleQuoted | T::SingleQuoted, _)
                if matches!(self.text(self.last), "\"\"" | "''") =>
            {
                self.triple_quotes()
            }
            (T::DoubleQuoted, _) if text && items == Items::Entries => self.joined_texts(),
            (T::DoubleQuoted | T::SingleQuoted, _) if last == T::Symbol && self.touching() => {
                self.prefixed_text()
            }
            (T::Symbol, _) if text && self.touching() => self.inner_quotes(),
            (T::Colon, _) if items == Items::Values => self.map_in_brackets(),
            (T::Colon, "::" | ":") => self.unquoted(),
            (T::Unknown, "/" | "%") if last == T::Symbol && self.touching() => self.unquoted(),
            (T::LParen, _) if last == T::Symbol => Some(
                self.error(&codes::MISSING_VALUE, self.here(), "a value is not computed")
                    .help("write the value itself, or text in quotes"),
            ),
            (T::Dash | T::Tilde, _) if last.is_number() => self.range_in_words(),
            (T::EqualsGreater | T::DashGreater, _) => self.computed(self.last),
            _ => None,
        }
    }

    /// Whether nothing but marks of YAML follows the next token on its line.
    fn ends_line(&self) -> bool {
        self.line_from(self.here().end).trim_matches(['-', '+', ' ', '\r']).is_empty()
    }

    /// `not true` or `!true`, at the first token.
    pub(super) fn negated(&self, first: u32) -> Option<Diagnostic> {
        let flag = self.after(first);
        let value = match (self.text(first), self.text(flag)) {
            ("not" | "!" | "NOT", "true" | "True") => "false",
            ("not" | "!" | "NOT", "false" | "False") => "true",
            _ => return None,
        };
        let span = self.span_between(first, flag);
        Some(
            self.value_error(span, "a value is not computed")
                .help(format!("write `{value}`"))
                .fix(Fix::replace(NeedsLook, format!("write `{value}`"), span, value)),
        )
    }

    /// A value that another language computes, up to the end of its entry; `None` if there is none.
    pub(super) fn computed(&mut self, first: u32) -> Option<Diagnostic> {
        let mut end = first;
        while !matches!(self.tokens.kind(end), T::Comma | T::End)
            && !is_closer(self.tokens.kind(end))
        {
            let opens = matches!(self.tokens.kind(end), T::LBracket | T::LParen | T::LBrace);
            end = self.after(if opens { self.closer_of(end)? } else { end });
        }
        if end == first {
            return None;
        }
        self.cover(end);
        let span = self.span_between(first, self.previous(end));
        Some(
            self.value_error(span, "a value is not computed")
                .help("write the value itself, or text in quotes"),
        )
    }

    pub(super) fn value_error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.error(&codes::MISSING_VALUE, span, message)
    }

    /// `enum: "a" | "b"`
    fn values_with_bars(&mut self) -> Option<Diagnostic> {
        let first = self.last;
        let (mut bar, mut edits) = (self.at, vec![edit(Span::empty(self.span(first).start), "[")]);
        let mut values = vec![self.text(first)];
        loop {
            let value = self.after(bar);
            if !self.is_literal(value) && self.tokens.kind(value) != T::Symbol {
                return None;
            }
            let gap = Span::new(self.span(self.previous(bar)).end, self.span(bar).end);
            edits.push(edit(gap, ","));
            values.push(self.text(value));
            let next = self.after(value);
            if self.tokens.kind(next) != T::Pipe {
                edits.push(edit(Span::empty(self.span(value).end), "]"));
                self.cover(next);
                break;
            }
            bar = next;
        }
        Some(
            self.value_error(self.here(), "several values are a list")
                .help(format!("write a list: [{}]", values.join(", ")))
                .fix(likely("make it a list", edits)),
        )
    }

    /// `"a" + "b"` or `"a" "b"`
    fn joined_texts(&mut self) -> Option<Diagnostic> {
        let second = if self.kind() == T::Unknown { self.after(self.at) } else { self.at };
        let error = self
            .value_error(self.here(), "expected one text, found two")
            .help("write one string: strings cannot be concatenated");
        self.cover(second + 1);
        if self.tokens.kind(self.last) != T::DoubleQuoted
            || self.tokens.kind(second) != T::DoubleQuoted
        {
            return Some(error);
        }
        let gap = Span::new(self.span(self.last).end - 1, self.span(second).start + 1);
        Some(error.fix(Fix::replace(NeedsLook, "join them", gap, "")))
    }

    /// `"""text"""` on one line
    fn triple_quotes(&mut self) -> Option<Diagnostic> {
        let last = self.after(self.at);
        let message = "text in three quotes";
        let error = self.value_error(self.here(), message);
        if self.text(last) != self.text(self.last) {
            return Some(
                error.help("write text of several lines between lines of three backticks"),
            );
        }
        let edits = vec![edit(self.span(self.last), ""), edit(self.span(last), "")];
        self.cover(last + 1);
        Some(error.help("write text in one pair of quotes").fix(likely("remove the quotes", edits)))
    }

    /// `r"…"` or `f"…"`
    fn prefixed_text(&mut self) -> Option<Diagnostic> {
        let (prefix, text) = (self.text(self.last), self.text(self.at));
        let span = self.span_between(self.last, self.at);
        let message = format!("a text has no prefix `{prefix}`");
        let error = self.value_error(span, message);
        // In a raw text, a backslash is itself.
        let raw = prefix.contains(['r', 'R']) && text.contains('\\');
        let plain = if raw { text.replace('\\', "\\\\") } else { text.to_owned() };
        let error = if raw {
            error.help(format!("write {plain}, with two backslashes for one"))
        } else {
            error.help("write the text in quotes, without a prefix")
        };
        Some(error.fix(Fix::replace(NeedsLook, "remove the prefix", span, plain)))
    }

    /// A text with quotes of its own kind inside.
    fn inner_quotes(&mut self) -> Option<Diagnostic> {
        let start = self.span(self.last).start;
        let line = self.line_from(start);
        let quote = line.chars().next()?;
        let end = line.find([',', '}', ']']).unwrap_or(line.len());
        let inner = line[..end].trim_end().strip_prefix(quote)?.strip_suffix(quote)?;
        let span = Span::new(start, start + offset(inner.len() + 2));
        let text = format!("{quote}{}{quote}", inner.replace(quote, &format!("\\{quote}")));
        self.cover(self.tokens.at(span.end) + 1);
        Some(
            self.value_error(span, format!("this text contains {quote} itself"))
                .help(format!("write \\{quote} inside of the text"))
                .fix(Fix::replace(NeedsLook, format!("write \\{quote}"), span, text)),
        )
    }

    /// `[a: 1]`
    fn map_in_brackets(&mut self) -> Option<Diagnostic> {
        let open = self.previous(self.last);
        let close = self.closer_of(open).filter(|_| self.tokens.kind(open) == T::LBracket)?;
        let range = translate_range(self.text_between(self.last, self.previous(close)));
        if let Some(range) = range.filter(|_| is_bound(self.key_before(open))) {
            let span = self.span_between(open, close);
            self.cover(close + 1);
            return Some(self.range_error(span, range));
        }
        let edits = vec![edit(self.span(open), "{"), edit(self.span(close), "}")];
        self.cover(close + 1);
        Some(
            self.value_error(self.here(), "a map is written in braces")
                .help("write {key: value}")
                .fix(likely("write braces", edits)),
        )
    }

    /// A value with punctuation that needs quotes: a path, a time, a URL.
    fn unquoted(&mut self) -> Option<Diagnostic> {
        if matches!(self.text(self.last), "lambda" | "function" | "return") {
            return self.computed(self.last);
        }
        self.quoted_from(self.last)
    }

    /// The key of the value at a token.
    pub(super) fn key_before(&self, value: u32) -> &str {
        let colon = self.previous(value);
        let is_colon = matches!(self.tokens.kind(colon), T::Colon | T::ColonColon);
        if is_colon { self.text(self.previous(colon)) } else { "" }
    }

    fn quoted_from(&mut self, first: u32) -> Option<Diagnostic> {
        let start = self.span(first).start;
        let line = self.line_from(start);
        let end = line.find(ENDS).unwrap_or(line.len());
        let text = line[..end].split_whitespace().next()?;
        let span = Span::new(start, start + offset(text.len()));
        let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        self.cover(self.tokens.at(span.end));
        Some(
            self.value_error(span, "this value needs quotes")
                .help(format!("write {quoted}"))
                .fix(Fix::replace(NeedsLook, "quote it", span, quoted)),
        )
    }

    /// A URL without quotes, whose slashes begin a comment.
    pub(super) fn bare_url(&mut self) -> bool {
        let comment = self.tokens.kind(self.at + 1) == T::Comment;
        if self.tokens.kind(self.last) != T::Symbol || self.kind() != T::Colon || !comment {
            return false;
        }
        let Some(error) = self.quoted_from(self.last) else { return false };
        // The comment includes what closes the brackets.
        self.swallowed = Some(self.at);
        self.diagnostics.push(error);
        self.reported = Some(self.at);
        true
    }

    /// The error at a token where a value belongs, where the cause is known.
    pub(super) fn known_missing_value(&mut self) -> Option<Diagnostic> {
        if self.is_full() {
            return None;
        }
        let range = if self.kind() == T::DotDot { None } else { self.foreign_range(self.at) };
        if range.is_some() {
            return range;
        }
        let here = self.here();
        let text = self.text(self.at);
        let next = self.after(self.at);
        match (self.kind(), text) {
            (T::Equals | T::EqualsGreater, _) if self.tokens.kind(self.last) == T::Colon => {
                let span = self.span_between(self.last, self.at);
                self.cover(next + 1);
                let error = self.value_error(span, "a key and its value are joined by `:` alone");
                Some(error.help("write `:`").fix(Fix::replace(NeedsLook, "write `:`", span, ":")))
            }
            (T::Unknown, _) if text.starts_with(['“', '„', '”', '‘', '«', '´']) => {
                self.curly_quotes()
            }
            (T::Unknown, "/") => self.pattern_between_slashes(),
            (T::Unknown, "$") if self.tokens.kind(next).is_number() => Some(
                self.error(
                    &codes::NUMBER,
                    self.span_between(self.at, next),
                    "a number has no currency",
                )
                .help(format!("write {}, or text in quotes", self.text(next))),
            ),
            (T::Unknown, "$") if self.tokens.kind(next) == T::LBrace => {
                self.environment_variable().or_else(|| self.computed(self.at))
            }
            (T::Unknown, "$") => self.environment_variable().or_else(|| self.quoted_from(self.at)),
            (T::Unknown, "#") if self.span(self.at).end == self.span(self.at + 1).start => {
                self.quoted_from(self.at)
            }
            (T::Unknown, ".") if !self.tokens.kind(self.at + 1).is_number() => {
                self.quoted_from(self.at)
            }
            (T::Dash, _) if self.tokens.kind(self.at + 1) == T::Symbol => self.quoted_from(self.at),
            (T::Unknown, "!") => {
                self.cover(next + 1);
                self.negated(self.at)
            }
            (T::Pipe | T::Greater, _) if text == "|" || self.ends_line() => {
                self.cover(self.closer_around(next).unwrap_or(next));
                let message = format!("gram has no text blocks that begin with `{text}`");
                Some(
                    self.value_error(here, message)
                        .help("write text of several lines between lines of three backticks"),
                )
            }
            (T::LParen, _) => self
                .signature_as_value()
                .or_else(|| self.fields_as_nodes())
                .or_else(|| self.list_in_parentheses()),
            (T::Greater | T::Less | T::LessEquals, _) => self.comparison(),
            _ => None,
        }
    }

    /// `$TOKEN` or `${TOKEN}`
    fn environment_variable(&mut self) -> Option<Diagnostic> {
        let braced = self.second() == T::LBrace;
        let name = if braced { self.after(self.after(self.at)) } else { self.after(self.at) };
        let last = if braced { self.after(name) } else { name };
        let upper = self
            .text(name)
            .chars()
            .all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit());
        let closed = !braced || self.tokens.kind(last) == T::RBrace;
        // These are told to the model as they are.
        let told = ["default", "enum", "examples", "const", "description", "value"];
        if self.tokens.kind(name) != T::Symbol
            || !upper
            || !closed
            || told.contains(&self.key_before(self.at))
        {
            return None;
        }
        let span = self.span_between(self.at, last);
        let text = format!("\"env:{}\"", self.text(name));
        self.cover(last + 1);
        Some(
            self.value_error(span, "a variable of the environment is written as text")
                .help(format!("write {text}"))
                .fix(Fix::replace(NeedsLook, format!("write {text}"), span, text)),
        )
    }

    fn curly_quotes(&mut self) -> Option<Diagnostic> {
        let start = self.here().start;
        let line = self.line_from(start);
        let open = line.chars().next()?;
        let error = self
            .value_error(self.here(), "curly quotes do not quote text")
            .help("use straight quotes: \"…\"");
        let inner = &line[open.len_utf8()..];
        let close = CURLY.iter().filter(|(left, _)| *left == open);
        let close = close.filter_map(|(_, right)| inner.find([*right, '"'])).min();
        let Some(close) = close else { return Some(error) };
        let end = inner[close..].chars().next().map_or(0, char::len_utf8);
        let len = open.len_utf8() + close + end;
        let span = Span::new(start, start + offset(len));
        let text = format!("\"{}\"", inner[..close].replace('"', "\\\""));
        self.cover(self.tokens.at(span.end));
        Some(error.fix(Fix::replace(Safe, "use straight quotes", span, text)))
    }

    /// `/^a/`
    fn pattern_between_slashes(&mut self) -> Option<Diagnostic> {
        let start = self.here().start;
        let line = self.line_from(start);
        let end = line[1..].find('/')? + 1;
        let rest = &line[end + 1..];
        let flags = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_lowercase()).len();
        let span = Span::new(start, start + offset(end + 1 + flags));
        let text = format!("\"{}\"", line[1..end].replace('\\', "\\\\").replace('"', "\\\""));
        self.cover(self.tokens.at(span.end));
        Some(
            self.value_error(span, "a pattern is text in quotes")
                .help(format!("write {text}"))
                .fix(Fix::replace(NeedsLook, format!("write {text}"), span, text)),
        )
    }

    /// `(1, 2)`
    fn list_in_parentheses(&mut self) -> Option<Diagnostic> {
        let close = self.closer_of(self.at)?;
        let whole = self.span_between(self.at, close);
        let items = self.source.slice(Span::new(whole.start + 1, whole.end - 1));
        let key = self.text(self.previous(self.last));
        if let Some(error) = self.interval(self.at, close) {
            return Some(error);
        }
        let next = self.after(close);
        if matches!(self.tokens.kind(next), T::EqualsGreater | T::DashGreater) {
            return self.computed(self.at);
        }
        let (text, message, title) = match (key, items.split_once(',')) {
            ("range" | "length" | "size", Some((least, most))) => {
                let range = format!("{}..{}", least.trim(), most.trim());
                (range, "a range has two dots", "write a range")
            }
            ("range" | "length" | "size", None) if translate_range(items).is_some() => {
                (translate_range(items)?, "a range has no parentheses", "write a range")
            }
            (_, None) if self.is_literal(self.after(self.at)) => {
                (items.to_owned(), "a value has no parentheses", "remove the parentheses")
            }
            (_, None) if items.trim_start().starts_with("::") => {
                let ty = items.trim().trim_start_matches(':').replace('"', "\\\"");
                (format!("\"{ty}\""), "a type is written as text here", "write the type")
            }
            _ => (format!("[{items}]"), "a list is written in brackets", "write brackets"),
        };
        self.cover(close + 1);
        Some(
            self.value_error(whole, message)
                .help(format!("write {}", if text.len() < 60 { &text } else { "[…]" }))
                .fix(Fix::replace(NeedsLook, title, whole, text)),
        )
    }

    /// A list in braces, or members of an enum: `{"a", "b"}`. The token before the next one is the
    /// first item.
    pub(super) fn list_in_braces(&mut self, group: Group) -> Option<Diagnostic> {
        if group.closer != T::RBrace {
            return None;
        }
        let first = self.after(group.opener);
        let close = self.closer_of(group.opener)?;
        let only_maps = [T::Colon, T::ColonColon, T::Equals, T::EqualsGreater, T::DashGreater];
        if self.next_of(first, &only_maps).is_some_and(|at| at < close) {
            return None;
        }
        let before = self.previous(group.opener);
        let value = matches!(self.tokens.kind(before), T::Colon | T::ColonColon)
            && self.tokens.kind(self.previous(before)) != T::LBracket;
        let (open, end) = (self.span(group.opener), self.span(close));
        let label = self.tokens.kind(before) == T::Symbol && self.text(before) == "Enum";
        let inner = self.text_between(first, self.previous(close));
        let list;
        let (message, help, title, edits) =
            if is_bound(self.key_before(group.opener)) && translate_range(inner).is_some() {
                let edits = vec![edit(open, ""), edit(end, "")];
                ("a range has no braces", "write a range alone: 1..5", "remove the braces", edits)
            } else if label {
                let text = "write the members after a `|`: [Unit::Enum | celsius, fahrenheit]";
                let edits = vec![edit(open, "| "), edit(end, "")];
                ("the members of an enum have no braces", text, "write a `|`", edits)
            } else if value {
                let edits = vec![edit(open, "["), edit(end, "]")];
                list = format!("write [{inner}]");
                let help = if list.len() < 60 { &list } else { "write a list: [1, 2]" };
                ("a list is written in brackets", help, "write brackets", edits)
            } else {
                return None;
            };
        self.cover(close + 1);
        Some(self.value_error(open, message).help(help).fix(likely(title, edits)))
    }

    /// A number with commas: `1,000` or `0,5`. The next token is what follows the comma.
    pub(super) fn number_with_comma(&mut self) -> Option<Diagnostic> {
        let first = self.previous(self.last);
        let comma = self.tokens.kind(self.last) == T::Comma
            && self.span(self.last).len() == 1
            && self.touching()
            && self.span(first).end == self.span(self.last).start;
        if !comma || !self.tokens.kind(first).is_number() || !self.kind().is_number() {
            return None;
        }
        let span = self.span_between(first, self.at);
        let text = self.source.slice(span);
        if let Some(error) = self.foreign_range(first) {
            return Some(error);
        }
        let thousands = self.text(self.at).len() == 3;
        let (number, message) = if thousands {
            (text.replace(',', ""), "a number has no separators")
        } else {
            (text.replace(',', "."), "a decimal has a point")
        };
        self.cover(self.at + 1);
        Some(
            self.error(&codes::NUMBER, span, message)
                .help(format!("write {number}"))
                .fix(Fix::replace(NeedsLook, format!("write {number}"), span, number)),
        )
    }
}
