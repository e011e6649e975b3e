//! Labels and type expressions to types.

use gram_syntax::Applicability::NeedsLook;
use gram_syntax::{Diagnostic, Fix, Node, NodeKind as N, Span};

use crate::checker::Checker;
use crate::codes;
use crate::scopes::Meaning;
use gram_model::expression;
use gram_model::expression::{Expression, ExpressionError, RecordField};
use gram_model::format::{BUILT_IN, built_in};
use gram_model::nearest::{nearest, question};
use gram_model::{Field, ObjectType, Optionality, Type, TypeUse};

/// Type names of other languages, and what they are here.
const FOREIGN: [(&str, &str); 14] = [
    ("str", "Text"),
    ("char", "Text"),
    ("Char", "Text"),
    ("dict", "Object"),
    ("Dict", "Object"),
    ("struct", "Object"),
    ("void", "Null"),
    ("Void", "Null"),
    ("Unit", "Null"),
    ("None", "Null"),
    ("long", "Int"),
    ("decimal", "Number"),
    ("URL", "Uri"),
    ("Url", "Uri"),
];

/// Types of effects, which cross no wire.
const EFFECTS: [&str; 8] = ["IO", "Async", "Promise", "Future", "Task", "Effect", "Eff", "Aff"];

/// Types of what may be absent.
const OPTIONS: [&str; 3] = ["Maybe", "Option", "Optional"];

