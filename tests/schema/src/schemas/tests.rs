use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Schemas;
use crate::same;
use gramc_language_tests::rng::Rng;

fn cases(count: usize, wild: bool, mut see: impl FnMut(usize, &Value)) {
    for case in 0..count {
        let mut rng = Rng::for_case(7, case);
        let tool = Schemas::new(&mut rng).wild(wild).tool();
        see(case, &tool);
    }
}

/// The place of every schema, and every reference, with its root.
fn walk<'a>(root: &'a Value, schema: &'a Value, see: &mut impl FnMut(&'a Value, &'a Value)) {
    see(root, schema);
    let Some(members) = schema.as_object() else { return };
    for (key, value) in members {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "patternProperties", Value::Object(schemas)) => {
                schemas.values().for_each(|schema| walk(root, schema, see));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                for schema in schemas {
                    walk(root, schema, see);
                }
            }
            ("items" | "additionalProperties" | "propertyNames" | "not", schema) => {
                walk(root, schema, see);
            }
            _ => {}
        }
    }
}

fn schemas(tool: &Value) -> impl Iterator<Item = &Value> {
    ["inputSchema", "outputSchema"].into_iter().filter_map(|key| tool.get(key))
}

#[test]
fn all_are_valid_by_the_metaschema() {
    let meta = jsonschema::draft202012::meta::validator();
    for wild in [false, true] {
        cases(10_000, wild, |case, tool| {
            for schema in schemas(tool) {
                let mut plain = schema.clone();
                // Which dialect a schema says it is in is nothing that this test asks.
                plain.as_object_mut().expect("an object").shift_remove("$schema");
                if let Err(error) = meta.validate(&plain) {
                    panic!("case {case}, wild {wild}: {error} at {}", error.instance_path());
                }
                assert_eq!(schema["type"], "object", "case {case}");
            }
        });
    }
}

#[test]
fn every_reference_leads_to_a_definition() {
    let mut references = 0;
    cases(3_000, false, |case, tool| {
        for root in schemas(tool) {
            walk(root, root, &mut |root, schema| {
                let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return };
                let name = reference.strip_prefix("#/$defs/").expect("a definition");
                let name = name.replace("%5B", "[").replace("%5D", "]").replace("%20", " ");
                let name = name.replace("~1", "/").replace("~0", "~");
                assert!(root["$defs"].get(&name).is_some(), "case {case}: {reference}");
                references += 1;
            });
        }
    });
    assert!(references > 500, "only {references} references");
}

#[test]
fn lists_have_distinct_names_and_shared_parameters() {
    let mut shared = 0;
    for case in 0..500 {
        let mut rng = Rng::for_case(9, case);
        let tools = Schemas::new(&mut rng).tools();
        assert!(!tools.is_empty());
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for (at, tool) in tools.iter().enumerate() {
            let name = tool["name"].as_str().expect("a name");
            assert!(tools[..at].iter().all(|other| other["name"] != name), "{name} twice");
            if let Some(properties) = tool["inputSchema"]["properties"].as_object() {
                for (key, property) in properties {
                    *seen.entry(format!("{key} {property}")).or_default() += 1;
                }
            }
        }
        shared += usize::from(seen.values().any(|count| *count > 1));
    }
    assert!(shared > 100, "only {shared} lists of 500 share a parameter");
}

#[test]
fn the_same_seed_makes_the_same_tools() {
    let made = |seed| Schemas::new(&mut Rng::new(seed)).wild(true).tools();
    assert_eq!(made(1), made(1));
    assert_ne!(made(1), made(2));
}

#[test]
fn a_schema_is_the_same_as_itself_and_differs_from_others() {
    let mut before = Value::Null;
    cases(1_000, true, |case, tool| {
        let read: Value = serde_json::from_str(&tool.to_string()).expect("JSON");
        assert_eq!(same::tool_difference(tool, &read), None, "case {case}");
        assert!(same::tool_difference(&before, tool).is_some(), "case {case}");
        before = tool.clone();
    });
}

