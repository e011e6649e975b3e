//! Signatures in messages, and descriptions of parameters.

use serde_json::{Map, Value, json};

use super::{call, tool, tool_of};
use crate::check::signature::signature;
use crate::check::{Policy, ToolCheck};

fn signature_of(schema: &Value) -> String {
    signature(&ToolCheck::of_schema(schema).unwrap().shapes)
}

/// The signature of a tool with one optional parameter `a`.
fn of_parameter(schema: &Value) -> String {
    signature_of(&json!({"type": "object", "properties": {"a": schema}}))
}

#[test]
fn constraints_are_in_signatures() {
    for (parameters, expected) in [
        ("()", "{}"),
        ("(a::Text {length: 1..80})", "{a: string of 1 to 80 characters}"),
        ("(a::Int {range: 1..30, default: 1})", "{a?: integer from 1 to 30 = 1}"),
        ("(a::Number {above: 0, optional: true})", "{a?: number greater than 0}"),
        (
            "(a::Int {multipleOf: 5})==>(b::Bool)",
            "{a: integer that is a multiple of 5, b: boolean}",
        ),
        ("(a::Date)", "{a: string in date format (such as 2026-01-31)}"),
        ("(a::Text {pattern: \"^[A-Z]{3}$\"})", "{a: string that matches ^[A-Z]{3}$}"),
        ("(a::(\"x\" | \"y\") {default: \"y\"})", "{a?: \"x\" | \"y\" = \"y\"}"),
        (
            "(a::`Text[]` {size: 1..3, unique: true})",
            "{a: string[] with 1 to 3 items without repeated items}",
        ),
        ("(a::`(Int | Text)[]`)==>(b::List)", "{a: (integer | string)[], b: array}"),
        (
            "(a::`[Text, Int]`)==>(b::`Map<Text>`)",
            "{a: [string, integer], b: {[key: string]: string}}",
        ),
        ("(a::Object)==>(b::Map {size: 1..2})", "{a: object, b: object with 1 to 2 keys}"),
        ("(a::Any)==>(b::`Int | Null`)", "{a: any, b: integer | null}"),
        (
            "(a::`{kind: \"x\", n?: Int} | {kind: \"y\"}`)",
            "{a: {kind: \"x\", n?: integer} | {kind: \"y\"}}",
        ),
    ] {
        assert_eq!(signature(&tool(parameters).shapes), expected, "{parameters}");
    }
}

#[test]
fn the_parameters_of_the_host_are_not_in_signatures() {
    let tool = tool(
        "(a::Int)==>(env::Text {pinned: \"prod\"})==>(user::Text {injected: true})\
         ==>(key::Text {secret: true, default: \"hunter2\"})",
    );
    assert_eq!(signature(&tool.shapes), "{a: integer, key?: string = \"***\"}");
    // Members of a union do not know that the parameter is secret.
    let union = tool_of(
        "[t:Tool {schema: json`{\"anyOf\": [{\"type\": \"object\", \"properties\": \
         {\"key\": {\"type\": \"string\", \"default\": \"hunter2\"}}}]}`} | \
         (key::Text {secret: true})==>(::Any)]",
    );
    assert_eq!(signature(&union.shapes), "object");
}

#[test]
fn signatures_end_at_a_depth_and_lists_of_values_at_a_length() {
    let tree = json!({
        "type": "object", "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}},
    });
    assert_eq!(signature_of(&tree), "{t?: {t?: {t?: {t?: object}}}}");
    assert_eq!(of_parameter(&json!({"enum": [1, null, "x"]})), "{a?: 1 | null | \"x\"}");
    let many: Vec<_> = (0..11).map(|n| n.to_string()).collect();
    assert_eq!(of_parameter(&json!({"type": "string", "enum": many})), "{a?: string}");
}

