//! Declared types, and a tool's attributes of its parameter object.

use super::field::{self, Node};
use super::text::{self, entry};
use super::{Page, description, expression, value};
use crate::model::{Constraint, Root, Type, TypeDeclaration, TypeKind, TypeUse, Types};

impl Page<'_> {
    pub(super) fn type_at_top(&mut self, declared: &TypeDeclaration) {
        self.begin(false);
        let text = self.type_declaration(declared);
        self.out.push_str(&text);
        self.out.push('\n');
    }

    pub(super) fn type_declaration(&self, declared: &TypeDeclaration) -> String {
        let type_use = &declared.type_use;
        let (doc, mut entries) = description(type_use.description.as_deref());
        let text = type_use.description.as_deref().filter(|_| doc.is_none());
        entries = match &declared.kind {
            TypeKind::Record => field::of_object(self.types, type_use, text),
            TypeKind::Enum(_) => field::of_members(self.types, &without_enum(type_use), text),
            TypeKind::Union(_) => field::of_members(self.types, type_use, text),
            TypeKind::Alias => entries,
        };
        entries.extend(special(declared));
        let (label, elements) = match &declared.kind {
            TypeKind::Record => ("::Record", self.fields(type_use)),
            TypeKind::Enum(descriptions) => ("::Enum", members(type_use, descriptions)),
            TypeKind::Union(_) => ("::Union", self.union_members(type_use)),
            TypeKind::Alias => ("::Alias", vec![Node::of_alias(self.types, type_use).text]),
        };
        super::pattern(doc.as_deref(), (&declared.name, label), &entries, &elements)
    }

    /// The fields of a record.
    fn fields(&self, type_use: &TypeUse) -> Vec<String> {
        let Type::Object(object) = type_use.ty.without_null() else { return Vec::new() };
        let nodes = object.fields.iter().flatten().map(|field| self.field(field));
        nodes.map(|node| format!("{}{}", node.doc.unwrap_or_default(), node.text)).collect()
    }

    fn union_members(&self, type_use: &TypeUse) -> Vec<String> {
        let (Type::Union(members) | Type::OneOf(members)) = type_use.ty.without_null() else {
            return Vec::new();
        };
        let member = |member: &Type| {
            let text = expression::of(self.types, member).text;
            if matches!(member, Type::Named(_)) || crate::format::built_in(&text).is_some() {
                text
            } else {
                format!("(::{text})")
            }
        };
        members.iter().map(member).collect()
    }
}

/// The members of an enum: names, or nodes where they have descriptions.
fn members(type_use: &TypeUse, descriptions: &[Option<smol_str::SmolStr>]) -> Vec<String> {
    let values = type_use.constraints.iter().find_map(|known| match known {
        Constraint::Enum(values) => Some(values.as_slice()),
        _ => None,
    });
    let member = |(at, value): (usize, &serde_json::Value)| {
        let name = text::member(value.as_str().unwrap_or_default());
        match descriptions.get(at).and_then(Option::as_deref) {
            Some(text) => format!("({name} {{{}}})", entry("description", text::string(text))),
            None => name,
        }
    };
    values.unwrap_or_default().iter().enumerate().map(member).collect()
}

/// The attributes of an enum, without its members.
fn without_enum(type_use: &TypeUse) -> TypeUse {
    let mut type_use = type_use.clone();
    type_use.constraints.retain(|known| !matches!(known, Constraint::Enum(_)));
    type_use
}

/// The attributes that only declared types have.
fn special(declared: &TypeDeclaration) -> Vec<String> {
    let mut entries = Vec::new();
    if let TypeKind::Union(tag) = &declared.kind {
        if matches!(declared.type_use.ty.without_null(), Type::OneOf(_)) {
            entries.push(entry("oneOf", "true"));
        }
        let tag = tag.as_deref();
        entries.extend(tag.map(|tag| entry("discriminator", text::string(tag))));
    }
    let name = declared.schema_name.as_deref();
    entries.extend(name.map(|name| entry("schemaName", text::string(name))));
    if !declared.local && !declared.referred {
        entries.push(entry("inline", "true"));
    }
    entries
}

/// A tool's attributes of its parameter object.
pub(super) fn root(types: &Types, root: &Root) -> Vec<String> {
    let Root { title, description, requires, patterns, defs, verbatim, extensions } = root;
    let mut entries = Vec::new();
    for (key, text) in [("schemaTitle", title), ("schemaDescription", description)] {
        entries.extend(text.as_deref().map(|text| entry(key, text::block(text))));
    }
    entries.extend(field::patterns(types, patterns));
    entries.extend(field::requires(requires));
    if !defs.is_empty() {
        let names = defs.iter().filter_map(|id| types.get(*id)).map(|ty| ty.name.to_string());
        entries.push(entry("defs", format!("[{}]", names.collect::<Vec<_>>().join(", "))));
    }
    if !extensions.is_empty() {
        entries.push(field::keywords("schemaExtensions", extensions));
    }
    entries.extend(verbatim.as_ref().map(|schema| entry("schema", value::schema(schema))));
    entries
}
