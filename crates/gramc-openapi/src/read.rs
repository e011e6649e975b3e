//! Readers of all kinds of documents.

mod discovery;
mod openapi3;
mod servers;
mod swagger2;

use std::borrow::Cow;

use gramc_model::{BodyFormat, RequestLocation};
use serde_json::{Map, Value, json};

use crate::document::{Document, DocumentKind, entries, items, text};
use crate::notes::Notes;
use crate::source::{
    Location, Method, SchemeUse, Source, SourceParameter, SourceResponse, SourceScheme,
};

/// The note on a parameter without a name.
const NO_NAME: &str = "a parameter without a name is left out";

/// Reads a document.
pub(crate) fn read<'d>(document: &Document<'d>, notes: &mut Notes) -> Source<'d> {
    match document.kind {
        DocumentKind::OpenApi3 => openapi3::read(document, notes),
        DocumentKind::Swagger2 => swagger2::read(document, notes),
        DocumentKind::Discovery => discovery::read(document, notes),
    }
}

/// The tags of a document with their descriptions.
fn tags(root: &Value) -> Vec<(&str, Option<&str>)> {
    let tags = items(root, "tags").iter();
    tags.filter_map(|tag| Some((text(tag, "name")?, text(tag, "description")))).collect()
}

/// Adds a parameter, in the place of one with the same name and location.
fn add<'d>(all: &mut Vec<SourceParameter<'d>>, parameter: SourceParameter<'d>) {
    let is_same = |known: &&mut SourceParameter<'d>| {
        known.name == parameter.name && known.location == parameter.location
    };
    match all.iter_mut().find(is_same) {
        Some(known) => *known = parameter,
        None => all.push(parameter),
    }
}

/// Whether a header is described by the content types and the security schemes.
fn is_ignored_header(location: Location, name: &str) -> bool {
    let ignored = ["Accept", "Content-Type", "Authorization", "Content-Length"];
    location == Location::Request(RequestLocation::Header)
        && ignored.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The alternatives of security schemes.
fn security<'d>(security: Option<&'d Value>) -> Vec<Vec<SchemeUse<'d>>> {
    let alternatives = security.and_then(Value::as_array).into_iter().flatten();
    let schemes = alternatives.map(|alternative| {
        let schemes = alternative.as_object().into_iter().flatten();
        let scheme = |(name, scopes): (&'d String, &'d Value)| {
            let scopes = scopes.as_array().into_iter().flatten();
            (name.as_str(), scopes.filter_map(Value::as_str).collect())
        };
        schemes.map(scheme).collect()
    });
    schemes.collect()
}

/// The keys of the items and of the URL of the next page, in the notation of Microsoft.
fn pages(operation: &Value) -> Option<(&str, &str)> {
    let pages = operation.get("x-ms-pageable")?;
    Some((text(pages, "itemName").unwrap_or("value"), text(pages, "nextLinkName")?))
}

/// OAuth 2.0 with a flow that needs no user, or with an access token. `token_url` is that of the flow.
fn oauth(token_url: Option<&str>) -> SourceScheme {
    let url = token_url.filter(|url| ["https://", "http://"].iter().any(|it| url.starts_with(it)));
    url.map_or(SourceScheme::Bearer, |url| SourceScheme::ClientCredentials(url.to_owned()))
}

/// An operation of a path, in documents of `OpenAPI` 3 and Swagger 2.0.
#[derive(Clone, Copy)]
struct PathOperation<'d> {
    path: &'d str,
    item: &'d Value,
    method: Method,
    operation: &'d Value,
}

/// The operations of all paths.
fn operations<'d>(document: &Document<'d>, notes: &mut Notes) -> Vec<PathOperation<'d>> {
    let mut all = Vec::new();
    for (path, item) in entries(document.root, "paths") {
        let Some(item) = document.follow(item, path) else {
            notes.add("the path is not described", path);
            continue;
        };
        for (key, operation) in item.as_object().into_iter().flatten() {
            let Some(method) = Method::of(key).filter(|_| operation.is_object()) else {
                if matches!(key.as_str(), "query" | "additionalOperations") {
                    notes.add(format!("`{key}` is not supported and left out"), path);
                }
                continue;
            };
            all.push(PathOperation { path, item, method, operation });
        }
    }
    all
}

