//! Types that refer to each other: which are recursive, which never end, and how large they are
//! where they are written in place.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::checker::Checker;
use crate::codes;
use crate::index::DeclarationSyntax;
use crate::object::{MAX_EXPANDED_DEPTH, MAX_EXPANSION};
use gramc_model::walk::{endless, names_of, parts, recursive, self_aliases, strongly_connected};
use gramc_model::{Type, TypeId, TypeUse, Types};

impl<'t> Checker<'t> {
    /// Reports types that never end, and finds those that schemas refer to.
    pub(crate) fn settle(&mut self, declarations: &[DeclarationSyntax<'t>]) {
        let mut types = Arc::unwrap_or_clone(std::mem::take(&mut self.types));
        let aliases = self_aliases(&types);
        let cycles = cycles(&types);
        let mut reported = HashSet::new();
        let alias = aliases.iter().map(|id| (*id, "is an alias of itself"));
        let endless = endless(&types).into_iter().map(|id| (id, "has no finite value"));
        for (id, what) in alias.chain(endless) {
            // A type that is endless because of another one is in no cycle.
            if cycles.get(&id).is_some_and(|cycle| reported.insert(*cycle)) {
                self.endless(declarations, id, what);
            }
        }
        for id in aliases {
            // Following the names would never terminate.
            if let Some(declared) = types.0.get_mut(id.0 as usize) {
                declared.type_use = TypeUse::new(Type::Any);
            }
        }
        for id in recursive(&types) {
            if let Some(declared) = types.0.get_mut(id.0 as usize) {
                declared.referred = true;
            }
        }
        for id in too_large(&types) {
            let Some(declaration) = declarations.get(id.0 as usize) else { continue };
            self.file = declaration.file;
            let span = declaration.name_node.span();
            let message = format!("the types used by `{}` expand too far", declaration.name);
            let help = "declare types at the top level, where schemas refer to them";
            self.reject(&codes::NESTED_TOO_DEEP, span, message, help);
            // References need no expansion.
            if let Some(declared) = types.0.get_mut(id.0 as usize) {
                declared.referred = true;
            }
        }
        self.types = Arc::new(types);
    }

    fn endless(&mut self, declarations: &[DeclarationSyntax<'t>], id: TypeId, what: &str) {
        let Some(declaration) = declarations.get(id.0 as usize) else { return };
        self.file = declaration.file;
        let span = declaration.name_node.span();
        let message = format!("the type `{}` {what}", declaration.name);
        let help = "break the cycle with an optional field, a list or `T?`";
        self.reject(&codes::ENDLESS_TYPE, span, message, help);
    }
}

/// The types that lead back to themselves, with the number of their cycle.
fn cycles(types: &Types) -> HashMap<TypeId, usize> {
    let groups = strongly_connected(types.0.len(), |id| names_of(types, id)).into_iter();
    let is_cycle = |group: &Vec<TypeId>| match group.as_slice() {
        [id] => names_of(types, *id).contains(id),
        _ => true,
    };
    let cycles = groups.filter(is_cycle).enumerate();
    cycles.flat_map(|(at, group)| group.into_iter().map(move |id| (id, at))).collect()
}

/// The types that are too large or too deep where they are written in place.
fn too_large(types: &Types) -> Vec<TypeId> {
    let mut known: Vec<Option<(usize, u32)>> = vec![None; types.0.len()];
    let mut found = Vec::new();
    for (start, _) in types.iter() {
        // The parts of a type are measured first. Types that are written in place are in no cycle,
        // so this ends.
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
                    let extent = extent(types, &declared.type_use.ty, &known);
                    known[at] = Some(extent);
                    if extent.0 > MAX_EXPANSION || extent.1 > MAX_EXPANDED_DEPTH {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use std::fmt::Write as _;

    use gramc_syntax::{SourceFile, parse};

    fn codes(text: String) -> Vec<&'static str> {
        let checked = crate::check(&[parse(SourceFile::new("x.gram", text))]);
        checked.diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect()
    }

    #[test]
    fn a_cycle_behind_a_long_chain_of_types_is_reported_once() {
        let mut text = String::new();
        for at in 0..1_600 {
            writeln!(text, "[T{at}::Record | (n::T{})]", at + 1).unwrap();
        }
        text += "[T1600::Record | (n::T1600)]\n";
        text += "[act:Tool {description: \"Acts\"} | (a::T0)==>(::Null)]\n";
        assert_eq!(codes(text), ["endless-type"]);
    }

    #[test]
    fn each_cycle_is_reported_once() {
        let text = "[A::Record | (b::B)]\n[B::Record | (a::A), (c::C)]\n[C::Record | (c::C)]\n\
                    [D::Record | (a::A)]\n[E::Alias | (::E)]\n\
                    [act:Tool {description: \"Acts\"} | (d::D)==>(e::E)==>(::Null)]\n";
        assert_eq!(codes(text.to_owned()), ["endless-type"; 3]);
    }
}