impl Checker<'_> {
    /// The type that a label names. Reports when it names none.
    pub(crate) fn label_type(&mut self, file: usize, label: Node<'_>) -> Option<Type> {
        if label.kind() != N::QuotedName {
            return self.named_type(file, label.span(), label.text());
        }
        // A quoted label's text begins behind its backtick.
        let text = label.content();
        self.expression_type(file, label.span(), 1, &text)
    }

    /// The type that a string attribute names.
    pub(crate) fn string_type(&mut self, file: usize, node: Node<'_>) -> Option<Type> {
        let text = node.content();
        let quote = u32::from(node.kind() != N::Symbol);
        self.expression_type(file, node.span(), quote, &text)
    }

    /// The type of an expression at `offset` bytes into `span`.
    fn expression_type(
        &mut self,
        file: usize,
        span: Span,
        offset: u32,
        text: &str,
    ) -> Option<Type> {
        if let Some(ty) = self.plain_types.get(text) {
            return Some(ty.clone());
        }
        match expression::parse(text) {
            Ok(expression) => {
                let before = self.found(file);
                let ty = self.resolve(file, span, &expression);
                // What names no declared type, and is nothing to report, is the same everywhere.
                if let Some(ty) = &ty
                    && text.len() <= MAX_CACHED_LENGTH
                    && self.plain_types.len() < MAX_CACHED
                    && self.found(file) == before
                    && before < crate::MAX_PER_FILE
                    && !self.silent
                    && is_plain(ty)
                {
                    self.plain_types.insert(text.into(), ty.clone());
                }
                ty
            }
            Err(error) => {
                let error = self.malformed(file, span, offset, text, &error);
                self.report(file, error);
                None
            }
        }
    }

    fn malformed(
        &self,
        file: usize,
        span: Span,
        offset: u32,
        text: &str,
        error: &ExpressionError<'_>,
    ) -> Diagnostic {
        if error.too_deep {
            return self
                .error(&codes::NESTED_TOO_DEEP, file, span, "this type nests too deep")
                .help("nest types at most 64 deep");
        }
        if let Some((ours, effect)) = foreign_generic(text) {
            let fix = Fix::replace(NeedsLook, format!("write `{ours}`"), span, format!("`{ours}`"));
            return match effect {
                Some(effect) => self.effect(file, span, effect, Some(&ours)),
                None => self
                    .error(&codes::TYPE_EXPRESSION, file, span, format!("`{text}` is not a type"))
                    .help(format!("write `{ours}`"))
                    .fix(fix),
            };
        }
        let mut words = text.split_whitespace();
        if let (Some(first), Some(second)) = (words.next(), words.next()) {
            if EFFECTS.contains(&first) {
                return self.effect(file, span, first, Some(second));
            }
            if OPTIONS.contains(&first) {
                return self
                    .error(&codes::TYPE_EXPRESSION, file, span, format!("`{text}` is not a type"))
                    .help(format!("use `{second}?` for a nullable value, or {{optional: true}} for an optional parameter"))
                    .fix(Fix::replace(NeedsLook, format!("write `{second}?`"), span, format!("`{second}?`")));
            }
        }
        // The place inside the label, if no escape precedes it.
        let at = u32::try_from(error.at).unwrap_or(0);
        let inside = Span::new(span.start + offset + at, span.end.saturating_sub(offset));
        let place = if inside.is_empty() || text.contains('\\') { span } else { inside };
        let found = match error.rest.chars().next() {
            Some(c) => format!("unexpected `{c}`"),
            None => "the type is incomplete".to_owned(),
        };
        self.error(&codes::TYPE_EXPRESSION, file, place, format!("`{text}` is not a type: {found}"))
            .help("types are Text, Text[], Text?, Text | Int, [Text, Int], Map<Text>, {name: Text}, \"a\" | \"b\"")
    }

    fn effect(&self, file: usize, span: Span, effect: &str, inner: Option<&str>) -> Diagnostic {
        let message = format!("effect type `{effect}` is not allowed in a signature");
        let error = self.error(&codes::EFFECT_TYPE, file, span, message);
        match inner {
            Some(inner) => error
                .help(format!("use the type of the value: `{inner}`"))
                .fix(Fix::replace(NeedsLook, format!("write `{inner}`"), span, inner)),
            None => error.help("use the type of the value"),
        }
    }

    fn resolve(&mut self, file: usize, span: Span, expression: &Expression<'_>) -> Option<Type> {
        Some(match expression {
            Expression::Name(name) => return self.named_type(file, span, name),
            Expression::Literal(serde_json::Value::Null) => Type::Null,
            Expression::Literal(value) => Type::Literal(Box::new(value.clone())),
            Expression::List(item) => Type::List(Some(Box::new(self.resolve(file, span, item)?))),
            Expression::Map(value) => Type::Map(Some(Box::new(self.resolve(file, span, value)?))),
            Expression::Nullable(inner) => {
                Type::Nullable(Box::new(self.resolve(file, span, inner)?))
            }
            Expression::Tuple(items) => Type::Tuple(self.resolve_all(file, span, items)?),
            Expression::Union(members) => {
                let members = self.resolve_all(file, span, members)?;
                self.distinct_members(file, span, &members);
                Type::Union(members)
            }
            Expression::Record(fields) => {
                let fields = fields.iter().map(|field| self.record_field(file, span, field));
                // Collected first, so that every field's diagnostics are reported.
                let fields: Vec<_> = fields.collect();
                let fields = fields.into_iter().collect::<Option<Vec<_>>>()?;
                self.unique_fields(file, span, &fields);
                Type::Object(Box::new(ObjectType { fields: Some(fields), ..ObjectType::default() }))
            }
        })
    }

    fn resolve_all(
        &mut self,
        file: usize,
        span: Span,
        expressions: &[Expression<'_>],
    ) -> Option<Vec<Type>> {
        let types: Vec<_> =
            expressions.iter().map(|inner| self.resolve(file, span, inner)).collect();
        types.into_iter().collect()
    }

    fn record_field(&mut self, file: usize, span: Span, field: &RecordField<'_>) -> Option<Field> {
        let mut type_use = TypeUse::new(self.resolve(file, span, &field.ty)?);
        if let Some(default) = &field.default {
            gram_model::walk::names_of_type_use(&type_use, &mut |_| self.reads_fields = true);
            if let (false, Err(refusal)) =
                (self.silent, gram_model::value_check::type_use(&self.types, &type_use, default))
            {
                let message = format!(
                    "the default of `{}` does not match its type: {}",
                    field.name, refusal.message
                );
                let error = self.error(&codes::REJECTED_VALUE, file, span, message);
                self.report(file, error.help("change the default or the type"));
            }
            type_use.default = Some(Box::new(default.clone()));
        }
        Some(Field {
            name: field.name.as_str().into(),
            type_use,
            optionality: if field.optional {
                Optionality::Optional
            } else {
                Optionality::ByDefault
            },
            source: gram_model::ValueSource::Model,
            secret: false,
        })
    }

    fn unique_fields(&mut self, file: usize, span: Span, fields: &[Field]) {
        let mut known = std::collections::HashSet::new();
        let twice = fields.iter().map(|field| &field.name).find(|name| !known.insert(*name));
        if let Some(name) = twice {
            let message = format!("the field `{name}` is given twice");
            let error = self.error(&codes::DUPLICATE_PARAMETER, file, span, message);
            self.report(file, error.help("rename one of them"));
        }
    }

    /// The type of a name.
    fn named_type(&mut self, file: usize, span: Span, name: &str) -> Option<Type> {
        if let Some(ty) = built_in(name) {
            return Some(ty);
        }
        let error = match self.type_names.find(file, self.local, name) {
            Meaning::One(owner, id) => {
                self.used(file, owner);
                return Some(Type::Named(id));
            }
            Meaning::Ambiguous(first, second) => {
                let files = [first.0, second.0].map(|file| self.source(file).name().to_owned());
                self.ambiguous(file, span, "type", name, &files)
            }
            Meaning::Unknown => self.unknown_type(file, span, name),
        };
        self.report(file, error);
        None
    }

    /// Reports that two other files declare a name.
    pub(crate) fn ambiguous(
        &self,
        file: usize,
        span: Span,
        what: &str,
        name: &str,
        files: &[String; 2],
    ) -> Diagnostic {
        let [first, second] = files;
        let message = format!("`{name}` is a {what} in {first} and another one in {second}");
        self.error(&codes::AMBIGUOUS_NAME, file, span, message).help(format!(
            "name the intended file in this file's header: {{imports: [\"{first}\"]}}"
        ))
    }

    fn unknown_type(&self, file: usize, span: Span, name: &str) -> Diagnostic {
        if EFFECTS.contains(&name) {
            return self.effect(file, span, name, None);
        }
        let error = self.error(&codes::UNKNOWN_TYPE, file, span, format!("unknown type `{name}`"));
        if OPTIONS.contains(&name) {
            return error.help(
                "use `Text?` for a nullable value, or {optional: true} for an optional parameter",
            );
        }
        let foreign = FOREIGN.iter().find(|(foreign, _)| *foreign == name).map(|(_, ours)| *ours);
        let near = if let Some(ours) = foreign {
            vec![ours]
        } else {
            // Of very many errors, the last ones are not shown.
            let declared = self.type_names.names(self.local).filter(|_| !self.is_full(file));
            nearest(name, BUILT_IN.iter().copied().chain(declared))
        };
        let help = question(&near).unwrap_or_else(|| {
            format!("declare it: [{name}::Record | (field::Text)]; built-in types are Text, Int, Number, Bool, Object, Array, Map, Any, Null, Date, Uri and so on")
        });
        let error = error.help(help);
        // Only a label of its own can be replaced whole.
        let whole = self.source(file).slice(span) == name;
        match near.first() {
            Some(near) if whole => {
                error.fix(Fix::replace(NeedsLook, format!("write `{near}`"), span, *near))
            }
            _ => error,
        }
    }
}

