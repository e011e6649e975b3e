//! Calls of containers and of the functions in them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use smol_str::SmolStr;

use super::Session;
use crate::masks::MASK;
use crate::verdict::{CallError, Success};
use gramc_calls::names::{KnownName, NameIndex};

impl Session {
    /// Handles a call of a container. Without parameters, the container expands.
    pub(super) fn call_container(&self, at: u32, arguments: &str) -> Result<Success, CallError> {
        let settings = self.bound.settings(None);
        let attempted = read_attempt(arguments);
        let mut state = self.state.lock();
        state.count_unknown(settings, self.clock.now());
        if is_nothing(&attempted) {
            state.expand(at, settings.expand);
            state.of_container(at).expansions += 1;
            drop(state);
            return Ok(self.expansion(at));
        }
        let stats = state.of_container(at);
        stats.wrong_calls += 1;
        if settings.auto_expand {
            stats.auto_expansions += 1;
            state.expand(at, settings.expand);
        }
        drop(state);
        Err(self.wrong_call(at, attempted, settings.auto_expand))
    }

    /// Checks a call of a container without expanding it.
    pub(super) fn validate_container(
        &self,
        at: u32,
        arguments: &str,
    ) -> Result<Success, CallError> {
        let attempted = read_attempt(arguments);
        if is_nothing(&attempted) {
            return Ok(Success { arguments: "{}".to_owned(), ..Success::default() });
        }
        Err(self.wrong_call(at, attempted, false))
    }

    fn functions(&self, at: u32) -> Vec<SmolStr> {
        let members = self.bound.container(at).members.iter();
        members.map(|&tool| self.bound.tool(tool).spec.name.clone()).collect()
    }

    fn wrong_call(&self, at: u32, attempted: Value, expanded: bool) -> CallError {
        let functions = self.functions(at);
        let meant = meant(&functions, &attempted);
        let attempted = self.without_secrets(at, attempted);
        CallError::ContainerInvocation { attempted, functions, meant, expanded }
    }

    /// The parameters of a container call. Those that are secret in one of its functions are
    /// masked.
    fn without_secrets(&self, at: u32, attempted: Value) -> Value {
        let members = self.bound.container(at).members.iter();
        let parameters = members.flat_map(|&tool| &self.bound.tool(tool).spec.parameters);
        let secret = parameters.filter(|parameter| parameter.secret);
        let secret: BTreeSet<&str> = secret.map(|parameter| parameter.name.as_str()).collect();
        if secret.is_empty() { attempted } else { mask_attempt(&secret, attempted) }
    }

    /// The result of expanding a container.
    fn expansion(&self, at: u32) -> Success {
        let container = self.bound.container(at);
        let mut text = format!("`{}` is expanded. Its functions:", container.spec.name);
        for &tool in &container.members {
            let spec = &self.bound.tool(tool).spec;
            // Writing to a string cannot fail.
            let _ = write!(text, "\n- {}", spec.name);
            if let Some(description) = &spec.description {
                let first = description.lines().next().unwrap_or_default();
                let _ = write!(text, ": {first}");
            }
        }
        let result = json!({
            "expanded": container.spec.name.as_str(),
            "functions": self.functions(at).iter().map(SmolStr::as_str).collect::<Vec<_>>(),
            "message": text,
        });
        Success { arguments: "{}".to_owned(), result: Some(result), ..Success::default() }
    }

    /// Whether a function cannot be called because all of its containers are collapsed.
    pub(super) fn is_collapsed(&self, tool: u32) -> bool {
        let containers = &self.bound.tool(tool).containers;
        if containers.is_empty() || self.is_named_itself(&self.bound.tool(tool).spec.name) {
            return false;
        }
        let state = self.state.lock();
        !containers.iter().any(|&at| state.is_expanded(at))
    }

