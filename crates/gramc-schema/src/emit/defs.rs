//! The types in `$defs`, and which types are inlined instead.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use serde::ser::SerializeMap;

use super::json_schema::{Entries, TypeUseSchema};
use gramc_json_schema::keywords::name as k;
use gramc_json_schema::pointer::escape_fragment_token as escaped;
use gramc_model::walk::parts;
use gramc_model::{
    Constraint, Tool, Type, TypeDeclaration, TypeId, TypeKind, TypeUse, Types, ValueSource,
};

/// The types that one schema refers to, with their names in the schema.
#[derive(Debug, Clone)]
pub(super) struct Defs<'m> {
    types: &'m Types,
    names: Vec<(TypeId, Cow<'m, str>)>,
}

impl<'m> Defs<'m> {
    /// The types that a tool's parameter schema refers to, and the definitions that its root keeps.
    pub(super) fn of_parameters(types: &'m Types, tool: &'m Tool) -> Self {
        if types.0.is_empty() {
            return Self { types, names: Vec::new() };
        }
        let mut search = Search::new(types);
        for field in tool.parameters.iter().filter(|field| field.source != ValueSource::Injected) {
            search.type_use(&field.type_use);
        }
        tool.undeclared_types().for_each(|ty| search.ty(ty, &[]));
        for id in tool.root.iter().flat_map(|root| &root.defs) {
            search.refer(*id);
        }
        Self { types, names: search.finish() }
    }

    /// The types that a result schema refers to.
    pub(super) fn of_result(types: &'m Types, result: &'m TypeUse) -> Self {
        if types.0.is_empty() {
            return Self { types, names: Vec::new() };
        }
        let mut search = Search::new(types);
        // Names at the root are inlined.
        let mut type_use = result;
        let mut narrowed = false;
        for _ in 0..=types.0.len() {
            narrowed |= !type_use.constraints.is_empty();
            let Type::Named(id) = &type_use.ty else { break };
            match types.get(*id) {
                Some(declared) if !(narrowed && has_schema(declared)) => {
                    type_use = &declared.type_use;
                }
                _ => break,
            }
        }
        search.type_use(type_use);
        Self { types, names: search.finish() }
    }

    pub(super) fn types(&self) -> &'m Types {
        self.types
    }

    /// The `$ref` of a type.
    pub(super) fn reference(&self, id: TypeId) -> String {
        let name = self.names.iter().find(|(known, _)| *known == id);
        let name = name.map_or("", |(_, name)| name);
        format!("#/$defs/{}", escaped(name))
    }

    /// Whether a type is inlined where it is used with these constraints: nothing refers to it, or
    /// the use overrides a constraint of its declaration.
    pub(super) fn in_place(&self, id: TypeId, constraints: &[Constraint]) -> bool {
        in_place(self.types, id, constraints)
    }

    /// Whether a schema's root inlines a type that is used with these constraints. A verbatim
    /// schema cannot be narrowed, so the root refers to it.
    pub(super) fn in_root(&self, id: TypeId, constraints: &[Constraint]) -> bool {
        constraints.is_empty() || !self.types.get(id).is_some_and(has_schema)
    }

    /// Whether a type that is used with these constraints is inlined and has a single JSON type, so
    /// that null can be added without changing its other keywords.
    pub(super) fn has_one_kind(&self, ty: &Type, constraints: &[Constraint]) -> bool {
        has_one_kind(self.types, ty, constraints)
    }

    /// Whether constraints of a use override some of the declared type.
    pub(super) fn overrides(&self, ty: &Type, constraints: &[Constraint]) -> bool {
        overrides(self.types, ty, constraints)
    }

    /// The description of an enum, with the descriptions of its members. `None` if no member has
    /// one.
    pub(super) fn description(&self, id: TypeId) -> Option<Cow<'m, str>> {
        let declared = self.types.get(id)?;
        let TypeKind::Enum(descriptions) = &declared.kind else { return None };
        let members = declared.type_use.constraints.iter();
        let members = members.flat_map(|constraint| match constraint {
            Constraint::Enum(values) => values.as_slice(),
            _ => &[],
        });
        let mut text = String::new();
        for (member, description) in members.zip(descriptions) {
            if let (Some(member), Some(description)) = (member.as_str(), description) {
                // Writing to a string does not fail.
                let _ = write!(text, "\n- {member}: {description}");
            }
        }
        if text.is_empty() {
            return None;
        }
        let own = declared.type_use.description.as_deref().unwrap_or("One of:");
        Some(Cow::Owned(format!("{own}{text}")))
    }

    /// Writes the types, if there are any.
    pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if self.names.is_empty() {
            return Ok(());
        }
        let definitions = || {
            self.names.iter().filter_map(|(id, name)| {
                let type_use = &self.types.get(*id)?.type_use;
                let described = self.description(*id);
                Some((name, TypeUseSchema { type_use, described, remark: None, defs: self }))
            })
        };
        map.serialize_entry(k::DEFS, &Entries(definitions))
    }
}

