//! Signatures and the exact JSON that they compile to, keyword order included.
#![allow(clippy::unwrap_used, clippy::panic)]

use gram_schema::{Draft, Target, check, schema_of_signature};
use gram_syntax::{SourceFile, parse};

/// Signatures with the properties and the required names of their schema.
const SIGNATURES: &[(&str, &str, &str)] = &[
    // Curried forms: all arrow families, both directions, no parameters, quoted names.
    ("()==>(::String)", "", ""),
    ("()-->(::Any)", "", ""),
    ("(a::Text)==>(::Text)", r#""a":{"type":"string"}"#, r#""a""#),
    ("(a:Text)-->(:Text)", r#""a":{"type":"string"}"#, r#""a""#),
    (
        "(a::Text)~~>(b::Int)~~>(::Text)",
        r#""a":{"type":"string"},"b":{"type":"integer"}"#,
        r#""a","b""#,
    ),
    (
        "(::Text)<==(b::Int)<==(a::Text)",
        r#""a":{"type":"string"},"b":{"type":"integer"}"#,
        r#""a","b""#,
    ),
    ("(a::Text)=[f:Func]=>(result::Text)", r#""a":{"type":"string"}"#, r#""a""#),
    (
        "(`Content-Type`::Text)==>(::Any)",
        r#""Content-Type":{"type":"string"}"#,
        r#""Content-Type""#,
    ),
    (
        "(`MA(5)`::Number)==>(`año`::Int)==>(::Any)",
        r#""MA(5)":{"type":"number"},"año":{"type":"integer"}"#,
        r#""MA(5)","año""#,
    ),
    // What makes a parameter optional, and what does not.
    (
        "(personName::Text)==>(age::Int {default:18})==>(::String)",
        r#""personName":{"type":"string"},"age":{"type":"integer","default":18}"#,
        r#""personName""#,
    ),
    ("(a::Text {optional: true})==>(::Any)", r#""a":{"type":"string"}"#, ""),
    (
        "(a::Text {default: \"x\", optional: false})==>(::Any)",
        r#""a":{"type":"string","default":"x"}"#,
        r#""a""#,
    ),
    ("(a::Text <default:\"world\">)==>(::Any)", r#""a":{"type":"string","default":"world"}"#, ""),
    (
        "(a::Text {pinned: \"x\"})==>(::Any)",
        r#""a":{"type":"string","description":"Leave this out: the host sets it."}"#,
        "",
    ),
    ("(a::Text {injected: true})==>(b::Int)==>(::Any)", r#""b":{"type":"integer"}"#, r#""b""#),
    ("(a::Text {secret: true})==>(::Any)", r#""a":{"type":"string"}"#, r#""a""#),
    // Built-in types.
    (
        "(a::Double)==>(b::Float)==>(c::Boolean)==>(::Any)",
        r#""a":{"type":"number"},"b":{"type":"number"},"c":{"type":"boolean"}"#,
        r#""a","b","c""#,
    ),
    (
        "(a::Object)==>(b::Array)==>(c::Map)==>(::Any)",
        r#""a":{"type":"object"},"b":{"type":"array"},"c":{"type":"object"}"#,
        r#""a","b","c""#,
    ),
    (
        "(a::Any)==>(b::Null)==>(c::Bytes)==>(::Any)",
        r#""a":{},"b":{"type":"null"},"c":{"type":"string","contentEncoding":"base64"}"#,
        r#""a","b","c""#,
    ),
    (
        "(a::DateTime)==>(b::Uri)==>(c::Ipv6)==>(::Any)",
        r#""a":{"type":"string","format":"date-time"},"b":{"type":"string","format":"uri"},"c":{"type":"string","format":"ipv6"}"#,
        r#""a","b","c""#,
    ),
    (
        "(a::List {elementType: \"Text\"})==>(b::Map {valueType: \"Int\", keys: \"Uuid\"})==>(::Any)",
        r#""a":{"type":"array","items":{"type":"string"}},"b":{"type":"object","propertyNames":{"type":"string","format":"uuid"},"additionalProperties":{"type":"integer"}}"#,
        r#""a","b""#,
    ),
    // Nested fields, with defaults.
    (
        "(a::Object {fields: [{name: \"street\", type: \"Text\"}, {name: \"zip\", type: \"Text\", default: \"0\"}]})==>(::Any)",
        r#""a":{"type":"object","properties":{"street":{"type":"string"},"zip":{"type":"string","default":"0"}},"required":["street"]}"#,
        r#""a""#,
    ),
    (
        "(a::Object {fields: [{name: \"b\", fields: [{name: \"c\", fields: [{name: \"d\", type: \"Int\", default: 1}]}]}]})==>(::Any)",
        r#""a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"object","properties":{"d":{"type":"integer","default":1}},"required":[]}},"required":["c"]}},"required":["b"]}"#,
        r#""a""#,
    ),
    (
        "(a::Object {fields: [{name: \"tags\", elementType: \"Text[]\", size: 1...}], open: false})==>(::Any)",
        r#""a":{"type":"object","properties":{"tags":{"type":"array","minItems":1,"items":{"type":"array","items":{"type":"string"}}}},"required":["tags"],"additionalProperties":false}"#,
        r#""a""#,
    ),
    // Type expressions.
    (
        "(a::`Text[]`)==>(b::`[Int]`)==>(::Any)",
        r#""a":{"type":"array","items":{"type":"string"}},"b":{"type":"array","items":{"type":"integer"}}"#,
        r#""a","b""#,
    ),
    (
        "(a::`Text?`)==>(b::Text {nullable: true})==>(::Any)",
        r#""a":{"type":["string","null"]},"b":{"type":["string","null"]}"#,
        r#""a","b""#,
    ),
    (
        "(a::`(Text | Int)?`)==>(b::`Text | Null`)==>(::Any)",
        r#""a":{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]},"b":{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        r#""a","b""#,
    ),
    (
        "(a::`\"x\"`)==>(b::`\"x\" | \"y\"`)==>(c::`1 | \"y\"`)==>(::Any)",
        r#""a":{"const":"x"},"b":{"type":"string","enum":["x","y"]},"c":{"anyOf":[{"const":1},{"const":"y"}]}"#,
        r#""a","b","c""#,
    ),
    ("(a::`1 | 2.50`)==>(::Any)", r#""a":{"type":"number","enum":[1,2.50]}"#, r#""a""#),
    (
        "(a::`Map<Number[]>`)==>(b::`[Text, Int]`)==>(::Any)",
        r#""a":{"type":"object","additionalProperties":{"type":"array","items":{"type":"number"}}},"b":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false,"minItems":2}"#,
        r#""a","b""#,
    ),
    (
        "(a::`{x: Int, \"y z\"?: Text, w: Bool = true}`)==>(::Any)",
        r#""a":{"type":"object","properties":{"x":{"type":"integer"},"y z":{"type":"string"},"w":{"type":"boolean","default":true}},"required":["x"]}"#,
        r#""a""#,
    ),
    // Attributes.
    (
        "(a::Int {range: 1..14, multipleOf: 7})==>(b::Number {above: 0, below: 1})==>(::Any)",
        r#""a":{"type":"integer","minimum":1,"maximum":14,"multipleOf":7},"b":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}"#,
        r#""a","b""#,
    ),
    (
        "(a::Text {length: 1..80, pattern: \"^a\", format: x})==>(b::Text {length: ...5})==>(::Any)",
        r#""a":{"type":"string","minLength":1,"maxLength":80,"pattern":"^a","format":"x"},"b":{"type":"string","maxLength":5}"#,
        r#""a","b""#,
    ),
    (
        "(a::`Int[]` {size: 1..10, unique: true})==>(b::Object {size: 1...})==>(::Any)",
        r#""a":{"type":"array","minItems":1,"maxItems":10,"uniqueItems":true,"items":{"type":"integer"}},"b":{"type":"object","minProperties":1}"#,
        r#""a","b""#,
    ),
    (
        "(a::Text {title: T, description: d, enum: [x, y], default: x, examples: [y], deprecated: true})==>(::Any)",
        r#""a":{"type":"string","title":"T","description":"d","enum":["x","y"],"default":"x","examples":["y"],"deprecated":true}"#,
        "",
    ),
    ("(/** x */ a::Text)==>(::Any)", r#""a":{"type":"string"}"#, r#""a""#),
    (
        "/** One. */ (a::Text)\n/** Two. */\n==>(b::Text)==>(::Any)",
        r#""a":{"type":"string","description":"One."},"b":{"type":"string","description":"Two."}"#,
        r#""a","b""#,
    ),
    // Exact numbers, and values that plain gram cannot write.
    (
        "(a::Number {default: 0.10})==>(b::Int {default: 9007199254740993})==>(c::Int {default: 0x1F})==>(::Any)",
        r#""a":{"type":"number","default":0.10},"b":{"type":"integer","default":9007199254740993},"c":{"type":"integer","default":31}"#,
        "",
    ),
    (
        "(a::Object {default: json`{\"b\": [1, {}]}`})==>(b::Array {default: []})==>(c::Any {default: null})==>(::Any)",
        r#""a":{"type":"object","default":{"b":[1,{}]}},"b":{"type":"array","default":[]},"c":{"default":null}"#,
        "",
    ),
    (
        "(a::Text {default: 2s})==>(b::Date {default: date`2026-01-02`})==>(::Any)",
        r#""a":{"type":"string","default":"2s"},"b":{"type":"string","format":"date","default":"2026-01-02"}"#,
        "",
    ),
];

#[test]
fn signatures_compile_to_exactly_this() {
    let mut wrong = Vec::new();
    for (signature, properties, required) in SIGNATURES {
        let expected =
            format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}]}}"#);
        match schema_of_signature(signature) {
            Ok(schema) => {
                let schema = schema.to_string();
                if schema != expected {
                    wrong.push(format!("{signature}\n  {schema}\n  {expected}"));
                }
            }
            Err(found) => {
                let found: Vec<_> = found.iter().map(|found| &found.message).collect();
                wrong.push(format!("{signature}\n  {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compiled(text: &str, target: Target, draft: Draft) -> String {
    let checked = check(&[parse(SourceFile::new("test.gram", text))]);
    let module = checked.module.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    serde_json::to_string(&target.tools(&module, 0..1, draft)).unwrap()
}

#[test]
fn vocabulary_terms_bring_types_and_attributes() {
    let text = "(city::Text {description: \"A city\", default: \"Vienna\"})
        [t:Tool | (city)==>(::Any)]
        [u:Tool | (city {description: \"Where to\", optional: false})==>(::Any)]
        [v:Tool | (city::Int)==>(::Any)]
        [w:Tool | (a::Object {fields: [{name: \"city\"}]})==>(::Any)]";
    let expected = concat!(
        r#"{"t":{"type":"object","properties":{"city":{"type":"string","description":"A city","default":"Vienna"}},"required":[]},"#,
        r#""u":{"type":"object","properties":{"city":{"type":"string","description":"Where to","default":"Vienna"}},"required":["city"]},"#,
        r#""v":{"type":"object","properties":{"city":{"type":"integer"}},"required":["city"]},"#,
        r#""w":{"type":"object","properties":{"a":{"type":"object","properties":{"city":{"type":"string","description":"A city","default":"Vienna"}},"required":[]}},"required":["a"]}}"#,
    );
    assert_eq!(compiled(text, Target::JsonSchema, Draft::Draft2020), expected);
}

#[test]
fn false_overrides_what_a_term_says() {
    let text = "(token::Text {injected: true})
        (tags::`Text[]` {unique: true})
        [t:Tool | (token {injected: false})==>(tags {unique: false})==>(::Any)]";
    let expected = r#"{"t":{"type":"object","properties":{"token":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["token","tags"]}}"#;
    assert_eq!(compiled(text, Target::JsonSchema, Draft::Draft2020), expected);
}

#[test]
fn targets_and_drafts() {
    let text = "[t:Tool {description: \"d\", open: false, schemaTitle: \"S\"} | (a::`[Text, Int]`)==>(b::Array)==>(::Any)]";
    let parameters = |items: &str, list: &str| {
        format!(
            r#"{{"type":"object","title":"S","properties":{{"a":{{"type":"array",{items},"minItems":2}},"b":{{"type":"array"{list}}}}},"required":["a","b"],"additionalProperties":false}}"#
        )
    };
    let new = r#""prefixItems":[{"type":"string"},{"type":"integer"}],"items":false"#;
    let old = r#""items":[{"type":"string"},{"type":"integer"}],"additionalItems":false"#;
    let keyed = |schema: String| format!(r#"{{"t":{schema}}}"#);
    assert_eq!(compiled(text, Target::JsonSchema, Draft::Draft2020), keyed(parameters(new, "")));
    assert_eq!(compiled(text, Target::JsonSchema, Draft::Draft7), keyed(parameters(old, "")));
    let function = |strict: &str| {
        let parameters = parameters(new, r#","items":{}"#);
        format!(r#"{{"name":"t","description":"d","parameters":{parameters}{strict}}}"#)
    };
    assert_eq!(
        compiled(text, Target::OpenAi, Draft::Draft2020),
        format!(r#"[{{"type":"function","function":{}}}]"#, function(r#","strict":false"#))
    );
    assert_eq!(
        compiled(text, Target::OpenAiFunctions, Draft::Draft2020),
        format!("[{}]", function(""))
    );
}
