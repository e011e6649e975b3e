//! Names that need quotes, and names and labels in another order.

use super::scan::{LABELS, edit, is_plain_name, likely};
use crate::codes;
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::{Diagnostic, Fix};
use crate::parser::Parser;
use crate::parser::group::Group;
use crate::span::Span;
use crate::token::TokenKind as T;

/// Words before the names of parameters in other languages.
const OF_PARAMETERS: &[&str] = &[
    "optional",
    "required",
    "readonly",
    "const",
    "let",
    "var",
    "val",
    "mut",
    "inout",
    "param",
    "pub",
    "public",
    "private",
    "protected",
    "static",
    "final",
    "new",
    "ref",
    "in",
    "out",
    "field",
    "arg",
    "attr",
    "property",
    "lateinit",
    "override",
];
/// Words before the names of declarations in other languages.
pub(super) const OF_DECLARATIONS: &[&str] = &[
    "async",
    "export",
    "public",
    "private",
    "static",
    "pub",
    "def",
    "fn",
    "func",
    "function",
    "fun",
    "abstract",
    "declare",
    "const",
    "let",
    "var",
    "class",
    "type",
    "interface",
    "new",
    "default",
    "struct",
    "enum",
    "record",
    "message",
    "service",
    "rpc",
    "final",
    "sealed",
    "open",
    "data",
    "input",
    "protected",
    "override",
    "extern",
    "tool",
    "agent",
    "union",
    "alias",
];
/// Marks before or after names in other languages.
const MARKS: [char; 6] = ['?', '&', '!', '-', '*', '$'];

