//! What descriptions say in place of keywords.

use serde_json::{Map, Value};

use super::Violations;
use super::dialect::{Dialect, Wrap};
use super::walk::Node;

/// Checks the sentences of one schema's description.
pub(super) fn check(
    dialect: &Dialect,
    tool: &str,
    node: &Node<'_>,
    members: &Map<String, Value>,
    violations: &mut Violations,
) {
    let Some(Value::String(text)) = members.get("description") else { return };
    if text.contains(r#"this JSON Schema: {"propertyNames":{"type":"string"}}"#) {
        violations.add(tool, &node.path, "describes keys as strings, which they always are");
    }
    if dialect.all_required && text.ends_with("Leave this out: the host sets it.") {
        violations.add(tool, &node.path, "asks to leave out what is required");
    }
    if let Wrap::Gemini(_) = dialect.wrap {
        for (words, keyword) in [("More than ", "minimum"), ("Less than ", "maximum")] {
            if says_number(text, words) && !members.contains_key(keyword) {
                let told = format!("says `{words}…` and has no `{keyword}`");
                violations.add(tool, &node.path, &told);
            }
        }
    }
}

/// Whether a description has a sentence of these words and a number.
fn says_number(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let number = &text[at + words.len()..];
        let number = number.split_once(". ").map_or(number, |(number, _)| number);
        number.trim_end_matches('.').parse::<f64>().is_ok()
    })
}
