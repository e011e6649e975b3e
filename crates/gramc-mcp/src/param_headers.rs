//! The headers that repeat parts of a message over HTTP, as from revision 2026-07-28 of the protocol on:
//! its method, and the arguments of a call for which the schema of a tool names them with `x-mcp-header`.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gramc_tools::sanitize::sanitize_line;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// The beginning of the headers that repeat arguments.
const PARAM_PREFIX: &str = "mcp-param-";
/// What encloses values that are no plain text.
const BASE64_PREFIX: &str = "=?base64?";
const BASE64_SUFFIX: &str = "?=";
/// The headers that repeat the method of a request and what it names.
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The name of a header in a schema is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`x-mcp-header` of `{0}` is invalid")]
pub(crate) struct ParamHeaderError(String);

/// The headers of a call of the tool with this schema. Fails if a name
/// in it is invalid: then the tool must not be called.
pub(crate) fn param_headers(
    schema: &Value,
    arguments: &Map<String, Value>,
) -> Result<Vec<(HeaderName, HeaderValue)>, ParamHeaderError> {
    let mut headers = Vec::new();
    collect(schema, Some(arguments), &mut HashSet::new(), &mut headers)?;
    Ok(headers)
}

fn collect(
    schema: &Value,
    arguments: Option<&Map<String, Value>>,
    names: &mut HashSet<HeaderName>,
    headers: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<(), ParamHeaderError> {
    for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
        let value = arguments.and_then(|arguments| arguments.get(property));
        if let Some(header) = schema.get("x-mcp-header") {
            let name = header_name(header, &schema["type"]).filter(|it| names.insert(it.clone()));
            let name = name.ok_or_else(|| ParamHeaderError(sanitize_line(property)))?;
            let text = value.and_then(text_of).map(|text| encode(&text));
            if let Some(value) = text.and_then(|text| HeaderValue::from_str(&text).ok()) {
                headers.push((name, value));
            }
        }
        collect(schema, value.and_then(Value::as_object), names, headers)?;
    }
    Ok(())
}

/// The header that `x-mcp-header` names for a property of this type. Only text, integers and booleans
/// can be in headers.
fn header_name(header: &Value, kind: &Value) -> Option<HeaderName> {
    let header = header.as_str().filter(|header| !header.is_empty())?;
    let is_simple = ["string", "integer", "boolean"].iter().any(|simple| kind == simple);
    let name = format!("{PARAM_PREFIX}{header}");
    HeaderName::from_bytes(name.as_bytes()).ok().filter(|_| is_simple)
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A text in the form of a header.
fn encode(text: &str) -> String {
    let is_padded = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let is_plain = text.chars().all(|char| matches!(char, ' '..='~'));
    let is_marked = text.starts_with(BASE64_PREFIX) && text.ends_with(BASE64_SUFFIX);
    if is_plain && !is_padded && !is_marked {
        return text.to_owned();
    }
    format!("{BASE64_PREFIX}{}{BASE64_SUFFIX}", BASE64_STANDARD.encode(text))
}

/// The headers of a message over HTTP, as from revision 2026-07-28 on. Older servers ignore them.
pub(crate) fn standard_headers(
    method: &str,
    params: Option<&Value>,
) -> Vec<(HeaderName, HeaderValue)> {
    let headers = [(METHOD, Some(method)), (NAME, name_of(method, params))];
    let value = |text: Option<&str>| HeaderValue::from_str(&encode(text?)).ok();
    headers.into_iter().filter_map(|(header, text)| Some((header, value(text)?))).collect()
}

/// What a message names.
fn name_of<'p>(method: &str, params: Option<&'p Value>) -> Option<&'p str> {
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    params?.get(key)?.as_str()
}

/// The headers of a message do not repeat what is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderMismatch {
    #[error("the header `{0}` is missing")]
    Missing(HeaderName),
    #[error("the header `{0}` is repeated")]
    Repeated(HeaderName),
    #[error("the header `{0}` differs from the message")]
    Different(HeaderName),
}

