//! Names, comments and types.

use std::fmt::Write as _;

use serde_json::Value;

/// Whether a name needs no quotes.
pub fn is_identifier(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty()
}

/// A property's or method's name, in quotes where it needs them.
pub fn key(name: &str) -> String {
    match name {
        // It would be the prototype.
        "__proto__" => "[\"__proto__\"]".to_owned(),
        name if is_identifier(name) => name.to_owned(),
        name => quote(name),
    }
}

/// A string literal.
pub fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// The type of some values.
pub fn literals(values: &[Value]) -> String {
    if values.is_empty() {
        return "never".to_owned();
    }
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ")
}

/// The type of a list of items of a type.
pub fn list(item: &str) -> String {
    format!("{}[]", group(item))
}

/// A type in parentheses, if operators around it would bind more closely than those in it.
pub(super) fn group(text: &str) -> String {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' if quoted => {
                rest.next();
            }
            '"' => quoted = !quoted,
            _ if quoted => {}
            '/' => {
                let comment = rest.as_str().split_once("*/");
                rest = comment.map_or("", |(_, after)| after).chars();
            }
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.saturating_sub(1),
            '|' | '&' if depth == 0 => return format!("({text})"),
            _ => {}
        }
    }
    if text.starts_with("/**") { format!("({text})") } else { text.to_owned() }
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
        // Names in lower case could be those of built-in types or keywords.
        Some(c) if c.is_ascii_alphabetic() => format!("{}{}", c.to_ascii_uppercase(), &base[1..]),
        _ => format!("T{base}"),
    };
    let base = if BUILT_IN.contains(&base.as_str()) { format!("{base}Type") } else { base };
    let numbered = (2_u64..).map(|number| format!("{base}{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    // Each number gives another name, of which only so many are taken.
    names.find(|name| !taken(name)).unwrap_or_default()
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
