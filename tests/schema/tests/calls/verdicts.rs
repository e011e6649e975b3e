//! Without repair, the check accepts exactly what a validator of JSON Schema accepts.

use gramc_language_tests::campaign;
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::rng::Rng;
use gramc_schema_tests::arguments::{STRICT, has_two_values};
use gramc_schema_tests::instances::{instance, spoilt};
use serde_json::Value;

use super::spelled::spelled;
use super::{Counts, Judges, foreign, run, told, without_host};

/// How many arguments each schema is asked about.
const VALUES: usize = 16;

/// Asks both judges about a text.
pub(crate) fn compare(judges: &Judges, text: &str, counts: &mut Counts) {
    let value: Value = serde_json::from_str(text).unwrap();
    if has_two_values(text) {
        counts.add("two values of a name");
        return;
    }
    let valid = judges.referee.is_valid(&value);
    let checked = judges.check.check(text, STRICT);
    counts.add(if valid { "valid" } else { "not valid" });
    let fits = judges.check.fits(text).is_ok();
    if checked.is_ok() == valid && fits == valid {
        return;
    }
    // Numbers are compared as doubles where they are not small and whole; the referee reckons
    // exactly.
    if beyond_doubles(&value) || beyond_doubles(&judges.schema) {
        counts.add("beyond doubles");
        return;
    }
    let errors: Vec<_> = judges.referee.iter_errors(&value).map(|e| e.to_string()).collect();
    let schema = &judges.schema;
    counts.faults.push(format!(
        "valid: {valid}, checked: {}, fits: {fits}\n{text}\n{errors:?}\n{schema}",
        told(&checked)
    ));
}

/// Whether a value holds a number that no double holds exactly enough.
pub(crate) fn beyond_doubles(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
            let exponent: i64 = exponent.parse().unwrap_or(1_000);
            let count = digits.bytes().filter(u8::is_ascii_digit).count();
            count > 15 || exponent.abs() > 290
        }
        Value::Array(items) => items.iter().any(beyond_doubles),
        Value::Object(map) => map.values().any(beyond_doubles),
        _ => false,
    }
}

fn assert_enough(counts: &Counts, pairs: usize) {
    let (valid, not_valid) = (counts.of("valid"), counts.of("not valid"));
    let beyond = counts.of("beyond doubles");
    assert!(beyond < 5 + pairs / 500, "{beyond} are beyond doubles");
    assert!(valid > pairs / 5 && not_valid > pairs / 5, "{valid} valid, {not_valid} not valid");
}

/// Random arguments for a random schema: like what fits, and half of them with something changed.
pub(crate) fn ask(rng: &mut Rng, judges: &Judges, values: usize, counts: &mut Counts) {
    for _ in 0..values {
        let mut value = instance(rng, &judges.schema, &judges.schema, 6);
        if rng.chance(40) {
            spoilt(rng, &mut value);
        }
        let text = spelled(rng, &value);
        compare(judges, &text, counts);
    }
}

#[test]
fn calls_of_random_tools_are_judged_by_their_schemas() {
    let cases = campaign::cases() / 10;
    let counts = run(cases, 21, |rng, counts| {
        let mut maker = rng.clone();
        let mut modules = Modules::new(&mut maker, Numbers::Exact);
        let mut module = modules.one_tool();
        without_host(&mut module);
        let judges = Judges::of_tool(&module);
        for _ in 0..VALUES / 2 {
            let Some(mut arguments) = modules.arguments(&module.tools[0]) else { break };
            if rng.chance(30) {
                modules.try_attributes(&module.tools[0].parameters, &mut arguments);
            }
            let mut arguments = Value::Object(arguments);
            if rng.chance(40) {
                modules.change(&mut arguments);
            }
            let text = spelled(rng, &arguments);
            compare(&judges, &text, counts);
        }
        ask(rng, &judges, VALUES / 2, counts);
    });
    assert_enough(&counts, cases * VALUES);
}

#[test]
fn calls_of_the_tools_of_servers_are_judged_by_their_schemas() {
    let cases = campaign::cases() / 20;
    let counts = run(cases, 22, |rng, counts| {
        let Some(judges) = foreign(rng, false).and_then(Judges::of_schema) else { return };
        ask(rng, &judges, VALUES, counts);
    });
    assert_enough(&counts, cases * VALUES * 3 / 4);
}

#[test]
fn calls_of_wild_tools_are_judged_by_their_schemas() {
    let cases = campaign::cases() / 20;
    let counts = run(cases, 23, |rng, counts| {
        let Some(judges) = foreign(rng, true).and_then(Judges::of_schema) else { return };
        ask(rng, &judges, VALUES, counts);
    });
    assert_enough(&counts, cases * VALUES * 3 / 4);
}

#[test]
fn values_are_judged_by_schemas_of_all_kinds() {
    let cases = campaign::cases() / 20;
    let counts = run(cases, 24, |rng, counts| {
        let wild = rng.chance(50);
        let schema = gramc_schema_tests::schemas::Schemas::new(rng).wild(wild).schema();
        let Some(judges) = Judges::of_schema(schema) else { return };
        ask(rng, &judges, VALUES, counts);
    });
    assert_enough(&counts, cases * VALUES * 3 / 4);
}
