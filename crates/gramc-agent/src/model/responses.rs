//! OpenAI's responses.

use gramc_schema::Target;
use gramc_tools::Image;
use serde_json::{Value, json};

use super::bodies::{
    MessageForm, ReplyPart, build_reply, image_url, omit_empty, take_field, text_field,
};
use super::chat::is_reasoning_model;
use super::http_model::{Protocol, ReplyError, ReplyReader};
use super::{ModelRequest, ReplyDelta, StreamSink, client};
use crate::message::{AssistantMessage, ModelCall, Reply};

/// Marks messages whose items are sent back as they were received.
const NAME: &str = "openai-responses";

#[derive(Debug)]
pub(super) struct Responses;

impl Protocol for Responses {
    fn target(&self) -> Target {
        Target::OpenAiResponses
    }

    fn path(&self, _model: &str, _stream: bool) -> String {
        "responses".to_owned()
    }

    fn body(&self, model: &str, request: &ModelRequest<'_>) -> Value {
        let sampling = request.sampling;
        // The provider stores nothing, so the next request must contain its thoughts.
        let include = is_reasoning_model(model).then(|| json!(["reasoning.encrypted_content"]));
        omit_empty(json!({
            "model": model,
            "store": false,
            "stream": request.stream,
            "instructions": request.instruction,
            "include": include,
            "tools": request.tools,
            "input": INPUT.convert(request.messages, |message, _| items(message)),
            "temperature": sampling.temperature,
            "max_output_tokens": sampling.max_tokens,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
        }))
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(ResponseReader::default())
    }
}

const INPUT: MessageForm = MessageForm {
    content: "content",
    text: text_part,
    image: image_part,
    result: |id, _, text| {
        Some(json!({"type": "function_call_output", "call_id": id, "output": text}))
    },
    joins_results: false,
};

fn text_part(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn image_part(image: &Image) -> Value {
    json!({"type": "input_image", "detail": "auto", "image_url": image_url(image)})
}

fn message_item(text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text}]);
    json!({"type": "message", "role": "assistant", "content": content})
}

fn call_item(call: &ModelCall) -> Value {
    // Providers reject arguments that are not an object.
    let arguments = call.object().to_string();
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
}

/// The items of a message of the model. Those of this provider keep their order and its thoughts.
fn items(message: &AssistantMessage) -> Vec<Value> {
    let mut calls = message.tool_calls.iter();
    if let Some(items) = message.content_of_provider(NAME) {
        let item = |item: &Value| match item["type"].as_str()? {
            "message" => Some(message_item(&text_of(item))),
            "function_call" => calls.next().map(call_item),
            "reasoning" => {
                let content = item["encrypted_content"].as_str()?;
                Some(json!({"type": "reasoning", "encrypted_content": content, "summary": []}))
            }
            _ => None,
        };
        return items.iter().filter_map(item).collect();
    }
    let text = message.content.iter().filter(|text| !text.is_empty());
    text.map(|text| message_item(text)).chain(calls.map(call_item)).collect()
}

/// The text of an item, or the refusal in its place.
fn text_of(item: &Value) -> String {
    let parts = item["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str().or_else(|| part["refusal"].as_str())).collect()
}

/// Reads a response. Its last event contains all of it.
#[derive(Default)]
struct ResponseReader {
    response: Option<Value>,
    /// The events that began the calls so far.
    calls: Vec<Value>,
    /// The finished items, for servers whose last event contains none.
    items: Vec<Value>,
}

impl ReplyReader for ResponseReader {
    fn add_body(&mut self, body: &str) -> Result<(), ReplyError> {
        self.response = Some(serde_json::from_str(body)?);
        Ok(())
    }

    fn add_event(&mut self, data: &str, sink: StreamSink<'_>) -> Result<bool, ReplyError> {
        let mut event: Value = serde_json::from_str(data)?;
        let kind = take_field(&mut event, "type");
        match kind.as_str().unwrap_or_default() {
            "response.output_text.delta" | "response.refusal.delta" => {
                if let Some(text) = event["delta"].as_str() {
                    sink(ReplyDelta::Text(text));
                }
            }
            "response.output_item.added" if event["item"]["type"] == "function_call" => {
                self.calls.push(event.clone());
                self.report_call(&event, sink);
            }
            "response.function_call_arguments.delta" => self.report_call(&event, sink),
            "response.output_item.done" => self.items.push(take_field(&mut event, "item")),
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.response = Some(take_field(&mut event, "response"));
            }
            "error" => return Err(ReplyError::Provider(event)),
            _ => {}
        }
        Ok(self.response.is_some())
    }

    fn finish(self: Box<Self>, _sink: StreamSink<'_>) -> Result<Reply, ReplyError> {
        let Self { response, items, .. } = *self;
        let mut response = response.ok_or(ReplyError::Interrupted(client::INTERRUPTED))?;
        if response["error"].is_object() {
            return Err(ReplyError::Provider(response));
        }
        let Value::Array(mut output) = take_field(&mut response, "output") else {
            return Err(ReplyError::Malformed("no output".to_owned()));
        };
        if output.is_empty() {
            output = items;
        }
        let part = |item: &Value| match item["type"].as_str() {
            Some("message") => ReplyPart::Text(text_of(item)),
            Some("function_call") => ReplyPart::Call(ModelCall {
                id: text_field(item, "call_id"),
                name: text_field(item, "name"),
                arguments: text_field(item, "arguments"),
            }),
            _ => ReplyPart::Other,
        };
        let parts: Vec<_> = output.iter().map(part).collect();
        let reason = response["incomplete_details"]["reason"].as_str();
        Ok(build_reply(NAME, output, parts).with_metadata(
            response["model"].as_str(),
            reason.or_else(|| response["status"].as_str()),
            &response["usage"],
            &["input_tokens"],
            &["output_tokens"],
        ))
    }
}

impl ResponseReader {
    /// Reports a piece of the call that an event is about.
    fn report_call(&self, event: &Value, sink: StreamSink<'_>) {
        let is_same = |call: &Value| call["output_index"] == event["output_index"];
        if let Some(index) = self.calls.iter().position(is_same) {
            let field = |key| self.calls[index]["item"][key].as_str().unwrap_or_default();
            let arguments = event["delta"].as_str().unwrap_or_default();
            sink(ReplyDelta::Call { index, id: field("call_id"), name: field("name"), arguments });
        }
    }
}
