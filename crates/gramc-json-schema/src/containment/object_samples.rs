//! Objects of one schema that another one might refuse.

use serde_json::{Map, Value};

use super::branch::{Branch, JsonType, Term, Terms};
use super::pattern_samples;
use super::samples::{DEPTH, MAX_LIST, SampleGenerator, size, sizes_of};
use crate::keywords::name as k;
use crate::pointer::escape_token;

/// The number of names for each pattern of names.
const NAMES_PER_PATTERN: usize = 2;

/// Names that match the patterns of `patternProperties`.
fn patterned_names<'t, 's: 't>(terms: impl Iterator<Item = &'t Term<'s>>) -> Vec<String> {
    let patterns = terms.filter_map(|term| match term {
        Term::Ground(_, keywords) => keywords.get(k::PATTERN_PROPERTIES)?.as_object(),
        _ => None,
    });
    let names = patterns.flat_map(Map::keys);
    names
        .flat_map(|it| pattern_samples::matching(it, &[]).into_iter().take(NAMES_PER_PATTERN))
        .collect()
}

impl<'s> SampleGenerator<'_, 's> {
    /// Objects: the smallest one, the fullest one, and those that differ from them in one property.
    pub(super) fn objects(
        &mut self,
        branch: &Branch<'s>,
        others: &[Branch<'s>],
        limit: usize,
        depth: usize,
    ) -> Vec<Value> {
        let others: Vec<_> = others.iter().filter(|other| other.kind == JsonType::Object).collect();
        let places = branch.properties.len() + 2;
        let share = (limit / places).clamp(1, 200);
        let mut choices: Vec<(String, bool, Vec<Value>)> = Vec::new();
        for (name, property) in &branch.properties {
            let required = branch.required.contains(name);
            let part = escape_token(name);
            let focus = self.is_focus(&part);
            if !required && !focus && (depth > DEPTH || limit == 1) {
                continue;
            }
            let hints: Vec<Terms<'s>> =
                others.iter().map(|other| other.property(name).clone()).collect();
            let share = if focus { limit / 2 + 1 } else { share };
            let values = self.part(&part, property, &hints, share, depth);
            if required && values.is_empty() {
                return Vec::new();
            }
            choices.push(((*name).to_owned(), required, values));
        }
        let extras = if branch.is_closed() || limit == 1 {
            Vec::new()
        } else {
            self.extras(branch, &others, if self.is_focus("*") { limit / 2 } else { share }, depth)
        };
        let entry = |(name, _, values): &(String, bool, Vec<Value>)| {
            values.first().map(|value| (name.clone(), value.clone()))
        };
        let full: Map<String, Value> = choices.iter().filter_map(entry).collect();
        let mut small: Map<String, Value> =
            choices.iter().filter(|choice| choice.1).filter_map(entry).collect();
        let bare = small.clone();
        // What the least size asks for comes from optional and from new properties.
        let more = full.iter().chain(extras.iter().map(|(name, value)| (name, value)));
        for (name, value) in more {
            if (small.len() as u64) < branch.least {
                small.insert(name.clone(), value.clone());
            }
        }
        let mut objects = vec![small.clone(), full.clone()];
        let mut foreign = bare;
        for (name, value) in &extras {
            if (foreign.len() as u64) < branch.least {
                foreign.insert(name.clone(), value.clone());
            }
        }
        objects.push(foreign);
        let prover = &mut *self.prover;
        let mut change = |from: &Map<String, Value>, name: &str, value: Option<&Value>| {
            if !prover.spend(from.values().map(size).sum::<usize>() + 1) {
                return;
            }
            let mut changed = from.clone();
            match value {
                Some(value) => changed.insert(name.to_owned(), value.clone()),
                None => changed.shift_remove(name),
            };
            objects.push(changed);
        };
        for (name, required, values) in &choices {
            for value in values.iter().skip(usize::from(*required)) {
                change(&small, name, Some(value));
            }
            if !required {
                change(&full, name, None);
            }
        }
        for (name, value) in &extras {
            change(&small, name, Some(value));
        }
        for size in sizes_of(branch, others.iter().copied(), MAX_LIST) {
            let mut sized = small.clone();
            for (name, value) in full.iter().chain(extras.iter().map(|(name, value)| (name, value)))
            {
                if (sized.len() as u64) < size {
                    sized.insert(name.clone(), value.clone());
                }
            }
            let value = extras.first().map(|(_, value)| value.clone());
            let mut at = 0;
            while let Some(value) = value.clone().filter(|_| (sized.len() as u64) < size) {
                at += 1;
                sized.insert(format!("a{at}"), value);
            }
            objects.push(sized);
        }
        objects.into_iter().map(Value::Object).collect()
    }

    /// Properties that an object may have and does not name.
    fn extras(
        &mut self,
        branch: &Branch<'s>,
        others: &[&Branch<'s>],
        limit: usize,
        depth: usize,
    ) -> Vec<(String, Value)> {
        let mut terms = branch.names.clone();
        terms.push(Term::Type(JsonType::String));
        let all = || std::iter::once(branch).chain(others.iter().copied());
        let mut names = patterned_names(all().flat_map(|branch| &branch.terms));
        let named = others.iter().flat_map(|other| other.properties.keys());
        names.extend(named.take(64).map(|name| (*name).to_owned()));
        let hints: Vec<Terms<'s>> = others.iter().map(|other| other.names.clone()).collect();
        // Names are texts, too; a name that says what it is comes first.
        names.push("other".to_owned());
        names.extend(self.of(&terms, &hints, 8, depth + 1).into_iter().filter_map(
            |name| match name {
                Value::String(name) => Some(name),
                _ => None,
            },
        ));
        names.retain(|name| {
            let known = branch.properties.contains_key(name.as_str());
            !known && !self.refuses(&terms, &Value::from(name.as_str()))
        });
        let wild = self.is_focus("*");
        let first = names.iter().position(|name| self.is_focus(&escape_token(name)));
        if names.is_empty() || (depth > DEPTH && !wild && first.is_none()) {
            return Vec::new();
        }
        names.swap(0, first.unwrap_or(0));
        names.truncate((limit / 3).max(1));
        let share = (limit / names.len()).clamp(1, 20);
        let mut extras: Vec<(String, Value)> = Vec::new();
        for name in names {
            if extras.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let hints: Vec<Terms<'s>> =
                others.iter().map(|other| self.undeclared_terms(other, &name)).collect();
            let own = self.undeclared_terms(branch, &name);
            let part = if wild && extras.is_empty() { "*".into() } else { escape_token(&name) };
            let share = if self.is_focus(&part) { limit / 2 + 1 } else { share };
            let values = self.part(&part, &own, &hints, share, depth);
            extras.extend(values.into_iter().map(|value| (name.clone(), value)));
        }
        extras
    }

    /// The terms for a property that a branch may not declare, with those of patterns of its name.
    fn undeclared_terms(&mut self, branch: &Branch<'s>, name: &str) -> Terms<'s> {
        if let Some(terms) = branch.properties.get(name) {
            return terms.clone();
        }
        let mut terms = branch.rest.clone();
        for term in &branch.terms {
            if let Term::Ground(side, keywords) = term
                && keywords.contains_key(k::PATTERN_PROPERTIES)
            {
                let schemas = self.prover.schemas_of(*side, keywords, name);
                let schemas = schemas.into_iter().flatten();
                terms.extend(schemas.map(|schema| Term::Schema(*side, schema)));
            }
        }
        terms
    }
}
