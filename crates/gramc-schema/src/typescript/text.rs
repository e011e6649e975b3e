//! Comments and names.

use std::fmt::Write as _;

/// A property's or method's name.
pub(super) fn key(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
    if plain { name.to_owned() } else { quoted(name) }
}

/// A string literal.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A unique identifier for a type, which resembles its name.
pub(super) fn identifier(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut base = String::new();
    for c in name.chars() {
        let known = c.is_ascii_alphanumeric() || c == '_';
        if known || !base.ends_with('_') && !base.is_empty() {
            base.push(if known { c } else { '_' });
        }
    }
    let base = base.trim_end_matches('_');
    let first = base.chars().next();
    let base = match first {
        Some(c) if c.is_ascii_uppercase() => base.to_owned(),
        // Names in lower case could be those of built-in types or keywords.
        Some(c) if c.is_ascii_lowercase() => {
            let mut name = c.to_ascii_uppercase().to_string();
            name.push_str(&base[1..]);
            name
        }
        _ => format!("T{base}"),
    };
    let base = if BUILT_IN.contains(&base.as_str()) { format!("{base}Type") } else { base };
    if !taken(&base) {
        return base;
    }
    // Each number gives another name, of which only so many are taken.
    let mut number = 2_usize;
    loop {
        let name = format!("{base}{number}");
        if !taken(&name) {
            return name;
        }
        number += 1;
    }
}

/// Global types that a declaration must not hide.
const BUILT_IN: [&str; 2] = ["Promise", "Array"];

/// Appends a sentence, after a full stop.
pub(super) fn sentence(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str(if text.ends_with(['.', '!', '?', ':', '\n']) { " " } else { ". " });
    }
    text.push_str(more);
}

/// Appends a doc comment on lines of its own, if there is anything to say.
pub(super) fn comment(out: &mut String, text: &str, depth: usize) {
    if text.is_empty() {
        return;
    }
    indent(out, depth);
    out.push_str("/** ");
    for (at, line) in text.lines().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&line.trim_end().replace("*/", "*\\/"));
    }
    out.push_str(" */\n");
}

/// Appends two spaces for each level.
pub(super) fn indent(out: &mut String, depth: usize) {
    // Writing to a string does not fail.
    let _ = write!(out, "{:1$}", "", depth * 2);
}
