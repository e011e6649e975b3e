//! Finds the mistakes of the table at an unexpected token, and describes them.

use super::LOOK_AHEAD;
use super::table::{Atom, Element, Item, Row, Start, TABLE};
use crate::diagnostic::Diagnostic;
use crate::foreign_types::foreign_type_name;
use crate::parser::Parser;
use crate::parser::group::{Group, is_arrow, is_closer};
use crate::span::{Span, offset};
use crate::token::TokenKind as T;

/// Quotation marks of prose, each with the one that closes it.
const CURLY: [(char, char); 6] =
    [('“', '”'), ('„', '“'), ('‘', '’'), ('«', '»'), ('”', '”'), ('´', '´')];

/// A capture of a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Capture {
    pub(super) name: &'static str,
    /// Of a repetition, its number from 1 on.
    pub(super) round: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) span: Span,
}

/// Spans and texts that the parser found for the rows of a place, by their names in the rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts<'f> {
    pub(super) spans: &'f [(&'static str, Span)],
    pub(super) texts: &'f [(&'static str, &'f str)],
}

/// The state of a match.
#[derive(Debug, Default)]
pub(super) struct Match<'f> {
    pub(super) group: Option<Group>,
    pub(super) texts: &'f [(&'static str, &'f str)],
    pub(super) captures: Vec<Capture>,
    pub(super) round: u32,
    /// The token after the mistake, where the pattern has a `/`.
    pub(super) slash: Option<u32>,
    /// The token after the pattern.
    pub(super) next: u32,
}

