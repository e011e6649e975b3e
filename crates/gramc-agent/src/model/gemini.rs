//! Gemini.

use gramc_schema::Target;
use gramc_tools::Image;
use reqwest::RequestBuilder;
use serde_json::{Map, Value, json};

use super::http_model::{Protocol, ReplyError, ReplyReader, ResultSeries, take_field};
use super::{ModelRequest, StreamSink, client, finish};
use crate::message::{AssistantMessage, Message, ModelCall, Reply, Usage};
use crate::observer::Event;

/// Marks messages whose parts are sent back as they were received.
const NAME: &str = "gemini";

/// Begins the ids of calls that have none. They are not sent back.
const NO_ID: &str = "call#";

/// The signature of calls that another model wrote. Gemini 3 requires one.
const OTHER_MODEL: &str = "skip_thought_signature_validator";

#[derive(Debug)]
pub(super) struct Gemini;

impl Protocol for Gemini {
    fn target(&self) -> Target {
        Target::Gemini
    }

    fn path(&self, model: &str, stream: bool) -> String {
        let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        format!("models/{model}:{method}")
    }

    fn authorize(&self, request: RequestBuilder, key: &str) -> RequestBuilder {
        request.header("x-goog-api-key", key)
    }

    fn body(&self, model: &str, request: &ModelRequest<'_>) -> Value {
        let sampling = request.sampling;
        let mut body = json!({"contents": contents(model, request.messages)});
        if !request.instruction.is_empty() {
            body["systemInstruction"] = json!({"parts": [text_part(request.instruction)]});
        }
        if !request.tools.is_empty() {
            body["tools"] = json!([{"functionDeclarations": request.tools}]);
        }
        let config: Map<String, Value> = [
            ("temperature", json!(sampling.temperature)),
            ("topP", json!(sampling.top_p)),
            ("maxOutputTokens", json!(sampling.max_tokens)),
            ("seed", json!(sampling.seed)),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
        if !config.is_empty() {
            body["generationConfig"] = config.into();
        }
        body
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(ContentReader::default())
    }
}

/// Converts messages. Consecutive results become one message, and their images another one.
fn contents(model: &str, messages: &[Message]) -> Vec<Value> {
    let mut all = Vec::with_capacity(messages.len());
    let mut series = ResultSeries::default();
    for message in messages {
        if !matches!(message, Message::Tool { .. }) {
            end_results(&mut series, &mut all);
        }
        match message {
            Message::User { content, images } => {
                let parts = std::iter::once(text_part(content));
                let parts: Value = parts.chain(images.iter().map(image_part)).collect();
                all.push(json!({"role": "user", "parts": parts}));
            }
            Message::Assistant(message) => {
                let parts = parts(model, message);
                if !parts.is_empty() {
                    all.push(json!({"role": "model", "parts": parts}));
                }
            }
            Message::Tool { id, name, content, images } => {
                let response = json!({"name": name, "content": content});
                let mut result = json!({"name": name, "response": response});
                set_id(&mut result, id);
                series.add(json!({"functionResponse": result}), name, images);
            }
        }
    }
    end_results(&mut series, &mut all);
    all
}

fn end_results(series: &mut ResultSeries<'_>, all: &mut Vec<Value>) {
    for parts in
        [std::mem::take(&mut series.results), series.take_image_parts(text_part, image_part)]
    {
        if !parts.is_empty() {
            all.push(json!({"role": "user", "parts": parts}));
        }
    }
}

fn text_part(text: &str) -> Value {
    json!({"text": text})
}

fn image_part(image: &Image) -> Value {
    json!({"inlineData": {"mimeType": image.media_type, "data": image.data}})
}

/// Sets the id of a call or a result, if Gemini assigned it.
fn set_id(of: &mut Value, id: &str) {
    if let Value::Object(of) = of
        && !id.is_empty()
        && !id.starts_with(NO_ID)
    {
        of.insert("id".to_owned(), id.into());
    }
}

/// The parts of a message of the model. Those of Gemini are sent back unchanged, except for the ids of
/// calls, which the conversation may have assigned.
fn parts(model: &str, message: &AssistantMessage) -> Vec<Value> {
    let mut calls = message.tool_calls.iter();
    if let Some(mut parts) = message.content_of_provider(NAME) {
        // Summaries of thoughts are for the user alone.
        parts.retain(|part| part["thought"] != true);
        for part in &mut parts {
            if let Some(function_call) = part.get_mut("functionCall")
                && let Some(call) = calls.next()
            {
                set_id(function_call, &call.id);
            }
        }
        return parts;
    }
    let text = message.content.iter().filter(|text| !text.is_empty());
    let mut parts: Vec<Value> = text.map(|text| text_part(text)).collect();
    for (at, call) in calls.enumerate() {
        let mut function_call = json!({"name": call.name, "args": call.object()});
        set_id(&mut function_call, &call.id);
        let mut part = json!({"functionCall": function_call});
        if at == 0 && model.contains("gemini-3") {
            part["thoughtSignature"] = OTHER_MODEL.into();
        }
        parts.push(part);
    }
    parts
}

/// Builds a reply from a complete body or from events, which have the same form.
#[derive(Default)]
struct ContentReader {
    parts: Vec<Value>,
    usage: Value,
    model: Option<String>,
    finish_reason: Option<String>,
}

impl ReplyReader for ContentReader {
    fn add_body(&mut self, body: &str) -> Result<(), ReplyError> {
        self.add_event(body, &|_| {}).map(|_| ())
    }

