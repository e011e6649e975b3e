//! Message contents in the JSON form of the semantic conventions.

use gramc_json_schema::shorten::shorten;
use gramc_tools::Verdict;
use serde_json::{Value, json};

use super::otlp::Attribute;
use crate::message::{AssistantMessage, Message};

/// Maximum characters of a text.
const MAX_TEXT_CHARS: usize = 10_000;

/// Truncates a long text.
fn truncate(text: &str) -> String {
    shorten(text, MAX_TEXT_CHARS)
}

fn text(content: &str) -> Value {
    json!({"type": "text", "content": truncate(content)})
}

/// The arguments and the result of a call.
pub(super) fn call(arguments: &str, verdict: &Verdict) -> [Attribute; 2] {
    [
        Attribute::new("gen_ai.tool.call.arguments", truncate(arguments)),
        Attribute::new("gen_ai.tool.call.result", truncate(&verdict.message())),
    ]
}

pub(super) fn instruction(instruction: &str) -> String {
    json!([text(instruction)]).to_string()
}

/// The names of the tools. Their full definitions are large and the same in each request.
pub(super) fn tools(tools: &[Value]) -> String {
    let name = |tool: &Value| {
        let function = tool.get("function").unwrap_or(tool);
        json!({"type": "function", "name": function["name"]})
    };
    tools.iter().map(name).collect::<Value>().to_string()
}

pub(super) fn messages(messages: &[Message]) -> String {
    let message = |message: &Message| match message {
        Message::User { content, .. } => json!({"role": "user", "parts": [text(content)]}),
        Message::Assistant(message) => json!({"role": "assistant", "parts": parts(message)}),
        Message::Tool { id, content, .. } => {
            let part =
                json!({"type": "tool_call_response", "id": id, "response": truncate(content)});
            json!({"role": "tool", "parts": [part]})
        }
    };
    messages.iter().map(message).collect::<Value>().to_string()
}

/// The reply of a model.
pub(super) fn reply(message: &AssistantMessage, finish_reason: &str) -> String {
    let parts = parts(message);
    json!([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}]).to_string()
}

fn parts(message: &AssistantMessage) -> Value {
    let calls = message.tool_calls.iter().map(|call| {
        let arguments = serde_json::from_str(&call.arguments).ok();
        let arguments = arguments.filter(|_| call.arguments.len() <= MAX_TEXT_CHARS);
        let arguments = arguments.unwrap_or_else(|| Value::from(truncate(&call.arguments)));
        json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments})
    });
    message.content.iter().map(|content| text(content)).chain(calls).collect()
}
