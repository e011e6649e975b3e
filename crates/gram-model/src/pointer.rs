//! Steps of JSON pointers in the fragments of URIs (RFC 6901, section 6).

use std::borrow::Cow;
use std::fmt::Write as _;

/// A name as a step. What a fragment cannot hold is percent-encoded; brackets, which most writers
/// of schemas leave as they are, stay.
pub fn escaped(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@?[]".contains(c);
    if name.chars().all(|c| plain(c) && c != '~') {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c if plain(c) => out.push(c),
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

/// A step as the name that it means.
pub fn unescaped(step: &str) -> String {
    decoded(step).replace("~1", "/").replace("~0", "~")
}

/// A fragment without its percent signs, but for those that encode nothing.
pub fn decoded(text: &str) -> String {
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