    fn add_event(&mut self, data: &str, sink: StreamSink<'_>) -> Result<bool, ReplyError> {
        let mut body: Value = serde_json::from_str(data)?;
        if body.get("error").is_some() {
            return Err(ReplyError::Provider(body));
        }
        if let Some(reason) = body["promptFeedback"]["blockReason"].as_str() {
            return Err(ReplyError::RejectedPrompt(reason.to_owned()));
        }
        if body["usageMetadata"].is_object() {
            self.usage = take_field(&mut body, "usageMetadata");
        } else if !body["candidates"].is_array() {
            return Err(ReplyError::Malformed("no candidates".to_owned()));
        }
        if let Some(model) = body["modelVersion"].as_str() {
            self.model = Some(model.to_owned());
        }
        if let Some(reason) = body["candidates"][0]["finishReason"].as_str() {
            self.finish_reason = Some(reason.to_owned());
        }
        let parts = body.pointer_mut("/candidates/0/content/parts").map(Value::take);
        if let Some(Value::Array(parts)) = parts {
            for part in parts {
                if let (Some(text), true) = (part["text"].as_str(), part["thought"] != true) {
                    sink(Event::ReplyText(text));
                }
                self.add_part(part);
            }
        }
        // The last event has a reason, and the usage.
        Ok(self.finish_reason.is_some())
    }

    fn finish(self: Box<Self>, _sink: StreamSink<'_>) -> Result<Reply, ReplyError> {
        let Self { parts, usage, model, finish_reason } = *self;
        let mut text = String::new();
        let mut tool_calls: Vec<ModelCall> = Vec::new();
        for part in parts.iter().filter(|part| part["thought"] != true) {
            text.push_str(part["text"].as_str().unwrap_or_default());
            if let Some(call) = part.get("functionCall") {
                let name = call["name"].as_str().unwrap_or_default().to_owned();
                let own = || format!("{NO_ID}{name}#{}", tool_calls.len());
                let id = call["id"].as_str().map_or_else(own, str::to_owned);
                let args = &call["args"];
                let arguments = if args.is_null() { String::new() } else { args.to_string() };
                tool_calls.push(ModelCall { id, name, arguments });
            }
        }
        match finish_reason.as_deref() {
            Some("MALFORMED_FUNCTION_CALL") if tool_calls.is_empty() => {
                let detail = "the provider cannot parse a call of the model";
                return Err(ReplyError::Interrupted(detail));
            }
            None => return Err(ReplyError::Interrupted(client::INTERRUPTED)),
            Some(_) => {}
        }
        let sum = |keys: [&str; 2]| {
            keys.iter().filter_map(|key| usage[*key].as_u64()).reduce(u64::saturating_add)
        };
        Ok(Reply {
            message: AssistantMessage::of_provider(NAME, text, tool_calls, parts),
            usage: Usage {
                input_tokens: sum(["promptTokenCount", "toolUsePromptTokenCount"]),
                output_tokens: sum(["candidatesTokenCount", "thoughtsTokenCount"]),
            },
            model,
            finish_reason: finish::finish_reason(finish_reason.as_deref()),
            calls_as_text: false,
        })
    }
}

impl ContentReader {
    /// Adds a part. Pieces of a text become one part, unless one has a signature.
    fn add_part(&mut self, part: Value) {
        let is_plain = |part: &Value| part.as_object().is_some_and(|part| part.len() == 1);
        if let (Some(text), Some(last)) = (part["text"].as_str(), self.parts.last_mut())
            && is_plain(&part)
            && is_plain(last)
            && let Some(Value::String(whole)) = last.get_mut("text")
        {
            whole.push_str(text);
        } else {
            self.parts.push(part);
        }
    }
}
