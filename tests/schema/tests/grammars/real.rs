//! What llguidance and llama.cpp make of grammars.

use std::io::Write as _;
use std::process::{Command, Stdio};

use gramc_grammar::Syntax;
use gramc_language_tests::campaign;
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::rng::Rng;
use gramc_schema_tests::gbnf::Gbnf;
use gramc_schema_tests::instances::{instance, spoilt};
use serde_json::{Number, Value, json};

use super::{DEPTH, Subject, checked, print, real_modules};

/// How many texts of each kind are tried for each tool.
const TEXTS: usize = 8;

/// The keys of undeclared properties in random values.
const ADDED: [&str; 4] = ["\"added\":", "\"other\":", "\"a\":", "\"low\":"];

/// What the engines answer differently, one line each.
fn disagreements(cases: &[Value]) -> Vec<String> {
    let root = gramc_language_tests::root();
    let installed = root.join(".tools/llama/llguidance").exists();
    assert!(installed, "the engines are not installed; `tests/real/install` installs them");
    let mut child = Command::new(root.join(".tools/python/bin/python"))
        .arg(root.join("tests/real/grammars.py"))
        .env("PYTHONPATH", root.join(".tools/llama"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: Vec<String> = cases.iter().map(ToString::to_string).collect();
    let text = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// A value with integers written as such.
fn canonical(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 1e15) {
                #[expect(clippy::cast_possible_truncation, reason = "it is a small integer")]
                let whole = whole as i64;
                *number = Number::from(whole);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(canonical),
        Value::Object(map) => map.values_mut().for_each(canonical),
        _ => {}
    }
}

/// The grammars of a tool, with texts that are its sentences and texts that are not.
fn case(subject: &Subject, rng: &mut Rng) -> Option<Value> {
    let grammar = subject.grammar.as_ref().ok()?;
    let gbnf = grammar.print(Syntax::Gbnf);
    let read = Gbnf::read(&gbnf).unwrap();
    let mut valid: Vec<String> = (0..TEXTS).map(|_| read.sentence(rng, DEPTH)).collect();
    let mut invalid = Vec::new();
    let composed = subject.schema.to_string().contains("Of\":");
    for _ in 0..TEXTS {
        let mut value = instance(rng, &subject.schema, &subject.schema, 6);
        canonical(&mut value);
        let text = value.to_string();
        match subject.judge(&text) {
            // What is not lost can be derived, apart from what the host sets, and what is not
            // declared, which the check keeps next to unions.
            Ok(()) if composed && ADDED.iter().any(|key| text.contains(key)) => {}
            Ok(()) if subject.hidden.iter().any(|name| value.get(name).is_some()) => {}
            Ok(()) if grammar.losses().is_empty() => valid.push(text),
            Ok(()) => {}
            Err(_) => invalid.push(text),
        }
        spoilt(rng, &mut value);
        let text = value.to_string();
        if subject.judge(&text).is_err() {
            invalid.push(text);
        }
    }
    Some(json!({
        // The schema shows what an answer is about.
        "name": format!("{} {}", subject.name, subject.schema),
        "gbnf": gbnf,
        "lark": grammar.print(Syntax::Lark),
        "valid": valid,
        "invalid": invalid,
    }))
}

fn assert_agreement(subjects: &[Subject], salt: u64) {
    let mut rng = Rng::new(campaign::seed().wrapping_add(salt));
    let cases: Vec<Value> = subjects.iter().filter_map(|it| case(it, &mut rng)).collect();
    let texts = |key: &str| -> usize {
        cases.iter().filter_map(|case| case[key].as_array()).map(Vec::len).sum()
    };
    let (valid, invalid) = (texts("valid"), texts("invalid"));
    eprintln!("{} grammars, {valid} valid and {invalid} invalid calls", cases.len());
    let few = cases.len();
    assert!(valid > few * TEXTS && invalid > few, "{valid} valid, {invalid} invalid");
    let wrong = disagreements(&cases);
    let shown: Vec<&String> = wrong.iter().take(20).collect();
    assert!(wrong.is_empty(), "{} disagreements: {shown:#?}", wrong.len());
}

#[test]
fn engines_take_the_grammars_of_real_tools() {
    let modules = real_modules();
    let subjects: Vec<Subject> = modules.iter().flat_map(Subject::of_module).collect();
    assert_agreement(&subjects, 75);
}

#[test]
fn engines_take_the_grammars_of_random_tools() {
    let seed = campaign::seed().wrapping_add(76);
    let subjects: Vec<Subject> = (0..300)
        .flat_map(|case| {
            let mut rng = Rng::for_case(seed, case);
            let text = print(&Modules::new(&mut rng, Numbers::Exact).one_tool());
            checked(text).iter().flat_map(Subject::of_module).collect::<Vec<_>>()
        })
        .collect();
    assert_agreement(&subjects, 77);
}

#[test]
fn engines_take_the_grammars_of_large_schemas() {
    assert_agreement(&super::large::subjects(), 78);
}

#[test]
fn a_wrong_answer_is_noticed() {
    let gbnf = "root ::= \"{\" [0-9]{1,2} \"}\"\n";
    let lark = "start: \"{\" DIGITS \"}\"\nDIGITS: /[0-9]{1,2}/\n";
    let case = |valid: Value, invalid: Value| json!({"name": "digits", "gbnf": gbnf, "lark": lark, "valid": valid, "invalid": invalid});
    let right = case(json!(["{1}", "{12}"]), json!(["{", "{}", "{123}", "{1}}", ""]));
    let wrong = case(json!(["{123}"]), json!(["{1}"]));
    let broken = json!({"name": "broken", "gbnf": "root ::= x", "lark": "start: X", "valid": [],
        "invalid": []});
    assert_eq!(disagreements(&[right]), [""; 0]);
    let said = disagreements(&[wrong, broken]);
    let begins: Vec<&str> = said.iter().map(|it| it.split(" a ").next().unwrap()).collect();
    assert!(said.len() == 6 && said[4..].iter().all(|it| it.contains("of broken")), "{said:?}");
    assert_eq!(
        begins[..4],
        ["llguidance refuses", "llguidance accepts", "llama.cpp refuses", "llama.cpp accepts"]
    );
}
