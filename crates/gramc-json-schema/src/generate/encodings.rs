//! Encodings of texts. Draft 2020-12 does not assert them, so they become patterns.

use serde_json::{Map, Value, json};

use crate::keywords::{Keyword, name as k};

/// A schema with a pattern for each `contentEncoding` that is known.
pub(super) fn as_patterns(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut changed = Map::new();
    let mut encoding = None;
    for (key, value) in keywords {
        let mut value = value.clone();
        for part in Keyword::of(key).subschemas_mut(&mut value) {
            *part = as_patterns(part);
        }
        if Keyword::of(key) == Keyword::ContentEncoding {
            encoding = value.as_str().and_then(pattern);
        }
        changed.insert(key.clone(), value);
    }
    match (encoding, changed.contains_key(k::PATTERN)) {
        (None, _) => {}
        (Some(pattern), false) => {
            changed.remove(k::CONTENT_ENCODING);
            changed.insert(k::PATTERN.to_owned(), pattern.into());
        }
        (Some(pattern), true) => {
            changed.remove(k::CONTENT_ENCODING);
            return json!({"allOf": [changed, {"pattern": pattern}]});
        }
    }
    Value::Object(changed)
}

fn pattern(encoding: &str) -> Option<&'static str> {
    Some(match encoding {
        "base64" => "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        "base64url" => "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-]{2}(==)?|[A-Za-z0-9_-]{3}=?)?$",
        "base16" => "^([0-9A-F]{2})*$",
        _ => return None,
    })
}
