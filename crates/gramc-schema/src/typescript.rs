//! Tools as TypeScript declarations, for the prompt of a model that writes code.
//!
//! A declaration needs fewer tokens than the JSON of the same tool. What TypeScript's types cannot
//! express is written as a comment.

mod defs;
mod page;
pub mod text;
mod types;

use std::fmt::Write as _;

use serde_json::Value;

use crate::lower::{ToolJson, modernize};
use defs::Declared;
pub use page::page;
use types::TypeWriter;

/// The name on the command line.
pub const NAME: &str = "typescript";

/// A noun phrase that describes the output.
pub const ABOUT: &str =
    "TypeScript declarations of the tools, for the prompt of a model that writes code";

/// The declarations of some tools, and of the types that they use.
pub fn declarations(tools: Vec<ToolJson<'_>>) -> String {
    let mut declared = Declared::default();
    let mut methods = String::new();
    for mut tool in tools {
        modernize(&mut tool.parameters);
        tool.output.iter_mut().for_each(modernize);
        method(&mut methods, &mut declared, &tool);
    }
    format!("{}declare const tools: {{\n{methods}}};\n", declared.into_text())
}

/// Appends a tool as a method.
fn method(out: &mut String, declared: &mut Declared, tool: &ToolJson<'_>) {
    let mut doc = tool.description.unwrap_or_default().trim().to_owned();
    let mut writer = TypeWriter::new(declared, &tool.parameters);
    let arguments = writer.root(&tool.parameters, 1);
    if !arguments.notes.is_empty() {
        text::sentence(&mut doc, &arguments.notes);
    }
    let result = match &tool.output {
        Some(schema) => {
            let result = TypeWriter::new(declared, schema).root(schema, 1);
            if !result.notes.is_empty() {
                text::sentence(&mut doc, &format!("Returns: {}", result.notes));
            }
            result.text
        }
        None => "unknown".to_owned(),
    };
    text::comment(out, &doc, 1);
    // Writing to a string does not fail.
    let _ = write!(out, "  {}(", text::key(tool.name));
    if takes_arguments(&tool.parameters) {
        let optional = if needs_arguments(&tool.parameters) { "" } else { "?" };
        let _ = write!(out, "args{optional}: {}", arguments.text);
    }
    let _ = writeln!(out, "): Promise<{result}>;");
}

fn is_empty(schema: &Value, key: &str) -> bool {
    match schema.get(key) {
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => true,
    }
}

/// Whether a tool has parameters, or accepts any.
fn takes_arguments(schema: &Value) -> bool {
    let others = ["anyOf", "oneOf", "allOf", "$ref", "patternProperties"];
    let open = schema.get("additionalProperties").is_some_and(|of| *of != Value::Bool(false));
    !is_empty(schema, "properties") || open || others.iter().any(|key| schema.get(key).is_some())
}

fn needs_arguments(schema: &Value) -> bool {
    let others = ["anyOf", "oneOf", "allOf", "$ref"];
    !is_empty(schema, "required") || others.iter().any(|key| schema.get(key).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;

    fn declared(parameters: &Value, output: Option<Value>) -> String {
        declarations(vec![ToolJson {
            name: "get.it",
            title: None,
            description: Some("Gets it\n\nand more */ or less"),
            parameters: parameters.clone(),
            output,
            annotations: Map::new(),
            attributes: Vec::new(),
        }])
    }

    #[test]
    fn types_of_any_kind_end_at_some_depth() {
        for wrap in [
            |inner: Value| json!({"type": "array", "items": inner}),
            |inner: Value| json!({"type": "array", "prefixItems": [inner]}),
            |inner: Value| json!({"anyOf": [inner, {"type": "null"}]}),
            |inner: Value| json!({"allOf": [inner]}),
            |inner: Value| json!({"type": "object", "additionalProperties": inner}),
        ] {
            let deep = (0..400).fold(json!({"const": "deep"}), |inner, _| wrap(inner));
            let text = declared(&json!({"type": "object", "properties": {"x": deep}}), None);
            assert!(text.contains("unknown") && !text.contains("deep"), "{text}");
        }
    }

    #[test]
    fn a_tool_is_a_method_with_a_comment() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where", "minLength": 1},
                "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
                "unit": {"enum": ["c", "f", null], "description": "Unit.\nOf it"},
                "at": {"type": "object", "properties": {
                    "lat": {"type": "number"}, "a-b": {"type": ["string", "null"]}
                }, "required": ["lat"], "additionalProperties": false},
                "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"const": 1}], "items": false, "minItems": 1},
                "more": {"type": "object", "additionalProperties": {"type": "boolean"}},
                "any": {}, "none": false,
                "tree": {"$ref": "#/$defs/Tree", "description": "The tree"}
            },
            "required": ["city", "at", "zz"],
            "$defs": {"Tree": {"type": "object", "description": "A tree", "properties": {
                "next": {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "uniqueItems": true}
            }}}
        });
        let result = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
        assert_eq!(
            declared(&schema, Some(result)),
            "/** A tree */
type Tree = {
  /** All items are different. */
  next?: Tree[];
};
declare const tools: {
  /** Gets it

and more *\\/ or less. Also needed: `zz`. */
  \"get.it\"(args: {
    /** Where. At least 1 character. */
    city: string;
    /** Integer, 1 to 14. Default: 3. */
    days?: number;
    /** Unit.
Of it */
    unit?: \"c\" | \"f\" | null;
    at: { lat: number; \"a-b\"?: string | null };
    tags?: (string | null)[];
    pair?: [string, 1?];
    more?: { [key: string]: boolean };
    any?: unknown;
    none?: never;
    /** The tree */
    tree?: Tree;
  }): Promise<{ ok: boolean }>;
};
"
        );
    }

    #[test]
    fn types_of_two_tools_share_a_declaration_if_they_are_equal() {
        let tool = |name, definition: Value| ToolJson {
            name,
            title: None,
            description: None,
            parameters: json!({
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/B"}}, "B": definition}
            }),
            output: None,
            annotations: Map::new(),
            attributes: Vec::new(),
        };
        let text = json!({"type": "string"});
        let tools = vec![
            tool("one", text.clone()),
            tool("two", text),
            tool("three", json!({"type": "null"})),
        ];
        assert_eq!(
            declarations(tools),
            "type A = B[];
type B = string;
type A2 = B2[];
type B2 = null;
declare const tools: {
  one(args?: { a?: A }): Promise<unknown>;
  two(args?: { a?: A }): Promise<unknown>;
  three(args?: { a?: A2 }): Promise<unknown>;
};
"
        );
    }

    #[test]
    fn endless_and_dangling_references_are_unknown() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/nowhere"}, "c": {"$ref": "#"},
                "d": {"$ref": "#/properties/e"}, "e": {"type": "string"}
            },
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}
        });
        assert_eq!(declared(&schema, None), "type A = unknown;
type Arguments = { a?: unknown; b?: unknown; c?: Arguments; d?: E; e?: string };
type E = string;
declare const tools: {
  /** Gets it

and more *\\/ or less */
  \"get.it\"(args?: { a?: unknown; b?: unknown; c?: Arguments; d?: E; e?: string }): Promise<unknown>;
};
");
        let nothing = json!({"type": "object", "properties": {}});
        assert_eq!(
            declared(&nothing, Some(json!({"type": "string"}))),
            "declare const tools: {
  /** Gets it

and more *\\/ or less */
  \"get.it\"(): Promise<string>;
};
"
        );
    }
}
