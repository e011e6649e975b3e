//! Brackets, commas and quotes around parts of a declaration that are written without them, and
//! parts that lack them.

// The causes of an error are tried in turn, and all have one type.
#![allow(clippy::unnecessary_wraps)]

use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::{Diagnostic, Fix};
use crate::parser::Parser;
use crate::parser::group::{Group, is_arrow};
use crate::span::Span;
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// `[[add:Tool | …], [part:Tool | …]]`: brackets around declarations, at the second bracket.
    pub(super) fn list_of_declarations(&mut self, group: Group) -> Option<Diagnostic> {
        let mut edits = vec![edit(self.span(group.opener), "")];
        let (mut next, mut count) = (self.at, 0);
        while self.tokens.kind(next) == T::LBracket {
            count += 1;
            next = self.after(self.closer_of(next)?);
            if self.tokens.kind(next) == T::Comma {
                edits.push(edit(self.span(next), ""));
                next = self.after(next);
            }
        }
        if self.tokens.kind(next) != T::RBracket {
            return None;
        }
        edits.push(edit(self.span(next), ""));
        self.cover(next + 1);
        let open = self.span(group.opener);
        let (message, help) = if count > 1 {
            ("declarations are not in a list", "remove the outer brackets and the commas")
        } else {
            ("a declaration has one pair of brackets", "remove the outer brackets")
        };
        Some(self.unexpected(open, message).help(help).fix(likely(help, edits)))
    }

    /// `[add:Tool: "Adds one" | …]`, after the second colon.
    pub(super) fn description_after_label(&mut self) -> Option<Diagnostic> {
        let label = self.previous(self.last);
        if self.kind() != T::DoubleQuoted || !self.is_declaring_label(label) {
            return None;
        }
        let record = format!("{{description: {}}}", self.text(self.at));
        let span = Span::new(self.span(label).end, self.here().end);
        self.cover(self.at + 1);
        Some(
            self.unexpected(self.here(), "a description is an attribute")
                .help(format!("write {record}"))
                .fix(Fix::replace(
                    NeedsLook,
                    format!("write {record}"),
                    span,
                    format!(" {record}"),
                )),
        )
    }

    /// `(n::Map<Text {default: 3})`, at the brace.
    pub(super) fn unclosed_arguments(&mut self, group: Group) -> Option<Diagnostic> {
        if group.closer != T::Greater || self.kind() != T::LBrace {
            return None;
        }
        let close = self.closer_of(self.at)?;
        self.cover(self.after(close) + 1);
        let (open, end) = (self.span(group.opener), self.gap());
        Some(
            self.error(&codes::UNCLOSED_BRACKET, open, "this `<` is never closed")
                .help("close it with `>` before the attributes")
                .fix(Fix::replace(NeedsLook, "insert `>`", end, ">")),
        )
    }

    /// `[desk:Container {…} {book}]` or `(a::Object{b: Text} {…})`, at the second record.
    pub(super) fn record_that_is_none(&mut self, group: Group) -> Option<Diagnostic> {
        let close = self.closer_of(self.at)?;
        let open = self.opener_of(self.last)?;
        let word = self.previous(open);
        let touching = self.span(word).end == self.span(open).start;
        if group.closer == T::RParen && touching && self.tokens.kind(word) == T::Symbol {
            let message = format!("a type with fields has no `{}` before it", self.text(word));
            self.cover(close + 1);
            return Some(
                self.error(&codes::TYPE_EXPRESSION, self.span(word), message)
                    .help(format!("write {}", self.text_between(open, self.last)))
                    .fix(Fix::replace(NeedsLook, "remove it", self.span(word), "")),
            );
        }
        let names = self.text_between(self.after(self.at), self.previous(close)).to_owned();
        let plain = |c: char| c.is_alphanumeric() || "_.-@`, ".contains(c);
        if group.closer != T::RBracket || names.is_empty() || !names.chars().all(plain) {
            return None;
        }
        let span = self.span_between(self.at, close);
        let written = format!("| {names}");
        self.cover(close + 1);
        Some(
            self.error(&codes::MISSING_BAR, span, "the elements of a declaration follow a `|`")
                .help(format!("write {written}"))
                .fix(Fix::replace(NeedsLook, format!("write {written}"), span, written)),
        )
    }

    /// `(n::Text, {default: "x"})`, at the comma.
    pub(super) fn comma_before_record(&mut self, group: Group) -> Option<Diagnostic> {
        let open = self.after(self.at);
        if group.closer != T::RParen || self.tokens.kind(open) != T::LBrace {
            return None;
        }
        self.cover(self.closer_of(group.opener)?);
        let here = self.here();
        Some(
            self.unexpected(here, "a comma before the attributes")
                .help("remove it")
                .fix(Fix::replace(NeedsLook, "remove the comma", here, "")),
        )
    }

    /// `(a::Text @deprecated)` or `(a::Text @title("A"))`, at the `@`.
    pub(super) fn annotation_in_node(&self, error: Diagnostic) -> Diagnostic {
        let key = self.after(self.at);
        let open = self.after(key);
        let value = self.after(open);
        let (value, last) = match self.tokens.kind(open) {
            T::LParen if self.is_literal(value) => (self.text(value), self.after(value)),
            _ => ("true", key),
        };
        let record = format!("{{{}: {value}}}", self.text(key));
        let span = Span::new(self.gap().start, self.span(last).end);
        let error = error.help(format!("write an attribute: {record}"));
        if self.tokens.kind(self.last) == T::RBrace {
            return error;
        }
        error.fix(Fix::replace(NeedsLook, format!("write {record}"), span, format!(" {record}")))
    }

    /// `[add:Tool | @description("Adds") (a::Int)…]`, at the `@`.
    pub(super) fn annotation_in_elements(&mut self, group: Group) -> Option<Diagnostic> {
        let key = self.after(self.at);
        let open = self.after(key);
        let value = self.after(open);
        let bar = self.last;
        if self.kind() != T::At || self.tokens.kind(open) != T::LParen || !self.is_literal(value) {
            return None;
        }
        let record = format!("{{{}: {}}}", self.text(key), self.text(value));
        let close = self.after(value);
        let span = self.span_between(self.at, close);
        let label = self.label_of(group);
        let error = self
            .unexpected(span, "the attributes of a declaration are written before its `|`")
            .help(format!("write [name:{label} {record} | …]"));
        if self.tokens.kind(bar) != T::Pipe
            || self.tokens.kind(self.previous(bar)) == T::RBrace
            || self.tokens.kind(close) != T::RParen
        {
            return Some(error);
        }
        let gap = Span::new(span.start, self.span(self.after(close)).start);
        let head = Span::empty(self.span(bar).start);
        let edits = vec![edit(head, format!("{record} ")), edit(gap, "")];
        Some(error.fix(likely("move it before the `|`", edits)))
    }

    /// `((a::Text)==>(b::Int))==>(::Int)`, at the second parenthesis.
    pub(super) fn parameters_in_parentheses(&mut self, group: Group) -> Option<Diagnostic> {
        let close = self.closer_of(group.opener)?;
        let holder = self.holder_of(group.opener)?;
        if !self.is_tool(holder) {
            return None;
        }
        self.cover(close + 1);
        let open = self.span(group.opener);
        let edits = vec![edit(open, ""), edit(self.span(close), "")];
        Some(
            self.unexpected(open, "parentheses contain one parameter")
                .help("remove the outer parentheses")
                .fix(likely("remove the outer parentheses", edits)),
        )
    }

    /// `[add:Tool, (a::Int)…]`, at the comma.
    pub(super) fn comma_for_bar(&mut self) -> Option<Diagnostic> {
        let next = self.second();
        let element = matches!(next, T::LParen | T::LBracket | T::Symbol | T::Backticked);
        let entry =
            matches!(self.tokens.kind(self.after(self.after(self.at))), T::Colon | T::Equals);
        if self.kind() != T::Comma || !element || entry {
            return None;
        }
        let here = self.here();
        Some(
            self.error(&codes::MISSING_BAR, here, "expected `|`, found `,`")
                .help("write `|` between the head of a declaration and its elements")
                .fix(Fix::replace(NeedsLook, "write `|`", here, " |")),
        )
    }

    /// `[| add:Tool (a::Int)…]`, after the name.
    pub(super) fn bar_before_head(&mut self, group: Group) -> Option<Diagnostic> {
        let (name, bar, label) = (self.last, self.previous(self.last), self.after(self.at));
        if self.tokens.kind(bar) != T::Pipe
            || self.previous(bar) != group.opener
            || !self.is_declaring_label(label)
        {
            return None;
        }
        let end = match self.tokens.kind(self.after(label)) {
            T::LBrace => self.closer_of(self.after(label))?,
            _ => label,
        };
        self.cover(self.closer_of(group.opener)?);
        let gap = Span::new(self.span(bar).start, self.span(name).start);
        let head = self.text_between(name, end);
        let edits = vec![edit(gap, ""), edit(Span::empty(self.span(end).end), " |")];
        Some(
            self.error(&codes::MISSING_BAR, self.span(bar), "the `|` follows the head")
                .help(format!("write [{head} | …]"))
                .fix(likely("move the `|`", edits)),
        )
    }

    /// `[add:Tool | add(a::Int)==>(::Int)]`, at the parenthesis.
    pub(super) fn name_before_parameters(&mut self, group: Group) -> Option<Diagnostic> {
        let close = self.closer_of(self.at)?;
        if !self.is_tool(group) || !is_arrow(self.tokens.kind(self.after(close))) {
            return None;
        }
        let (name, span) = (self.text(self.last), self.span(self.last));
        let gap = Span::new(span.start, self.here().start);
        Some(
            self.unexpected(span, format!("`{name}` is not part of the signature"))
                .help("remove it: the name of a tool is in its head, [name:Tool | …]")
                .fix(Fix::replace(NeedsLook, format!("remove `{name}`"), gap, "")),
        )
    }

    /// `[Board::Record { (a::Text), (b::Text) }]`, at the parenthesis.
    pub(super) fn elements_in_braces(&mut self, group: Group) -> Option<Diagnostic> {
        let head = self.previous(group.opener);
        let close = self.closer_of(group.opener)?;
        let declares =
            self.is_declaring_label(head) && self.tokens.kind(self.after(close)) == T::RBracket;
        if self.kind() != T::LParen || self.last != group.opener || !declares {
            return None;
        }
        let (open, end) = (self.span(group.opener), self.span(close));
        let before = Span::new(self.span(self.previous(close)).end, end.end);
        self.cover(close + 1);
        let what = match self.text(head) {
            "Record" => "the fields of a record follow a `|`",
            _ => "the elements of a declaration follow a `|`",
        };
        let label = self.text(head);
        let first = self.text_between(self.at, self.closer_of(self.at)?);
        Some(
            self.error(&codes::MISSING_BAR, open, what)
                .help(format!("write them without braces: [Name::{label} | {first}]"))
                .fix(likely("write a `|`", vec![edit(open, "|"), edit(before, "")])),
        )
    }

    /// `{run: "python3", "hello.py"}`, after the second text: a list without brackets.
    pub(super) fn list_without_brackets(&mut self) -> Option<Diagnostic> {
        let second = self.last;
        let comma = self.previous(second);
        let first = self.previous(comma);
        let colon = self.previous(first);
        let texts = [first, second].iter().all(|it| self.tokens.kind(*it) == T::DoubleQuoted);
        if !texts
            || self.tokens.kind(comma) != T::Comma
            || self.tokens.kind(colon) != T::Colon
            || !matches!(self.kind(), T::Comma | T::RBrace)
        {
            return None;
        }
        let (mut last, mut next) = (second, self.at);
        while self.tokens.kind(next) == T::Comma
            && self.tokens.kind(self.after(next)) == T::DoubleQuoted
            && self.tokens.kind(self.after(self.after(next))) != T::Colon
        {
            last = self.after(next);
            next = self.after(last);
        }
        self.cover(next);
        let list = format!("[{}]", self.text_between(first, last));
        let span = self.span_between(first, last);
        let help = format!("write {}: {list}", self.text(self.previous(colon)));
        Some(
            self.error(&codes::MISSING_VALUE, span, "several values are a list")
                .help(help)
                .fix(Fix::replace(NeedsLook, "make it a list", span, list)),
        )
    }

    /// `{signature: (a::Int)==>(::Int)}`, at the first parenthesis.
    pub(super) fn signature_as_value(&mut self) -> Option<Diagnostic> {
        let close = self.closer_of(self.at)?;
        let next = self.after(close);
        let arrow = is_arrow(self.tokens.kind(next)) && is_arrow(self.tokens.kind(next + 1));
        if !arrow || self.key_before(self.at) != "signature" {
            return None;
        }
        let end = self.next_of(next, &[T::Comma]).or_else(|| self.closer_around(next))?;
        let span = self.span_between(self.at, self.previous(end));
        let text = format!("\"{}\"", self.source.slice(span).replace('"', "\\\""));
        self.cover(end);
        Some(
            self.error(&codes::MISSING_VALUE, span, "a signature is written as text here")
                .help(format!("write {text}"))
                .fix(Fix::replace(NeedsLook, "quote it", span, text)),
        )
    }

    /// `{fields: [(a::Text), (b::Int {range: 1..5})]}`, at the first parenthesis.
    pub(super) fn fields_as_nodes(&mut self) -> Option<Diagnostic> {
        if self.tokens.kind(self.last) != T::LBracket || self.key_before(self.last) != "fields" {
            return None;
        }
        let (mut edits, mut node) = (Vec::new(), self.at);
        while self.tokens.kind(node) == T::LParen {
            let close = self.closer_of(node)?;
            let name = self.after(node);
            let colon = self.after(name);
            let end = self.next_of(colon, &[T::LBrace]).filter(|end| *end < close);
            let ty = self.text_between(self.after(colon), self.previous(end.unwrap_or(close)));
            let ty = ty.trim_matches('`').replace('"', "\\\"");
            let mut field = format!("{{name: \"{}\", type: \"{ty}\"", self.text(name));
            if let Some(open) = end {
                let entries =
                    self.text_between(self.after(open), self.previous(self.previous(close)));
                field = format!("{field}, {entries}");
            }
            edits.push(edit(self.span_between(node, close), format!("{field}}}")));
            self.cover(close + 1);
            let comma = self.after(close);
            node = self.after(comma);
            if self.tokens.kind(comma) != T::Comma {
                break;
            }
        }
        let first = edits.first()?.text.clone();
        Some(
            self.error(&codes::MISSING_VALUE, self.here(), "a field in a list is a map")
                .help(format!("write {first}"))
                .fix(likely(format!("write {first}"), edits)),
        )
    }

    /// `[Size::Type = Text | Int]`, at the sign before the type, which begins with a token.
    pub(super) fn alias_with_another_label(&mut self, group: Group, ty: u32) -> Option<Diagnostic> {
        let (name, label) = (self.after(group.opener), self.last);
        let close = self.closer_of(group.opener)?;
        let ty = self.text_between(ty, self.previous(close)).to_owned();
        let written = format!("[{}::Alias | (::{ty})]", self.text(name));
        let gap = Span::new(self.here().start, self.span(close).start);
        let edits = vec![edit(self.span(label), "Alias"), edit(gap, format!("| (::{ty})"))];
        self.cover(close);
        let message = format!("`{}` is not the label of a type", self.text(label));
        Some(
            self.error(&codes::MISSING_BAR, self.span(label), message)
                .about(self.text(name))
                .help(format!("write {written}"))
                .fix(likely(format!("write {written}"), edits)),
        )
    }

    /// `[Size::Alias | Text | Int]`, at the second bar.
    pub(super) fn alias_of_a_union(&mut self, group: Group) -> Option<Diagnostic> {
        let bar = self.next_of(self.after(group.opener), &[T::Pipe])?;
        let (first, close) = (self.after(bar), self.closer_of(group.opener)?);
        let span = self.span_between(first, self.previous(close));
        let node = format!("(::{})", self.source.slice(span));
        self.cover(close);
        Some(
            self.error(&codes::MISSING_TYPE, span, "an alias holds a type in parentheses")
                .help(format!("write {node}"))
                .fix(Fix::replace(NeedsLook, format!("write {node}"), span, node)),
        )
    }

    /// `[add:Tool [readOnly] | …]`: flags in brackets.
    pub(super) fn attributes_in_brackets(&mut self) -> Option<Diagnostic> {
        let close = self.closer_of(self.at)?;
        let names = self.text_between(self.after(self.at), self.previous(close));
        let flags: Vec<_> = names.split(',').map(str::trim).collect();
        let is_flag =
            |flag: &&str| !flag.is_empty() && flag.chars().all(|c| c.is_ascii_alphanumeric());
        if !flags.iter().all(is_flag) {
            return None;
        }
        let entries: Vec<_> = flags.iter().map(|flag| format!("{flag}: true")).collect();
        let record = format!("{{{}}}", entries.join(", "));
        let span = self.span_between(self.at, close);
        self.cover(close + 1);
        Some(
            self.unexpected(span, "attributes are written in braces")
                .help(format!("write {record}"))
                .fix(Fix::replace(NeedsLook, format!("write {record}"), span, record)),
        )
    }
}