/// Compares the headers of a message with its method and what it names. `are_required` is whether all
/// of them have to be there.
pub(crate) fn compare_headers(
    headers: &HeaderMap,
    method: &str,
    params: Option<&Value>,
    are_required: bool,
) -> Result<(), HeaderMismatch> {
    for (name, expected) in [(METHOD, Some(method)), (NAME, name_of(method, params))] {
        let Some(expected) = expected else { continue };
        let mut values = headers.get_all(&name).iter();
        match (values.next(), values.next()) {
            (None, _) if are_required => return Err(HeaderMismatch::Missing(name)),
            (None, _) => {}
            (Some(_), Some(_)) => return Err(HeaderMismatch::Repeated(name)),
            (Some(value), None) => {
                if decode(value).is_none_or(|value| value != expected) {
                    return Err(HeaderMismatch::Different(name));
                }
            }
        }
    }
    Ok(())
}

/// The text of a header.
fn decode(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?;
    let inner = text.strip_prefix(BASE64_PREFIX).and_then(|it| it.strip_suffix(BASE64_SUFFIX));
    match inner {
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use serde_json::json;

    use super::*;

    #[test]
    fn headers_repeat_the_arguments_that_the_schema_names() {
        let named = |name: &str, kind: &str| json!({"type": kind, "x-mcp-header": name});
        let inner = json!({"type": "object", "properties": {"is": named("Is", "boolean")}});
        let properties = json!({
            "region": named("Region", "string"), "count": named("Count", "integer"),
            "city": named("City", "string"), "absent": named("Absent", "string"), "plain": {},
            "inner": inner,
        });
        let arguments = json!({
            "region": "eu west", "count": 3, "city": "Zürich ", "plain": "a", "inner": {"is": true},
        });
        let schema = json!({ "properties": properties });
        let headers = param_headers(&schema, arguments.as_object().unwrap()).unwrap();
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(
            headers,
            [
                ("mcp-param-region", "eu west"),
                ("mcp-param-count", "3"),
                ("mcp-param-city", "=?base64?WsO8cmljaCA=?="),
                ("mcp-param-is", "true"),
            ]
        );
    }

    #[test]
    fn names_that_are_no_headers_are_told() {
        for (kind, header) in [
            ("string", json!("")),
            ("string", json!("a b")),
            ("string", json!(5)),
            ("number", json!("A")),
            ("object", json!("A")),
            ("string", json!("Same")),
        ] {
            let one = json!({"type": kind, "x-mcp-header": header});
            let other = json!({"type": "string", "x-mcp-header": "same"});
            let schema = json!({"properties": {"other": other, "one": one}});
            let error = param_headers(&schema, &Map::new()).unwrap_err();
            assert_eq!(error.to_string(), "`x-mcp-header` of `one` is invalid", "{header}");
        }
    }

    #[test]
    fn headers_that_repeat_a_message_are_compared() {
        let params = json!({"name": "Zürich "});
        let right: HeaderMap = standard_headers("tools/call", Some(&params)).into_iter().collect();
        let compare = |headers: &HeaderMap, method: &str, are_required: bool| {
            compare_headers(headers, method, Some(&params), are_required)
        };
        assert_eq!(compare(&right, "tools/call", true), Ok(()));
        let different = |name| Err(HeaderMismatch::Different(name));
        assert_eq!(compare(&right, "tools/list", false), different(METHOD));
        let none = HeaderMap::new();
        assert_eq!(compare(&none, "ping", true), Err(HeaderMismatch::Missing(METHOD)));
        assert_eq!(compare(&none, "ping", false), Ok(()));
        let mut other = right.clone();
        other.insert(NAME, HeaderValue::from_static("=?base64?!?="));
        assert_eq!(compare(&other, "tools/call", true), different(NAME));
        other.append(NAME, HeaderValue::from_static("Zurich"));
        assert_eq!(compare(&other, "tools/call", true), Err(HeaderMismatch::Repeated(NAME)));
    }
}
