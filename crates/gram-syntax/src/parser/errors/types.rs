//! Type expressions.

use super::{LOOK_AHEAD, Place};
use crate::codes;
use crate::diagnostic::Applicability::NeedsLook;
use crate::diagnostic::Fix;
use crate::foreign_types::{Translation, translate_type};
use crate::limits::MAX_TYPE_DEPTH;
use crate::parser::Parser;
use crate::parser::group::is_closer;
use crate::span::Span;
use crate::token::TokenKind as T;
use crate::tree::NodeKind as N;

/// Words that precede types in other languages.
const MODIFIERS: [&str; 6] = ["readonly", "const", "final", "optional", "nullable", "required"];

impl Parser<'_> {
    /// Replaces the errors from `before` on by one about the whole type, if that is written as in
    /// another language.
    pub(in crate::parser) fn foreign_type(&mut self, first: u32, before: usize) {
        let Some(last) = self.type_end(first) else { return };
        let span = Span::new(self.span(first).start, self.span(last).end);
        let text = self.source.slice(span);
        let Some(Translation { text: ours, reason }) = translate_type(text) else { return };
        let error = self
            .error(&codes::TYPE_EXPRESSION, span, format!("`{text}` is not a type: {reason}"))
            .help(format!("write `{ours}`"))
            .fix(Fix::replace(NeedsLook, format!("write `{ours}`"), span, ours));
        self.diagnostics.truncate(before);
        self.diagnostics.push(error);
        self.reported = Some(self.at);
        self.skip_to(span.end);
    }

    /// The last token of a type that begins with `first`: before the end of its node, or before its
    /// record.
    fn type_end(&self, first: u32) -> Option<u32> {
        let (mut depth, mut last, mut index) = (0_u32, first, first);
        for _ in 0..LOOK_AHEAD {
            let kind = self.tokens.kind(index);
            match kind {
                T::End => return None,
                T::RParen if depth == 0 => return (index > first).then_some(last),
                T::LBrace if depth == 0 && index > first => return Some(last),
                T::LBracket | T::LParen | T::LBrace | T::Less => depth += 1,
                _ if is_closer(kind) => depth = depth.saturating_sub(1),
                _ => {}
            }
            last = index;
            index = self.after(index);
        }
        None
    }

    /// A token that begins no type.
    pub(in crate::parser) fn missing_member(&mut self) {
        let message = format!("expected a type, found {}", self.found());
        let error = self.error(&codes::TYPE_EXPRESSION, self.here(), message);
        let plain = error.clone().help(
            "types are Text, Text[], Text?, Text | Int, [Text, Int], Map<Text>, {name: Text}, \"a\" | \"b\"",
        );
        let error = self.cause(error, Place::Values).unwrap_or(plain);
        self.report(error);
    }

    /// An unexpected token behind a type.
    pub(in crate::parser) fn after_type(&mut self) {
        let error = if let Some(error) = self.modified_type() {
            error
        } else {
            let message = format!("unexpected {} after the type", self.found());
            let error = self.error(&codes::TYPE_EXPRESSION, self.here(), message);
            let plain = error.clone().help(
                "types are Text, Text[], Text?, Text | Int, [Text, Int], Map<Text>, {name: Text}, \"a\" | \"b\"",
            );
            self.cause(error, Place::Values).unwrap_or(plain)
        };
        self.report(error);
    }

    /// A type behind a word that is not part of types: `readonly Text[]`.
    pub(super) fn modified_type(&self) -> Option<crate::diagnostic::Diagnostic> {
        let word = self.text(self.last);
        if self.kind() != T::Symbol || !MODIFIERS.contains(&word) {
            return None;
        }
        let removal = Span::new(self.span(self.last).start, self.here().start);
        let message = format!("`{word}` is not part of a type");
        let error = self.error(&codes::TYPE_EXPRESSION, self.span(self.last), message);
        let help = match word {
            "optional" => "mark an optional parameter behind its name: (name?::Text)",
            "nullable" => "write a type that allows null with `?`: Text?",
            _ => "remove it",
        };
        Some(error.help(help).fix(Fix::replace(NeedsLook, format!("remove `{word}`"), removal, "")))
    }

    /// A literal text in single quotes.
    pub(in crate::parser) fn single_quoted_type(&mut self) {
        let here = self.here();
        let text = self.text(self.at);
        let text = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        let quoted = format!("\"{}\"", text.replace("\\'", "'").replace('"', "\\\""));
        let error = self
            .error(&codes::TYPE_EXPRESSION, here, "expected double quotes around a literal text")
            .help(format!("write {quoted}"))
            .fix(Fix::replace(NeedsLook, "use double quotes", here, quoted));
        self.report(error);
        self.leaf(N::String);
    }

    /// A bracket behind a type that is not `[]`, such as `Text[3]`.
    pub(in crate::parser) fn type_suffix(&mut self) {
        let size = self.second().is_number();
        let span = self.span(self.at);
        let message = "expected `[]` after the type of the items";
        let error = self.error(&codes::TYPE_EXPRESSION, span, message);
        let error = if size {
            let number = self.text(self.after(self.at));
            error.help(format!(
                "write Text[], and its size as an attribute: {{items: {number}..{number}}}"
            ))
        } else {
            error.help("write Text[], and a type with several items as [Text, Int]")
        };
        self.report(error);
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
        let here = self.here();
        let message = format!("expected the name of a field, found {}", self.found());
        let error = self.error(&codes::TYPE_EXPRESSION, here, message);
        let error =
            match self.kind() {
                T::SingleQuoted | T::Backticked => {
                    let text = self.text(self.at);
                    let name = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
                    let name = format!("\"{}\"", name.replace('"', "\\\""));
                    error
                        .help("write a name with other characters in double quotes")
                        .fix(Fix::replace(NeedsLook, "use double quotes", here, name))
                }
                _ => {
                    let plain = error.clone().help("write a field as name: Type");
                    self.cause(error, Place::Values).unwrap_or(plain)
                }
            };
        self.report(error);
        if matches!(self.kind(), T::SingleQuoted | T::Backticked) {
            self.error_token();
        }
    }

    /// A field's name without a colon. `true` if the type follows.
    pub(in crate::parser) fn missing_field_colon(&mut self) -> bool {
        let name = self.text(self.last).to_owned();
        let here = self.here();
        let double = self.kind() == T::ColonColon;
        let equals = self.kind() == T::Equals;
        let message = format!("expected `:` after the field `{name}`, found {}", self.found());
        let error = self.error(&codes::TYPE_EXPRESSION, here, message);
        let typed = matches!(self.kind(), T::Symbol | T::DoubleQuoted | T::LBrace);
        let error = error.help("write a field as name: Type");
        let error = match (double || equals, typed) {
            (true, _) => error.fix(Fix::replace(NeedsLook, "write `:`", here, ":")),
            (_, true) => error.fix(Fix::replace(NeedsLook, "insert `:`", self.gap(), ":")),
            _ => error,
        };
        self.report(error);
        if double || equals {
            self.error_token();
        }
        double || equals || typed
    }

    /// A literal type that is no number of JSON: `017`, `2s`.
    pub(in crate::parser) fn not_a_json_number(&mut self, span: Span) {
        let text = self.source.slice(span);
        let error = self
            .error(&codes::TYPE_EXPRESSION, span, format!("`{text}` is not a type"))
            .help("write a literal number as in JSON, such as 5, -0.5 or 1e-3");
        let error = if matches!(self.kind(), T::DotDot | T::DotDotDot) {
            error.help("write a range as an attribute: (name::Integer {range: 1..5})")
        } else {
            error
        };
        self.report(error);
    }

    pub(in crate::parser) fn type_too_deep(&mut self) {
        let message = format!("types nest more than {MAX_TYPE_DEPTH} deep");
        let error = self
            .error(&codes::NESTED_TOO_DEEP, self.here(), message)
            .help("move nested parts into types of their own");
        self.report(error);
        let node = self.open(N::Error);
        self.skip_token_tree();
        while matches!(self.kind(), T::LBracket | T::Question) {
            self.skip_token_tree();
        }
        self.close(node);
    }
}
