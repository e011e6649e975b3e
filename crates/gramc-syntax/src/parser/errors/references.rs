//! Elements that are names or texts.

use super::scan::{LABELS, edit, is_plain_name, likely};
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::parser::Parser;
use crate::parser::group::Group;
use crate::span::Span;
use crate::token::TokenKind as T;

impl Parser<'_> {
    /// Texts in quotes where names belong.
    pub(super) fn quoted_elements(&mut self, group: Group) -> Diagnostic {
        let label = self.label_of(group);
        if matches!(label, "Alias" | "Union") {
            return self.literal_elements(label == "Alias");
        }
        if self.text(self.at).len() == 2 && self.tokens.kind(self.at + 1) == self.kind() {
            return self.docstring();
        }
        let mut edits: Vec<Edit> = Vec::new();
        let (mut at, mut names) = (self.at, Vec::new());
        while matches!(self.tokens.kind(at), T::DoubleQuoted | T::SingleQuoted) {
            let text = self.text(at);
            let name = text.get(1..text.len() - 1).unwrap_or_default();
            let name = if is_plain_name(name) { name.to_owned() } else { format!("`{name}`") };
            edits.push(edit(self.span(at), name.clone()));
            names.push(name);
            let comma = self.after(at);
            self.cover(comma + 1);
            let next = self.after(comma);
            match self.tokens.kind(comma) {
                T::Comma => {}
                T::Pipe => {
                    let gap = Span::new(self.span(at).end, self.span(next).start);
                    edits.push(edit(gap, ", "));
                }
                _ => break,
            }
            at = next;
        }
        self.unexpected(self.here(), "names are written without quotes")
            .help(format!("write {}; names of several words are in backticks", names.join(", ")))
            .fix(likely("remove the quotes", edits))
    }

    /// `"""Adds two numbers"""`
    fn docstring(&mut self) -> Diagnostic {
        let mut last = self.at;
        while matches!(self.tokens.kind(last + 1), T::DoubleQuoted | T::SingleQuoted) {
            last += 1;
        }
        self.cover(self.after(last) + 1);
        let message = "documentation is not written in three quotes";
        self.unexpected(self.span_between(self.at, last), message)
            .help("document a declaration with `/** … */` before it")
    }

    /// Texts in quotes as the members of a union, or as the type of an alias.
    fn literal_elements(&mut self, alias: bool) -> Diagnostic {
        let (first, mut last, mut texts) = (self.at, self.at, Vec::new());
        loop {
            let text = self.text(last);
            let inner = text.get(1..text.len() - 1).unwrap_or_default();
            texts.push(format!("\"{}\"", inner.replace('"', "\\\"")));
            let mark = self.after(last);
            let next = self.after(mark);
            let joined = matches!(self.tokens.kind(mark), T::Pipe | T::Comma)
                || matches!(self.text(mark), "/" | "or");
            let text = matches!(self.tokens.kind(next), T::SingleQuoted | T::DoubleQuoted);
            if !joined || !text {
                break;
            }
            last = next;
        }
        self.cover(last + 2);
        let span = self.span_between(first, last);
        let (message, written) = if alias {
            ("an alias holds a type in parentheses", format!("(::{})", texts.join(" | ")))
        } else {
            let members: Vec<_> = texts.iter().map(|text| format!("`{text}`")).collect();
            ("a text that is a member of a union is in backticks", members.join(", "))
        };
        self.unexpected(span, message)
            .help(format!(
                "write {written}, or declare an enum: [Unit::Enum | celsius, fahrenheit]"
            ))
            .fix(Fix::replace(NeedsLook, format!("write {written}"), span, written))
    }

    /// `[helper:Agent | greet:Tool]`: names of declarations with their labels.
    pub(super) fn labelled_references(&mut self, group: Group) -> Option<Diagnostic> {
        if !matches!(self.label_of(group), "Agent" | "Container" | "Library" | "Experiment") {
            return None;
        }
        let (mut edits, mut names, mut name) = (Vec::new(), Vec::new(), self.last);
        loop {
            let colon = self.after(name);
            let label = self.after(colon);
            let labelled = matches!(self.tokens.kind(colon), T::Colon | T::ColonColon)
                && LABELS.contains(&self.text(label));
            if labelled {
                edits.push(edit(Span::new(self.span(name).end, self.span(label).end), ""));
            }
            names.push(self.text(name));
            let comma = if labelled { self.after(label) } else { colon };
            self.cover(comma);
            name = self.after(comma);
            if self.tokens.kind(comma) != T::Comma || self.tokens.kind(name) != T::Symbol {
                break;
            }
        }
        let first = self.span(self.after(self.at));
        (!edits.is_empty()).then(|| {
            self.unexpected(first, "a declaration is named without its label")
                .help(format!("write {}", names.join(", ")))
                .fix(likely("remove the labels", edits))
        })
    }
}
