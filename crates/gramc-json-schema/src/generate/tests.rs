#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use std::collections::HashSet;

use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
use serde_json::json;

use super::*;
use crate::values::canonical;

/// Schemas of many kinds, with how many different values are expected of 200 at least.
fn schemas() -> Vec<(Value, usize)> {
    vec![
        (json!({"type": "string"}), 100),
        (json!({"type": "string", "minLength": 3, "maxLength": 3}), 20),
        (json!({"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}), 3),
        (json!({"type": "string", "format": "date"}), 2),
        (json!({"type": "integer", "minimum": 1, "maximum": 14}), 14),
        (json!({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 4}), 2),
        (json!({"type": "integer", "multipleOf": 25, "maximum": 1000}), 30),
        (json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}), 80),
        (json!({"type": "number", "multipleOf": 0.05, "minimum": 0, "maximum": 1}), 15),
        (json!({"enum": ["a", "b", null]}), 3),
        (json!({"const": {"a": 1}}), 1),
        (json!({"type": ["string", "null"]}), 50),
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "maxItems": 3}),
            50,
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": false, "minItems": 2}),
            50,
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2}),
            50,
        ),
        (
            json!({
                "type": "object",
                "patternProperties": {"^x-": {"type": "string"}},
                "properties": {"a": {"type": "integer"}},
                "additionalProperties": false,
            }),
            50,
        ),
        (
            json!({
                "type": "object",
                "properties": {
                    "kind": {"const": "tree"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                },
                "required": ["kind"],
                "$defs": {"Tree": {
                    "type": "object",
                    "properties": {"left": {"$ref": "#/$defs/Tree"}, "value": {"type": "integer"}},
                    "required": ["value"],
                }},
            }),
            20,
        ),
        (
            json!({"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
                {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
            ]}),
            20,
        ),
        (json!({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 9}]}), 3),
        (json!({"type": "string", "not": {"const": "a"}}), 3),
        (json!({}), 20),
        (json!({"type": "string", "examples": ["Vienna", "Linz"]}), 50),
    ]
}

#[test]
fn random_values_are_allowed_and_differ() {
    for (schema, different) in schemas() {
        let mut generator = Generator::new(&schema, Texts::Wild).unwrap();
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let values: Vec<_> = (0..200).map(|_| generator.random(&mut rng)).collect();
        assert!(values.iter().all(|value| generator.allows(value)), "{schema}");
        let seen: HashSet<_> = values.iter().map(canonical).collect();
        assert!(seen.len() >= different, "{schema}: {} different values", seen.len());
        assert!(generator.edges().iter().all(|value| generator.allows(value)), "{schema}");
    }
}

#[test]
fn one_seed_gives_the_same_values() {
    for (schema, _) in schemas() {
        let series = || {
            let mut generator = Generator::new(&schema, Texts::Plain).unwrap();
            let mut rng = Pcg64Mcg::seed_from_u64(7);
            (0..20).map(|_| generator.random(&mut rng).to_string()).collect::<Vec<_>>()
        };
        assert_eq!(series(), series(), "{schema}");
    }
}

#[test]
fn examples_are_preferred_where_texts_are_plain() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string", "examples": ["Vienna"]}}, "required": ["city"]});
    let mut generator = Generator::new(&schema, Texts::Plain).unwrap();
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    assert_eq!(generator.random(&mut rng)["city"], "Vienna");
}

#[test]
fn edges_are_where_ranges_end() {
    let schema = json!({
        "type": "object",
        "properties": {"nights": {"type": "integer", "minimum": 1, "maximum": 30}, "late": {"type": "boolean"}},
        "required": ["nights"],
    });
    let generator = Generator::new(&schema, Texts::Wild).unwrap();
    let edges: Vec<_> = generator.edges().iter().map(|edge| edge["nights"].clone()).collect();
    assert!(edges.contains(&json!(1)) && edges.contains(&json!(30)), "{edges:?}");
    assert!(generator.edges().iter().any(|edge| edge.get("late").is_none()));
    assert!(generator.edges().iter().any(|edge| edge.get("late").is_some()));
}

#[test]
fn invalid_values_are_not_allowed() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    for (schema, _) in schemas() {
        let mut generator = Generator::new(&schema, Texts::Wild).unwrap();
        for _ in 0..20 {
            let value = generator.random(&mut rng);
            if let Some(invalid) = generator.invalid(&value, &mut rng) {
                assert!(!generator.allows(&invalid), "{schema}: {invalid}");
            } else {
                assert_eq!(schema, json!({}), "every other schema refuses something");
            }
        }
    }
}

#[test]
fn smaller_values_end() {
    let value = json!({"a": [1, -200, "some text", {"b": 3.75, "c": null}], "d": true, "e": "x"});
    let mut todo = vec![value];
    let mut steps = 0;
    while let Some(value) = todo.pop() {
        steps += 1;
        assert!(steps < 1_000, "{value}");
        // The last candidate is the one that differs least.
        todo.extend(smaller(&value).pop());
    }
    let fails = |value: &Value| {
        value["a"]
            .as_array()
            .is_some_and(|items| items.iter().any(|it| it.as_i64() < Some(-10) && it.is_i64()))
    };
    let mut small = json!({"a": [1, -200, "some text"], "d": true});
    while let Some(next) = smaller(&small).into_iter().find(|it| fails(it)) {
        small = next;
    }
    assert_eq!(small, json!({"a": [-11]}));
}

#[test]
fn huge_sizes_take_no_memory() {
    let huge = json!({"type": "array", "minItems": 4_000_000_000_u64});
    let map =
        json!({"type": "object", "minProperties": 4_000_000_000_u64, "additionalProperties": {}});
    let text = json!({"type": "string", "minLength": 4_000_000_000_u64});
    let schema = json!({"type": "object", "properties": {"a": huge, "b": map, "c": text}});
    let mut generator = Generator::new(&schema, Texts::Wild).unwrap();
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for _ in 0..20 {
        assert!(generator.random(&mut rng).as_object().is_some_and(serde_json::Map::is_empty));
    }
}

#[test]
fn what_allows_nothing_is_said() {
    for schema in
        [json!(false), json!({"type": "integer", "minimum": 3, "maximum": 2}), json!({"type": 7})]
    {
        assert!(Generator::new(&schema, Texts::Plain).is_err(), "{schema}");
    }
}
