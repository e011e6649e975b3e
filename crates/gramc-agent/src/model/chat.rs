//! OpenAI's chat completions, which most servers implement, including llama.cpp and Ollama.
//!
//! The arguments of calls stay as the model wrote them, because the session repairs them or reports
//! their errors to the model.

mod body;
mod reply_builder;

use gramc_model::Api;
use gramc_schema::Target;
use serde_json::Value;

use super::ModelRequest;
use super::http_model::{Protocol, ReplyReader};
use reply_builder::ReplyBuilder;

pub(super) use body::is_reasoning_model;

#[derive(Debug)]
pub(super) struct ChatCompletions(pub(super) Api);

impl Protocol for ChatCompletions {
    fn target(&self) -> Target {
        match self.0 {
            Api::Tools => Target::OpenAi,
            Api::Functions => Target::OpenAiFunctions,
        }
    }

    fn path(&self, _model: &str, _stream: bool) -> String {
        "chat/completions".to_owned()
    }

    fn body(&self, model: &str, request: &ModelRequest<'_>) -> Value {
        body::build(model, self.0, request)
    }

    fn reader(&self) -> Box<dyn ReplyReader> {
        Box::new(ReplyBuilder::default())
    }
}

/// Text that a server may send as a string or as a list of parts.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            Some(texts.collect())
        }
        _ => None,
    }
}
