//! Members of declarations that are written as in other languages: names in brackets or between
//! arrows, and members with numbers or values.

use super::scan::{edit, likely};
use crate::codes;
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::parser::Parser;
use crate::parser::group::{Group, is_arrow};
use crate::span::Span;
use crate::token::TokenKind as T;

/// The labels of declarations whose elements are names.
const OF_NAMES: [&str; 5] = ["Enum", "Union", "Container", "Agent", "Experiment"];

/// Keys under which other languages list the members of a declaration.
const OF_MEMBERS: [&str; 8] =
    ["tools", "functions", "members", "agents", "handoffs", "libraries", "arms", "uses"];

impl Parser<'_> {
    /// `[helper:Agent | {greet}]` or `[l:Library | {greet: ["cmd"]}]`, at the brace.
    pub(super) fn members_in_braces(&mut self, label: &str) -> Option<Diagnostic> {
        let (open, close) = (self.at, self.closer_of(self.at)?);
        let span = self.span_between(open, close);
        let inner = self.text_between(self.after(open), self.previous(close)).to_owned();
        let named = matches!(label, "Agent" | "Container" | "Experiment");
        let plain = |c: char| c.is_alphanumeric() || "_.-@`, \n\t".contains(c);
        if named && !inner.is_empty() && inner.chars().all(plain) {
            let message = format!("the members of {} are listed without braces", article(label));
            return Some(
                self.unexpected(span, message).help(format!("write {inner}")).fix(Fix::replace(
                    NeedsLook,
                    "remove the braces",
                    span,
                    inner,
                )),
            );
        }
        let colon = self.next_of(self.after(open), &[T::Colon])?;
        if label != "Library" {
            return None;
        }
        let (name, value) = (self.text(self.previous(colon)), self.after(colon));
        let node = match self.tokens.kind(value) {
            T::LBracket => {
                let list = self.text_between(value, self.closer_of(value)?);
                format!("({name}:Command {{run: {list}}})")
            }
            _ => format!("({name}:Command {{run: [\"program\"]}})"),
        };
        let error = self
            .unexpected(span, "an implementation is written in parentheses")
            .help(format!("write {node}"));
        let alone = self.next_of(value, &[T::Comma]).is_none();
        if self.tokens.kind(value) != T::LBracket || !alone {
            return Some(error);
        }
        Some(error.fix(Fix::replace(NeedsLook, format!("write {node}"), span, node)))
    }

    /// `[helper:Agent | tools: greet, part]`, at the colon.
    pub(super) fn members_with_key(&mut self, group: Group) -> Option<Diagnostic> {
        let (key, label) = (self.last, self.label_of(group));
        let value = self.after(self.at);
        let (first, last) = match self.tokens.kind(value) {
            T::LBracket => (self.after(value), self.previous(self.closer_of(value)?)),
            _ => (value, value),
        };
        let names = self.text_between(first, last).to_owned();
        let plain = |c: char| c.is_alphanumeric() || "_.-@`, \n\t".contains(c);
        if !matches!(label, "Agent" | "Container" | "Experiment")
            || !OF_MEMBERS.contains(&self.text(key))
            || !names.chars().all(plain)
        {
            return None;
        }
        let end = if first == value { value } else { self.closer_of(value)? };
        self.cover(end + 1);
        let message = format!("the members of {} are listed without a key", article(label));
        let span = self.span_between(key, end);
        Some(
            self.unexpected(self.span(key), message)
                .help(format!("write {names}"))
                .fix(Fix::replace(NeedsLook, format!("remove `{}`", self.text(key)), span, names)),
        )
    }

    /// `[test:Experiment | quick, slow: other]`, at the colon.
    pub(super) fn arm_as_entry(&mut self, group: Group) -> Option<Diagnostic> {
        let (name, library) = (self.last, self.after(self.at));
        let ends = matches!(self.tokens.kind(self.after(library)), T::Comma | T::RBracket);
        if self.label_of(group) != "Experiment"
            || self.tokens.kind(library) != T::Symbol
            || super::LABELS.contains(&self.text(library))
            || !ends
        {
            return None;
        }
        let node = format!("({}:Arm {{library: \"{}\"}})", self.text(name), self.text(library));
        let span = self.span_between(name, library);
        self.cover(library + 1);
        Some(
            self.unexpected(span, "an arm with a name of its own is written in parentheses")
                .help(format!("write {node}"))
                .fix(Fix::replace(NeedsLook, format!("write {node}"), span, node)),
        )
    }

    /// `[test:Experiment | quick-->slow]`, at the `>`: the strokes are read as part of the name.
    pub(super) fn arrow_in_name(&mut self, group: Group) -> Option<Diagnostic> {
        let (name, label) = (self.text(self.last), self.label_of(group));
        let arrow = self.kind() == T::Greater && self.touching() && name.ends_with('-');
        let names = matches!(label, "Agent" | "Container" | "Experiment" | "Enum" | "Union");
        if !arrow || !names || self.second() != T::Symbol {
            return None;
        }
        let plain = name.trim_end_matches('-');
        let start = self.span(self.last).start + crate::span::offset(plain.len());
        let span = Span::new(start, self.span(self.after(self.at)).start);
        let message = format!("the members of {} are separated by commas", article(label));
        Some(
            self.unexpected(span, message)
                .about(name)
                .help("write the names with commas between them")
                .fix(Fix::replace(NeedsLook, "write a comma", span, ", ")),
        )
    }

    /// The error about names that are listed in brackets, at the comma after the first one:
    /// `[Unit::Enum | [celsius, fahrenheit]]`.
    pub(super) fn bracketed_names(&mut self, group: Group) -> Option<Diagnostic> {
        let before = self.previous(group.opener);
        let holder = self.holder_of(group.opener)?;
        let label = self.label_of(holder);
        if !matches!(self.tokens.kind(before), T::Pipe | T::Comma) || !OF_NAMES.contains(&label) {
            return None;
        }
        let close = self.closer_of(group.opener)?;
        let (open, end) = (self.span(group.opener), self.span(close));
        let names = self.text_between(self.after(group.opener), self.previous(close)).to_owned();
        let names = if label == "Enum" { names.replace(['"', '\''], "") } else { names };
        let plain = |c: char| c.is_alphanumeric() || "_.-@, \n\t".contains(c);
        if !names.chars().all(plain) {
            return None;
        }
        let whole = Span::new(open.start, end.end);
        let fix = Fix::replace(NeedsLook, "remove the brackets", whole, names.clone());
        self.cover(close + 1);
        let message = format!("the members of {} are listed without brackets", article(label));
        Some(self.unexpected(open, message).help(format!("write {names}")).fix(fix))
    }

    /// Whether a token is between names where a comma belongs: an arrow, or `/`.
    fn is_separator(&self, index: u32) -> bool {
        is_arrow(self.tokens.kind(index)) || matches!(self.text(index), "/" | "+" | "&" | "\\")
    }

    /// The error about arrows or signs between names, where commas belong:
    /// `[helper:Agent | greet ==> part]`.
    pub(super) fn separated_names(&mut self, group: Group) -> Option<Diagnostic> {
        let label = self.label_of(group);
        let named = matches!(self.tokens.kind(self.last), T::Symbol | T::Backticked);
        if !named || !self.is_separator(self.at) || !OF_NAMES.contains(&label) {
            return None;
        }
        let (mut edits, mut name, here) = (Vec::<Edit>::new(), self.last, self.here());
        loop {
            let start = self.after(name);
            let mut end = start;
            while self.is_separator(end) {
                end = self.after(end);
            }
            if end == start || !matches!(self.tokens.kind(end), T::Symbol | T::Backticked) {
                break;
            }
            edits.push(edit(Span::new(self.span(name).end, self.span(end).start), ", "));
            name = end;
        }
        if edits.is_empty() {
            return None;
        }
        self.cover(self.after(name));
        let message = format!("the members of {} are separated by commas", article(label));
        let names = "write the names with commas between them";
        Some(self.unexpected(here, message).help(names).fix(likely("write commas", edits)))
    }

    /// The error about numbers as the members of an enum: `[Rate::Enum | 0.5, 1.5]`.
    pub(super) fn numbers_as_members(&mut self, group: Group) -> Option<Diagnostic> {
        if !self.kind().is_number() || self.label_of(group) != "Enum" {
            return None;
        }
        if let Some(error) = self.members_with_digits() {
            return Some(error);
        }
        let (first, mut last, mut at) = (self.at, self.at, self.at);
        while self.tokens.kind(at).is_number() {
            last = at;
            let comma = self.after(at);
            at = if self.tokens.kind(comma) == T::Comma { self.after(comma) } else { comma };
        }
        let only = self.tokens.kind(self.last) == T::Pipe && self.tokens.kind(at) == T::RBracket;
        let ty = self.text_between(first, last).replace(',', " |");
        let error = self
            .unexpected(self.span_between(first, last), "the members of an enum are texts")
            .help(format!("write numbers as a type: (::{ty})"));
        self.cover(at);
        let name = self.after(self.after(group.opener));
        let label = self.after(name);
        if !only || self.text(label) != "Enum" {
            return Some(error);
        }
        let edits = vec![
            edit(self.span(label), "Alias"),
            edit(self.span_between(first, last), format!("(::{ty})")),
        ];
        Some(error.fix(likely(format!("write the type `{ty}`"), edits)))
    }

    /// `[Stars::Enum | 1star, 2star]`: names that begin with a digit.
    fn members_with_digits(&mut self) -> Option<Diagnostic> {
        let (mut edits, mut names, mut at) = (Vec::new(), Vec::new(), self.at);
        if !self.text(self.at).ends_with(char::is_alphabetic) {
            return None;
        }
        while self.tokens.kind(at).is_number() {
            let name = format!("`{}`", self.text(at));
            edits.push(edit(self.span(at), name.clone()));
            names.push(name);
            let comma = self.after(at);
            self.cover(comma);
            at = self.after(comma);
            if self.tokens.kind(comma) != T::Comma {
                break;
            }
        }
        Some(
            self.error(
                &codes::NAME,
                self.here(),
                "a name that begins with a digit is in backticks",
            )
            .help(format!("write {}", names.join(", ")))
            .fix(likely("use backticks", edits)),
        )
    }

    /// `[Unit::Enum | 1 = celsius, 2 = fahrenheit]`, at the first `=`.
    pub(super) fn numbered_members(&mut self, group: Group) -> Option<Diagnostic> {
        let (mut edits, mut equals) = (Vec::new(), Some(self.at));
        while let Some(at) = equals.filter(|_| self.label_of(group) == "Enum") {
            let (number, name) = (self.previous(at), self.after(at));
            edits.push(edit(Span::new(self.span(number).start, self.span(name).start), ""));
            self.cover(name + 1);
            equals = self.next_of(name, &[T::Equals]);
        }
        if edits.is_empty() {
            return None;
        }
        Some(
            self.unexpected(self.here(), "the members of an enum have no numbers")
                .help("write the names alone: [Unit::Enum | celsius, fahrenheit]")
                .fix(likely("remove the numbers", edits)),
        )
    }

    /// `[Unit::Enum | celsius "in degrees", kelvin]`, at the first text.
    pub(super) fn described_members(&mut self, group: Group) -> Option<Diagnostic> {
        let (mut edits, mut text) = (Vec::new(), self.at);
        while self.label_of(group) == "Enum" && self.tokens.kind(text) == T::DoubleQuoted {
            let name = self.previous(text);
            let node = format!("({} {{description: {}}})", self.text(name), self.text(text));
            edits.push(edit(self.span_between(name, text), node));
            self.cover(text + 1);
            let comma = self.next_of(text, &[T::Comma]);
            text = comma.map_or(name, |comma| self.after(self.after(comma)));
        }
        let first = edits.first()?.text.clone();
        Some(
            self.unexpected(self.here(), "a description is an attribute")
                .help(format!("write {first}"))
                .fix(likely("write it as an attribute", edits)),
        )
    }

    /// `[helper:Agent | - greet - part]`: a list of YAML, at the first dash.
    pub(super) fn dashed_elements(&mut self, group: Group) -> Option<Diagnostic> {
        let (mut edits, mut dash) = (Vec::new(), self.at);
        while self.tokens.kind(dash) == T::Dash && !is_arrow(self.tokens.kind(dash + 1)) {
            let element = self.after(dash);
            let end = match self.tokens.kind(element) {
                T::LParen | T::LBracket => self.closer_of(element)?,
                T::Symbol | T::Backticked => element,
                _ => return None,
            };
            let before = self.previous(dash);
            let gap = Span::new(self.span(before).end, self.span(element).start);
            let separated = matches!(self.tokens.kind(before), T::Pipe | T::Comma);
            edits.push(edit(gap, if separated { " " } else { ", " }));
            self.cover(element + 1);
            dash = self.after(end);
        }
        if edits.is_empty() || self.is_tool(group) && edits.len() > 1 {
            return None;
        }
        Some(
            self.unexpected(self.here(), "elements have no dashes before them")
                .help("separate elements with commas")
                .fix(likely("remove the dashes", edits)),
        )
    }

    /// `[helper:Agent | *]`
    pub(super) fn all_members(&mut self, group: Group) -> Option<Diagnostic> {
        let label = self.label_of(group);
        let all = matches!(self.text(self.at), "*" | "..." | "…");
        if !all || !matches!(label, "Agent" | "Container" | "Experiment") {
            return None;
        }
        self.cover(self.at + 1);
        let message = format!("{} names each of its members", article(label));
        let help = format!("list the names: [name:{label} | first, second]");
        Some(self.unexpected(self.here(), message).help(help))
    }

    /// The fields of an inline record as nodes.
    pub(super) fn fields_of(&self, open: u32, close: u32) -> Option<Vec<String>> {
        let mut fields = Vec::new();
        let mut at = self.after(open);
        while at < close {
            let colon = self.after(at);
            let end = self.next_of(colon, &[T::Comma]).filter(|end| *end < close).unwrap_or(close);
            let ty = self.text_between(self.after(colon), self.previous(end));
            let known = matches!(self.tokens.kind(at), T::Symbol | T::Backticked)
                && matches!(self.tokens.kind(colon), T::Colon | T::ColonColon);
            if !known || ty.contains(['`', '\n']) {
                return None;
            }
            let word = ty.chars().all(|c| c.is_ascii_alphanumeric());
            let ty = if word { ty.to_owned() } else { format!("`{ty}`") };
            fields.push(format!("({}::{ty})", self.text(at)));
            at = self.after(end);
        }
        (!fields.is_empty()).then_some(fields)
    }

    /// `[Answer::Union | {a: Text}, {b: Int}]`, from the first record on.
    pub(super) fn records_in_backticks(&mut self, error: Diagnostic, first: u32) -> Diagnostic {
        let (mut edits, mut types, mut open) = (Vec::new(), Vec::new(), first);
        while self.tokens.kind(open) == T::LBrace {
            let Some(close) = self.closer_of(open) else { break };
            let ty = format!("`{}`", self.text_between(open, close));
            edits.push(edit(self.span_between(open, close), ty.clone()));
            types.push(ty);
            self.cover(close + 1);
            open = self.after(self.after(close));
        }
        let fix = likely("write backticks", edits);
        error.help(format!("put it into backticks: {}", types.join(", "))).fix(fix)
    }

    /// The keys of a record.
    pub(super) fn keys_of(&self, open: u32, close: u32) -> Vec<&str> {
        let mut keys = Vec::new();
        let mut at = Some(self.after(open));
        while let Some(key) = at.filter(|at| *at < close) {
            keys.push(self.text(key).trim_matches('"'));
            at = self.next_of(key, &[T::Comma]).map(|comma| self.after(comma));
        }
        keys
    }

    /// `celsius = "C"`: members with values.
    pub(super) fn valued_members(&mut self) -> Diagnostic {
        let mut edits = Vec::new();
        let signs = [T::Equals, T::Colon, T::ColonColon];
        let mut equals = Some(self.at).filter(|_| signs.contains(&self.kind()));
        while let Some(at) = equals {
            let value = self.after(at);
            edits.push(edit(Span::new(self.span(self.previous(at)).end, self.span(value).end), ""));
            self.cover(value + 1);
            equals = self.next_of(value, &signs);
        }
        self.unexpected(self.here(), "the members of an enum have no values")
            .help("write the names alone: [Unit::Enum | celsius, fahrenheit]")
            .fix(likely("remove the values", edits))
    }

    /// The bracket of a pattern around the one at `opener`.
    pub(super) fn holder_of(&self, opener: u32) -> Option<Group> {
        let (mut depth, mut index) = (0_u32, opener);
        for _ in 0..super::LOOK_AHEAD {
            if index == 0 {
                return None;
            }
            index = self.previous(index);
            match self.tokens.kind(index) {
                T::RBracket => depth += 1,
                T::LBracket => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Some(Group { opener: index, closer: T::RBracket }),
                },
                _ => {}
            }
        }
        None
    }
}

/// A label as a word with its article.
pub(super) fn article(label: &str) -> String {
    let article = if label.starts_with(['A', 'E']) { "an" } else { "a" };
    format!("{article} {}", label.to_lowercase())
}
