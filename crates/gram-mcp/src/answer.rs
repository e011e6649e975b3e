//! Converts verdicts to results of `tools/call`.

use gram_tools::{CallError, Verdict};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use crate::catalog::ResultKind;

/// The result of a call. A rejected call is reported as an error of the tool because clients do not
/// pass protocol errors to the model.
pub(crate) fn answer(mut verdict: Verdict, result_kind: ResultKind) -> CallToolResult {
    if result_kind == ResultKind::Structured
        && let Some(detail) = schema_violation(&verdict)
    {
        verdict.outcome = Err(CallError::Invocation { detail });
    }
    let text = ContentBlock::text(verdict.message());
    let result = match verdict.outcome {
        Ok(success) => success.result,
        Err(_) => return CallToolResult::error(vec![text]),
    };
    match (result_kind, result) {
        (ResultKind::Structured, Some(value)) => {
            let mut answer = CallToolResult::success(vec![text]);
            answer.structured_content = Some(value);
            answer
        }
        (ResultKind::Untyped, Some(value)) => {
            CallToolResult::success(blocks(&value).unwrap_or_else(|| vec![text]))
        }
        _ => CallToolResult::success(vec![text]),
    }
}

/// The error of a result that does not match the output schema. A library can accept such results
/// with a warning, but MCP clients reject them.
fn schema_violation(verdict: &Verdict) -> Option<String> {
    let Ok(success) = &verdict.outcome else { return None };
    let warning = verdict.warnings.iter().find(|warning| warning.code == "result-mismatch");
    if let Some(warning) = warning {
        return Some(warning.message.replacen("the result is", "its result is", 1));
    }
    let is_object = success.result.as_ref().is_some_and(Value::is_object);
    (!is_object)
        .then(|| "its result does not match the output schema: expected an object".to_owned())
}

/// The content blocks of a result that is a list of MCP content: text, images, audio, resources.
/// Tools of other MCP servers return such lists.
fn blocks(value: &Value) -> Option<Vec<ContentBlock>> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    items.iter().all(|item| item["type"].is_string()).then_some(())?;
    serde_json::from_value(value.clone()).ok()
}
