//! Masks secrets in messages and results.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use gramc_model::Tool;

use gramc_calls::check::Problem;

/// The replacement of a secret.
pub(crate) const MASK: &str = "***";

/// The minimum length in bytes of a secret that is masked in results. Shorter ones would match
/// everywhere.
const MIN_LENGTH_IN_RESULTS: usize = 4;

/// Whether a value is long enough to be masked wherever it occurs.
pub(crate) fn is_maskable(secret: &str) -> bool {
    secret.len() >= MIN_LENGTH_IN_RESULTS
}

/// The mark of a truncated text.
const CUT: char = '…';

/// The minimum length in bytes of the remainder of a truncated secret that is masked.
const MIN_REMAINDER: usize = 2;

/// The forms in which a secret may appear: verbatim, escaped as JSON in various ways, as requests have
/// it, and as a message shows it, without control characters.
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
                // Writing to a string cannot fail.
                let _ =
                    if upper { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
            }
        }
        out
    });
    let twice = in_json(&json);
    let in_requests = is_maskable(&secret).then(|| crate::request_text::forms(&secret));
    let all = [secret, json, twice, lower, upper, lines, line].into_iter();
    all.chain(in_requests.into_iter().flatten())
}

/// A text escaped as JSON, without quotes.
fn in_json(text: &str) -> String {
    let json = Value::from(text).to_string();
    json.get(1..json.len() - 1).unwrap_or_default().to_owned()
}

/// The strings to mask, in all forms.
#[derive(Debug, Clone, Default)]
pub struct SecretMasks(Vec<String>);

impl SecretMasks {
    /// Masks these secrets.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| !secret.is_empty());
        let mut secrets: Vec<_> = secrets.flat_map(forms).collect();
        // Longer strings first, because they may contain shorter ones.
        secrets.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self(secrets)
    }

    /// The masks for the secrets of a library, which apply to all that its tools return. Shorter
    /// values are no secrets, and would match everywhere.
    pub fn of_library(secrets: &[String]) -> Self {
        Self::new(secrets.iter().filter(|secret| is_maskable(secret)).cloned())
    }

    /// Whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Masks the secrets in a text.
    pub fn text(&self, text: &str) -> String {
        let whole =
            self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK));
        if self.is_empty() || !whole.contains(CUT) { whole } else { self.without_rests(&whole) }
    }

    /// Masks the remainders of secrets at the cuts of a truncated text.
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

    /// The length in bytes of the longest remainder of a secret in a part of a text.
    fn longest(&self, part: &str, is_rest: impl Fn(&str, usize) -> bool) -> Option<usize> {
        let of_one = |secret: &String| {
            let most = part.len().min(secret.len().saturating_sub(1));
            (MIN_REMAINDER..=most).rev().find(|&n| is_rest(secret, n))
        };
        self.0.iter().filter_map(of_one).max()
    }

    /// Masks the secrets in the JSON of arguments: the values of secret parameters, and their
    /// occurrences elsewhere.
    pub(crate) fn arguments<'j>(&self, tool: &Tool, json: &'j str) -> Cow<'j, str> {
        let has_secrets = tool.parameters.iter().any(|parameter| parameter.secret);
        if !has_secrets && self.is_empty() {
            return json.into();
        }
        let mut value: Value = serde_json::from_str(json).unwrap_or_default();
        for parameter in tool.parameters.iter().filter(|parameter| parameter.secret) {
            if let Some(value) = value.get_mut(parameter.name.as_str()) {
                *value = MASK.into();
            }
        }
        self.value(value, 1).to_string().into()
    }

    /// Masks the secrets in a result.
    pub fn result(&self, value: Value) -> Value {
        if self.is_empty() { value } else { self.value(value, MIN_LENGTH_IN_RESULTS) }
    }

    fn value(&self, value: Value, shortest: usize) -> Value {
        let masked = |text: &str| {
            let secrets = self.0.iter().filter(|secret| secret.len() >= shortest);
            secrets.fold(text.to_owned(), |text, secret| {
                // A short secret is only masked if it is the whole string.
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
                    // Argument names are public: they come from the specification or the model.
                    let key = if shortest < MIN_LENGTH_IN_RESULTS { key } else { masked(&key) };
                    (key, self.value(value, shortest))
                });
                Value::Object(entries.collect::<Map<_, _>>())
            }
            value => value,
        }
    }

    /// Masks the secrets in a problem of a host validator.
    pub(crate) fn problem(&self, mut problem: Problem) -> Problem {
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
    fn a_secret_is_found_as_requests_have_it() {
        let masks = masks(&["user:s3cret/+=?"]);
        for told in [
            "Basic dXNlcjpzM2NyZXQvKz0/",
            "/x?key=user%3As3cret%2F%2B%3D%3F",
            "sid=user:s3cret/+=?; a=b",
        ] {
            let left = masks.text(told);
            assert!(
                left.contains(MASK) && !left.contains("s3cret") && !left.contains("dXNl"),
                "{left}"
            );
        }
        // Without padding, and in the alphabet of URLs.
        assert_eq!(SecretMasks::new(["a?>b".to_owned()]).text("YT8-Yg YT8+Yg"), "*** ***");
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
