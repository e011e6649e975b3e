//! What is imported comes back when it is compiled.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gram_schema::emit::{ParameterSchema, ResultSchema};
use gram_schema::import::{Imported, Options, import, import_value};
use gram_schema::model::{Module, Tool};
use gram_schema::{Checked, Draft, check};
use gram_syntax::{Severity, SourceFile, parse};
use gramc_tests::campaign;
use gramc_tests::rng::Rng;
use gramc_tests::same;
use gramc_tests::schemas::Schemas;
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
    let parameters = ParameterSchema::new(&module.types, tool, Draft::Draft2020);
    map.insert("inputSchema".to_owned(), view(json!(parameters)));
    if let Some(result) = ResultSchema::new(&module.types, tool, Draft::Draft2020) {
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
        if let Some(difference) = same::tool_difference(original, &compiled(&again, tool)) {
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
    let keyed = list.as_object().filter(|map| map.values().all(|schema| schema["type"] == "object"));
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
        return items.iter().flat_map(one_as_mcp).collect();
    }
    let mut map = item.as_object().unwrap().clone();
    if let Some(Value::Object(function)) = map.remove("function") {
        map.extend(function);
    }
    if map.get("type").is_some_and(|kind| kind == "function" || kind == "custom") {
        map.remove("type");
    }
    for key in ["input_schema", "parameters", "parametersJsonSchema"] {
        if let Some(schema) = map.remove(key) {
            map.insert("inputSchema".to_owned(), schema);
        }
    }
    vec![Value::Object(map)]
}

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/import");
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
        let imported = import(&text, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        // Schemas of OpenAPI come back as JSON Schemas; `gemini` below compares these.
        let list: Value = serde_json::from_str(&text).unwrap();
        if name.starts_with("gemini") && text.contains("\"parameters\"") {
            continue;
        }
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
    match import_value(json!({ "tools": tools }), &Options::default()) {
        Ok(imported) => loss(tools, &imported),
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn random_tools_come_back() {
    random(false, campaign::seed().wrapping_add(7), campaign::cases() / 4);
}

#[test]
fn wild_tools_come_back() {
    random(true, campaign::seed().wrapping_add(11), campaign::cases() / 8);
}

/// The lists of tools in a folder, for a look at how much of them gram has words for: set
/// `GRAMC_LISTS` to the folder.
#[test]
fn lists_in_a_folder_come_back() {
    let Ok(folder) = std::env::var("GRAMC_LISTS") else { return };
    let (mut total, mut verbatim) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(list) = serde_json::from_str::<Value>(&text) else { continue };
        let imported = import(&text, &Options::default()).unwrap();
        let places = &imported.verbatim;
        let tools: BTreeSet<_> = places.iter().map(|place| &place.tool).collect();
        println!("{}: {} of {} with verbatim places", path.display(), tools.len(), imported.module.tools.len());
        places.iter().for_each(|place| println!("  {place}"));
        places.iter().for_each(|place| *reasons.entry(place.reason.clone()).or_default() += 1);
        total += imported.module.tools.len();
        verbatim += tools.len();
        if std::env::var("GRAMC_SHOW").is_ok() {
            println!("{}", imported.text);
        }
        failures.extend(loss(&as_mcp(&list), &imported).map(|loss| format!("{}: {loss}", path.display())));
    }
    println!("{verbatim} of {total} tools; {reasons:#?}");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
