//! Texts in Markdown.

use std::fmt::Write as _;

use gramc_model::Types;
use serde_json::Value;

/// Maximum number of bytes of a schema that is shown.
const MAX_SCHEMA_BYTES: usize = 4000;

/// What a built-in type is, with its schema.
pub(crate) fn built_in_documentation(name: &str) -> String {
    let mut text = code_block("gram", name);
    if let Some(ty) = gramc_model::format::built_in(name) {
        push_paragraph(&mut text, Some(&gramc_model::format::describe(&Types::default(), &ty)));
    }
    let signature = format!("(value::{name})==>(::Any)");
    let json = gramc_schema::schema_of_signature(&signature).ok();
    if let Some(schema) = json.as_ref().and_then(|json| json.pointer("/properties/value")) {
        push_schema(&mut text, schema);
    }
    text
}

pub(crate) fn code_block(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```")
}

pub(crate) fn push_paragraph(text: &mut String, what: Option<&str>) {
    if let Some(what) = what {
        let _ = write!(text, "\n\n{what}");
    }
}

pub(crate) fn push_schema(text: &mut String, json: &Value) {
    let mut shown = serde_json::to_string_pretty(json).unwrap_or_default();
    if shown.len() > MAX_SCHEMA_BYTES {
        shown = json.to_string();
        shown = shown.chars().take(MAX_SCHEMA_BYTES).collect::<String>() + " …";
    }
    push_paragraph(text, Some(&code_block("json", &shown)));
}
