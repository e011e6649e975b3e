//! Values as text: in queries, forms, headers and cookies.

use gramc_model::ValueStyle;
use percent_encoding::{AsciiSet, utf8_percent_encode};
use serde_json::Value;

use crate::request_text::{IN_QUERY, in_cookie, in_query};

/// What is escaped of a separator.
const SEPARATOR: &AsciiSet = &IN_QUERY.remove(b',');

/// How a list or an object becomes text, and whether it is exploded.
pub(super) type Style = Option<(ValueStyle, bool)>;

/// A scalar as it is, and anything else as JSON.
pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Adds the pairs of an argument to a query or a form. Null is left out. Without a style, a list
/// repeats its name, and an object is JSON.
pub(super) fn add_pairs(query: &mut String, name: &str, value: &Value, style: Style) {
    match (value, style) {
        (Value::Null, _) => {}
        (value, Some((ValueStyle::Json, _))) => push(query, name, &in_query(&value.to_string())),
        (value, Some((ValueStyle::DeepObject, _))) => deep(query, name, value),
        (Value::Array(items), None | Some((_, true))) => {
            for item in items.iter().filter(|item| !item.is_null()) {
                push(query, name, &in_query(&text(item)));
            }
        }
        (Value::Object(entries), Some((_, true))) => {
            for (key, value) in entries {
                add_pairs(query, key, value, None);
            }
        }
        (Value::Array(_) | Value::Object(_), Some((style, false))) => {
            // A comma is not escaped, so that it is not one of a value.
            let between = utf8_percent_encode(separator(style), SEPARATOR).to_string();
            let parts: Vec<_> = parts(value).iter().map(|part| in_query(part)).collect();
            push(query, name, &parts.join(&between));
        }
        (value, _) => push(query, name, &in_query(&text(value))),
    }
}

/// The text of a list or an object that is one part of a form. `None` if each item is a part.
pub(super) fn join_parts(value: &Value, style: Style) -> Option<String> {
    let (style, is_exploded) = style?;
    if style == ValueStyle::Json {
        return Some(value.to_string());
    }
    let is_list = value.is_array() && !is_exploded && style != ValueStyle::DeepObject;
    is_list.then(|| parts(value).join(separator(style)))
}

/// What separates the parts of a value that is not exploded.
const fn separator(style: ValueStyle) -> &'static str {
    match style {
        ValueStyle::SpaceDelimited => " ",
        ValueStyle::TabDelimited => "\t",
        ValueStyle::PipeDelimited => "|",
        _ => ",",
    }
}

/// `name[key]=value`, and `name[]=value` for the items of lists.
fn deep(query: &mut String, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Object(entries) => {
            for (key, value) in entries {
                deep(query, &format!("{name}[{key}]"), value);
            }
        }
        Value::Array(items) => {
            for item in items {
                deep(query, &format!("{name}[]"), item);
            }
        }
        value => push(query, name, &in_query(&text(value))),
    }
}

fn push(query: &mut String, name: &str, escaped_value: &str) {
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(&in_query(name));
    query.push('=');
    query.push_str(escaped_value);
}

/// The items of a list, or the keys and values of an object in turn.
fn parts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, value)| [key.clone(), text(value)]).collect()
        }
        value => vec![text(value)],
    }
}

/// A value of a header, where commas separate the parts of a list or an object, unless a style says
/// otherwise.
pub(super) fn header_text(value: &Value, style: Style) -> String {
    match (value, style) {
        (value, Some((ValueStyle::Json, _))) => value.to_string(),
        (Value::Object(entries), Some((_, true))) => {
            let entries = entries.iter().map(|(key, value)| format!("{key}={}", text(value)));
            entries.collect::<Vec<_>>().join(",")
        }
        (Value::Object(_), None) => value.to_string(),
        (value, style) => parts(value).join(style.map_or(",", |(style, _)| separator(style))),
    }
}

/// A cookie with its value.
pub(super) fn cookie(name: &str, value: &Value, style: Style) -> String {
    let text = header_text(value, style);
    format!("{name}={}", in_cookie(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_repeat_their_name_in_a_query() {
        let mut query = String::new();
        for (name, value) in [
            ("a", json!([1, null, "x y"])),
            ("b", json!(null)),
            ("c", json!({"d": 1})),
            ("é", json!("&=+")),
        ] {
            add_pairs(&mut query, name, &value, None);
        }
        assert_eq!(query, "a=1&a=x+y&c=%7B%22d%22%3A1%7D&%C3%A9=%26%3D%2B");
    }

    #[test]
    fn styles_are_those_of_openapi() {
        use ValueStyle::{DeepObject, Form, Json, PipeDelimited, SpaceDelimited};
        let list = json!(["a,b", 1]);
        let object = json!({"k": "v", "n": {"x": [1, 2]}});
        for (value, style, expected) in [
            (&list, (Form, true), "p=a%2Cb&p=1"),
            (&list, (Form, false), "p=a%2Cb,1"),
            (&list, (SpaceDelimited, false), "p=a%2Cb%201"),
            (&list, (PipeDelimited, false), "p=a%2Cb%7C1"),
            (&list, (PipeDelimited, true), "p=a%2Cb&p=1"),
            (&list, (DeepObject, true), "p%5B%5D=a%2Cb&p%5B%5D=1"),
            (&list, (Json, false), "p=%5B%22a%2Cb%22%2C1%5D"),
            (&object, (Form, true), "k=v&n=%7B%22x%22%3A%5B1%2C2%5D%7D"),
            (&object, (Form, false), "p=k,v,n,%7B%22x%22%3A%5B1%2C2%5D%7D"),
            (
                &object,
                (DeepObject, true),
                "p%5Bk%5D=v&p%5Bn%5D%5Bx%5D%5B%5D=1&p%5Bn%5D%5Bx%5D%5B%5D=2",
            ),
        ] {
            let mut query = String::new();
            add_pairs(&mut query, "p", value, Some(style));
            assert_eq!(query, expected, "{style:?}");
        }
    }

    #[test]
    fn headers_and_cookies_hold_lists() {
        let object = json!({"k": 1, "m": "n"});
        assert_eq!(header_text(&json!([1, "b"]), None), "1,b");
        assert_eq!(header_text(&json!([1, "b"]), Some((ValueStyle::PipeDelimited, false))), "1|b");
        assert_eq!(header_text(&object, Some((ValueStyle::Simple, true))), "k=1,m=n");
        assert_eq!(header_text(&object, Some((ValueStyle::Simple, false))), "k,1,m,n");
        assert_eq!(cookie("s", &json!("a b;c=d"), None), "s=a%20b%3Bc=d");
    }
}
