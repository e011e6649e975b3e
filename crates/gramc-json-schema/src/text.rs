//! JSON text: what a parser accepts in silence, or refuses without saying why.

use std::collections::HashSet;

/// How deep `serde_json` nests values at most.
pub const MAX_DEPTH: usize = 127;

/// How deep a value may nest within a schema or a message, which add levels of their own.
pub const MAX_INNER_DEPTH: usize = MAX_DEPTH - 7;

/// How many schemas may be nested so that the JSON of all can be read: each takes two levels.
pub const MAX_SCHEMA_LEVELS: usize = (MAX_DEPTH - 15) / 2;

/// How deep schemas may nest that are not read as text: each level of a value takes two.
pub const MAX_SCHEMA_DEPTH: usize = 2 * (MAX_DEPTH + 1);

/// Why a text is not usable JSON, though the error of a parser does not say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFault {
    /// An object has a key twice, at this byte offset.
    DuplicateKey(usize, String),
    /// A value nests deeper than [`MAX_DEPTH`], at this byte offset.
    TooDeep(usize),
    /// A string has half of a surrogate pair, at this byte offset.
    HalfSurrogate(usize, String),
}

/// The first fault of a JSON text. A text that is not JSON may have none.
pub fn fault(text: &str) -> Option<TextFault> {
    let bytes = text.as_bytes();
    let mut open: Vec<HashSet<String>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                if open.len() >= MAX_DEPTH {
                    return Some(TextFault::TooDeep(at));
                }
                open.push(HashSet::new());
            }
            b'}' | b']' => {
                open.pop();
            }
            b'"' => {
                let end = string_end(bytes, at + 1);
                let inner = text.get(at + 1..end)?;
                if let Some((place, escape)) = half_surrogate(inner) {
                    return Some(TextFault::HalfSurrogate(at + 1 + place, escape.to_owned()));
                }
                let is_key = text.get(end + 1..)?.trim_start().starts_with(':');
                if is_key && let Some(keys) = open.last_mut() {
                    let key: String = serde_json::from_str(text.get(at..=end)?).ok()?;
                    if !keys.insert(key.clone()) {
                        return Some(TextFault::DuplicateKey(at, key));
                    }
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The offset of the quote that ends a string.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The first escape of a string that is half of a surrogate pair.
fn half_surrogate(text: &str) -> Option<(usize, &str)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find('\\') {
        at += found;
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => return Some((at, text.get(at..at + 6)?)),
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    None
}

impl std::fmt::Display for TextFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DuplicateKey(_, key) => write!(f, "the key \"{key}\" is given twice"),
            Self::TooDeep(_) => write!(f, "the value nests more than {MAX_DEPTH} deep"),
            Self::HalfSurrogate(_, escape) => {
                write!(f, "`{escape}` is half of a surrogate pair")
            }
        }
    }
}

impl TextFault {
    /// The byte offset of the fault.
    pub fn offset(&self) -> usize {
        match self {
            Self::DuplicateKey(at, _) | Self::TooDeep(at) | Self::HalfSurrogate(at, _) => *at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named() {
        let shown = |text: &str| fault(text).map(|fault| fault.to_string()).unwrap_or_default();
        assert_eq!(shown(r#"{"a": 1, "b": {"a": 2}, "c": ["a", "a"]}"#), "");
        assert_eq!(shown(r#"{"a": 1, "\u0061": 2}"#), "the key \"a\" is given twice");
        assert_eq!(shown(r#"["\ud83d\ude00", "\ud83d"]"#), "`\\ud83d` is half of a surrogate pair");
        assert_eq!(shown(&"[".repeat(200)), "the value nests more than 127 deep");
        assert_eq!(shown(&format!("{}{}", "[".repeat(127), "]".repeat(127))), "");
        assert_eq!(shown("\"\\"), "");
    }
}
