//! The check of calls against a referee: verdicts, repairs, hostile arguments, and many calls at
//! once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod corpus;
mod damage;
mod hostile;
mod kept;
mod mutated;
mod real;
mod repairs;
mod repeats;
mod rough;
mod shared;
mod spelled;
mod streams;
mod verdicts;

use std::collections::BTreeMap;

use gramc_calls::check::{Accepted, Rejection, ToolCheck};
use gramc_language_tests::campaign;
use gramc_language_tests::rng::Rng;
use gramc_model::{Module, ValueSource};
use gramc_schema::emit::ParameterSchema;
use gramc_schema_tests::arguments::referee;
use gramc_schema_tests::schemas::Schemas;
use gramc_syntax::{SourceFile, parse};
use jsonschema::Validator;
use serde_json::Value;

/// How many faults each thread reports before it stops.
const MAX_FAULTS: usize = 3;

/// Both that judge by one schema.
struct Judges {
    schema: Value,
    check: ToolCheck,
    referee: Validator,
}

impl Judges {
    /// The judges of a module's first tool.
    fn of_tool(module: &Module) -> Self {
        let tool = &module.tools[0];
        let schema = ParameterSchema::new(&module.types, tool);
        let schema = serde_json::to_value(schema).unwrap();
        let referee = referee(&schema).unwrap_or_else(|error| panic!("{error}\n{schema}"));
        let check = ToolCheck::of_tool(&module.types, tool);
        let check = check.unwrap_or_else(|error| panic!("{error}\n{schema}"));
        Self { schema, check, referee }
    }

    /// The judges of a schema; none where it is none.
    fn of_schema(schema: Value) -> Option<Self> {
        let referee = referee(&schema).ok()?;
        let check = ToolCheck::of_schema(&schema);
        let check = check.unwrap_or_else(|error| panic!("{error}\n{schema}"));
        Some(Self { schema, check, referee })
    }
}

/// The check of the first tool of a text.
fn tool_check(text: &str) -> ToolCheck {
    let checked = gramc_check::check(&[parse(SourceFile::new("tool.gram", text))]);
    let module = checked.module.unwrap_or_else(|| panic!("{text}: {:?}", checked.diagnostics));
    ToolCheck::of_tool(&module.types, &module.tools[0]).unwrap()
}

/// Takes from a tool what the host does with its parameters.
fn without_host(module: &mut Module) {
    for parameter in &mut module.tools[0].parameters {
        parameter.source = ValueSource::Model;
    }
}

/// The schema of a tool as servers write it.
fn foreign(rng: &mut Rng, wild: bool) -> Option<Value> {
    Schemas::new(rng).wild(wild).tool().get("inputSchema").cloned()
}

/// An answer in few words.
fn told(answer: &Result<Accepted, Rejection>) -> String {
    match answer {
        Ok(accepted) => format!("{accepted:?}"),
        Err(Rejection::Malformed(malformed)) => malformed.to_string(),
        Err(Rejection::Invalid(invalid)) => {
            let messages = invalid.problems().into_iter().map(|problem| problem.message);
            messages.collect::<Vec<_>>().join("; ")
        }
    }
}

/// What many cases came to.
#[derive(Debug, Default)]
struct Counts {
    of: BTreeMap<&'static str, usize>,
    faults: Vec<String>,
    /// Some cases of what is not wrong, for people to look at.
    samples: Vec<String>,
}

impl Counts {
    fn add(&mut self, what: &'static str) {
        *self.of.entry(what).or_default() += 1;
    }

    fn of(&self, what: &str) -> usize {
        self.of.get(what).copied().unwrap_or_default()
    }
}

/// Runs cases on all cores, and fails with what is wrong in some.
fn run(cases: usize, salt: u64, look: impl Fn(&mut Rng, &mut Counts) + Sync) -> Counts {
    let seed = campaign::seed().wrapping_add(salt);
    let found = campaign::each_thread(|first, step| {
        let mut counts = Counts::default();
        for case in (first..cases).step_by(step) {
            let before = counts.faults.len();
            look(&mut Rng::for_case(seed, case), &mut counts);
            for fault in &mut counts.faults[before..] {
                fault.insert_str(0, &format!("case {case}: "));
            }
            if counts.faults.len() >= MAX_FAULTS {
                break;
            }
        }
        counts
    });
    let mut all = Counts::default();
    for counts in found {
        all.faults.extend(counts.faults);
        all.samples.extend(counts.samples);
        for (what, count) in counts.of {
            *all.of.entry(what).or_default() += count;
        }
    }
    // A list of many long cases is useless.
    all.samples.truncate(30);
    eprintln!("{:?}", all.of);
    assert!(all.faults.is_empty(), "seed {seed}:\n{}", all.faults.join("\n\n"));
    all
}
