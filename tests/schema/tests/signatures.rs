//! What every form of signatures, types and attributes is as JSON Schema, to the letter.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attributes;
mod declared;
mod types;

use gramc_check::{Valid, check};
use gramc_json_schema::draft7::to_draft7;
use gramc_model::Module;
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use gramc_schema::{Draft, schema_of_signature};
use gramc_syntax::{SourceFile, parse};
use serde_json::Value;

/// The module that a text declares.
fn module(text: &str) -> Valid<Module> {
    let checked = check(&[parse(SourceFile::new("t.gram", text))]);
    checked.module.unwrap_or_else(|| panic!("{text}\n{:#?}", checked.diagnostics))
}

/// The schema of the parameters of the tool `t` that a text declares.
fn of_tool(text: &str, draft: Draft) -> String {
    let module = module(text);
    let tool = module.tool("t").unwrap_or_else(|| panic!("no tool `t`: {text}"));
    let schema = &ParameterSchema::new(&module.types, tool);
    written(serde_json::to_string(schema).unwrap(), draft)
}

/// The schema of the result of the tool `t` that a text declares; nothing where it says nothing.
fn of_result(text: &str, draft: Draft) -> String {
    let module = module(text);
    let tool = module.tool("t").unwrap_or_else(|| panic!("no tool `t`: {text}"));
    let schema = ResultSchema::new(&module.types, tool);
    schema
        .map_or_else(String::new, |schema| written(serde_json::to_string(&schema).unwrap(), draft))
}

fn written(schema: String, draft: Draft) -> String {
    match draft {
        Draft::Draft2020 => schema,
        Draft::Draft7 => {
            let schema: Value = serde_json::from_str(&schema).unwrap();
            let written = to_draft7(&schema);
            assert_eq!(written.lost, []);
            written.schema.to_string()
        }
    }
}

/// What does not come out as a table says.
struct Differences(Vec<String>);

impl Differences {
    fn compare(&mut self, text: &str, found: &str, expected: &str) {
        if found != expected {
            self.0.push(format!("{text}\n  found    {found}\n  expected {expected}"));
        }
    }

    fn assert_none(&self) {
        assert!(self.0.is_empty(), "\n{}", self.0.join("\n"));
    }
}

/// Compares rows of a table: a text, and what is said of it.
fn assert_rows(rows: &[(&str, &str)], found: impl Fn(&str) -> (String, String)) {
    let mut differences = Differences(Vec::new());
    for (text, expected) in rows {
        let (found, frame) = found(text);
        differences.compare(text, &found, &frame.replace('…', expected));
    }
    differences.assert_none();
}

#[test]
fn signatures() {
    let ab = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"]}"#;
    let none = r#"{"type":"object","properties":{},"required":[]}"#;
    let rows = [
        ("()==>(::String)", none),
        ("()-->(result::Text)", none),
        ("()~~>(::Any)", none),
        ("(::String)<==()", none),
        ("(a::Text)==>(b::Int)==>(::Text)", ab),
        ("(a::Text)-->(b::Int)-->(::Text)", ab),
        ("(a::Text)~~>(b::Int)~~>(::Text)", ab),
        ("(a::Text)==>(b::Int)-->(::Text)", ab),
        ("(::Text)<==(b::Int)<==(a::Text)", ab),
        ("(::Text)<--(b::Int)<--(a::Text)", ab),
        ("(::Text)<~~(b::Int)<~~(a::Text)", ab),
        ("(a:Text)==>(b:Int)==>(:Text)", ab),
        ("(a::Text)=[then:Func {x: 1}]=>(b::Int)==>(::Text)", ab),
        ("(a::Text {})==>(b::Int <>)==>(::Text)", ab),
        (
            "(personName::Text)==>(age::Int {default:18})==>(::String)",
            r#"{"type":"object","properties":{"personName":{"type":"string"},"age":{"type":"integer","default":18}},"required":["personName"]}"#,
        ),
        (
            "(personName::Text <default:\"world\">)==>(::String)",
            r#"{"type":"object","properties":{"personName":{"type":"string","default":"world"}},"required":[]}"#,
        ),
        (
            "(z::Text)==>(a::Text {optional: true})==>(m::Text)==>(::Text)",
            r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"}},"required":["z","m"]}"#,
        ),
        (
            "(`Content-Type`::Text)==>(Accept-Charset::Text)==>(42::Text)==>(`$a \\`b\\`\\n`::Text)==>(::Text)",
            r#"{"type":"object","properties":{"Content-Type":{"type":"string"},"Accept-Charset":{"type":"string"},"42":{"type":"string"},"$a `b`\n":{"type":"string"}},"required":["Content-Type","Accept-Charset","42","$a `b`\n"]}"#,
        ),
        (
            "(`MA(5)`::Number)==>(`año`::Int)==>(::Any)",
            r#"{"type":"object","properties":{"MA(5)":{"type":"number"},"año":{"type":"integer"}},"required":["MA(5)","año"]}"#,
        ),
        // A doc comment belongs to the node after it.
        ("(/** x */ a::Text)==>(b::Int)==>(::Any)", ab),
        (
            "/** The first.\n * Really. */ (a::Text)\n/** The second. */\n==>(b::Text)==>(::Text)",
            r#"{"type":"object","properties":{"a":{"type":"string","description":"The first.\nReally."},"b":{"type":"string","description":"The second."}},"required":["a","b"]}"#,
        ),
    ];
    let mut differences = Differences(Vec::new());
    for (signature, expected) in rows {
        let found =
            schema_of_signature(signature).unwrap_or_else(|e| panic!("{signature}\n{e:#?}"));
        differences.compare(signature, &found.to_string(), expected);
        let tool = of_tool(&format!("[t:Tool | {signature}]"), Draft::Draft2020);
        differences.compare(signature, &tool, expected);
    }
    differences.assert_none();
}

