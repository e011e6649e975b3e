//! Conversations, apart from what any provider calls their parts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    /// What the user says.
    User {
        /// The text.
        content: String,
    },
    /// What the model says and calls.
    Assistant(Said),
    /// What came of a call. Results stand in such messages alone, so that no text of a tool is
    /// taken for an order of the user's.
    Tool {
        /// The call that is answered.
        id: String,
        /// The tool that was called.
        name: String,
        /// The result, or what was wrong with the call.
        content: String,
    },
}

/// What a model says and calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The text; nothing where the model only calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ModelCall>,
    /// What a provider wants back with the message, and nobody else reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Value>,
}

/// A call as a model made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// What tells it from the other calls of the conversation.
    #[serde(default)]
    pub id: String,
    /// The name that was called, as the specification has it where it does.
    pub name: String,
    /// The arguments, as the model wrote them: JSON, if it did well.
    #[serde(default, deserialize_with = "text_or_json")]
    pub arguments: String,
}

/// Arguments in a script may be an object, too.
fn text_or_json<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    })
}

impl ModelCall {
    /// The arguments as an object, for providers that take nothing else back. What is no object
    /// stands in one.
    pub(crate) fn object(&self) -> Value {
        match serde_json::from_str(&self.arguments) {
            Ok(value @ Value::Object(_)) => value,
            _ if self.arguments.trim().is_empty() => Value::Object(serde_json::Map::new()),
            _ => serde_json::json!({"malformed_arguments": self.arguments}),
        }
    }
}

/// A model's answer to one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// What it says and calls.
    #[serde(flatten)]
    pub said: Said,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub usage: Usage,
}

/// Tokens, as providers count them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// What was sent; nothing where the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// What came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

impl Usage {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// All tokens that are known of.
    pub fn total(&self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }

    /// Adds what another request cost.
    pub fn add(&mut self, other: Self) {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
    }
}
