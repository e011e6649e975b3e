//! Whether all values that one schema allows are allowed by another one.
//!
//! [`decide`] answers with a proof, with a counterexample, or not at all. It never presumes a
//! proof.

mod branch;
mod case_split;
mod document;
mod implication;
mod languages;
mod object_samples;
mod pattern_samples;
mod prover;
mod samples;
mod stated;
mod string_validators;
mod validators;
mod value_check;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::text::MAX_SCHEMA_DEPTH;
use serde_json::Value;

use crate::values::canonical;
use branch::Term;
use document::{Document, Side};
use prover::Prover;
use samples::SampleGenerator;
use validators::ValidatorPair;

/// Whether one schema allows all values that another one allows.
#[derive(Debug, Clone, PartialEq)]
pub enum Containment {
    /// It does, by a proof.
    Proven,
    /// It does not: a value shows it.
    Refuted(Counterexample),
    /// Neither a proof nor a counterexample was found. Holds the reason as a sentence.
    Undecided(String),
}

/// A value that the narrow schema allows and the wide one refuses, confirmed by validators.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    /// The value.
    pub value: Value,
    /// The JSON pointer to the part that is refused. Empty for the whole value.
    pub pointer: String,
    /// What the wide schema expects there.
    pub reason: String,
}

/// The number of values to try.
const MAX_SAMPLES: usize = 3_000;

/// The total size of two schemas, in values, up to which they are compared in canonical form.
/// That comparison can take time that grows fast with the size.
const MAX_CANONICAL_SIZE: usize = 1_500;

/// The depth up to which schemas are compared in canonical form.
const MAX_CANONICAL_DEPTH: usize = 64;

/// Decides whether `wide` allows every value that `narrow` allows. Both are JSON Schemas of draft
/// 2020-12 or, if `$schema` says so, of draft 7, with formats checked. Nothing is fetched: schemas
/// that refer to other documents are undecided.
///
/// The work is bounded for schemas of any size and depth.
pub fn decide(wide: &Value, narrow: &Value) -> Containment {
    let (Some(wide_size), Some(narrow_size)) = (document::size(wide), document::size(narrow))
    else {
        return Containment::Undecided(format!(
            "a schema nests more than {} levels deep, or holds more than {} values",
            MAX_SCHEMA_DEPTH,
            document::MAX_SIZE
        ));
    };
    let (Some(wide_document), Some(narrow_document)) = (Document::of(wide), Document::of(narrow))
    else {
        return Containment::Undecided("the `$schema` of a schema is not known here".to_owned());
    };
    for document in [&wide_document, &narrow_document] {
        let fault = validators::fault(document.dialect, document.root);
        if let Some(fault) = fault.or_else(|| validators::slow_pattern(document.root)) {
            return Containment::Undecided(fault);
        }
    }
    let mut prover = Prover::new(wide_document, narrow_document);
    let terms = [Term::Schema(Side::Narrow, narrow)];
    if prover.covers(&terms, Side::Wide, wide) {
        return Containment::Proven;
    }
    let referee = match ValidatorPair::new(wide, narrow) {
        Ok(referee) => referee,
        Err(error) => {
            let reason = validators::reason(&error);
            return Containment::Undecided(format!("a schema cannot be read: {reason}"));
        }
    };
    let given_up = prover.stop_reason().is_some();
    let reason = prover.stop_reason().map_or_else(|| doubt(&prover), str::to_owned);
    prover.refresh();
    let hints = [vec![Term::Schema(Side::Wide, wide)]];
    let mut samples = SampleGenerator::new(&mut prover).of(&terms, &hints, MAX_SAMPLES, 0);
    // Of several counterexamples a small one says most.
    samples.sort_by_cached_key(|value| document::size(value).unwrap_or(usize::MAX));
    let found = samples.into_iter().find_map(|value| referee.confirm(value));
    if let Some(counterexample) = found {
        return Containment::Refuted(counterexample);
    }
    // The canonical form has no bound of its own.
    let small = !given_up
        && wide_size + narrow_size <= MAX_CANONICAL_SIZE
        && document::is_flat(wide, MAX_CANONICAL_DEPTH)
        && document::is_flat(narrow, MAX_CANONICAL_DEPTH);
    if small && validators::proves(wide, narrow) {
        Containment::Proven
    } else {
        Containment::Undecided(reason)
    }
}

/// Values that a schema allows, at most `limit` of them, small ones first: the smallest one, the fullest
/// one, and values that differ from these in one place, where ranges and lists end.
pub fn examples(schema: &Value, limit: usize) -> Vec<Value> {
    let never = Value::Bool(false);
    let (Some(all), Some(none)) = (Document::of(schema), Document::of(&never)) else {
        return Vec::new();
    };
    if document::size(schema).is_none() || validators::fault(all.dialect, schema).is_some() {
        return Vec::new();
    }
    let Some(referee) = ValidatorPair::quick(&never, schema) else { return Vec::new() };
    let mut prover = Prover::new(none, all);
    let terms = [Term::Schema(Side::Narrow, schema)];
    let mut samples = SampleGenerator::new(&mut prover).of(&terms, &[], limit, 0);
    samples.sort_by_cached_key(|value| document::size(value).unwrap_or(usize::MAX));
    let mut seen = HashSet::new();
    samples.retain(|value| seen.insert(canonical(value)));
    samples.into_iter().filter_map(|value| Some(referee.confirm(value)?.value)).collect()
}

/// A value that a schema allows. `None` if none was found, such as for a schema that allows none.
pub fn example(schema: &Value) -> Option<Value> {
    match decide(&Value::Bool(false), schema) {
        Containment::Refuted(example) => Some(example.value),
        Containment::Proven | Containment::Undecided(_) => None,
    }
}

/// Confirms that `narrow` allows a value and `wide` refuses it. `None` if that is not so, or if a
/// schema cannot be read.
pub fn confirm(wide: &Value, narrow: &Value, value: Value) -> Option<Counterexample> {
    ValidatorPair::quick(wide, narrow)?.confirm(value)
}

/// The values that a schema without references allows. `None` if the schema cannot be read.
pub fn filter_allowed(schema: &Value, values: Vec<Value>) -> Option<Vec<Value>> {
    let validators = ValidatorPair::quick(&Value::Bool(false), schema)?;
    Some(values.into_iter().filter_map(|it| Some(validators.confirm(it)?.value)).collect())
}

/// Whether a format constrains texts. Every text has an unknown format.
pub fn is_constraint(format: &str) -> bool {
    string_validators::is_known_format(document::Dialect::Draft2020, format)
}

/// The place where the proof failed, as a sentence.
fn doubt(prover: &Prover<'_>) -> String {
    match prover.doubt() {
        Some((path, keyword)) => {
            let place = path.iter().flat_map(|part| ["/", part.as_str()]).collect::<String>();
            let place = if place.is_empty() { place } else { format!(" at `{place}`") };
            format!(
                "no value was found that `{keyword}`{place} refuses, and no proof that there is none"
            )
        }
        None => "no value was found that is refused, and no proof that there is none".to_owned(),
    }
}
