//! Reads documents of `OpenAPI` 3.

use std::borrow::Cow;

use gramc_model::{BodyFormat, RequestLocation, ValueStyle};
use serde_json::{Map, Value};

use super::{PathOperation, servers};
use crate::document::{Document, entries, flag, items, text};
use crate::emit::ANNOTATIONS;
use crate::notes::Notes;
use crate::source::{
    Location, Source, SourceBody, SourceOperation, SourceParameter, SourceResponse, SourceScheme,
    explodes, format_of, style_of,
};

pub(super) fn read<'d>(document: &Document<'d>, notes: &mut Notes) -> Source<'d> {
    let root = document.root;
    let mut source = Source {
        title: root.get("info").and_then(|info| text(info, "title")),
        tags: super::tags(root),
        ..Source::default()
    };
    if let Some(components) = root.get("components") {
        for (name, scheme) in entries(components, "securitySchemes") {
            if let Some(scheme) = document.follow(scheme, name) {
                source.schemes.push((name, security_scheme(scheme)));
            }
        }
    }
    for of in super::operations(document, notes) {
        source.operations.push(Reader { document, of }.read(notes));
    }
    if root.get("webhooks").is_some() {
        notes.add("webhooks are left out, because the server calls them", "webhooks");
    }
    source
}

struct Reader<'r, 'd> {
    document: &'r Document<'d>,
    of: PathOperation<'d>,
}

impl<'d> Reader<'_, 'd> {
    fn read(&self, notes: &mut Notes) -> SourceOperation<'d> {
        let Self { document, of } = *self;
        let PathOperation { path, item, method, operation } = of;
        let place = format!("{} {path}", method.name());
        let root = document.root;
        let security = operation.get("security").or_else(|| root.get("security"));
        let server = [operation, item, root].into_iter().find_map(|owner| {
            let server = items(owner, "servers").first()?;
            servers::read(server, &place, notes)
        });
        if operation.get("callbacks").is_some() {
            notes.add("callbacks are left out", &place);
        }
        SourceOperation {
            id: text(operation, "operationId"),
            method,
            server,
            path: path.to_owned(),
            tags: items(operation, "tags").iter().filter_map(Value::as_str).collect(),
            summary: text(operation, "summary").or_else(|| text(item, "summary")),
            description: text(operation, "description").or_else(|| text(item, "description")),
            is_deprecated: flag(operation, "deprecated"),
            pages: super::pages(operation),
            annotations: operation.get(ANNOTATIONS).and_then(Value::as_object),
            parameters: self.parameters(&place, notes),
            body: self.body(&place, notes),
            responses: self.responses(&place, notes),
            security: super::security(security),
        }
    }

    fn parameters(&self, place: &str, notes: &mut Notes) -> Vec<SourceParameter<'d>> {
        let mut all: Vec<SourceParameter<'d>> = Vec::new();
        for owner in [self.of.item, self.of.operation] {
            for parameter in items(owner, "parameters") {
                let Some(parameter) = self.document.follow(parameter, place) else {
                    notes.add("a parameter is not described and left out", place);
                    continue;
                };
                if let Some(read) = parameter_of(self.document, parameter, place, notes) {
                    super::add(&mut all, read);
                }
            }
        }
        all
    }

    fn body(&self, place: &str, notes: &mut Notes) -> Option<SourceBody<'d>> {
        let body = self.of.operation.get("requestBody")?;
        let Some(body) = self.document.follow(body, place) else {
            notes.add("the body of the request is not described and left out", place);
            return None;
        };
        let content = body.get("content").and_then(Value::as_object)?;
        let (media_type, media) = preferred(content)?;
        if content.keys().any(|other| format_of(other) != format_of(media_type)) {
            notes.add("of several formats of the body, one is imported", place);
        }
        let encodings = entries(media, "encoding").filter_map(|(name, encoding)| {
            let style = text(encoding, "style").and_then(style_of);
            let is_json =
                text(encoding, "contentType").is_some_and(|ty| format_of(ty) == BodyFormat::Json);
            let is_exploded = encoding.get("explode").and_then(Value::as_bool);
            let style = style.or(is_json.then_some(ValueStyle::Json));
            let style = style.or(is_exploded.map(|_| ValueStyle::Form))?;
            Some((name.as_str(), style, is_exploded.unwrap_or(explodes(style))))
        });
        let short = media_type.split(';').next().unwrap_or_default().trim();
        if format_of(media_type) == BodyFormat::Multipart && short != "multipart/form-data" {
            notes.add(format!("a body of `{short}` is sent as multipart/form-data"), place);
        }
        Some(SourceBody {
            format: format_of(media_type),
            media_type,
            schema: media.get("schema").map(Cow::Borrowed),
            is_required: flag(body, "required"),
            description: text(body, "description"),
            example: examples(self.document, media, place).into_iter().next(),
            styles: encodings.collect(),
        })
    }

    fn responses(&self, place: &str, notes: &mut Notes) -> Vec<SourceResponse<'d>> {
        let mut all = Vec::new();
        for (status, response) in super::successes(self.document, self.of.operation, place, notes) {
            if response.get("links").is_some() {
                notes.add("links are left out", place);
            }
            let content = response.get("content").and_then(Value::as_object);
            let Some((media_type, media)) = content.and_then(preferred) else {
                all.push(super::no_content(status));
                continue;
            };
            let first = content.and_then(|content| content.keys().next());
            all.push(SourceResponse {
                format: format_of(media_type),
                media_type,
                schema: media.get("schema").map(Cow::Borrowed),
                is_second_choice: first.is_some_and(|first| first != media_type),
            });
        }
        all
    }
}

