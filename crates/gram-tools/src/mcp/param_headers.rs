//! The headers that repeat arguments of a call over HTTP, as from revision 2026-07-28 of the protocol
//! on: the schema of a tool names them with `x-mcp-header`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::common::http_header::{
    BASE64_HEADER_PREFIX, BASE64_HEADER_SUFFIX, HEADER_MCP_PARAM_PREFIX,
};
use serde_json::{Map, Value};

/// The headers of a call of the tool with this schema.
pub(super) fn param_headers(
    schema: &Value,
    arguments: &Map<String, Value>,
) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    collect(schema, arguments, &mut headers);
    headers
}

fn collect(
    schema: &Value,
    arguments: &Map<String, Value>,
    headers: &mut Vec<(HeaderName, HeaderValue)>,
) {
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let Some(value) = arguments.get(name) else { continue };
        if let (Some(header), Some(text)) = (schema["x-mcp-header"].as_str(), text_of(value)) {
            let header = format!("{HEADER_MCP_PARAM_PREFIX}{header}");
            let header = HeaderName::from_bytes(header.as_bytes());
            // What is no header is not sent. The server may refuse the call then.
            if let (Ok(header), Ok(value)) = (header, HeaderValue::from_str(&encoded(&text))) {
                headers.push((header, value));
            }
        }
        if let Value::Object(inner) = value {
            collect(schema, inner, headers);
        }
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A text in the form of a header.
fn encoded(text: &str) -> String {
    let is_padded = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let is_plain = text.chars().all(|char| matches!(char, ' '..='~'));
    let is_marked = text.starts_with(BASE64_HEADER_PREFIX) && text.ends_with(BASE64_HEADER_SUFFIX);
    if is_plain && !is_padded && !is_marked {
        return text.to_owned();
    }
    format!("{BASE64_HEADER_PREFIX}{}{BASE64_HEADER_SUFFIX}", BASE64_STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

    use serde_json::json;

    use super::*;

    #[test]
    fn headers_repeat_the_arguments_that_the_schema_names() {
        let named = |name: &str| json!({"type": "string", "x-mcp-header": name});
        let inner = json!({"type": "object", "properties": {"id": named("Id")}});
        let properties = json!({
            "region": named("Region"), "count": named("Count"), "city": named("City"),
            "absent": named("Absent"), "bad": named("no header"), "plain": {}, "inner": inner,
        });
        let arguments = json!({
            "region": "eu west", "count": 3, "city": "Zürich ", "bad": "a", "plain": "a",
            "inner": {"id": true},
        });
        let schema = json!({ "properties": properties });
        let headers = param_headers(&schema, arguments.as_object().unwrap());
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(
            headers,
            [
                ("mcp-param-region", "eu west"),
                ("mcp-param-count", "3"),
                ("mcp-param-city", "=?base64?WsO8cmljaCA=?="),
                ("mcp-param-id", "true"),
            ]
        );
    }
}
