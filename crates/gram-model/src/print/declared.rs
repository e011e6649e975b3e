//! Declared types, and a tool's attributes of its parameter object.

use super::field::{self, Node};
use super::layout::{self, Entry, INDENT, WIDTH};
use super::{Page, description, expression, text, value};
use crate::format::built_in;
use crate::model::{Constraint, Root, Type, TypeDeclaration, TypeKind, TypeUse, Types};

impl Page<'_> {
    /// A type at the top level.
    pub(super) fn declared(&mut self, declared: &TypeDeclaration) {
        self.begin(false);
        self.declaration(declared, 0, 0);
        self.out.push('\n');
    }

    /// A type inside of a tool, with `after` columns to follow.
    pub(super) fn local(&mut self, declared: &TypeDeclaration, after: usize) {
        self.declaration(declared, INDENT, after);
    }

    fn declaration(&mut self, declared: &TypeDeclaration, indent: usize, after: usize) {
        let before = self.out.len();
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
        self.doc(doc.as_deref(), indent);
        layout::indent(&mut self.out, indent);
        let label = match &declared.kind {
            TypeKind::Record => "Record",
            TypeKind::Enum(_) => "Enum",
            TypeKind::Union(_) => "Union",
            TypeKind::Alias => "Alias",
        };
        let start = format!("[{}::{label}", text::identifier(&declared.name));
        let head = if entries.is_empty() {
            layout::Layout::Text(start)
        } else {
            layout::Layout::group(format!("{start} {{"), entries, "}")
        };
        head.write(&mut self.out, indent, indent, 2);
        match &declared.kind {
            TypeKind::Record => {
                self.record(type_use, indent);
                self.join(before, indent, after);
            }
            TypeKind::Enum(descriptions) => {
                self.enumeration(type_use, descriptions, head.width(), (indent, after));
            }
            TypeKind::Union(_) => self.union_members(type_use, head.width(), (indent, after)),
            TypeKind::Alias => self.alias(type_use, head.width(), (indent, after)),
        }
    }

    /// The fields of a record, one on a line.
    fn record(&mut self, type_use: &TypeUse, indent: usize) {
        let Type::Object(object) = type_use.ty.without_null() else { return self.out.push(']') };
        let fields = object.fields.as_deref().unwrap_or_default();
        if fields.is_empty() {
            return self.out.push(']');
        }
        self.out.push_str(" |\n");
        for (at, field) in fields.iter().enumerate() {
            let node = self.field(field, "");
            self.doc(node.doc(), indent + INDENT);
            layout::indent(&mut self.out, indent + INDENT);
            let comma = usize::from(at + 1 < fields.len());
            node.layout().write(&mut self.out, indent + INDENT, indent + INDENT, comma);
            self.out.push_str(&","[..comma]);
            self.out.push('\n');
        }
        layout::indent(&mut self.out, indent);
        self.out.push(']');
    }

    fn enumeration(
        &mut self,
        type_use: &TypeUse,
        descriptions: &[Option<smol_str::SmolStr>],
        head: Option<usize>,
        around: (usize, usize),
    ) {
        let values = type_use.constraints.iter().find_map(|known| match known {
            Constraint::Enum(values) => Some(values.as_slice()),
            _ => None,
        });
        let names = values.unwrap_or_default().iter().enumerate();
        let names: Vec<_> = names
            .map(|(at, value)| {
                let name = text::identifier(value.as_str().unwrap_or_default());
                match descriptions.get(at).and_then(Option::as_deref) {
                    Some(text) => format!("({name} {{description: {}}})", text::string(text)),
                    None => name,
                }
            })
            .collect();
        self.elements(&names, head, around);
    }

    fn union_members(&mut self, type_use: &TypeUse, head: Option<usize>, around: (usize, usize)) {
        let (Type::Union(members) | Type::OneOf(members)) = type_use.ty.without_null() else {
            return self.out.push(']');
        };
        let names: Vec<_> = members.iter().map(|member| self.label(member)).collect();
        self.elements(&names, head, around);
    }

    /// A type as a member of a union is written: its name, or an expression between backticks.
    fn label(&self, ty: &Type) -> String {
        let text = expression::of(self.types, ty).text;
        if matches!(ty, Type::Named(_)) || built_in(&text).is_some() {
            text
        } else {
            text::quoted(&text, '`')
        }
    }

    /// Names behind a bar: on the head's line where they fit, which takes `head` columns, with
    /// columns before it and behind the bracket.
    fn elements(&mut self, names: &[String], head: Option<usize>, (indent, after): (usize, usize)) {
        let width: usize = names.iter().map(|name| name.chars().count() + 2).sum();
        let fits = head.is_some_and(|head| indent + head + width + 2 + after <= WIDTH);
        if fits {
            self.out.push_str(" | ");
            self.out.push_str(&names.join(", "));
        } else {
            self.out.push_str(" |\n");
            self.names(names, indent + INDENT);
            self.out.push('\n');
            layout::indent(&mut self.out, indent);
        }
        self.out.push(']');
    }

    fn alias(&mut self, type_use: &TypeUse, head: Option<usize>, (indent, after): (usize, usize)) {
        let node = Node::of_alias(self.types, type_use);
        let width =
            head.zip(node.layout().width()).map(|(head, width)| indent + head + width + 4 + after);
        if width.is_some_and(|width| width <= WIDTH) {
            self.out.push_str(" | ");
            node.layout().write_flat(&mut self.out);
        } else {
            self.out.push_str(" |\n");
            layout::indent(&mut self.out, indent + INDENT);
            node.layout().write(&mut self.out, indent + INDENT, indent + INDENT, 0);
            self.out.push('\n');
            layout::indent(&mut self.out, indent);
        }
        self.out.push(']');
    }
}

