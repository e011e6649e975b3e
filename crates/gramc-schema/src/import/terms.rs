//! Finds the vocabulary: parameters and fields that several tools use in the same way.

use std::collections::HashMap;

use gramc_model::{Field, Module, Term, Type, TypeUse, Types};

/// The uses of a name.
struct Use<'m> {
    /// The type of the first field with the name.
    first: &'m Type,
    /// Whether all fields with the name have the same type.
    one_type: bool,
    /// The distinct fields with the name, each with the number of tools that use it and the last of
    /// them.
    fields: Vec<(&'m Field, usize, usize)>,
}

/// The maximum number of distinct fields of one name.
const MAX_FIELDS: usize = 20;

/// The terms of a module: each field that at least two tools use, and whose name has the same type
/// everywhere.
pub(super) fn find(module: &Module) -> Vec<Term> {
    let mut finder = Finder { types: &module.types, names: HashMap::new(), order: Vec::new() };
    let shared = module.tools.len();
    for (_, declared) in module.types.iter().filter(|(_, declared)| !declared.local) {
        finder.type_use(&declared.type_use, shared);
    }
    for (at, tool) in module.tools.iter().enumerate() {
        for field in &tool.parameters {
            finder.field(field, at, true);
        }
        tool.undeclared_types().for_each(|ty| finder.ty(ty, at));
        finder.type_use(&tool.result.type_use, at);
        for declared in tool.types.iter().filter_map(|id| module.types.get(*id)) {
            finder.type_use(&declared.type_use, at);
        }
    }
    finder.finish()
}

struct Finder<'m> {
    types: &'m Types,
    names: HashMap<&'m str, Use<'m>>,
    /// The names in the order of their first use.
    order: Vec<&'m str>,
}

impl<'m> Finder<'m> {
    fn type_use(&mut self, type_use: &'m TypeUse, tool: usize) {
        match &type_use.ty {
            Type::Nullable(inner) if matches!(**inner, Type::Object(_)) => self.object(inner, tool),
            Type::Object(_) => self.object(&type_use.ty, tool),
            ty => self.ty(ty, tool),
        }
    }

    /// Visits a declared object, whose fields can use the vocabulary.
    fn object(&mut self, ty: &'m Type, tool: usize) {
        let Type::Object(object) = ty else { return };
        for field in object.fields.iter().flatten() {
            self.field(field, tool, true);
        }
        object.undeclared_types().for_each(|ty| self.ty(ty, tool));
    }

    /// Visits a type expression, whose fields cannot use the vocabulary.
    fn ty(&mut self, ty: &'m Type, tool: usize) {
        match ty {
            Type::Object(object) => {
                for field in object.fields.iter().flatten() {
                    self.field(field, tool, false);
                }
            }
            ty => gramc_model::walk::parts(ty, &mut |part| self.ty(part, tool)),
        }
    }

    fn field(&mut self, field: &'m Field, tool: usize, can_be_term: bool) {
        self.ty(&field.type_use.ty, tool);
        let known = self.names.entry(&field.name).or_insert_with(|| {
            self.order.push(&field.name);
            Use { first: &field.type_use.ty, one_type: true, fields: Vec::new() }
        });
        known.one_type &= *known.first == field.type_use.ty;
        if !known.one_type || !can_be_term {
            return;
        }
        let room = known.fields.len() < MAX_FIELDS;
        match known.fields.iter_mut().find(|(other, ..)| *other == field) {
            Some((_, _, last)) if *last == tool => {}
            Some((_, count, last)) => (*count, *last) = (*count + 1, tool),
            None if room => known.fields.push((field, 1, tool)),
            None => {}
        }
    }

    fn finish(self) -> Vec<Term> {
        let Self { types, names, order } = self;
        let term = |name: &str| {
            let known = names.get(name).filter(|known| known.one_type)?;
            // Of the most used fields, the first.
            let most = known.fields.iter().rev().max_by_key(|(_, count, _)| *count);
            let (field, _, _) = most.filter(|(_, count, _)| *count > 1)?;
            let global = is_global(types, &field.type_use);
            global.then(|| Term { field: (*field).clone() })
        };
        order.into_iter().filter_map(term).collect()
    }
}

/// Whether a type use refers to no local type of a tool.
fn is_global(types: &Types, type_use: &TypeUse) -> bool {
    let mut global = true;
    gramc_model::walk::names_of_type_use(type_use, &mut |id| {
        global &= types.get(id).is_some_and(|declared| !declared.local);
    });
    global
}
