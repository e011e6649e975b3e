//! Writes tools and tool lists in the format of a target.

use std::borrow::Cow;

use gramc_json_schema::keywords::name as k;
use serde_json::{Map, Value, json};

use super::target_spec::{TargetSpec, ToolShape};

/// The parts of a lowered tool.
pub(super) struct ToolParts<'t> {
    pub(super) name: &'t str,
    pub(super) title: Option<&'t str>,
    pub(super) description: Option<Cow<'t, str>>,
    pub(super) parameters: Value,
    pub(super) output: Option<Value>,
    pub(super) annotations: Map<String, Value>,
    pub(super) extras: Vec<(&'t str, Value)>,
}

/// Combines lowered tools into the tool list of a request. For schemas alone, it is a plain array.
pub fn request(spec: &TargetSpec, tools: Vec<Value>) -> Value {
    match spec.shape {
        ToolShape::Declaration { .. } => json!([{ "functionDeclarations": tools }]),
        ToolShape::Mcp => json!({ "tools": tools }),
        _ => Value::Array(tools),
    }
}

/// Writes one tool in the target's format.
pub(super) fn tool(spec: &TargetSpec, parts: ToolParts<'_>) -> Value {
    let ToolParts { name, title, description, parameters, output, annotations, extras } = parts;
    let mut tool = Map::new();
    let name_it = |tool: &mut Map<String, Value>| {
        tool.insert("name".to_owned(), name.into());
    };
    let describe = |tool: &mut Map<String, Value>| {
        if let Some(text) = description {
            tool.insert(k::DESCRIPTION.to_owned(), text.into_owned().into());
        }
    };
    match spec.shape {
        ToolShape::Schema => return parameters,
        ToolShape::Function { strict } => {
            name_it(&mut tool);
            describe(&mut tool);
            tool.insert("parameters".to_owned(), parameters);
            tool.insert("strict".to_owned(), strict.into());
            let mut outer = wrapped(k::TYPE, "function".into());
            outer.insert("function".to_owned(), Value::Object(tool));
            tool = outer;
        }
        ToolShape::BareFunction => {
            name_it(&mut tool);
            describe(&mut tool);
            tool.insert("parameters".to_owned(), parameters);
        }
        ToolShape::FlatFunction { strict } => {
            tool.insert(k::TYPE.to_owned(), "function".into());
            name_it(&mut tool);
            describe(&mut tool);
            tool.insert("parameters".to_owned(), parameters);
            tool.insert("strict".to_owned(), strict.into());
        }
        ToolShape::InputSchema { strict } => {
            name_it(&mut tool);
            describe(&mut tool);
            tool.insert("input_schema".to_owned(), parameters);
            if strict {
                tool.insert("strict".to_owned(), true.into());
            }
        }
        ToolShape::Declaration { parameters: key, omit_empty } => {
            name_it(&mut tool);
            describe(&mut tool);
            if !(omit_empty && has_no_properties(&parameters)) {
                tool.insert(key.to_owned(), parameters);
            }
        }
        ToolShape::ResponseFormat => {
            name_it(&mut tool);
            describe(&mut tool);
            tool.insert("schema".to_owned(), parameters);
            tool.insert("strict".to_owned(), true.into());
            let mut outer = wrapped(k::TYPE, "json_schema".into());
            outer.insert("json_schema".to_owned(), Value::Object(tool));
            tool = outer;
        }
        ToolShape::TextFormat => {
            tool.insert(k::TYPE.to_owned(), "json_schema".into());
            name_it(&mut tool);
            describe(&mut tool);
            tool.insert("schema".to_owned(), parameters);
            tool.insert("strict".to_owned(), true.into());
        }
        ToolShape::ResponseSchema => {
            tool.insert("responseMimeType".to_owned(), "application/json".into());
            tool.insert("responseJsonSchema".to_owned(), parameters);
        }
        ToolShape::OutputFormat => {
            tool.insert(k::TYPE.to_owned(), "json_schema".into());
            tool.insert("schema".to_owned(), parameters);
        }
        ToolShape::ToolSpec => {
            name_it(&mut tool);
            describe(&mut tool);
            tool.insert("inputSchema".to_owned(), Value::Object(wrapped("json", parameters)));
            tool = wrapped("toolSpec", Value::Object(tool));
        }
        ToolShape::Mcp => {
            name_it(&mut tool);
            if let Some(title) = title {
                tool.insert(k::TITLE.to_owned(), title.into());
            }
            describe(&mut tool);
            tool.insert("inputSchema".to_owned(), parameters);
            if let Some(output) = output.filter(is_object_schema) {
                tool.insert("outputSchema".to_owned(), output);
            }
            if !annotations.is_empty() {
                tool.insert("annotations".to_owned(), Value::Object(annotations));
            }
        }
    }
    for (key, value) in extras {
        if spec.extras.contains(&key) {
            tool.insert(key.to_owned(), value);
        }
    }
    Value::Object(tool)
}

