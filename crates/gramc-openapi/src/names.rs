//! Names of tools. They are short, unique, and do not depend on other operations where avoidable.

use std::collections::HashSet;

use crate::source::SourceOperation;

/// The most characters of a name, which is the limit of most providers.
const MAX_LENGTH: usize = 64;

/// Names all operations of a document, in its order.
pub(crate) fn assign(operations: &[SourceOperation<'_>]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::with_capacity(operations.len());
    for operation in operations {
        let by_place = || shorten(&by_place(operation));
        let by_id = operation.id.map(identifier).filter(|name| !name.is_empty());
        let preferred = by_id.map_or_else(by_place, |name| shorten(&name));
        let numbered = |number: u64| shorten_to(&preferred, &format!("_{number}"));
        let name =
            free_name([preferred.clone(), by_place()], numbered, |name| !taken.contains(name));
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// The first name that is free. After some names, numbered ones follow, from 2 on.
pub(crate) fn free_name(
    names: impl IntoIterator<Item = String>,
    numbered: impl Fn(u64) -> String,
    is_free: impl Fn(&String) -> bool,
) -> String {
    names.into_iter().chain((2..u64::MAX).map(numbered)).find(is_free).unwrap_or_default()
}

/// A name as an identifier: itself if it is one, and else its words in `camelCase`.
pub(crate) fn identifier(name: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_identifier =
        name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_identifier && name.chars().any(|c| c != '_') {
        return name.to_owned();
    }
    camel(name.split(|c: char| !is_word(c)))
}

/// Words as one in `camelCase`.
fn camel<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let mut out = String::new();
    for word in words.into_iter().filter(|word| !word.is_empty()) {
        let mut chars = word.chars();
        let Some(first) = chars.next() else { continue };
        if out.is_empty() {
            if first.is_ascii_digit() {
                out.push('_');
            }
            // An acronym stays one.
            let is_acronym = word.len() > 1 && word.chars().all(|c| !c.is_ascii_lowercase());
            out.push(if is_acronym { first } else { first.to_ascii_lowercase() });
        } else {
            out.push(first.to_ascii_uppercase());
        }
        out.push_str(chars.as_str());
    }
    out
}

/// A name from the method and the path: `GET /pets/{id}` is `getPetsById`.
fn by_place(operation: &SourceOperation<'_>) -> String {
    let method = operation.method.name().to_ascii_lowercase();
    let path = operation.path.replace("/{", "/by/{");
    let words: Vec<&str> =
        std::iter::once(&*method).chain(path.split(|c: char| !c.is_ascii_alphanumeric())).collect();
    camel(words)
}

/// A name that is not too long. A hash replaces what is cut off.
fn shorten(name: &str) -> String {
    if name.len() <= MAX_LENGTH {
        return name.to_owned();
    }
    shorten_to(name, &format!("_{:06x}", hash(name) & 0x00ff_ffff))
}

fn shorten_to(name: &str, suffix: &str) -> String {
    let length = MAX_LENGTH.saturating_sub(suffix.len());
    format!("{}{suffix}", name.get(..length).unwrap_or(name))
}

/// FNV-1a, which is the same in every version.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A name in `UPPER_SNAKE_CASE`, for environment variables.
pub(crate) fn variable(name: &str) -> String {
    let mut out = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            if !out.ends_with('_') && !out.is_empty() {
                out.push('_');
            }
            was_lower = false;
            continue;
        }
        if c.is_ascii_uppercase() && was_lower {
            out.push('_');
        }
        was_lower = !c.is_ascii_uppercase();
        out.push(c.to_ascii_uppercase());
    }
    out.trim_end_matches('_').to_owned()
}
