//! Names, literals and docstrings.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::names::snake;

/// Words that are no names.
const KEYWORDS: [&str; 38] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class",
    "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
    "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return",
    "try", "type", "while", "with", "yield",
];

/// Names of a model, and names that annotations of fields refer to: a field must not hide them.
const OF_MODELS: [&str; 38] = [
    "construct",
    "copy",
    "dict",
    "from_orm",
    "json",
    "parse_file",
    "parse_obj",
    "parse_raw",
    "schema",
    "schema_json",
    "update_forward_refs",
    "validate",
    "model_config",
    "model_fields",
    "model_computed_fields",
    "model_extra",
    "model_fields_set",
    "model_construct",
    "model_copy",
    "model_dump",
    "model_dump_json",
    "model_json_schema",
    "model_parametrized_name",
    "model_post_init",
    "model_rebuild",
    "model_validate",
    "model_validate_json",
    "model_validate_strings",
    "str",
    "int",
    "float",
    "bool",
    "list",
    "Any",
    "Annotated",
    "Literal",
    "Field",
    "BaseModel",
];

/// A name that is no keyword.
pub(super) fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// The attribute of a field.
pub(super) fn attribute(name: &str, type_names: &HashSet<&str>) -> String {
    let name = if is_identifier(name) && !name.starts_with('_') {
        identifier(name)
    } else {
        identifier(&snake(name))
    };
    let is_hiding = OF_MODELS.contains(&name.as_str()) || type_names.contains(name.as_str());
    if is_hiding { format!("{name}_") } else { name }
}

pub(super) fn is_identifier(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_word)
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !KEYWORDS.contains(&name)
}

/// Values as a type. Numbers with a fraction are no literals, nor are those that mypy does not read.
pub(super) fn literal(values: &[Value]) -> String {
    if values.iter().any(|value| value.is_number() && !value.is_i64()) {
        return "Any".to_owned();
    }
    let values: Vec<String> = values.iter().filter_map(scalar).collect();
    format!("Literal[{}]", values.join(", "))
}

/// Values as a type, with a line for each if they are too long for one that begins at a column.
pub(super) fn literal_lines(values: &[Value], column: usize) -> String {
    const WIDTH: usize = 88;
    let line = literal(values);
    if column + line.len() <= WIDTH || line == "Any" {
        return line;
    }
    let values: Vec<String> = values.iter().filter_map(scalar).collect();
    format!("Literal[\n    {},\n]", values.join(",\n    "))
}

/// A value as an expression.
pub(super) fn expression(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(expression).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries =
                entries.map(|(key, value)| format!("{}: {}", literal_text(key), expression(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        value => scalar(value).unwrap_or_default(),
    }
}

/// A value that is neither a list nor an object.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("None".to_owned()),
        Value::Bool(true) => Some("True".to_owned()),
        Value::Bool(false) => Some("False".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(literal_text(text)),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// A string literal. What JSON escapes, Python escapes in the same way.
pub(super) fn literal_text(text: &str) -> String {
    Value::from(text).to_string()
}

/// Appends a docstring, if there is anything to say.
pub(super) fn docstring(out: &mut String, indent: &str, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let text = text.replace('\\', "\\\\");
    let ends_early = text.contains("\"\"\"") || text.ends_with('"');
    let text = if ends_early { text.replace('"', "\\\"") } else { text };
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let between = format!("\n{indent}");
    let joined = lines.join(&between).replace(&format!("\n{indent}\n"), "\n\n");
    let end = if lines.len() > 1 { between } else { String::new() };
    let _ = writeln!(out, "{indent}\"\"\"{joined}{end}\"\"\"");
}

/// Appends a comment, if there is anything to say.
pub(super) fn comment(out: &mut String, indent: &str, text: &str) {
    for line in text.trim().lines().filter(|line| !line.trim().is_empty()) {
        let _ = writeln!(out, "{indent}# {}", line.trim_end());
    }
}