fn has_one_kind<'t>(types: &'t Types, mut ty: &'t Type, constraints: &[Constraint]) -> bool {
    for _ in 0..=types.0.len() {
        let Type::Named(id) = ty else { return ty.json_name().is_some() };
        let Some(declared) = types.get(*id) else { return false };
        let fixed = declared.type_use.constraints.iter().any(fixes_value);
        if !in_place(types, *id, constraints) || fixed || has_schema(declared) {
            return false;
        }
        ty = &declared.type_use.ty;
    }
    false
}

fn fixes_value(constraint: &Constraint) -> bool {
    matches!(constraint, Constraint::Enum(_) | Constraint::Const(_))
}

/// Whether a declared type has a verbatim schema.
fn has_schema(declared: &TypeDeclaration) -> bool {
    declared.type_use.details.as_ref().is_some_and(|details| details.verbatim.is_some())
}

/// Whether constraints of a use override some of the declared type. A verbatim schema cannot be
/// overridden.
fn overrides(types: &Types, ty: &Type, constraints: &[Constraint]) -> bool {
    let Type::Named(id) = ty else { return false };
    types.get(*id).is_some_and(|declared| {
        let mut own = declared.type_use.constraints.iter();
        !has_schema(declared) && own.any(|own| constraints.iter().any(|here| here.is_like(own)))
    })
}

fn in_place(types: &Types, id: TypeId, constraints: &[Constraint]) -> bool {
    types.get(id).is_some_and(|declared| {
        if has_schema(declared) {
            // If the use narrows the type, both the schema and the constraints must hold.
            return !declared.referred && constraints.is_empty();
        }
        !declared.referred
            || overrides(types, &Type::Named(id), constraints)
            // Next to a reference, a constant would reject the null that the type allows.
            || (constraints.iter().any(fixes_value)
                && matches!(types.resolve(&declared.type_use.ty), Type::Nullable(_)))
    })
}

/// Collects the types that a schema refers to, in order of their first use.
struct Search<'m> {
    types: &'m Types,
    found: Vec<TypeId>,
    known: HashSet<TypeId>,
    /// Inlined types that were visited.
    seen: HashSet<TypeId>,
}

impl<'m> Search<'m> {
    fn new(types: &'m Types) -> Self {
        Self { types, found: Vec::new(), known: HashSet::new(), seen: HashSet::new() }
    }

    fn type_use(&mut self, type_use: &'m TypeUse) {
        let constraints = &type_use.constraints;
        if type_use.details.as_ref().is_some_and(|details| details.verbatim.is_some()) {
            return;
        }
        self.ty(&type_use.ty, constraints);
        for constraint in constraints {
            if let Constraint::Keys(keys) = constraint {
                self.ty(keys, &[]);
            }
        }
    }

    fn ty(&mut self, ty: &'m Type, constraints: &[Constraint]) {
        match ty {
            Type::Named(id) if in_place(self.types, *id, constraints) => {
                if self.seen.insert(*id) {
                    self.visit_declared(*id);
                }
            }
            Type::Named(id) => self.refer(*id),
            Type::Nullable(inner)
                if has_one_kind(self.types, inner, constraints)
                    || overrides(self.types, inner, constraints) =>
            {
                self.ty(inner, constraints);
            }
            Type::Object(object) => {
                for field in object.fields.iter().flatten() {
                    self.type_use(&field.type_use);
                }
                object.undeclared_types().for_each(|ty| self.ty(ty, &[]));
            }
            ty => parts(ty, &mut |part| self.ty(part, &[])),
        }
    }

    fn visit_declared(&mut self, id: TypeId) {
        if let Some(declared) = self.types.get(id) {
            self.type_use(&declared.type_use);
        }
    }

    /// Adds a referenced type. Its parts are visited in `finish`, so that a long chain of types
    /// does not overflow the stack.
    fn refer(&mut self, id: TypeId) {
        if self.known.insert(id) {
            self.found.push(id);
        }
    }

    fn finish(mut self) -> Vec<(TypeId, Cow<'m, str>)> {
        let mut at = 0;
        while let Some(id) = self.found.get(at).copied() {
            self.visit_declared(id);
            at += 1;
        }
        let mut names: Vec<(TypeId, Cow<'m, str>)> = Vec::with_capacity(self.found.len());
        let mut taken = HashSet::new();
        for id in self.found {
            let Some(declared) = self.types.get(id) else { continue };
            let name = declared.schema_name.as_deref().unwrap_or(&declared.name);
            let mut unique = Cow::Borrowed(name);
            let mut count = 2;
            // Types from two files may have the same name.
            while !taken.insert(unique.clone()) {
                unique = Cow::Owned(format!("{name}{count}"));
                count += 1;
            }
            names.push((id, unique));
        }
        names
    }
}
