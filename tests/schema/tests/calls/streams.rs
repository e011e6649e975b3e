//! Calls that arrive in pieces: the verdict is that of the whole text, the certain part grows into
//! the arguments, and an error is never premature.

use gramc_calls::check::{Accepted, ArgumentStream, Policy, Rejection, ToolCheck};
use gramc_language_tests::campaign;
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::reading::equal;
use gramc_language_tests::rng::Rng;
use gramc_schema_tests::instances::{instance, spoilt};
use serde_json::{Map, Value};

use super::repairs::policy;
use super::rough::{Style, roughened};
use super::verdicts::beyond_doubles;
use super::{Counts, foreign, run};

/// How many calls of each tool are checked.
const VALUES: usize = 12;

/// How many continuations of a text with an error are checked.
const CONTINUATIONS: usize = 12;

/// Pieces that texts are continued with.
const PIECES: [&str; 18] = [
    "}",
    "]",
    "}}",
    "\"",
    "\"}",
    "'",
    ",",
    ":",
    " // x\n",
    "# x\n",
    "```",
    "null",
    "1",
    "\n",
    "\\",
    "{\"a\": 1}",
    ", \"x\": 1}",
    " and so on",
];

/// A verdict with everything that a caller can see of it.
fn full(verdict: &Result<Accepted, Rejection>) -> String {
    match verdict {
        Err(Rejection::Invalid(invalid)) => {
            let arguments = invalid.valid_arguments();
            format!("{:?} {arguments:?} {:?}", invalid.problems(), invalid.count())
        }
        other => format!("{other:?}"),
    }
}

/// What is wrong with a certain part, after an earlier one.
fn growth_fault(before: &Map<String, Value>, after: &Map<String, Value>) -> Option<String> {
    before.iter().find_map(|(name, before)| {
        let grows = match (before, after.get(name)) {
            (Value::String(before), Some(Value::String(after))) => after.starts_with(before),
            (before, Some(after)) => equal(before, after),
            (_, None) => false,
        };
        (!grows).then(|| format!("`{name}` was {before} and is {:?}", after.get(name)))
    })
}

/// The text of another call, and pieces of it, after a prefix.
fn continuation(rng: &mut Rng, prefix: &str, others: &[String]) -> String {
    let mut text = prefix.to_owned();
    for _ in 0..=rng.below(3) {
        let other = &others[rng.below(others.len())];
        let mut at = rng.below(other.len() + 1);
        while !other.is_char_boundary(at) {
            at -= 1;
        }
        match rng.below(3) {
            0 => text.push_str(rng.pick(&PIECES)),
            1 => text.push_str(&other[at..]),
            // The entries of the other call.
            _ => {
                text.push(',');
                text.push_str(other.trim_start_matches('{'));
            }
        }
    }
    text
}

fn look(
    rng: &mut Rng,
    check: &ToolCheck,
    text: &str,
    others: &[String],
    about: &str,
    counts: &mut Counts,
) {
    let (repair, complete) = (rng.chance(90), rng.chance(50));
    let policy = Policy { repair, complete, ..policy(rng) };
    let complain = |what: String, text: &str| format!("{what}\n{policy:?}\n{text}\n{about}");
    let mut stream = ArgumentStream::new(check, policy);
    let most = [1, 4, 20, 1_000][rng.below(4)];
    let (mut rest, mut value, mut error_at) = (text.as_bytes(), Map::new(), None);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rng.between(1, most).min(rest.len()));
        stream.feed_bytes(chunk);
        rest = after;
        let now = stream.value();
        counts.faults.extend(growth_fault(&value, &now).map(|what| complain(what, text)));
        value = now;
        if stream.error().is_some() && error_at.is_none() {
            error_at = Some(text.len() - rest.len());
        }
    }
    let whole = check.check(text, policy);
    let read = stream.text() == text;
    let streamed = stream.check(policy.complete);
    if !read || full(&streamed) != full(&whole) {
        let what = format!("the verdict differs: {}\n{}", full(&streamed), full(&whole));
        counts.faults.push(complain(what, text));
    }
    if let Ok(accepted) = &whole {
        let arguments: Map<String, Value> = serde_json::from_str(&accepted.arguments).unwrap();
        counts.add("accepted");
        counts.add(if value.is_empty() { "accepted, nothing shown" } else { "accepted, shown" });
        counts.faults.extend(growth_fault(&value, &arguments).map(|what| complain(what, text)));
    }
    let Some(at) = error_at else {
        if matches!(whole, Err(Rejection::Invalid(_))) {
            counts.add("invalid, told at the end");
        }
        return;
    };
    counts.add(if at < text.len() {
        "invalid, told before the end"
    } else {
        "invalid, told at the end"
    });
    if at * 2 <= text.len() {
        counts.add("invalid, told in the first half");
    }
    if whole.is_ok() {
        counts.faults.push(complain(format!("an error after {at} bytes"), text));
    }
    let mut at = at;
    while !text.is_char_boundary(at) {
        at += 1;
    }
    for _ in 0..CONTINUATIONS {
        let text = continuation(rng, &text[..at], others);
        counts.add("continuations");
        if check.check(&text, policy).is_ok() {
            counts.faults.push(complain(format!("an error after {at} bytes"), &text));
        }
    }
}

