//! Requests of chat completions.

use gramc_model::Api;
use gramc_tools::Image;
use serde_json::{Map, Value, json};

use crate::message::{AssistantMessage, Message, ModelCall};
use crate::model::ModelRequest;

/// Builds the body of a request.
pub(super) fn build(model: &str, api: Api, request: &ModelRequest<'_>) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", model.into());
    put("messages", messages(api, request));
    if !request.tools.is_empty() {
        let key = match api {
            Api::Tools => "tools",
            Api::Functions => "functions",
        };
        put(key, request.tools.into());
    }
    let sampling = request.sampling;
    if let Some(temperature) = sampling.temperature {
        put("temperature", json!(temperature));
    }
    if let Some(top_p) = sampling.top_p {
        put("top_p", json!(top_p));
    }
    if let Some(max) = sampling.max_tokens {
        // Reasoning models accept only the newer name; other servers may know only the older one.
        let newer = is_reasoning_model(model);
        put(if newer { "max_completion_tokens" } else { "max_tokens" }, json!(max));
    }
    if let Some(seed) = sampling.seed {
        put("seed", json!(seed));
    }
    if request.stream {
        put("stream", json!(true));
        put("stream_options", json!({"include_usage": true}));
    }
    body.into()
}

/// Whether a model of OpenAI thinks before it replies, by its name.
pub(in crate::model) fn is_reasoning_model(model: &str) -> bool {
    ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|family| model.starts_with(family))
}

fn messages(api: Api, request: &ModelRequest<'_>) -> Value {
    let mut all = Vec::with_capacity(request.messages.len() + 1);
    if !request.instruction.is_empty() {
        all.push(json!({"role": "system", "content": request.instruction}));
    }
    match api {
        Api::Tools => {
            for (at, one) in request.messages.iter().enumerate() {
                all.push(message(one));
                all.extend(images_of_results(request.messages, at));
            }
        }
        Api::Functions => functions(request.messages, &mut all),
    }
    all.into()
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { content, images } if images.is_empty() => {
            json!({"role": "user", "content": content})
        }
        Message::User { content, images } => {
            let parts = std::iter::once(text_part(content)).chain(images.iter().map(image_part));
            json!({"role": "user", "content": parts.collect::<Value>()})
        }
        Message::Assistant(AssistantMessage { content, tool_calls, .. })
            if tool_calls.is_empty() =>
        {
            json!({"role": "assistant", "content": content.as_deref().unwrap_or_default()})
        }
        Message::Assistant(AssistantMessage { content, tool_calls, .. }) => {
            let call = |call: &ModelCall| {
                let function = json!({"name": call.name, "arguments": arguments(call)});
                json!({"id": call.id, "type": "function", "function": function})
            };
            let calls: Value = tool_calls.iter().map(call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { id, content, .. } => {
            json!({"role": "tool", "tool_call_id": id, "content": content})
        }
    }
}

/// The images of a series of results that ends at a place, as a message of the user. Results
/// themselves have text only.
fn images_of_results(messages: &[Message], end: usize) -> Option<Value> {
    let is_result = |message: &Message| matches!(message, Message::Tool { .. });
    if messages.get(end + 1).is_some_and(is_result) {
        return None;
    }
    let series = messages.get(..=end)?.rsplit(|message| !is_result(message)).next()?;
    let parts = series.iter().flat_map(|message| {
        let Message::Tool { name, images, .. } = message else { return Vec::new() };
        images
            .iter()
            .flat_map(|image| [text_part(&Message::image_caption(name)), image_part(image)])
            .collect()
    });
    let parts: Vec<Value> = parts.collect();
    (!parts.is_empty()).then(|| json!({"role": "user", "content": parts}))
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_part(image: &Image) -> Value {
    let url = format!("data:{};base64,{}", image.media_type, image.data);
    json!({"type": "image_url", "image_url": {"url": url}})
}

/// The arguments of an earlier call as valid JSON, because some servers reject anything else.
fn arguments(call: &ModelCall) -> String {
    match serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments) {
        Ok(_) => call.arguments.clone(),
        Err(_) => call.object().to_string(),
    }
}

/// Messages in the older form, in which a message has at most one call. Several calls of one
/// message, from a conversation with another model, become several messages.
fn functions(messages: &[Message], all: &mut Vec<Value>) {
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::Assistant(AssistantMessage { content, tool_calls, .. })
                if !tool_calls.is_empty() =>
            {
                let after = messages.get(at + 1..).unwrap_or_default();
                let mut content = content.as_deref();
                for call in tool_calls {
                    let function = json!({"name": call.name, "arguments": arguments(call)});
                    all.push(json!({
                        "role": "assistant",
                        "content": content.take(),
                        "function_call": function,
                    }));
                    let result = after.iter().find_map(|message| match message {
                        Message::Tool { id, content, .. } if *id == call.id => Some(content),
                        _ => None,
                    });
                    if let Some(result) = result {
                        all.push(json!({"role": "function", "name": call.name, "content": result}));
                    }
                }
            }
            // Results are added after their calls.
            Message::Tool { .. } => all.extend(images_of_results(messages, at)),
            other => all.push(self::message(other)),
        }
    }
}
