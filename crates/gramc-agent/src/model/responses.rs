//! OpenAI's responses.

use gramc_schema::Target;
use gramc_tools::Image;
use serde_json::{Map, Value, json};

use super::chat::is_reasoning_model;
use super::http_model::{Protocol, ReplyError, ReplyReader, ResultSeries, take_field};
use super::{ModelRequest, StreamSink, client, finish};
use crate::message::{AssistantMessage, Message, ModelCall, Reply, Usage};
use crate::observer::Event;

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
        let mut body = Map::new();
        let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
        put("model", model.into());
        put("store", false.into());
        put("stream", request.stream.into());
        if !request.instruction.is_empty() {
            put("instructions", request.instruction.into());
        }
        if is_reasoning_model(model) {
            // The provider stores nothing, so the next request must contain its thoughts.
            put("include", json!(["reasoning.encrypted_content"]));
        }
        if !request.tools.is_empty() {
            put("tools", request.tools.into());
        }
        put("input", input(request.messages).into());
        if let Some(temperature) = sampling.temperature {
            put("temperature", json!(temperature));
        }
        if let Some(max) = sampling.max_tokens {
            put("max_output_tokens", json!(max));
        }
        if let Some(top_p) = sampling.top_p {
            put("top_p", json!(top_p));
        }
        if let Some(seed) = sampling.seed {
            put("seed", json!(seed));
        }
        body.into()
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(ResponseReader::default())
    }
}

/// Converts messages to items. The images of consecutive results become a message of the user.
fn input(messages: &[Message]) -> Vec<Value> {
    let mut all = Vec::with_capacity(messages.len());
    let mut series = ResultSeries::default();
    for message in messages {
        if !matches!(message, Message::Tool { .. }) {
            end_results(&mut series, &mut all);
        }
        match message {
            Message::User { content, images } if images.is_empty() => {
                all.push(json!({"role": "user", "content": content}));
            }
            Message::User { content, images } => {
                let parts = std::iter::once(text_part(content));
                let parts: Value = parts.chain(images.iter().map(image_part)).collect();
                all.push(json!({"role": "user", "content": parts}));
            }
            Message::Assistant(message) => all.extend(items(message)),
            Message::Tool { id, name, content, images } => {
                let result =
                    json!({"type": "function_call_output", "call_id": id, "output": content});
                series.add(result, name, images);
            }
        }
    }
    end_results(&mut series, &mut all);
    all
}

fn end_results(series: &mut ResultSeries<'_>, all: &mut Vec<Value>) {
    all.append(&mut series.results);
    let parts = series.take_image_parts(text_part, image_part);
    if !parts.is_empty() {
        all.push(json!({"role": "user", "content": parts}));
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn image_part(image: &Image) -> Value {
    let url = format!("data:{};base64,{}", image.media_type, image.data);
    json!({"type": "input_image", "detail": "auto", "image_url": url})
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
                    sink(Event::ReplyText(text));
                }
            }
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
        let Self { response, items } = *self;
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
        let mut text = String::new();
        let mut tool_calls = Vec::new();
        for item in &output {
            let field = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
            match item["type"].as_str() {
                Some("message") => text.push_str(&text_of(item)),
                Some("function_call") => tool_calls.push(ModelCall {
                    id: field("call_id"),
                    name: field("name"),
                    arguments: field("arguments"),
                }),
                _ => {}
            }
        }
        let reason = response["incomplete_details"]["reason"].as_str();
        let reason = reason.or_else(|| response["status"].as_str());
        let tokens = |key: &str| response["usage"][key].as_u64();
        Ok(Reply {
            message: AssistantMessage::of_provider(NAME, text, tool_calls, output),
            usage: Usage {
                input_tokens: tokens("input_tokens"),
                output_tokens: tokens("output_tokens"),
            },
            model: response["model"].as_str().map(str::to_owned),
            finish_reason: finish::finish_reason(reason),
            calls_as_text: false,
        })
    }
}
