//! The fields of an `Object`.

use std::borrow::Cow;

use gramc_syntax::{Node, NodeKind as N, Span};
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::field::blank;
use crate::scopes::Meaning;
use crate::seen::Seen;
use gramc_model::attributes::{AttributeOwner, ValueType};
use gramc_model::format::built_in;
use gramc_model::value_check;
use gramc_model::{Field, FieldPattern, ValueSource};

/// How many types terms may bring into fields: terms made of terms can double at each step.
pub(crate) const MAX_EXPANSION: usize = 100_000;

/// How deep fields may nest.
pub(crate) const MAX_EXPANDED_DEPTH: u32 = 100;

impl Attribute<'_> {
    /// The value as types by patterns of names: `{"^x-": "Text"}`.
    pub(crate) fn types_by_pattern(&self, checker: &mut Checker<'_>) -> Option<Vec<FieldPattern>> {
        let Some(map) = self.node().filter(|node| node.kind() == N::Map) else {
            self.wrong(checker, ValueType::TypesByPattern);
            return None;
        };
        let mut patterns = Vec::new();
        for entry in checker.record_attributes(Some(map)) {
            if let Some(reason) = value_check::malformed_pattern(&entry.key) {
                let message = format!("invalid regular expression: {reason}");
                let help = "use JavaScript regular expression syntax";
                checker.reject(&codes::MALFORMED_PATTERN, entry.key_span, message, help);
            }
            let pattern = SmolStr::new(&entry.key);
            let ty = entry.type_expression(checker);
            patterns.extend(ty.map(|ty| FieldPattern { pattern, ty }));
        }
        Some(patterns)
    }
}

impl Checker<'_> {
    /// Reports types by pattern that `extensions` contain, too.
    pub(crate) fn one_kind_of_patterns(
        &mut self,
        span: Span,
        patterns: &[FieldPattern],
        extensions: &[(SmolStr, serde_json::Value)],
    ) {
        if patterns.is_empty() || !extensions.iter().any(|(key, _)| key == "patternProperties") {
            return;
        }
        let message = "`fieldPatterns` and the keyword `patternProperties` are given together";
        let help = "write all patterns in `fieldPatterns`";
        self.reject(&codes::ATTRIBUTE_VALUE, span, message, help);
    }

    /// The fields of an `Object`, as maps: `[{name: "street", type: "Text"}]`.
    pub(crate) fn object_fields(
        &mut self,
        attribute: &Attribute<'_>,
        depth: u32,
    ) -> Option<Vec<Field>> {
        let items = attribute.items(self)?;
        if depth >= MAX_EXPANDED_DEPTH {
            let message = format!("fields nest more than {MAX_EXPANDED_DEPTH} deep");
            self.reject(&codes::NESTED_TOO_DEEP, attribute.key_span, message, "flatten the object");
            return None;
        }
        let mut fields: Vec<Field> = Vec::with_capacity(items.len());
        let mut seen = Seen::default();
        for item in items {
            let Some(field) = self.object_field(item, depth) else { continue };
            if let Some(first) = seen.insert(field.name.to_string().into(), item.span()) {
                self.reject_duplicate("field", &field.name, [first, item.span()]);
            }
            fields.push(field);
        }
        Some(fields)
    }

    /// Reports host attributes, which apply only to parameters.
    pub(crate) fn host_attributes<'k>(
        &mut self,
        keys: impl Iterator<Item = (Cow<'k, str>, Span)>,
        of: &str,
    ) {
        for (key, span) in keys {
            if matches!(&*key, "pinned" | "injected" | "secret") {
                let message = format!("`{key}` applies to parameters, not to a {of}");
                let help = format!("remove `{key}`, or move it to a parameter");
                self.reject(&codes::ATTRIBUTE_TYPE, span, message, help);
            }
        }
    }

    fn object_field(&mut self, item: Node<'_>, depth: u32) -> Option<Field> {
        if item.kind() != N::Map {
            let help = "write {name: \"street\", type: \"Text\"}";
            self.reject(&codes::ATTRIBUTE_VALUE, item.span(), "a field is a map", help);
            return None;
        }
        let mut attributes = self.record_attributes(Some(item));
        let mut take = |key: &str| {
            let at = attributes.iter().position(|attribute| attribute.key == key)?;
            Some(attributes.remove(at))
        };
        let (name, ty) = (take("name"), take("type"));
        let Some(name) = name else {
            let help = "write {name: \"street\", type: \"Text\"}";
            self.reject(&codes::MISSING_NAME, item.span(), "this field has no name", help);
            return None;
        };
        let name = name.text(self)?;
        let keys = attributes.iter().map(|attribute| (attribute.key.clone(), attribute.key_span));
        self.host_attributes(keys, "field");
        let has = |key: &str| attributes.iter().any(|attribute| attribute.key == key);
        let mut field = if let Some(ty) = ty {
            blank(name, ty.type_expression(self)?)
        } else if has("fields") {
            blank(name, built_in("Object")?)
        } else if has("elementType") {
            blank(name, built_in("Array")?)
        } else if let Meaning::One(owner, term) = self.find_term(&name)
            && let Some(term) = self.term_fields.get(term).cloned()
        {
            self.note_use(owner);
            let (size, inner) = term.type_use.ty.extent();
            self.brought = self.brought.saturating_add(size - 1);
            if self.brought > MAX_EXPANSION || depth + inner > MAX_EXPANDED_DEPTH {
                let message = format!("the terms used by `{name}` expand too far");
                let help = "write the needed fields inline";
                self.reject(&codes::NESTED_TOO_DEEP, item.span(), message, help);
                return None;
            }
            // ValueSource attributes apply to parameters, not to fields.
            Field { source: ValueSource::Model, secret: false, ..term }
        } else {
            let message = format!("the field `{name}` has no type");
            let help = format!("write {{name: \"{name}\", type: \"Text\"}}");
            self.reject(&codes::MISSING_TYPE, item.span(), message, help);
            return None;
        };
        self.apply_attributes(&mut field, AttributeOwner::Field, &attributes, depth + 1);
        Some(field)
    }
}
