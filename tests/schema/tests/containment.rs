//! Whether schemas allow what others allow: on random pairs, a proof is never contradicted by a
//! value, and what is said to be a counterexample is one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod edited;
mod edits;
mod relatives;
mod tools;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gramc_json_schema::containment::{Containment, Counterexample, decide};
use gramc_language_tests::campaign;
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::rng::Rng;
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use gramc_schema_tests::instances;
use gramc_schema_tests::schemas::Schemas;
use jsonschema::Validator;
use serde_json::Value;

/// How many values are tried against each proof.
const VALUES: usize = 200;

/// How many values are made for that at most, since not each of them fits.
const ATTEMPTS: usize = 600;

/// How long one answer may take.
const MAX_TIME: Duration = Duration::from_secs(5);

/// How many faults each thread reports before it stops.
const MAX_FAULTS: usize = 3;

/// What was said of the pairs.
#[derive(Debug, Default)]
struct Verdicts {
    yes: usize,
    no: usize,
    undecided: usize,
    /// Values that were tried against proofs.
    values: usize,
    /// Why nothing was said.
    reasons: BTreeMap<String, usize>,
    /// The longest time that an answer took, and its pair.
    slowest: (Duration, String),
    faults: Vec<String>,
}

impl Verdicts {
    fn merge(&mut self, other: Self) {
        self.yes += other.yes;
        self.no += other.no;
        self.undecided += other.undecided;
        self.values += other.values;
        self.faults.extend(other.faults);
        self.slowest = std::mem::take(&mut self.slowest).max(other.slowest);
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
    }
}

fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options().should_validate_formats(true);
    options.build(schema).unwrap_or_else(|error| panic!("{error}\n{schema}"))
}

/// Asks about one pair, and looks for what contradicts the answer.
fn look(
    rng: &mut Rng,
    wide: &Value,
    narrow: &Value,
    verdicts: &mut Verdicts,
) -> Result<(), String> {
    let pair = || format!("wide: {wide}\nnarrow: {narrow}");
    let start = Instant::now();
    let answer = decide(wide, narrow);
    let took = start.elapsed();
    if took > verdicts.slowest.0 {
        verdicts.slowest = (took, pair());
    }
    match answer {
        Containment::Proven => {
            verdicts.yes += 1;
            let (accepts, gives) = (validator(wide), validator(narrow));
            let mut tried = 0;
            for _ in 0..ATTEMPTS {
                let value = instances::instance(rng, narrow, narrow, 6);
                if !gives.is_valid(&value) {
                    continue;
                }
                if !accepts.is_valid(&value) {
                    return Err(format!("yes, and there is {value}\n{}", pair()));
                }
                tried += 1;
                if tried == VALUES {
                    break;
                }
            }
            verdicts.values += tried;
        }
        Containment::Refuted(Counterexample { value, pointer, .. }) => {
            verdicts.no += 1;
            if validator(wide).is_valid(&value) || !validator(narrow).is_valid(&value) {
                return Err(format!("no, and {value} is no counterexample\n{}", pair()));
            }
            if value.pointer(&pointer).is_none() {
                return Err(format!("no, and {value} has no {pointer}\n{}", pair()));
            }
        }
        Containment::Undecided(why) => {
            verdicts.undecided += 1;
            *verdicts.reasons.entry(format!("{why}\n{}\n", pair())).or_default() += 1;
        }
    }
    Ok(())
}

/// Asks about many pairs of a schema and a relative of it, in both directions.
fn ask(cases: usize, make: impl Fn(&mut Rng) -> Option<Value> + Sync) -> Verdicts {
    let seed = campaign::seed().wrapping_add(7);
    let found = campaign::each_thread(|first, step| {
        let mut verdicts = Verdicts::default();
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let Some(schema) = make(&mut rng) else { continue };
            let relative = relatives::relative(&mut rng, &schema);
            for (wide, narrow) in [(&schema, &relative), (&relative, &schema)] {
                if let Err(fault) = look(&mut rng, wide, narrow, &mut verdicts) {
                    verdicts.faults.push(format!("case {case}: {fault}"));
                }
            }
            if verdicts.faults.len() >= MAX_FAULTS {
                break;
            }
        }
        verdicts
    });
    let mut all = Verdicts::default();
    for verdicts in found {
        all.merge(verdicts);
    }
    assert!(all.faults.is_empty(), "seed {seed}:\n{}", all.faults.join("\n\n"));
    all
}

/// Fails where more than `percent` of the pairs are undecided, with some of them.
fn assert_decided(verdicts: &Verdicts, percent: usize) {
    let Verdicts { yes, no, undecided, values, .. } = verdicts;
    let counts = format!("{yes} yes, {no} no, {undecided} undecided, {values} values");
    let total = yes + no + undecided;
    let (took, pair) = &verdicts.slowest;
    eprintln!("{counts}, slowest {took:?}:\n{pair}");
    assert!(*took < MAX_TIME, "{took:?}:\n{pair}");
    let reasons: Vec<&str> = verdicts.reasons.keys().take(5).map(String::as_str).collect();
    assert!(*yes > total / 10 && *no > total / 10, "{counts}");
    assert!(undecided * 100 <= total * percent, "{counts}\n{}", reasons.join("\n"));
}

/// The schema of the parameters of a random tool, or of its result.
fn own(rng: &mut Rng) -> Option<Value> {
    let parameters = rng.chance(70);
    let module = Modules::new(rng, Numbers::Doubles).one_tool();
    let tool = &module.tools[0];
    // Types by pattern next to types of all other fields are undecided more often; schemas of
    // servers have them.
    let plain = |schema: &Value| !schema.to_string().contains("patternProperties");
    if parameters {
        return serde_json::to_value(ParameterSchema::new(&module.types, tool)).ok().filter(plain);
    }
    ResultSchema::new(&module.types, tool)
        .and_then(|schema| serde_json::to_value(schema).ok())
        .filter(plain)
}

/// The schema of a tool as servers write it.
fn foreign(rng: &mut Rng, wild: bool) -> Option<Value> {
    let tool = Schemas::new(rng).wild(wild).tool();
    // Some references are no URIs, as in real ones. No validator reads these.
    tool.get("inputSchema").filter(|schema| jsonschema::validator_for(schema).is_ok()).cloned()
}

fn cases() -> usize {
    campaign::cases() / 10
}

#[test]
fn answers_about_our_own_types_hold() {
    assert_decided(&ask(cases(), own), 1);
}

#[test]
fn answers_about_the_schemas_of_servers_hold() {
    assert_decided(&ask(cases(), |rng| foreign(rng, false)), 2);
}

#[test]
fn answers_about_wild_schemas_hold() {
    assert_decided(&ask(cases(), |rng| foreign(rng, true)), 4);
}

#[test]
fn a_schema_covers_itself() {
    let seed = campaign::seed().wrapping_add(8);
    for case in 0..cases() / 4 {
        let Some(schema) = own(&mut Rng::for_case(seed, case)) else { continue };
        assert_eq!(decide(&schema, &schema), Containment::Proven, "case {case}: {schema}");
    }
}
