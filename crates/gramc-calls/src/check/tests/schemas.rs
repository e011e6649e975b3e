//! Checks against JSON Schemas, with patterns of names and with defaults.

use serde_json::{Value, json};

use super::{call, tool_of};
use crate::check::{Policy, ToolCheck, Undeclared};

fn schema_check(schema: &Value) -> ToolCheck {
    ToolCheck::of_schema(schema).unwrap()
}

#[test]
fn properties_that_match_a_pattern_are_declared() {
    let vendor = json!({
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "patternProperties": {"^v": {"type": "integer"}, "n$": {"minimum": 5}},
        "additionalProperties": false
    });
    let nested = json!({"type": "object", "properties": {"x": vendor}});
    let verbatim = json!({
        "type": "object",
        "properties": {"x": {"anyOf": [vendor, {"type": "null"}], "not": {"const": 1}}}
    });
    let p = Policy::default();
    let check = schema_check(&vendor);
    assert_eq!(
        call(&check, r#"{"id":"a","vroom":"2"}"#, p),
        json!([{"id":"a","vroom":2},["/vroom text-to-integer"],[]])
    );
    for schema in [&nested, &verbatim] {
        let check = schema_check(schema);
        let sent = r#"{"x":{"id":"a","vroom":2,"other":1}}"#;
        let told = call(&check, sent, p);
        assert_eq!(told, json!(["`x.other` is not declared: omit it or use `id`"]));
        check.fits(r#"{"x":{"id":"a","vroom":2,"von":6}}"#).unwrap();
        // All patterns of a name have to accept the value.
        for bad in [r#"{"x":{"von":4}}"#, r#"{"x":{"van":"6"}}"#, r#"{"x":{"u":2}}"#] {
            assert!(check.fits(bad).is_err(), "{bad}");
        }
    }
    assert_eq!(
        call(&schema_check(&nested), r#"{"x":{"von":"4"}}"#, p),
        json!(["`x.von` must be a value that matches the schema, got 4"])
    );
    for undeclared in [Undeclared::Reject, Undeclared::Keep, Undeclared::Schema] {
        let p = Policy { undeclared, ..p };
        let sent = r#"{"x":{"vroom":2}}"#;
        assert_eq!(call(&schema_check(&nested), sent, p), json!([{"x":{"vroom":2}},[],[]]));
    }
}

#[test]
fn patterns_apply_to_declared_properties_as_well() {
    let check = schema_check(&json!({
        "type": "object",
        "properties": {"va": {"type": "object", "properties": {"b": {"type": "integer"}}}},
        "patternProperties": {
            "^v": {"type": "object", "properties": {"c": {"type": "integer"}}, "minProperties": 1}
        }
    }));
    let p = Policy::default();
    // Neither schema declares both.
    assert_eq!(
        call(&check, r#"{"va":{"b":"1","c":2}}"#, p),
        json!([{"va":{"b":1,"c":2}},["/va/b text-to-integer"],[]])
    );
    assert!(check.fits(r#"{"va":{}}"#).is_err());
    assert!(check.fits(r#"{"va":{"c":"2"}}"#).is_err());
    check.fits(r#"{"other":{}}"#).unwrap();
    // A name that matches a pattern is not a misspelling.
    let p = Policy { correct_names: true, ..p };
    assert_eq!(
        call(&check, r#"{"VA":{"b":1},"vA":{"c":1}}"#, p)[0],
        json!({"va": {"b": 1}, "vA": {"c": 1}})
    );
}

#[test]
fn a_tool_with_patterns_alone_takes_arguments() {
    let tool = tool_of("[t:Tool {open: false, fieldPatterns: {`^x-`: \"Int\"}} | ()==>(::Any)]");
    let p = Policy::default();
    assert_eq!(call(&tool, r#"{"x-a":"1","y":2}"#, p), json!(["`y` is not declared: omit it"]));
}

#[test]
fn no_default_is_dropped_in_silence() {
    let refused = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "^x", "default": "y"},
            "b": {"type": "string", "default": null},
            "c": {"type": "string", "default": "kept"}
        }
    });
    let accepted = schema_check(&refused).check("{}", Policy::default()).unwrap();
    assert_eq!(accepted.arguments, r#"{"c":"kept"}"#);
    assert_eq!(accepted.omitted_defaults, ["/a"]);
    // A default that the arguments rule out.
    let together = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
        "not": {"required": ["a", "b"]}
    });
    let accepted = schema_check(&together).check(r#"{"a":1}"#, Policy::default()).unwrap();
    assert_eq!(accepted.arguments, r#"{"a":1}"#);
    assert_eq!(accepted.omitted_defaults, ["/b"]);
    let member = json!({
        "type": "object",
        "properties": {"u": {"anyOf": [{"type": "null"}, refused]}}
    });
    let accepted = schema_check(&member).check(r#"{"u":{}}"#, Policy::default()).unwrap();
    assert_eq!(accepted.omitted_defaults, ["/u/a"]);
}

#[test]
fn a_default_that_is_left_out_costs_no_argument() {
    let schema = json!({
        "type": "object",
        "properties": {"u": {"anyOf": [
            {"type": "object", "properties": {"kind": {"const": "task"}}},
            {"type": "object", "properties": {
                "id": {"type": "integer"},
                "code": {"type": "string", "pattern": "^x", "default": "y"}
            }}
        ]}}
    });
    let accepted = schema_check(&schema).check(r#"{"u":{"id":1}}"#, Policy::default()).unwrap();
    assert_eq!(accepted.arguments, r#"{"u":{"id":1}}"#);
    assert_eq!(accepted.omitted_defaults, ["/u/code"]);
}
