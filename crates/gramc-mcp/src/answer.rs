//! Converts verdicts to results of `tools/call`.

use gramc_tools::{ToolContent, Verdict, Warning};
use serde_json::{Map, Value, json};

use crate::catalog::ResultKind;

/// The key of `_meta` with what the client should know about a result that is passed on.
const WARNINGS_KEY: &str = "gramc/warnings";
const RESULT_WARNINGS: [&str; 4] =
    ["result-mismatch", "output-schema-mismatch", "masked-result", "stripped-arguments"];

/// The result of a call. A rejected call is reported as an error of the tool because clients do not
/// pass protocol errors to the model.
pub(crate) fn answer(mut verdict: Verdict, result_kind: ResultKind) -> Map<String, Value> {
    let content = verdict.content.take();
    if result_kind == ResultKind::Structured
        && let Some(detail) = schema_violation(&verdict)
    {
        return pass_deviation_on(content, &verdict, &detail);
    }
    match content {
        Some(content) => pass_result_on(content, verdict, result_kind),
        None => write_result(verdict, result_kind),
    }
}

/// Whether the result of a call is marked as an error.
pub(crate) fn is_error(verdict: &Verdict, result_kind: ResultKind) -> bool {
    !verdict.is_ok() || result_kind == ResultKind::Structured && schema_violation(verdict).is_some()
}

/// A result that does not match the output schema. Clients throw structured content away that does
/// not match, and the text with it, unless it is an error.
fn pass_deviation_on(
    content: Option<ToolContent>,
    verdict: &Verdict,
    detail: &str,
) -> Map<String, Value> {
    let mut fields = content.map(ToolContent::into_fields).unwrap_or_default();
    let structured = fields.shift_remove("structuredContent").map(|value| value.to_string());
    let mut blocks = match fields.shift_remove("content") {
        Some(Value::Array(blocks)) if !blocks.is_empty() => blocks,
        _ => vec![text_block(&structured.unwrap_or_else(|| verdict.text()))],
    };
    let note = format!("The tool has run, but {detail}.");
    blocks.extend(verdict.stripped_note().into_iter().chain([note]).map(|text| text_block(&text)));
    fields.insert("content".to_owned(), blocks.into());
    fields.insert("isError".to_owned(), true.into());
    mark(&mut fields, &verdict.warnings);
    fields
}

/// The result of an implementation that knows nothing of MCP.
fn write_result(verdict: Verdict, result_kind: ResultKind) -> Map<String, Value> {
    // Clients may parse the text of a result, so the note is a block of its own.
    let blocks = std::iter::once(verdict.text()).chain(verdict.stripped_note());
    let blocks: Vec<_> = blocks.map(|text| text_block(&text)).collect();
    let mut fields = Map::from_iter([("content".to_owned(), blocks.into())]);
    mark(&mut fields, &verdict.warnings);
    let is_error = verdict.outcome.is_err();
    if let (ResultKind::Structured, Ok(success)) = (result_kind, verdict.outcome)
        && let Some(value) = success.result
    {
        fields.insert("structuredContent".to_owned(), value);
    }
    fields.insert("isError".to_owned(), is_error.into());
    fields
}

/// A result in the form of MCP, as it is. Of a failure, guidance follows in a block of its own.
fn pass_result_on(
    content: ToolContent,
    verdict: Verdict,
    result_kind: ResultKind,
) -> Map<String, Value> {
    let was_error = content.is_error();
    let mut fields = content.into_fields();
    let text = if verdict.is_ok() {
        mark(&mut fields, &verdict.warnings);
        verdict.stripped_note()
    } else {
        fields.insert("isError".to_owned(), true.into());
        // The client has seen the failure that the tool itself reports.
        if was_error { verdict.guidance() } else { Some(verdict.message()) }
    };
    if let Some(text) = text {
        match fields.get_mut("content") {
            Some(Value::Array(blocks)) => blocks.push(text_block(&text)),
            _ => {
                fields.insert("content".to_owned(), json!([text_block(&text)]));
            }
        }
    }
    if let (ResultKind::Structured, Ok(success)) = (result_kind, verdict.outcome)
        && let Some(value) = success.result
    {
        // The value differs if the server wraps it, or sends it as text only.
        fields.insert("structuredContent".to_owned(), value);
    }
    fields
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Adds the warnings about a result to its `_meta`.
fn mark(fields: &mut Map<String, Value>, warnings: &[Warning]) {
    let marks = warnings.iter().filter(|warning| RESULT_WARNINGS.contains(&warning.code));
    let marks: Vec<_> = marks.map(|it| json!({"code": it.code, "message": it.message})).collect();
    if marks.is_empty() {
        return;
    }
    let meta = fields.entry("_meta").or_insert_with(|| json!({}));
    if let Value::Object(meta) = meta {
        meta.insert(WARNINGS_KEY.to_owned(), marks.into());
    }
}

/// The error of a result that does not match the output schema. A library can accept such results
/// with a warning, but MCP clients reject them.
fn schema_violation(verdict: &Verdict) -> Option<String> {
    let Ok(success) = &verdict.outcome else { return None };
    let warning = verdict.warnings.iter().find(|warning| warning.code == "result-mismatch");
    if let Some(warning) = warning {
        return Some(warning.message.clone());
    }
    let is_object = success.result.as_ref().is_some_and(Value::is_object);
    (!is_object)
        .then(|| "the result does not match the output schema: expected an object".to_owned())
}
