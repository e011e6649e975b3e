//! Checks of single strings: patterns, formats and encodings.

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

/// The formats that are checked. Others are annotations.
pub const CHECKED_FORMATS: [&str; 10] =
    ["date", "time", "date-time", "duration", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"];

/// A check of strings.
///
/// ```
/// use gramc_json_schema::strings::StringCheck;
///
/// let date = StringCheck::of_format("date").unwrap();
/// assert!(date.accepts("2024-02-29") && !date.accepts("2023-02-29"));
/// ```
#[derive(Debug)]
pub struct StringCheck(Validator);

impl StringCheck {
    /// Whether an ECMAScript pattern matches a part of a string. `None` for an invalid pattern.
    pub fn of_pattern(pattern: &str) -> Option<Self> {
        Self::of(Draft::Draft202012, &json!({"pattern": pattern}))
    }

    /// Whether a string has a format. `None` for a format that is not checked.
    pub fn of_format(format: &str) -> Option<Self> {
        let is_checked = CHECKED_FORMATS.contains(&format);
        // `jsonschema` accepts a name around an address: `Ada <ada@example.org>`.
        let schema = match format {
            "email" => json!({"format": format, "not": {"pattern": ">$"}}),
            _ => json!({"format": format}),
        };
        is_checked.then(|| Self::of(Draft::Draft202012, &schema))?
    }

    /// Whether a string is encoded in `base64`. `None` for other encodings, which are not checked.
    pub fn of_encoding(encoding: &str) -> Option<Self> {
        // Draft 7 asserts encodings, draft 2020-12 does not.
        let is_checked = encoding == "base64";
        is_checked.then(|| Self::of(Draft::Draft7, &json!({"contentEncoding": encoding})))?
    }

    fn of(draft: Draft, schema: &Value) -> Option<Self> {
        let options = jsonschema::options().with_draft(draft).should_validate_formats(true);
        options.build(schema).ok().map(Self)
    }

    /// Whether a string passes the check.
    pub fn accepts(&self, text: &str) -> bool {
        self.0.is_valid(&Value::from(text))
    }
}

/// The patterns of a schema that cannot be checked, because the engine does not support them.
pub fn unsupported_patterns(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    let is_unsupported = |pattern: &&str| StringCheck::of_pattern(pattern).is_none();
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("pattern").and_then(Value::as_str).filter(is_unsupported));
                let names = fields.get("patternProperties").and_then(Value::as_object);
                let names = names.into_iter().flat_map(|names| names.keys().map(String::as_str));
                found.extend(names.filter(is_unsupported));
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_checked() {
        let pattern = StringCheck::of_pattern(r"^\d+$").unwrap();
        assert!(pattern.accepts("12") && !pattern.accepts("1a"));
        assert!(StringCheck::of_pattern("[").is_none());
        let schema = json!({"properties": {"a": {"pattern": "["}, "b": {"pattern": "a"}}});
        assert_eq!(unsupported_patterns(&schema), ["["]);
        let encoding = StringCheck::of_encoding("base64").unwrap();
        assert!(encoding.accepts("YQ==") && !encoding.accepts("?"));
        assert!(StringCheck::of_encoding("base32").is_none());
        for format in CHECKED_FORMATS {
            assert!(!StringCheck::of_format(format).unwrap().accepts("no such thing!"), "{format}");
        }
        assert!(StringCheck::of_format("json-pointer").is_none());
        let email = StringCheck::of_format("email").unwrap();
        assert!(email.accepts("ada@example.org") && !email.accepts("Ada <ada@example.org>"));
    }

    /// A search that takes too long counts as a mismatch.
    #[test]
    fn patterns_take_bounded_time() {
        let pattern = StringCheck::of_pattern(r"^(?=(a+)+$)b").unwrap();
        assert!(!pattern.accepts(&"a".repeat(5_000)));
    }
}
