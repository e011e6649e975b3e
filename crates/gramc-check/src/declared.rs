//! Type declarations: records, enums, unions and aliases.

use std::sync::Arc;

use gramc_syntax::{Node, NodeKind as N, Span};
use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::field::blank;
use crate::index::{DeclarationSyntax, is_label, name_of};
use crate::inherit::Inheritance;
use crate::kind::Kind;
use crate::misplaced_parts::misplaced_fix;
use crate::seen::Seen;
use gramc_model::expression::is_name;
use gramc_model::format::built_in;
use gramc_model::{
    Constraint, Field, ObjectType, Type, TypeDeclaration, TypeId, TypeKind, TypeUse, Types,
    ValueSource,
};

/// The attributes of declared types, in addition to those of every type.
#[derive(Default)]
struct Special {
    schema_name: Option<SmolStr>,
    discriminator: Option<SmolStr>,
    one_of: bool,
    inline: bool,
    inheritance: Option<Inheritance>,
}

impl<'t> Checker<'t> {
    /// Enters a type's name and remembers its declaration.
    pub(crate) fn declare_type(
        &mut self,
        types: &mut Vec<DeclarationSyntax<'t>>,
        declaration: DeclarationSyntax<'t>,
    ) {
        let DeclarationSyntax { name_node, owner, .. } = declaration;
        let name = declaration.name.clone();
        let span = name_node.span();
        if !is_type_name(&name) {
            let message = if built_in(&name).is_some() {
                format!("`{name}` is a built-in type")
            } else {
                format!("`{name}` is not a valid type name")
            };
            let mut error = self
                .error(&codes::TYPE_NAME, span, message)
                .about(name.as_str())
                .help("use letters, digits and `_`, and avoid reserved names");
            let plain = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let plain: String = plain.collect();
            if is_type_name(&plain) {
                error =
                    error.help(format!("a type name has letters, digits and `_` only: `{plain}`"));
            }
            return self.report(error);
        }
        // There are at most as many types as bytes in the texts, which 32 bits count.
        let id = TypeId(u32::try_from(types.len()).unwrap_or(u32::MAX));
        let names = Arc::make_mut(&mut self.type_names);
        let known = match owner {
            Some(tool) => names.enter_local(tool, &name, id),
            None => names.enter(self.file, &name, id),
        };
        if let Some(known) = known {
            let first = types.get(known.0 as usize).map_or(span, |first| first.name_node.span());
            let error = self
                .error(&codes::DUPLICATE_NAME, span, format!("duplicate type `{name}`"))
                .here("declared again here")
                .label(first, "first declared here")
                .help("rename one of them");
            return self.report(error);
        }
        self.module.spans.types.push(declaration.place());
        let kind = match declaration.kind {
            Kind::Record => TypeKind::Record,
            Kind::Enum => TypeKind::Enum(Vec::new()),
            Kind::Union => TypeKind::Union(None),
            _ => TypeKind::Alias,
        };
        Arc::make_mut(&mut self.types).0.push(TypeDeclaration {
            name,
            schema_name: None,
            kind,
            type_use: TypeUse::default(),
            local: owner.is_some(),
            referred: owner.is_none(),
        });
        types.push(declaration);
    }

