//! YAML as JSON.

use gramc_json_schema::text::MAX_DEPTH;
use serde_json::Value;
use serde_saphyr::{UserMessageFormatter, budget, options};

use crate::error::ApiError;

/// The least number of events and nodes that are allowed, which is more than any short text has without
/// aliases.
const MIN_LIMIT: usize = 250_000;

/// Reads one YAML document. Aliases and depth are limited. `yes`, `no`, `on` and `off` are texts, as in
/// YAML 1.2: they are the ISO code of Norway, and names of parameters.
pub(crate) fn parse(text: &str) -> Result<Value, ApiError> {
    // Without aliases, no document has more nodes than characters.
    let limit = text.len().max(MIN_LIMIT);
    let options = options! {
        strict_booleans: true,
        with_snippet: false,
        budget: budget! { max_depth: MAX_DEPTH, max_nodes: limit, max_events: 2 * limit },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| ApiError::Syntax {
        format: "YAML",
        message: error.render_with_formatter(&UserMessageFormatter),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use std::fmt::Write as _;

    use serde_json::json;

    use super::parse;

    #[test]
    fn only_true_and_false_are_booleans() {
        let document = "enum: [NO, no, yes, on, off, y, N, true, False]\nno: 1\n";
        let expected = json!({
            "enum": ["NO", "no", "yes", "on", "off", "y", "N", true, false],
            "no": 1,
        });
        assert_eq!(parse(document).unwrap(), expected);
    }

    #[test]
    fn a_long_document_is_read() {
        let mut text = "openapi: 3.0.0\nx:\n".to_owned();
        for at in 0..150_000 {
            let _ = writeln!(text, "  k{at}: [a, b]");
        }
        assert_eq!(parse(&text).unwrap()["x"].as_object().unwrap().len(), 150_000);
    }

    #[test]
    fn errors_are_for_people() {
        let error = parse("a: 1\na: 2\n").unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
        assert!(!error.contains("DuplicateKeyPolicy"), "{error}");
    }
}
