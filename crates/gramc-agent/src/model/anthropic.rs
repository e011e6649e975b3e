//! Anthropic's messages.

use gramc_schema::Target;
use gramc_tools::Image;
use reqwest::RequestBuilder;
use serde_json::{Map, Value, json};

use super::bodies::{MessageForm, ReplyPart, build_reply, omit_empty, take_field, text_field};
use super::http_model::{Protocol, ReplyError, ReplyReader};
use super::{ModelRequest, ReplyDelta, StreamSink, client};
use crate::message::{AssistantMessage, ModelCall, Reply};

/// The version of the API.
const VERSION: &str = "2023-06-01";

/// Marks messages whose blocks are sent back as they were received.
const NAME: &str = "anthropic";

/// Maximum blocks of one reply.
const MAX_BLOCKS: usize = 1_000;

const MESSAGES: MessageForm = MessageForm {
    content: "content",
    text: text_block,
    image: image_block,
    result: |id, _, text| Some(json!({"type": "tool_result", "tool_use_id": id, "content": text})),
    joins_results: true,
};

#[derive(Debug)]
pub(super) struct Anthropic;

impl Protocol for Anthropic {
    fn target(&self) -> Target {
        Target::Anthropic
    }

    fn path(&self, _model: &str, _stream: bool) -> String {
        "messages".to_owned()
    }

    fn add_headers(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("anthropic-version", VERSION)
    }

    fn authorize(&self, request: RequestBuilder, key: &str) -> RequestBuilder {
        request.header("x-api-key", key)
    }

    fn body(&self, model: &str, request: &ModelRequest<'_>) -> Value {
        let sampling = request.sampling;
        let assistant = |message: &AssistantMessage, _: &[_]| {
            vec![json!({"role": "assistant", "content": blocks(message)})]
        };
        omit_empty(json!({
            "model": model,
            "max_tokens": sampling.max_tokens.unwrap_or_else(|| max_tokens(model)),
            "stream": request.stream,
            "system": request.instruction,
            "tools": request.tools,
            "messages": MESSAGES.convert(request.messages, assistant),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }))
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(MessageReader::default())
    }
}

/// The most tokens of a reply that a model accepts as `max_tokens`, which the API requires.
fn max_tokens(model: &str) -> u32 {
    let newer_opus = model.split_once("opus-4").is_some_and(|(_, version)| {
        ["-5", "-6", "-7", "-8", "-9"].iter().any(|newer| version.starts_with(newer))
    });
    match model {
        _ if model.contains("claude-3-5") => 8_192,
        _ if model.contains("3-opus") || model.contains("3-haiku") => 4_096,
        _ if model.contains("opus-4") && !newer_opus => 32_000,
        _ => 64_000,
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_block(image: &Image) -> Value {
    let source = json!({"type": "base64", "media_type": image.media_type, "data": image.data});
    json!({"type": "image", "source": source})
}

/// The blocks of a message of the model. Those of this provider are sent back unchanged, except for the
/// ids of calls, which the conversation may have assigned, and for inputs that are not objects.
fn blocks(message: &AssistantMessage) -> Vec<Value> {
    let mut calls = message.tool_calls.iter();
    if let Some(mut blocks) = message.content_of_provider(NAME) {
        for block in blocks.iter_mut().filter(|block| block["type"] == "tool_use") {
            if let Some(call) = calls.next() {
                block["id"] = call.id.clone().into();
                block["input"] = call.object();
            }
        }
        return blocks;
    }
    let text = message.content.iter().filter(|text| !text.is_empty());
    let call = |call: &ModelCall| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.object()});
    text.map(|text| text_block(text)).chain(calls.map(call)).collect()
}

/// Builds a message from a complete reply or from events.
#[derive(Default)]
struct MessageReader {
    /// The fields of the message, except for its blocks.
    message: Map<String, Value>,
    blocks: Vec<Value>,
    /// The number of streamed calls.
    calls: usize,
    usage: Map<String, Value>,
    is_complete: bool,
}

impl ReplyReader for MessageReader {
    fn add_body(&mut self, body: &str) -> Result<(), ReplyError> {
        let Value::Object(mut message) = serde_json::from_str(body)? else {
            return Err(ReplyError::Malformed("not an object".to_owned()));
        };
        let Some(Value::Array(blocks)) = message.remove("content") else {
            return Err(ReplyError::Malformed("no content".to_owned()));
        };
        self.blocks = blocks;
        self.add_fields(message);
        self.is_complete = true;
        Ok(())
    }

