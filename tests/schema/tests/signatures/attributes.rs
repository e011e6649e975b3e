//! Attributes.

use gramc_schema::Draft;

use crate::signatures::{assert_rows, of_result, of_tool};

/// Compares attributes: a label with a record, and the schema of such a parameter.
fn assert_attributes(rows: &[(&str, &str)], required: bool) {
    assert_rows(rows, |label| {
        let text = format!("[t:Tool | (a::{label})==>(::Any)]");
        let required = if required { r#""a""# } else { "" };
        let frame = r#"{"type":"object","properties":{"a":…},"required":[#]}"#;
        (of_tool(&text, Draft::Draft2020), frame.replace('#', required))
    });
}

#[test]
fn results_of_any_type_say_what_narrows_them() {
    let results = [
        ("Any", ""),
        ("Any {description: \"x\"}", ""),
        ("Any {enum: [1, null, \"x\"]}", r#"{"enum":[1,null,"x"]}"#),
        ("Any {const: 1}", r#"{"const":1}"#),
        ("Any {range: 1..2}", r#"{"minimum":1,"maximum":2}"#),
        ("Any {title: \"T\"}", r#"{"title":"T"}"#),
    ];
    assert_rows(&results, |result| {
        (of_result(&format!("[t:Tool | ()==>(::{result})]"), Draft::Draft2020), "…".to_owned())
    });
}

#[test]
fn attributes_of_values() {
    assert_attributes(
        &[
            (
                "Text {title: \"T\", description: 'D', examples: [\"x\"], deprecated: true}",
                r#"{"type":"string","title":"T","description":"D","examples":["x"],"deprecated":true}"#,
            ),
            (
                "Text {title: T, description: d, enum: [x, y], examples: [y]}",
                r#"{"type":"string","title":"T","description":"d","enum":["x","y"],"examples":["y"]}"#,
            ),
            ("Text {deprecated: false}", r#"{"type":"string"}"#),
            ("Int {range: 1..14}", r#"{"type":"integer","minimum":1,"maximum":14}"#),
            ("Int {range: 1...}", r#"{"type":"integer","minimum":1}"#),
            ("Number {range: ...-0.50}", r#"{"type":"number","maximum":-0.50}"#),
            (
                "Number {above: 0, below: 1.0}",
                r#"{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1.0}"#,
            ),
            ("Int {multipleOf: 5}", r#"{"type":"integer","multipleOf":5}"#),
            ("Int {range: 0x10..0x1F}", r#"{"type":"integer","minimum":16,"maximum":31}"#),
            (
                "Int {range: ...123456789012345678901234567890}",
                r#"{"type":"integer","maximum":123456789012345678901234567890}"#,
            ),
            ("`Int?` {range: 1..2}", r#"{"type":["integer","null"],"minimum":1,"maximum":2}"#),
            ("Text {length: 1..80}", r#"{"type":"string","minLength":1,"maxLength":80}"#),
            ("Text {length: 1...}", r#"{"type":"string","minLength":1}"#),
            ("Text {length: ...80}", r#"{"type":"string","maxLength":80}"#),
            ("Text {pattern: \"^\\\\d+$\"}", r#"{"type":"string","pattern":"^\\d+$"}"#),
            ("Text {format: \"regex\"}", r#"{"type":"string","format":"regex"}"#),
            ("Date {format: date-time}", r#"{"type":"string","format":"date-time"}"#),
            (
                "`Text[]` {size: 1..10}",
                r#"{"type":"array","minItems":1,"maxItems":10,"items":{"type":"string"}}"#,
            ),
            ("Map {size: 1...}", r#"{"type":"object","minProperties":1}"#),
            ("Object {size: ...3}", r#"{"type":"object","maxProperties":3}"#),
            (
                "`Map<Int>?` {size: 1...}",
                r#"{"type":["object","null"],"minProperties":1,"additionalProperties":{"type":"integer"}}"#,
            ),
            ("Any {size: 1...}", r#"{"minItems":1,"minProperties":1}"#),
            (
                "`[Int, Int]` {size: 1...}",
                r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"items":false,"minItems":2}"#,
            ),
            (
                "`[Int, Int]` {size: ...2}",
                r#"{"type":"array","maxItems":2,"prefixItems":[{"type":"integer"},{"type":"integer"}],"minItems":2}"#,
            ),
            (
                "`[Int, Int]` {size: 2..3}",
                r#"{"type":"array","maxItems":3,"prefixItems":[{"type":"integer"},{"type":"integer"}],"items":false,"minItems":2}"#,
            ),
            (
                "`[Int, Text]` {open: true}",
                r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}]}"#,
            ),
            (
                "`[Int, Text]` {open: true, size: 1..5}",
                r#"{"type":"array","maxItems":5,"prefixItems":[{"type":"integer"},{"type":"string"}],"minItems":1}"#,
            ),
            (
                "`Int[]` {unique: true}",
                r#"{"type":"array","uniqueItems":true,"items":{"type":"integer"}}"#,
            ),
            ("`Int[]` {unique: false}", r#"{"type":"array","items":{"type":"integer"}}"#),
            ("Text {enum: [\"a\", b]}", r#"{"type":"string","enum":["a","b"]}"#),
            ("Any {enum: [1, null, \"x\"]}", r#"{"enum":[1,null,"x"]}"#),
            ("Text {const: \"a\"}", r#"{"type":"string","const":"a"}"#),
            ("`\"a\" | \"b\"` {enum: [\"a\"]}", r#"{"type":"string","enum":["a"]}"#),
            ("`\"a\"` {const: \"a\"}", r#"{"const":"a"}"#),
        ],
        true,
    );
}

#[test]
fn attributes_that_make_nullable_or_complete_a_type() {
    assert_attributes(
        &[
            ("Text {nullable: true}", r#"{"type":["string","null"]}"#),
            ("Text {nullable: false}", r#"{"type":"string"}"#),
            ("`Text?` {nullable: true}", r#"{"type":["string","null"]}"#),
            (
                "Text {nullable: true, enum: [\"a\"]}",
                r#"{"type":["string","null"],"enum":["a",null]}"#,
            ),
            (
                "Text {nullable: true, const: \"a\"}",
                r#"{"type":["string","null"],"enum":["a",null]}"#,
            ),
            (
                "Text {nullable: true, enum: [\"a\", \"b\"], const: \"a\"}",
                r#"{"type":["string","null"],"enum":["a",null]}"#,
            ),
            (
                "`Text | Int` {nullable: true}",
                r#"{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}"#,
            ),
            ("Array {elementType: \"Text\"}", r#"{"type":"array","items":{"type":"string"}}"#),
            ("List {elementType: Int}", r#"{"type":"array","items":{"type":"integer"}}"#),
            (
                "Array {elementType: '\"a\" | \"b\"'}",
                r#"{"type":"array","items":{"type":"string","enum":["a","b"]}}"#,
            ),
            (
                "`Int[]` {elementType: \"{x: Int}\"}",
                r#"{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}"#,
            ),
            (
                "Map {valueType: \"Text?\"}",
                r#"{"type":"object","additionalProperties":{"type":["string","null"]}}"#,
            ),
            (
                "Map {keys: \"Email\"}",
                r#"{"type":"object","propertyNames":{"type":"string","format":"email"}}"#,
            ),
            (
                "Map {valueType: \"Int\", keys: '\"a\" | \"b\"', size: 1...}",
                r#"{"type":"object","minProperties":1,"propertyNames":{"type":"string","enum":["a","b"]},"additionalProperties":{"type":"integer"}}"#,
            ),
            ("Object {open: true}", r#"{"type":"object","additionalProperties":true}"#),
            ("Object {open: false}", r#"{"type":"object","additionalProperties":false}"#),
            (
                "Object {open: \"Int\"}",
                r#"{"type":"object","additionalProperties":{"type":"integer"}}"#,
            ),
            (
                "`{x: Int}` {open: false}",
                r#"{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}"#,
            ),
            ("Object {fields: []}", r#"{"type":"object","properties":{},"required":[]}"#),
            (
                "Object {nullable: true, fields: [{name: \"x\", type: \"Int\"}]}",
                r#"{"type":["object","null"],"properties":{"x":{"type":"integer"}},"required":["x"]}"#,
            ),
        ],
        true,
    );
}

#[test]
fn attributes_that_make_optional() {
    assert_attributes(
        &[
            ("Text {default: \"x\"}", r#"{"type":"string","default":"x"}"#),
            ("Text {default: x}", r#"{"type":"string","default":"x"}"#),
            ("Int {default: 9007199254740993}", r#"{"type":"integer","default":9007199254740993}"#),
            ("Number {default: 1.50}", r#"{"type":"number","default":1.50}"#),
            ("Int {default: 0x1f}", r#"{"type":"integer","default":31}"#),
            ("Bool {default: false}", r#"{"type":"boolean","default":false}"#),
            ("`Text?` {default: null}", r#"{"type":["string","null"],"default":null}"#),
            (
                "Text {default: null, nullable: true}",
                r#"{"type":["string","null"],"default":null}"#,
            ),
            (
                "`Int[]` {default: []}",
                r#"{"type":"array","items":{"type":"integer"},"default":[]}"#,
            ),
            (
                "`Int[]` {default: [1, 2]}",
                r#"{"type":"array","items":{"type":"integer"},"default":[1,2]}"#,
            ),
            ("Array {default: []}", r#"{"type":"array","default":[]}"#),
            ("Any {default: null}", r#"{"default":null}"#),
            ("Text {default: 2s}", r#"{"type":"string","default":"2s"}"#),
            (
                "Object {default: {min: 0, b: [1]}}",
                r#"{"type":"object","default":{"min":0,"b":[1]}}"#,
            ),
            (
                "Object {default: json`{\"min\": {\"a\": \"\\\\n\"}}`}",
                r#"{"type":"object","default":{"min":{"a":"\n"}}}"#,
            ),
            (
                "Object {default: ```json\n{\"a\": \"`\\n\"}\n```}",
                r#"{"type":"object","default":{"a":"`\n"}}"#,
            ),
            (
                "Date {default: date`2026-01-02`}",
                r#"{"type":"string","format":"date","default":"2026-01-02"}"#,
            ),
            ("Text {default: 2s}", r#"{"type":"string","default":"2s"}"#),
            ("Text {optional: true}", r#"{"type":"string"}"#),
            ("Text {optional: true, default: \"\"}", r#"{"type":"string","default":""}"#),
            ("Int {default: \"x\", unsound: true}", r#"{"type":"integer","default":"x"}"#),
            (
                "Text {pinned: \"x\"}",
                r#"{"type":"string","description":"Leave this out: the host sets it."}"#,
            ),
            (
                "Text {pinned: \"x\", optional: false, description: \"The user.\"}",
                r#"{"type":"string","description":"The user. Leave this out: the host sets it."}"#,
            ),
        ],
        false,
    );
    assert_attributes(
        &[
            ("Text {default: \"x\", optional: false}", r#"{"type":"string","default":"x"}"#),
            ("Text {secret: true}", r#"{"type":"string"}"#),
        ],
        true,
    );
}

#[test]
fn nested_fields_with_defaults() {
    let text = r#"[t:Tool | (a::Object {fields: [
        {name: "b", fields: [
            {name: "c", default: json`{"d": {"e": {"f": 2}}}`, fields: [
                {name: "d", description: "D", fields: [
                    {name: "e", open: false, fields: [
                        {name: "f", type: "Int", default: 1, range: 0..9},
                        {name: "g h", elementType: "Text", size: 1..., optional: true}
                    ]}
                ]}
            ]},
            {name: "i", type: "Object", default: json`{}`}
        ]}
    ]})==>(::Any)]"#;
    let number = r#"{"type":"integer","minimum":0,"maximum":9,"default":1}"#;
    let list = r#"{"type":"array","minItems":1,"items":{"type":"string"}}"#;
    let closed = format!(
        r#"{{"type":"object","properties":{{"f":{number},"g h":{list}}},"required":[],"additionalProperties":false}}"#
    );
    let described = format!(
        r#"{{"type":"object","description":"D","properties":{{"e":{closed}}},"required":["e"]}}"#
    );
    let defaulted = format!(
        r#"{{"type":"object","properties":{{"d":{described}}},"required":["d"],"default":{{"d":{{"e":{{"f":2}}}}}}}}"#
    );
    let plain = r#"{"type":"object","default":{}}"#;
    let outer = format!(
        r#"{{"type":"object","properties":{{"c":{defaulted},"i":{plain}}},"required":[]}}"#
    );
    let whole = format!(r#"{{"type":"object","properties":{{"b":{outer}}},"required":["b"]}}"#);
    let expected = format!(r#"{{"type":"object","properties":{{"a":{whole}}},"required":["a"]}}"#);
    assert_eq!(of_tool(text, Draft::Draft2020), expected);
    assert_eq!(of_tool(text, Draft::Draft7), expected);
}
