//! Repairs are sound: what they let through is valid, what was valid stays as it was, and what
//! comes out needs no second repair.

use gramc_calls::check::{InvalidArguments, Policy, ProblemCode, Rejection, ToolCheck, Undeclared};
use gramc_language_tests::campaign;
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::reading::equal;
use gramc_language_tests::rng::Rng;
use gramc_model::ValueSource;
use gramc_schema_tests::arguments;
use gramc_schema_tests::instances::instance;
use serde_json::{Map, Value};

use super::rough::{Style, roughened};
use super::verdicts::beyond_doubles;
use super::{Counts, Judges, foreign, run, told, without_host};

/// How many arguments each schema is asked about.
const VALUES: usize = 12;

const ALL: [Undeclared; 4] =
    [Undeclared::Strip, Undeclared::Reject, Undeclared::Keep, Undeclared::Schema];

pub(crate) fn policy(rng: &mut Rng) -> Policy {
    Policy { correct_names: rng.chance(30), undeclared: ALL[rng.below(4)], ..Policy::default() }
}

/// Whether `after` is `before` with nothing but entries left out and others filled in.
fn kept(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => before
            .iter()
            .all(|(key, before)| after.get(key).is_none_or(|after| kept(before, after))),
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(b, a)| kept(b, a))
        }
        (before, after) => equal(before, after),
    }
}

fn is_of_undeclared(invalid: &InvalidArguments) -> bool {
    invalid.problems().iter().all(|problem| problem.code == ProblemCode::UnknownField)
}

/// What a call of arguments that are valid as they are comes to.
fn valid_stays(judges: &Judges, text: &str, policy: Policy) -> Result<(), String> {
    let before: Value = serde_json::from_str(text).unwrap();
    let accepted = match judges.check.check(text, policy) {
        Ok(accepted) => accepted,
        // Undeclared arguments may be refused on demand.
        Err(_) if policy.undeclared == Undeclared::Reject => return Ok(()),
        // Undeclared arguments that may be meant for declared ones are refused.
        Err(Rejection::Invalid(invalid)) if is_of_undeclared(&invalid) => return Ok(()),
        refused => return Err(format!("it is valid, and refused: {}", told(&refused))),
    };
    let after: Value = serde_json::from_str(&accepted.arguments).unwrap();
    let whole = |repair: &gramc_calls::check::Repair| repair.rule.name() == "whole-number";
    // A host that has names corrected means those, too, that could be meant as they are.
    if !policy.correct_names && !accepted.repairs.iter().all(whole) {
        return Err(format!("it is valid, and repaired: {:?}", accepted.repairs));
    }
    if !kept(&before, &after) {
        return Err(format!("it was valid, and became {after}"));
    }
    Ok(())
}

/// Whether some default is declared anywhere in a schema; if asked for, one with parts.
fn has_default(schema: &Value, with_parts: bool) -> bool {
    let here = |value: &Value| !with_parts || value.is_object() || value.is_array();
    match schema {
        Value::Object(map) => {
            map.get("default").is_some_and(here)
                || map.values().any(|below| has_default(below, with_parts))
        }
        Value::Array(items) => items.iter().any(|below| has_default(below, with_parts)),
        _ => false,
    }
}

/// What is wrong with the answer to a text. Two kinds of schemas are not asked twice. A default that
/// is a list or an object is handed over as the specification says it; sent back, it may gain
/// defaults of its own and lose what is undeclared. And where an object needs some entries, what
/// is undeclared is kept if it is needed; sent back, a default may do in its place.
fn fault(judges: &Judges, text: &str, policy: Policy) -> Option<String> {
    let fault = arguments::fault(&judges.check, &judges.referee, text, policy)?;
    let schema = &judges.schema;
    let counted = has_default(schema, false) && schema.to_string().contains("\"minProperties\"");
    let again = fault.starts_with("the second time") && (has_default(schema, true) || counted);
    (!again).then_some(fault)
}

fn look(rng: &mut Rng, judges: &Judges, value: &Value, counts: &mut Counts) {
    if beyond_doubles(value) || beyond_doubles(&judges.schema) {
        return;
    }
    let text = value.to_string();
    let valid = judges.referee.is_valid(value);
    let complain = |what: String, text: &str, policy: Policy| {
        format!("{what}\n{policy:?}\n{text}\n{}", judges.schema)
    };
    if valid {
        counts.add("valid");
        let policy = policy(rng);
        if let Err(what) = valid_stays(judges, &text, policy) {
            counts.faults.push(complain(what, &text, policy));
        }
        let keep = Policy { undeclared: Undeclared::Keep, ..Policy::default() };
        let known = judges.schema.get("properties").and_then(Value::as_object);
        let takes_nothing = known.is_none_or(Map::is_empty);
        if !has_default(&judges.schema, false) && !takes_nothing {
            let after = judges.check.check(&text, keep).map(|accepted| accepted.arguments);
            let same = after.is_ok_and(|json| equal(&serde_json::from_str(&json).unwrap(), value));
            if !same {
                counts.faults.push(complain("it is not kept".to_owned(), &text, keep));
            }
        }
    }
    let policy = policy(rng);
    if let Some(what) = fault(judges, &text, policy) {
        counts.faults.push(complain(what, &text, policy));
    }
    if !valid {
        return;
    }
    let expected = judges.check.check(&text, Policy::default());
    let rough = roughened(rng, &judges.schema, &judges.schema, value, 25).to_string();
    counts.add("rough");
    judge_rough(judges, &rough, &expected, counts, ["rough accepted", "rough told"]);
    let style = Style::random(rng);
    let text = style.text(rng, value);
    counts.add("texts");
    judge_rough(judges, &text, &expected, counts, ["texts accepted", "texts told"]);
    for text in [rough, text] {
        if let Some(what) = fault(judges, &text, policy) {
            counts.faults.push(complain(what, &text, policy));
        }
    }
}

