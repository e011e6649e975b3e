//! Writes tools and tool lists in the format of a target.

use gramc_json_schema::keywords::name as k;
use serde_json::{Map, Value, json};

use super::target_spec::{TargetSpec, ToolShape};

/// The parts of a lowered tool.
pub(super) struct ToolParts<'t> {
    pub(super) name: &'t str,
    pub(super) title: Option<&'t str>,
    pub(super) description: Option<String>,
    pub(super) parameters: Value,
    /// The field with the schema of the result.
    pub(super) output: Option<(&'static str, Value)>,
    pub(super) annotations: Map<String, Value>,
    /// The fields from attributes.
    pub(super) fields: Vec<(&'static str, Value)>,
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
    let ToolParts { name, title, description, parameters, output, annotations, fields } = parts;
    let shape = spec.shape;
    let path = shape.schema_path();
    let (around, path) = match path.as_slice() {
        [] => return parameters,
        [key] => (None, std::slice::from_ref(key)),
        [around, path @ ..] => (Some(*around), path),
    };
    let mut tool = Map::new();
    let mut put = |key: &str, value: Value| drop(tool.insert(key.to_owned(), value));
    if let (None, Some((key, kind))) = (around, shape.kind()) {
        put(key, kind.into());
    }
    if shape.has_description() {
        put("name", name.into());
        if let Some(title) = title.filter(|_| shape == ToolShape::Mcp) {
            put(k::TITLE, title.into());
        }
        if let Some(text) = description {
            put(k::DESCRIPTION, text.into());
        }
    }
    let omits_empty = matches!(shape, ToolShape::Declaration { omit_empty: true, .. });
    if !(omits_empty && has_no_properties(&parameters)) {
        let nested = path[1..].iter().rev();
        put(path[0], nested.fold(parameters, |schema, key| json!({ *key: schema })));
    }
    if let Some(strict) = shape.strict() {
        put("strict", strict.into());
    }
    if let Some((key, output)) = output {
        put(key, output);
    }
    if shape == ToolShape::Mcp && !annotations.is_empty() {
        put("annotations", annotations.into());
    }
    if let Some(around) = around {
        let inner = std::mem::take(&mut tool);
        tool.extend(shape.kind().map(|(key, kind)| (key.to_owned(), kind.into())));
        tool.insert(around.to_owned(), inner.into());
    }
    tool.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Value::Object(tool)
}

/// Whether a schema's type is `object`.
pub(crate) fn is_object_schema(schema: &Value) -> bool {
    schema.get(k::TYPE).and_then(Value::as_str) == Some("object")
}

pub(super) fn has_no_properties(schema: &Value) -> bool {
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
            attributes: vec![
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
                    r#"[{{"type":"function","name":"x_y","parameters":{open},"strict":false,"output_schema":{{"type":"object"}}}}]"#
                ),
            ),
            (Target::Anthropic, format!(r#"[{{"name":"x_y","input_schema":{open},{cache}}}]"#)),
            (
                Target::AnthropicStrict,
                format!(r#"[{{"name":"x_y","input_schema":{closed},"strict":true,{cache}}}]"#),
            ),
            (
                Target::Gemini,
                format!(
                    r#"[{{"functionDeclarations":[{{"name":"x.y","parameters":{open},"response":{{"type":"object"}}}}]}}]"#
                ),
            ),
            (
                Target::GeminiJson,
                format!(
                    r#"[{{"functionDeclarations":[{{"name":"x.y","parametersJsonSchema":{open},"responseJsonSchema":{{"type":"object"}}}}]}}]"#
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
