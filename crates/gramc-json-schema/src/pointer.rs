//! JSON pointers (RFC 6901), plain and in the fragments of URIs.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use crate::keywords::name as k;

/// Escapes a name as one token of a JSON pointer.
pub fn escape_token(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        Cow::Owned(name.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(name)
    }
}

/// The pointer with one more token.
pub fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", escape_token(name))
}

/// Reads one token of a JSON pointer as the name that it means.
pub fn unescape_token(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}

/// Escapes a name as one token of a pointer in a fragment. Characters that a fragment cannot hold
/// are percent-encoded, except for brackets, which most writers of schemas leave as they are.
pub fn escape_fragment_token(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@?[]".contains(c);
    if name.chars().all(|c| is_plain(c) && c != '~') {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c if is_plain(c) => out.push(c),
            c => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    // Writing to a string does not fail.
                    let _ = write!(out, "%{byte:02X}");
                }
            }
        }
    }
    Cow::Owned(out)
}

/// Reads one token of a pointer in a fragment as the name that it means.
pub fn unescape_fragment_token(token: &str) -> String {
    unescape_token(&decode_fragment(token)).into_owned()
}

/// Decodes the percent signs of a fragment. One that encodes nothing stays as it is.
pub fn decode_fragment(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|_| byte == b'%').and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The schema that the references of a schema lead to in its document. `None` if they lead elsewhere, or in a
/// circle.
pub fn follow<'s>(document: &'s Value, mut schema: &'s Value) -> Option<&'s Value> {
    /// More references than that are a circle.
    const MAX_REFERENCES: usize = 50;
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = schema.get(k::REF).and_then(Value::as_str) else {
            return Some(schema);
        };
        schema = document.pointer(&decode_fragment(reference.strip_prefix('#')?))?;
    }
    None
}

/// Writes a JSON pointer as a dotted path for messages: `items.0.name`.
pub fn dotted(pointer: &str) -> Cow<'_, str> {
    let path = pointer.strip_prefix('/').unwrap_or_default();
    let bytes = path.as_bytes();
    if bytes.contains(&b'~') {
        return path.split('/').map(unescape_token).collect::<Vec<_>>().join(".").into();
    }
    if bytes.contains(&b'/') { path.replace('/', ".").into() } else { path.into() }
}
