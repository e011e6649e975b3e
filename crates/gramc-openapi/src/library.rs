//! The library that calls an API.

use gramc_model::{
    BodyFormat, Implementation, ImplementationKind, Library, RequestLocation, RequestPlace,
};
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::api::{Api, Operation, Secret, SecretScheme};

/// How often a request is repeated that may be sent twice.
const RETRIES: u32 = 2;

/// The library of an API.
pub(crate) fn of(api: &Api) -> Library {
    let mut attributes = Vec::new();
    let is_idempotent = |it: &Operation| it.http.method.is_idempotent();
    if api.operations.iter().any(is_idempotent) {
        attributes.push(("retries".into(), RETRIES.into()));
    }
    if !api.secrets.is_empty() {
        let sources = api.secrets.iter();
        let sources =
            sources.map(|it| (it.parameter.to_string(), format!("env:{}", it.variable).into()));
        attributes.push(("inject".into(), Value::Object(sources.collect())));
        let places = api.secrets.iter();
        let places = places.map(|it| (it.parameter.to_string(), secret_place(it)));
        attributes.push(("parameters".into(), Value::Object(places.collect())));
    }
    Library {
        name: api.name.clone(),
        description: None,
        implementations: api.operations.iter().map(entry).collect(),
        attributes,
    }
}

/// The pointer to the value of a key.
fn pointer(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn secret_place(secret: &Secret) -> Value {
    let place = match &secret.scheme {
        SecretScheme::Bearer => RequestPlace::at(RequestLocation::Bearer),
        SecretScheme::Basic => RequestPlace::at(RequestLocation::Basic),
        SecretScheme::ClientCredentials { url, scope } => {
            let scope = (!scope.is_empty()).then(|| ("scope".to_owned(), scope.clone()));
            RequestPlace {
                name: Some(url.clone()),
                token_fields: scope.into_iter().collect(),
                ..RequestPlace::at(RequestLocation::OAuth)
            }
        }
        SecretScheme::Key(location, name) => RequestPlace {
            name: (*name != secret.parameter).then(|| name.clone()),
            ..RequestPlace::at(*location)
        },
    };
    place.to_string().into()
}

fn entry(operation: &Operation) -> Implementation {
    let http = &operation.http;
    let mut attributes: Vec<(SmolStr, Value)> = Vec::new();
    if http.method.name() != "POST" {
        attributes.push(("method".into(), http.method.name().into()));
    }
    attributes.push(("url".into(), http.url.clone().into()));
    if http.body != BodyFormat::Json {
        attributes.push(("body".into(), http.body.name().into()));
    }
    if !http.places.is_empty() {
        let places =
            http.places.iter().map(|(name, place)| (name.clone(), place.to_string().into()));
        attributes.push(("parameters".into(), Value::Object(places.collect())));
    }
    if !http.headers.is_empty() {
        let headers =
            http.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into()));
        attributes.push(("headers".into(), Value::Object(headers.collect())));
    }
    if let Some((items, next)) = &http.pages {
        let pages = json!({"items": pointer(items), "next": pointer(next)});
        attributes.push(("pages".into(), pages));
    }
    if http.is_bytes {
        attributes.push(("answer".into(), "bytes".into()));
    }
    Implementation {
        tool: operation.name.clone(),
        kind: ImplementationKind::Http,
        attributes,
        signature: None,
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
