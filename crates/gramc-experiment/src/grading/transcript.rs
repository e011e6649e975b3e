//! The input of graders.

use std::sync::Arc;

use gramc_agent::Message;
use serde::Deserialize;
use serde_json::{Value, json};

/// The input of a grader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    pub(crate) case: String,
    /// The case as written in its file.
    pub(crate) definition: Arc<str>,
    pub(crate) arm: String,
    pub(crate) text: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) calls: Vec<RecordedCall>,
}

impl Transcript {
    /// The input of programs: the transcript without the name of the arm.
    pub(crate) fn json(&self) -> Value {
        let Self { case, definition, text, messages, calls, .. } = self;
        // It was parsed before.
        let definition: Value = serde_json::from_str(definition).unwrap_or_default();
        let calls = calls
            .iter()
            .map(|call| json!({"name": call.name, "arguments": call.arguments, "ok": call.ok}));
        let calls: Value = calls.collect();
        json!({
            "case": case, "definition": definition, "text": text, "messages": messages, "calls": calls,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct RecordedCall {
    /// The name of the tool.
    pub(crate) name: String,
    /// The repaired arguments if the call was accepted, else those of the model.
    pub(crate) arguments: Value,
    /// Whether the call succeeded.
    pub(crate) ok: bool,
}