/// The media type that is imported of several ones.
fn preferred(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    let best = content
        .iter()
        .min_by_key(|(name, _)| (format_of(name), name.as_str() != "application/json"));
    best.map(|(name, media)| (name.as_str(), media))
}

fn parameter_of<'d>(
    document: &Document<'d>,
    parameter: &'d Value,
    place: &str,
    notes: &mut Notes,
) -> Option<SourceParameter<'d>> {
    let (name, location) = super::name_and_location(parameter, place, notes)?;
    let content = parameter.get("content").and_then(Value::as_object);
    let media = content.and_then(preferred);
    let schema = parameter.get("schema").or_else(|| media?.1.get("schema"));
    let default = match location {
        Location::Path | Location::Request(RequestLocation::Header) => ValueStyle::Simple,
        Location::Request(_) => ValueStyle::Form,
    };
    let style = match media {
        Some((media_type, _)) if format_of(media_type) == BodyFormat::Json => ValueStyle::Json,
        _ => text(parameter, "style").and_then(style_of).unwrap_or(default),
    };
    let explode = parameter.get("explode").and_then(Value::as_bool);
    if location == Location::Path && style == ValueStyle::Json {
        notes.add("JSON in the path is sent as plain text", place);
    }
    Some(SourceParameter {
        name: Cow::Borrowed(name),
        location,
        is_required: flag(parameter, "required") || location == Location::Path,
        schema: schema.map_or_else(|| Cow::Owned(Value::Bool(true)), Cow::Borrowed),
        description: text(parameter, "description"),
        is_deprecated: flag(parameter, "deprecated"),
        examples: examples(document, parameter, place),
        style,
        is_exploded: explode.unwrap_or(explodes(style)),
        operator: match text(parameter, "style") {
            Some("label") => ".",
            Some("matrix") => ";",
            _ if flag(parameter, "allowReserved") => "+",
            _ => "",
        },
    })
}

/// The examples of a parameter or of a body.
fn examples<'d>(document: &Document<'d>, owner: &'d Value, place: &str) -> Vec<&'d Value> {
    let several = entries(owner, "examples").filter_map(|(_, example)| {
        let example = document.follow(example, place)?;
        example.get("value").or_else(|| example.get("dataValue"))
    });
    owner.get("example").into_iter().chain(several).collect()
}

fn security_scheme(scheme: &Value) -> SourceScheme {
    match text(scheme, "type") {
        Some("apiKey") => super::key(scheme),
        Some("http") => match text(scheme, "scheme").map(str::to_ascii_lowercase).as_deref() {
            Some("basic") => SourceScheme::Basic,
            Some("bearer") | None => SourceScheme::Bearer,
            Some(other) => SourceScheme::Unknown(format!("HTTP {other}")),
        },
        Some("oauth2") => {
            let url = scheme.pointer("/flows/clientCredentials/tokenUrl");
            super::oauth(url.and_then(Value::as_str))
        }
        Some("openIdConnect") => SourceScheme::Bearer,
        other => SourceScheme::Unknown(other.unwrap_or("unknown").to_owned()),
    }
}
