//! The parts of requests and replies that the protocols of providers share.

use gramc_tools::Image;
use serde_json::{Value, json};

use super::finish_reason;
use crate::message::{AssistantMessage, Message, ModelCall, Reply, Usage};

pub(super) struct MessageForm {
    /// The key of the content of a message.
    pub(super) content: &'static str,
    pub(super) text: fn(&str) -> Value,
    pub(super) image: fn(&Image) -> Value,
    /// The result of a call: from its id, the tool, and the text.
    pub(super) result: fn(&str, &str, &str) -> Option<Value>,
    /// Whether consecutive results are parts of one message of the user.
    pub(super) joins_results: bool,
}

impl MessageForm {
    /// Converts a conversation. `assistant` converts a message of the model; it also gets the messages
    /// after it.
    ///
    /// The images of consecutive results become a message of the user: providers differ in which of
    /// them accept images in results, and all accept images of a user.
    pub(super) fn convert(
        &self,
        messages: &[Message],
        assistant: impl Fn(&AssistantMessage, &[Message]) -> Vec<Value>,
    ) -> Vec<Value> {
        let user = |parts: Vec<Value>| json!({"role": "user", self.content: parts});
        let mut all = Vec::with_capacity(messages.len());
        let (mut results, mut shown) = (Vec::new(), Vec::new());
        for (at, message) in messages.iter().enumerate() {
            let after = messages.get(at + 1..).unwrap_or_default();
            match message {
                // Some servers accept nothing but a text.
                Message::User { content, images }
                    if images.is_empty() && self.content == "content" =>
                {
                    all.push(json!({"role": "user", "content": content}));
                }
                Message::User { content, images } => {
                    let images = images.iter().map(self.image);
                    all.push(user(std::iter::once((self.text)(content)).chain(images).collect()));
                }
                Message::Assistant(message) => all.extend(assistant(message, after)),
                Message::Tool { id, name, content, images } => {
                    results.extend((self.result)(id, name, content));
                    for image in images {
                        let caption = Message::image_caption(name);
                        shown.extend([(self.text)(&caption), (self.image)(image)]);
                    }
                    if matches!(after.first(), Some(Message::Tool { .. })) {
                        continue;
                    }
                    let results = std::mem::take(&mut results);
                    if self.joins_results {
                        all.push(user(results));
                    } else {
                        all.extend(results);
                    }
                    if !shown.is_empty() {
                        all.push(user(std::mem::take(&mut shown)));
                    }
                }
            }
        }
        all
    }
}

/// Removes the fields of a body that have no value: null, the empty text or the empty list.
pub(super) fn omit_empty(mut body: Value) -> Value {
    if let Value::Object(fields) = &mut body {
        fields.retain(|_, value| !value.is_null() && *value != "" && *value != json!([]));
    }
    body
}

/// A part of the content of a reply.
pub(super) enum ReplyPart {
    Text(String),
    Call(ModelCall),
    Other,
}

/// The reply with the content as a provider wrote it. `parts` are its parts, in order.
pub(super) fn build_reply(
    provider: &str,
    content: Vec<Value>,
    parts: impl IntoIterator<Item = ReplyPart>,
) -> Reply {
    let (mut text, mut tool_calls) = (String::new(), Vec::new());
    for part in parts {
        match part {
            ReplyPart::Text(more) => text.push_str(&more),
            ReplyPart::Call(call) => tool_calls.push(call),
            ReplyPart::Other => {}
        }
    }
    let message = AssistantMessage::of_provider(provider, text, tool_calls, content);
    Reply { message, ..Reply::default() }
}

impl Reply {
    /// Adds the model and the finish reason, as the provider names them, and the tokens below the
    /// given keys of the usage.
    pub(super) fn with_metadata(
        self,
        model: Option<&str>,
        reason: Option<&str>,
        usage: &Value,
        input: &[&str],
        output: &[&str],
    ) -> Self {
        let sum = |keys: &[&str]| {
            keys.iter().filter_map(|key| usage[*key].as_u64()).reduce(u64::saturating_add)
        };
        Self {
            usage: Usage { input_tokens: sum(input), output_tokens: sum(output), stopped: None },
            model: model.map(str::to_owned),
            finish_reason: finish_reason(reason),
            ..self
        }
    }
}

/// A text field of an object, empty if there is none.
pub(super) fn text_field(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}

/// Removes a field of an object.
pub(super) fn take_field(of: &mut Value, key: &str) -> Value {
    of.get_mut(key).map(Value::take).unwrap_or_default()
}

/// An image as a URL that contains it.
pub(super) fn image_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media_type, image.data)
}
