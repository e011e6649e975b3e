//! Reads documents of `OpenAPI` 3.

use std::borrow::Cow;

use gramc_model::{BodyFormat, ValueStyle};
use serde_json::{Map, Value};

use super::Reader;
use crate::document::{Document, entries, flag, items, text};
use crate::notes::Notes;
use crate::server;
use crate::source::{
    FieldEncoding, Location, Source, SourceBody, SourceOperation, SourceParameter, SourceResponse,
    SourceScheme, explodes, format_of, is_media_type, style_of,
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
    source.operations = super::read_operations(document, notes, complete);
    if root.get("webhooks").is_some() {
        notes.add("webhooks are left out, because the server calls them", "webhooks");
    }
    source
}

fn complete<'d>(reader: &mut Reader<'_, 'd>, operation: &mut SourceOperation<'d>) {
    let owners = [reader.operation, reader.item, reader.document.root];
    operation.server = owners.into_iter().find_map(|owner| {
        let servers = items(owner, "servers");
        let server = servers.iter().find(|server| server::is_http(server)).or(servers.first())?;
        server::of_document(server, &reader.place, reader.notes)
    });
    if reader.operation.get("callbacks").is_some() {
        reader.note("callbacks are left out");
    }
    for parameter in reader.parameters().collect::<Vec<_>>().into_iter().flatten() {
        if let Some(read) = parameter_of(reader, parameter) {
            super::add(&mut operation.parameters, read);
        }
    }
    operation.body = body(reader);
    operation.responses = responses(reader);
}

fn body<'d>(reader: &mut Reader<'_, 'd>) -> Option<SourceBody<'d>> {
    let body = reader.operation.get("requestBody")?;
    let body = reader.follow(body, "the body of the request is not described and left out")?;
    let content = body.get("content").and_then(Value::as_object)?;
    let (media_type, media) = preferred_media(content)?;
    let format = format_of(media_type);
    if content.keys().any(|other| format_of(other) != format) {
        reader.note("of several formats of the body, one is imported");
    }
    let mut encodings = Vec::new();
    for (name, encoding) in entries(media, "encoding") {
        let media_types = text(encoding, "contentType").unwrap_or_default();
        let is_json = !media_types.is_empty() && format_of(media_types) == BodyFormat::Json;
        let declared = text(encoding, "style").and_then(style_of);
        let style = declared.unwrap_or(if is_json { ValueStyle::Json } else { ValueStyle::Form });
        let is_exploded = encoding.get("explode").and_then(Value::as_bool);
        let mut known = media_types.split(',').map(str::trim).filter(|it| is_media_type(it));
        let media_type = known.next().filter(|_| format == BodyFormat::Multipart);
        if media_type.is_some() && known.next().is_some() {
            reader.note(format!("of several content types of `{name}`, the first is sent"));
        }
        if encoding.get("headers").is_some() {
            reader.note(format!("the headers of `{name}` in the body are left out"));
        }
        let is_exploded = is_exploded.unwrap_or(explodes(style));
        encodings.push(FieldEncoding { name, style, is_exploded, media_type });
    }
    let short = media_type.split(';').next().unwrap_or_default().trim();
    if format == BodyFormat::Multipart && short != "multipart/form-data" {
        reader.note(format!("a body of `{short}` is sent as multipart/form-data"));
    }
    Some(SourceBody {
        format,
        media_type,
        schema: media.get("schema").map(Cow::Borrowed),
        is_required: flag(body, "required"),
        description: text(body, "description"),
        example: examples(reader, media).into_iter().next(),
        encodings,
    })
}

fn responses<'d>(reader: &mut Reader<'_, 'd>) -> Vec<SourceResponse<'d>> {
    let mut all = Vec::new();
    for (status, response) in reader.successes() {
        if response.get("links").is_some() {
            reader.note("links are left out");
        }
        let content = response.get("content").and_then(Value::as_object);
        let Some((media_type, media)) = content.and_then(preferred_media) else {
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

/// The media type that is imported of several ones.
fn preferred_media(content: &Map<String, Value>) -> Option<(&str, &Value)> {
    let best = content
        .iter()
        .min_by_key(|(name, _)| (format_of(name), name.as_str() != "application/json"));
    best.map(|(name, media)| (name.as_str(), media))
}

fn parameter_of<'d>(
    reader: &mut Reader<'_, 'd>,
    parameter: &'d Value,
) -> Option<SourceParameter<'d>> {
    let (name, location) = reader.name_and_location(parameter)?;
    let content = parameter.get("content").and_then(Value::as_object);
    let media = content.and_then(preferred_media);
    let schema = parameter.get("schema").or_else(|| media?.1.get("schema"));
    let schema = schema.map_or_else(|| Cow::Owned(Value::Bool(true)), Cow::Borrowed);
    let usual = SourceParameter::new(Cow::Borrowed(name), location, schema, parameter);
    let style = match media {
        Some((media_type, _)) if format_of(media_type) == BodyFormat::Json => ValueStyle::Json,
        _ => text(parameter, "style").and_then(style_of).unwrap_or(usual.style),
    };
    let explode = parameter.get("explode").and_then(Value::as_bool);
    if location == Location::Path && style == ValueStyle::Json {
        reader.note("JSON in the path is sent as plain text");
    }
    Some(SourceParameter {
        examples: examples(reader, parameter),
        style,
        is_exploded: explode.unwrap_or(explodes(style)),
        operator: match text(parameter, "style") {
            Some("label") => ".",
            Some("matrix") => ";",
            _ if flag(parameter, "allowReserved") => "+",
            _ => "",
        },
        ..usual
    })
}

/// The examples of a parameter or of a body.
fn examples<'d>(reader: &Reader<'_, 'd>, owner: &'d Value) -> Vec<&'d Value> {
    let several = entries(owner, "examples").filter_map(|(_, example)| {
        let example = reader.document.follow(example, &reader.place)?;
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
