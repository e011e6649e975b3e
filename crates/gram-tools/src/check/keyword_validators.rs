//! Full JSON Schema validators, which assert the same formats and encodings as the check.

use jsonschema::{Draft, Keyword, ValidationError, Validator};
use serde_json::{Value, json};

use super::compile::SchemaError;

/// The formats that are asserted; others are annotations.
pub(super) const CHECKED_FORMATS: [&str; 10] =
    ["date", "time", "date-time", "duration", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"];

/// The other formats that `jsonschema` asserts by default.
const UNCHECKED_FORMATS: [&str; 9] = [
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "uri-reference",
    "uri-template",
];

/// Asserts `contentEncoding`, which is optional in draft 2020-12.
struct EncodingKeyword(Validator);

impl<'i> Keyword<'i> for EncodingKeyword {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            Ok(())
        } else {
            Err(ValidationError::custom("it is not valid base64"))
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        self.0.is_valid(instance)
    }
}

/// Builds the validator of a schema, as draft 2020-12.
pub(super) fn validator(schema: &Value) -> Result<Validator, SchemaError> {
    let mut options = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .with_keyword("contentEncoding", |_, encoding, _| {
            jsonschema::options()
                .with_draft(Draft::Draft7)
                .build(&json!({"contentEncoding": encoding}))
                .map(|validator| {
                    Box::new(EncodingKeyword(validator)) as Box<dyn for<'i> Keyword<'i>>
                })
                .map_err(|error| ValidationError::custom(error.to_string()))
        });
    for format in UNCHECKED_FORMATS {
        options = options.with_format(format, |_: &str| true);
    }
    options.build(schema).map_err(|error| SchemaError::Validator(error.to_string()))
}
