//! Declarations and attributes in other brackets, or without any.

use super::names::OF_DECLARATIONS;
use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Fix};
use crate::foreign_types::translate_type;
use crate::parser::Parser;
use crate::parser::group::{Group, is_arrow, is_closer};
use crate::span::Span;
use crate::token::TokenKind as T;

/// Words between elements in prose.
const CONJUNCTIONS: [&str; 13] =
    ["vs", "versus", "and", "or", "then", "with", "against", "to", "returns", "&", "/", "+", ";"];

impl Parser<'_> {
    /// Attributes in the head of a declaration or in a node, without their braces.
    pub(super) fn bare_attributes(&mut self, first: u32) -> Option<Diagnostic> {
        if !self.is_entry(first) {
            return None;
        }
        let end = self.next_of(first, &[T::Pipe]);
        let end = end.or_else(|| {
            let mut index = first;
            for _ in 0..super::LOOK_AHEAD {
                match self.tokens.kind(index) {
                    T::LBracket | T::LParen | T::LBrace => index = self.closer_of(index)?,
                    kind if is_closer(kind) => return Some(index),
                    T::End => return None,
                    _ => {}
                }
                index = self.after(index);
            }
            None
        })?;
        let last = self.previous(end);
        let entries = self.text_between(first, last);
        let start = Span::new(self.span(self.previous(first)).end, self.span(first).start);
        // A comma before the attributes goes.
        let start = if self.tokens.kind(self.previous(first)) == T::Comma {
            let before = self.previous(self.previous(first));
            Span::new(self.span(before).end, self.span(first).start)
        } else {
            start
        };
        let close = Span::empty(self.span(last).end);
        let entries = entries.replace(" = ", ": ").replace('=', ": ");
        let edits = if self.tokens.kind(self.last) == T::RBrace {
            let gap = Span::new(start.start, close.start);
            vec![self.added_entry(self.last, &entries), edit(gap, "")]
        } else {
            let colons = self.colons_for_equals(first).into_iter();
            let mut edits = vec![edit(start, " {")];
            edits.extend(colons.filter(|it| it.span.end < close.end));
            edits.push(edit(close, "}"));
            edits
        };
        let shown = if entries.len() < 60 { format!("{{{entries}}}") } else { "{…}".to_owned() };
        let span = self.span_between(first, last);
        self.cover(end);
        Some(
            self.unexpected(span, "attributes are written in braces")
                .help(format!("write {shown}"))
                .fix(likely("write the braces", edits)),
        )
    }

    /// Whether an entry of a record follows the comma that is the next token.
    pub(in crate::parser) fn entry_follows(&self) -> bool {
        self.is_entry(self.after(self.at))
    }

    /// `[add:Tool (description: "Adds one") | …]`
    pub(super) fn attributes_in_parentheses(&mut self) -> Diagnostic {
        let error = self.unexpected(self.here(), "attributes are written in braces");
        let error = error.help("write attributes in braces: {description: \"…\"}");
        let Some(close) = self.closer_of(self.at) else { return error };
        let touching = if self.touching() { " {" } else { "{" };
        let mut edits = vec![edit(self.here(), touching)];
        edits.extend(self.colons_for_equals(self.after(self.at)));
        edits.push(edit(self.span(close), "}"));
        let end = self.after(close);
        self.cover(end + 1);
        error.fix(likely("write braces", edits))
    }

    /// `[add:Tool | description: "Adds one", …]`, at the colon.
    pub(super) fn attributes_after_bar(&mut self, group: Group) -> Option<Diagnostic> {
        let first = self.last;
        let bar = self.previous(first);
        let value = self.after(self.at);
        let last = match self.tokens.kind(value) {
            T::LBracket => self.closer_of(value)?,
            _ => value,
        };
        let record = format!("{{{}}}", self.text_between(first, last));
        let span = self.span_between(first, last);
        let error =
            self.unexpected(span, "attributes are written in braces before the `|`").help(format!(
                "write [{}:{} {record} | …]",
                self.text(self.after(group.opener)),
                self.label_of(group)
            ));
        let comma = self.after(last);
        self.cover(comma + 1);
        if self.tokens.kind(bar) != T::Pipe || self.tokens.kind(self.previous(bar)) == T::RBrace {
            return Some(error);
        }
        let end = match self.tokens.kind(comma) {
            T::Comma => self.span(self.after(comma)).start,
            _ => self.span(last).end,
        };
        let edits = vec![
            edit(Span::empty(self.span(bar).start), format!("{record} ")),
            edit(Span::new(span.start, end), ""),
        ];
        Some(error.fix(likely("move them before the `|`", edits)))
    }

    /// A declaration in `( )` or `{ }`.
    pub(super) fn unbracketed_declaration(&mut self, group: Group) -> Option<Diagnostic> {
        let name = self.after(group.opener);
        let label = self.after(self.after(name));
        let bracket = !matches!(group.closer, T::RBracket | T::Greater);
        if !bracket
            || !matches!(self.kind(), T::Pipe | T::LBrace)
            || !self.is_declaring_label(label)
        {
            return None;
        }
        let open = self.span(group.opener);
        let mut edits = vec![edit(open, "[")];
        if let Some(close) = self.closer_of(group.opener) {
            edits.push(edit(self.span(close), "]"));
            self.cover(close + 1);
        }
        let error = self
            .error(&codes::UNCLOSED_BRACKET, open, "a declaration is written in `[ ]`")
            .about(self.text(name))
            .help(format!("write [{}:{} | …]", self.text(name), self.text(label)));
        Some(error.fix(likely("write brackets", edits)))
    }

    /// A bar in the place of a span, with a space before it.
    pub(super) fn bar_at(&self, span: Span) -> &'static str {
        let before = &self.source.text()[..span.start as usize];
        if before.ends_with(char::is_whitespace) { "|" } else { " |" }
    }

    /// Whether the next token looks like a bar, or is between a head and its elements.
    pub(super) fn bar_of_another_kind(&self) -> bool {
        let bar = ["¦", "/", "\\", "∣", "‖", "!", ";", "-", "•", "&", "=>", "->"];
        let next = self.tokens.kind(self.after(self.at));
        bar.contains(&self.text(self.at))
            && matches!(next, T::LParen | T::LBracket | T::Symbol | T::Backticked)
    }

    /// `[tag:Tool := (count::Int)==>(::Null)]`, at the `=`.
    pub(super) fn bar_after_colon(&mut self) -> Option<Diagnostic> {
        let mut end = self.at;
        while is_arrow(self.tokens.kind(end + 1)) {
            end += 1;
        }
        if !is_arrow(self.kind()) || self.tokens.kind(self.after(end)) != T::LParen {
            return None;
        }
        let span = self.span_between(self.last, end);
        self.cover(end + 1);
        let message = format!("expected `|`, found `{}`", self.source.slice(span));
        Some(
            self.error(&codes::MISSING_BAR, span, message)
                .help("write `|` between the head of a declaration and its elements")
                .fix(Fix::replace(NeedsLook, "write `|`", span, self.bar_at(span))),
        )
    }

    /// `[gram: 1]`, after the colon: a header in brackets.
    pub(super) fn header_in_brackets(&mut self) -> Option<Diagnostic> {
        let key = self.previous(self.last);
        let open = self.previous(key);
        let keys = matches!(self.text(key), "gram" | "imports");
        if !keys || self.tokens.kind(open) != T::LBracket || !self.begins_line(open) {
            return None;
        }
        let close = self.closer_of(open)?;
        let edits = vec![edit(self.span(open), "{"), edit(self.span(close), "}")];
        self.cover(close + 1);
        Some(
            self.error(&codes::HEADER, self.span(open), "the header of a file is in braces")
                .help(format!("write {{{}: …}}", self.text(key)))
                .fix(likely("write braces", edits)),
        )
    }

    /// `quick vs slow` or `(a::Int) returns (::Null)`: elements with a word or a sign between them.
    pub(super) fn conjunction(&mut self, group: Group) -> Option<Diagnostic> {
        let tool = self.is_tool(group);
        let (mut edits, mut word, mut last) = (Vec::new(), self.at, self.last);
        loop {
            let next = self.after(word);
            let kind = self.tokens.kind(next);
            let between_nodes = tool
                && (self.tokens.kind(last), kind) == (T::RParen, T::LParen)
                && (matches!(self.tokens.kind(word), T::Symbol | T::DotDot | T::DotDotDot)
                    || self.text(word) == "*");
            if !between_nodes && !CONJUNCTIONS.contains(&self.text(word)) {
                break;
            }
            let gap = Span::new(self.span(last).end, self.span(next).start);
            edits.push(edit(gap, if tool { "==>" } else { ", " }));
            last = match kind {
                T::LParen | T::LBracket => self.closer_of(next)?,
                T::Symbol | T::Backticked => next,
                _ => return None,
            };
            word = self.after(last);
        }
        if edits.is_empty() || group.closer != T::RBracket {
            return None;
        }
        self.cover(last + 1);
        let here = self.here();
        if tool {
            let message = format!("expected an arrow between two nodes, found {}", self.found());
            return Some(
                self.error(&codes::ARROW, here, message)
                    .help("join the parts of a signature with `==>`")
                    .fix(likely("write `==>`", edits)),
            );
        }
        let message = format!("`{}` does not separate elements", self.text(self.at));
        Some(
            self.unexpected(here, message)
                .help("separate them with commas")
                .fix(likely("write commas", edits)),
        )
    }

    /// `greet(), part()`
    fn called_names(&mut self, group: Group) -> Option<Diagnostic> {
        let (mut edits, mut index) = (Vec::new(), self.at);
        if let Some(error) = self.name_before_parameters(group) {
            return Some(error);
        }
        if self.label_of(group) == "Union" && self.second() != T::RParen {
            return self.members_with_parts();
        }
        loop {
            if self.tokens.kind(index) == T::LParen {
                let close = self.closer_of(index)?;
                edits.push(edit(self.span_between(index, close), ""));
                index = self.after(close);
                self.cover(index);
            }
            let name = self.after(index);
            if self.tokens.kind(index) != T::Comma || self.tokens.kind(name) != T::Symbol {
                break;
            }
            index = self.after(name);
        }
        Some(
            self.unexpected(self.here(), "a name has no arguments here")
                .help("write the name alone")
                .fix(likely("remove the parentheses", edits)),
        )
    }

    /// `[Answer::Union | Found(Text), Missing(Int)]`, at the first parenthesis.
    fn members_with_parts(&mut self) -> Option<Diagnostic> {
        let member = self.text(self.last);
        let error = self.unexpected(self.here(), "a member of a union is a type without arguments");
        let help = format!("declare a record for each member: [{member}::Record | (value::Text)]");
        let (mut open, mut close) = (self.at, self.closer_of(self.at)?);
        while self.tokens.kind(open) == T::LParen {
            close = self.closer_of(open)?;
            open = self.after(self.after(self.after(close)));
        }
        self.cover(close + 1);
        Some(error.help(help))
    }

    /// `(a::Int)==>(::Text) throws NotFound`, at the word.
    fn word_after_signature(&mut self, group: Group) -> Option<Diagnostic> {
        let element = self.tokens.kind(self.last) == T::RParen && self.kind() == T::Symbol;
        if !element || !self.is_tool(group) {
            return None;
        }
        let end = self.next_of(self.at, &[T::Comma]).or_else(|| self.closer_around(self.at))?;
        self.cover(end);
        let last = self.previous(end);
        let gap = Span::new(self.span(self.last).end, self.span(last).end);
        let errors = matches!(self.text(self.at), "throws" | "raises" | "rejects" | "fails");
        let (message, help) = if errors {
            ("a signature does not list errors".to_owned(), "describe them in the description")
        } else {
            (format!("unexpected {} after the signature", self.found()), "remove it")
        };
        Some(
            self.unexpected(self.span_between(self.at, last), message)
                .help(help)
                .fix(Fix::replace(NeedsLook, "remove it", gap, "")),
        )
    }

    /// `new greet`, at the name.
    fn word_before_name(&mut self, group: Group) -> Option<Diagnostic> {
        let (word, name) = (self.text(self.last), self.text(self.at));
        let names = matches!(self.label_of(group), "Agent" | "Container" | "Experiment" | "Union");
        let known = OF_DECLARATIONS.contains(&word) || matches!(word, "use" | "import" | "the");
        if !names || !known || self.kind() != T::Symbol {
            return None;
        }
        let span = Span::new(self.span(self.last).start, self.here().start);
        let message = format!("`{word}` is not part of a name");
        self.cover(self.at + 1);
        Some(
            self.error(&codes::NAME, self.span(self.last), message)
                .help(format!("write {name}"))
                .fix(Fix::replace(NeedsLook, format!("remove `{word}`"), span, "")),
        )
    }

    /// A missing separator that is not a comma.
    pub(super) fn missing_separator(&mut self, group: Group) -> Option<Diagnostic> {
        let gap = Span::new(self.span(self.last).end, self.here().start);
        let last = self.tokens.kind(self.last);
        if self.is_tool(group) && self.kind() == T::LParen && last == T::RParen {
            return Some(
                self.error(&codes::ARROW, gap, "missing arrow before `(`")
                    .help("join the parts of a signature with `==>`")
                    .fix(Fix::replace(Safe, "write `==>`", gap, "==>")),
            );
        }
        if let Some(error) = self.unopened_item() {
            return Some(error);
        }
        if self.touching()
            && self.kind() == T::LParen
            && last == T::Symbol
            && let Some(error) = self.called_names(group)
        {
            return Some(error);
        }
        if let Some(error) = self.conjunction(group) {
            return Some(error);
        }
        let known = self.word_after_signature(group).or_else(|| self.word_before_name(group));
        if known.is_some() {
            return known;
        }
        let words = last == T::Symbol && self.kind() == T::Symbol;
        if words && self.label_of(group) == "Enum" {
            let commas = self.next_of(self.at, &[T::Comma]).is_some();
            let before = self.previous(self.last);
            if commas || self.tokens.kind(before) == T::Comma {
                let span = self.span_between(self.last, self.at);
                let name = format!("`{}`", self.source.slice(span));
                self.cover(self.at + 1);
                return Some(
                    self.error(&codes::NAME, span, "a name of several words needs backticks")
                        .help(format!("write {name}"))
                        .fix(Fix::replace(NeedsLook, format!("write {name}"), span, name)),
                );
            }
        }
        if self.touching() && self.kind() == T::LBracket && last == T::Symbol {
            let close = self.closer_of(self.at)?;
            let span = self.span_between(self.last, close);
            let ty = self.source.slice(span);
            let plain = close == self.after(self.at);
            let ty = if plain { ty.to_owned() } else { translate_type(ty)?.text };
            self.cover(close + 1);
            if self.label_of(group) == "Alias" {
                let node = format!("(::{ty})");
                return Some(
                    self.error(&codes::MISSING_TYPE, span, "an alias holds a type in parentheses")
                        .help(format!("write {node}"))
                        .fix(Fix::replace(NeedsLook, format!("write {node}"), span, node)),
                );
            }
            let ty = format!("`{ty}`");
            return Some(
                self.error(&codes::MISSING_TYPE, span, "expected backticks around this type")
                    .help(format!("write {ty}"))
                    .fix(Fix::replace(NeedsLook, "put it into backticks", span, ty)),
            );
        }
        None
    }
}
