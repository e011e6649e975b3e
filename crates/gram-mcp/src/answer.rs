//! Verdicts as answers to `tools/call`.

use gram_tools::{CallError, Verdict};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use crate::catalog::Promise;

/// What a client is told. A refusal is an error of the tool, with the text that a model needs; the
/// protocol's own errors would not reach the model.
pub(crate) fn answer(mut verdict: Verdict, promise: Promise) -> CallToolResult {
    if promise == Promise::Structure
        && let Some(detail) = broken_promise(&verdict)
    {
        verdict.outcome = Err(CallError::Invocation { detail });
    }
    let text = ContentBlock::text(verdict.message());
    let result = match verdict.outcome {
        Ok(success) => success.result,
        Err(_) => return CallToolResult::error(vec![text]),
    };
    match (promise, result) {
        (Promise::Structure, Some(value)) => {
            let mut answer = CallToolResult::success(vec![text]);
            answer.structured_content = Some(value);
            answer
        }
        (Promise::Nothing, Some(value)) => {
            CallToolResult::success(blocks(&value).unwrap_or_else(|| vec![text]))
        }
        _ => CallToolResult::success(vec![text]),
    }
}

/// What is wrong with a result that does not fit the schema that the client was told. A library
/// may let such results through with a warning, but clients refuse them.
fn broken_promise(verdict: &Verdict) -> Option<String> {
    let Ok(success) = &verdict.outcome else { return None };
    let warning = verdict.warnings.iter().find(|warning| warning.code == "result-mismatch");
    if let Some(warning) = warning {
        return Some(warning.message.replacen("the result is", "its result is", 1));
    }
    let is_object = success.result.as_ref().is_some_and(Value::is_object);
    (!is_object).then(|| "its result is not what the tool promises: an object".to_owned())
}

/// The content that a result stands for, where it is a list of nothing but content of the
/// protocol: pictures, sounds, resources. Tools of other MCP servers answer with such lists.
fn blocks(value: &Value) -> Option<Vec<ContentBlock>> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    items.iter().all(|item| item["type"].is_string()).then_some(())?;
    serde_json::from_value(value.clone()).ok()
}