/// The name and the location of a parameter that is imported.
fn name_and_location<'d>(
    parameter: &'d Value,
    place: &str,
    notes: &mut Notes,
) -> Option<(&'d str, Location)> {
    let Some(name) = text(parameter, "name") else {
        notes.add(NO_NAME, place);
        return None;
    };
    let Some(location) = text(parameter, "in").and_then(Location::of) else {
        notes.add("a parameter in an unknown place is left out", place);
        return None;
    };
    if is_ignored_header(location, name) {
        if name.eq_ignore_ascii_case("Authorization") {
            notes.add(
                "the header `Authorization` is not a parameter: unless a security scheme is \
                 described, add it to the library",
                place,
            );
        }
        return None;
    }
    Some((name, location))
}

/// The successful responses, by status. The default response is one if there is no other.
fn successes<'d>(
    document: &Document<'d>,
    operation: &'d Value,
    place: &str,
    notes: &mut Notes,
) -> Vec<(&'d str, &'d Value)> {
    let of = |wanted: &dyn Fn(&str) -> bool| -> Vec<_> {
        entries(operation, "responses").filter(|(status, _)| wanted(status)).collect()
    };
    let found = of(&|status| status.starts_with('2'));
    let found = if found.is_empty() { of(&|status| status == "default") } else { found };
    let mut all = Vec::new();
    for (status, response) in found {
        let Some(response) = document.follow(response, place) else {
            notes.add("a response is not described and left out", place);
            continue;
        };
        if response.get("headers").and_then(Value::as_object).is_some_and(|it| !it.is_empty()) {
            notes.add("headers of responses are not part of results", place);
        }
        all.push((status.as_str(), response));
    }
    all
}

/// A response without content, which only some statuses promise.
fn no_content<'d>(status: &str) -> SourceResponse<'d> {
    let is_promised = matches!(status, "204" | "205");
    SourceResponse {
        format: BodyFormat::None,
        media_type: "",
        schema: is_promised.then(|| Cow::Owned(json!({"type": "null"}))),
        is_second_choice: false,
    }
}

/// A security scheme with a key.
fn key(scheme: &Value) -> SourceScheme {
    let location = match text(scheme, "in") {
        Some("header") => RequestLocation::Header,
        Some("query") => RequestLocation::Query,
        Some("cookie") => RequestLocation::Cookie,
        other => {
            return SourceScheme::Unknown(format!("API key in {}", other.unwrap_or("nothing")));
        }
    };
    match text(scheme, "name") {
        Some(name) => SourceScheme::Key(location, name.to_owned()),
        None => SourceScheme::Unknown("API key without a name".to_owned()),
    }
}

/// The description of an enum whose members have descriptions.
pub(crate) fn described_enum(schema: &Map<String, Value>) -> Option<String> {
    const KEYS: [&str; 4] =
        ["enumDescriptions", "x-enumDescriptions", "x-enum-descriptions", "x-enum-varnames"];
    let descriptions = KEYS.iter().find_map(|key| schema.get(*key))?;
    let members = schema.get("enum").and_then(Value::as_array)?;
    let mut lines = Vec::new();
    for (at, member) in members.iter().enumerate() {
        let name = member.as_str().map_or_else(|| member.to_string(), str::to_owned);
        let description = match descriptions {
            Value::Array(all) => all.get(at).and_then(Value::as_str),
            Value::Object(all) => all.get(&name).and_then(Value::as_str),
            _ => None,
        };
        let description = description.map(str::trim).unwrap_or_default();
        if !description.is_empty() {
            lines.push(format!("- {name}: {description}"));
        }
    }
    if lines.is_empty() {
        return None;
    }
    let own = schema.get("description").and_then(Value::as_str).map(str::trim);
    let own = own.filter(|text| !text.is_empty()).unwrap_or("One of:");
    Some(format!("{own}\n{}", lines.join("\n")))
}
