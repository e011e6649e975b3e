//! Validators, which confirm counterexamples.

use jsonschema::canonical::Containment as CanonicalContainment;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::Counterexample;
use super::document::Dialect;

/// How long a reason may be that quotes a value.
const MAX_REASON: usize = 300;

/// The first error of an invalid schema. Only for schemas of bounded depth.
pub(super) fn fault(dialect: Dialect, schema: &Value) -> Option<String> {
    let valid = match dialect {
        Dialect::Draft2020 => jsonschema::draft202012::meta::validate(schema),
        Dialect::Draft7 => jsonschema::draft7::meta::validate(schema),
    };
    let error = valid.err()?;
    Some(format!("a schema is not valid at `{}`: {}", error.instance_path(), reason(&error)))
}

/// The validators of two schemas.
#[derive(Debug)]
pub(super) struct ValidatorPair {
    wide: Validator,
    narrow: Validator,
}

impl ValidatorPair {
    /// Builds both. Fails with the reason as a sentence.
    pub(super) fn new(wide: &Value, narrow: &Value) -> Result<Self, String> {
        let build = |schema| {
            let options = jsonschema::options().should_validate_formats(true);
            options
                .build(schema)
                .map_err(|error| format!("a schema cannot be read: {}", reason(&error)))
        };
        Ok(Self { wide: build(wide)?, narrow: build(narrow)? })
    }

    /// The value as a counterexample, if it is one.
    pub(super) fn confirm(&self, value: Value) -> Option<Counterexample> {
        if self.wide.is_valid(&value) || !self.narrow.is_valid(&value) {
            return None;
        }
        let (pointer, reason) = {
            let error = self.wide.iter_errors(&value).next()?;
            (error.instance_path().to_string(), reason(&error))
        };
        Some(Counterexample { value, pointer, reason })
    }
}

/// The message of an error, shortened if it quotes much.
fn reason(error: &ValidationError<'_>) -> String {
    let text = match error.kind() {
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            "none of the alternatives allows this value".to_owned()
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            "more than one of the alternatives fits this value, and only one may".to_owned()
        }
        ValidationErrorKind::FalseSchema => "nothing is allowed here".to_owned(),
        _ => error.to_string(),
    };
    match text.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whether the canonical forms of two schemas prove that one contains the other.
pub(super) fn proves(wide: &Value, narrow: &Value) -> bool {
    let canonical = |schema| {
        jsonschema::canonical::options().should_validate_formats(true).canonicalize(schema).ok()
    };
    let (Some(wide), Some(narrow)) = (canonical(wide), canonical(narrow)) else { return false };
    matches!(wide.covers(&narrow), Ok(CanonicalContainment::Yes))
}
