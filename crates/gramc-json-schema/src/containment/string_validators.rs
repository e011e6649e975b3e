//! Patterns and formats, checked by validators.

use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::Value;

use crate::keywords::name as k;

use super::document::Dialect;

/// The validators of single patterns and formats.
#[derive(Debug, Default)]
pub(super) struct StringValidators {
    validators: HashMap<(Dialect, &'static str, String), Option<Validator>>,
}

impl StringValidators {
    /// Whether a text matches a pattern. `None` where the pattern cannot be read.
    pub(super) fn pattern(&mut self, dialect: Dialect, pattern: &str, text: &str) -> Option<bool> {
        self.ask(dialect, k::PATTERN, pattern, text)
    }

    /// Whether a text has a format. Every text has an unknown format.
    pub(super) fn format(&mut self, dialect: Dialect, format: &str, text: &str) -> Option<bool> {
        self.ask(dialect, k::FORMAT, format, text)
    }

    fn ask(
        &mut self,
        dialect: Dialect,
        key: &'static str,
        argument: &str,
        text: &str,
    ) -> Option<bool> {
        let validator = self.validators.entry((dialect, key, argument.to_owned()));
        let validator = validator.or_insert_with(|| {
            let schema = Value::Object([(key.to_owned(), argument.into())].into_iter().collect());
            jsonschema::options()
                .with_draft(draft(dialect))
                .should_validate_formats(true)
                .build(&schema)
                .ok()
        });
        validator.as_ref().map(|validator| validator.is_valid(&Value::from(text)))
    }
}

/// Whether the validator checks a format.
pub(super) fn is_known_format(dialect: Dialect, format: &str) -> bool {
    jsonschema::options().is_known_format(draft(dialect), format)
}

fn draft(dialect: Dialect) -> jsonschema::Draft {
    match dialect {
        Dialect::Draft2020 => jsonschema::Draft::Draft202012,
        Dialect::Draft7 => jsonschema::Draft::Draft7,
    }
}