/// Texts of a call: as it should be, with wrong values, roughened, and not quite JSON.
fn texts(rng: &mut Rng, schema: &Value, value: &Value) -> Vec<String> {
    let mut wrong = value.clone();
    spoilt(rng, &mut wrong);
    let rough = roughened(rng, schema, schema, value, 25);
    let rough_wrong = roughened(rng, schema, schema, &wrong, 25);
    let style = Style::random(rng);
    vec![
        value.to_string(),
        wrong.to_string(),
        rough.to_string(),
        rough_wrong.to_string(),
        style.text(rng, value),
        serde_json::to_string_pretty(&wrong).unwrap(),
    ]
}

fn look_at_values(
    rng: &mut Rng,
    check: &ToolCheck,
    schema: &Value,
    values: &[Value],
    counts: &mut Counts,
) {
    let values: Vec<_> = values.iter().filter(|value| !beyond_doubles(value)).collect();
    let all: Vec<_> = values.iter().flat_map(|value| texts(rng, schema, value)).collect();
    let about = schema.to_string();
    for text in &all {
        look(rng, check, text, &all, &about, counts);
    }
}

/// Fails where the tests have nothing to look at, or errors are found late.
fn assert_found(counts: &Counts) {
    let [early, late] = ["invalid, told before the end", "invalid, told at the end"];
    let (early, late) = (counts.of(early), counts.of(late));
    let percent = early * 100 / (early + late).max(1);
    eprintln!("{percent} % of {} invalid calls are rejected before their end", early + late);
    assert!(counts.of("accepted, shown") > 100 && early > 100, "{:?}", counts.of);
}

#[test]
fn calls_of_random_tools_arrive_in_pieces() {
    let counts = run(campaign::cases() / 20, 51, |rng, counts| {
        let mut maker = rng.clone();
        let mut modules = Modules::new(&mut maker, Numbers::Doubles);
        let module = modules.one_tool();
        let tool = &module.tools[0];
        let check = ToolCheck::of_tool(&module.types, tool).unwrap();
        let schema = gramc_schema::emit::ParameterSchema::new(&module.types, tool);
        let schema = serde_json::to_value(schema).unwrap();
        let arguments = (0..VALUES).map_while(|_| modules.arguments(tool).map(Value::Object));
        let values: Vec<_> = arguments.collect();
        look_at_values(rng, &check, &schema, &values, counts);
    });
    assert_found(&counts);
}

#[test]
fn calls_of_the_tools_of_servers_arrive_in_pieces() {
    let counts = run(campaign::cases() / 20, 52, |rng, counts| {
        let wild = rng.chance(30);
        let Some(schema) = foreign(rng, wild) else { return };
        let Ok(check) = ToolCheck::of_schema(&schema) else { return };
        let values: Vec<_> = (0..VALUES).map(|_| instance(rng, &schema, &schema, 6)).collect();
        look_at_values(rng, &check, &schema, &values, counts);
    });
    assert_found(&counts);
}