#[test]
fn open_and_closed_objects_differ_in_signatures() {
    for (more, expected) in [
        (json!({"additionalProperties": false}), "{a?: {}}"),
        (json!({"additionalProperties": true}), "{a?: object}"),
        (json!({"properties": {"b": {}}}), "{a?: {b?: any}}"),
        (json!({"properties": {"b": {}}, "additionalProperties": false}), "{a?: {b?: any}}"),
        (
            json!({"properties": {"b": {}}, "additionalProperties": true}),
            "{a?: {b?: any, [key: string]: any}}",
        ),
        (
            json!({"properties": {"b": {}}, "additionalProperties": {"type": "null"}}),
            "{a?: {b?: any, [key: string]: null}}",
        ),
        (json!({"required": ["b"]}), "{a?: {b: any}}"),
    ] {
        let mut schema = json!({"type": "object"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(of_parameter(&schema), expected, "{schema}");
    }
}

/// Every parameter that a model may send is in the signature, with its name as it is sent and whether it is
/// required.
#[test]
fn all_parameters_are_in_signatures() {
    let names = ["a", "_b1", "1st", "", "content-type", "naïve", "two words", "q\"uote", "$ref"];
    let schemas = [
        json!({}),
        json!(true),
        json!({"type": ["string", "null"], "maxLength": 3}),
        json!({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}),
        json!({"type": "array", "items": {"enum": ["{", "}"]}}),
        json!({"$ref": "#/$defs/T", "description": "see T"}),
        json!({"anyOf": [{"$ref": "#/$defs/T"}, {"type": "null"}], "default": null}),
        json!({"not": {"type": "string"}}),
    ];
    // Each name meets each schema.
    for shift in 0..schemas.len() {
        let chosen = (0..).map(|at: usize| &schemas[(at + shift) % schemas.len()]);
        let fields: Map<String, Value> = names
            .iter()
            .zip(chosen)
            .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
            .collect();
        for required in [&names[..0], &names[..5], &names[..]] {
            let schema = json!({
                "type": "object", "properties": fields, "required": required,
                "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}},
            });
            let found = signature_of(&schema);
            for name in names {
                let quoted = Value::from(name).to_string();
                let shown = if ["a", "_b1"].contains(&name) { name } else { &quoted };
                let mark = if required.contains(&name) { "" } else { "?" };
                let field = format!("{shown}{mark}: ");
                let starts = [format!("{{{field}"), format!(", {field}")];
                assert!(starts.iter().any(|start| found.contains(start)), "{field} in {found}");
            }
        }
    }
}

#[test]
fn short_descriptions_are_in_messages() {
    let long = "x".repeat(101);
    let schema = json!({
        "type": "object", "required": ["a", "b", "c"],
        "properties": {
            "a": {"type": "integer", "description": "Number of nights."},
            "b": {"type": "integer", "description": long},
            "c": {"type": "integer", "description": "two\nlines"},
            "of": {"$ref": "#/$defs/Of", "description": "The guest"},
            "list": {"type": "array", "items": {"type": "integer", "description": "Lucky number"}},
        },
        "$defs": {"Of": {
            "type": "object", "description": "a record",
            "properties": {"a/b": {"type": "integer", "description": "Age"}},
        }},
    });
    let check = ToolCheck::of_schema(&schema).unwrap();
    let told = call(&check, r#"{"c": "x", "of": {"a/b": "y"}, "list": ["z"]}"#, Policy::default());
    assert_eq!(
        told,
        json!([
            "`a` (Number of nights) is required and must be an integer",
            "`b` is required and must be an integer",
            "`c` must be an integer, got \"x\"",
            "`of.a/b` (Age) must be an integer, got \"y\"",
            "`list.0` (Lucky number) must be an integer, got \"z\""
        ])
    );
    let told = call(&check, r#"{"a": 1, "b": 1, "c": 1, "of": 5}"#, Policy::default());
    assert_eq!(told, json!(["`of` (The guest) must be an object with `a/b`, got 5"]));
}
