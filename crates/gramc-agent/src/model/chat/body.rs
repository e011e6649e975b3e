//! Requests of chat completions.

use gramc_model::Api;
use gramc_tools::Image;
use serde_json::{Value, json};

use crate::message::{AssistantMessage, Message, ModelCall};
use crate::model::ModelRequest;
use crate::model::bodies::{MessageForm, image_url, omit_empty};

const MESSAGES: MessageForm = MessageForm {
    content: "content",
    text: |text| json!({"type": "text", "text": text}),
    image: image_part,
    result: |id, _, text| Some(json!({"role": "tool", "tool_call_id": id, "content": text})),
    joins_results: false,
};

/// The older form, in which a message has at most one call, and its result follows it.
const FUNCTION_MESSAGES: MessageForm = MessageForm { result: |_, _, _| None, ..MESSAGES };

/// Builds the body of a request.
pub(super) fn build(model: &str, api: Api, request: &ModelRequest<'_>) -> Value {
    let sampling = request.sampling;
    let (tools, mut messages) = match api {
        Api::Tools => {
            ("tools", MESSAGES.convert(request.messages, |message, _| vec![assistant(message)]))
        }
        Api::Functions => ("functions", FUNCTION_MESSAGES.convert(request.messages, functions)),
    };
    if !request.instruction.is_empty() {
        messages.insert(0, json!({"role": "system", "content": request.instruction}));
    }
    // Reasoning models accept only the newer name; other servers may know only the older one.
    let max_tokens = if is_reasoning_model(model) { "max_completion_tokens" } else { "max_tokens" };
    omit_empty(json!({
        "model": model,
        "messages": messages,
        tools: request.tools,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        max_tokens: sampling.max_tokens,
        "seed": sampling.seed,
        "stream": request.stream.then_some(true),
        "stream_options": request.stream.then(|| json!({"include_usage": true})),
    }))
}

/// Whether a model of OpenAI thinks before it replies, by its name.
pub(in crate::model) fn is_reasoning_model(model: &str) -> bool {
    ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|family| model.starts_with(family))
}

fn image_part(image: &Image) -> Value {
    json!({"type": "image_url", "image_url": {"url": image_url(image)}})
}

fn assistant(message: &AssistantMessage) -> Value {
    let AssistantMessage { content, tool_calls, .. } = message;
    if tool_calls.is_empty() {
        return json!({"role": "assistant", "content": content.as_deref().unwrap_or_default()});
    }
    let call =
        |call: &ModelCall| json!({"id": call.id, "type": "function", "function": function(call)});
    let calls: Value = tool_calls.iter().map(call).collect();
    json!({"role": "assistant", "content": content, "tool_calls": calls})
}

/// An earlier call. Its arguments are valid JSON, because some servers reject anything else.
fn function(call: &ModelCall) -> Value {
    let arguments =
        if call.is_complete() { call.arguments.clone() } else { call.object().to_string() };
    json!({"name": call.name, "arguments": arguments})
}

/// A message of the model in the older form. Several calls, from a conversation with another model,
/// become several messages.
fn functions(message: &AssistantMessage, after: &[Message]) -> Vec<Value> {
    if message.tool_calls.is_empty() {
        return vec![assistant(message)];
    }
    let mut content = message.content.as_deref();
    let mut all = Vec::new();
    for call in &message.tool_calls {
        let function_call = function(call);
        all.push(json!({
            "role": "assistant", "content": content.take(), "function_call": function_call,
        }));
        let result = after.iter().find_map(|message| match message {
            Message::Tool { id, content, .. } if *id == call.id => Some(content),
            _ => None,
        });
        if let Some(result) = result {
            all.push(json!({"role": "function", "name": call.name, "content": result}));
        }
    }
    all
}
