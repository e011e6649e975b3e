//! Redacted arguments of calls, for logs and traces.

use serde_json::Value;

use super::Session;
use crate::bind::{CallTarget, texts};
use crate::masks::{MASK, SecretMasks};
use gramc_calls::check::{Rejection, repaired_json};

/// A call's arguments without secrets and undeclared arguments.
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
        // The keys of secrets are those of the specification.
        let restored =
            self.target.as_ref().map(|target| target.restore(name, Some(arguments.to_owned())));
        let (name, arguments) = match &restored {
            Some((name, arguments)) => (&**name, arguments.as_deref().unwrap_or_default()),
            None => (name, arguments),
        };
        let Some(CallTarget::Tool(tool)) = self.bound.find(name) else { return None };
        let spec = &self.bound.tool(tool).spec;
        if !spec.parameters.iter().any(|parameter| parameter.secret) {
            return None;
        }
        let read = serde_json::from_str(arguments).ok().or_else(|| repaired_json(arguments));
        let Some(Value::Object(mut map)) = read else {
            let arguments = format!("\"{MASK}\"");
            return Some(RedactedArguments { arguments, secrets: Vec::new() });
        };
        let mut secrets = self.checked_secrets(tool, arguments);
        for (name, value) in &mut map {
            match spec.parameters.iter().find(|parameter| parameter.name == name.as_str()) {
                Some(parameter) if parameter.secret => texts(value, &mut secrets),
                Some(_) => continue,
                // It may be a secret parameter under another name.
                None => {}
            }
            *value = MASK.into();
        }
        let masks = SecretMasks::new(secrets.iter().cloned());
        let arguments = masks.arguments(spec, &Value::Object(map).to_string()).into_owned();
        Some(RedactedArguments { arguments, secrets })
    }

    /// The secrets that the check of a call finds, at any depth and under any name.
    fn checked_secrets(&self, tool: u32, arguments: &str) -> Vec<String> {
        let Ok(check) = self.bound.check(tool) else { return Vec::new() };
        match check.check(arguments, self.bound.settings(Some(tool)).check) {
            Ok(accepted) => accepted.secrets,
            Err(Rejection::Invalid(invalid)) => invalid.secrets().to_vec(),
            Err(Rejection::Malformed(_)) => Vec::new(),
        }
    }
}
