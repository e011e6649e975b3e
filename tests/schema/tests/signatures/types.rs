//! Types.

use gramc_schema::Draft;

use crate::signatures::{assert_rows, of_tool};

/// Compares types: a label and the schema of a parameter of this type.
fn assert_types(rows: &[(&str, &str)], draft: Draft) {
    assert_rows(rows, |label| {
        let text = format!("[t:Tool | (a::{label})==>(::Any)]");
        let frame = r#"{"type":"object","properties":{"a":…},"required":["a"]}"#;
        (of_tool(&text, draft), frame.to_owned())
    });
}

#[test]
fn built_in_types() {
    let rows = [
        ("Text", r#"{"type":"string"}"#),
        ("String", r#"{"type":"string"}"#),
        ("Int", r#"{"type":"integer"}"#),
        ("Integer", r#"{"type":"integer"}"#),
        ("Double", r#"{"type":"number"}"#),
        ("Float", r#"{"type":"number"}"#),
        ("Number", r#"{"type":"number"}"#),
        ("Bool", r#"{"type":"boolean"}"#),
        ("Boolean", r#"{"type":"boolean"}"#),
        ("Object", r#"{"type":"object"}"#),
        ("Array", r#"{"type":"array"}"#),
        ("List", r#"{"type":"array"}"#),
        ("Map", r#"{"type":"object"}"#),
        ("Any", "{}"),
        ("Null", r#"{"type":"null"}"#),
        ("Date", r#"{"type":"string","format":"date"}"#),
        ("Time", r#"{"type":"string","format":"time"}"#),
        ("DateTime", r#"{"type":"string","format":"date-time"}"#),
        ("Duration", r#"{"type":"string","format":"duration"}"#),
        ("Email", r#"{"type":"string","format":"email"}"#),
        ("Uri", r#"{"type":"string","format":"uri"}"#),
        ("Uuid", r#"{"type":"string","format":"uuid"}"#),
        ("Ipv4", r#"{"type":"string","format":"ipv4"}"#),
        ("Ipv6", r#"{"type":"string","format":"ipv6"}"#),
        ("Hostname", r#"{"type":"string","format":"hostname"}"#),
        ("Bytes", r#"{"type":"string","contentEncoding":"base64"}"#),
    ];
    for (name, _) in rows {
        assert!(gramc_model::BUILT_IN.contains(&name));
    }
    assert_eq!(rows.len(), gramc_model::BUILT_IN.len());
    assert_types(&rows, Draft::Draft2020);
    assert_types(&rows, Draft::Draft7);
}

#[test]
fn type_expressions() {
    assert_types(
        &[
            ("`Text`", r#"{"type":"string"}"#),
            ("` ( Text ) `", r#"{"type":"string"}"#),
            ("`Text[]`", r#"{"type":"array","items":{"type":"string"}}"#),
            ("`[Text]`", r#"{"type":"array","items":{"type":"string"}}"#),
            ("`Any[]`", r#"{"type":"array","items":{}}"#),
            (
                "`Int[][]`",
                r#"{"type":"array","items":{"type":"array","items":{"type":"integer"}}}"#,
            ),
            ("`Map<Int>`", r#"{"type":"object","additionalProperties":{"type":"integer"}}"#),
            ("`Map<Any>`", r#"{"type":"object","additionalProperties":{}}"#),
            (
                "`Map<Date[]>`",
                r#"{"type":"object","additionalProperties":{"type":"array","items":{"type":"string","format":"date"}}}"#,
            ),
            (
                "`{a: Text, b?: Int, \"c d\": Bool = true, e?: Text = \"x\"}`",
                r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c d":{"type":"boolean","default":true},"e":{"type":"string","default":"x"}},"required":["a"]}"#,
            ),
            ("`{}`", r#"{"type":"object","properties":{},"required":[]}"#),
            (
                "`{a: {b: {c: Text[]}}}`",
                r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"array","items":{"type":"string"}}},"required":["c"]}},"required":["b"]}},"required":["a"]}"#,
            ),
            ("`\"a\"`", r#"{"const":"a"}"#),
            ("`5`", r#"{"const":5}"#),
            ("`-1.50`", r#"{"const":-1.50}"#),
            ("`true`", r#"{"const":true}"#),
            ("`null`", r#"{"type":"null"}"#),
            ("`\"a\" | \"b\"`", r#"{"type":"string","enum":["a","b"]}"#),
            ("`1 | 2`", r#"{"type":"integer","enum":[1,2]}"#),
            ("`1 | 2.5`", r#"{"type":"number","enum":[1,2.5]}"#),
            ("`true | false`", r#"{"type":"boolean","enum":[true,false]}"#),
            ("`\"a\" | 1`", r#"{"anyOf":[{"const":"a"},{"const":1}]}"#),
            ("`\"a\" | null`", r#"{"anyOf":[{"const":"a"},{"type":"null"}]}"#),
            ("`Text | Int`", r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#),
            ("`Text | Null`", r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#),
            (
                "`\"all\" | Int[] | {x: Text}`",
                r#"{"anyOf":[{"const":"all"},{"type":"array","items":{"type":"integer"}},{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}]}"#,
            ),
            (
                "`(Text | Int)[]`",
                r#"{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}}"#,
            ),
            (
                "`Text | (Int | Bool)`",
                r#"{"anyOf":[{"type":"string"},{"anyOf":[{"type":"integer"},{"type":"boolean"}]}]}"#,
            ),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn nullable_types() {
    assert_types(
        &[
            ("`Text?`", r#"{"type":["string","null"]}"#),
            ("`Date?`", r#"{"type":["string","null"],"format":"date"}"#),
            ("`Bytes?`", r#"{"type":["string","null"],"contentEncoding":"base64"}"#),
            ("`Bool?`", r#"{"type":["boolean","null"]}"#),
            ("`Text?[]`", r#"{"type":"array","items":{"type":["string","null"]}}"#),
            ("`Text[]?`", r#"{"type":["array","null"],"items":{"type":"string"}}"#),
            (
                "`Map<Int>?`",
                r#"{"type":["object","null"],"additionalProperties":{"type":"integer"}}"#,
            ),
            (
                "`{a: Int?}?`",
                r#"{"type":["object","null"],"properties":{"a":{"type":["integer","null"]}},"required":["a"]}"#,
            ),
            (
                "`[Int, Text]?`",
                r#"{"type":["array","null"],"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false,"minItems":2}"#,
            ),
            ("`Text??`", r#"{"type":["string","null"]}"#),
            ("`(Text?)?`", r#"{"type":["string","null"]}"#),
            ("`Null?`", r#"{"type":"null"}"#),
            ("`\"a\"?`", r#"{"anyOf":[{"const":"a"},{"type":"null"}]}"#),
            (
                "`(\"a\" | \"b\")?`",
                r#"{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]}"#,
            ),
            (
                "`(Text | Int)?`",
                r#"{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}"#,
            ),
            ("`Any?`", r#"{"anyOf":[{},{"type":"null"}]}"#),
        ],
        Draft::Draft2020,
    );
}

#[test]
fn tuples_in_both_drafts() {
    let label = "`[Text, Int?, [Bool, Any]]`";
    assert_types(
        &[(
            label,
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":["integer","null"]},{"type":"array","prefixItems":[{"type":"boolean"},{}],"items":false,"minItems":2}],"items":false,"minItems":3}"#,
        )],
        Draft::Draft2020,
    );
    assert_types(
        &[(
            label,
            r#"{"type":"array","items":[{"type":"string"},{"type":["integer","null"]},{"type":"array","items":[{"type":"boolean"},{}],"additionalItems":false,"minItems":2}],"additionalItems":false,"minItems":3}"#,
        )],
        Draft::Draft7,
    );
}
