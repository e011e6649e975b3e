//! Case splits of branches whose cases are within different members of a union.

use serde_json::Value;

use crate::keywords::name as k;

use super::branch::{Branch, JsonType, Term, Terms, never};
use super::document::Side;
use super::prover::{MAX_BRANCHES, Prover};

/// The maximum number of nested splits for one union.
const MAX_SPLITS: usize = 3;

impl<'s> Prover<'s> {
    /// Divides a branch in several that hold all of its values: by what a property may be that one
    /// of the schemas speaks of.
    fn split(&mut self, branch: &Branch<'s>, side: Side, schemas: &'s [Value]) -> Vec<Terms<'s>> {
        if branch.kind != JsonType::Object {
            return Vec::new();
        }
        let mentions = |name: &str| {
            schemas.iter().any(|schema| {
                let document = self.document(side);
                let target = schema.get(k::REF).and_then(Value::as_str);
                let schema = target.and_then(|target| document.resolve(target)).unwrap_or(schema);
                schema.get(k::PROPERTIES).is_some_and(|properties| properties.get(name).is_some())
            })
        };
        let names: Vec<&'s str> = branch.properties.keys().copied().collect();
        let (first, last): (Vec<_>, Vec<_>) = names
            .into_iter()
            .filter(|name| mentions(name))
            .partition(|name| branch.required.contains(name));
        for name in first.into_iter().chain(last) {
            let Some(parts) = self.branches(branch.property(name)) else { continue };
            let count: usize =
                parts.iter().map(|part| part.values.as_ref().map_or(1, Vec::len)).sum();
            let required = branch.required.contains(name);
            if count + usize::from(!required) < 2 || count > MAX_BRANCHES {
                continue;
            }
            let mut conjs = Vec::new();
            for part in parts {
                match &part.values {
                    Some(values) => {
                        conjs.extend(values.iter().map(|value| vec![Term::Literal(value)]));
                    }
                    None => conjs.push(part.terms),
                }
            }
            let with = |conj: Terms<'s>, present: bool| {
                let mut terms = branch.terms.clone();
                terms.push(Term::Property(name, conj.into()));
                terms.extend(present.then_some(Term::Present(name)));
                terms
            };
            let mut split: Vec<_> = conjs.into_iter().map(|conj| with(conj, true)).collect();
            if !required {
                split.push(with(vec![never()], false));
            }
            return split;
        }
        Vec::new()
    }

    /// Whether a proof holds for a branch, or for each of the parts that it is divided in.
    pub(super) fn holds_by_cases(
        &mut self,
        branch: &Branch<'s>,
        side: Side,
        schemas: &'s [Value],
        splits: usize,
        proof: &mut dyn FnMut(&mut Self, &Branch<'s>) -> bool,
    ) -> bool {
        if self.attempt(|own| proof(own, branch) || own.is_empty(branch)) {
            return true;
        }
        if splits == MAX_SPLITS || !self.enter() {
            return false;
        }
        let parts = self.split(branch, side, schemas);
        let proven = !parts.is_empty()
            && parts.iter().all(|part| {
                let Some(branches) = self.branches(part) else { return false };
                branches.iter().all(|b| self.holds_by_cases(b, side, schemas, splits + 1, proof))
            });
        self.leave();
        proven
    }
}
