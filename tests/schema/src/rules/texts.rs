//! Sentences of gramc in descriptions, which no provider has rules for. They must not contradict the schema.

use serde_json::{Map, Value};

/// Refuses advice to omit a required property.
pub(super) fn check_no_omission(text: &str, _: &Map<String, Value>) -> Option<&'static str> {
    text.ends_with("Leave this out: the host sets it.")
        .then_some("asks to leave out what is required")
}

/// Refuses an exclusive bound in words without the inclusive bound as a keyword.
pub(super) fn check_exclusive_bounds(
    text: &str,
    schema: &Map<String, Value>,
) -> Option<&'static str> {
    let bounds = [
        ("More than ", "minimum", "says `More than …` and has no `minimum`"),
        ("Less than ", "maximum", "says `Less than …` and has no `maximum`"),
    ];
    bounds
        .into_iter()
        .find(|(words, keyword, _)| has_number(text, words) && !schema.contains_key(*keyword))
        .map(|(_, _, reason)| reason)
}

/// Refuses a sentence about keys that are strings, as all keys are.
pub(super) fn check_keys(text: &str) -> Option<&'static str> {
    text.contains(r#"this JSON Schema: {"propertyNames":{"type":"string"}}"#)
        .then_some("describes keys as strings, which they always are")
}

/// Whether a sentence consists of the words and a number.
fn has_number(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let number = &text[at + words.len()..];
        let number = number.split_once(". ").map_or(number, |(number, _)| number);
        number.trim_end_matches('.').parse::<f64>().is_ok()
    })
}