    /// The error for a function of a collapsed container.
    pub(super) fn not_expanded(&self, tool: u32) -> CallError {
        // Collapsed functions belong to a container.
        let first = self.bound.tool(tool).containers.first().copied().unwrap_or_default();
        let mut state = self.state.lock();
        let settings = self.bound.settings(None);
        let stats = state.of_container(first);
        stats.early_calls += 1;
        if settings.auto_expand {
            stats.auto_expansions += 1;
            state.expand(first, settings.expand);
        }
        let container = self.bound.container(first).spec.name.clone();
        CallError::ContainerNotExpanded { container, expanded: settings.auto_expand }
    }
}

/// The parameters of a container call, repaired if possible.
fn read_attempt(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return Value::Null;
    }
    match serde_json::from_str(arguments) {
        Ok(value) => value,
        Err(_) => {
            gramc_calls::check::repaired_json(arguments).unwrap_or_else(|| Value::from(arguments))
        }
    }
}

/// Masks members with these names, and strings that contain one of them, which may be JSON.
fn mask_attempt(names: &BTreeSet<&str>, value: Value) -> Value {
    match value {
        Value::String(text) if names.iter().any(|name| text.contains(name)) => MASK.into(),
        Value::Array(items) => items.into_iter().map(|item| mask_attempt(names, item)).collect(),
        Value::Object(map) => {
            let entries = map.into_iter().map(|(key, value)| {
                let is_secret = names.contains(key.as_str());
                (key, if is_secret { MASK.into() } else { mask_attempt(names, value) })
            });
            Value::Object(entries.collect())
        }
        value => value,
    }
}

/// The maximum number of parameter names and values that are compared with functions.
const MAX_WORDS: usize = 50;

/// The minimum similarity, in percent, of a parameter's value to the name of a function. A longer
/// value has to contain almost the exact name, because it may be any text.
const NEAR_IN_TEXT: u8 = 60;
const NEAR_IN_LONG_TEXT: u8 = 80;

/// The function whose name is most similar to the name or the string value of a parameter.
fn meant(functions: &[SmolStr], attempted: &Value) -> Option<SmolStr> {
    let mut words: Vec<(&str, u8)> = Vec::new();
    let text = |text| {
        let is_long = str::split_whitespace(text).nth(2).is_some();
        (text, if is_long { NEAR_IN_LONG_TEXT } else { NEAR_IN_TEXT })
    };
    if let Value::Object(map) = attempted {
        words.extend(map.values().filter_map(Value::as_str).map(text));
        words.extend(map.keys().map(|key| (key.as_str(), 0)));
    }
    words.extend(attempted.as_str().map(text));
    words.truncate(MAX_WORDS);
    if let Some(exact) = functions.iter().find(|name| words.iter().any(|(word, _)| word == name)) {
        return Some(exact.clone());
    }
    let known = functions.iter().map(|name| KnownName { name, ..KnownName::default() });
    let names = NameIndex::new(known);
    let near = words.into_iter().filter_map(|(word, least)| {
        names.suggest(word, 1).into_iter().find(|found| found.nearness >= least)
    });
    // Ties go to the first one.
    near.reduce(|best, other| if other.nearness > best.nearness { other } else { best })
        .map(|found| found.name)
}

/// Whether a value means that there are no arguments.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_function_is_meant_whichever_parameter_names_it() {
        let functions: Vec<SmolStr> =
            ["ReadFile", "WriteFile", "ListFiles"].map(SmolStr::from).into();
        for (attempted, name) in [
            (json!({"a_file": "x", "op": "write_file"}), Some("WriteFile")),
            (json!({"op": "reading a file", "ListFiles": {}}), Some("ListFiles")),
            (json!({"text": "the file that I want to read is here", "b": 1}), None),
            (json!({"function": "ReadFiel"}), Some("ReadFile")),
            (json!("WriteFile"), Some("WriteFile")),
            (json!({"a": 1}), None),
        ] {
            assert_eq!(meant(&functions, &attempted).as_deref(), name, "{attempted}");
        }
    }
}
