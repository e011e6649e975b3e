//! The library that calls an API.

use gramc_json_schema::pointer::below;
use gramc_model::{BodyFormat, Implementation, ImplementationKind, Library, RequestPlace};
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::secrets::Secret;
use crate::source::{Method, SourceOperation};

/// How often a request is repeated that may be sent twice.
const RETRIES: u32 = 2;

/// The library of an API. `is_retried` is whether a request may be sent twice.
pub(crate) fn library(
    name: SmolStr,
    implementations: Vec<Implementation>,
    is_retried: bool,
    secrets: &[Secret],
) -> Library {
    let mut attributes = Vec::new();
    if is_retried {
        attributes.push(("retries".into(), RETRIES.into()));
    }
    if !secrets.is_empty() {
        let parameter = |it: &Secret| it.parameter.to_string();
        let sources = secrets.iter().map(|it| (parameter(it), format!("env:{}", it.variable)));
        attributes.push(("inject".into(), texts(sources)));
        let places = secrets.iter().map(|it| (parameter(it), it.place.to_string()));
        attributes.push(("parameters".into(), texts(places)));
    }
    Library { name, description: None, implementations, attributes }
}

fn texts(entries: impl Iterator<Item = (String, String)>) -> Value {
    Value::Object(entries.map(|(key, text)| (key, text.into())).collect())
}

/// The request of an operation.
pub(crate) struct HttpCall {
    /// The URL, whose path names parameters in braces.
    pub(crate) url: String,
    pub(crate) body: BodyFormat,
    /// Where parameters go that do not go where the method implies.
    pub(crate) places: Vec<(String, RequestPlace)>,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Whether the answer is bytes.
    pub(crate) is_bytes: bool,
}

impl HttpCall {
    pub(crate) fn implementation(
        &self,
        tool: &str,
        source: &SourceOperation<'_>,
    ) -> Implementation {
        let Self { url, body, places, headers, is_bytes } = self;
        let method = Some(source.method).filter(|method| *method != Method::Post);
        let body = Some(body).filter(|body| **body != BodyFormat::Json);
        let places = places.iter().map(|(name, place)| (name.clone(), place.to_string()));
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let pages = source
            .pages
            .map(|(items, next)| json!({"items": below("", items), "next": below("", next)}));
        let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
        let attributes = [
            ("method", method.map(|method| method.name().into())),
            ("url", Some(url.as_str().into())),
            ("body", body.map(|body| body.name().into())),
            ("parameters", Some(texts(places))),
            ("headers", Some(texts(headers))),
            ("pages", pages),
            ("answer", is_bytes.then(|| "bytes".into())),
        ];
        let attributes =
            attributes.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
        Implementation {
            tool: tool.into(),
            kind: ImplementationKind::Http,
            attributes: attributes.filter(|(_, value)| !is_empty(value)).collect(),
            signature: None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use serde_json::json;

    use crate::{ApiOptions, import};

    #[test]
    fn declared_pages_are_joined() {
        let operation = |pages| json!({"get": {"x-ms-pageable": pages, "responses": {}}});
        let imported = import(
            &json!({
                "swagger": "2.0",
                "host": "shop.example",
                "schemes": ["https"],
                "paths": {
                    "/a": operation(json!({"nextLinkName": "@odata.nextLink"})),
                    "/b": operation(json!({"nextLinkName": null})),
                    "/c": operation(json!({"nextLinkName": "next/page", "itemName": "all"}))
                }
            }),
            &ApiOptions::default(),
        );
        let library = imported.unwrap().library;
        assert_eq!(library.matches("pages:").count(), 2);
        for part in [
            "{items: \"/value\", next: \"/@odata.nextLink\"}",
            "{items: \"/all\", next: \"/next~1page\"}",
        ] {
            assert!(library.contains(part), "{library}");
        }
    }
}
