//! What is imported comes back when it is compiled.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::path::PathBuf;

use gramc_check::{Checked, check};
use gramc_language_tests::campaign;
use gramc_language_tests::rng::Rng;
use gramc_model::{Module, Tool};
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use gramc_schema::import::{ImportOptions, Imported, Origin, import, import_value};
use gramc_schema_tests::same;
use gramc_schema_tests::schemas::Schemas;
use gramc_syntax::{Severity, SourceFile, parse};
use serde_json::{Map, Value, json};

/// How many failures each thread reports before it stops.
const MAX_FAILURES: usize = 3;

/// A tool as MCP has it, made of what the model says.
fn compiled(module: &Module, tool: &Tool) -> Value {
    let view = |view| serde_json::to_value(view).unwrap();
    let mut map = Map::new();
    map.insert("name".to_owned(), json!(tool.name.as_str()));
    for (key, text) in [("description", &tool.description), ("title", &tool.title)] {
        if let Some(text) = text {
            map.insert(key.to_owned(), json!(text.as_str()));
        }
    }
    let parameters = ParameterSchema::new(&module.types, tool);
    map.insert("inputSchema".to_owned(), view(json!(parameters)));
    if let Some(result) = ResultSchema::new(&module.types, tool) {
        map.insert("outputSchema".to_owned(), view(json!(result)));
    }
    let mut hints = Map::new();
    for (key, value) in &tool.attributes {
        let hint = match key.as_str() {
            "readOnly" => "readOnlyHint",
            "destructive" => "destructiveHint",
            "idempotent" => "idempotentHint",
            "openWorld" => "openWorldHint",
            "annotations" => {
                hints.extend(value.as_object().cloned().unwrap_or_default());
                map.insert("annotations".to_owned(), json!({}));
                continue;
            }
            other => {
                map.insert(other.to_owned(), value.clone());
                continue;
            }
        };
        hints.insert(hint.to_owned(), value.clone());
    }
    if map.contains_key("annotations") || !hints.is_empty() {
        map.insert("annotations".to_owned(), Value::Object(hints));
    }
    Value::Object(map)
}

/// Why what was imported does not come back, if it does not.
fn loss(tools: &[Value], imported: &Imported) -> Option<String> {
    let Imported { module, text, .. } = imported;
    let parsed = parse(SourceFile::new("imported.gram", text.clone()));
    let Checked { module: again, diagnostics } = check(&[parsed]);
    let unclean = |severity, code: &str| match severity {
        Severity::Note => code != "unknown-format",
        Severity::Warning => code != "unsound-import",
        Severity::Error => true,
    };
    let found: Vec<_> = diagnostics
        .iter()
        .filter(|found| unclean(found.severity, found.code.name))
        .map(|found| format!("{}: {}", found.code.name, found.message))
        .collect();
    let Some(again) = again else { return Some(format!("{found:#?}\n{text}")) };
    if !found.is_empty() {
        return Some(format!("{found:#?}\n{text}"));
    }
    if tools.len() != again.tools.len() {
        return Some(format!("{} tools are {}", tools.len(), again.tools.len()));
    }
    for (original, tool) in tools.iter().zip(&again.tools) {
        if let Some(difference) =
            same::tool_difference(&same::newest(original), &compiled(&again, tool))
        {
            return Some(format!("{}: {difference}\n{text}", tool.name));
        }
    }
    if *again != *module {
        return Some(format!("another module:\n{:#?}\n{module:#?}\n{text}", *again));
    }
    let marked = diagnostics.iter().any(|found| found.code.name == "unsound-import");
    (marked && imported.unsound == 0).then(|| format!("nothing is marked:\n{text}"))
}

