//! Full JSON Schema validators, which assert the same formats and encodings as the check.

use gramc_json_schema::strings::StringCheck;
use jsonschema::{Draft, Keyword, ValidationError, Validator};
use referencing::SPECIFICATIONS;
use serde_json::Value;

use super::compile::SchemaError;

/// The formats that `jsonschema` asserts by default, except for those that are checked.
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
struct EncodingKeyword(Option<StringCheck>);

impl<'i> Keyword<'i> for EncodingKeyword {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            Ok(())
        } else {
            Err(ValidationError::custom("not valid base64"))
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        match (&self.0, instance) {
            (Some(check), Value::String(text)) => check.accepts(text),
            _ => true,
        }
    }
}

/// Whether a schema refers to a metaschema of a draft. Only then it needs all of them.
fn refers_to_metaschema(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.iter().any(|(key, value)| match value {
            Value::String(uri) => key == "$ref" && uri.contains("//json-schema.org/draft"),
            value => refers_to_metaschema(value),
        }),
        Value::Array(items) => items.iter().any(refers_to_metaschema),
        _ => false,
    }
}

/// Builds the validator of a schema, as draft 2020-12.
pub(super) fn validator(schema: &Value) -> Result<Validator, SchemaError> {
    let mut options = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .should_validate_formats(true)
        .with_keyword("contentEncoding", |_, encoding, _| {
            let check = encoding.as_str().and_then(StringCheck::of_encoding);
            Ok(Box::new(EncodingKeyword(check)))
        });
    for format in UNCHECKED_FORMATS {
        options = options.with_format(format, |_: &str| true);
    }
    let email = StringCheck::of_format("email");
    options = options.with_format("email", move |text: &str| {
        email.as_ref().is_none_or(|email| email.accepts(text))
    });
    if refers_to_metaschema(schema) {
        options = options.with_registry(&SPECIFICATIONS);
    }
    options.build(schema).map_err(|error| SchemaError::Validator(error.to_string()))
}