impl Parser<'_> {
    /// The first mistake of a place of the table that the tokens match. Its tokens are covered.
    pub(super) fn mistake(&mut self, place: &str, group: Option<Group>) -> Option<Diagnostic> {
        self.mistake_with(place, group, Facts::default())
    }

    /// The same, with spans and texts that the rows may use.
    pub(super) fn mistake_with(
        &mut self,
        place: &str,
        group: Option<Group>,
        facts: Facts<'_>,
    ) -> Option<Diagnostic> {
        if self.is_full() {
            return None;
        }
        let (error, cover) = self.find_mistake(place, group, facts, None)?;
        self.cover(cover);
        Some(error)
    }

    /// Reports the first mistake of a place of the table that the tokens match.
    pub(in crate::parser) fn report_mistake(&mut self, place: &str) {
        self.report_with(place, None, Facts::default());
    }

    /// Reports the first mistake of a place about a group, with spans and texts for the rows.
    pub(super) fn report_with(&mut self, place: &str, group: Option<Group>, facts: Facts<'_>) {
        match (self.mistake_with(place, group, facts), group) {
            (Some(error), Some(group)) => self.report_in(group, error),
            (Some(error), None) => self.report(error),
            (None, _) => {}
        }
    }

    /// Reports the first mistake of a place about a group.
    pub(super) fn report_in_group(&mut self, place: &str, group: Group) {
        self.report_with(place, Some(group), Facts::default());
    }

    /// Completes an error with the help and fixes of the first row that matches.
    pub(super) fn explain(&self, place: &str, error: Diagnostic) -> Diagnostic {
        let explained = self.find_mistake(place, None, Facts::default(), Some(&error));
        explained.map_or(error, |(error, _)| error)
    }

    fn find_mistake(
        &self,
        place: &str,
        group: Option<Group>,
        facts: Facts<'_>,
        error: Option<&Diagnostic>,
    ) -> Option<(Diagnostic, u32)> {
        TABLE.place(place).iter().find_map(|item| match item {
            Item::Use(place, condition) => {
                let found = Match { group, texts: facts.texts, ..Match::default() };
                let applies = condition.is_none_or(|condition| self.meets(&found, condition));
                applies.then(|| self.find_mistake(place, group, facts, error))?
            }
            Item::Row(row) => self.apply_row(row, group, facts, error),
        })
    }

    fn apply_row(
        &self,
        row: &Row,
        group: Option<Group>,
        facts: Facts<'_>,
        error: Option<&Diagnostic>,
    ) -> Option<(Diagnostic, u32)> {
        let start = match row.start {
            Start::At => self.at,
            Start::Last => self.last,
            Start::Open => group?.opener,
        };
        let captures = facts.spans.iter().map(|(name, span)| {
            let (first, last) = (span.start, span.end.saturating_sub(1).max(span.start));
            let (first, last) = (self.tokens.at(first), self.tokens.at(last));
            Capture { name, round: 0, first, last, span: *span }
        });
        let captures = captures.collect();
        let texts = facts.texts;
        let mut found = Match { group, texts, captures, next: start, ..Match::default() };
        self.match_back(&mut found, &row.before, start)?;
        found.next = self.match_all(&mut found, &row.after, start)?;
        found.next = found.slash.unwrap_or(found.next);
        let meets = row.conditions.iter().all(|condition| self.meets(&found, condition));
        meets.then(|| self.describe(row, &found, error)).flatten()
    }

    /// Matches elements from a token on. Returns the token after them.
    fn match_all(&self, found: &mut Match<'_>, elements: &[Element], mut at: u32) -> Option<u32> {
        let mut rest = elements.iter();
        while let Some(element) = rest.next() {
            at = match element {
                Element::Skip => self.skip_until(found, rest.next()?, at)?,
                Element::Slash => {
                    found.slash = Some(at);
                    at
                }
                element => self.match_one(found, element, at)?,
            };
        }
        Some(at)
    }

    fn skip_until(&self, found: &mut Match<'_>, element: &Element, mut at: u32) -> Option<u32> {
        for _ in 0..LOOK_AHEAD {
            if let Some(next) = self.match_one(found, element, at) {
                return Some(next);
            }
            at = self.after(self.tree_end(at)?);
        }
        None
    }

    /// The last token of a token tree: of a bracket, the one that closes it.
    fn tree_end(&self, at: u32) -> Option<u32> {
        match self.tokens.kind(at) {
            T::LBracket | T::LParen | T::LBrace => self.closer_of(at),
            T::End | T::RBracket | T::RParen | T::RBrace => None,
            _ => Some(at),
        }
    }

    fn match_one(&self, found: &mut Match<'_>, element: &Element, at: u32) -> Option<u32> {
        match element {
            Element::Atom(name, atom) => {
                let (last, span) = self.match_atom(found, *atom, at)?;
                if let Some(name) = name {
                    let round = found.round;
                    found.captures.push(Capture { name, round, first: at, last, span });
                }
                Some(self.after(last))
            }
            Element::Group(name, alternatives, least, most) => {
                let (mut next, mut rounds) = (at, 0);
                let outer = found.round;
                while rounds < *most {
                    if *most > 1 && outer == 0 {
                        found.round = rounds + 1;
                    }
                    let Some(end) = self.match_any(found, alternatives, next) else { break };
                    rounds += 1;
                    if end == next {
                        break;
                    }
                    next = end;
                }
                found.round = outer;
                if rounds < *least {
                    return None;
                }
                if let Some(name) = name.filter(|_| next > at) {
                    let last = self.previous(next);
                    let span = self.span_between(at, last);
                    found.captures.push(Capture { name, round: outer, first: at, last, span });
                }
                Some(next)
            }
            Element::Not(element) => {
                let captures = found.captures.len();
                let matches = self.match_one(found, element, at).is_some();
                found.captures.truncate(captures);
                (!matches).then_some(at)
            }
            Element::Ahead(element) => self.match_one(found, element, at).map(|_| at),
            Element::Touching => {
                (self.span(self.previous(at)).end == self.span(at).start).then_some(at)
            }
            Element::Skip | Element::Slash => None,
        }
    }

    fn match_any(&self, found: &mut Match<'_>, of: &[Vec<Element>], at: u32) -> Option<u32> {
        let captures = found.captures.len();
        of.iter().find_map(|elements| {
            found.captures.truncate(captures);
            let end = self.match_all(found, elements, at);
            if end.is_none() {
                found.captures.truncate(captures);
            }
            end
        })
    }

    /// Matches elements that end before a token. Returns the first token of them.
    fn match_back(&self, found: &mut Match<'_>, elements: &[Element], mut at: u32) -> Option<u32> {
        for element in elements.iter().rev() {
            at = match element {
                Element::Atom(name, atom) => {
                    let last = self.previous(at);
                    let tree = matches!(atom, Atom::Class("any" | "()" | "[]" | "{}"));
                    let closer = is_closer(self.tokens.kind(last)) && tree;
                    let first = if closer { self.opener_of(last)? } else { last };
                    let (end, span) = self.match_atom(found, *atom, first)?;
                    if end != last || last == at {
                        return None;
                    }
                    if let Some(name) = name {
                        found.captures.push(Capture { name, round: 0, first, last, span });
                    }
                    first
                }
                Element::Group(name, alternatives, least, _) => {
                    let first = alternatives.iter().find_map(|one| self.match_back(found, one, at));
                    if let (Some(name), Some(first)) = (name, first) {
                        let last = self.previous(at);
                        let span = self.span_between(first, last);
                        found.captures.push(Capture { name, round: 0, first, last, span });
                    }
                    match first {
                        None if *least > 0 => return None,
                        first => first.unwrap_or(at),
                    }
                }
                Element::Not(element) => {
                    let one = std::slice::from_ref(&**element);
                    if self.match_back(found, one, at).is_some() {
                        return None;
                    }
                    at
                }
                element => self.match_one(found, element, at)?,
            };
        }
        Some(at)
    }

    /// The last token and the span of an atom at a token.
    fn match_atom(&self, found: &Match<'_>, atom: Atom, at: u32) -> Option<(u32, Span)> {
        let last = match atom {
            Atom::Text(text) => (self.text(at) == text).then_some(at)?,
            Atom::List(list) => TABLE.is_in(list, self.text(at)).then_some(at)?,
            Atom::Class("bare") => {
                return self.match_text(at, &[',', '}', ']', ')', '\n', ' ', '\t']);
            }
            Atom::Class("line") => return self.match_text(at, &[',', '}']),
            Atom::Class("eol") => return self.match_text(at, &[]),
            Atom::Class("curly-text") => return self.match_quoted(at, curly_end),
            Atom::Class("slashed") => return self.match_quoted(at, slashed_end),
            Atom::Class(class) => self.match_class(found, class, at)?,
        };
        Some((last, self.span_between(at, last)))
    }

    /// A text on one line, up to a character.
    fn match_text(&self, at: u32, ends: &[char]) -> Option<(u32, Span)> {
        self.match_quoted(at, |line| {
            Some(line[..line.find(ends).unwrap_or(line.len())].trim_end().len())
        })
    }

    /// A text on one line that begins at a token, of the length that a function finds.
    fn match_quoted(&self, at: u32, length: impl Fn(&str) -> Option<usize>) -> Option<(u32, Span)> {
        let start = self.span(at).start;
        let text = &self.line_from(start);
        let text = &text[..length(text)?];
        let span = Span::new(start, start + offset(text.len()));
        let next = self.tokens.at(span.end);
        (!text.is_empty()).then(|| (self.previous(next).max(at), span))
    }

    fn match_class(&self, found: &Match<'_>, class: &str, at: u32) -> Option<u32> {
        let kind = self.tokens.kind(at);
        let run = || self.arrow_end(at);
        let matches = match class {
            "any" => return self.tree_end(at),
            "part" => return self.tree_end(at).filter(|_| kind != T::Comma),
            "()" => return self.tree_end(at).filter(|_| kind == T::LParen),
            "[]" => return self.tree_end(at).filter(|_| kind == T::LBracket),
            "{}" => return self.tree_end(at).filter(|_| kind == T::LBrace),
            "arrow" => return is_arrow(kind).then(run),
            "short-arrow" => return self.short_arrow_end(at),
            "strokes" => return (is_arrow(kind) && is_arrow(self.tokens.kind(at + 1))).then(run),
            "bar" => {
                let next = self.tokens.kind(self.after(at));
                let begins = matches!(next, T::LParen | T::LBracket | T::Symbol | T::Backticked);
                let bar = kind == T::Equals || (begins && TABLE.is_in("bars", self.text(at)));
                return bar.then(run);
            }
            "entry" => {
                return self.is_entry(at).then(|| self.tree_end(self.after(self.after(at))))?;
            }
            "rest" => return self.end_of_type(at),
            "angles" => return self.end_of_angles(at),
            "curly" => self.text(at).starts_with(['“', '„', '”', '‘', '’', '«', '»', '´']),
            "backticked" => kind == T::Backticked,
            "token" => kind != T::End,
            "name" => matches!(kind, T::Symbol | T::Backticked),
            "word" => kind == T::Symbol,
            "text" => matches!(kind, T::DoubleQuoted | T::SingleQuoted),
            "string" => kind == T::DoubleQuoted,
            "empty" => {
                self.text(at).len() == 2 && matches!(kind, T::DoubleQuoted | T::SingleQuoted)
            }
            "number" => kind.is_number(),
            "literal" => self.is_literal(at),
            "colon" => matches!(kind, T::Colon | T::ColonColon),
            "label" => self.is_declaring_label(at),
            "closer" => is_closer(kind) && kind != T::Greater,
            "end" => kind == T::End,
            "unknown" => kind == T::Unknown,
            "open" => found.group.is_some_and(|group| group.opener == at),
            "close" => found.group.and_then(|group| self.closer_of(group.opener)) == Some(at),
            _ => false,
        };
        matches.then_some(at)
    }

    /// The last token of a type, up to a comma or a closer outside of brackets.
    fn end_of_type(&self, first: u32) -> Option<u32> {
        let (mut depth, mut last, mut index) = (0_u32, None, first);
        for _ in 0..LOOK_AHEAD {
            let kind = self.tokens.kind(index);
            match kind {
                T::End => return None,
                T::Comma if depth == 0 => break,
                T::LBracket | T::LParen | T::LBrace | T::Less => depth += 1,
                _ if is_closer(kind) && depth == 0 => break,
                _ if is_closer(kind) => depth -= 1,
                _ => {}
            }
            last = Some(index);
            index = self.after(index);
        }
        last
    }

    /// The `>` of type parameters, which begin with a name.
    fn end_of_angles(&self, open: u32) -> Option<u32> {
        let first = self.after(open);
        let key = matches!(self.tokens.kind(self.after(first)), T::Colon | T::ColonColon);
        let (mut depth, mut index) = (0_u32, open);
        for _ in 0..LOOK_AHEAD {
            match self.tokens.kind(index) {
                T::Less => depth += 1,
                T::Greater => depth = depth.checked_sub(1)?,
                T::End | T::Pipe | T::LBrace | T::RBracket => return None,
                _ => {}
            }
            if depth == 0 {
                return (index > open && self.tokens.kind(first) == T::Symbol && !key)
                    .then_some(index);
            }
            index = self.after(index);
        }
        None
    }

    pub(super) fn meets(&self, found: &Match<'_>, condition: &str) -> bool {
        if let Some((one, other)) = condition.split_once(" & ") {
            return self.meets(found, one) && self.meets(found, other);
        }
        if let Some(condition) = condition.strip_prefix('!') {
            return !self.meets(found, condition);
        }
        let (name, rest) = condition.split_once(' ').unwrap_or((condition, ""));
        match name {
            "label" => return rest.split(' ').any(|word| word == self.label(found)),
            "holder" => return rest.split(' ').any(|word| word == self.holder(found)),
            "line" => return self.line_from(self.here().start).starts_with(rest),
            "closer" => {
                return found.group.is_some_and(|group| super::closer_text(group.closer) == rest);
            }
            "declares" => return self.what_the_line_declares() != "TOOL",
            "has" if found.texts.iter().any(|(name, _)| *name == rest) => return true,
            "all-capital" => {
                let mut named = found.captures.iter().filter(|capture| capture.name == rest);
                return named.all(|it| self.source.slice(it.span).starts_with(char::is_uppercase));
            }
            _ => {}
        }
        let (place, words) = rest.split_once(' ').unwrap_or((rest, ""));
        let Some(span) = self.span_of(found, place, 0) else { return false };
        let (text, mut words) = (self.source.slice(span), words.split(' '));
        let first = self.tokens.at(span.start);
        match name {
            "has" => true,
            "is" => words.any(|word| word == text),
            "in" => words.any(|list| TABLE.is_in(list, text)),
            "contains" => words.any(|word| text.contains(word)),
            "ends" => words.any(|word| text.ends_with(word)),
            "only" => words.any(|word| text.trim_matches(|c| word.contains(c)).is_empty()),
            "key" => words.any(|word| word == self.key_before(first)),
            "known" => foreign_type_name(text).is_some(),
            "plain" => text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
            "capital" => text.starts_with(char::is_uppercase),
            "ends-alpha" => text.ends_with(char::is_alphabetic),
            "opens-list" => {
                text.get(1..).is_some_and(|rest| rest.trim_start().starts_with([',', ']']))
            }
            "list" => {
                let signs = [T::Colon, T::ColonColon, T::Equals, T::EqualsGreater, T::DashGreater];
                let sign = self.next_of(self.after(first), &signs);
                sign.is_none_or(|sign| self.span(sign).start > span.end)
            }
            "line-start" => self.begins_line(first),
            "line-ends" => self.line_from(span.end).trim_matches(['-', '+', ' ', '\r']).is_empty(),
            "first" => self.source.text()[..span.start as usize].trim().is_empty(),
            _ => false,
        }
    }
}

/// The length of a text in curly quotes.
fn curly_end(line: &str) -> Option<usize> {
    let open = line.chars().next()?;
    let closers = CURLY.iter().filter(|(left, _)| *left == open);
    let inner = &line[open.len_utf8()..];
    let close = closers.filter_map(|(_, right)| inner.find([*right, '"'])).min()?;
    let last = inner[close..].chars().next()?;
    Some(open.len_utf8() + close + last.len_utf8())
}

/// The length of a regular expression between slashes, with its flags.
fn slashed_end(line: &str) -> Option<usize> {
    let end = line.strip_prefix('/')?.find('/')? + 2;
    let flags = line[end..].trim_start_matches(|c: char| c.is_ascii_lowercase());
    Some(line.len() - flags.len())
}