/// The maximum length and number of cached type expressions: most signatures use the same few.
const MAX_CACHED_LENGTH: usize = 200;
const MAX_CACHED: usize = 1000;

/// Whether a type is made of built-in types alone.
fn is_plain(ty: &Type) -> bool {
    let mut plain = true;
    gram_model::walk::names(ty, &mut |_| plain = false);
    plain
}

/// What a generic type of another language is here, `List<Text>` or `List[Text]`; and its name if
/// it is a type of an effect.
fn foreign_generic(text: &str) -> Option<(String, Option<&str>)> {
    let text = text.trim();
    let open = text.find(['<', '['])?;
    let (head, rest) = text.split_at(open);
    let inner = rest.get(1..rest.len().checked_sub(1)?)?.trim();
    if !rest.ends_with(['>', ']']) || inner.is_empty() {
        return None;
    }
    let last = inner.rsplit_once(',').map_or(inner, |(_, last)| last.trim());
    Some(match head {
        "List" | "Array" | "Set" | "Vec" | "Sequence" | "Iterable" | "list" | "set" => {
            (format!("{inner}[]"), None)
        }
        "Map" | "Record" | "Dict" | "HashMap" | "dict" if last != inner => {
            (format!("Map<{last}>"), None)
        }
        "Dict" | "dict" | "Record" => (format!("Map<{inner}>"), None),
        "Union" => (inner.replace(',', " |"), None),
        "Literal" => (inner.replace(',', " |").replace('\'', "\""), None),
        _ if OPTIONS.contains(&head) => (format!("{inner}?"), None),
        _ if EFFECTS.contains(&head) => (inner.to_owned(), Some(head)),
        _ => return None,
    })
}
