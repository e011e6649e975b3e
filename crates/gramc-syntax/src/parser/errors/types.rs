//! Type expressions.

use super::LOOK_AHEAD;
use super::engine::Facts;
use crate::diagnostic::Diagnostic;
use crate::foreign_types::{explain_type, translate_type};
use crate::limits::MAX_TYPE_DEPTH;
use crate::parse::is_type;
use crate::parser::group::{is_arrow, is_closer};
use crate::parser::{Checkpoint, Parser};
use crate::span::{Span, offset};
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

impl Parser<'_> {
    /// A bracket after a type that is not `[]`, such as `Text[3]`.
    pub(in crate::parser) fn type_suffix(&mut self) {
        self.report_mistake("type-suffix");
        let node = self.open(N::Error);
        self.bump();
        while !(is_closer(self.kind()) || self.kind() == T::End || self.at_declaration()) {
            self.skip_token_tree();
        }
        if self.kind() == T::RBracket {
            self.bump();
        }
        self.close(node);
    }

    pub(in crate::parser) fn missing_field_name(&mut self) {
        if let Some(error) = self.mistake("field-name", None) {
            self.report(error);
            return self.error_token();
        }
        self.report_with_cause("no-field-name", "cause-values", None, Facts::default());
    }

    /// A field's name without a colon. `true` if the type follows.
    pub(in crate::parser) fn missing_field_colon(&mut self) -> bool {
        let sign = matches!(self.kind(), T::ColonColon | T::Equals);
        let typed = matches!(self.kind(), T::Symbol | T::DoubleQuoted | T::LBrace);
        self.report_mistake("field-colon");
        if sign {
            self.error_token();
        }
        sign || typed
    }

    /// Reports a label that is no type once, and passes over it whole.
    pub(in crate::parser) fn malformed_type(&mut self, start: Checkpoint) {
        let failed = self.diagnostics.len() > start.diagnostics;
        if (!failed && !self.type_goes_on()) || self.is_full() {
            return;
        }
        let Some(last) = self.type_end(start.at) else { return };
        let span = self.span_between(start.at, last);
        let error = match self.type_error(span) {
            Some(error) => error,
            None if failed => self.diagnostics.swap_remove(start.diagnostics),
            None => return,
        };
        self.rewind(start);
        self.diagnostics.push(error);
        self.skip_to(span.end);
    }

    /// The error about a type that is written as in another language.
    fn type_error(&mut self, span: Span) -> Option<Diagnostic> {
        let text = self.source.slice(span);
        if text.starts_with('?') {
            return self.question_mark_before_type(span);
        }
        explain_type(self.source, span, text, true, str::to_owned)
    }

    /// `(note::?Text)` or `(note:?:Text)`
    fn question_mark_before_type(&mut self, span: Span) -> Option<Diagnostic> {
        let text = self.source.slice(span);
        let ty = text.trim_start_matches(['?', ':', ' ']);
        let ty = if is_type(ty) { ty.to_owned() } else { translate_type(ty)? };
        let before = self.source.text()[..span.start as usize].trim_end_matches([' ', ':', '?']);
        let name = before.rsplit(['(', ' ', ',']).next().unwrap_or_default();
        let place = match name {
            "" => "question-mark-before-result",
            _ if text.starts_with("?:") => "question-mark-before-colon",
            _ => "question-mark-before-type",
        };
        let spans = [("type", span), ("whole", Span::new(offset(before.len()), span.end))];
        let facts = Facts { spans: &spans, texts: &[("name", name), ("meant", &ty)] };
        self.mistake_with(place, None, facts)
    }

    /// Whether the next token continues a type that gram does not have.
    fn type_goes_on(&self) -> bool {
        let kind = self.kind();
        match kind {
            // The key of a record without its brace.
            T::Symbol => self.second() != T::Colon,
            // Attributes without their braces, or in other ones.
            T::Comma => !self.entry_follows(),
            T::LParen | T::LBracket if !self.touching() => !self.entry_follows(),
            T::Unknown
            | T::LParen
            | T::LBracket
            | T::Question
            | T::SingleQuoted
            | T::DoubleQuoted
            | T::DotDot
            | T::DotDotDot
            | T::Greater
            | T::LessEquals
            | T::EqualsGreater
            | T::DashGreater => true,
            // `= Field(ge=1)`
            T::Equals => self.tokens.kind(self.after(self.after(self.at))) == T::LParen,
            _ => kind.is_number(),
        }
    }

    /// The last token of a type that begins with `first`: before the end of its node, or before its
    /// record. Brackets in it may lack their ends.
    fn type_end(&self, first: u32) -> Option<u32> {
        let (mut open, mut angles, mut last, mut index) = (Vec::new(), 0_u32, first, first);
        for _ in 0..LOOK_AHEAD {
            let kind = self.tokens.kind(index);
            match kind {
                T::End => return None,
                T::LBracket if self.begins_line(index) => return None,
                // A type contains no nodes, so this one lacks its end.
                T::ColonColon if !open.contains(&T::RBrace) => return None,
                T::LBrace if open.is_empty() && angles == 0 && index > first => return Some(last),
                T::LBracket => open.push(T::RBracket),
                T::LParen => open.push(T::RParen),
                T::LBrace => open.push(T::RBrace),
                T::RParen if open.last() != Some(&T::RParen) => {
                    // `({a: Text) {…})`: it is in the place of another bracket.
                    let wrong = !open.is_empty() && self.attributes_follow(index);
                    return (index > first).then_some(if wrong { index } else { last });
                }
                T::RBracket | T::RBrace if open.last() != Some(&kind) => return None,
                T::RBracket | T::RBrace | T::RParen => drop(open.pop()),
                T::Less => angles += 1,
                T::Greater => angles = angles.saturating_sub(1),
                _ => {}
            }
            last = index;
            index = self.after(index);
        }
        None
    }

    /// Whether attributes, and the end of a parameter, follow a token.
    fn attributes_follow(&self, index: u32) -> bool {
        let open = self.after(index);
        let close = self.closer_of(open).filter(|_| self.tokens.kind(open) == T::LBrace);
        close.is_some_and(|close| self.tokens.kind(self.after(close)) == T::RParen)
    }

    /// A token that begins no type.
    pub(in crate::parser) fn missing_member(&mut self) {
        self.report_with_cause("no-member", "cause-values", None, Facts::default());
    }

    /// Reports `(get::()==>Text)` or `(get::(a::Int)==>(::Text))`, at the second parenthesis.
    pub(in crate::parser) fn function_type(&mut self) -> bool {
        let at_arrow = |it: &u32| [*it, it + 1].iter().all(|it| is_arrow(self.tokens.kind(*it)));
        let next = self.closer_of(self.at).map(|close| self.after(close));
        let Some(arrow) = next.filter(at_arrow) else { return false };
        let end = self.next_of(arrow, &[T::LBrace]).or_else(|| self.closer_around(arrow));
        let Some(end) = end else { return false };
        let span = self.span_between(self.at, self.previous(end));
        self.report_with("function-type", None, Facts { spans: &[("type", span)], texts: &[] });
        self.skip_to(span.end);
        true
    }

    /// An unexpected token after a type.
    pub(in crate::parser) fn after_type(&mut self) {
        match self.mistake("modified-type", None) {
            Some(error) => self.report(error),
            None => self.report_with_cause("after-type", "cause-values", None, Facts::default()),
        }
    }

    /// A literal type that is no number of JSON: `017`, `2s`.
    pub(in crate::parser) fn not_a_json_number(&mut self, span: Span) {
        let facts = Facts { spans: &[("number", span)], texts: &[] };
        self.report_with("not-a-json-number", None, facts);
    }

    pub(in crate::parser) fn type_too_deep(&mut self) {
        let most = MAX_TYPE_DEPTH.to_string();
        self.report_with("type-too-deep", None, Facts { spans: &[], texts: &[("most", &most)] });
        let node = self.open(N::Error);
        self.skip_token_tree();
        while matches!(self.kind(), T::LBracket | T::Question) {
            self.skip_token_tree();
        }
        self.close(node);
    }
}

/// The members of a union as the elements of a declaration; `None` for types with parts.
pub(super) fn members_of(ty: &str) -> Option<String> {
    let name = |member: &str| member.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let members = ty
        .split('|')
        .map(str::trim)
        .map(|member| if name(member) { member.to_owned() } else { format!("`{member}`") });
    let nested = ty.contains(['(', '{', '[', '<', '`']);
    (!nested).then(|| members.collect::<Vec<_>>().join(", "))
}
