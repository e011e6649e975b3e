//! Gemini.

use gramc_schema::Target;
use gramc_tools::Image;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::bodies::{MessageForm, ReplyPart, build_reply, omit_empty, take_field, text_field};
use super::http_model::{Protocol, ReplyError, ReplyReader};
use super::{ModelRequest, ReplyDelta, StreamSink, client};
use crate::message::{AssistantMessage, ModelCall, Reply};

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
        let assistant = |message: &AssistantMessage, _: &[_]| match parts(model, message) {
            parts if parts.is_empty() => Vec::new(),
            parts => vec![json!({"role": "model", "parts": parts})],
        };
        let config = omit_empty(json!({
            "temperature": sampling.temperature,
            "topP": sampling.top_p,
            "maxOutputTokens": sampling.max_tokens,
            "seed": sampling.seed,
        }));
        let instruction = request.instruction;
        let instruction =
            (!instruction.is_empty()).then(|| json!({"parts": [text_part(instruction)]}));
        let tools =
            (!request.tools.is_empty()).then(|| json!([{"functionDeclarations": request.tools}]));
        omit_empty(json!({
            "contents": CONTENTS.convert(request.messages, assistant),
            "systemInstruction": instruction,
            "tools": tools,
            "generationConfig": (config != json!({})).then_some(config),
        }))
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(ContentReader::default())
    }
}

const CONTENTS: MessageForm = MessageForm {
    content: "parts",
    text: text_part,
    image: image_part,
    result: |id, name, text| {
        let mut result = json!({"name": name, "response": {"name": name, "content": text}});
        set_id(&mut result, id);
        Some(json!({"functionResponse": result}))
    },
    joins_results: true,
};

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
    /// The number of calls.
    calls: usize,
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
                let is_shown = part["thought"] != true;
                if let Some(call) = read_call(&part, self.calls).filter(|_| is_shown) {
                    let ModelCall { id, name, arguments } = &call;
                    sink(ReplyDelta::Call { index: self.calls, id, name, arguments });
                    self.calls += 1;
                } else if let (Some(text), true) = (part["text"].as_str(), is_shown) {
                    sink(ReplyDelta::Text(text));
                }
                self.add_part(part);
            }
        }
        // The last event has a reason, and the usage.
        Ok(self.finish_reason.is_some())
    }

    fn finish(self: Box<Self>, _sink: StreamSink<'_>) -> Result<Reply, ReplyError> {
        let Self { parts, usage, model, finish_reason, .. } = *self;
        let mut calls = 0;
        let mut part = |part: &Value| match read_call(part, calls) {
            Some(call) => {
                calls += 1;
                ReplyPart::Call(call)
            }
            None => ReplyPart::Text(text_field(part, "text")),
        };
        let shown = parts.iter().filter(|part| part["thought"] != true);
        let read: Vec<_> = shown.map(&mut part).collect();
        match finish_reason.as_deref() {
            Some("MALFORMED_FUNCTION_CALL") if calls == 0 => {
                let detail = "the provider cannot parse a call of the model";
                return Err(ReplyError::Interrupted(detail));
            }
            None => return Err(ReplyError::Interrupted(client::INTERRUPTED)),
            Some(_) => {}
        }
        Ok(build_reply(NAME, parts, read).with_metadata(
            model.as_deref(),
            finish_reason.as_deref(),
            &usage,
            &["promptTokenCount", "toolUsePromptTokenCount"],
            &["candidatesTokenCount", "thoughtsTokenCount"],
        ))
    }
}

/// The call in a part, after a number of other calls.
fn read_call(part: &Value, before: usize) -> Option<ModelCall> {
    let call = part.get("functionCall")?;
    let name = text_field(call, "name");
    let own = || format!("{NO_ID}{name}#{before}");
    let id = call["id"].as_str().map_or_else(own, str::to_owned);
    let args = &call["args"];
    let arguments = if args.is_null() { String::new() } else { args.to_string() };
    Some(ModelCall { id, name, arguments })
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
