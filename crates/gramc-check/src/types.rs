//! Labels and type expressions to types.

use std::sync::Arc;

use gramc_syntax::{
    Diagnostic, Node, NodeKind as N, Parse, SourceFile, Span, TokenKind, explain_type,
    foreign_type_name,
};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::field::blank;
use crate::kind::Kind;
use crate::scopes::Meaning;
use gramc_model::attributes::AttributeOwner;
use gramc_model::expression;
use gramc_model::format::{BUILT_IN, built_in};
use gramc_model::nearest::nearest;
use gramc_model::value;
use gramc_model::{Field, ObjectType, Type};

/// Types of effects, which cross no wire.
const EFFECTS: [&str; 8] = ["IO", "Async", "Promise", "Future", "Task", "Effect", "Eff", "Aff"];

/// Types of what may be absent.
const OPTIONS: [&str; 3] = ["Maybe", "Option", "Optional"];

impl Checker<'_> {
    /// The type that a label names. Reports when it names none.
    pub(crate) fn label_type(&mut self, label: Node<'_>) -> Option<Type> {
        match label.kind() {
            N::QuotedName => self.quoted_type(label),
            N::TypeExpression => {
                let (span, text) = (label.span(), label.text());
                if self.names_foreign(label)
                    && let Some(error) = self.foreign_type(span, text)
                {
                    self.report(error);
                    return None;
                }
                self.resolve(label)
            }
            _ => self.word_type(label),
        }
    }

    /// The type that a string attribute names.
    pub(crate) fn string_type(&mut self, node: Node<'_>) -> Option<Type> {
        self.quoted_type(node)
    }

    /// The type of an expression in quotes.
    fn quoted_type(&mut self, node: Node<'_>) -> Option<Type> {
        let text = node.content();
        if let Some(ty) = self.plain_types.get(&*text) {
            return Some(ty.clone());
        }
        let before = self.found();
        let ty = if let Some(span) = verbatim(node, &text) {
            let parse = gramc_syntax::parse_type(node.tree().source(), span);
            self.parsed_type(node, &parse)
        } else {
            // Behind escapes, spans do not fit the file: diagnostics are about the whole string.
            let source = Arc::new(SourceFile::new(self.source().name(), &*text));
            let whole = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
            let parse = gramc_syntax::parse_type(&source, whole);
            let ty = self.parsed_type(node, &parse);
            self.move_diagnostics(before, node.span());
            ty
        };
        // What names no declared type, and is nothing to report, is the same everywhere.
        if let Some(ty) = &ty
            && text.len() <= MAX_CACHED_LENGTH
            && self.plain_types.len() < MAX_CACHED
            && self.found() == before
            && before < crate::MAX_PER_FILE
            && !self.silent
            && is_plain(ty)
        {
            self.plain_types.insert(text.into(), ty.clone());
        }
        ty
    }

    /// The type that a text in quotes contains.
    fn parsed_type(&mut self, quoted: Node<'_>, parse: &Parse) -> Option<Type> {
        let (root, span, text) = (parse.tree().root(), quoted.span(), quoted.content());
        let Some(error) = parse.diagnostics().first() else {
            if self.names_foreign(root)
                && let Some(error) = self.foreign_type(span, &text)
            {
                self.report(error);
                return None;
            }
            let outer = self.unescaped.clone();
            if !Arc::ptr_eq(parse.source(), self.source()) {
                self.unescaped = Some(Arc::clone(parse.source()));
            }
            let ty = self.resolve(root);
            self.unescaped = outer;
            return ty;
        };
        let error = match effect_of(text.trim()) {
            Some((effect, inner)) => self.effect(span, effect, Some(inner)),
            None => self.foreign_type(span, &text).unwrap_or_else(|| error.clone()),
        };
        self.report(error);
        None
    }

    /// Reports a type that is written as in another language, or with a slip.
    fn foreign_type(&self, span: Span, text: &str) -> Option<Diagnostic> {
        let quote = |ty: &str| requote(self.source().slice(span), ty);
        explain_type(self.source(), span, text, self.may_have_attributes(span), quote)
    }

    /// Whether an expression of several words names types of other languages, and no declared type
    /// has the name of one.
    fn names_foreign(&self, root: Node<'_>) -> bool {
        let declared = |name: &str| {
            built_in(name).is_some() || !matches!(self.find_type(name), Meaning::Unknown)
        };
        let names = root.descendants().filter(|part| part.kind() == N::TypeName).map(Node::text);
        let mut foreign = names.filter(|name| foreign_type_name(name).is_some()).peekable();
        foreign.peek().is_some() && !expression::is_name(root.text()) && !foreign.any(declared)
    }

    fn effect(&self, span: Span, effect: &str, inner: Option<&str>) -> Diagnostic {
        let message = format!("effect type `{effect}` is not allowed in a signature");
        let error = self.error(&codes::EFFECT_TYPE, span, message);
        match inner {
            Some(inner) => error.help(format!("use the type of the value: `{inner}`")).replace(
                format!("write `{inner}`"),
                span,
                inner,
            ),
            None => error.help("use the type of the value"),
        }
    }

    /// The type of a node of a type expression.
    fn resolve(&mut self, node: Node<'_>) -> Option<Type> {
        let mut parts = node.children().filter(|part| part.kind() != N::Error);
        Some(match node.kind() {
            N::TypeExpression => {
                let members: Vec<_> = parts.collect();
                if let [member] = members.as_slice() {
                    return self.resolve(*member);
                }
                if let Some(error) = self.unquoted_texts(node, &members) {
                    self.report(error);
                    return None;
                }
                let members = self.resolve_all(members.into_iter())?;
                self.distinct_members(node.span(), &members);
                Type::Union(members)
            }
            N::TypeMember => {
                let primary = parts.next()?;
                let ty = self.resolve(primary)?;
                apply_suffix(ty, node, primary)
            }
            N::TypeGroup => return self.resolve(parts.next()?),
            N::TypeTuple => {
                let mut items = self.resolve_all(parts)?;
                if items.len() == 1 {
                    Type::List(items.pop().map(Box::new))
                } else {
                    Type::Tuple(items)
                }
            }
            N::TypeArguments => return self.generic_type(node),
            N::TypeRecord => return self.inline_record(node),
            N::String => Type::Literal(Box::new(node.content().into())),
            N::Decimal => Type::Literal(Box::new(value::json(node).ok()?)),
            _ => return self.word_type(node),
        })
    }

    /// The error about a union of names in lower case that no type has: `celsius | fahrenheit`.
    fn unquoted_texts(&self, union: Node<'_>, members: &[Node<'_>]) -> Option<Diagnostic> {
        let near = |member: &Node<'_>| {
            let name = member.text();
            let declared = self.type_names.names(self.local).filter(|_| !self.is_full());
            !nearest(name, BUILT_IN.iter().copied().chain(declared)).is_empty()
        };
        let is_text = |member: &Node<'_>| {
            let name = member.text();
            name.starts_with(char::is_lowercase)
                && expression::is_name(name)
                && !matches!(name, "true" | "false" | "null")
                && foreign_type_name(name).is_none()
                && matches!(self.find_type(name), Meaning::Unknown)
        };
        // One of several texts may happen to be like the name of a type.
        if !members.iter().all(is_text) || members.iter().all(near) {
            return None;
        }
        let texts: Vec<_> = members.iter().map(|member| format!("\"{}\"", member.text())).collect();
        let (span, texts) = (union.span(), texts.join(" | "));
        let message = format!("`{}` names no types: texts have quotes", union.text());
        let mut error = self.error(&codes::UNKNOWN_TYPE, span, message).write(span, texts);
        if self.source().slice(span) != union.text() {
            error.fixes.clear();
        }
        Some(error)
    }

    /// The types of several nodes. All are read, so that all diagnostics are reported.
    fn resolve_all<'a>(&mut self, nodes: impl Iterator<Item = Node<'a>>) -> Option<Vec<Type>> {
        let types: Vec<_> = nodes.map(|node| self.resolve(node)).collect();
        types.into_iter().collect()
    }

    /// The type of a word: a name, `true`, `false` or `null`.
    fn word_type(&mut self, node: Node<'_>) -> Option<Type> {
        match node.text() {
            "null" => Some(Type::Null),
            word @ ("true" | "false") => Some(Type::Literal(Box::new((word == "true").into()))),
            name => self.named_type(node.span(), name),
        }
    }

    /// `Map<Text>`, or a type with arguments of another language.
    fn generic_type(&mut self, node: Node<'_>) -> Option<Type> {
        let mut parts = node.children();
        let (name, value, other) = (parts.next()?, parts.next()?, parts.next());
        if name.text() == "Map" && other.is_none() {
            return Some(Type::Map(Some(Box::new(self.resolve(value)?))));
        }
        let (span, text) = (node.span(), node.text());
        let meant = match name.text() {
            "Object" => Some(format!("Map<{}>", value.text())),
            "Array" if other.is_none() => Some(format!("{}[]", value.text())),
            _ => None,
        };
        if let Some(meant) = meant.filter(|_| other.is_none()) {
            let error = self
                .error(&codes::TYPE_EXPRESSION, span, format!("`{text}` is not a type"))
                .write(span, meant);
            self.report(error);
            return None;
        }
        let error = match effect_of(text) {
            Some((effect, inner)) => self.effect(span, effect, Some(inner)),
            None => self.foreign_type(span, text).unwrap_or_else(|| {
                self.error(&codes::TYPE_EXPRESSION, span, format!("`{text}` is not a type"))
                    .help("only Map has an argument: Map<Text>")
            }),
        };
        self.report(error);
        None
    }

    /// `{name: Text, limit?: Int {range: 1..100} = 10}`
    fn inline_record(&mut self, node: Node<'_>) -> Option<Type> {
        let fields = node.children().filter(|field| field.kind() == N::TypeField);
        let fields: Vec<_> = fields.map(|field| self.inline_field(field)).collect();
        let fields = fields.into_iter().collect::<Option<Vec<_>>>()?;
        self.unique_fields(node.span(), &fields);
        Some(Type::Object(Box::new(ObjectType { fields: Some(fields), ..ObjectType::default() })))
    }

    fn inline_field(&mut self, node: Node<'_>) -> Option<Field> {
        let mut parts = node.children();
        let (name, ty) = (parts.next()?, parts.next()?);
        let mut record = None;
        let mut default = None;
        for part in parts {
            match part.kind() {
                N::Record => record = Some(part),
                _ => default = Some(part),
            }
        }
        let mut field = blank(name.content().into(), self.resolve(ty)?);
        let mut attributes = self.marked_attributes(name.optional_mark(), record);
        if let Some(value) = default {
            self.add_attribute(&mut attributes, Attribute::default_of(value));
        }
        Self::add_doc(&mut attributes, node);
        let keys = attributes.iter().map(|attribute| (attribute.key.clone(), attribute.key_span));
        self.host_attributes(keys, "field");
        self.apply_attributes(&mut field, AttributeOwner::Field, &attributes, 0);
        // Attributes of the host apply to parameters, not to fields.
        Some(Field { source: gramc_model::ValueSource::Model, secret: false, ..field })
    }

    fn unique_fields(&mut self, span: Span, fields: &[Field]) {
        let mut known = std::collections::HashSet::new();
        let twice = fields.iter().map(|field| &field.name).find(|name| !known.insert(*name));
        if let Some(name) = twice {
            let message = format!("duplicate field `{name}`");
            self.reject(&codes::DUPLICATE_PARAMETER, span, message, "rename one of them");
        }
    }

    fn named_type(&mut self, span: Span, name: &str) -> Option<Type> {
        if let Some(ty) = built_in(name) {
            return Some(ty);
        }
        let error = match self.find_type(name) {
            Meaning::One(owner, id) => {
                self.note_use(owner);
                return Some(Type::Named(id));
            }
            Meaning::Ambiguous(first, second) => {
                self.ambiguous(span, "type", name, [first.0, second.0])
            }
            Meaning::Unknown => self.unknown_type(span, name),
        };
        self.report(error);
        None
    }

    /// Reports that two other files declare a name.
    pub(crate) fn ambiguous(
        &self,
        span: Span,
        what: &str,
        name: &str,
        files: [usize; 2],
    ) -> Diagnostic {
        let [first, second] = files.map(|file| self.texts[file].source().name());
        let message = format!("`{name}` is a {what} in {first} and another one in {second}");
        self.error(&codes::AMBIGUOUS_NAME, span, message).help(format!(
            "name the intended file in this file's header: {{imports: [\"{first}\"]}}"
        ))
    }

    /// A label that declares types where a type belongs: `(unit::Enum {…})`.
    fn declared_in_place(&self, span: Span, form: Kind) -> Diagnostic {
        let label = form.label();
        let (what, help) = match form {
            Kind::Enum => ("an enum", "write the values as a type, `\"celsius\" | \"fahrenheit\"`"),
            Kind::Record => {
                ("a record", "write the fields as a type, `{street: Text, city: Text}`")
            }
            Kind::Union => ("a union", "write the members as a type, `Text | Int`"),
            _ => ("an alias", "write its type here"),
        };
        let message = format!("`{label}` declares {what}, and is not a type itself");
        self.error(&codes::UNKNOWN_TYPE, span, message)
            .help(format!("{help}, or declare {} and use its name", form.example()))
    }

    /// Whether an expression is a type without any declaration, or the name of a declared one.
    pub(crate) fn is_known_type(&self, expression: &str) -> bool {
        crate::plain_type(expression).is_some() || self.find_type(expression) != Meaning::Unknown
    }

    /// Whether attributes may follow a type: it is that of a parameter, a result or a field.
    fn may_have_attributes(&self, span: Span) -> bool {
        let text = self.source().text();
        // An attribute that names a type.
        if self.source().slice(span).starts_with(['"', '\'']) {
            return false;
        }
        let before = text.get(..span.start as usize).unwrap_or_default().trim_end();
        let after = text.get(span.end as usize..).unwrap_or_default().trim_start();
        before.ends_with(':') && after.starts_with([')', '{', '}', ','])
    }

    fn unknown_type(&self, span: Span, name: &str) -> Diagnostic {
        if EFFECTS.contains(&name) {
            return self.effect(span, name, None);
        }
        let message = format!("unknown type `{name}`");
        let error = self.error(&codes::UNKNOWN_TYPE, span, message).about(name);
        if OPTIONS.contains(&name) {
            return error.help(
                "use `Text?` for a nullable value, or {optional: true} for an optional parameter",
            );
        }
        if let Some(form) = Kind::of_type_label(name) {
            return self.declared_in_place(span, form);
        }
        if foreign_type_name(name).is_none()
            && let Some(error) = self.foreign_type(span, name)
        {
            return error;
        }
        if self.find_term(name) != Meaning::Unknown {
            return error.help(format!(
                "`{name}` is a vocabulary term here; declare a type: [{name}::Alias | (::Text)]"
            ));
        }
        let near = match (foreign_type_name(name), name) {
            (Some(ours), _) => vec![ours],
            (None, "True") => vec!["true"],
            (None, "False") => vec!["false"],
            _ => {
                // Of very many errors, the last ones are not shown.
                let declared = self.type_names.names(self.local).filter(|_| !self.is_full());
                nearest(name, BUILT_IN.iter().copied().chain(declared))
            }
        };
        let help = format!(
            "declare it: [{name}::Record | (field::Text)], or [{name}::Alias | (::Text)]; built-in types are Text, Int, Number, Bool, Object, Array, Map, Any, Null, Date, Uri and so on"
        );
        let mut error = Self::suggest(error, &near, str::to_owned, help);
        // Only a label of its own can be replaced whole.
        if self.source().slice(span) != name {
            error.fixes.clear();
        }
        error
    }
}

