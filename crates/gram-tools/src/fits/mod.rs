//! Whether an implementation takes all that a specification allows, and gives back nothing else.
//!
//! Both say what they take as JSON Schemas. [`covers`] answers with a proof, with a value that
//! shows the difference, or not at all; a yes is never presumed.

mod accept;
mod branch;
mod divide;
mod document;
mod number;
mod objects;
mod prove;
mod referee;
mod samples;
mod texts;
mod within;

#[cfg(test)]
mod tests;

use serde_json::Value;

use branch::Term;
use document::{Document, Side};
use prove::Prover;
use referee::Referee;
use samples::Samples;

/// Whether one schema allows all that another one allows.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// It does; that is proven.
    Yes,
    /// It does not: here is a value.
    No(Counterexample),
    /// Neither was found. Why, in a sentence.
    Undecided(String),
}

/// A value that the narrow schema allows and the wide one does not. Validators say both.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    /// The value.
    pub value: Value,
    /// Where in the value the difference lies: a JSON pointer, empty for the whole value.
    pub pointer: String,
    /// What the wide schema wants there.
    pub why: String,
}

/// How many values are tried.
const MAX_SAMPLES: usize = 3_000;

/// How large two schemas may be together, in values, to be reckoned with as wholes. What reckons
/// so may take time that grows fast with the size.
const MAX_RECKONED: usize = 1_500;

/// How deep those may nest.
const MAX_RECKONED_DEPTH: usize = 64;

/// Whether everything that `narrow` allows is allowed by `wide`. Both are JSON Schemas of draft
/// 2020-12 or, where `$schema` says so, of draft 7, with formats checked. Nothing is fetched: a
/// schema that refers to another document is undecided.
///
/// The work is bounded for schemas of any size and depth.
pub fn covers(wide: &Value, narrow: &Value) -> Fit {
    let (Some(wide_size), Some(narrow_size)) = (document::size(wide), document::size(narrow))
    else {
        return Fit::Undecided(format!(
            "a schema nests more than {} levels deep, or holds more than {} values",
            document::MAX_DEPTH,
            document::MAX_SIZE
        ));
    };
    let (Some(wide_document), Some(narrow_document)) = (Document::of(wide), Document::of(narrow))
    else {
        return Fit::Undecided("the `$schema` of a schema is not known here".to_owned());
    };
    for document in [&wide_document, &narrow_document] {
        if let Some(fault) = referee::fault(document.dialect, document.root) {
            return Fit::Undecided(fault);
        }
    }
    let mut prover = Prover::new(wide_document, narrow_document);
    let terms = [Term::Schema(Side::Narrow, narrow)];
    if prover.covered(&terms, Side::Wide, wide) {
        return Fit::Yes;
    }
    let referee = match Referee::new(wide, narrow) {
        Ok(referee) => referee,
        Err(why) => return Fit::Undecided(why),
    };
    let given_up = prover.stopped().is_some();
    let why = prover.stopped().map_or_else(|| doubt(&prover), str::to_owned);
    prover.refresh();
    let hints = [vec![Term::Schema(Side::Wide, wide)]];
    let samples = Samples::new(&mut prover).of(&terms, &hints, MAX_SAMPLES, 0);
    let found = samples.into_iter().find_map(|value| referee.confirm(value));
    if let Some(counterexample) = found {
        return Fit::No(counterexample);
    }
    // What is endless or huge is not reckoned with either.
    let small = !given_up
        && wide_size + narrow_size <= MAX_RECKONED
        && document::is_flat(wide, MAX_RECKONED_DEPTH)
        && document::is_flat(narrow, MAX_RECKONED_DEPTH);
    if small && referee::proves(wide, narrow) { Fit::Yes } else { Fit::Undecided(why) }
}

/// Where the proof failed, as a sentence.
fn doubt(prover: &Prover<'_>) -> String {
    match prover.doubt() {
        Some((place, keyword)) => {
            let place = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
            format!(
                "no value was found that `{keyword}`{place} refuses, and no proof that there is none"
            )
        }
        None => "no value was found that is refused, and no proof that there is none".to_owned(),
    }
}
