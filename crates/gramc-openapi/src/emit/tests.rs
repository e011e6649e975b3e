#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use gramc_schema::emit::Options;
use gramc_syntax::SourceFile;

use super::*;
use crate::{ApiOptions, import};

fn emitted(text: &str) -> Document {
    let parsed = gramc_syntax::parse(SourceFile::new("a.gram", text.to_owned()));
    let module = gramc_check::check(&[parsed]).module.unwrap();
    let options = Options { expanded: true, ..Options::new(Target::JsonSchema, 1) };
    let compilation = Compilation::new(&module, &options);
    document("a", (&module).into(), &compilation, compilation.entries())
}

#[test]
fn tools_are_operations() {
    let text = "[find:Tool {title: \"Find\", description: \"Finds\", readOnly: true} | (id::Int)==>(::Order)]
        [list:Tool {deprecated: true} | (q?::Text)==>(::Order[])]
        [ping:Tool | ()==>(::Any)]
        [Order::Record | (id::Int), (next?::Order)]
        [all:Container {description: \"All of them\"} | find, list]";
    let order = json!({"$ref": "#/components/schemas/Order"});
    let content = |schema: &Value| json!({"application/json": {"schema": schema}});
    let object = |name: &str, ty: &str, required: &[&str]| json!({"type": "object", "properties": {name: {"type": ty}}, "required": required});
    assert_eq!(
        emitted(text).value,
        json!({
            "openapi": "3.1.0",
            "info": {"title": "a", "version": "1.0.0"},
            "tags": [{"name": "all", "description": "All of them"}],
            "paths": {
                "/find": {"post": {
                    "operationId": "find",
                    "summary": "Find",
                    "description": "Finds",
                    "requestBody": {"required": true, "content": content(&object("id", "integer", &["id"]))},
                    "responses": {"200": {"description": "The result", "content": content(&order)}},
                    "x-mcp-annotations": {"readOnlyHint": true},
                    "tags": ["all"],
                }},
                "/list": {"post": {
                    "operationId": "list",
                    "requestBody": {"required": false, "content": content(&object("q", "string", &[]))},
                    "responses": {"200": {
                        "description": "The result",
                        "content": content(&json!({"type": "array", "items": order})),
                    }},
                    "tags": ["all"],
                    "deprecated": true,
                }},
                "/ping": {"post": {
                    "operationId": "ping",
                    "responses": {"200": {"description": "The result"}},
                }},
            },
            "components": {"schemas": {"Order": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "next": order},
                "required": ["id"],
            }}},
        })
    );
}

#[test]
fn definitions_with_one_name_stay_apart() {
    let mut components = Components::default();
    let with = |ty: &str| {
        json!({
            "properties": {"a": {"$ref": "#/$defs/A"}, "const": {"const": {"$ref": "#/$defs/A"}}},
            "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"type": ty}}
        })
    };
    let reference = |schema: &Value| schema["properties"]["a"]["$ref"].clone();
    let first = components.add("x", with("string"));
    assert_eq!(reference(&first), "#/components/schemas/A");
    // A value is no schema.
    assert_eq!(first["properties"]["const"]["const"], json!({"$ref": "#/$defs/A"}));
    assert_eq!(components.add("x", with("string")), first);
    let other = components.add("y", with("integer"));
    assert_eq!(reference(&other), "#/components/schemas/A2");
    let schemas = components.into_schemas();
    assert_eq!(schemas["A2"], json!({"items": {"$ref": "#/components/schemas/B2"}}));
    assert_eq!(schemas["B"], json!({"type": "string"}));
    assert_eq!(schemas["B2"], json!({"type": "integer"}));
}

#[test]
fn other_references_stay_within_their_schema() {
    let schema = json!({"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}});
    let added = Components::default().add("xParameters", schema.clone());
    assert_eq!(added["$id"], "urn:tool:xParameters");
    assert_eq!(added["properties"], schema["properties"]);
}

#[test]
fn a_document_is_imported_as_it_was() {
    let text = "/** Finds an order */
[find:Tool {readOnly: true, openWorld: false} | (id::Int)==>(kind?::Kind)==>(::Order)]
/** Removes it */
[remove:Tool {deprecated: true, destructive: true} | (id::Int)==>(why::Text)==>(::Null)]
[Kind::Enum | a, b]
[Order::Record | (id::Int), (next?::Order), (kinds::Kind[])]
";
    let document = emitted(text).value;
    let imported = import(&document, &ApiOptions::default()).unwrap().specification.text;
    assert_eq!(emitted(&imported).value, document, "{imported}");
}

/// `UPDATE_PAGES=1` writes the page.
#[test]
fn the_page_in_the_repository_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/targets/openapi.md");
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap_or_default(),
        page(),
        "UPDATE_PAGES=1 writes it"
    );
}
