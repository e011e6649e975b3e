//! Schemas whose grammars are large, narrowed or hard to tell apart.

use gramc_language_tests::rng::Rng;
use serde_json::{Map, Value, json};

use super::Subject;

/// Tools of one parameter.
pub(super) fn subjects() -> Vec<Subject> {
    let properties = |count: usize, schema: &Value| -> Map<String, Value> {
        (0..count).map(|at| (format!("p{at}"), schema.clone())).collect()
    };
    let unit = json!({"type": "null"});
    let text = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let schemas = [
        json!({"type": "object", "properties": {"abc": {"type": "integer"}},
            "propertyNames": {"maxLength": 5000}, "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "properties": {"abc": {"type": "integer"}},
            "patternProperties": {"^[a-z]{1,5000}$": {"minimum": 5}},
            "additionalProperties": false}),
        json!({"type": "object", "properties": {"x".repeat(30): unit, "xy": unit},
            "additionalProperties": true}),
        text("^([a-z]{1,60}-){1,40}$"),
        text("^((a|bb)(c|dd)(e|ff)(g|hh)x){0,90}$"),
        text("^[\\s\\S]{2}$"),
        text("^b?(?:b?(?:b?(?:b?)*)*)*$"),
        json!({"type": "string", "pattern": "^(?:(?:(?:[a-z]{1,9}A)+B)+C)+$", "maxLength": 60}),
        json!({"type": "object", "properties": properties(300, &unit), "minProperties": 150}),
        json!({"type": "object", "properties": properties(300, &unit), "maxProperties": 150}),
        json!({"type": "object", "properties": properties(20, &unit), "minProperties": 7,
            "maxProperties": 9, "required": ["p3", "p12"], "additionalProperties": false}),
        json!({"type": "object", "properties": properties(9, &unit), "minProperties": 4,
            "additionalProperties": false}),
        json!({"type": "integer", "minimum": 10_i64.pow(17), "multipleOf": 10}),
        json!({"type": "number", "minimum": -0.9, "maximum": 0, "multipleOf": 0.3}),
        json!({"type": "array", "prefixItems": vec![unit.clone(); 120], "items": false,
            "minItems": 60}),
        json!({"type": "array", "items": {"type": "array", "items": {"enum": ["a", "b", "c"]},
            "maxItems": 30}, "maxItems": 30}),
    ];
    let object =
        |schema: &Value| json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
    let subjects = schemas.into_iter().map(|schema| {
        let subject = Subject::of_schema(object(&schema));
        let subject = subject.unwrap_or_else(|| panic!("{schema} cannot be checked"));
        assert!(subject.grammar.is_ok(), "{schema} has no grammar");
        subject
    });
    subjects.collect()
}

#[test]
fn sentences_of_large_schemas_are_accepted() {
    let mut rng = Rng::new(gramc_language_tests::campaign::seed());
    for subject in subjects() {
        if let Err(fault) = subject.fault(&mut rng, 200) {
            panic!("{}", fault.chars().take(3_000).collect::<String>());
        }
    }
}
