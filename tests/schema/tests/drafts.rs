//! The verdicts on schemas of all drafts, after their import, against those of referees: the crate
//! `jsonschema` on random schemas, and JSON-Schema-Test-Suite.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod draft7;
mod generate;
mod random;
mod real;

use gramc_calls::check::{Policy, ToolCheck, Undeclared};
use gramc_schema::import::{ImportOptions, import_value};
use gramc_syntax::{SourceFile, parse};
use jsonschema::Draft;
use serde_json::{Value, json};

/// All drafts, with the folder of the suite and the keyword of identifiers.
const DRAFTS: [(Draft, &str, &str); 5] = [
    (Draft::Draft4, "draft4", "id"),
    (Draft::Draft6, "draft6", "$id"),
    (Draft::Draft7, "draft7", "$id"),
    (Draft::Draft201909, "draft2019-09", "$id"),
    (Draft::Draft202012, "draft2020-12", "$id"),
];

/// The URI of a draft's metaschema.
fn metaschema(draft: Draft) -> &'static str {
    match draft {
        Draft::Draft4 => "http://json-schema.org/draft-04/schema#",
        Draft::Draft6 => "http://json-schema.org/draft-06/schema#",
        Draft::Draft7 => "http://json-schema.org/draft-07/schema#",
        Draft::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
        _ => "https://json-schema.org/draft/2020-12/schema",
    }
}

/// The schema with its draft, unless it names one.
fn declared(schema: &Value, draft: Draft) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(map) = &mut schema {
        map.entry("$schema").or_insert_with(|| metaschema(draft).into());
    }
    schema
}

/// A schema as the type of the property `value` of an object. Its references keep their meaning,
/// because it has an identifier. `None` if an identifier would have no effect.
fn wrapped(schema: &Value, draft: Draft, id: &str) -> Option<Value> {
    let mut inner = schema.clone();
    if let Value::Object(map) = &mut inner {
        if draft <= Draft::Draft7 && map.contains_key("$ref") {
            return None;
        }
        map.shift_remove("$schema");
        map.entry(id).or_insert_with(|| "http://example.com/inner".into());
    }
    let definitions = if draft <= Draft::Draft7 { "definitions" } else { "$defs" };
    Some(json!({
        "$schema": metaschema(draft),
        "type": "object",
        "properties": {"value": {"$ref": format!("#/{definitions}/Inner")}},
        definitions: {"Inner": inner}
    }))
}

/// The check of a tool whose parameters have this schema, from the import on.
fn imported(schema: &Value) -> Result<ToolCheck, String> {
    let tools = json!({"tools": [{"name": "tool", "inputSchema": schema}]});
    let imported = import_value(tools, &ImportOptions::default()).map_err(|e| e.to_string())?;
    let checked = gramc_check::check(&[parse(SourceFile::new("t.gram", imported.text.as_str()))]);
    let Some(module) = checked.module else {
        panic!("{:?}\n{}", checked.diagnostics, imported.text);
    };
    ToolCheck::of_tool(&module.types, &module.tools[0])
        .map_err(|error| format!("{error}\n{}", imported.text))
}

/// Whether a value is valid, for the check of values and, where it is an object, of calls. Both have
/// to agree: a valid call is never refused, and an invalid one never accepted without a repair.
fn is_valid(check: &ToolCheck, value: &Value) -> bool {
    let text = value.to_string();
    let fits = check.fits(&text).is_ok();
    let strict = Policy { repair: false, undeclared: Undeclared::Schema, ..Policy::default() };
    assert!(
        !(value.is_object() && check.check(&text, strict).is_ok() != fits),
        "the check of values says {fits}, and that of calls does not: {text}"
    );
    fits
}
