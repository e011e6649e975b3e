//! Calls in the old form, adapted to edited tools: what is proven holds for random calls, and an example
//! shows what is refused.

#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use gramc_check::{Valid, check};
use gramc_diff::{adapt, diff};
use gramc_language_tests::rng::Rng;
use gramc_model::Module;
use gramc_schema::emit::ParameterSchema;
use gramc_schema_tests::instances::instance;
use gramc_syntax::{SourceFile, parse};
use serde_json::Value;

/// A parameter of a random tool.
#[derive(Clone)]
struct Parameter {
    name: String,
    ty: String,
    is_optional: bool,
}

const TYPES: [&str; 7] = [
    "Text",
    "Int {range: 1..30}",
    "Bool",
    "Number",
    "\"inProgress\" | \"done\"",
    "{city: Text, zip?: Text}",
    "{deep: {a: Int}, list: Text[]}",
];

fn parameters(rng: &mut Rng) -> Vec<Parameter> {
    let names = ["city", "count", "state", "place", "whenOpen"];
    let all = names.iter().take(1 + rng.below(names.len()));
    let new = |name: &&str| Parameter {
        name: (*name).to_owned(),
        ty: rng.pick(&TYPES).to_owned(),
        is_optional: rng.chance(30),
    };
    all.map(new).collect()
}

fn text(parameters: &[Parameter]) -> String {
    let signature = parameters.iter().map(|it| {
        let (type_text, attributes) = it.ty.split_once(" {range").unwrap_or((&it.ty, ""));
        let attributes =
            if attributes.is_empty() { String::new() } else { format!(" {{range{attributes}") };
        let mark = if it.is_optional { "?" } else { "" };
        format!("({}{mark}::{type_text}{attributes})==>", it.name)
    });
    let signature: Vec<_> = signature.collect();
    let start = if signature.is_empty() { "()==>".to_owned() } else { signature.concat() };
    format!("[f:Tool {{description: \"Does it\"}} | {start}(::Any)]")
}

/// A tool with some edits, and whether callers of the old one can use it.
fn edited(rng: &mut Rng, old: &[Parameter]) -> (Vec<Parameter>, bool) {
    let mut new = old.to_vec();
    let mut is_adaptable = true;
    for _ in 0..=rng.below(2) {
        let at = rng.below(new.len());
        let has_city = new.iter().any(|it| it.name == "city");
        let Some(parameter) = new.get_mut(at) else { continue };
        match rng.below(7) {
            0 => parameter.name = format!("{}Value", parameter.name),
            1 if !parameter.ty.contains(['[', '{', '|']) => parameter.ty += "[]",
            2 if parameter.ty.starts_with("\"in") => {
                "\"IN_PROGRESS\" | \"DONE\"".clone_into(&mut parameter.ty);
            }
            3 if parameter.ty.starts_with("{city") && !has_city => {
                let is_optional = new.remove(at).is_optional;
                let part = |name: &str, is_optional| Parameter {
                    name: name.to_owned(),
                    ty: "Text".to_owned(),
                    is_optional,
                };
                new.push(part("city", is_optional));
                new.push(part("zip", true));
            }
            4 if !parameter.ty.contains("range") => {
                let Parameter { name, ty, is_optional } = new.remove(at);
                let mark = if is_optional { "?" } else { "" };
                new.push(Parameter {
                    name: "group".to_owned(),
                    ty: format!("{{{name}{mark}: {ty}}}"),
                    is_optional,
                });
            }
            5 => new.push(Parameter {
                name: "version".to_owned(),
                ty: "\"2\"".to_owned(),
                is_optional: false,
            }),
            6 if parameter.ty.contains("1..30") => {
                "Int {range: 1..14}".clone_into(&mut parameter.ty);
                is_adaptable = false;
            }
            _ => {}
        }
    }
    let mut names: Vec<_> = new.iter().map(|it| it.name.clone()).collect();
    names.sort();
    names.dedup();
    if names.len() < new.len() { (old.to_vec(), true) } else { (new, is_adaptable) }
}

fn module(text: &str) -> Valid<Module> {
    check(&[parse(SourceFile::new("a.gram", text))]).module.unwrap()
}

fn schema(module: &Module) -> Value {
    let schema = ParameterSchema::new(&module.types, &module.tools[0]);
    serde_json::to_value(schema).unwrap()
}

#[test]
fn adapted_calls_are_accepted() {
    let mut rng = Rng::new(25);
    let (mut adapted, mut adaptable, mut refused, mut calls) = (0, 0, 0, 0);
    for _ in 0..600 {
        let before = parameters(&mut rng);
        let (after, is_adaptable) = edited(&mut rng, &before);
        let texts = [text(&before), text(&after)];
        let [old, new] = [module(&texts[0]), module(&texts[1])];
        let [from, to] = [schema(&old), schema(&new)];
        let [from_validator, to_validator] =
            [&from, &to].map(|schema| jsonschema::validator_for(schema).unwrap());
        adaptable += u32::from(is_adaptable);
        match &adapt(&old, &new, &diff(&old, &new))[0].outcome {
            Ok(tool) => {
                adapted += u32::from(is_adaptable);
                let Some(mapping) = &tool.arguments else { continue };
                assert!(is_adaptable, "{texts:#?}");
                for _ in 0..40 {
                    let call = instance(&mut rng, &from, &from, 4);
                    if from_validator.is_valid(&call) {
                        let known = from["properties"].as_object().unwrap();
                        let mut call = call.as_object().unwrap().clone();
                        call.retain(|name, _| known.contains_key(name));
                        let mapped = Value::Object(mapping.apply(&call));
                        assert!(to_validator.is_valid(&mapped), "{texts:#?}\n{call:?}\n{mapped}");
                        calls += 1;
                    }
                }
            }
            Err(failure) => {
                if let Some(example) = &failure.example {
                    assert!(from_validator.is_valid(example), "{texts:#?}\n{example}");
                    refused += 1;
                }
            }
        }
    }
    assert!(adapted * 10 >= adaptable * 9, "{adapted} of {adaptable}");
    assert!(refused > 10 && calls > 1000, "{refused} {calls}");
}
