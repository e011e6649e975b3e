//! Secrets are kept out of what is said.

use serde_json::{Map, Value};

use gram_schema::model::Tool;

use crate::check::Problem;

/// What stands for a secret.
const MASK: &str = "***";

/// From how many bytes on a secret is masked in results, too: a shorter one would be found
/// everywhere.
const SHORTEST_IN_RESULTS: usize = 4;

/// The texts that nobody may read.
#[derive(Debug, Default)]
pub(super) struct Masks(Vec<String>);

impl Masks {
    pub(super) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<_> = secrets.into_iter().filter(|s| !s.is_empty()).collect();
        // What JSON makes of a secret tells it, too.
        let escaped: Vec<_> = secrets
            .iter()
            .map(|secret| {
                let json = Value::from(secret.as_str()).to_string();
                json.get(1..json.len() - 1).unwrap_or_default().to_owned()
            })
            .collect();
        secrets.extend(escaped);
        // Of two where one holds the other, the longer one is taken out first.
        secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self(secrets)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text without secrets.
    pub(super) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
    }

    /// The arguments of a tool's call, as JSON, without secrets: neither where they belong nor
    /// anywhere else.
    pub(super) fn arguments(&self, tool: &Tool, json: String) -> String {
        if !tool.parameters.iter().any(|parameter| parameter.secret) {
            return json;
        }
        let mut value: Value = serde_json::from_str(&json).unwrap_or_default();
        for parameter in tool.parameters.iter().filter(|parameter| parameter.secret) {
            if let Some(value) = value.get_mut(parameter.name.as_str()) {
                *value = MASK.into();
            }
        }
        self.value(value, 1).to_string()
    }

    /// A result without secrets.
    pub(super) fn result(&self, value: Value) -> Value {
        if self.is_empty() { value } else { self.value(value, SHORTEST_IN_RESULTS) }
    }

    fn value(&self, value: Value, shortest: usize) -> Value {
        let masked = |text: &str| {
            let secrets = self.0.iter().filter(|secret| secret.len() >= shortest);
            secrets.fold(text.to_owned(), |text, secret| {
                // A short secret is masked where it is all that there is.
                if secret.len() >= SHORTEST_IN_RESULTS || text == *secret {
                    text.replace(secret.as_str(), MASK)
                } else {
                    text
                }
            })
        };
        match value {
            Value::String(text) => Value::String(masked(&text)),
            Value::Number(number) if self.0.contains(&number.to_string()) => Value::from(MASK),
            Value::Array(items) => {
                items.into_iter().map(|item| self.value(item, shortest)).collect()
            }
            Value::Object(map) => {
                let entries = map.into_iter();
                let entries = entries.map(|(key, value)| (key, self.value(value, shortest)));
                Value::Object(entries.collect::<Map<_, _>>())
            }
            value => value,
        }
    }

    /// What a validator of the host says, without secrets.
    pub(super) fn problem(&self, mut problem: Problem) -> Problem {
        if !self.is_empty() {
            problem.message = self.text(&problem.message);
            problem.attempted = problem.attempted.map(|json| self.text(&json).into());
        }
        problem
    }
}