/// Counts whether a roughened call is accepted, and comes to what the call as it should be does.
fn judge_rough(
    judges: &Judges,
    text: &str,
    expected: &Result<gramc_calls::check::Accepted, gramc_calls::check::Rejection>,
    counts: &mut Counts,
    [accepted, same]: [&'static str; 2],
) {
    let found = judges.check.check(text, Policy::default());
    let Ok(found) = found else {
        counts.samples.push(format!("{}\n{text}\n{}", told(&found), judges.schema));
        return;
    };
    counts.add(accepted);
    let Ok(expected) = expected else { return };
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
    if equal(&value(&found.arguments), &value(&expected.arguments)) {
        counts.add(same);
    } else {
        counts
            .samples
            .push(format!("told otherwise: {text}\n{}\n{}", found.arguments, judges.schema));
    }
}

/// Fails where too few of the roughened calls are understood.
fn assert_understood(counts: &Counts, least: usize) {
    if std::env::var_os("GRAMC_SAMPLES").is_some() {
        for sample in &counts.samples {
            eprintln!("{sample}\n");
        }
    }
    for [all, some] in [
        ["rough", "rough accepted"],
        ["rough", "rough told"],
        ["texts", "texts accepted"],
        ["texts", "texts told"],
    ] {
        let percent = counts.of(some) * 100 / counts.of(all).max(1);
        eprintln!("{some}: {percent} % of {}", counts.of(all));
        assert!(counts.of(all) > 100, "{all}: {}", counts.of(all));
        assert!(percent >= least, "{some}: {percent} % of {}", counts.of(all));
    }
}

#[test]
fn calls_of_random_tools_are_repaired_soundly() {
    let cases = campaign::cases() / 20;
    let counts = run(cases, 31, |rng, counts| {
        let mut maker = rng.clone();
        let mut modules = Modules::new(&mut maker, Numbers::Doubles);
        let mut module = modules.one_tool();
        without_host(&mut module);
        let judges = Judges::of_tool(&module);
        for _ in 0..VALUES {
            let Some(mut arguments) = modules.arguments(&module.tools[0]).map(Value::Object) else {
                break;
            };
            if rng.chance(20) {
                modules.change(&mut arguments);
            }
            look(rng, &judges, &arguments, counts);
        }
    });
    assert_understood(&counts, 80);
}

#[test]
fn calls_of_the_tools_of_servers_are_repaired_soundly() {
    let cases = campaign::cases() / 20;
    let counts = run(cases, 32, |rng, counts| {
        let Some(judges) = foreign(rng, false).and_then(Judges::of_schema) else { return };
        for _ in 0..VALUES {
            let value = instance(rng, &judges.schema, &judges.schema, 6);
            look(rng, &judges, &value, counts);
        }
    });
    assert_understood(&counts, 80);
}

#[test]
fn calls_of_wild_tools_are_repaired_soundly() {
    let cases = campaign::cases() / 20;
    let counts = run(cases, 33, |rng, counts| {
        let Some(judges) = foreign(rng, true).and_then(Judges::of_schema) else { return };
        for _ in 0..VALUES {
            let value = instance(rng, &judges.schema, &judges.schema, 6);
            look(rng, &judges, &value, counts);
        }
    });
    assert_understood(&counts, 70);
}

/// What the host does with parameters: pinned values come in, injected ones never do.
#[test]
fn what_the_host_owns_is_filled_in() {
    let cases = campaign::cases() / 20;
    run(cases, 34, |rng, counts| {
        let mut maker = rng.clone();
        let mut modules = Modules::new(&mut maker, Numbers::Doubles);
        let module = modules.one_tool();
        let tool = &module.tools[0];
        let check = ToolCheck::of_tool(&module.types, tool).unwrap();
        for _ in 0..VALUES {
            let Some(arguments) = modules.arguments(tool).map(Value::Object) else { break };
            let text = Style::random(rng).text(rng, &arguments);
            let Ok(accepted) = check.check(&text, Policy::default()) else { continue };
            counts.add("accepted");
            let found: Value = serde_json::from_str(&accepted.arguments).unwrap();
            for parameter in &tool.parameters {
                let here = found.get(parameter.name.as_str());
                let fits = match &parameter.source {
                    ValueSource::Pinned(value) => here.is_some_and(|here| equal(here, value)),
                    ValueSource::Injected => here.is_none(),
                    ValueSource::Model => true,
                };
                if !fits {
                    counts.faults.push(format!(
                        "{}: {text}\n{found}\n{}",
                        parameter.name,
                        gramc_model::print::print(&module)
                    ));
                }
            }
        }
    });
}
