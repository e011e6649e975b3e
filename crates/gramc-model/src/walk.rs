//! Walking over types: the parts and names of a type, and cycles of declared types.

use crate::model::{Constraint, Type, TypeId, TypeUse, Types};

/// Calls `visit` for each type that a type use is directly made of, its constraints included.
pub fn parts_of_type_use<'t>(type_use: &'t TypeUse, visit: &mut dyn FnMut(&'t Type)) {
    visit(&type_use.ty);
    for constraint in &type_use.constraints {
        if let Constraint::Keys(keys) = constraint {
            visit(keys);
        }
    }
}

/// Calls `visit` for each type that a type is directly made of; a name is made of nothing.
pub fn parts<'t>(ty: &'t Type, visit: &mut dyn FnMut(&'t Type)) {
    match ty {
        Type::List(inner) | Type::Map(inner) => inner.iter().for_each(|inner| visit(inner)),
        Type::Nullable(inner) => visit(inner),
        Type::Tuple(types) | Type::Union(types) | Type::OneOf(types) => {
            types.iter().for_each(visit);
        }
        Type::Object(object) => {
            for field in object.fields.iter().flatten() {
                parts_of_type_use(&field.type_use, visit);
            }
            object.undeclared_types().for_each(visit);
        }
        _ => {}
    }
}

/// Calls `visit` for each name that a type is made of, however deep in it, in the order of its text.
pub fn names(ty: &Type, visit: &mut dyn FnMut(TypeId)) {
    match ty {
        Type::Named(id) => visit(*id),
        ty => parts(ty, &mut |part| names(part, visit)),
    }
}

/// Calls `visit` for each name that a type use is made of, its constraints included.
pub fn names_of_type_use(type_use: &TypeUse, visit: &mut dyn FnMut(TypeId)) {
    parts_of_type_use(type_use, &mut |part| names(part, visit));
}

/// The names that a declared type is made of.
pub fn names_of(types: &Types, id: TypeId) -> Vec<TypeId> {
    let mut found = Vec::new();
    if let Some(declared) = types.get(id) {
        names_of_type_use(&declared.type_use, &mut |id| found.push(id));
    }
    found
}

/// The names that a type may simply stand for: those that a value of it passes without going into
/// a list or an object.
pub fn heads(ty: &Type, found: &mut Vec<TypeId>) {
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

/// The types that are aliases of themselves.
pub fn self_aliases(types: &Types) -> Vec<TypeId> {
    let heads = |id: TypeId| {
        let mut found = Vec::new();
        if let Some(declared) = types.get(id) {
            heads(&declared.type_use.ty, &mut found);
        }
        found
    };
    in_cycles(types, heads)
}

/// The types that nothing refers to yet and that are made of themselves. A cycle that goes through
/// a type that schemas refer to ends there.
pub fn recursive(types: &Types) -> Vec<TypeId> {
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
pub fn strongly_connected(count: usize, next: impl Fn(TypeId) -> Vec<TypeId>) -> Vec<Vec<TypeId>> {
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
pub fn endless(types: &Types) -> Vec<TypeId> {
    let mut ends = vec![false; types.0.len()];
    // What a group leads to is known before.
    for mut group in strongly_connected(types.0.len(), |id| names_of(types, id)) {
        let mut before = usize::MAX;
        while group.len() < before {
            before = group.len();
            group.retain(|id| {
                let ended =
                    types.get(*id).is_some_and(|declared| slot_ends(&declared.type_use, &ends));
                if let Some(known) = ends.get_mut(id.0 as usize) {
                    *known = ended;
                }
                !ended
            });
            // A long cycle is known after a pass in its own direction.
            group.reverse();
        }
    }
    types.iter().filter(|(id, _)| !ends[id.0 as usize]).map(|(id, _)| id).collect()
}

fn slot_ends(type_use: &TypeUse, ends: &[bool]) -> bool {
    let wants_items = type_use
        .constraints
        .iter()
        .any(|constraint| matches!(constraint, Constraint::MinSize(least) if *least > 0));
    match &type_use.ty {
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
            fields.all(|field| !field.required() || slot_ends(&field.type_use, ends))
        }
        _ => true,
    }
}
