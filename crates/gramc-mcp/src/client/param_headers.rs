//! The headers that repeat parts of a message over HTTP, as from revision 2026-07-28 of the protocol on:
//! its method, and the arguments of a call for which the schema of a tool names them with `x-mcp-header`.

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gramc_tools::sanitize::sanitize_line;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::common::http_header::{
    BASE64_HEADER_PREFIX, BASE64_HEADER_SUFFIX, HEADER_MCP_PARAM_PREFIX,
};
use serde_json::{Map, Value};

/// The headers that repeat the method of a request and what it names.
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The name of a header in a schema is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`x-mcp-header` of `{0}` is invalid")]
pub(super) struct ParamHeaderError(String);

/// The headers of a call of the tool with this schema. Fails if a name
/// in it is invalid: then the tool must not be called.
pub(super) fn param_headers(
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
    let name = format!("{HEADER_MCP_PARAM_PREFIX}{header}");
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
    let is_marked = text.starts_with(BASE64_HEADER_PREFIX) && text.ends_with(BASE64_HEADER_SUFFIX);
    if is_plain && !is_padded && !is_marked {
        return text.to_owned();
    }
    format!("{BASE64_HEADER_PREFIX}{}{BASE64_HEADER_SUFFIX}", BASE64_STANDARD.encode(text))
}

/// The headers of a message over HTTP, as from revision 2026-07-28 on. Older servers ignore them.
pub(super) fn standard_headers(
    method: &str,
    params: Option<&Value>,
) -> Vec<(HeaderName, HeaderValue)> {
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => "",
    };
    let name = params.and_then(|params| params.get(key)?.as_str()).map(encode);
    let headers = [(METHOD, Some(method.to_owned())), (NAME, name)];
    let value = |text: Option<String>| HeaderValue::from_str(&text?).ok();
    headers.into_iter().filter_map(|(header, text)| Some((header, value(text)?))).collect()
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
}