/// What a schema uses of the things that were seen in real tools, each under a name.
fn features(root: &Value, schema: &Value, seen: &mut BTreeMap<String, usize>) {
    let mut note = |name: &str| *seen.entry(name.to_owned()).or_default() += 1;
    let Some(members) = schema.as_object() else { return note("a boolean schema") };
    for key in members.keys() {
        note(key);
    }
    let has = |key: &str| members.contains_key(key);
    let union = has("anyOf") || has("oneOf");
    let described = ["title", "description", "default"].iter().any(|key| has(key));
    if members.is_empty() {
        note("an empty schema");
    }
    if members.len() == 1 && has("description") {
        note("a description only");
    }
    if union && described {
        note("a described union");
    }
    if has("const") {
        note(if has("type") { "a typed const" } else { "an untyped const" });
    }
    if has("$ref") && has("description") {
        note("a described reference");
    }
    match members.get("type") {
        Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "null") => {
            note("null in a type list");
            if has("enum") {
                note("an enum with a type list");
            }
        }
        Some(kind) if kind == "object" && !has("properties") => {
            note("an object without properties");
        }
        _ => {}
    }
    if let Some(Value::Array(kinds)) = members.get("anyOf")
        && kinds.iter().any(|kind| kind["type"] == "null")
    {
        note("null in anyOf");
    }
    if let Some(default) = members.get("default") {
        note(&format!("default {}", kind(default)));
        if default.is_i64() && members.get("type") == Some(&Value::from("number")) {
            note("an integer default on a number");
        }
        if let Some(Value::Array(kinds)) = members.get("enum")
            && !kinds.contains(default)
        {
            note("a default outside its enum");
        }
    }
    if let Some(Value::Array(kinds)) = members.get("enum") {
        for member in kinds {
            note(&format!("enum {}", kind(member)));
        }
        note(match kinds.len() {
            1 => "an enum of one",
            126 => "an enum of 126",
            _ => "an enum of some",
        });
        if kinds.iter().any(|member| kind(member) != kind(&kinds[0])) && !has("type") {
            note("a mixed enum without type");
        }
    }
    if let Some(Value::String(format)) = members.get("format") {
        note(&format!("format {format}"));
    }
    if has("properties") || members.get("type") == Some(&Value::from("object")) {
        object_features(members, seen);
    }
    if std::ptr::eq(root, schema) {
        definition_features(root, seen);
    }
}

/// The same for the keywords of an object's properties.
fn object_features(members: &Map<String, Value>, seen: &mut BTreeMap<String, usize>) {
    let mut note = |name: &str| *seen.entry(name.to_owned()).or_default() += 1;
    if let Some(open) = members.get("additionalProperties") {
        let empty = open.as_object().is_some_and(Map::is_empty);
        note(&format!(
            "additionalProperties {}",
            match open {
                Value::Bool(open) =>
                    if *open {
                        "true"
                    } else {
                        "false"
                    },
                _ if empty => "{}",
                _ => "schema",
            }
        ));
    }
    let properties = members.get("properties").and_then(Value::as_object);
    match members.get("required") {
        Some(Value::Array(names)) if names.is_empty() => note("required empty"),
        Some(Value::Array(names)) => {
            let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
            let known = |name: &&str| properties.is_some_and(|it| it.contains_key(*name));
            if !names.iter().all(known) {
                note("required of a missing one");
            }
            if names.iter().any(|name| {
                properties
                    .is_some_and(|it| it.get(*name).is_some_and(|it| it.get("default").is_some()))
            }) {
                note("required with a default");
            }
            let order: Vec<_> = properties
                .into_iter()
                .flat_map(|it| it.keys())
                .filter(|key| names.contains(&key.as_str()))
                .collect();
            if order.iter().zip(&names).any(|(left, right)| left != right) {
                note("required in another order");
            }
        }
        _ => note("required absent"),
    }
    for key in properties.into_iter().flat_map(|it| it.keys()) {
        for odd in ["Content-Type", "$vectorSearch", "MA(5)", "año", "", "type", "properties"] {
            if key == odd {
                note(&format!("key {odd:?}"));
            }
        }
    }
}

