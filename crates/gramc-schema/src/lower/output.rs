//! Types as structured output: what a model's answer has to be.

use serde_json::{Map, Value};

use super::loss::{Became, Loss};
use super::shape::is_object_schema;
use super::target_spec::TargetSpec;
use super::{Lowered, Names, ToolJson, lower};

/// The property of the object that contains a value of another type.
const VALUE: &str = "value";

/// Lowers the schema of a type to a target for structured output.
///
/// Providers only accept objects. A value of another type becomes the only property of one.
pub fn lower_output(
    spec: &TargetSpec,
    name: &str,
    description: Option<&str>,
    mut schema: Value,
) -> Lowered {
    if let Value::Object(map) = &mut schema
        && map.get("description").and_then(Value::as_str) == description
    {
        // Once is enough.
        map.shift_remove("description");
    }
    let is_object = is_object_schema(&schema);
    let ty = schema.get("type").cloned();
    let parameters = if is_object { schema } else { wrapped(schema) };
    let tool = ToolJson {
        name,
        title: None,
        description,
        parameters,
        output: None,
        annotations: Map::new(),
        extras: Vec::new(),
    };
    let mut lowered = lower(spec, &Names::new(spec, [name]), tool);
    if !is_object {
        let loss = Loss {
            tool: name.to_owned(),
            path: String::new(),
            constraint: "type".to_owned(),
            value: ty.unwrap_or_default(),
            became: Became::Wrapped { key: VALUE },
        };
        lowered.losses.insert(0, loss);
    }
    lowered
}

/// An object with the value as its only property. Definitions stay at the root.
fn wrapped(mut schema: Value) -> Value {
    let mut root = Map::new();
    root.insert("type".to_owned(), "object".into());
    let mut definitions = Map::new();
    if let Value::Object(map) = &mut schema {
        for key in ["$defs", "definitions"] {
            definitions.extend(map.shift_remove(key).map(|all| (key.to_owned(), all)));
        }
    }
    move_references(&mut schema, 0);
    definitions.values_mut().for_each(|all| move_references(all, 0));
    let mut properties = Map::new();
    properties.insert(VALUE.to_owned(), schema);
    root.insert("properties".to_owned(), properties.into());
    root.insert("required".to_owned(), Value::Array(vec![VALUE.into()]));
    root.insert("additionalProperties".to_owned(), false.into());
    root.extend(definitions);
    root.into()
}

/// Updates references to parts of the value, which moved into a property.
fn move_references(value: &mut Value, depth: usize) {
    if depth > gramc_json_schema::text::MAX_SCHEMA_DEPTH {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(to) if key == "$ref" => {
                        let of_root =
                            to.starts_with("#/$defs/") || to.starts_with("#/definitions/");
                        if !of_root && let Some(rest) = to.strip_prefix('#') {
                            *to = format!("#/properties/{VALUE}{rest}");
                        }
                    }
                    value => move_references(value, depth + 1),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| move_references(item, depth + 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Target;
    use super::*;

    fn lowered(target: Target, schema: &Value) -> Lowered {
        lower_output(target.spec(), "Answer", Some("What to answer"), schema.clone())
    }

    #[test]
    fn each_target_has_its_shape() {
        let schema = json!({
            "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            "additionalProperties": false
        });
        let mut described = schema.clone();
        described["description"] = "What to answer".into();
        for (target, expected) in [
            (
                Target::OpenAiResponseFormat,
                json!({"type": "json_schema", "json_schema": {
                    "name": "Answer", "description": "What to answer", "schema": schema,
                    "strict": true
                }}),
            ),
            (
                Target::OpenAiTextFormat,
                json!({
                    "type": "json_schema", "name": "Answer", "description": "What to answer",
                    "schema": schema, "strict": true
                }),
            ),
            (
                Target::GeminiResponseSchema,
                json!({
                    "responseMimeType": "application/json", "responseJsonSchema": described
                }),
            ),
            (Target::AnthropicOutputFormat, json!({"type": "json_schema", "schema": described})),
        ] {
            let out = lowered(target, &schema);
            assert_eq!(out.value, expected, "{}", target.name());
            assert!(out.losses.is_empty(), "{:?}", out.losses);
        }
    }

    #[test]
    fn a_value_that_is_no_object_is_a_property_of_one() {
        let schema = json!({
            "type": "array",
            "items": {"$ref": "#/$defs/A"},
            "$defs": {"A": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}}
        });
        for target in Target::OUTPUTS {
            let out = lowered(target, &schema);
            let text = "Answer: the value became the property `value` of an object";
            assert_eq!(out.losses[0].to_string(), text);
            let shown = out.value.to_string();
            assert!(shown.contains(r#""required":["value"]"#), "{}: {shown}", target.name());
        }
        let out = lowered(Target::GeminiResponseSchema, &schema);
        let expected = json!({
            "type": "object",
            "properties": {"value": {"type": "array", "items": {"$ref": "#/$defs/A"}}},
            "required": ["value"],
            "additionalProperties": false,
            "description": "What to answer",
            "$defs": {
                "A": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/value"}]},
                "value": {"type": "array", "items": {"$ref": "#/$defs/A"}}
            }
        });
        let schema = &out.value["responseJsonSchema"];
        assert_eq!(schema["properties"], expected["properties"], "{schema:#}");
    }

    #[test]
    fn what_strict_mode_loses_is_lost_here_too() {
        let schema = json!({"type": "object", "properties": {"a": {
            "type": "string", "pattern": "(?=a)b"
        }}});
        let out = lowered(Target::OpenAiTextFormat, &schema);
        let losses: Vec<_> = out.losses.iter().map(|loss| loss.constraint.as_str()).collect();
        assert_eq!(losses, ["pattern", "required", "additionalProperties"]);
    }
}
