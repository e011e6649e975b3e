//! Answers in a result type: the model's final text, checked like the arguments of a call.

use gramc_calls::check::{Policy, SchemaError, ToolCheck};
use gramc_model::{ObjectType, Output, Tool, Type, TypeUse, Types};
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use serde_json::Value;

/// Checks the answers of an agent against its result type.
#[derive(Debug)]
pub(crate) struct AnswerCheck {
    check: ToolCheck,
    /// The JSON Schema of answers.
    pub(crate) schema: Value,
    /// Whether answers are strings, which need no quotes.
    is_text: bool,
}

impl AnswerCheck {
    pub(crate) fn new(types: &Types, ty: &Type) -> Result<Self, SchemaError> {
        let declared = match ty {
            Type::Named(id) => types.get(*id).map(|declared| &declared.type_use.ty),
            other => Some(other),
        };
        let mut tool = answer_tool(ty);
        // Fields of a record are checked as parameters, so that they may be pinned or secret.
        if let Some(Type::Object(object)) = declared
            && let ObjectType { fields: Some(fields), open, patterns, requires } = &**object
        {
            tool.parameters.clone_from(fields);
            tool.open = open.clone();
            let root = tool.root.get_or_insert_with(Box::default);
            root.patterns.clone_from(patterns);
            root.requires.clone_from(requires);
            let schema = ParameterSchema::new(types, &tool);
            let schema = serde_json::to_value(schema).unwrap_or_default();
            return Ok(Self { check: ToolCheck::of_tool(types, &tool)?, schema, is_text: false });
        }
        let schema = ResultSchema::new(types, &tool);
        let schema = schema.map(|schema| serde_json::to_value(schema).unwrap_or_default());
        let schema = schema.unwrap_or(Value::Bool(true));
        let is_text = schema["type"] == "string";
        Ok(Self { check: ToolCheck::of_schema(&schema)?, schema, is_text })
    }

    pub(crate) fn read(&self, text: &str) -> Result<Value, AnswerError> {
        let plain = extract_json(text);
        let quoted;
        let json = if self.is_text && !plain.starts_with('"') {
            quoted = Value::from(text.trim()).to_string();
            &quoted
        } else {
            plain
        };
        match self.check.check(json, Policy::default()) {
            Ok(accepted) => Ok(serde_json::from_str(&accepted.arguments)?),
            Err(rejection) => Err(AnswerError::Rejected(rejection.describe("answer"))),
        }
    }
}

/// The errors of an answer, for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    #[error("the answer is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It does not have the result type.
    #[error("{0}")]
    Rejected(String),
    /// The validator of the agent rejects it.
    #[error("{}", .0.join("; "))]
    Invalid(Vec<String>),
}

/// A tool with the given result type.
fn answer_tool(ty: &Type) -> Tool {
    let result = Output { name: None, type_use: TypeUse::new(ty.clone()) };
    Tool::of_signature("answer", Vec::new(), result)
}

/// Extracts JSON from the text of a model: the content of a code fence, else everything from the
/// first to the last bracket, else the whole text.
pub fn extract_json(text: &str) -> &str {
    let text = text.trim();
    if let Some((before, rest)) = text.split_once("```") {
        let rest = strip_language(rest);
        if let Some((inside, _)) = rest.split_once("```")
            && !before.trim_start().starts_with(['{', '['])
        {
            return inside.trim();
        }
    }
    if text.starts_with(['{', '[', '"']) {
        return text;
    }
    let ends = |open: char, close: char| text.find(open).zip(text.rfind(close));
    let found = [ends('{', '}'), ends('[', ']')].into_iter().flatten();
    let first = found.filter(|(start, end)| start < end).min_by_key(|(start, _)| *start);
    first.and_then(|(start, end)| text.get(start..=end)).unwrap_or(text)
}

/// Strips the language after an opening fence.
fn strip_language(text: &str) -> &str {
    if let Some((word, rest)) = text.split_once('\n')
        && word.trim().chars().all(char::is_alphanumeric)
        && !rest.trim_start().starts_with("```")
    {
        return rest;
    }
    text.strip_prefix("json").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_extracted_from_text() {
        for (text, json) in [
            ("{\"a\": 1}", "{\"a\": 1}"),
            ("Here it is:\n```json\n{\"a\": 1}\n```\nDone.", "{\"a\": 1}"),
            ("```\n[1]\n```", "[1]"),
            ("```JSON\n[1]\n```", "[1]"),
            ("```json5 \r\n[1]\n```", "[1]"),
            ("```7```", "7"),
            ("```7\n```", "7"),
            ("```json{\"a\": 1}```", "{\"a\": 1}"),
            ("The answer is {\"a\": [1]}.", "{\"a\": [1]}"),
            ("{\"a\": \"```\"}", "{\"a\": \"```\"}"),
            ("7", "7"),
            ("no } and {", "no } and {"),
        ] {
            assert_eq!(extract_json(text), json, "{text}");
        }
    }
}