/// The attributes of an enum, without its members.
fn without_enum(type_use: &TypeUse) -> TypeUse {
    let mut type_use = type_use.clone();
    type_use.constraints.retain(|known| !matches!(known, Constraint::Enum(_)));
    type_use
}

/// The attributes that only declared types have.
fn special(declared: &TypeDeclaration) -> Vec<Entry> {
    let mut entries = Vec::new();
    if let TypeKind::Union(tag) = &declared.kind {
        if matches!(declared.type_use.ty.without_null(), Type::OneOf(_)) {
            entries.push(Entry::new("oneOf", "true"));
        }
        let tag = tag.as_deref();
        entries.extend(tag.map(|tag| Entry::new("discriminator", text::string(tag))));
    }
    let name = declared.schema_name.as_deref();
    entries.extend(name.map(|name| Entry::new("schemaName", text::string(name))));
    if !declared.local && !declared.referred {
        entries.push(Entry::new("inline", "true"));
    }
    entries
}

/// A tool's attributes of its parameter object.
pub(super) fn root(types: &Types, root: &Root) -> Vec<Entry> {
    let Root { title, description, requires, patterns, defs, verbatim, extensions } = root;
    let mut entries = Vec::new();
    for (key, text) in [("schemaTitle", title), ("schemaDescription", description)] {
        entries.extend(text.as_deref().map(|text| Entry::new(key, text::block(text))));
    }
    entries.extend(field::patterns(types, patterns));
    entries.extend(field::requires(requires));
    if !defs.is_empty() {
        let names = defs.iter().filter_map(|id| types.get(*id));
        let names = names.map(|declared| Entry::item(declared.name.to_string().into()));
        entries
            .push(Entry::new("defs", layout::Layout::group("[".to_owned(), names.collect(), "]")));
    }
    if !extensions.is_empty() {
        entries.push(field::keywords("schemaExtensions", extensions));
    }
    entries.extend(verbatim.as_ref().map(|schema| Entry::new("schema", value::schema(schema))));
    entries
}
