//! Types that refer to each other: which are recursive, which never end, and how large they are
//! where they are written in place.

use std::sync::Arc;

use super::Checker;
use super::index::Declaration;
use super::object::{MAX_DEPTH, MOST_BROUGHT};
use crate::codes;
use crate::model::{Constraint, Open, Slot, Type, TypeId, Types};

impl<'t> Checker<'t> {
    /// Reports types that never end, and finds those that schemas refer to.
    pub(super) fn settle(&mut self, declarations: &[Declaration<'t>]) {
        let mut types = Arc::unwrap_or_clone(std::mem::take(&mut self.types));
        for id in standing_for_themselves(&types) {
            self.endless(declarations, id, "stands for itself");
            // Whoever follows names would never come to an end.
            if let Some(declared) = types.0.get_mut(id.0 as usize) {
                declared.slot = Slot::new(Type::Any);
            }
        }
        for id in endless(&types) {
            self.endless(declarations, id, "has no value that ends");
        }
        for id in recursive(&types) {
            if let Some(declared) = types.0.get_mut(id.0 as usize) {
                declared.referred = true;
            }
        }
        for id in too_large(&types) {
            let Some(declaration) = declarations.get(id.0 as usize) else { continue };
            let (file, span) = (declaration.file, declaration.name_node.span());
            let message =
                format!("the types that `{}` is made of bring too much", declaration.name);
            let error = self
                .error(&codes::NESTED_TOO_DEEP, file, span, message)
                .help("declare types at the top level, where schemas refer to them");
            self.report(file, error);
            // Nobody has to write it out.
            if let Some(declared) = types.0.get_mut(id.0 as usize) {
                declared.referred = true;
            }
        }
        self.types = Arc::new(types);
    }

    fn endless(&mut self, declarations: &[Declaration<'t>], id: TypeId, what: &str) {
        let Some(declaration) = declarations.get(id.0 as usize) else { return };
        let (file, span) = (declaration.file, declaration.name_node.span());
        let message = format!("the type `{}` {what}", declaration.name);
        let error = self.error(&codes::ENDLESS_TYPE, file, span, message).help(
            "let the cycle end: with a field that may be left out, a list, or `T?` in a field",
        );
        self.report(file, error);
    }
}

/// Calls `visit` for each type that a slot is directly made of, its constraints included.
pub(crate) fn parts_of_slot<'t>(slot: &'t Slot, visit: &mut dyn FnMut(&'t Type)) {
    visit(&slot.ty);
    for constraint in &slot.constraints {
        if let Constraint::Keys(keys) = constraint {
            visit(keys);
        }
    }
}

/// Calls `visit` for each type that a type is directly made of; a name is made of nothing.
pub(crate) fn parts<'t>(ty: &'t Type, visit: &mut dyn FnMut(&'t Type)) {
    match ty {
        Type::List(inner) | Type::Map(inner) => inner.iter().for_each(|inner| visit(inner)),
        Type::Nullable(inner) => visit(inner),
        Type::Tuple(types) | Type::Union(types) | Type::OneOf(types) => {
            types.iter().for_each(visit);
        }
        Type::Object(object) => {
            for field in object.fields.iter().flatten() {
                parts_of_slot(&field.slot, visit);
            }
            if let Open::Of(ty) = &object.open {
                visit(ty);
            }
        }
        _ => {}
    }
}

/// Calls `visit` for each name that a type is made of, however deep in it, in the order of its text.
pub(crate) fn names(ty: &Type, visit: &mut dyn FnMut(TypeId)) {
    match ty {
        Type::Named(id) => visit(*id),
        ty => parts(ty, &mut |part| names(part, visit)),
    }
}

/// Calls `visit` for each name that a slot is made of, its constraints included.
pub(crate) fn names_of_slot(slot: &Slot, visit: &mut dyn FnMut(TypeId)) {
    parts_of_slot(slot, &mut |part| names(part, visit));
}

/// The names that a declared type is made of.
fn names_of(types: &Types, id: TypeId) -> Vec<TypeId> {
    let mut found = Vec::new();
    if let Some(declared) = types.get(id) {
        names_of_slot(&declared.slot, &mut |id| found.push(id));
    }
    found
}

/// The names that a type may simply stand for: those that a value of it passes without going into
/// a list or an object.
pub(crate) fn heads(ty: &Type, found: &mut Vec<TypeId>) {
    match ty {
        Type::Named(id) => found.push(*id),
        Type::Nullable(inner) => heads(inner, found),
        Type::Union(members) | Type::OneOf(members) => {
            for member in members {
                heads(member, found);
            }
        }
        _ => {}
    }
}

/// The types that stand for themselves.
fn standing_for_themselves(types: &Types) -> Vec<TypeId> {
    let heads = |id: TypeId| {
        let mut found = Vec::new();
        if let Some(declared) = types.get(id) {
            heads(&declared.slot.ty, &mut found);
        }
        found
    };
    in_cycles(types, heads)
}

/// The types that nothing refers to yet and that are made of themselves. A cycle that goes through
/// a type that schemas refer to ends there.
fn recursive(types: &Types) -> Vec<TypeId> {
    let written_out = |id: &TypeId| types.get(*id).is_some_and(|declared| !declared.referred);
    let names = |id| names_of(types, id).into_iter().filter(written_out).collect();
    in_cycles(types, names)
}

/// The types that lead back to themselves.
fn in_cycles(types: &Types, next: impl Fn(TypeId) -> Vec<TypeId>) -> Vec<TypeId> {
    let groups = strongly_connected(types.0.len(), &next).into_iter();
    let is_cycle = |group: &Vec<TypeId>| match group.as_slice() {
        [id] => next(*id).contains(id),
        _ => true,
    };
    let mut found: Vec<_> = groups.filter(is_cycle).flatten().collect();
    found.sort_unstable();
    found
}

/// The groups of types that lead to each other, each behind the groups that it leads to: Tarjan's
/// algorithm, on a stack of its own.
pub(super) fn strongly_connected(
    count: usize,
    next: impl Fn(TypeId) -> Vec<TypeId>,
) -> Vec<Vec<TypeId>> {
    const NEW: usize = usize::MAX;
    let (mut index, mut low) = (vec![NEW; count], vec![0; count]);
    let (mut open, mut is_open) = (Vec::new(), vec![false; count]);
    let mut groups = Vec::new();
    let mut counter = 0;
    for start in 0..count {
        if index[start] != NEW {
            continue;
        }
        // There are at most as many types as bytes in the texts, which 32 bits count.
        let start = TypeId(u32::try_from(start).unwrap_or(u32::MAX));
        let mut steps = vec![(start, None::<std::vec::IntoIter<TypeId>>)];
        while let Some((id, ways)) = steps.last_mut() {
            let (id, at) = (*id, id.0 as usize);
            let ways = ways.get_or_insert_with(|| {
                (index[at], low[at], is_open[at]) = (counter, counter, true);
                counter += 1;
                open.push(id);
                next(id).into_iter()
            });
            let way = ways.find(|way| (way.0 as usize) < count);
            if let Some(way) = way {
                let to = way.0 as usize;
                if index[to] == NEW {
                    steps.push((way, None));
                } else if is_open[to] {
                    low[at] = low[at].min(index[to]);
                }
                continue;
            }
            steps.pop();
            if let Some((before, _)) = steps.last() {
                let before = before.0 as usize;
                low[before] = low[before].min(low[at]);
            }
            if low[at] == index[at] {
                let from = open.iter().rposition(|known| *known == id).unwrap_or_default();
                let group: Vec<TypeId> = open.drain(from..).collect();
                for id in &group {
                    is_open[id.0 as usize] = false;
                }
                groups.push(group);
            }
        }
    }
    groups
}

/// The types that no finite value has: what is left when those that have one are found, and those
/// that are made of these, until nothing changes.
pub(crate) fn endless(types: &Types) -> Vec<TypeId> {
    let mut ends = vec![false; types.0.len()];
    let mut forwards = true;
    loop {
        let mut changed = false;
        let mut visit = |at: usize| {
            let ended = types.0.get(at).is_some_and(|declared| slot_ends(&declared.slot, &ends));
            if ended && !ends[at] {
                ends[at] = true;
                changed = true;
            }
        };
        // A long chain is known after a pass in its own direction.
        if forwards {
            (0..types.0.len()).for_each(&mut visit);
        } else {
            (0..types.0.len()).rev().for_each(&mut visit);
        }
        forwards = !forwards;
        if !changed {
            break;
        }
    }
    types.iter().filter(|(id, _)| !ends[id.0 as usize]).map(|(id, _)| id).collect()
}

fn slot_ends(slot: &Slot, ends: &[bool]) -> bool {
    let wants_items = slot
        .constraints
        .iter()
        .any(|constraint| matches!(constraint, Constraint::MinSize(least) if *least > 0));
    match &slot.ty {
        Type::List(Some(inner)) | Type::Map(Some(inner)) if wants_items => type_ends(inner, ends),
        ty => type_ends(ty, ends),
    }
}

fn type_ends(ty: &Type, ends: &[bool]) -> bool {
    match ty {
        Type::Named(id) => ends.get(id.0 as usize).copied().unwrap_or(true),
        Type::Tuple(types) => types.iter().all(|ty| type_ends(ty, ends)),
        Type::Union(types) | Type::OneOf(types) => {
            types.is_empty() || types.iter().any(|ty| type_ends(ty, ends))
        }
        Type::Object(object) => {
            let mut fields = object.fields.iter().flatten();
            fields.all(|field| !field.required() || slot_ends(&field.slot, ends))
        }
        _ => true,
    }
}

/// The types that are too large or too deep where they are written in place.
fn too_large(types: &Types) -> Vec<TypeId> {
    let mut known: Vec<Option<(usize, u32)>> = vec![None; types.0.len()];
    let mut found = Vec::new();
    for (start, _) in types.iter() {
        // What a type is made of is reckoned first. Types that are written in place are in no
        // cycle, so this ends.
        let mut steps = vec![start];
        while let Some(id) = steps.last().copied() {
            let at = id.0 as usize;
            let missing = names_of(types, id).into_iter().find(|id| {
                let inline = types.get(*id).is_some_and(|declared| !declared.referred);
                inline && known.get(id.0 as usize).is_some_and(Option::is_none)
            });
            match missing {
                Some(first) if known[at].is_none() && !steps.contains(&first) => steps.push(first),
                _ => {
                    steps.pop();
                    let Some(declared) = types.get(id).filter(|_| known[at].is_none()) else {
                        continue;
                    };
                    let extent = extent(types, &declared.slot.ty, &known);
                    known[at] = Some(extent);
                    if extent.0 > MOST_BROUGHT || extent.1 > MAX_DEPTH {
                        found.push(id);
                        known[at] = Some((1, 1));
                    }
                }
            }
        }
    }
    found
}

/// How many types a type is made of, and how deep they nest, where names are written out.
fn extent(types: &Types, ty: &Type, known: &[Option<(usize, u32)>]) -> (usize, u32) {
    if let Type::Named(id) = ty {
        let inline = types.get(*id).is_some_and(|declared| !declared.referred);
        let extent = known.get(id.0 as usize).copied().flatten().filter(|_| inline);
        return extent.unwrap_or((1, 1));
    }
    let mut whole = (1_usize, 1_u32);
    parts(ty, &mut |part| {
        let inner = extent(types, part, known);
        whole = (whole.0.saturating_add(inner.0), whole.1.max(inner.1.saturating_add(1)));
    });
    whole
}
