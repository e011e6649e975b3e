//! Signatures on their own.

use gram_syntax::{Diagnostic, SourceFile};
use serde_json::Value;

use crate::check::check_signature;
use crate::emit::{Draft, ParameterSchema};
use crate::model::{Open, Tool, Type, Types};

/// The type of an expression that names no declared type; nothing of any other, and of what is none.
///
/// ```
/// use gram_schema::model::Type;
///
/// assert_eq!(gram_schema::plain_type("Int"), Some(Type::Integer));
/// assert_eq!(gram_schema::plain_type("Address"), None);
/// ```
pub fn plain_type(expression: &str) -> Option<Type> {
    if let Some(ty) = crate::format::built_in(expression) {
        return Some(ty);
    }
    let text = format!("()==>(::{})", crate::print::quoted_label(expression));
    let parse = gram_syntax::parse(SourceFile::new("type", text));
    check_signature(&parse).ok().map(|(_, result)| result.slot.ty)
}

/// The JSON Schema (draft 2020-12) of a signature's parameters.
///
/// ```
/// let schema = gram_schema::schema_of_signature("(a::Int {default: 1})==>(::Text)").unwrap();
/// assert_eq!(
///     schema.to_string(),
///     r#"{"type":"object","properties":{"a":{"type":"integer","default":1}},"required":[]}"#
/// );
/// ```
///
/// # Errors
///
/// All findings, when the text is no signature without errors.
pub fn schema_of_signature(text: &str) -> Result<Value, Vec<Diagnostic>> {
    let parse = gram_syntax::parse(SourceFile::new("signature", text));
    let (parameters, result) = check_signature(&parse)?;
    let tool = Tool {
        name: "signature".into(),
        description: None,
        title: None,
        deprecated: false,
        parameters,
        result,
        open: Open::Unsaid,
        root: None,
        types: Vec::new(),
        attributes: Vec::new(),
    };
    // A view of the model writes no key that is no string, so this cannot fail.
    Ok(serde_json::to_value(ParameterSchema::new(&Types::default(), &tool, Draft::Draft2020))
        .unwrap_or_default())
}
