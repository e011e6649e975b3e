//! Branches divided further, where only their parts fit the members of a union.

use serde_json::Value;

use super::branch::{Branch, Conj, Kind, Term, never};
use super::document::Side;
use super::prove::{MAX_BRANCHES, Prover};

/// How often a branch is divided again while one union is looked at.
const MAX_DIVISIONS: usize = 3;

impl<'s> Prover<'s> {
    /// Divides a branch in several that hold all of its values: by what a property may be that one
    /// of the schemas speaks of.
    fn divided(&mut self, branch: &Branch<'s>, side: Side, schemas: &'s [Value]) -> Vec<Conj<'s>> {
        if branch.kind != Kind::Object {
            return Vec::new();
        }
        let mentions = |name: &str| {
            schemas.iter().any(|schema| {
                let document = self.document(side);
                let target = schema.get("$ref").and_then(Value::as_str);
                let schema = target.and_then(|target| document.resolve(target)).unwrap_or(schema);
                schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
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
            let with = |conj: Conj<'s>, present: bool| {
                let mut terms = branch.terms.clone();
                terms.push(Term::Property(name, conj.into()));
                terms.extend(present.then_some(Term::Present(name)));
                terms
            };
            let mut divided: Vec<_> = conjs.into_iter().map(|conj| with(conj, true)).collect();
            if !required {
                divided.push(with(vec![never()], false));
            }
            return divided;
        }
        Vec::new()
    }

    /// Whether a proof holds for a branch, or for each of the parts that it is divided in.
    pub(super) fn in_parts(
        &mut self,
        branch: &Branch<'s>,
        side: Side,
        schemas: &'s [Value],
        divisions: usize,
        proof: &mut dyn FnMut(&mut Self, &Branch<'s>) -> bool,
    ) -> bool {
        if self.attempt(|own| proof(own, branch) || own.is_empty(branch)) {
            return true;
        }
        if divisions == MAX_DIVISIONS || !self.enter() {
            return false;
        }
        let parts = self.divided(branch, side, schemas);
        let proven = !parts.is_empty()
            && parts.iter().all(|part| {
                let Some(branches) = self.branches(part) else { return false };
                branches.iter().all(|b| self.in_parts(b, side, schemas, divisions + 1, proof))
            });
        self.leave();
        proven
    }
}
