//! Provider-independent conversation messages.

use gramc_tools::{Image, ReplyEnding, Verdict};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::finish_reason;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    /// A message of the user.
    User {
        /// The text.
        content: String,
        /// The images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// A message of the model.
    Assistant(AssistantMessage),
    /// The result of a tool call. Results have a role of their own, so that the model never takes
    /// the output of a tool for an instruction of the user.
    Tool {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The result, or the errors of the call.
        content: String,
        /// The images of the result.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
}

impl Message {
    /// A text of the user.
    pub fn user(content: impl Into<String>) -> Self {
        Self::User { content: content.into(), images: Vec::new() }
    }

    /// A text of the model.
    pub fn assistant(content: String) -> Self {
        Self::Assistant(AssistantMessage { content: Some(content), ..Default::default() })
    }

    /// The result of a call.
    pub(crate) fn result(id: String, name: String, verdict: &Verdict) -> Self {
        Self::Tool { id, name, content: verdict.message(), images: verdict.images() }
    }

    pub(crate) fn calls(&self) -> &[ModelCall] {
        match self {
            Self::Assistant(message) => &message.tool_calls,
            Self::User { .. } | Self::Tool { .. } => &[],
        }
    }

    /// The text, if there is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::User { content, .. } | Self::Tool { content, .. } => Some(content),
            Self::Assistant(message) => message.content.as_deref(),
        }
    }

    /// The images of a user or of a result.
    pub(crate) fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } | Self::Tool { images, .. } => images,
            Self::Assistant(_) => &[],
        }
    }

    /// The caption of an image in the result of a tool. Providers get such images in user messages.
    pub(crate) fn image_caption(tool: &str) -> String {
        format!("Image in the result of `{tool}`, not visible to the user:")
    }

    pub(crate) fn without_images(mut self) -> Self {
        if let Self::User { images, .. } | Self::Tool { images, .. } = &mut self {
            images.clear();
        }
        self
    }

    /// Whether a user or a tool wrote a text in this message.
    pub(crate) fn quotes(&self, text: &str) -> bool {
        !matches!(self, Self::Assistant(_)) && self.text().is_some_and(|it| it.contains(text))
    }
}

/// A message of a model: text, tool calls, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The text, or `None` if the model only calls tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The tool calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ModelCall>,
    /// Provider-specific data that is sent back to the provider with this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Value>,
}

/// A tool call as the model wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The id of the call, unique within the conversation.
    #[serde(default)]
    pub id: String,
    /// The name of the tool, as declared in the specification if it is declared there.
    pub name: String,
    /// The arguments as the model wrote them. Usually valid JSON.
    #[serde(default, deserialize_with = "text_or_json")]
    pub arguments: String,
}

/// Reads arguments that are a string, as traces have them, or JSON, as scripts may have them.
fn text_or_json<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    })
}

impl ModelCall {
    /// The arguments as an object, for providers that accept nothing else. Arguments that are not
    /// an object are wrapped in one.
    pub(crate) fn object(&self) -> Value {
        match serde_json::from_str(&self.arguments) {
            Ok(value @ Value::Object(_)) => value,
            _ if self.arguments.trim().is_empty() => Value::Object(serde_json::Map::new()),
            _ => serde_json::json!({"malformed_arguments": self.arguments}),
        }
    }

    /// Whether the arguments are valid JSON.
    pub(crate) fn is_complete(&self) -> bool {
        serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
    }
}

/// The reply of a model to one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The message.
    #[serde(flatten)]
    pub message: AssistantMessage,
    /// The tokens of the request.
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub usage: Usage,
    /// The model, as the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How the reply ended.
    #[serde(default)]
    pub finish_reason: FinishReason,
    /// Whether the model wrote its calls as text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calls_as_text: bool,
}

/// How a reply ended. The names are those of OpenTelemetry's semantic conventions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It is complete.
    #[default]
    #[serde(alias = "tool_call", alias = "tool_calls")]
    Stop,
    /// It reached a token limit.
    #[serde(alias = "max_tokens")]
    Length,
    /// A content filter stopped it.
    ContentFilter,
    /// The provider reports an error, or no reason at all.
    Error,
    /// gramc stopped the request, because a call could not be valid any more.
    Stopped,
}

impl FinishReason {
    /// Converts the word of a provider, such as `max_tokens`. Unknown words count as complete.
    pub fn of_provider(word: &str) -> Self {
        finish_reason(Some(word))
    }

    /// The same, as the ending of the reply's last call.
    pub fn ending(self) -> ReplyEnding {
        self.problem().map_or(ReplyEnding::Complete, ReplyEnding::CutOff)
    }

    /// Why a reply that ended like this is not complete.
    pub fn problem(self) -> Option<&'static str> {
        match self {
            Self::Stop | Self::Stopped => None,
            Self::Length => Some("the reply reached the token limit"),
            Self::ContentFilter => Some("a content filter stopped the reply"),
            Self::Error => Some("the provider did not finish the reply"),
        }
    }

    /// The name in the semantic conventions, for a reply with or without calls.
    pub(crate) fn name(self, has_calls: bool) -> &'static str {
        match self {
            Self::Stop if has_calls => "tool_call",
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Error => "error",
            Self::Stopped => "stopped",
        }
    }
}

impl AssistantMessage {
    /// A message with the content as a provider wrote it, which is sent back to this provider.
    #[expect(clippy::needless_pass_by_value, reason = "`json!` borrows its values")]
    pub(crate) fn of_provider(
        provider: &str,
        text: String,
        tool_calls: Vec<ModelCall>,
        content: Vec<Value>,
    ) -> Self {
        let provider = serde_json::json!({"by": provider, "content": content});
        let content = (tool_calls.is_empty() || !text.is_empty()).then_some(text);
        Self { content, tool_calls, provider: Some(provider) }
    }

    /// The content as a provider wrote it, if this provider wrote it.
    pub(crate) fn content_of_provider(&self, provider: &str) -> Option<Vec<Value>> {
        let own = self.provider.as_ref().filter(|own| own["by"] == provider)?;
        own["content"].as_array().cloned()
    }

    /// Whether there is neither text nor a call.
    pub(crate) fn is_empty(&self) -> bool {
        self.tool_calls.is_empty() && self.content.as_deref().unwrap_or_default().trim().is_empty()
    }
}

/// Token counts as reported by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to the model, if reported.
    #[serde(default, alias = "prompt_tokens", skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens generated by the model, if reported.
    #[serde(default, alias = "completion_tokens", skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Requests that gramc stopped. The provider does not report their tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<u64>,
}

impl Usage {
    /// Whether the provider reports no tokens.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// The sum of all reported tokens.
    pub fn total(&self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }

    /// Adds the tokens of another request.
    pub fn add(&mut self, other: Self) {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
        self.stopped = sum(self.stopped, other.stopped);
    }
}
