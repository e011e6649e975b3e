//! Takes out of a module what is not true of it.

use std::collections::HashSet;

use gramc_model::{Constraint, Details, Module, Type, TypeId, TypeUse, Types, ValueSource};

use serde_json::Value;

use super::types::lists_types;
use super::visit::{self, Visitor};
use crate::reading;

/// Takes out what the checker would refuse, until nothing is left of it, and finds the types that
/// schemas refer to.
///
/// Each step only takes something out, or replaces something
/// twice, so this ends.
pub(super) fn repair(module: &mut Module) {
    let mut new = 0;
    loop {
        let types = module.types.clone();
        let mut repair = Repair { types: &types, changed: false, new };
        visit::module(module, &mut repair);
        new = repair.new;
        if !repair.changed {
            break;
        }
    }
    let types = module.types.clone();
    for (id, _) in types.iter() {
        if is_recursive(&types, id) {
            module.types.0[id.0 as usize].referred = true;
        }
    }
}

/// Whether a way leads from a type back to it.
fn is_recursive(types: &Types, id: TypeId) -> bool {
    let mut known = HashSet::new();
    let mut next = vec![id];
    while let Some(at) = next.pop() {
        for named in
            types.get(at).map(|declared| visit::names_of(&declared.type_use)).into_iter().flatten()
        {
            if named == id {
                return true;
            }
            if known.insert(named) {
                next.push(named);
            }
        }
    }
    false
}

/// Whether a type is another one or null, by its own words or by those of the type that it names.
fn is_nullable(types: &Types, ty: &Type) -> bool {
    match ty {
        Type::Nullable(_) => true,
        Type::Named(id) => {
            types.get(*id).is_some_and(|declared| is_nullable(types, &declared.type_use.ty))
        }
        _ => false,
    }
}

struct Repair<'t> {
    /// The types as they were before this step.
    types: &'t Types,
    changed: bool,
    /// How many types were put in the place of others.
    new: usize,
}

impl Visitor for Repair<'_> {
    fn ty(&mut self, ty: &mut Type) {
        let (Type::Union(members) | Type::OneOf(members)) = ty else { return };
        for at in 1..members.len() {
            let (before, this) = (&members[..at], &members[at]);
            if before.iter().any(|other| self.are_same(other, this)) {
                self.new += 1;
                self.changed = true;
                members[at] = Type::Literal(Box::new(format!("new {}", self.new).into()));
            }
        }
    }

    fn type_use(&mut self, type_use: &mut TypeUse, source: Option<&mut ValueSource>) {
        let before = type_use.clone();
        self.constraints(type_use);
        let types = self.types;
        if let Some(details) = &mut type_use.details {
            details.type_list &= lists_types(&type_use.ty);
        }
        // Whether null is among the values of an enum that was imported is for the import to say.
        if is_nullable(types, &type_use.ty)
            && let Some(details) = &mut type_use.details
        {
            details.unsound = false;
        }
        let takes = |value: &_| reading::type_use(types, &before, value);
        let unsound = type_use.details.as_ref().is_some_and(|details| details.unsound);
        type_use.default.take_if(|value| !unsound && !takes(value));
        if let Some(Details { examples: Some(examples), .. }) = type_use.details.as_deref_mut() {
            examples.retain(takes);
        }
        self.changed |= *type_use != before;
        if let Some(source) = source
            && matches!(source, ValueSource::Pinned(value) if !takes(value))
        {
            *source = ValueSource::Model;
            self.changed = true;
        }
    }
}

impl Repair<'_> {
    /// Takes out values of an enum and constants that the type does not take, and what leaves none
    /// of them.
    fn constraints(&self, type_use: &mut TypeUse) {
        let TypeUse { ty, constraints, .. } = type_use;
        let types = self.types;
        let members = constraints.iter().flat_map(|known| match known {
            Constraint::Enum(values) => values.as_slice(),
            Constraint::Const(value) => std::slice::from_ref(&**value),
            _ => &[],
        });
        let members: Vec<Value> = members.cloned().chain(gramc_check::literals(ty)).collect();
        constraints.retain(|known| {
            matches!(known, Constraint::Enum(_) | Constraint::Const(_))
                || members.iter().all(|value| reading::constraint(types, known, value))
        });
        let fits = |value: &_| reading::ty(types, ty, value);
        constraints.retain_mut(|constraint| match constraint {
            Constraint::Enum(values) => {
                values.retain(fits);
                !values.is_empty()
            }
            Constraint::Const(value) => fits(value),
            _ => true,
        });
        let Some((Constraint::Enum(values), others)) = constraints.split_first() else {
            return;
        };
        let meets = |value| others.iter().all(|other| reading::constraint(types, other, value));
        if !values.iter().any(meets) {
            constraints.truncate(1);
        }
    }

    /// Whether two members of a union are the same, where names add nothing to what they mean
    /// for.
    fn are_same(&self, a: &Type, b: &Type) -> bool {
        match (self.plain(a), self.plain(b)) {
            (Type::Literal(a), Type::Literal(b)) => reading::equal(a, b),
            (a, b) => a == b,
        }
    }

    fn plain<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let Type::Named(id) = ty else { return ty };
        match self.types.get(*id) {
            Some(declared) if declared.type_use.constraints.is_empty() => {
                self.plain(&declared.type_use.ty)
            }
            _ => ty,
        }
    }
}
