//! Readers of all kinds of documents.

mod discovery;
mod openapi3;
mod swagger2;

use std::borrow::Cow;

use gramc_model::{BodyFormat, RequestLocation};
use serde_json::{Map, Value, json};

use crate::document::{Document, DocumentKind, entries, flag, items, text};
use crate::emit::ANNOTATIONS;
use crate::notes::Notes;
use crate::source::{
    Location, Method, SchemeUse, Source, SourceOperation, SourceParameter, SourceResponse,
    SourceScheme,
};

/// The note on a parameter without a name.
const NO_NAME: &str = "a parameter without a name is left out";

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

/// Reads one operation of a path, in documents of `OpenAPI` 3 and Swagger 2.0.
struct Reader<'r, 'd> {
    document: &'r Document<'d>,
    notes: &'r mut Notes,
    /// The description of the path.
    item: &'d Value,
    operation: &'d Value,
    place: String,
}

/// Reads the operations of all paths. `complete` adds the parts that differ between the kinds of
/// documents.
fn read_operations<'d>(
    document: &Document<'d>,
    notes: &mut Notes,
    complete: impl Fn(&mut Reader<'_, 'd>, &mut SourceOperation<'d>),
) -> Vec<SourceOperation<'d>> {
    let mut all = Vec::new();
    for (path, item) in entries(document.root, "paths") {
        let Some(item) = document.follow(item, path) else {
            notes.add("the path is not described", path);
            continue;
        };
        for (key, operation) in item.as_object().into_iter().flatten() {
            if let Some(method) = Method::of(key).filter(|_| operation.is_object()) {
                all.push((path, item, method, operation));
            } else if matches!(key.as_str(), "query" | "additionalOperations") {
                notes.add(format!("`{key}` is not supported and left out"), path);
            }
        }
    }
    let operations = all.into_iter().map(|(path, item, method, operation)| {
        let own = |key: &str| text(operation, key).or_else(|| text(item, key));
        let required = operation.get("security").or_else(|| document.root.get("security"));
        let mut source = SourceOperation {
            id: text(operation, "operationId"),
            method,
            server: None,
            path: path.clone(),
            tags: items(operation, "tags").iter().filter_map(Value::as_str).collect(),
            summary: own("summary"),
            description: own("description"),
            is_deprecated: flag(operation, "deprecated"),
            pages: pages(operation),
            annotations: operation.get(ANNOTATIONS).and_then(Value::as_object),
            parameters: Vec::new(),
            body: None,
            responses: Vec::new(),
            security: security(required),
        };
        let place = source.place();
        let mut reader = Reader { document, notes: &mut *notes, item, operation, place };
        complete(&mut reader, &mut source);
        source
    });
    operations.collect()
}

impl<'d> Reader<'_, 'd> {
    fn note(&mut self, what: impl Into<String>) {
        self.notes.add(what, &self.place);
    }

    /// A value, or the one that its reference leads to. `missing` is the note if there is none.
    fn follow(&mut self, value: &'d Value, missing: &str) -> Option<&'d Value> {
        let found = self.document.follow(value, &self.place);
        if found.is_none() {
            self.note(missing);
        }
        found
    }

    /// The parameters of the path, then those of the operation. `None` for those that are not described.
    fn parameters(&mut self) -> impl Iterator<Item = Option<&'d Value>> {
        let all = [self.item, self.operation].into_iter().flat_map(|it| items(it, "parameters"));
        all.map(|it| self.follow(it, "a parameter is not described and left out"))
    }

    /// The name and the location of a parameter that is imported.
    fn name_and_location(&mut self, parameter: &'d Value) -> Option<(&'d str, Location)> {
        let Some(name) = text(parameter, "name") else {
            self.note(NO_NAME);
            return None;
        };
        let Some(location) = text(parameter, "in").and_then(Location::of) else {
            self.note("a parameter in an unknown place is left out");
            return None;
        };
        if is_ignored_header(location, name) {
            if name.eq_ignore_ascii_case("Authorization") {
                self.note(
                    "the header `Authorization` is not a parameter: unless a security scheme is \
                     described, add it to the library",
                );
            }
            return None;
        }
        Some((name, location))
    }

    /// The successful responses, by status. The default response is one if there is no other.
    fn successes(&mut self) -> Vec<(&'d str, &'d Value)> {
        let with = |is_wanted: &dyn Fn(&str) -> bool| -> Vec<_> {
            entries(self.operation, "responses").filter(|it| is_wanted(it.0)).collect()
        };
        let found = with(&|status| status.starts_with('2'));
        let found = if found.is_empty() { with(&|status| status == "default") } else { found };
        let mut all = Vec::new();
        for (status, response) in found {
            let missing = "a response is not described and left out";
            let Some(response) = self.follow(response, missing) else { continue };
            if entries(response, "headers").next().is_some() {
                self.note("headers of responses are not part of results");
            }
            all.push((status.as_str(), response));
        }
        all
    }
}

/// A response without content, which only some statuses promise.
fn no_content<'d>(status: &str) -> SourceResponse<'d> {
    let is_promised = matches!(status, "204" | "205");
    SourceResponse {
        format: BodyFormat::None,
        schema: is_promised.then(|| Cow::Owned(json!({"type": "null"}))),
        ..SourceResponse::default()
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
