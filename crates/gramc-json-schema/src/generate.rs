//! Makes values that a schema allows: at the edges of what it says, and at random.

mod encodings;
mod longest;
mod random;
mod smaller;

use std::collections::BTreeMap;

use jsonschema::Validator;
use rand::{Rng, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use serde_json::{Map, Value};

use crate::containment::examples;
use crate::keywords::name as k;

pub use smaller::smaller;

/// How many values at the edges are kept.
const MAX_EDGES: usize = 400;

/// How often a value is made before one at the edges is taken.
const ATTEMPTS: usize = 8;

/// What texts without a pattern or format are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// Words, as people write them.
    Plain,
    /// Also what programs stumble over: quotes, line breaks, other scripts, markup.
    Wild,
}

/// The reason why there is no generator for a schema.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The schema is invalid.
    #[error(transparent)]
    Schema(#[from] Box<jsonschema::ValidationError<'static>>),
    /// No value was found that the schema allows.
    #[error("no value was found that its type allows")]
    NoValue,
}

/// A source of values that a schema allows.
#[derive(Debug)]
pub struct Generator {
    schema: Value,
    validator: Validator,
    texts: Texts,
    edges: Vec<Value>,
    pools: random::Pools,
}

impl Generator {
    /// A source of values of a JSON Schema of draft 2020-12 or 7, with formats checked. Fails if
    /// the schema is invalid, or if no value was found that it allows.
    pub fn new(schema: &Value, texts: Texts) -> Result<Self, GenerateError> {
        let schema = encodings::as_patterns(schema);
        let options = jsonschema::options().should_validate_formats(true);
        let validator = options.build(&schema).map_err(Box::new)?;
        let mut pools = random::Pools::default();
        let mut edges = in_turn(examples(&schema, MAX_EDGES));
        if edges.is_empty() {
            // Of types with very many optional parts, all work goes into these.
            let mut rng = Pcg64Mcg::seed_from_u64(0);
            let made =
                (0..ATTEMPTS).filter_map(|_| random::value(&schema, texts, &mut pools, &mut rng));
            edges.extend(made.filter(|value| validator.is_valid(value)).min_by_key(size));
        }
        if edges.is_empty() {
            return Err(GenerateError::NoValue);
        }
        let longest = longest::variants(&schema, edges.first().unwrap_or(&Value::Null));
        let longest =
            longest.into_iter().filter(|it| validator.is_valid(it) && !edges.contains(it));
        let longest: Vec<_> = longest.collect();
        // Next to the smallest one.
        edges.splice(1..1, longest);
        Ok(Self { schema, validator, texts, edges, pools })
    }

    /// Values at the edges, the smallest one first: the least and the greatest numbers, lists and texts,
    /// with and without what is optional.
    pub fn edges(&self) -> &[Value] {
        &self.edges
    }

    /// Whether the schema allows a value.
    pub fn allows(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// A value at random. The same state of `rng` gives the same value.
    pub fn random(&mut self, rng: &mut impl Rng) -> Value {
        for _ in 0..ATTEMPTS {
            let made = random::value(&self.schema, self.texts, &mut self.pools, rng);
            if let Some(value) = made.filter(|value| self.validator.is_valid(value)) {
                return value;
            }
        }
        let at = random::below(rng, self.edges.len());
        self.edges.get(at).cloned().unwrap_or_default()
    }

    /// A value like an allowed one that the schema does not allow: a property is missing, of another
    /// type, or beyond its bounds. `None` if none was found.
    pub fn invalid(&self, like: &Value, rng: &mut impl Rng) -> Option<Value> {
        let mut candidates = smaller::spoil(like);
        while !candidates.is_empty() {
            let candidate = candidates.swap_remove(random::below(rng, candidates.len()));
            if !self.allows(&candidate) {
                return Some(candidate);
            }
        }
        None
    }
}

/// A part of a schema with the types that it may refer to.
fn with_types(root: &Value, schema: &Value) -> Value {
    let mut whole = schema.clone();
    if let (Some(whole), Some(types)) = (whole.as_object_mut(), root.get(k::DEFS)) {
        whole.insert(k::DEFS.to_owned(), types.clone());
    }
    whole
}

/// The length of a value as JSON.
fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// Of objects, one for each property in which they differ from the first one, then a second one, and so
/// on, so that the first few have something of each property.
fn in_turn(values: Vec<Value>) -> Vec<Value> {
    let Some(Value::Object(first)) = values.first().cloned() else { return values };
    let mut turns: BTreeMap<String, usize> = BTreeMap::new();
    let mut ordered: Vec<(usize, Value)> = Vec::with_capacity(values.len());
    for value in values {
        let differs = |map: &Map<String, Value>| {
            let names = map.keys().chain(first.keys());
            names.into_iter().find(|name| map.get(*name) != first.get(*name)).cloned()
        };
        let property = value.as_object().and_then(differs);
        let turn = property.map_or(0, |name| {
            let turn = turns.entry(name).or_default();
            *turn += 1;
            *turn
        });
        ordered.push((turn, value));
    }
    ordered.sort_by_key(|(turn, _)| *turn);
    ordered.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests;
