//! Redacted arguments of calls, for logs and traces.

use serde_json::Value;

use super::Session;
use crate::bind::{CallTarget, texts};
use crate::check::repaired_json;
use crate::masks::MASK;

/// A call's arguments without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedArguments {
    /// The arguments, with `***` in place of secrets. Only `***` if they cannot be parsed.
    pub arguments: String,
    /// The values of the secrets, for masking related texts.
    pub secrets: Vec<String>,
}

impl Session {
    /// Redacts the arguments of a call. `None` if the tool is unknown or has no secret parameters,
    /// so that no redaction is needed.
    pub fn redact(&self, name: &str, arguments: &str) -> Option<RedactedArguments> {
        let Some(CallTarget::Tool(tool)) = self.bound.named(name) else { return None };
        let secret: Vec<&str> = {
            let parameters = self.bound.tool(tool).spec.parameters.iter();
            parameters.filter(|known| known.secret).map(|known| known.name.as_str()).collect()
        };
        if secret.is_empty() {
            return None;
        }
        let read = serde_json::from_str(arguments).ok().or_else(|| repaired_json(arguments));
        let Some(Value::Object(mut map)) = read else {
            let arguments = format!("\"{MASK}\"");
            return Some(RedactedArguments { arguments, secrets: Vec::new() });
        };
        let mut secrets = Vec::new();
        for (_, value) in map.iter_mut().filter(|(key, _)| secret.contains(&key.as_str())) {
            texts(value, &mut secrets);
            *value = MASK.into();
        }
        Some(RedactedArguments { arguments: Value::Object(map).to_string(), secrets })
    }
}