/// The tools of a list in the form of MCP, whichever form it is in.
fn as_mcp(list: &Value) -> Vec<Value> {
    let items = ["tools", "functions"].iter().find_map(|key| list[*key].as_array());
    if let Some(items) = items.or_else(|| list.as_array()) {
        return items.iter().flat_map(one_as_mcp).collect();
    }
    let keyed =
        list.as_object().filter(|map| map.values().all(|schema| schema["type"] == "object"));
    match keyed {
        Some(map) => {
            map.iter().map(|(name, schema)| json!({"name": name, "inputSchema": schema})).collect()
        }
        None => vec![json!({"name": "tool", "inputSchema": list})],
    }
}

fn one_as_mcp(item: &Value) -> Vec<Value> {
    let declarations = ["functionDeclarations", "function_declarations"];
    if let Some(items) = declarations.iter().find_map(|key| item[*key].as_array()) {
        let mut tools: Vec<_> = items.iter().flat_map(one_as_mcp).collect();
        for tool in &mut tools {
            from_openapi(&mut tool["inputSchema"]);
        }
        return tools;
    }
    let mut map = item.as_object().unwrap().clone();
    if let Some(Value::Object(function)) = map.remove("function") {
        map.extend(function);
    }
    if map.get("type").is_some_and(|kind| kind == "function" || kind == "custom") {
        map.remove("type");
    }
    // A target says whether it is strict.
    map.remove("strict");
    for key in ["input_schema", "parameters", "parametersJsonSchema"] {
        if let Some(schema) = map.remove(key) {
            map.insert("inputSchema".to_owned(), schema);
        }
    }
    vec![Value::Object(map)]
}

/// What a schema of Gemini is in JSON Schema.
fn from_openapi(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    let nullable = map.remove("nullable") == Some(json!(true));
    if let Some(Value::String(ty)) = map.get("type") {
        let ty = ty.to_lowercase();
        map.insert("type".to_owned(), if nullable { json!([ty, "null"]) } else { json!(ty) });
    } else if nullable {
        map["anyOf"].as_array_mut().unwrap().push(json!({"type": "null"}));
    }
    if nullable && let Some(Value::Array(members)) = map.get_mut("enum") {
        members.push(Value::Null);
    }
    if let Some(example) = map.remove("example") {
        map.insert("examples".to_owned(), json!([example]));
    }
    for (key, value) in map {
        match key.as_str() {
            "properties" => value.as_object_mut().unwrap().values_mut().for_each(from_openapi),
            "items" => from_openapi(value),
            "anyOf" => value.as_array_mut().unwrap().iter_mut().for_each(from_openapi),
            _ if key.starts_with("min") || key.starts_with("max") => {
                if let Some(text) = value.as_str() {
                    *value = serde_json::from_str(text).unwrap();
                }
            }
            _ => {}
        }
    }
}

fn corpus() -> Vec<PathBuf> {
    let folder = gramc_language_tests::root().join("tests/corpus/import");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_json = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let mut files: Vec<_> = entries.filter(is_json).collect();
    files.sort();
    files
}