/// An object with one key.
fn wrapped(key: &str, value: Value) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert(key.to_owned(), value);
    map
}

/// Whether a schema's type is `object`.
pub(super) fn is_object_schema(schema: &Value) -> bool {
    schema.get(k::TYPE).and_then(Value::as_str) == Some("object")
}

fn has_no_properties(schema: &Value) -> bool {
    schema.get(k::PROPERTIES).and_then(Value::as_object).is_none_or(Map::is_empty)
}

#[cfg(test)]
mod tests {
    use super::super::{Names, Target, ToolJson, lower};
    use super::*;

    /// A tool with all parts, in a target's format.
    fn whole(target: Target) -> String {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let Value::Object(annotations) = json!({"readOnlyHint": true, "own": 1}) else {
            return String::new();
        };
        let tool = ToolJson {
            name: "x.y",
            title: Some("X"),
            description: None,
            parameters: schema,
            output: Some(json!({"type": "object"})),
            annotations,
            extras: vec![
                ("_meta", json!({"m": 1})),
                ("cache_control", json!({"type": "ephemeral"})),
            ],
        };
        let names = Names::new(target.spec(), ["x.y"]);
        let out = lower(target.spec(), &names, tool);
        request(target.spec(), vec![out.value]).to_string()
    }

    #[test]
    fn each_target_has_its_shape() {
        let open = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#;
        let closed = format!("{},\"additionalProperties\":false}}", &open[..open.len() - 1]);
        let function = |strict: bool, schema: &str| {
            format!(
                r#"[{{"type":"function","function":{{"name":"x_y","parameters":{schema},"strict":{strict}}}}}]"#
            )
        };
        let cache = r#""cache_control":{"type":"ephemeral"}"#;
        for (target, expected) in [
            (Target::JsonSchema, format!("[{open}]")),
            (Target::OpenAi, function(false, open)),
            (Target::OpenAiStrict, function(true, &closed)),
            (Target::Mistral, function(false, open)),
            (Target::Ollama, function(false, open).replace("x_y", "x.y")),
            (Target::OpenAiFunctions, format!(r#"[{{"name":"x_y","parameters":{open}}}]"#)),
            (
                Target::OpenAiResponses,
                format!(
                    r#"[{{"type":"function","name":"x_y","parameters":{open},"strict":false}}]"#
                ),
            ),
            (Target::Anthropic, format!(r#"[{{"name":"x_y","input_schema":{open},{cache}}}]"#)),
            (
                Target::AnthropicStrict,
                format!(r#"[{{"name":"x_y","input_schema":{closed},"strict":true,{cache}}}]"#),
            ),
            (
                Target::Gemini,
                format!(r#"[{{"functionDeclarations":[{{"name":"x.y","parameters":{open}}}]}}]"#),
            ),
            (
                Target::GeminiJson,
                format!(
                    r#"[{{"functionDeclarations":[{{"name":"x.y","parametersJsonSchema":{open}}}]}}]"#
                ),
            ),
            (
                Target::Bedrock,
                format!(
                    r#"[{{"toolSpec":{{"name":"x_y","description":"X","inputSchema":{{"json":{open}}}}}}}]"#
                ),
            ),
            (
                Target::Mcp,
                format!(
                    r#"{{"tools":[{{"name":"x.y","title":"X","inputSchema":{open},"outputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true,"own":1}},"_meta":{{"m":1}}}}]}}"#
                ),
            ),
        ] {
            assert_eq!(whole(target), expected, "{}", target.name());
        }
    }

    #[test]
    fn only_an_object_is_structured_output() {
        assert!(is_object_schema(&json!({"type": "object"})));
        assert!(!is_object_schema(&json!({"type": "array"})));
        assert!(!is_object_schema(&json!({"type": ["object", "null"]})));
        assert!(!is_object_schema(&json!(true)));
    }
}
