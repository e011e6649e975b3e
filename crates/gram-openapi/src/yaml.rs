//! YAML as JSON.

use serde_json::Value;

use crate::error::ApiError;

/// Reads one YAML document. Aliases and depth are limited.
pub(crate) fn parse(text: &str) -> Result<Value, ApiError> {
    serde_saphyr::from_str(text)
        .map_err(|error| ApiError::Syntax { format: "YAML", message: error.to_string() })
}