/// The maximum length and number of cached type expressions: most signatures use the same few.
const MAX_CACHED_LENGTH: usize = 200;
const MAX_CACHED: usize = 1000;

/// The part of a file that is the content of a quoted text, if that has no escapes.
fn verbatim(node: Node<'_>, content: &str) -> Option<Span> {
    let span = node.span();
    let inner = match node.kind() {
        N::Symbol => span,
        _ => Span::new(span.start + 1, span.end.checked_sub(1)?),
    };
    (node.tree().source().slice(inner) == content).then_some(inner)
}

/// A type with the `[]` and `?` that follow it in a member.
fn apply_suffix(ty: Type, member: Node<'_>, primary: Node<'_>) -> Type {
    let end = primary.span().end;
    member.tokens().filter(|token| token.span().start >= end).fold(ty, |inner, token| {
        match (token.kind(), inner) {
            (TokenKind::LBracket, inner) => Type::List(Some(Box::new(inner))),
            (TokenKind::Question, Type::Nullable(inner)) => Type::Nullable(inner),
            (TokenKind::Question, inner) => Type::Nullable(Box::new(inner)),
            (_, inner) => inner,
        }
    })
}

/// Whether a type is made of built-in types alone.
fn is_plain(ty: &Type) -> bool {
    let mut plain = true;
    gramc_model::walk::names(ty, &mut |_| plain = false);
    plain
}

/// The type of an effect that an expression begins with, and the type of its value.
fn effect_of(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric())?;
    let (head, rest) = text.split_at(end);
    let inner = rest.trim().trim_start_matches(['<', '[']).trim_end_matches(['>', ']']).trim();
    (EFFECTS.contains(&head) && !inner.is_empty()).then_some((head, inner))
}

/// A type expression in place of one that is written with these quotes.
fn requote(old: &str, expression: &str) -> String {
    match old.chars().next() {
        Some('"' | '\'') => {
            format!("\"{}\"", expression.replace('\\', "\\\\").replace('"', "\\\""))
        }
        Some('`') if !expression::is_name(expression) => {
            gramc_model::print::in_backticks(expression)
        }
        _ => expression.to_owned(),
    }
}
