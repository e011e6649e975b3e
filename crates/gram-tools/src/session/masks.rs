//! Masks secrets in messages and results.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use gram_model::Tool;

use crate::check::Problem;

/// The replacement of a secret.
pub(super) const MASK: &str = "***";

/// From how many bytes on a secret is masked in results, too: a shorter one would be found
/// everywhere.
const MIN_LENGTH_IN_RESULTS: usize = 4;

/// The mark of a truncated text.
const CUT: char = '…';

/// The minimum length of the remainder of a truncated secret to be masked, in bytes.
const MIN_REMAINDER: usize = 2;

/// The ways in which a secret may be written where it is told: as it is, as programs put it into
/// JSON, and as a message repeats it, without what would steer a terminal.
fn forms(secret: String) -> impl Iterator<Item = String> {
    let json = in_json(&secret);
    let lines = crate::sanitize::plain(&secret);
    let line = secret.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let [lower, upper] = [false, true].map(|upper| {
        let mut out = String::with_capacity(json.len());
        for c in json.chars() {
            if c.is_ascii() {
                out.push(c);
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a text in memory cannot fail.
                let _ =
                    if upper { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
            }
        }
        out
    });
    let twice = in_json(&json);
    [secret, json, twice, lower, upper, lines, line].into_iter()
}

/// A text escaped as JSON, without quotes.
fn in_json(text: &str) -> String {
    let json = Value::from(text).to_string();
    json.get(1..json.len() - 1).unwrap_or_default().to_owned()
}

/// The texts to mask, in all forms.
#[derive(Debug, Default)]
pub(super) struct SecretMasks(Vec<String>);

impl SecretMasks {
    pub(super) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| !secret.is_empty());
        let mut secrets: Vec<_> = secrets.flat_map(forms).collect();
        // Of two where one holds the other, the longer one is taken out first.
        secrets.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self(secrets)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text without secrets.
    pub(super) fn text(&self, text: &str) -> String {
        let whole =
            self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK));
        if self.is_empty() || !whole.contains(CUT) { whole } else { self.without_rests(&whole) }
    }

    /// A truncated text without the remainders of secrets at its cuts.
    fn without_rests(&self, text: &str) -> String {
        let last = text.matches(CUT).count();
        let mut kept = String::with_capacity(text.len());
        for (nth, part) in text.split(CUT).enumerate() {
            let mut part = part;
            if nth > 0 {
                kept.push(CUT);
                let begins = |rest: Option<&str>| rest.is_some_and(|it| part.starts_with(it));
                let is_rest = |secret: &str, n: usize| begins(secret.get(secret.len() - n..));
                if let Some(length) = self.longest(part, is_rest) {
                    part = &part[length..];
                    kept.push_str(MASK);
                }
            }
            let ends = |rest: Option<&str>| rest.is_some_and(|it| part.ends_with(it));
            let is_rest = |secret: &str, n: usize| ends(secret.get(..n));
            match self.longest(part, is_rest).filter(|_| nth < last) {
                Some(length) => {
                    kept.push_str(&part[..part.len() - length]);
                    kept.push_str(MASK);
                }
                None => kept.push_str(part),
            }
        }
        kept
    }

    /// The longest rest of a secret that a part of a text may hold, in bytes.
    fn longest(&self, part: &str, is_rest: impl Fn(&str, usize) -> bool) -> Option<usize> {
        let of_one = |secret: &String| {
            let most = part.len().min(secret.len().saturating_sub(1));
            (MIN_REMAINDER..=most).rev().find(|&n| is_rest(secret, n))
        };
        self.0.iter().filter_map(of_one).max()
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
        if self.is_empty() { value } else { self.value(value, MIN_LENGTH_IN_RESULTS) }
    }

    fn value(&self, value: Value, shortest: usize) -> Value {
        let masked = |text: &str| {
            let secrets = self.0.iter().filter(|secret| secret.len() >= shortest);
            secrets.fold(text.to_owned(), |text, secret| {
                // A short secret is masked where it is all that there is.
                if secret.len() >= MIN_LENGTH_IN_RESULTS || text == *secret {
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
                let entries = map.into_iter().map(|(key, value)| {
                    // Names of arguments are public: they come from the specification or the model.
                    let key = if shortest < MIN_LENGTH_IN_RESULTS { key } else { masked(&key) };
                    (key, self.value(value, shortest))
                });
                Value::Object(entries.collect::<Map<_, _>>())
            }
            value => value,
        }
    }

    /// A problem of a host validator without secrets.
    pub(super) fn problem(&self, mut problem: Problem) -> Problem {
        if !self.is_empty() {
            problem.message = self.text(&problem.message);
            problem.attempted = problem.attempted.map(|json| self.text(&json).into());
        }
        problem
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masks(secrets: &[&str]) -> SecretMasks {
        SecretMasks::new(secrets.iter().map(|&secret| secret.to_owned()))
    }

    #[test]
    fn a_secret_is_found_however_it_is_written() {
        let masks = masks(&["pässword-😀", "two\r\nlines \u{1b}", "qu\"ote"]);
        for told in [
            "pässword-😀",
            "{\"a\": \"p\\u00e4ssword-\\ud83d\\ude00\"}",
            "{\"a\": \"p\\u00E4ssword-\\uD83D\\uDE00\"}",
            "two\r\nlines \u{1b}",
            "two\\r\\nlines \\u001b",
            "two\nlines  ",
            "two  lines  ",
            "qu\\\"ote",
        ] {
            let left = masks.text(told);
            assert!(left.contains(MASK), "{left}");
            assert!(!left.contains("word") && !left.contains("two") && !left.contains("ote"));
        }
    }

    #[test]
    fn nothing_of_a_secret_that_was_cut_is_left() {
        let masks = masks(&["hunter2-hunter2", "a\"b-secret"]);
        for (text, left) in [
            ("it was hunter2-hun… (9 bytes)", "it was ***… (9 bytes)"),
            ("…er2-hunter2 was it", "…*** was it"),
            ("a … b", "a … b"),
            ("\"a\\\"b-se…", "\"***…"),
            ("hunter2-hunter2…hunter2 …", "***…*** …"),
            ("hunter2-hunter2", "***"),
        ] {
            assert_eq!(masks.text(text), left);
        }
        assert_eq!(SecretMasks::default().text("a…b"), "a…b");
    }

    #[test]
    fn names_in_results_are_masked_too() {
        let masks = masks(&["hunter2"]);
        let told = masks.result(json!({"by": {"hunter2": [1], "a-hunter2": "hunter2"}}));
        assert_eq!(told, json!({"by": {"***": [1], "a-***": "***"}}));
    }
}
