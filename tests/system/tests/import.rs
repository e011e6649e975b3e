//! `gramc import`

use serde_json::{Value, json};

use crate::support::{folder, gramc, limited};

const LIST: &str = r#"{"tools":[
  {"name":"read_file","title":"Read","description":"Reads a file.\nAll of it.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Where it is"},"limit":{"type":"integer","minimum":1,"default":100}},"required":["path"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"title":"Read it"}},
  {"name":"write_file","description":"Writes a file","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Where it is"},"lines":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string","maxLength":80},"number":{"type":"integer"}},"required":["text"]}},"mode":{"type":"string","enum":["append","replace"],"default":"keep"}},"required":["path","lines"]}}
]}"#;

#[test]
fn a_list_of_tools_becomes_gram_that_a_person_would_write() {
    let run = gramc("import -").input(LIST).run().exits(0);
    let expected = r#"(path::Text {description: "Where it is"})

/**
 * Reads a file.
 * All of it.
 */
[read_file:Tool {title: "Read", open: false, readOnly: true, annotations: {title: "Read it"}} |
  (path)==>(limit::Int {range: 1..., default: 100})==>(::Any)
]

/** Writes a file */
[write_file:Tool |
  (path)
  ==>(lines::Line[])
  ==>(mode::"append" | "replace" {default: "keep", unsound: true})
  ==>(::Any),
  [Line::Record | (text::Text {length: ...80}), (number?::Int)]
]
"#;
    assert_eq!(run.stdout, expected);
    run.says(&["note: 1 schema contradicts itself", "`unsound: true`"]);
}

