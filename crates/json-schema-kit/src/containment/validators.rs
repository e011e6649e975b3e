//! What the validator says, which is asked where the proof does not decide.

use jsonschema::canonical::Containment as CanonicalContainment;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::Counterexample;
use super::document::Dialect;

/// How long a reason may be that quotes a value.
const MAX_REASON: usize = 300;

/// Why a schema is none, if it is none. Only for schemas of bounded depth.
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
    /// Builds both, or says in a sentence why that is not possible.
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

/// An error's own words, unless they are those of schemas, shortened where they quote much.
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

/// Whether the validator's own reckoning with schemas proves that one covers the other.
pub(super) fn proves(wide: &Value, narrow: &Value) -> bool {
    let canonical = |schema| {
        jsonschema::canonical::options().should_validate_formats(true).canonicalize(schema).ok()
    };
    let (Some(wide), Some(narrow)) = (canonical(wide), canonical(narrow)) else { return false };
    matches!(wide.covers(&narrow), Ok(CanonicalContainment::Yes))
}
