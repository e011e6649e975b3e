//! Traverses and sorts types.

use std::collections::HashSet;

use gramc_model::walk::{endless, names, names_of, names_of_type_use, self_aliases};
use gramc_model::{Constraint, FieldPattern, Open, Tool, Type, TypeId, TypeUse, Types};

/// Calls `visit` with a mutable reference to each name in a type.
fn names_mut(ty: &mut Type, visit: &mut dyn FnMut(&mut TypeId)) {
    match ty {
        Type::Named(id) => visit(id),
        Type::List(inner) | Type::Map(inner) => {
            if let Some(inner) = inner {
                names_mut(inner, visit);
            }
        }
        Type::Nullable(inner) => names_mut(inner, visit),
        Type::Tuple(types) | Type::Union(types) | Type::OneOf(types) => {
            for ty in types {
                names_mut(ty, visit);
            }
        }
        Type::Object(object) => {
            for field in object.fields.iter_mut().flatten() {
                names_mut_of_type_use(&mut field.type_use, visit);
            }
            names_mut_of_undeclared(&mut object.patterns, &mut object.open, visit);
        }
        _ => {}
    }
}

fn names_mut_of_undeclared(
    patterns: &mut [FieldPattern],
    open: &mut Open,
    visit: &mut dyn FnMut(&mut TypeId),
) {
    for known in patterns {
        names_mut(&mut known.ty, visit);
    }
    if let Open::Of(ty) = open {
        names_mut(ty, visit);
    }
}

fn names_mut_of_type_use(type_use: &mut TypeUse, visit: &mut dyn FnMut(&mut TypeId)) {
    names_mut(&mut type_use.ty, visit);
    for constraint in &mut type_use.constraints {
        if let Constraint::Keys(keys) = constraint {
            names_mut(keys, visit);
        }
    }
}

/// All types that are reachable from some.
pub(super) fn reach(types: &Types, mut open: Vec<TypeId>) -> HashSet<TypeId> {
    let mut reached = HashSet::new();
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            open.extend(names_of(types, id));
        }
    }
    reached
}

/// Sorts the types from `start` on by a preorder traversal from `roots`, and returns the new ID of
/// each.
fn order(types: &mut Types, start: usize, roots: Vec<TypeId>) -> Vec<TypeId> {
    let count = types.0.len() - start;
    let mut place: Vec<Option<usize>> = vec![None; count];
    let mut next = 0;
    let mut open: Vec<TypeId> = roots.into_iter().rev().collect();
    // Unreachable types come last.
    let mut rest = ids_from(types, start);
    while let Some(id) = open.pop().or_else(|| rest.next()) {
        let Some(at) = (id.0 as usize).checked_sub(start) else { continue };
        if place.get(at).is_none_or(Option::is_some) {
            continue;
        }
        place[at] = Some(next);
        next += 1;
        open.extend(names_of(types, id).into_iter().rev());
    }
    let moved: Vec<usize> = place.into_iter().map(Option::unwrap_or_default).collect();
    let mut sorted: Vec<_> = types.0.drain(start..).zip(&moved).collect();
    sorted.sort_by_key(|(_, place)| **place);
    types.0.extend(sorted.into_iter().map(|(declared, _)| declared));
    let id = |at: usize| TypeId(u32::try_from(start + at).unwrap_or(u32::MAX));
    let moved: Vec<_> = moved.into_iter().map(id).collect();
    for declared in types.0.iter_mut().skip(start) {
        names_mut_of_type_use(&mut declared.type_use, &mut |id| *id = moved_to(&moved, start, *id));
    }
    moved
}

fn moved_to(moved: &[TypeId], start: usize, id: TypeId) -> TypeId {
    let at = (id.0 as usize).checked_sub(start);
    at.and_then(|at| moved.get(at)).copied().unwrap_or(id)
}

/// Sorts the types of a tool, which are those from `start` on, by their first use.
pub(super) fn order_local(types: &mut Types, start: usize, tool: &mut Tool) {
    if types.0.len() > start + 1 {
        let mut roots = Vec::new();
        tool.parameters
            .iter()
            .for_each(|field| names_of_type_use(&field.type_use, &mut |id| roots.push(id)));
        tool.undeclared_types().for_each(|ty| names(ty, &mut |id| roots.push(id)));
        names_of_type_use(&tool.result.type_use, &mut |id| roots.push(id));
        let moved = order(types, start, roots);
        let mut visit = |id: &mut TypeId| *id = moved_to(&moved, start, *id);
        for field in &mut tool.parameters {
            names_mut_of_type_use(&mut field.type_use, &mut visit);
        }
        let patterns = tool.root.as_deref_mut().map_or(&mut [][..], |root| &mut root.patterns);
        names_mut_of_undeclared(patterns, &mut tool.open, &mut visit);
        names_mut_of_type_use(&mut tool.result.type_use, &mut visit);
    }
    tool.types = ids_from(types, start).collect();
}

/// The types from `start` on.
fn ids_from(types: &Types, start: usize) -> impl Iterator<Item = TypeId> + use<> {
    // There are fewer types than bytes in the JSON, which fits in 32 bits.
    (start..types.0.len()).map(|at| TypeId(u32::try_from(at).unwrap_or(u32::MAX)))
}

/// Types without a finite value, or that resolve to themselves.
pub(super) fn find_endless(types: &Types) -> HashSet<TypeId> {
    endless(types).into_iter().chain(self_aliases(types)).collect()
}
