//! Types as structured output: what a model's answer has to be.

use serde_json::{Map, Value, json};

use super::loss::{Became, Loss};
use super::schema::parts::each_reference_mut;
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
    let tool =
        ToolJson::new(name, description, if is_object { schema } else { wrap_value(schema) });
    let mut lowered = lower(spec, &Names::new(spec, [name]), tool);
    if !is_object {
        let loss = Loss {
            tool: name.to_owned(),
            path: String::new(),
            constraint: "type".to_owned(),
            value: ty.unwrap_or_default(),
            became: Became::Wrapped { to: VALUE },
        };
        lowered.losses.insert(0, loss);
    }
    lowered
}

/// An object with the value as its only property. Definitions stay at the root.
fn wrap_value(mut schema: Value) -> Value {
    let mut definitions = Map::new();
    if let Value::Object(map) = &mut schema {
        for key in ["$defs", "definitions"] {
            definitions.extend(map.shift_remove(key).map(|all| (key.to_owned(), all)));
        }
    }
    // References to parts of the value, which moves into a property.
    let mut update = |to: &mut String| {
        let of_root = to.starts_with("#/$defs/") || to.starts_with("#/definitions/");
        if !of_root && let Some(rest) = to.strip_prefix('#') {
            *to = format!("#/properties/{VALUE}{rest}");
        }
    };
    for value in std::iter::once(&mut schema).chain(definitions.values_mut()) {
        each_reference_mut(value, &mut update, 0);
    }
    let mut root = json!({
        "type": "object",
        "properties": { VALUE: schema },
        "required": [VALUE],
        "additionalProperties": false,
    });
    root.as_object_mut().into_iter().for_each(|root| root.append(&mut definitions));
    root
}

#[cfg(test)]
mod tests {
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