#[test]
fn the_corpus_comes_back() {
    let files = corpus();
    assert!(files.len() >= 20);
    let mut failures = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let imported =
            import(&text, &ImportOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let list: Value = serde_json::from_str(&text).unwrap();
        failures.extend(loss(&as_mcp(&list), &imported).map(|loss| format!("{name}: {loss}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Random tools, as lists that share parameters.
fn random(wild: bool, seed: u64, cases: usize) {
    let failures = campaign::each_thread(|first, step| {
        let mut failures = Vec::new();
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let tools = Schemas::new(&mut rng).wild(wild).tools();
            let Some(whole) = loss_of(&tools) else { continue };
            let small = tools.iter().find_map(|tool| {
                let loss = loss_of(std::slice::from_ref(tool))?;
                Some(format!("{tool}\n{loss}"))
            });
            failures.push(format!("case {case}: {}", small.unwrap_or(whole)));
            if failures.len() == MAX_FAILURES {
                break;
            }
        }
        failures
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
}

fn loss_of(tools: &[Value]) -> Option<String> {
    match import_value(json!({ "tools": tools }), &ImportOptions::default()) {
        Ok(imported) => loss(tools, &imported),
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn random_tools_come_back() {
    random(false, campaign::seed().wrapping_add(7), campaign::cases() / 2);
}

#[test]
fn wild_tools_come_back() {
    random(true, campaign::seed().wrapping_add(11), campaign::cases() / 8);
}

/// A small schema, and the tool that each form of it is imported as.
const SCHEMA: &str =
    r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;

#[test]
fn every_form_is_read() {
    let forms = [
        r#"{"tools":[{"name":"t","inputSchema":SCHEMA}]}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":SCHEMA}]}}"#,
        r#"[{"name":"t","inputSchema":SCHEMA}]"#,
        r#"{"name":"t","inputSchema":SCHEMA}"#,
        r#"[{"type":"function","function":{"name":"t","parameters":SCHEMA}}]"#,
        r#"{"tools":[{"type":"function","function":{"name":"t","parameters":SCHEMA}}]}"#,
        r#"{"type":"function","function":{"name":"t","parameters":SCHEMA}}"#,
        r#"[{"type":"function","name":"t","parameters":SCHEMA,"strict":null}]"#,
        r#"{"functions":[{"name":"t","parameters":SCHEMA}]}"#,
        r#"[{"name":"t","parameters":SCHEMA}]"#,
        r#"[{"name":"t","input_schema":SCHEMA},{"type":"web_search_20250305","name":"web_search"}]"#,
        r#"[{"functionDeclarations":[{"name":"t","parameters":SCHEMA}]}]"#,
        r#"[{"function_declarations":[{"name":"t","parametersJsonSchema":SCHEMA}]}]"#,
        r#"{"functionDeclarations":[{"name":"t","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}},"required":["city"]}}]}"#,
        r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"t","inputSchema":{"json":SCHEMA}}}]}}"#,
        r#"{"t":SCHEMA}"#,
        "SCHEMA",
        "{\"name\":\"t\",\"parameters\":SCHEMA}\n\n{\"name\":\"t\",\"parameters\":SCHEMA}\n",
    ];
    for form in forms {
        let json = form.replace("SCHEMA", SCHEMA);
        let options = ImportOptions { name: "t", ..ImportOptions::default() };
        let imported = import(&json, &options).unwrap_or_else(|error| panic!("{form}: {error}"));
        assert_eq!(imported.text, "[t:Tool | (city::Text)==>(::Any)]\n", "{form}");
        assert!(imported.verbatim.is_empty(), "{form}");
    }
    let strict =
        r#"[{"type":"function","function":{"name":"t","strict":true,"parameters":SCHEMA}}]"#;
    let imported = import(&strict.replace("SCHEMA", SCHEMA), &ImportOptions::default()).unwrap();
    assert_eq!(imported.text, "[t:Tool | (city::Text)==>(::Any)]\n");
    let note = "skipped `strict` of tool 1: compile for a strict target, such as openai-strict";
    assert_eq!(imported.notes, [note]);
}

#[test]
fn what_holds_no_tools_is_refused() {
    let told = |json: &str, from| {
        let options = ImportOptions { from, ..ImportOptions::default() };
        import(json, &options).expect_err(json).to_string()
    };
    let list = format!(r#"[{{"name":"t","inputSchema":{SCHEMA}}}]"#);
    for (json, from, words) in [
        (
            r#"[{"name":"t","inputSchema":[]}]"#,
            Origin::Auto,
            "tool `t`: its schema is not a JSON Schema",
        ),
        ("", Origin::Auto, "the input is empty"),
        ("{", Origin::Auto, "invalid JSON"),
        ("{}", Origin::Auto, "an empty object does not contain tools"),
        ("[1]", Origin::Auto, "a number does not contain tools"),
        ("\"x\"", Origin::Auto, "a text does not contain tools"),
        (r#"{"a":1,"b":2}"#, Origin::Auto, "an object with `a`, `b` does not contain tools"),
        (r#"{"jsonrpc":"2.0","error":{"message":"no"}}"#, Origin::Auto, "instead of tools: no"),
        (r#"[{"inputSchema":{}}]"#, Origin::Auto, "tool 1 has no name"),
        (&list, Origin::OpenAi, "expected tools of OpenAI, {"),
        (&list, Origin::Anthropic, "found a tool of MCP"),
        (&list, Origin::JsonSchema, "expected a JSON Schema"),
    ] {
        let message = told(json, from);
        assert!(message.contains(words), "{json}: {message}");
    }
    let deep = "[".repeat(100_000);
    assert!(told(&deep, Origin::Auto).contains("deep"));
    let named = ImportOptions { container: Some("t"), ..ImportOptions::default() };
    assert!(import(&list, &named).is_err());
}

#[test]
fn what_is_no_tool_is_left_out() {
    let notes = |json: &str| import(json, &ImportOptions::default()).unwrap().notes;
    let good = format!(r#"{{"name":"t","inputSchema":{SCHEMA}}}"#);
    for (other, note) in [
        ("1", "left out tool 2: a number does not contain tools"),
        (r#"{"inputSchema":{}}"#, "left out: tool 2 has no name"),
        (
            r#"{"name":"u","inputSchema":"x"}"#,
            "tool `u` is left out: its schema is not a JSON Schema",
        ),
        (
            r##"{"name":"u","inputSchema":{"properties":{"a":{"$ref":"#/$defs/A"}}}}"##,
            "tool `u` is left out: properties.a: the reference `#/$defs/A` leads nowhere",
        ),
        (r#"{"googleSearch":{}}"#, "skipped tool 2: `googleSearch` is built into the provider"),
        (r#"{"type":"custom","name":"c"}"#, "left out tool 2: a `custom` tool takes text"),
        (r#"{"type":"custom","custom":{"name":"c"}}"#, "left out tool 2: a `custom` tool"),
    ] {
        let found = notes(&format!("[{good},{other}]"));
        assert!(found.len() == 1 && found[0].starts_with(note), "{other}: {found:?}");
    }
    let found = notes(r#"[{"functionDeclarations":[{"name":"t"}],"googleSearch":{}}]"#);
    assert_eq!(found, ["skipped `googleSearch` of tool 1: it is built into the provider"]);
}

#[test]
fn what_is_large_or_deep_comes_back() {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let lists = nested(r#"{"type":"array","items":"#, r#"{"type":"string"}"#, "}", 110);
    let objects = nested(r#"{"type":"object","properties":{"a":"#, r#"{"default":1}"#, "}}", 55);
    let unions = nested(r#"{"anyOf":[{"type":"null"},"#, r#"{"type":"string"}"#, "]}", 55);
    for schema in [lists, objects, unions] {
        let schema = format!(r#"{{"type":"object","properties":{{"x":{schema}}}}}"#);
        let imported = import(&schema, &ImportOptions::default()).unwrap();
        let list: Value = serde_json::from_str(&schema).unwrap();
        let loss = loss(&as_mcp(&list), &imported);
        assert!(loss.is_none(), "{}", loss.unwrap());
    }
    let many: Map<String, Value> = (0..5_000)
        .map(|at| {
            (
                format!("p{at}"),
                json!({"type": "object", "properties": {"kind": {"const": at, "title": "T"}}}),
            )
        })
        .collect();
    let tools = [json!({"name": "t", "inputSchema": {"type": "object", "properties": many}})];
    assert_eq!(loss_of(&tools), None);
}

/// What is imported is for people to read.
#[test]
fn imported_texts_read_well() {
    for name in ["mcp-tracker", "openai-travel", "schema-booking"] {
        let path = gramc_language_tests::root().join(format!("tests/corpus/import/{name}.json"));
        let json = std::fs::read_to_string(path).unwrap();
        let imported =
            import(&json, &ImportOptions { name: "book", ..ImportOptions::default() }).unwrap();
        insta::assert_snapshot!(name, imported.text);
    }
}
