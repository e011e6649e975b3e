//! Heads of declarations that are written as in other languages: what a record extends, and type
//! parameters.

use super::members::article;
use super::scan::{edit, likely};
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::parser::Parser;
use crate::parser::group::Group;
use crate::span::Span;
use crate::token::TokenKind as T;

/// Words before the name of what a declaration extends.
const EXTENDS: [&str; 7] = ["extends", "from", "inherits", "implements", "with", "of", "includes"];

impl Parser<'_> {
    /// The error about a record that a record extends, after its label or its attributes:
    /// `[Address::Record extends Place | …]` or `[Address::Record(Place) | …]`.
    pub(super) fn extended_in_words(&mut self, group: Group) -> Option<Diagnostic> {
        let in_parentheses = self.kind() == T::LParen && self.touching();
        let in_words = self.kind() == T::Symbol && EXTENDS.contains(&self.text(self.at));
        let label = self.label_of(group);
        if !(in_words || (in_parentheses && label == "Record")) {
            return None;
        }
        let (names, mut last) = self.names_from(self.after(self.at));
        if in_parentheses {
            last = self.after(last);
        }
        let closed = !in_parentheses || self.tokens.kind(last) == T::RParen;
        if names.is_empty() || !closed {
            return None;
        }
        let extends = format!("extends: [{}]", names.join(", "));
        let ty = format!(" | (::{})", names.join(" | "));
        let next = self.after(last);
        if label == "Alias"
            && let Some((members, closer)) = self.braced_names(next)
        {
            let members: Vec<_> = members.into_iter().map(str::to_owned).collect();
            return Some(self.one_of(&members, closer));
        }
        let span = self.span_between(self.at, last);
        let gap = Span::new(self.span(self.last).end, self.span(last).end);
        self.cover(self.next_of(next, &[T::Pipe]).unwrap_or(next) + 1);
        if label == "Alias" {
            return Some(
                self.unexpected(span, "the type of an alias follows a `|`")
                    .help(format!("write{ty}"))
                    .fix(likely(format!("write{ty}"), vec![edit(gap, ty)])),
            );
        }
        if label != "Record" {
            return Some(
                self.unexpected(span, format!("{} extends nothing", article(label)))
                    .help("remove it; only records extend others")
                    .fix(likely("remove it", vec![edit(gap, "")])),
            );
        }
        let edits = if self.tokens.kind(self.last) == T::RBrace {
            vec![self.added_entry(self.last, &extends), edit(gap, "")]
        } else {
            self.extending(gap, next, &extends)
        };
        Some(self.parent_error(span, &extends, edits))
    }

    /// The error about an alias of one of several values or types: `[Color::Alias of oneof{a, b}]`.
    fn one_of(&mut self, members: &[String], closer: u32) -> Diagnostic {
        let span = self.span_between(self.at, closer);
        let gap = Span::new(self.span(self.last).end, self.span(closer).end);
        self.cover(closer + 1);
        if members.iter().all(|name| name.starts_with(char::is_uppercase)) {
            let ty = format!(" | (::{})", members.join(" | "));
            return self
                .unexpected(span, "the type of an alias follows a `|`")
                .help(format!("write{ty}"))
                .fix(likely(format!("write{ty}"), vec![edit(gap, ty)]));
        }
        let members = members.join(", ");
        let error = self
            .unexpected(span, "one of several values is an enum")
            .help(format!("write the label `Enum` and its members: [Name::Enum | {members}]"));
        if self.text(self.last) != "Alias" {
            return error;
        }
        let edits = vec![edit(self.span(self.last), "Enum"), edit(gap, format!(" | {members}"))];
        error.fix(likely(format!("write Enum | {members}"), edits))
    }

    /// The names between braces, and the closing one.
    fn braced_names(&self, brace: u32) -> Option<(Vec<&str>, u32)> {
        if self.tokens.kind(brace) != T::LBrace {
            return None;
        }
        let (names, last) = self.names_from(self.after(brace));
        let closer = self.after(last);
        (!names.is_empty() && self.tokens.kind(closer) == T::RBrace).then_some((names, closer))
    }

    fn parent_error(&self, span: Span, extends: &str, edits: Vec<Edit>) -> Diagnostic {
        self.unexpected(span, "what a record extends is an attribute")
            .help(format!("write {{{extends}}}"))
            .fix(likely(format!("write {{{extends}}}"), edits))
    }

    /// The edits that write an attribute in place of a span after a label; `next` is the token
    /// after it.
    fn extending(&self, span: Span, next: u32, attribute: &str) -> Vec<Edit> {
        if self.tokens.kind(next) != T::LBrace {
            return vec![edit(span, format!(" {{{attribute}}}"))];
        }
        let comma = if self.tokens.kind(self.after(next)) == T::RBrace { "" } else { ", " };
        let brace = Span::new(span.start, self.span(next).end);
        vec![edit(brace, format!(" {{{attribute}{comma}"))]
    }

    /// Reports a parent or type parameters after the name or the label of a declaration, and passes
    /// over them: `[Address extends Place::Record …]`, `[Address::Record < Place …]`,
    /// `[Address<T>::Record …]`.
    pub(in crate::parser) fn foreign_head(&mut self) {
        let label = self.previous(self.last);
        let labelled = matches!(self.tokens.kind(label), T::Colon | T::ColonColon);
        let found = match self.kind() {
            T::Symbol if !labelled => self.parent_of_name(),
            T::Less if labelled => self.parent_of_label().or_else(|| self.type_parameters(true)),
            T::Less => self.type_parameters(false),
            _ => None,
        };
        if let Some((error, last)) = found {
            self.report(error);
            self.skip_to(self.span(last).end);
        }
    }

    /// `Address extends Place::Record`, at `extends`
    fn parent_of_name(&self) -> Option<(Diagnostic, u32)> {
        let (names, last) = self.names_from(self.after(self.at));
        let label = self.after(self.after(last));
        let types = names.iter().all(|name| name.starts_with(char::is_uppercase));
        let found = EXTENDS.contains(&self.text(self.at)) && !names.is_empty() && types;
        if !found || self.text(label) != "Record" {
            return None;
        }
        let extends = format!("extends: [{}]", names.join(", "));
        let gap = Span::new(self.span(self.last).end, self.span(last).end);
        let head = Span::empty(self.span(label).end);
        let mut edits = vec![edit(gap, "")];
        edits.extend(self.extending(head, self.after(label), &extends));
        Some((self.parent_error(self.span_between(self.at, last), &extends, edits), last))
    }

    /// `Address::Record < Place`, at the `<`
    fn parent_of_label(&self) -> Option<(Diagnostic, u32)> {
        let (names, last) = self.names_from(self.after(self.at));
        let next = self.after(last);
        let ends = matches!(self.tokens.kind(next), T::Pipe | T::LBrace | T::RBracket);
        if self.text(self.last) != "Record" || names.is_empty() || !ends {
            return None;
        }
        let extends = format!("extends: [{}]", names.join(", "));
        let gap = Span::new(self.span(self.last).end, self.span(last).end);
        let edits = self.extending(gap, next, &extends);
        Some((self.parent_error(self.span_between(self.at, last), &extends, edits), last))
    }

    /// `Address<T>::Record` or `add:Tool<Int>`, at the `<`
    fn type_parameters(&self, labelled: bool) -> Option<(Diagnostic, u32)> {
        let first = self.after(self.at);
        let key = matches!(self.tokens.kind(self.after(first)), T::Colon | T::ColonColon);
        if self.tokens.kind(first) != T::Symbol || key {
            return None;
        }
        let (mut depth, mut last) = (0_u32, self.at);
        for _ in 0..super::LOOK_AHEAD {
            match self.tokens.kind(last) {
                T::Less => depth += 1,
                T::Greater => depth -= 1,
                T::End | T::Pipe | T::LBrace | T::RBracket => return None,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            last = self.after(last);
        }
        let span = self.span_between(self.at, last);
        if !labelled {
            let help = "write the type of each field or parameter itself, or `Any` for every value";
            let error = self.unexpected(span, "a declaration has no type parameters");
            return Some((error.help(help), last));
        }
        let label = self.text(self.last);
        if label == "Record" {
            let names = self.text_between(first, self.previous(last));
            let extends = format!("extends: [{names}]");
            let gap = Span::new(self.span(self.last).end, span.end);
            let edits = self.extending(gap, self.after(last), &extends);
            return Some((self.parent_error(span, &extends, edits), last));
        }
        let message = format!("the label `{label}` has no arguments");
        let help = match label {
            "Tool" => "write the type of the result at the end of the signature: ==>(::Text)",
            _ => "write the types of its parts after the `|`",
        };
        let fix = Fix::replace(NeedsLook, "remove them", span, "");
        Some((self.unexpected(span, message).help(help).fix(fix), last))
    }

    /// Adds an entry to the record that ends at `brace`.
    pub(super) fn added_entry(&self, brace: u32, entry: &str) -> Edit {
        let before = self.previous(brace);
        let comma = if self.tokens.kind(before) == T::LBrace { "" } else { ", " };
        edit(Span::empty(self.span(before).end), format!("{comma}{entry}"))
    }

    /// The error about a record that is spread among the fields of another:
    /// `[Address::Record | ...Place, (street::Text)]`.
    pub(super) fn spread_record(&mut self, group: Group) -> Option<Diagnostic> {
        let name = self.after(self.at);
        let spread = matches!(self.text(self.at), "..." | ".." | "*");
        if !spread || self.tokens.kind(name) != T::Symbol || self.label_of(group) != "Record" {
            return None;
        }
        let extends = format!("extends: [{}]", self.text(name));
        let span = self.span_between(self.at, name);
        let next = self.after(name);
        let error = self
            .unexpected(span, "what a record extends is an attribute")
            .help(format!("write {{{extends}}} before the `|`"));
        self.cover(next + 1);
        let Some(bar) = self.next_of(self.after(group.opener), &[T::Pipe]) else {
            return Some(error);
        };
        let head = self.previous(bar);
        let attribute = match self.tokens.kind(head) {
            T::RBrace => self.added_entry(head, &extends),
            _ => edit(Span::empty(self.span(head).end), format!(" {{{extends}}}")),
        };
        let removal = match (self.tokens.kind(next), self.last == bar) {
            (T::Comma, _) => Span::new(span.start, self.span(self.after(next)).start),
            (_, true) => Span::new(self.span(head).end, span.end),
            (_, false) => Span::new(self.span(self.previous(self.last)).end, span.end),
        };
        let edits = vec![attribute, edit(removal, "")];
        Some(error.fix(likely(format!("write {{{extends}}}"), edits)))
    }

    /// The names from a token on, with commas between them, and the last of them.
    fn names_from(&self, first: u32) -> (Vec<&str>, u32) {
        let (mut names, mut last, mut at) = (Vec::new(), first, first);
        while self.tokens.kind(at) == T::Symbol {
            names.push(self.text(at));
            last = at;
            let comma = self.after(at);
            if self.tokens.kind(comma) != T::Comma {
                break;
            }
            at = self.after(comma);
        }
        (names, last)
    }
}