    /// Reads all type declarations.
    pub(crate) fn read_types(&mut self, declarations: &[DeclarationSyntax<'t>]) {
        // There are at most as many types as bytes in the texts, which 32 bits count.
        for (id, declaration) in (0_u32..).map(TypeId).zip(declarations) {
            self.read_declaration(id, declaration);
        }
        self.local = None;
    }

    /// Reads the declaration of a type.
    pub(crate) fn read_declaration(&mut self, id: TypeId, declaration: &DeclarationSyntax<'t>) {
        self.file = declaration.file;
        let DeclarationSyntax { node, owner, .. } = *declaration;
        if self.is_full() || self.is_broken(node) {
            return;
        }
        self.local = owner;
        let Some((type_use, kind, special)) = self.read_type(id, declaration) else { return };
        let types = &mut Arc::make_mut(&mut self.types).0;
        let Some(known) = types.get_mut(id.0 as usize) else { return };
        // A type that never ends was cut, and stays so.
        if self.silent || known.type_use.ty != Type::Any || type_use.ty == Type::Any {
            known.type_use = type_use;
        }
        if self.silent && special.inline {
            known.referred = false;
        }
        known.kind = kind;
        known.schema_name = special.schema_name;
    }

    fn read_type(
        &mut self,
        id: TypeId,
        declaration: &DeclarationSyntax<'t>,
    ) -> Option<(TypeUse, TypeKind, Special)> {
        let form = declaration.kind;
        let mut attributes = self.all_attributes(declaration);
        let mut special = self.special(form, &mut attributes);
        if self.elements_as_attributes(declaration, form, &attributes) {
            return None;
        }
        let keys = attributes.iter().map(|attribute| (attribute.key.clone(), attribute.key_span));
        self.host_attributes(keys, "type");
        let name = declaration.name.clone();
        let mut spans = Vec::new();
        let (mut field, kind) = match form {
            Kind::Record => {
                let inheritance = special.inheritance.take();
                (blank(name, self.record(id, declaration, inheritance)), TypeKind::Record)
            }
            Kind::Enum => {
                let (field, descriptions) = self.enumeration(declaration, name);
                (field, TypeKind::Enum(descriptions))
            }
            Kind::Union => {
                let members;
                (members, spans) = self.union_members(declaration);
                let ty = if special.one_of { Type::OneOf(members) } else { Type::Union(members) };
                (blank(name, ty), TypeKind::Union(special.discriminator.take()))
            }
            _ => (self.alias(declaration)?, TypeKind::Alias),
        };
        self.apply_attributes(&mut field, form.attribute_owner(), &attributes, 0);
        if let TypeKind::Union(tag) = &kind {
            self.check_union(&field.type_use, tag.as_deref(), &spans);
        }
        Some((field.type_use, kind, special))
    }

    /// Takes out the attributes that only declared types have.
    fn special(&mut self, form: Kind, attributes: &mut Vec<Attribute<'t>>) -> Special {
        let mut special = Special::default();
        if form == Kind::Record {
            special.inheritance = self.inheritance(attributes);
        }
        attributes.retain(|attribute| {
            match &*attribute.key {
                "schemaName" => special.schema_name = attribute.text(self),
                "inline" => special.inline = attribute.flag(self).unwrap_or_default(),
                "discriminator" if form == Kind::Union => {
                    special.discriminator = attribute.text(self);
                }
                "oneOf" if form == Kind::Union => {
                    special.one_of = attribute.flag(self).unwrap_or_default();
                }
                _ => return true,
            }
            false
        });
        special
    }

    /// `[Address::Record | (street::Text), (city::Text)]`
    fn record(
        &mut self,
        id: TypeId,
        declaration: &DeclarationSyntax<'t>,
        inheritance: Option<Inheritance>,
    ) -> Type {
        let node = declaration.node;
        let mut fields: Vec<Field> = Vec::new();
        let mut seen = Seen::default();
        for element in node.elements() {
            let Some(node) = only_node(element) else {
                self.report_misplaced(declaration, element);
                continue;
            };
            let subject = node.subject();
            let Some(name) = subject.identifier else {
                let help = format!("name it: (name{}", node.text().trim_start_matches('('));
                self.reject(&codes::MISSING_NAME, node.span(), "this field has no name", help);
                continue;
            };
            let keys = subject.entries().map(|entry| (entry.key.content(), entry.key.span()));
            self.host_attributes(keys, "field");
            if let Some(first) = seen.insert(name.content(), name.span()) {
                self.reject_duplicate("field", &name.content(), [first, name.span()]);
                continue;
            }
            if let Some(mut field) = self.named_field(node, subject) {
                self.apply_node_attributes(&mut field, node, subject, None);
                // ValueSource attributes apply to parameters, not to fields.
                fields.push(Field { source: ValueSource::Model, secret: false, ..field });
            }
        }
        if let Some(inheritance) = inheritance {
            let inherited = self.inherit_fields(id, declaration, inheritance, &fields);
            fields.splice(0..0, inherited);
        }
        Type::Object(Box::new(ObjectType { fields: Some(fields), ..ObjectType::default() }))
    }

    /// `[Unit::Enum | celsius, (fahrenheit {description: "…"})]`
    fn enumeration(
        &mut self,
        declaration: &DeclarationSyntax<'t>,
        name: SmolStr,
    ) -> (Field, Vec<Option<SmolStr>>) {
        let node = declaration.node;
        let (mut members, mut descriptions) = (Vec::new(), Vec::new());
        let mut values = Vec::new();
        let mut seen = Seen::default();
        for element in node.elements() {
            let (name, description) = match element.kind() {
                N::PatternReference => {
                    (element.children().next(), element.doc_text().map(SmolStr::from))
                }
                _ => match only_node(element) {
                    Some(node) if node.subject().labels_node().is_none() => {
                        (node.subject().identifier, self.member_description(node))
                    }
                    _ => (None, None),
                },
            };
            let Some(name) = name else {
                self.report_misplaced(declaration, element);
                continue;
            };
            if let Some(first) = seen.insert(name.content(), name.span()) {
                let message = format!("duplicate member `{}`", name.content());
                let spans = [first, name.span()];
                self.reject_second(&codes::DUPLICATE_NAME, spans, message, "remove one of them");
                continue;
            }
            let is_text = name.kind() == N::QuotedName
                || (name.kind() == N::Symbol && !matches!(name.text(), "true" | "false" | "null"));
            values.extend(Some(name).filter(|_| !is_text));
            members.push(Value::String(name.content().into_owned()));
            descriptions.push(description);
        }
        if members.is_empty() && node.elements().next().is_none() {
            self.without_elements(declaration);
        }
        self.values_as_members(declaration, &values);
        let mut field = blank(name, Type::Text);
        field.type_use.constrain(Constraint::Enum(members));
        if descriptions.iter().all(Option::is_none) {
            descriptions.clear();
        }
        (field, descriptions)
    }

    /// The description of an enum's member: of its record, or the doc comment before it.
    fn member_description(&mut self, node: Node<'t>) -> Option<SmolStr> {
        let mut attributes = self.record_attributes(node.subject().record);
        Self::add_doc(&mut attributes, node);
        let mut description = None;
        for attribute in &attributes {
            if attribute.key == "description" {
                description = attribute.text(self);
            } else {
                self.meaningless(attribute, gramc_model::attributes::AttributeOwner::Member);
            }
        }
        description
    }

    /// `` [Answer::Union | Text, `Int[]`] ``, with the span of each member.
    fn union_members(&mut self, declaration: &DeclarationSyntax<'t>) -> (Vec<Type>, Vec<Span>) {
        let node = declaration.node;
        let (mut members, mut spans) = (Vec::new(), Vec::new());
        for element in node.elements() {
            let name = match element.kind() {
                N::PatternReference => element.children().next(),
                // A type as one would write it elsewhere: (::Text).
                _ => only_node(element).and_then(|node| {
                    let subject = node.subject();
                    let bare = subject.identifier.is_none() && subject.record.is_none();
                    subject.labels().next().filter(|_| bare)
                }),
            };
            let Some(name) = name else {
                self.report_misplaced(declaration, element);
                continue;
            };
            if let Some(member) = self.label_type(name) {
                members.push(member);
                spans.push(name.span());
            }
        }
        if node.elements().next().is_none() {
            self.without_elements(declaration);
        }
        (members, spans)
    }

    /// `[Age::Alias | (::Integer {range: 0..150})]`
    fn alias(&mut self, declaration: &DeclarationSyntax<'t>) -> Option<Field> {
        let node = declaration.node;
        let mut elements = node.elements();
        let Some(element) = elements.next() else {
            self.without_elements(declaration);
            return None;
        };
        let inner = only_node(element).map(|node| (node, node.subject()));
        let inner = inner
            .filter(|(_, subject)| subject.identifier.is_none() && subject.labels_node().is_some());
        let (Some((inner, subject)), None) = (inner, elements.next()) else {
            self.report_misplaced(declaration, element);
            return None;
        };
        let keys = subject.entries().map(|entry| (entry.key.content(), entry.key.span()));
        self.host_attributes(keys, "type");
        let mut field = self.field(subject, declaration.name.clone())?;
        self.apply_node_attributes(&mut field, inner, subject, None);
        Some(field)
    }

    /// Reports an element that a declaration cannot contain; only the first one, as the others are
    /// the same mistake.
    fn report_misplaced(&mut self, declaration: &DeclarationSyntax<'t>, element: Node<'t>) {
        let kind = declaration.kind;
        let mut before = declaration.node.elements().take_while(|other| other.id() != element.id());
        if before.any(|it| it.kind() == element.kind() && is_misplaced(it, kind)) {
            return;
        }
        let message = match kind {
            Kind::Record => "a record contains fields",
            Kind::Enum => "an enum contains names",
            Kind::Union => "a union contains types",
            _ => "an alias contains one type, without a name",
        };
        let mut error = self
            .error(&codes::MISPLACED_ELEMENT, element.span(), message)
            .help(format!("write {}", kind.example()));
        error.fixes.extend(misplaced_fix(element, kind));
        self.report(error);
    }

    fn without_elements(&mut self, declaration: &DeclarationSyntax<'t>) {
        let message = format!("`{}` is empty", name_of(declaration.node));
        let help = format!("write {}", declaration.kind.example());
        self.reject(&codes::EMPTY_CONSTRAINT, declaration.name_node.span(), message, help);
    }

    /// What is declared.
    pub(crate) fn known_types(&self) -> &Types {
        &self.types
    }
}

/// Whether a declaration of a kind cannot contain an element.
fn is_misplaced(element: Node<'_>, kind: Kind) -> bool {
    let subject = only_node(element).map(Node::subject);
    let reference = element.kind() == N::PatternReference;
    match kind {
        Kind::Record => subject.is_none(),
        Kind::Enum => !reference && subject.is_none_or(|it| it.labels_node().is_some()),
        Kind::Union => {
            !reference && subject.is_none_or(|it| it.identifier.is_some() || it.record.is_some())
        }
        _ => true,
    }
}

/// The node that a path of a single node consists of.
pub(crate) fn only_node(element: Node<'_>) -> Option<Node<'_>> {
    let mut parts = element.children();
    match (element.kind(), parts.next(), parts.next()) {
        (N::Path, Some(node), None) => Some(node),
        _ => None,
    }
}

/// Whether a type may be declared with this name: it is not reserved.
pub fn is_type_name(name: &str) -> bool {
    let is_taken = matches!(name, "true" | "false" | "null") || is_label(name);
    is_name(name) && !is_taken && built_in(name).is_none()
}