/// The same for a root's definitions.
fn definition_features(root: &Value, seen: &mut BTreeMap<String, usize>) {
    let mut note = |name: &str| *seen.entry(name.to_owned()).or_default() += 1;
    let text = root.to_string();
    for (name, definition) in root["$defs"].as_object().into_iter().flatten() {
        let reference = format!("\"#/$defs/{name}\"");
        if name.chars().all(char::is_alphanumeric) && !text.contains(&reference) {
            note("an unused definition");
        }
        if !name.chars().all(char::is_alphanumeric) && text.contains(&reference) {
            note("a used definition that is no identifier");
        }
        if definition.to_string().contains(&reference) {
            note("a recursive definition");
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(text) if text.is_empty() => "\"\"",
        Value::String(_) => "string",
        Value::Array(items) if items.is_empty() => "[]",
        Value::Array(_) => "array",
        Value::Object(members) if members.is_empty() => "{}",
        Value::Object(_) => "object",
    }
}

fn depth(schema: &Value) -> usize {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let below = properties.map(|(_, schema)| depth(schema)).max().unwrap_or(0);
    usize::from(schema["type"] == "object") + below
}

/// What was seen in the schemas of real tools.
const SEEN_IN_SCHEMAS: &[&str] = &[
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "anyOf",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "minItems",
    "pattern",
    "format uuid",
    "format uri",
    "format int32",
    "format json",
    "format date-time",
    "default null",
    "default \"\"",
    "default []",
    "default {}",
    "default object",
    "default array",
    "default boolean",
    "default number",
    "default string",
    "a default outside its enum",
    "an integer default on a number",
    "enum string",
    "enum number",
    "enum boolean",
    "enum null",
    "an enum of one",
    "an enum of 126",
    "an enum with a type list",
    "a mixed enum without type",
    "a typed const",
    "an untyped const",
    "required absent",
    "required empty",
    "required of a missing one",
    "required with a default",
    "required in another order",
    "additionalProperties true",
    "additionalProperties false",
    "additionalProperties {}",
    "additionalProperties schema",
    "null in a type list",
    "null in anyOf",
    "a described union",
    "an empty schema",
    "a description only",
    "an object without properties",
    "a described reference",
    "an unused definition",
    "a used definition that is no identifier",
    "a recursive definition",
    "key \"Content-Type\"",
    "key \"$vectorSearch\"",
    "key \"MA(5)\"",
    "key \"año\"",
    "key \"\"",
    "key \"type\"",
    "key \"properties\"",
];

/// Keys of real tools other than their schemas.
const SEEN_IN_TOOLS: &[&str] = &[
    "tool title",
    "tool description",
    "tool outputSchema",
    "tool annotations",
    "tool _meta",
    "tool execution",
    "annotation title",
    "annotation readOnlyHint",
    "annotation costHint",
];

#[test]
fn whatever_real_schemas_use_comes_up() {
    let mut seen = BTreeMap::new();
    let mut deepest = 0;
    cases(10_000, false, |_, tool| {
        for root in schemas(tool) {
            walk(root, root, &mut |root, schema| features(root, schema, &mut seen));
            deepest = deepest.max(depth(root));
        }
        for key in tool.as_object().into_iter().flat_map(|tool| tool.keys()) {
            *seen.entry(format!("tool {key}")).or_default() += 1;
        }
        for key in tool["annotations"].as_object().into_iter().flat_map(|it| it.keys()) {
            *seen.entry(format!("annotation {key}")).or_default() += 1;
        }
    });
    for feature in SEEN_IN_SCHEMAS.iter().chain(SEEN_IN_TOOLS).copied() {
        let count = seen.get(feature).copied().unwrap_or(0);
        assert!(count >= 20, "{feature} comes up {count} times in 10,000 tools: {seen:#?}");
    }
    assert_eq!(deepest, 7, "the root and six levels below");
    for beyond in ["allOf", "not", "if", "patternProperties", "x-foo", "definitions"] {
        assert!(!seen.contains_key(beyond), "{beyond} comes up unasked");
    }
}

#[test]
fn wildness_comes_up_where_it_is_asked_for() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    cases(10_000, true, |_, tool| {
        for root in schemas(tool) {
            walk(root, root, &mut |root, schema| features(root, schema, &mut seen));
        }
    });
    for feature in [
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "dependentRequired",
        "dependentSchemas",
        "contains",
        "unevaluatedProperties",
        "$comment",
        "readOnly",
        "x-foo",
        "nullable",
        "definitions",
        "$anchor",
        "a boolean schema",
        "x-fastmcp-wrap-result",
    ] {
        let count = seen.get(feature).copied().unwrap_or(0);
        assert!(count >= 20, "{feature} comes up {count} times in 10,000 tools");
    }
}

/// The schemas of the corpus for imports, each with its file.
fn imported() -> Vec<(String, Value)> {
    let folder = gramc_language_tests::root().join("tests/corpus/import");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the corpus is there") {
        let path = entry.expect("the corpus is readable").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("the corpus is readable");
        let value: Value = serde_json::from_str(&text).expect("the corpus is JSON");
        let before = found.len();
        if name.starts_with("schema-") {
            found.push((name.clone(), value));
        } else if let (true, Value::Object(schemas)) = (name.starts_with("schemas-"), &value) {
            found.extend(schemas.values().map(|schema| (name.clone(), schema.clone())));
        } else {
            schemas_of_tools(&name, &value, &mut found);
        }
        assert!(found.len() > before, "{name} holds no schema");
    }
    found
}

fn schemas_of_tools(name: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|it| schemas_of_tools(name, it, found)),
        Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "inputSchema"
                    | "outputSchema"
                    | "input_schema"
                    | "parameters"
                    | "parametersJsonSchema" => found.push((name.to_owned(), value.clone())),
                    "tools" | "functions" | "function" | "functionDeclarations" => {
                        schemas_of_tools(name, value, found);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[test]
fn the_corpus_holds_whatever_real_schemas_use() {
    let meta = jsonschema::draft202012::meta::validator();
    let mut seen = BTreeMap::new();
    let schemas = imported();
    assert!(schemas.len() > 50, "only {} schemas", schemas.len());
    let mut deepest = 0;
    for (name, schema) in &schemas {
        walk(schema, schema, &mut |root, schema| features(root, schema, &mut seen));
        deepest = deepest.max(depth(schema));
        // Gemini's upper case is its own.
        if let Err(error) = meta.validate(schema)
            && name != "gemini-uppercase.json"
        {
            panic!("{name}: {error} at {}", error.instance_path());
        }
    }
    for feature in SEEN_IN_SCHEMAS {
        assert!(seen.contains_key(*feature), "no file holds {feature}");
    }
    assert_eq!(deepest, 7, "the root and six levels below");
}
