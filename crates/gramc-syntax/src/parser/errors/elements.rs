//! Elements, heads of declarations and nodes that are written in other brackets, or without any.

// The causes of an error are tried in turn, and all have one type.
#![allow(clippy::unnecessary_wraps)]

use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::parser::Parser;
use crate::parser::group::{Group, Items, is_arrow, is_closer};
use crate::span::Span;
use crate::token::TokenKind as T;

/// Attributes that declarations have more often than results.
pub(super) const OF_DECLARATIONS: [&str; 6] =
    ["description", "title", "version", "readOnly", "destructive", "idempotent"];

impl Parser<'_> {
    /// The error at an unexpected token in the head of a declaration, in a node or after an element,
    /// where the cause is known. What follows from it is not reported.
    pub(super) fn known_cause(&mut self, group: Group, items: Items) -> Option<Diagnostic> {
        let in_node = group.closer == T::RParen;
        match (items, self.kind()) {
            (Items::One, T::Equals) if !in_node => self.bar_in_other_words(group),
            (Items::One, T::Equals) => self.equals_in_node(group),
            (Items::One, _) if !in_node && self.bar_of_another_kind() => {
                self.bar_in_other_words(group)
            }
            (Items::Annotation, T::Colon | T::Equals) => self.named_annotation_value(),
            (Items::One, T::LBracket | T::LParen) if in_node => self.other_braces(group),
            (Items::One, T::LBracket) if self.last == group.opener => {
                self.list_of_declarations(group).or_else(|| self.doubled_bracket(group))
            }
            (Items::One, T::LBracket) if !in_node => self.attributes_in_brackets(),
            (Items::One, T::LBrace) => {
                self.record_that_is_none(group).or_else(|| self.second_record())
            }
            (Items::One, T::DoubleQuoted) if !in_node || self.last != group.opener => {
                self.bare_description()
            }
            (Items::One, T::DotDotDot | T::Unknown) if in_node => self.rest_parameter(group),
            (Items::Elements, T::LBrace) => self.record_after_element(group),
            (Items::Elements, T::DoubleQuoted) => self.described_members(group),
            (Items::Elements, T::Colon) if self.tokens.kind(self.last) == T::RParen => {
                self.result_after_colon()
            }
            (Items::Elements, T::Equals) if self.tokens.kind(self.last).is_number() => {
                self.numbered_members(group)
            }
            (Items::Elements, T::Pipe) => self.extra_bars(group),
            (Items::Elements, T::DotDot | T::DotDotDot) if self.is_tool(group) => {
                self.conjunction(group)
            }
            (Items::Elements, T::Unknown) if self.is_tool(group) || self.text(self.at) != ";" => {
                self.separated_names(group).or_else(|| self.conjunction(group))
            }
            (Items::Elements, kind) if is_arrow(kind) => self.bracketed_parameter(),
            _ => None,
        }
    }

    pub(super) fn unexpected(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.error(&codes::UNEXPECTED_TOKEN, span, message)
    }

    /// `=`, `==>` or `:=` where the `|` of a declaration belongs.
    fn bar_in_other_words(&mut self, group: Group) -> Option<Diagnostic> {
        let mut end = self.at;
        while is_arrow(self.tokens.kind(end + 1)) {
            end += 1;
        }
        let span = self.span_between(self.at, end);
        let next = self.after(end);
        if let Some(error) = self.label_after_sign(group) {
            return Some(error);
        }
        let mut edits = vec![edit(span, self.bar_at(span))];
        if matches!(self.label_of(group), "Type" | "TypeAlias" | "Typedef" | "NewType") {
            return self.alias_with_another_label(group, next);
        }
        if self.tokens.kind(next) == T::Symbol && self.label_of(group) == "Alias" {
            edits.push(edit(self.span(next), format!("(::{})", self.text(next))));
        }
        let mut bar = self.next_of(next, &[T::Pipe]);
        while let Some(at) = bar.filter(|_| matches!(self.label_of(group), "Union" | "Enum")) {
            edits.push(edit(Span::new(self.span(self.previous(at)).end, self.span(at).end), ","));
            self.cover(at + 1);
            bar = self.next_of(self.after(at), &[T::Pipe]);
        }
        let message = format!("expected `|`, found `{}`", self.source.slice(span));
        let help = match self.label_of(group) {
            "Alias" => "write a type in parentheses after a `|`: [Zip::Alias | (::Text)]",
            "Union" => "write the members after a `|`, with commas: [Answer::Union | Text, Int]",
            _ => "write `|` between the head of a declaration and its elements",
        };
        Some(
            self.error(&codes::MISSING_BAR, span, message)
                .help(help)
                .fix(likely("write `|`", edits)),
        )
    }

    /// Attributes in `[ ]` or `( )`.
    fn other_braces(&mut self, group: Group) -> Option<Diagnostic> {
        let (open, close) = (self.at, self.closer_of(self.at)?);
        let first = self.after(open);
        let label = self.text(self.last);
        if self.tokens.kind(first) == T::DoubleQuoted && label == "Enum" {
            let values = self.text_between(first, self.previous(close)).replace(',', " |");
            let span = self.span_between(self.last, close);
            let text = format!("`{}`", values.replace("  |", " |"));
            let message = "`Enum` declares an enum, and is not a type itself";
            return Some(
                self.error(&codes::MISSING_TYPE, span, message)
                    .help(format!("write the values as a type: {text}"))
                    .fix(Fix::replace(NeedsLook, format!("write {text}"), span, text)),
            );
        }
        if self.tokens.kind(self.last) == T::LParen {
            return self.doubled_parenthesis(close, group);
        }
        if !self.is_entry(first) {
            return None;
        }
        let (open, close) = (self.span(open), self.span(close));
        let mut edits = vec![edit(open, "{")];
        edits.extend(self.colons_for_equals(first));
        edits.push(edit(close, "}"));
        let error = self.unexpected(open, "attributes are written in braces");
        Some(
            error
                .help("write attributes in braces: {default: 3}")
                .fix(likely("write braces", edits)),
        )
    }

    /// `((a::Int))`, at the second parenthesis.
    fn doubled_parenthesis(&mut self, close: u32, group: Group) -> Option<Diagnostic> {
        if is_arrow(self.tokens.kind(self.after(close))) {
            return self.parameters_in_parentheses(group);
        }
        if self.kind() != T::LParen || self.tokens.kind(self.after(close)) != T::RParen {
            return None;
        }
        let edits = vec![edit(self.here(), ""), edit(self.span(close), "")];
        self.cover(close + 1);
        Some(
            self.unexpected(self.here(), "a node has one pair of parentheses")
                .help("remove the inner parentheses")
                .fix(likely("remove the inner parentheses", edits)),
        )
    }

    /// `[[add:Tool | …]]`
    fn doubled_bracket(&mut self, group: Group) -> Option<Diagnostic> {
        let close = self.closer_of(group.opener)?;
        let edits = vec![edit(self.span(group.opener), ""), edit(self.span(close), "")];
        self.cover(close);
        Some(
            self.unexpected(self.here(), "a declaration has one pair of brackets")
                .help("remove the outer brackets")
                .fix(likely("remove the outer brackets", edits)),
        )
    }

    /// `{…} {…}`
    fn second_record(&mut self) -> Option<Diagnostic> {
        let (before, here) = (self.last, self.here());
        let empty = self.tokens.kind(self.previous(before)) == T::LBrace
            || self.tokens.kind(self.after(self.at)) == T::RBrace;
        if self.tokens.kind(before) != T::RBrace || empty {
            return None;
        }
        let gap = Span::new(self.span(before).start, here.end);
        if self.second() == T::LParen {
            let close = self.closer_of(self.at)?;
            self.cover(close + 1);
            let edits = vec![edit(here, "|"), edit(self.span(close), "")];
            return Some(
                self.error(&codes::MISSING_BAR, here, "expected `|`, found `{`")
                    .help("write elements after a `|`, without braces")
                    .fix(likely("write `|`", edits)),
            );
        }
        Some(
            self.unexpected(here, "a second record")
                .help("write all attributes in one record, separated by commas")
                .fix(Fix::replace(NeedsLook, "join the records", gap, ", ")),
        )
    }

    /// `[add:Tool "Adds one" | …]`
    fn bare_description(&mut self) -> Option<Diagnostic> {
        let text = format!("{{description: {}}}", self.text(self.at));
        let fix = Fix::replace(NeedsLook, format!("write {text}"), self.here(), text.clone());
        Some(
            self.unexpected(self.here(), "a description is an attribute")
                .help(format!("write {text}"))
                .fix(fix),
        )
    }

    /// `(...numbers::Int)` or `(*numbers::Int)`
    fn rest_parameter(&mut self, group: Group) -> Option<Diagnostic> {
        if self.last != group.opener || !matches!(self.text(self.at), "..." | "*") {
            return None;
        }
        let close = self.closer_of(group.opener)?;
        if self.text(self.at) == "*" && matches!(self.second(), T::Colon | T::ColonColon) {
            let here = self.here();
            return Some(
                self.error(&codes::NAME, here, "`*` needs backticks to be a name")
                    .help("write it in backticks: (`*`:Mcp {…})")
                    .fix(Fix::replace(NeedsLook, "use backticks", here, "`*`")),
            );
        }
        let mut edits = vec![edit(self.here(), "")];
        if self.text(self.at + 1) == "*" {
            edits.push(edit(self.span(self.at + 1), ""));
            self.cover(close);
            let message = "a parameter holds one value; named values are an object";
            return Some(
                self.unexpected(self.here(), message)
                    .help("write a parameter with the type of an object: (options::Object)")
                    .fix(likely("remove the `**`", edits)),
            );
        }
        let ty = self.previous(close);
        if self.tokens.kind(ty) == T::Symbol && self.tokens.kind(self.previous(ty)) == T::ColonColon
        {
            edits.push(edit(self.span(ty), format!("`{}[]`", self.text(ty))));
        }
        let message = "a parameter holds one value; several values are a list";
        self.cover(close);
        Some(
            self.unexpected(self.here(), message)
                .help("write the type of a list: (names::`Text[]`)")
                .fix(likely("make it a list", edits)),
        )
    }

    /// A record after an element: attributes of the declaration, or of the element.
    fn record_after_element(&mut self, group: Group) -> Option<Diagnostic> {
        let (here, close) = (self.here(), self.closer_of(self.at)?);
        let (last, next) = (self.last, self.after(close));
        let record = self.text_between(self.at, close).to_owned();
        let label = self.label_of(group).to_owned();
        let gap = Span::new(self.span(last).end, here.start);
        self.cover(next);
        if matches!(self.tokens.kind(last), T::Symbol | T::Backticked) {
            let node = match label.as_str() {
                "Alias" => format!("(::{} {record})", self.text(last)),
                _ => format!("({} {record})", self.text(last)),
            };
            let span = self.span_between(last, close);
            return Some(
                self.unexpected(here, "an element with attributes is written in parentheses")
                    .help(format!("write {node}"))
                    .fix(Fix::replace(NeedsLook, "put it into parentheses", span, node)),
            );
        }
        if self.tokens.kind(last) != T::RParen {
            return None;
        }
        if is_arrow(self.tokens.kind(next)) || self.tokens.kind(next) == T::Comma {
            let inner = Span::new(self.span(last).start, here.start);
            let end = Span::empty(self.span(close).end);
            return Some(
                self.unexpected(here, "the attributes of a parameter are inside its parentheses")
                    .help(format!("write them after the type: (name::Type {record})"))
                    .fix(likely("move the parenthesis", vec![edit(inner, " "), edit(end, ")")])),
            );
        }
        let bar = self.next_of(self.after(group.opener), &[T::Pipe])?;
        let bar = Span::empty(self.span(self.previous(bar)).end);
        let error = self
            .unexpected(here, "a record after the last element")
            .help("write the attributes of a declaration before its `|`, and those of a parameter inside its parentheses");
        let first = self.text(self.after(self.at));
        if label == "Tool" && self.tokens.kind(self.after(self.after(self.at))) != T::Colon {
            let help = "bind the tool to an implementation in a library: [name:Library | (tool:Command {run: […]})]";
            return Some(self.unexpected(here, "a tool has no body").help(help));
        }
        if !OF_DECLARATIONS.contains(&first) {
            return Some(error);
        }
        let moved = vec![
            edit(bar, format!(" {record}")),
            edit(Span::new(gap.start, self.span(close).end), ""),
        ];
        Some(error.fix(likely("move it before the `|`", moved)))
    }

    /// `(a::Int): Int`
    fn result_after_colon(&mut self) -> Option<Diagnostic> {
        let ty = self.after(self.at);
        let error = self
            .error(&codes::ARROW, self.here(), "expected an arrow before the result, found `:`")
            .help("write the result after an arrow: (a::Int)==>(::Int)");
        if self.tokens.kind(ty) == T::LParen {
            let gap = Span::new(self.here().start, self.span(ty).start);
            self.cover(ty + 1);
            return Some(error.fix(Fix::replace(NeedsLook, "write `==>`", gap, "==>")));
        }
        if self.tokens.kind(ty) != T::Symbol {
            return Some(error);
        }
        let text = format!("==>(::{})", self.text(ty));
        let span = self.span_between(self.at, ty);
        Some(error.fix(Fix::replace(NeedsLook, format!("write `{text}`"), span, text)))
    }

    /// Bars between elements.
    fn extra_bars(&mut self, group: Group) -> Option<Diagnostic> {
        if is_closer(self.tokens.kind(self.after(self.at))) {
            let gap = Span::new(self.span(self.last).end, self.here().end);
            return Some(
                self.unexpected(self.here(), "a `|` without elements after it")
                    .help("remove it")
                    .fix(Fix::replace(NeedsLook, "remove it", gap, "")),
            );
        }
        let separator = if self.is_tool(group) { "==>" } else { "," };
        let mut edits = Vec::new();
        let mut at = Some(self.at);
        let mut last = self.at;
        while let Some(bar) = at {
            let gap = Span::new(self.span(self.previous(bar)).end, self.span(bar).end);
            edits.push(edit(gap, separator));
            if separator == "==>" {
                let next = self.span(self.after(bar)).start;
                edits.push(edit(Span::new(self.span(bar).end, next), ""));
            }
            last = bar;
            at = self.next_of(self.after(bar), &[T::Pipe]);
        }
        let help = match separator {
            _ if self.label_of(group) == "Alias" => return self.alias_of_a_union(group),
            "," => "write one `|` before the elements, and commas between them",
            _ => "write one `|` before the signature, and `==>` between its parts",
        };
        self.cover(last + 1);
        let message = "a declaration has one `|`";
        Some(
            self.unexpected(self.here(), message)
                .help(help)
                .fix(likely(format!("write `{separator}`"), edits)),
        )
    }

    /// `[a::Int]==>…` or `{a::Int}==>…`
    fn bracketed_parameter(&mut self) -> Option<Diagnostic> {
        let close = self.last;
        if !matches!(self.tokens.kind(close), T::RBracket | T::RBrace) {
            return None;
        }
        let open = self.opener_of(close)?;
        Some(self.in_parentheses(open, close))
    }

    /// The error about a parameter in other brackets.
    fn in_parentheses(&mut self, open: u32, close: u32) -> Diagnostic {
        let (first, last) = (self.span(open), self.span(close));
        self.cover(close + 1);
        self.unexpected(first, "a parameter is written in parentheses")
            .help("write a parameter or result in parentheses: (name::Text), (::Text)")
            .fix(likely("write parentheses", vec![edit(first, "("), edit(last, ")")]))
    }

    /// A record where an element belongs.
    pub(super) fn record_as_element(&mut self, group: Group) -> Option<Diagnostic> {
        let (open, close) = (self.at, self.closer_of(self.at)?);
        let (here, next) = (self.span_between(open, close), self.after(close));
        if is_arrow(self.tokens.kind(next)) && is_arrow(self.tokens.kind(next + 1)) {
            let fields = self.fields_of(open, close).filter(|fields| fields.len() > 1);
            let error = self.in_parentheses(open, close);
            let Some(fields) = fields else { return Some(error) };
            let nodes = fields.join("==>");
            let error = self.unexpected(error.span(), "each parameter is a node of its own");
            let fix = Fix::replace(NeedsLook, "write a node for each", here, nodes.clone());
            return Some(error.help(format!("write {nodes}")).fix(fix));
        }
        let inner = Span::new(self.span(open).end, self.span(close).start);
        let text = self.source.slice(inner).trim().to_owned();
        self.cover(next);
        let replaced = |error: Diagnostic, with: String| {
            let title =
                if with.len() < 60 { format!("write {with}") } else { "replace it".to_owned() };
            error.help(format!("write {with}")).fix(Fix::replace(NeedsLook, title, here, with))
        };
        match self.label_of(group) {
            "Record" => {
                let error =
                    self.unexpected(here, "the fields of a record are written in parentheses");
                Some(match self.fields_of(open, close) {
                    Some(fields) => replaced(error, fields.join(", ")),
                    None => error.help("write [Address::Record | (street::Text), (city::Text)]"),
                })
            }
            "Union" | "Alias" => {
                let error =
                    self.unexpected(here, "a type with fields is written in backticks here");
                let label = self.label_of(group) == "Alias";
                if label {
                    return Some(replaced(error, format!("(::`{{{text}}}`)")));
                }
                Some(self.records_in_backticks(error, open))
            }
            "Enum" if self.is_entry(self.after(open)) => {
                let error = self.unexpected(here, "the members of an enum have no values");
                let names = self.keys_of(open, close);
                Some(replaced(error, names.join(", ")))
            }
            "Enum" if !text.contains([':', '"', '\'']) => {
                Some(replaced(self.unexpected(here, "the members of an enum have no braces"), text))
            }
            label => {
                let bar = self.span(self.last);
                let before = self.previous(self.last);
                if let Some(error) = self.members_in_braces(label) {
                    return Some(error);
                }
                let error = self
                    .unexpected(here, "the attributes of a declaration are written before its `|`")
                    .help("write the record before the `|`: [name:Tool {key: value} | …]");
                if self.tokens.kind(self.last) != T::Pipe || self.tokens.kind(before) == T::RBrace {
                    return Some(error);
                }
                let after = Span::new(here.start, self.span(next).start);
                let record = format!("{} ", self.source.slice(here));
                let edits = vec![edit(Span::empty(bar.start), record), edit(after, "")];
                Some(error.fix(likely("move it before the `|`", edits)))
            }
        }
    }

    /// Names with types, or with values, that are not in parentheses. Gives the help and the edits.
    pub(super) fn bare_nodes(&mut self, group: Group) -> Option<(String, Vec<Edit>)> {
        let mut edits = Vec::new();
        let mut first = self.last;
        let mut help = String::new();
        loop {
            let colon = self.after(first);
            if self.tokens.kind(first) != T::Symbol
                || !matches!(self.tokens.kind(colon), T::Colon | T::ColonColon)
            {
                break;
            }
            let end = self.end_of_bare_node(self.after(colon));
            let text = self.text_between(first, end);
            if edits.is_empty() {
                help = format!("({text})");
            }
            edits.push(edit(Span::empty(self.span(first).start), "("));
            edits.push(edit(Span::empty(self.span(end).end), ")"));
            let comma = self.after(end);
            self.cover(comma + 1);
            if self.is_tool(group) {
                let Some(next) = self.after_arrow(comma) else { break };
                first = next;
                let colon = matches!(self.tokens.kind(self.after(next)), T::Colon | T::ColonColon);
                if self.tokens.kind(next) == T::Symbol && !colon {
                    edits.push(edit(self.span(next), format!("(::{})", self.text(next))));
                    self.cover(next + 1);
                }
                continue;
            }
            if self.tokens.kind(comma) != T::Comma {
                break;
            }
            first = self.after(comma);
        }
        (!edits.is_empty()).then_some((help, edits))
    }

    /// The token after an arrow.
    fn after_arrow(&self, arrow: u32) -> Option<u32> {
        let mut end = arrow;
        while is_arrow(self.tokens.kind(end)) {
            end += 1;
        }
        while self.tokens.kind(end).is_trivia() {
            end += 1;
        }
        (end > arrow).then_some(end)
    }

    /// The last token of a type and a record after it.
    pub(super) fn end_of_bare_node(&self, ty: u32) -> u32 {
        let next = self.after(ty);
        match self.tokens.kind(next) {
            T::LParen if self.span(ty).end == self.span(next).start => {
                self.closer_of(next).map_or(ty, |close| self.end_of_bare_node(close))
            }
            T::LBrace => self.closer_of(next).unwrap_or(ty),
            _ => ty,
        }
    }
}
