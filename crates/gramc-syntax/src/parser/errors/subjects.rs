//! Subjects: names, labels, and the heads of patterns.

use super::Place;
use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::{NeedsLook, Safe};
use crate::diagnostic::{Diagnostic, Fix};
use crate::foreign_types::foreign_type_name;
use crate::parser::Parser;
use crate::parser::group::{Group, Items, is_arrow, is_closer};
use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

/// Type constructors of other languages.
const EFFECTS: [&str; 6] = ["IO", "Async", "Promise", "Future", "Task", "Effect"];
const OPTIONS: [&str; 3] = ["Maybe", "Option", "Optional"];
const LISTS: [&str; 8] = ["repeated", "List", "list", "Array", "array", "Vec", "Seq", "many"];

impl Parser<'_> {
    /// An unexpected token after the head of a pattern.
    pub(in crate::parser) fn missing_bar(&mut self, group: Group) {
        let after_label = matches!(self.tokens.kind(self.before_last()), T::Colon | T::ColonColon);
        if self.kind() == T::LParen && self.is_entry(self.after(self.at)) {
            let error = self.attributes_in_parentheses();
            return self.report(error);
        }
        if after_label && let Some(error) = self.bare_attributes(self.at) {
            return self.report(error);
        }
        let after_record = self.tokens.kind(self.last) == T::RBrace;
        if (after_label || after_record)
            && let Some(error) = self.extended_in_words(group)
        {
            return self.report(error);
        }
        if let Some(error) = self.odd_label(after_label) {
            return self.report_in(group, error);
        }
        if (after_label || after_record)
            && let Some(error) = self.comma_for_bar()
        {
            self.report_in(group, error);
            return self.error_token();
        }
        let word = self.kind() == T::Symbol && self.second() != T::Symbol;
        let named = after_label || (after_record && !self.is_tool(group));
        let element = self.kind() == T::LParen || (word && named);
        if element {
            let gap = self.gap();
            let error = self
                .error(&codes::MISSING_BAR, gap, "missing `|` before the elements")
                .here("expected `|` here")
                .label(self.span(group.opener), "in this declaration")
                .help("write a declaration as [name:Label | elements]")
                .fix(Fix::replace(
                    if self.kind() == T::LParen { Safe } else { NeedsLook },
                    "insert the `|`",
                    gap,
                    " |",
                ));
            if let Some(close) = self.closer_of(group.opener).filter(|_| word) {
                self.cover(close);
            }
            self.report(error);
        } else if self.kind() != T::RBracket {
            self.after_subject(group);
        }
    }

    /// `[tag:async Tool | …]`, or `[tag():Tool | …]`
    fn odd_label(&mut self, after_label: bool) -> Option<Diagnostic> {
        if after_label && self.is_declaring_label(self.at) {
            let (both, label) = (self.span_between(self.last, self.at), self.text(self.at));
            self.cover(self.at + 2);
            return Some(
                self.error(&codes::UNEXPECTED_TOKEN, both, "a declaration has one label")
                    .help(format!("write `{label}`"))
                    .fix(Fix::replace(NeedsLook, format!("write `{label}`"), both, label)),
            );
        }
        let called = self.kind() == T::LParen && self.touching() && !after_label;
        let close = self.closer_of(self.at).filter(|_| called)?;
        let colon = self.after(close);
        if !matches!(self.tokens.kind(colon), T::Colon | T::ColonColon) {
            return None;
        }
        let span = self.span_between(self.at, close);
        self.cover(self.after(self.after(colon)) + 1);
        Some(
            self.error(&codes::NAME, span, "a name has no parentheses")
                .help("write parameters after the `|`: [name:Tool | (a::Text)==>(::Text)]")
                .fix(Fix::replace(NeedsLook, "remove them", span, "")),
        )
    }

    pub(in crate::parser) fn no_elements(&mut self) {
        let bar = self.span(self.last);
        let error = self
            .error(&codes::MISSING_BAR, bar, "expected elements after `|`")
            .help("add elements, or remove the `|`")
            .fix(Fix::replace(NeedsLook, "remove the `|`", bar, ""));
        self.report(error);
    }

    /// A token that begins no element.
    pub(in crate::parser) fn no_element(&mut self, group: Group) {
        if self.is_covered() {
            return;
        }
        if self.kind() == T::LBrace
            && let Some(error) = self.record_as_element(group)
        {
            return self.report(error);
        }
        let known = self.spread_record(group).or_else(|| self.stray_comma());
        let known = known.or_else(|| self.annotation_in_elements(group));
        let known = known.or_else(|| self.numbers_as_members(group));
        let known = known.or_else(|| self.dashed_elements(group));
        if let Some(error) = known.or_else(|| self.all_members(group)) {
            return self.report(error);
        }
        if matches!(self.kind(), T::SingleQuoted | T::DoubleQuoted) {
            let error = self.quoted_elements(group);
            return self.report(error);
        }
        if self.kind() == T::Pipe && self.tokens.kind(self.last) == T::Pipe {
            let error = self
                .error(&codes::UNEXPECTED_TOKEN, self.here(), "a declaration has one `|`")
                .help("remove one of them")
                .fix(Fix::replace(Safe, "remove it", self.here(), ""));
            return self.report(error);
        }
        let here = self.here();
        let message = format!("expected an element, found {}", self.found());
        let error = self.error(&codes::UNEXPECTED_TOKEN, here, message);
        let error = match self.kind() {
            T::Equals | T::Dash | T::Tilde if is_arrow(self.second()) => error
                .help("start a signature without parameters with `()`: ()==>(::Text)")
                .fix(Fix::replace(NeedsLook, "insert `()`", Span::empty(here.start), "()")),
            _ => self.cause(error.clone(), Place::Elements).unwrap_or_else(|()| {
                error.help(
                    "write a node (name::Type), a path of nodes and arrows, a pattern […] or a name",
                )
            }),
        };
        self.report(error);
    }

    /// A bare name among elements, followed by a type or an arrow: a node without parentheses.
    pub(in crate::parser) fn bare_parameter(&mut self, group: Group) -> bool {
        let name = self.tokens.kind(self.last) == T::Symbol;
        let typed = matches!(self.kind(), T::Colon | T::ColonColon);
        if !name || !(typed || is_arrow(self.kind())) {
            return false;
        }
        if self.is_covered() {
            self.skip_element();
            return true;
        }
        let text = self.text(self.last).to_owned();
        let span = self.span(self.last);
        if let Some(error) = self.bare_node_error(group, typed) {
            self.report_in(group, error);
            self.skip_element();
            return true;
        }
        let node = if typed { format!("({text}::Text)") } else { format!("(::{text})") };
        let help = match self.label_of(group) {
            "Library" => format!(
                "write each implementation in parentheses: ({text}:Http {{url: \"https://example.com\"}})"
            ),
            _ => format!("write a parameter or result in parentheses: {node}"),
        };
        let error = self
            .error(&codes::UNEXPECTED_TOKEN, span, format!("`{text}` is not in parentheses"))
            .help(help);
        self.report_in(group, error);
        self.skip_element();
        true
    }

    /// Passes over what is left of an element.
    fn skip_element(&mut self) {
        let error = self.open(N::Error);
        while !matches!(self.kind(), T::Comma | T::End) && !is_closer(self.kind()) {
            self.skip_token_tree();
        }
        self.close(error);
    }

    /// The error about a bare name among elements, where its form tells what it is.
    fn bare_node_error(&mut self, group: Group, typed: bool) -> Option<Diagnostic> {
        let equals = self.kind() == T::Equals && !is_arrow(self.tokens.kind(self.at + 1));
        let valued = typed && self.is_literal(self.after(self.at));
        let described = super::elements::OF_DECLARATIONS.contains(&self.text(self.last));
        if (equals || (valued && !described)) && self.label_of(group) == "Enum" {
            return Some(self.valued_members());
        }
        if let Some(error) = self.separated_names(group) {
            return Some(error);
        }
        if typed && let Some(error) = self.bar_before_head(group) {
            return Some(error);
        }
        if self.kind() == T::Colon
            && let Some(error) = self.members_with_key(group).or_else(|| self.arm_as_entry(group))
        {
            return Some(error);
        }
        if typed && let Some(error) = self.labelled_references(group) {
            return Some(error);
        }
        if typed && self.kind() == T::Colon && self.is_entry(self.last) {
            return self.attributes_after_bar(group);
        }
        let (text, span) = (self.text(self.last).to_owned(), self.span(self.last));
        let (node, edits) = self.bare_nodes(group)?;
        let error = self
            .error(&codes::UNEXPECTED_TOKEN, span, format!("`{text}` is not in parentheses"))
            .help(format!("write it in parentheses: {node}"));
        Some(error.fix(likely("put it into parentheses", edits)))
    }

    /// Entries of a record whose opening brace is missing: `(a::Text default: "x"})`.
    pub(in crate::parser) fn record_without_brace(&mut self) -> bool {
        let key = matches!(self.kind(), T::Symbol | T::DoubleQuoted) && self.second() == T::Colon;
        let brackets = (self.at..self.at + 60).map(|index| self.tokens.kind(index)).find(|kind| {
            is_closer(*kind) || matches!(kind, T::LBrace | T::LParen | T::LBracket | T::End)
        });
        if !key || brackets != Some(T::RBrace) {
            return false;
        }
        let here = Span::empty(self.here().start);
        let message = format!("missing `{{` before `{}`", self.text(self.at));
        let error = self
            .error(&codes::UNEXPECTED_TOKEN, here, message)
            .here("expected `{` here")
            .help("write a record in braces: {key: value}")
            .fix(Fix::replace(NeedsLook, "insert the `{`", here, "{"));
        self.report(error);
        true
    }

    /// The token before the last one, trivia left out.
    fn before_last(&self) -> u32 {
        let mut index = self.last;
        while index > 0 {
            index -= 1;
            if !self.tokens.kind(index).is_trivia() {
                break;
            }
        }
        index
    }

    /// An unexpected token after an identifier, labels and a record.
    pub(in crate::parser) fn after_subject(&mut self, group: Group) {
        let span = self.here();
        let previous = self.tokens.kind(self.last);
        let number = previous.is_number();
        let labelled = self.next_of(self.after(group.opener), &[T::Colon, T::ColonColon]);
        if group.closer == T::RParen
            && labelled.is_some_and(|colon| colon < self.at)
            && self.separates_parameters(self.at)
        {
            return self.second_thing(group, Items::One);
        }
        if group.closer == T::RParen
            && let Some(error) = self.type_in_parentheses(group)
        {
            return self.report_in(group, error);
        }
        if !matches!(self.kind(), T::DoubleQuoted | T::SingleQuoted)
            && !self.second_label_word()
            && let Some(error) = self.odd_name(group)
        {
            return self.report_in(group, error);
        }
        let error = match self.kind() {
            T::Symbol | T::Backticked if number && self.touching() => self.digit_name(),
            T::Symbol | T::Backticked if matches!(previous, T::Symbol | T::Backticked) => {
                self.label_after_sign(group).unwrap_or_else(|| self.two_words())
            }
            T::DoubleQuoted | T::SingleQuoted if self.last == group.opener => {
                self.bracketed_names(group).unwrap_or_else(|| self.quoted_name_error())
            }
            T::Colon | T::ColonColon => self.label_after_record(group),
            T::Unknown if self.adjacent_name().is_some() => {
                let name = self.adjacent_name().unwrap_or_default().to_owned();
                self.error(&codes::NAME, span, format!("`{name}` is not a plain name"))
                    .help(format!("quote it with backticks: `{name}`"))
            }
            kind if kind.is_number() => self.digit_name(),
            _ => return,
        };
        self.report_in(group, error);
    }

    /// `[add {description: "Adds"}:Tool | …]`, at the colon.
    fn label_after_record(&mut self, group: Group) -> Diagnostic {
        let order = match group.closer {
            T::RBracket => "[name:Tool {key: value} | …]",
            _ => "(name::Type {key: value})",
        };
        let error = self
            .error(&codes::UNEXPECTED_TOKEN, self.here(), "expected the label before the record")
            .help(format!("write name, labels and record in this order: {order}"));
        let label = self.after(self.at);
        if group.closer == T::RBracket && self.tokens.kind(label) == T::LParen {
            self.cover(self.closer_of(group.opener).map_or(label, |close| close + 1));
            return self
                .error(&codes::MISSING_BAR, self.here(), "expected `|`, found `:`")
                .help("write `|` between the head of a declaration and its elements")
                .fix(Fix::replace(NeedsLook, "write `|`", self.here(), self.bar_at(self.here())));
        }
        let open = self.opener_of(self.last);
        let (Some(open), T::Symbol) = (open, self.tokens.kind(label)) else { return error };
        if self.tokens.kind(self.last) != T::RBrace {
            return error;
        }
        let written = self.text_between(self.at, label).to_owned();
        let name = Span::empty(self.span(self.previous(open)).end);
        let gap = Span::new(self.span(self.last).end, self.span(label).end);
        let edits = vec![edit(name, written), edit(gap, "")];
        self.cover(label + 1);
        error.fix(likely("move the label", edits))
    }

    /// Whether the next token follows a label.
    fn second_label_word(&self) -> bool {
        matches!(self.tokens.kind(self.before_last()), T::Colon | T::ColonColon)
            || matches!(self.tokens.kind(self.last), T::RBrace | T::Greater)
    }

    fn digit_name(&self) -> Diagnostic {
        self.error(&codes::NAME, self.here(), "a name cannot start with a digit")
            .help("quote it with backticks")
    }

    /// Two words where one belongs.
    fn two_words(&mut self) -> Diagnostic {
        let (first, second) = (self.text(self.last), self.text(self.at));
        let both = Span::new(self.span(self.last).start, self.span(self.at).end);
        let label = matches!(self.tokens.kind(self.before_last()), T::Colon | T::ColonColon);
        if label && EFFECTS.contains(&first) {
            let message = format!("`{first}` is not allowed in a signature");
            return self
                .error(&codes::MISSING_TYPE, both, message)
                .help(format!("write the type of the value itself: `{second}`"))
                .fix(Fix::replace(NeedsLook, format!("write `{second}`"), both, second));
        }
        if label && OPTIONS.contains(&first) {
            return self
                .error(&codes::MISSING_TYPE, both, format!("`{first} {second}` is not a type"))
                .help(format!("write a type that allows null as `{second}?`, and `?` after the name of an optional parameter: (name?::{second})"))
                .fix(Fix::replace(NeedsLook, format!("write `{second}?`"), both, format!("{second}?")));
        }
        if label && LISTS.contains(&first) {
            let ty = format!("{}[]", foreign_type_name(second).unwrap_or(second));
            return self
                .error(&codes::MISSING_TYPE, both, "a list is written `T[]`")
                .help(format!("write `{ty}`"))
                .fix(Fix::replace(NeedsLook, format!("write `{ty}`"), both, ty));
        }
        if let (true, Some(error)) = (label, self.modified_type()) {
            return error;
        }
        let message = format!("unexpected `{second}` after `{first}`");
        if label && let Some(error) = self.bare_attributes(self.at) {
            return error;
        }
        if label {
            let end = self.closer_around(self.at).unwrap_or(self.at);
            self.cover(end);
            return self
                .error(&codes::MISSING_TYPE, self.here(), message)
                .help("write attributes in braces, (name::Text {key: value}), or remove it");
        }
        if matches!(self.second(), T::Colon | T::ColonColon) {
            return self
                .error(&codes::NAME, both, message)
                .help(format!("write a name of several words in backticks: `{first} {second}`"))
                .fix(Fix::replace(
                    NeedsLook,
                    "use backticks",
                    both,
                    format!("`{first} {second}`"),
                ));
        }
        let gap = Span::new(self.span(self.last).end, self.span(self.at).start);
        let error = self.error(&codes::MISSING_TYPE, self.here(), message);
        let foreign = foreign_type_name(first).filter(|_| foreign_type_name(second).is_none());
        let is_type =
            first.starts_with(char::is_uppercase) && second.starts_with(char::is_lowercase);
        if is_type || foreign.is_some() {
            let ty = foreign.unwrap_or(first);
            return error
                .help(format!("write the name first: ({second}::{ty})"))
                .fix(Fix::replace(NeedsLook, "swap them", both, format!("{second}::{ty}")));
        }
        error
            .help(format!("separate a name from its type with `::`: ({first}::{second})"))
            .fix(Fix::replace(NeedsLook, "insert `::`", gap, "::"))
    }
}