    fn add_event(&mut self, data: &str, sink: StreamSink<'_>) -> Result<bool, ReplyError> {
        let mut event: Value = serde_json::from_str(data)?;
        let kind = take_field(&mut event, "type");
        match kind.as_str().unwrap_or_default() {
            "message_start" => {
                if let Value::Object(message) = take_field(&mut event, "message") {
                    self.add_fields(message);
                }
            }
            "content_block_start" => {
                let mut block = take_field(&mut event, "content_block");
                if block["type"] == "tool_use" {
                    // The input arrives as text.
                    block["input"] = "".into();
                    self.calls += 1;
                }
                if self.blocks.len() >= MAX_BLOCKS {
                    return Err(ReplyError::Malformed(format!("more than {MAX_BLOCKS} blocks")));
                }
                self.blocks.push(block);
                self.add_delta(&Value::Null, sink);
            }
            "content_block_delta" => self.add_delta(&event["delta"], sink),
            "message_delta" => {
                if let Value::Object(mut delta) = take_field(&mut event, "delta") {
                    delta.insert("usage".to_owned(), take_field(&mut event, "usage"));
                    self.add_fields(delta);
                }
            }
            "message_stop" => self.is_complete = true,
            "error" => return Err(ReplyError::Provider(event)),
            _ => {}
        }
        Ok(self.is_complete)
    }

    fn finish(self: Box<Self>, _sink: StreamSink<'_>) -> Result<Reply, ReplyError> {
        let Self { message, blocks, usage, is_complete, .. } = *self;
        if !is_complete {
            return Err(ReplyError::Interrupted(client::INTERRUPTED));
        }
        let part = |block: &Value| match block["type"].as_str() {
            Some("text") => ReplyPart::Text(text_field(block, "text")),
            Some("tool_use") => ReplyPart::Call(ModelCall {
                id: text_field(block, "id"),
                name: text_field(block, "name"),
                arguments: match &block["input"] {
                    Value::String(text) => text.clone(),
                    Value::Null => String::new(),
                    input => input.to_string(),
                },
            }),
            _ => ReplyPart::Other,
        };
        let parts: Vec<_> = blocks.iter().map(part).collect();
        let field = |key: &str| message.get(key).and_then(Value::as_str);
        Ok(build_reply(NAME, blocks, parts).with_metadata(
            field("model"),
            field("stop_reason"),
            &usage.into(),
            &["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"],
            &["output_tokens"],
        ))
    }
}

impl MessageReader {
    fn add_fields(&mut self, mut fields: Map<String, Value>) {
        if let Some(Value::Object(usage)) = fields.remove("usage") {
            self.usage.extend(usage.into_iter().filter(|(_, tokens)| !tokens.is_null()));
        }
        self.message.extend(fields);
    }

    /// Adds a piece of the last block.
    fn add_delta(&mut self, delta: &Value, sink: StreamSink<'_>) {
        let Some(Value::Object(block)) = self.blocks.last_mut() else { return };
        for (part, of) in [
            ("text", "text"),
            ("partial_json", "input"),
            ("thinking", "thinking"),
            ("signature", "signature"),
        ] {
            let Some(piece) = delta[part].as_str() else { continue };
            match block.get_mut(of) {
                Some(Value::String(text)) => text.push_str(piece),
                _ => {
                    block.insert(of.to_owned(), piece.into());
                }
            }
            if part == "text" {
                sink(ReplyDelta::Text(piece));
            }
        }
        if block.get("type").is_some_and(|kind| kind == "tool_use") {
            let field = |key| block.get(key).and_then(Value::as_str).unwrap_or_default();
            let arguments = delta["partial_json"].as_str().unwrap_or_default();
            let (index, id, name) = (self.calls - 1, field("id"), field("name"));
            sink(ReplyDelta::Call { index, id, name, arguments });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::max_tokens;

    #[test]
    fn maximum_tokens_depend_on_the_model() {
        assert_eq!(max_tokens("claude-sonnet-4-5"), 64_000);
        assert_eq!(max_tokens("claude-opus-4-20250514"), 32_000);
        assert_eq!(max_tokens("claude-opus-4-1"), 32_000);
        assert_eq!(max_tokens("claude-opus-4-6"), 64_000);
        assert_eq!(max_tokens("claude-3-5-haiku-latest"), 8_192);
        assert_eq!(max_tokens("claude-3-haiku-20240307"), 4_096);
    }
}
