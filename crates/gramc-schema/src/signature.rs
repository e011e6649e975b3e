//! The JSON Schema of a single signature.

use gramc_syntax::{Diagnostic, SourceFile};
use serde_json::Value;

use crate::emit::ParameterSchema;
use gramc_check::check_signature;
use gramc_model::{Tool, Types};

/// The JSON Schema (draft 2020-12) of a signature's parameters.
///
/// ```
/// let schema = gramc_schema::schema_of_signature("(a::Int {default: 1})==>(::Text)").unwrap();
/// assert_eq!(
///     schema.to_string(),
///     r#"{"type":"object","properties":{"a":{"type":"integer","default":1}},"required":[]}"#
/// );
/// ```
///
/// # Errors
///
/// All diagnostics, if the text is not a valid signature.
pub fn schema_of_signature(text: &str) -> Result<Value, Vec<Diagnostic>> {
    let parse = gramc_syntax::parse(SourceFile::new("signature", text));
    let (parameters, result) = check_signature(&parse)?;
    let tool = Tool::of_signature("signature", parameters, result);
    // All keys of a view are strings, so serialization cannot fail.
    Ok(serde_json::to_value(ParameterSchema::new(&Types::default(), &tool)).unwrap_or_default())
}
