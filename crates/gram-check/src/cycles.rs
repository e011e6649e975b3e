//! Types that refer to each other: which are recursive, which never end, and how large they are
//! where they are written in place.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::checker::Checker;
use crate::codes;
use crate::index::DeclarationSyntax;
use crate::object::{MAX_DEPTH, MAX_EXPANSION};
use gram_model::walk::{endless, names_of, parts, recursive, self_aliases};
use gram_model::{Type, TypeId, TypeUse, Types};

impl<'t> Checker<'t> {
    /// Reports types that never end, and finds those that schemas refer to.
    pub(crate) fn settle(&mut self, declarations: &[DeclarationSyntax<'t>]) {
        let mut types = Arc::unwrap_or_clone(std::mem::take(&mut self.types));
        let aliases = self_aliases(&types);
        let mut cycles = Cycles::new(&types);
        for id in aliases.iter().copied() {
            if cycles.is_new(id) {
                self.endless(declarations, id, "is an alias of itself");
            }
        }
        for id in endless(&types) {
            if cycles.is_new(id) {
                self.endless(declarations, id, "has no finite value");
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
            let (file, span) = (declaration.file, declaration.name_node.span());
            let message = format!("the types used by `{}` expand too far", declaration.name);
            let error = self
                .error(&codes::NESTED_TOO_DEEP, file, span, message)
                .help("declare types at the top level, where schemas refer to them");
            self.report(file, error);
            // References need no expansion.
            if let Some(declared) = types.0.get_mut(id.0 as usize) {
                declared.referred = true;
            }
        }
        self.types = Arc::new(types);
    }

    fn endless(&mut self, declarations: &[DeclarationSyntax<'t>], id: TypeId, what: &str) {
        let Some(declaration) = declarations.get(id.0 as usize) else { return };
        let (file, span) = (declaration.file, declaration.name_node.span());
        let message = format!("the type `{}` {what}", declaration.name);
        let error = self
            .error(&codes::ENDLESS_TYPE, file, span, message)
            .help("break the cycle with an optional field, a list or `T?`");
        self.report(file, error);
    }
}

/// The cycles of types that were reported.
struct Cycles<'m> {
    types: &'m Types,
    /// The types of the cycles.
    reported: HashSet<TypeId>,
    /// How many more types are looked at, so that many long chains take no time.
    budget: usize,
}

impl<'m> Cycles<'m> {
    fn new(types: &'m Types) -> Self {
        Self { types, reported: HashSet::new(), budget: 1_000_000 }
    }

    /// Whether a type is in a cycle that was not reported. Each cycle is reported once; a type that
    /// is endless because of another one is not.
    fn is_new(&mut self, id: TypeId) -> bool {
        if self.reported.contains(&id) || self.budget == 0 {
            return false;
        }
        let mut users: HashMap<TypeId, Vec<TypeId>> = HashMap::new();
        let mut open = vec![id];
        let mut seen = HashSet::from([id]);
        while let Some(next) = open.pop() {
            self.budget = self.budget.saturating_sub(1);
            for named in names_of(self.types, next) {
                users.entry(named).or_default().push(next);
                if seen.insert(named) {
                    open.push(named);
                }
            }
        }
        // What the type refers to and what refers to it is in the cycle.
        let mut open = users.get(&id).cloned().unwrap_or_default();
        let in_cycle = !open.is_empty();
        while let Some(next) = open.pop() {
            if self.reported.insert(next) {
                open.extend(users.get(&next).into_iter().flatten());
            }
        }
        in_cycle
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
                    let extent = extent(types, &declared.type_use.ty, &known);
                    known[at] = Some(extent);
                    if extent.0 > MAX_EXPANSION || extent.1 > MAX_DEPTH {
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
