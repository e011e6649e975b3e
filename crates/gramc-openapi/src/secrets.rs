//! Security schemes as injected parameters.

use std::collections::{BTreeSet, HashSet};

use gramc_model::{RequestLocation, RequestPlace};
use smol_str::SmolStr;

use crate::names::{free_name, identifier, variable};
use crate::notes::Notes;
use crate::source::{SchemeUse, Source, SourceOperation, SourceScheme};

/// The schemes that an operation uses, with their scopes: the first alternative that can be said, or what
/// can be said of one.
pub(crate) fn schemes_of<'d>(
    operation: &SourceOperation<'d>,
    source: &Source<'d>,
    notes: &mut Notes,
) -> Vec<SchemeUse<'d>> {
    let mut unknown = None;
    let mut fallback: Option<Vec<_>> = None;
    for alternative in operation.security.iter().filter(|it| !it.is_empty()) {
        let mut known = Vec::new();
        for scheme @ (name, _) in alternative {
            match source.schemes.iter().find(|(known, _)| known == name) {
                Some((_, SourceScheme::Unknown(kind))) => {
                    unknown.get_or_insert_with(|| format!("authentication by {kind} is left out"));
                }
                Some(_) => known.push(scheme.clone()),
                None => {
                    unknown.get_or_insert_with(|| {
                        format!("the security scheme `{name}` is not described and left out")
                    });
                }
            }
        }
        if known.len() == alternative.len() {
            return known;
        }
        if !known.is_empty() {
            fallback.get_or_insert(known);
        }
    }
    if let Some(what) = unknown {
        notes.add(what, &operation.place());
    }
    fallback.unwrap_or_default()
}

/// A secret that requests need.
#[derive(Debug)]
pub(crate) struct Secret {
    /// The parameter of the tools.
    pub(crate) parameter: SmolStr,
    pub(crate) description: String,
    /// The environment variable with its value.
    pub(crate) variable: String,
    pub(crate) place: RequestPlace,
}

/// The secret of a scheme for operations that need these scopes. Its parameter has a name that no other
/// parameter has.
pub(crate) fn secret(
    scheme_name: &str,
    scheme: &SourceScheme,
    scopes: &BTreeSet<&str>,
    api: &str,
    taken: &HashSet<String>,
) -> Option<Secret> {
    let name = identifier(scheme_name);
    let name = if name.is_empty() { "secret".to_owned() } else { name };
    let parameter = free_name(
        [name.clone(), format!("{name}Auth")],
        |number| format!("{name}Auth{number}"),
        |name| !taken.contains(name),
    );
    let (description, place) = match scheme {
        SourceScheme::Bearer => {
            ("Access token".to_owned(), RequestPlace::at(RequestLocation::Bearer))
        }
        SourceScheme::Basic => (
            "User and password, as user:password".to_owned(),
            RequestPlace::at(RequestLocation::Basic),
        ),
        SourceScheme::ClientCredentials(url) => {
            let scope = scopes.iter().copied().collect::<Vec<_>>().join(" ");
            let scope = (!scope.is_empty()).then(|| ("scope".to_owned(), scope));
            let place = RequestPlace {
                name: Some(url.clone()),
                token_fields: scope.into_iter().collect(),
                ..RequestPlace::at(RequestLocation::OAuth)
            };
            ("ID and secret of the client, as id:secret".to_owned(), place)
        }
        SourceScheme::Key(location, name) => {
            let own_name = (*name != parameter).then(|| name.clone());
            let place = RequestPlace { name: own_name, ..RequestPlace::at(*location) };
            (format!("Value of the {} `{name}`", kind_name(*location)), place)
        }
        SourceScheme::Unknown(_) => return None,
    };
    let (api, scheme_name) = (variable(api), variable(scheme_name));
    let begins = scheme_name.strip_prefix(&api);
    let variable = if begins.is_some_and(|rest| rest.is_empty() || rest.starts_with('_')) {
        scheme_name
    } else {
        format!("{api}_{scheme_name}").trim_matches('_').to_owned()
    };
    Some(Secret { parameter: parameter.into(), description, variable, place })
}

fn kind_name(location: RequestLocation) -> &'static str {
    match location {
        RequestLocation::Query => "query parameter",
        RequestLocation::Cookie => "cookie",
        _ => "header",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use serde_json::{Value, json};

    use crate::{ApiOptions, import};

    /// The library of a document with a scheme for one operation, and the notes.
    fn library(scheme: &Value, version: (&str, &str), place: &str) -> (String, Vec<String>) {
        let mut document = json!({
            version.0: version.1,
            "info": {"title": "Shop"},
            "servers": [{"url": "https://shop.example"}],
            "host": "shop.example",
            "schemes": ["https"],
            "paths": {
                "/a": {"post": {"security": [{"login": ["write", "read"]}], "responses": {}}},
                "/b": {"post": {"security": [{"login": ["read"]}], "responses": {}}}
            }
        });
        let schemes = json!({"login": scheme});
        match place {
            "" => document["components"] = json!({"securitySchemes": schemes}),
            place => document[place] = schemes,
        }
        let imported = import(&document, &ApiOptions::default()).unwrap();
        let library = imported.library.split_whitespace().collect::<Vec<_>>().join(" ");
        (library, imported.specification.notes)
    }

    #[test]
    fn client_credentials_are_sent_to_their_url() {
        let flows = json!({"type": "oauth2", "flows": {"clientCredentials": {
            "tokenUrl": "https://id.example/token", "scopes": {"read": "", "write": "", "admin": ""}
        }}});
        let place = "parameters: {login: \"oauth https://id.example/token; scope=read write\"}";
        let (of_3, notes) = library(&flows, ("openapi", "3.1.0"), "");
        assert!(of_3.contains("inject: {login: \"env:SHOP_LOGIN\"}"), "{of_3}");
        assert!(of_3.contains(place), "{of_3}");
        assert_eq!(notes, ["calls send the environment variable SHOP_LOGIN to id.example"]);
        let flow = json!({"type": "oauth2", "flow": "application", "tokenUrl": "https://id.example/token"});
        let (of_2, _) = library(&flow, ("swagger", "2.0"), "securityDefinitions");
        assert!(of_2.contains(place), "{of_2}");
    }

    #[test]
    fn other_flows_need_an_access_token() {
        for flows in [
            json!({"authorizationCode": {"tokenUrl": "https://id.example/token"}}),
            json!({"clientCredentials": {"tokenUrl": "/token"}}),
        ] {
            let scheme = json!({"type": "oauth2", "flows": flows});
            let (library, notes) = library(&scheme, ("openapi", "3.0.0"), "");
            assert!(library.contains("parameters: {login: \"bearer\"}"), "{library}");
            assert_eq!(notes, ["calls send the environment variable SHOP_LOGIN to shop.example"]);
        }
    }
}
