//! Parts of JSON texts and where they are.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::pointer::unescape_token;

/// The offset of a part of a text.
pub fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Whether JSON is this string.
pub fn is_string(json: &str, text: &str) -> bool {
    serde_json::from_str::<String>(json).is_ok_and(|it| it == text)
}

/// The JSON of a member of an object.
pub fn member<'j>(json: &'j str, name: &str) -> Option<&'j str> {
    members(json).into_iter().find(|(key, _)| is_string(key, name)).map(|(_, value)| value)
}

/// The JSON of the keys and values of an object.
pub fn members(json: &str) -> Vec<(&str, &str)> {
    serde_json::from_str::<Members<'_>>(json).map(|it| it.0).unwrap_or_default()
}

struct Members<'j>(Vec<(&'j str, &'j str)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    all.push((key.get(), value.get()));
                }
                Ok(Members(all))
            }
        }
        from.deserialize_map(Pairs)
    }
}

/// A value in a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonPart<'j> {
    /// The key before it, with its quotes, if it is a member of an object.
    pub key: Option<&'j str>,
    /// The JSON of the value.
    pub value: &'j str,
}

/// The part at a JSON pointer, or the innermost part around it.
pub fn part_at<'j>(json: &'j str, pointer: &str) -> JsonPart<'j> {
    let mut part = JsonPart { key: None, value: json.trim() };
    for token in pointer.split('/').skip(1) {
        let name = unescape_token(token);
        let inner = if part.value.starts_with('[') {
            let items = serde_json::from_str::<Vec<&RawValue>>(part.value).unwrap_or_default();
            let item = name.parse::<usize>().ok().and_then(|at| items.get(at).copied());
            item.map(|item| JsonPart { key: None, value: item.get() })
        } else {
            let mut members = members(part.value).into_iter();
            let found = members.find(|(key, _)| is_string(key, &name));
            found.map(|(key, value)| JsonPart { key: Some(key), value })
        };
        let Some(inner) = inner else { break };
        part = inner;
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_pointers() {
        let json = r#" {"a/b": [1, {"ü": "x"}], "c": {}}"#;
        let at = |pointer| part_at(json, pointer);
        assert_eq!(at("/a~1b/0").value, "1");
        assert_eq!(at("/a~1b/1/ü"), JsonPart { key: Some("\"ü\""), value: "\"x\"" });
        assert_eq!(at("/c/none"), JsonPart { key: Some("\"c\""), value: "{}" });
        assert_eq!(at("/a~1b/7").key, Some("\"a/b\""));
        assert_eq!(at("").value, json.trim());
        assert_eq!(part_at("{", "/a").value, "{");
    }
}