impl Parser<'_> {
    /// The error about the name that a group begins with, if the next token is still part of it.
    pub(super) fn odd_name(&mut self, group: Group) -> Option<Diagnostic> {
        let first = self.after(group.opener);
        let end = self.next_of(first, &[T::Colon, T::ColonColon, T::Pipe, T::LBrace]);
        let end = end.or_else(|| self.closer_of(group.opener))?;
        let labelled = matches!(self.tokens.kind(end), T::Colon | T::ColonColon);
        if end <= self.at || first == end {
            return None;
        }
        let span = self.span_between(first, self.previous(end));
        let name = self.source.slice(span);
        if let Some(error) = self.zero_width_in(span) {
            self.cover(end);
            return Some(error);
        }
        if self.tokens.kind(first) == T::Symbol && self.after(first) == self.previous(end) {
            let second = self.after(first);
            let label = LABELS.iter().find(|label| label.to_lowercase() == self.text(first));
            if let Some(label) = label.filter(|_| !labelled && group.closer == T::RBracket)
                && self.tokens.kind(second) == T::Symbol
            {
                let text = format!("{}:{label}", self.text(second));
                return Some(self.declaration_name(span, text));
            }
            if !labelled && self.is_declaring_label(first) && self.tokens.kind(second) == T::Symbol
            {
                let text = format!("{}:{}", self.text(second), self.text(first));
                return Some(self.declaration_name(span, text));
            }
            if !labelled && self.is_declaring_label(second) {
                let text = format!("{}:{}", self.text(first), self.text(second));
                return Some(self.declaration_name(span, text));
            }
        }
        if labelled && let Some(error) = self.qualified_name(group, first, end) {
            self.cover(end);
            return Some(error);
        }
        let strange = name.contains(['`', '"', '\'', '\n', '(', '=', ',', ';']) || name.len() > 60;
        let plain = !labelled && name.contains(char::is_whitespace);
        if strange || plain || (self.tokens.kind(first) == T::DotDotDot) || name.starts_with('*') {
            return None;
        }
        let message = format!("`{name}` needs backticks to be a name");
        let quoted = format!("`{name}`");
        self.cover(end);
        Some(
            self.error(&codes::NAME, span, message)
                .help(format!("write {quoted}: a name with other characters than A–Z, a–z, 0–9, `_`, `.`, `-` and `@`, or with a digit first, is in backticks"))
                .fix(Fix::replace(NeedsLook, format!("write {quoted}"), span, quoted)),
        )
    }

    /// The error about characters without any width in a name.
    fn zero_width_in(&self, span: Span) -> Option<Diagnostic> {
        let text = self.source.slice(span);
        let zero = |c: &char| super::is_zero_width(c.encode_utf8(&mut [0; 4]));
        let found = text.chars().find(zero)?;
        let what = super::invisible(found.encode_utf8(&mut [0; 4]))?;
        let plain: String = text.chars().filter(|c| !zero(c)).collect();
        Some(
            self.error(&codes::NAME, span, format!("{what} is part of this name"))
                .help("remove it")
                .fix(Fix::replace(NeedsLook, "remove it", span, plain)),
        )
    }

    /// A name with a word or a mark of another language before or after it.
    fn qualified_name(&self, group: Group, first: u32, end: u32) -> Option<Diagnostic> {
        let in_node = group.closer == T::RParen;
        let last = self.previous(end);
        let span = self.span_between(first, last);
        let whole = self.source.slice(span);
        let words = whole.rsplit_once(char::is_whitespace);
        let (word, name) = match (self.tokens.kind(first), words) {
            (T::Symbol, Some((word, name))) if is_plain_name(name) => (word.trim_end(), name),
            // A rest parameter.
            _ if whole.starts_with('*') => return None,
            _ => {
                let name = whole.trim_matches(MARKS).trim();
                let mark = whole.strip_suffix(name).or_else(|| whole.strip_prefix(name))?;
                (mark.trim(), name)
            }
        };
        if !is_plain_name(name) || word.is_empty() {
            return None;
        }
        if in_node && word == "repeated" {
            return Some(self.repeated_parameter(span, name, end));
        }
        let words = if in_node { OF_PARAMETERS } else { OF_DECLARATIONS };
        let optional = in_node && matches!(word, "?" | "optional");
        let known = word.split_whitespace().all(|word| words.contains(&word));
        if !optional && !word.contains(MARKS) && !known {
            return None;
        }
        let written = if optional { format!("{name}?") } else { name.to_owned() };
        let (message, help) = if optional {
            (
                "the mark of an optional parameter is a `?` after its name",
                format!("({written}::Text)"),
            )
        } else if in_node {
            ("a parameter has a name and a type alone", format!("({name}::Text)"))
        } else {
            ("a declaration has a name and a label alone", format!("[{name}:Tool | …]"))
        };
        let error = self
            .error(&codes::NAME, span, format!("`{word}` is not part of a name: {message}"))
            .help(format!("write {help}"))
            .fix(Fix::replace(NeedsLook, format!("write `{written}`"), span, written));
        if word.contains(MARKS) {
            return Some(error);
        }
        Some(error.fix(Fix::replace(NeedsLook, "quote both words", span, format!("`{whole}`"))))
    }

    /// `(repeated urls::Uri)`; `colons` are those after the name.
    fn repeated_parameter(&self, span: Span, name: &str, colons: u32) -> Diagnostic {
        let error = self.error(&codes::NAME, span, "a list is written `T[]`");
        let ty = self.after(colons);
        let shown = format!("({name}::{}[])", self.text(ty));
        let alone = matches!(self.tokens.kind(self.after(ty)), T::RParen | T::LBrace);
        if self.tokens.kind(ty) != T::Symbol || !alone {
            return error.help("write `[]` after the type of the items: (tags::Text[])");
        }
        let list = edit(Span::empty(self.span(ty).end), "[]");
        let fix = likely(format!("write {shown}"), vec![edit(span, name), list]);
        error.help(format!("write {shown}")).fix(fix)
    }

    /// `[add = Tool | …]` or `[add is a Tool | …]`, after the name.
    pub(super) fn label_after_sign(&mut self, group: Group) -> Option<Diagnostic> {
        let name = self.after(group.opener);
        let mut label = self.at;
        for _ in 0..3 {
            if self.is_declaring_label(label) {
                break;
            }
            label = self.after(label);
        }
        let ends = matches!(self.tokens.kind(self.after(label)), T::LBrace | T::Pipe);
        if self.last != name || !self.is_declaring_label(label) || !ends {
            return None;
        }
        let text = format!("{}:{}", self.text(name), self.text(label));
        self.cover(self.closer_of(group.opener)?);
        Some(self.declaration_name(self.span_between(name, label), text))
    }

    fn declaration_name(&mut self, span: Span, text: String) -> Diagnostic {
        self.error(&codes::NAME, span, "a name and its label are joined by `:`")
            .help(format!("write the name, then the label: [{text} | …]"))
            .fix(Fix::replace(NeedsLook, format!("write `{text}`"), span, text))
    }

    /// A name in quotes: `"add"`, or with its label in them, `"add:Tool"`.
    pub(super) fn quoted_name_error(&self) -> Diagnostic {
        let (span, text) = (self.here(), self.text(self.at));
        let name = text.get(1..text.len() - 1).unwrap_or_default();
        let error =
            self.error(&codes::NAME, span, format!("expected a name, found {}", self.found()));
        let label = name.split_once(':').map(|(_, label)| label.trim_start_matches(':'));
        if label.is_some_and(|label| !label.is_empty() && !label.contains(char::is_whitespace)) {
            let quotes = vec![
                edit(Span::new(span.start, span.start + 1), ""),
                edit(Span::new(span.end - 1, span.end), ""),
            ];
            return error
                .help("write names and labels without quotes")
                .fix(likely("remove the quotes", quotes));
        }
        if is_plain_name(name) {
            return error.help("write names without quotes").fix(Fix::replace(
                NeedsLook,
                "remove the quotes",
                span,
                name,
            ));
        }
        error.help(format!("quote a name with backticks: `{name}`")).fix(Fix::replace(
            NeedsLook,
            "use backticks",
            span,
            format!("`{name}`"),
        ))
    }
}
