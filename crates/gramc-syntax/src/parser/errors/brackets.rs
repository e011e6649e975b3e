//! Brackets and commas.

use super::engine::Facts;
use crate::diagnostic::{Edit, Fix};
use crate::parser::Parser;
use crate::parser::group::{Group, Items};
use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    pub(in crate::parser) fn missing_comma(&mut self, group: Group) {
        // A bracket on a line of its own may begin a declaration, after one that is not closed.
        let between = self.source.slice(Span::new(self.gap().start, self.here().start));
        let declares = self.kind() == T::LBracket && between.contains('\n');
        // Words may be one name of several, or prose.
        let words = self.tokens.kind(self.last) == T::Symbol && self.kind() == T::Symbol;
        let names = group.closer == T::RBracket && words && self.second() != T::Colon;
        let called = self.tokens.kind(self.last) == T::Symbol && self.kind() == T::LParen;
        let doubtful = declares || names || called;
        let texts: &[_] = if doubtful { &[("doubtful", "")] } else { &[] };
        self.report_with("missing-comma", Some(group), Facts { spans: &[], texts });
    }

    /// A comma and a second item in a group of one item.
    pub(in crate::parser) fn second_thing(&mut self, group: Group, items: Items) {
        let node = group.closer == T::RParen;
        if node && self.second() == T::RParen && self.kind() == T::Comma {
            self.extra_comma(self.at);
            return self.skip_to_closer(group);
        }
        let annotation = items == Items::Annotation;
        let texts: &[_] = if annotation { &[("annotation", "")] } else { &[] };
        match self.mistake_with("second-item", Some(group), Facts { spans: &[], texts }) {
            Some(error) => self.report_in(group, error),
            None if node => self.several_parameters(group),
            None => {}
        }
        self.skip_to_closer(group);
    }

    /// `(a::Int, b::Int)`, at the comma.
    fn several_parameters(&mut self, group: Group) {
        let holder = self.holder_of(group.opener);
        let fields = holder.is_some_and(|it| self.label_of(it) == "Record");
        let mut edits = self.commas_as(if fields { "), (" } else { ")==>(" });
        if let Some(close) = self.closer_of(group.opener) {
            edits.extend(self.arrow_edits(close));
        }
        if let Some(error) = self.mistake("several-parameters", Some(group)) {
            self.report_in(group, error.fix(Fix::edits("write a node for each", edits)));
        }
    }

    pub(in crate::parser) fn report_unclosed(&mut self, group: Group) {
        if self.kind() == T::End && group.closer == T::RBracket && self.never_closed.is_empty() {
            self.unclosed.push(group.opener);
        }
        let outer = self.kind() == T::LBracket && self.last == group.opener;
        let texts: &[_] = if outer { &[("outer", "")] } else { &[] };
        self.report_with("unclosed", Some(group), Facts { spans: &[], texts });
    }

    /// A closing bracket of another kind. `true` if it is an extra bracket and the group continues
    /// after it.
    pub(in crate::parser) fn wrong_closer(&mut self, group: Group) -> bool {
        if let Some(error) = self.mistake("arrow-in-name", Some(group)) {
            self.report_in(group, error);
            return true;
        }
        if let Some(error) = self.interval(group.opener, self.at) {
            self.report_in(group, error);
            return false;
        }
        if self.closes_soon(group, false) {
            if self.diagnostics.len() > self.before {
                // A consequence of an earlier error in this declaration.
                return true;
            }
            self.report_in_group("surplus-closer", group);
            return true;
        }
        self.report_in_group("wrong-closer", group);
        false
    }

    pub(in crate::parser) fn too_deep(&mut self) {
        let most = self.limits.max_depth.to_string();
        self.report_with("too-deep", None, Facts { spans: &[], texts: &[("most", &most)] });
        let node = self.open(N::Error);
        self.skip_token_tree();
        self.close(node);
    }

    pub(in crate::parser) fn extra_comma(&mut self, comma: u32) {
        let span = self.span(comma);
        let doubled = self.tokens.kind(self.previous(comma)) == T::Comma
            || self.tokens.kind(self.after(comma)) == T::Comma;
        let count = if doubled { "doubled" } else { "single" };
        let spans = [("comma", span), (count, span)];
        self.report_with("extra-comma", None, Facts { spans: &spans, texts: &[] });
    }

    /// The edits that make a node of each of several parameters in one pair of parentheses. Names
    /// without a type get that of the last one, as in Go.
    fn commas_as(&self, between: &str) -> Vec<Edit> {
        let (mut commas, mut next) = (Vec::new(), Some(self.at));
        while let Some(at) = next {
            commas.push(at);
            next = self.find_outside(self.after(at), |index, kind| {
                kind == T::Comma || self.separates_parameters(index)
            });
        }
        let ty = commas.last().and_then(|last| self.type_of_parameter(self.after(*last)));
        let edit_at = |at: &u32| {
            let name = self.previous(*at);
            let untyped = matches!(self.tokens.kind(self.previous(name)), T::LParen | T::Comma);
            let ty = ty.filter(|_| untyped).map(|ty| format!("::{ty}")).unwrap_or_default();
            let span = Span::new(self.span(name).end, self.span(self.after(*at)).start);
            Edit::new(span, format!("{ty}{between}"))
        };
        commas.iter().map(edit_at).collect()
    }

    /// The text of the type of a parameter, which begins with its name.
    fn type_of_parameter(&self, name: u32) -> Option<&str> {
        let colon = self.after(name);
        let is_typed = matches!(self.tokens.kind(colon), T::Colon | T::ColonColon);
        let end = self.next_of(colon, &[T::LBrace]).or_else(|| self.closer_around(colon))?;
        is_typed.then(|| self.text_between(self.after(colon), self.previous(end)))
    }

    /// Whether a mark or word other than a comma is between two parameters: `a::Int; b::Int`.
    pub(super) fn separates_parameters(&self, index: u32) -> bool {
        let name = self.after(index);
        matches!(self.text(index), ";" | "and" | "&" | "+" | "/")
            && matches!(self.tokens.kind(name), T::Symbol | T::Backticked)
            && matches!(self.tokens.kind(self.after(name)), T::Colon | T::ColonColon)
    }

    /// Skips everything up to the end of a group, which is known to exist.
    pub(in crate::parser) fn skip_to_closer(&mut self, group: Group) {
        let node = self.open(N::Error);
        while self.kind() != group.closer && self.kind() != T::End {
            self.skip_token_tree();
        }
        self.close(node);
    }

    /// A text of several words, or a number and its unit, without quotes.
    pub(in crate::parser) fn bare_words(&mut self, group: Group) -> bool {
        let words = matches!(self.tokens.kind(self.last), T::Symbol | T::Integer | T::Decimal)
            && matches!(self.kind(), T::Symbol | T::Integer | T::Decimal | T::Unknown);
        let key = matches!(self.second(), T::Colon | T::ColonColon);
        if !words || key || (self.touching() && self.kind() == T::Unknown) {
            return false;
        }
        let start = self.span(self.last).start;
        let rest = &self.source.text()[start as usize..];
        let len = end_of_words(rest);
        let text = rest[..len].trim_end();
        let span = Span::new(start, start + crate::span::offset(text.len()));
        if span.end <= self.span(self.at).start {
            return false;
        }
        let number = self.tokens.kind(self.last) != T::Symbol;
        let range = self.foreign_range(self.last).or_else(|| self.mistake("words-of-range", None));
        let known = range.or_else(|| self.mistake("negated", None)).or_else(|| {
            let unit = number && self.kind() == T::Symbol;
            let joined: String = text.split_whitespace().collect();
            let quoted = format!("\"{}\"", text.replace('\\', "\\\\"));
            let shown = if quoted.len() < 60 { &quoted } else { "\"…\"" };
            let facts = Facts {
                spans: &[("words", span)],
                texts: &[("joined", &joined), ("quoted", &quoted), ("shown", shown)],
            };
            if number && self.kind() == T::Unknown {
                return self.mistake_with("computed-value", None, facts);
            }
            let call = text.contains('(');
            let computed = if call { self.mistake("computed", None) } else { None };
            let place = if unit { "separate-unit" } else { "bare-words" };
            computed.or_else(|| self.mistake_with(place, None, facts))
        });
        if let Some(error) = known {
            self.report_in(group, error);
        }
        self.skip_to(span.end);
        true
    }
}

/// The length of a text without quotes: up to what ends it, and beyond a comma if no key follows.
fn end_of_words(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &text[end..];
        let len = rest.find([',', '}', ']', ')', '\n', '"', '|']).unwrap_or(rest.len());
        let after = &rest[len..];
        let part = after.get(1..).unwrap_or_default();
        let next = part.find([',', '}', ']', ')', '\n', '"', '|', ':']).unwrap_or(part.len());
        let goes_on = after.starts_with(',')
            && !part[..next].trim().is_empty()
            && part[next..].starts_with([',', '}'])
            && text[..end + len].contains(' ');
        end += len;
        if !goes_on {
            return end;
        }
        end += 1;
    }
}