#[test]
fn vocabulary_and_tools() {
    let rows = [
        (
            "(n::Text {default: \"world\", description: \"N\"}) [t:Tool | (n)==>(::Text)]",
            r#"{"type":"object","properties":{"n":{"type":"string","description":"N","default":"world"}},"required":[]}"#,
        ),
        (
            "[t:Tool | (n {default: \"you\", length: ...9})==>(m)==>(::Text)] (n::Text {default: \"world\", length: 1...}) /** M */ (m::`Int[]`)",
            r#"{"type":"object","properties":{"n":{"type":"string","maxLength":9,"default":"you"},"m":{"type":"array","description":"M","items":{"type":"integer"}}},"required":["m"]}"#,
        ),
        (
            "(n::Text {default: \"world\"}) [t:Tool | (n {optional: false, nullable: true})==>(::Text)]",
            r#"{"type":"object","properties":{"n":{"type":["string","null"],"default":"world"}},"required":["n"]}"#,
        ),
        (
            "(n::Text {default: \"world\"}) [t:Tool | (n::Int)==>(::Text)]",
            r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#,
        ),
        (
            "(n::Int {range: 1..5}) [t:Tool | (a::Object {fields: [{name: n, default: 2}]})==>(::Text)]",
            r#"{"type":"object","properties":{"a":{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":5,"default":2}},"required":[]}},"required":["a"]}"#,
        ),
        (
            "(n::Text {default: \"world\", description: \"N\"}) [t:Tool | (n {description: \"M\", optional: false})==>(::Text)]",
            r#"{"type":"object","properties":{"n":{"type":"string","description":"M","default":"world"}},"required":["n"]}"#,
        ),
        (
            "(token::Text {injected: true}) (tags::`Text[]` {unique: true}) [t:Tool | (token {injected: false})==>(tags {unique: false})==>(::Any)]",
            r#"{"type":"object","properties":{"token":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["token","tags"]}"#,
        ),
        (
            "[t:Tool {open: true} | (a::Int)==>(::Text)]",
            r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":true}"#,
        ),
        (
            "[t:Tool {open: false, schemaTitle: \"Input\", title: \"A tool\", deprecated: true} | ()==>(::Text)]",
            r#"{"type":"object","title":"Input","properties":{},"required":[],"additionalProperties":false}"#,
        ),
        (
            "[t:Tool {open: \"Text | Int\"} | ()==>(::Text)]",
            r#"{"type":"object","properties":{},"required":[],"additionalProperties":{"anyOf":[{"type":"string"},{"type":"integer"}]}}"#,
        ),
        (
            "[t:Tool | (a::Text)==>(token::Text {injected: true})==>(user::Uuid {pinned: \"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"})==>(::Text)]",
            r#"{"type":"object","properties":{"a":{"type":"string"},"user":{"type":"string","description":"Leave this out: the host sets it.","format":"uuid"}},"required":["a"]}"#,
        ),
    ];
    let mut differences = Differences(Vec::new());
    for (text, expected) in rows {
        differences.compare(text, &of_tool(text, Draft::Draft2020), expected);
    }
    differences.assert_none();
}
