//! Cases of experiments from traces.

use serde_json::{Value, json};

use crate::trace::{CallLine, TraceError, TraceLine, VerdictRecord, read};

/// The case that a trace shows: the messages of the user as `input`, and the accepted calls of the
/// agent as `expect`, with the arguments that the implementation received. `id` is that of the case.
pub fn case_of_trace(text: &str, id: &str) -> Result<Value, TraceError> {
    let (mut agent, mut input, mut calls) = (None, Vec::new(), Vec::new());
    for line in read(text) {
        match line? {
            (_, TraceLine::Run { agent: name, .. }) => agent = agent.or(Some(name)),
            (line, _) if agent.is_none() => {
                let message = "expected the first line of a trace".to_owned();
                return Err(TraceError { line, message });
            }
            // What a called agent is told and does follows from the calls.
            (_, TraceLine::User { agent: of, content }) if Some(&of) == agent.as_ref() => {
                input.push(content);
            }
            (_, TraceLine::Call(call)) if Some(&call.agent) == agent.as_ref() => {
                calls.extend(accepted_arguments(&call));
            }
            _ => {}
        }
    }
    if input.is_empty() {
        let message = "expected a trace with a message of the user".to_owned();
        return Err(TraceError { line: 1, message });
    }
    let input = match &input[..] {
        [message] => json!(message),
        messages => json!(messages),
    };
    let mut case = json!({"id": id, "input": input});
    if !calls.is_empty() {
        case["expect"] = json!({"calls": calls});
    }
    Ok(case)
}

/// The call as an expectation, if it was accepted.
fn accepted_arguments(call: &CallLine<'_>) -> Option<Value> {
    let record: VerdictRecord = serde_json::from_value(call.verdict.clone()).unwrap_or_default();
    if record.error.is_some() {
        return None;
    }
    let written = || serde_json::from_str(&call.arguments).ok();
    let arguments = call.verdict.get("arguments").cloned().or_else(written);
    let mut expected = json!({"name": call.name});
    if let Some(arguments) = arguments.filter(Value::is_object) {
        expected["arguments"] = arguments;
    }
    Some(expected)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn a_trace_becomes_a_case() {
        let lines = [
            json!({"type": "run", "agent": "a", "model": "m"}),
            json!({"type": "user", "agent": "a", "content": "Add 1 and 2"}),
            json!({"type": "call", "agent": "a", "name": "add", "arguments": "{\"a\": \"1\"}",
                   "verdict": {"ok": true, "arguments": {"a": 1}}}),
            json!({"type": "user", "agent": "helper", "content": "not the user"}),
            json!({"type": "call", "agent": "a", "name": "add", "arguments": "{}",
                   "verdict": {"ok": false, "error": {"error_type": "validation_error"}}}),
            json!({"type": "user", "agent": "a", "content": "Thanks"}),
        ];
        let text = lines.map(|line| line.to_string()).join("\n");
        let case = case_of_trace(&text, "one").unwrap();
        let calls = json!([{"name": "add", "arguments": {"a": 1}}]);
        let input = json!(["Add 1 and 2", "Thanks"]);
        assert_eq!(case, json!({"id": "one", "input": input, "expect": {"calls": calls}}));
        let error = case_of_trace("{\"type\": \"end\", \"agent\": \"a\"}", "x").unwrap_err();
        assert_eq!(error.to_string(), "1: expected the first line of a trace");
    }
}