#[test]
fn tools_of_servers_whose_references_lead_nowhere_are_left_out() {
    let refer = r#"{"type":"object","properties":{"to":{"$ref":"https://example.com/to.json"}}}"#;
    let tool = |name: &str, schema: &str| format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#);
    let list = |tools: &[String]| format!(r#"{{"tools":[{}]}}"#, tools.join(","));
    let both = list(&[tool("go", refer), tool("stay", r#"{"type":"object"}"#)]);
    let run = gramc("import -").input(both).run().exits(0);
    assert_eq!(run.stdout, "[stay:Tool | ()==>(::Any)]\n");
    let why =
        "properties.to: the reference `https://example.com/to.json` leads to another document";
    run.says(&[&format!("tool `go` is left out: {why}")]);
    let alone = list(&[tool("go", refer)]);
    gramc("import -").input(alone).run().exits(1).says(&[&format!("tool `go`: {why}")]);
}

#[test]
fn what_was_imported_is_what_is_compiled() {
    let folder = folder(&[("list.json", LIST)]);
    gramc("import list.json -o tools.gram").within(folder.path()).run().exits(0);
    let tools = gramc("compile tools.gram --target mcp").within(folder.path()).run().exits(0);
    let sent: Value = serde_json::from_str(LIST).expect("JSON");
    for (sent, back) in
        sent["tools"].as_array().unwrap().iter().zip(tools.json()["tools"].as_array().unwrap())
    {
        assert_eq!(gramc_schema_tests::same::tool_difference(sent, back), None);
    }
}

#[test]
fn members_that_are_the_same_under_another_name_come_back() {
    for members in [
        r##"[{"$ref":"#/$defs/A"},{"type":"string"}]"##,
        r##"[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}]"##,
        r##"[{"$ref":"#/$defs/A"},{"type":"string"},{"type":"string","title":"T"}]"##,
        r#"[{"type":"string"},{"type":"string"}]"#,
    ] {
        for union in ["anyOf", "oneOf"] {
            let schema = format!(
                r#"{{"type":"object","properties":{{"x":{{"{union}":{members}}}}},"required":["x"],"$defs":{{"A":{{"type":"string"}},"B":{{"type":"string"}}}}}}"#
            );
            let gram = gramc("import - --name t").input(schema.as_str()).run().exits(0).stdout;
            let back = gramc("compile - --tool t").input(gram).run().exits(0).json();
            let schema: Value = serde_json::from_str(&schema).expect("JSON");
            assert_eq!(
                gramc_schema_tests::same::difference(&schema, &back),
                None,
                "{union} {members}"
            );
        }
    }
}

#[test]
fn lists_go_into_containers_and_schemas_get_names() {
    let run = gramc("import - --container files").input(LIST).run().exits(0);
    assert!(run.stdout.contains("[files:Container"), "{}", run.stdout);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}}).to_string();
    let run = gramc("import - --name order").input(schema.as_str()).run().clean();
    assert!(run.stdout.starts_with("[order:Tool"), "{}", run.stdout);
    let folder = folder(&[("person.schema.json", &schema)]);
    let run = gramc("import person.schema.json").within(folder.path()).run().clean();
    assert!(run.stdout.contains("person"), "{}", run.stdout);
}

#[test]
fn different_tools_of_one_name_get_names_of_their_own() {
    let tool = |ty: &str| json!({"name": "area", "parameters": {"type": "object", "properties": {"a": {"type": ty}}}});
    let list = json!([tool("string"), tool("integer"), tool("string"), tool("number")]);
    let run = gramc("import -").input(list.to_string()).run().exits(0);
    let folder = folder(&[("tools.gram", &run.stdout)]);
    let tools = gramc("compile tools.gram").within(folder.path()).run().clean().json();
    let types: Vec<_> = ["area", "area_2", "area_3"]
        .iter()
        .map(|name| tools[name]["properties"]["a"]["type"].clone())
        .collect();
    assert_eq!(types, ["string", "integer", "number"]);
    run.says(&["note: `area` occurs twice", "note: renamed a second tool `area`"]);
}

#[test]
fn what_stays_json_is_counted_and_named() {
    let schema =
        r#"{"type":"object","properties":{"a":{"not":{"type":"null"}},"b":{"type":"string"}}}"#;
    let run = gramc("import - --name odd").input(schema).run().exits(0);
    insta::assert_snapshot!(run.stderr, @r"
    note: 1 place stays JSON:
      tool `odd`: properties.a.not: gram cannot express `not`
    ");
    let kept = r#"(a?::Any {extensions: json`{"not":{"type":"null"}}`})"#;
    assert!(run.stdout.contains(kept), "{}", run.stdout);
}

#[test]
fn what_is_no_list_is_refused_with_a_reason() {
    for (text, words) in [
        ("", "empty"),
        ("{\"tools\": [", "invalid JSON"),
        ("[1, 2]", "does not contain tools"),
        ("\"text\"", "does not contain tools"),
        ("{\"tools\": [{\"description\": \"nameless\", \"inputSchema\": {}}]}", "name"),
    ] {
        let run = gramc("import -").input(text).run().exits(1);
        assert_eq!(run.stdout, "", "{text}");
        run.says(&[words]);
    }
    let deep = "[".repeat(100_000);
    gramc("import -").input(deep).run().exits(1).says(&["invalid JSON"]);
    gramc("import -").input(b"\"\xff\"".to_vec()).run().fails_with(&["UTF-8"]);
    gramc("import").run().fails_with(&["missing input"]);
    gramc("import no-such.json").run().fails_with(&["cannot read no-such.json"]);
    gramc("import --command no-such-program-anywhere").run().fails_with(&["no-such-program"]);
    gramc("import --url http://127.0.0.1:9/mcp").run().fails_with(&["127.0.0.1:9"]);
}

#[test]
fn long_lists_are_imported_in_no_time() {
    let text = "x".repeat(10_000_000);
    let list =
        json!({"tools": [{"name": "t", "description": text, "inputSchema": {"type": "object"}}]});
    let run = limited(20, "import - --from mcp").input(list.to_string()).run().clean();
    assert!(run.stdout.len() > 10_000_000);
}
