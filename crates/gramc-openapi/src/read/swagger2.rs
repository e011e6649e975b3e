//! Reads documents of Swagger 2.0.

use std::borrow::Cow;

use gramc_model::{BodyFormat, RequestLocation, ValueStyle};
use serde_json::{Map, Value, json};

use super::{NO_NAME, Reader};
use crate::document::{Document, entries, flag, items, text};
use crate::notes::Notes;
use crate::source::{
    FieldEncoding, Location, Source, SourceBody, SourceOperation, SourceParameter, SourceResponse,
    SourceScheme, format_of,
};

const QUERY: Location = Location::Request(RequestLocation::Query);

pub(super) fn read<'d>(document: &Document<'d>, notes: &mut Notes) -> Source<'d> {
    let root = document.root;
    let schemes = entries(root, "securityDefinitions");
    let schemes = schemes.map(|(name, scheme)| (name.as_str(), security_scheme(scheme)));
    let mut source = Source {
        title: root.get("info").and_then(|info| text(info, "title")),
        tags: super::tags(root),
        schemes: schemes.collect(),
        ..Source::default()
    };
    let server = server(root);
    source.operations = super::read_operations(document, notes, |reader, operation| {
        operation.server.clone_from(&server);
        complete(reader, operation);
    });
    source
}

/// The address of the API.
fn server(root: &Value) -> Option<String> {
    let path = text(root, "basePath").unwrap_or_default();
    let Some(host) = text(root, "host") else {
        return (!path.is_empty()).then(|| path.to_owned());
    };
    let schemes: Vec<_> = items(root, "schemes").iter().filter_map(Value::as_str).collect();
    let scheme =
        if schemes.contains(&"https") || !schemes.contains(&"http") { "https" } else { "http" };
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    let host = host.trim_start_matches("https://").trim_start_matches("http://");
    Some(format!("{scheme}://{}{slash}{path}", host.trim_end_matches('/')))
}

fn complete<'d>(reader: &mut Reader<'_, 'd>, operation: &mut SourceOperation<'d>) {
    let mut body = None;
    let mut fields: Vec<&'d Value> = Vec::new();
    for parameter in reader.parameters().collect::<Vec<_>>().into_iter().flatten() {
        match text(parameter, "in") {
            Some("body") => body = Some(parameter),
            Some("formData") => {
                fields.retain(|known| known.get("name") != parameter.get("name"));
                fields.push(parameter);
            }
            _ => {
                if let Some(read) = parameter_of(reader, parameter) {
                    super::add(&mut operation.parameters, read);
                }
            }
        }
    }
    operation.body = match body {
        Some(body) => Some(body_of(reader, body)),
        None => form(reader, &fields),
    };
    operation.responses = responses(reader);
}

/// The media types of a key, which the document may declare for all operations.
fn media_types<'d>(reader: &Reader<'_, 'd>, key: &str) -> Vec<&'d str> {
    let own = reader.operation.get(key).and_then(Value::as_array);
    let all = own.map_or_else(|| items(reader.document.root, key), Vec::as_slice);
    all.iter().filter_map(Value::as_str).collect()
}

fn body_of<'d>(reader: &Reader<'_, 'd>, body: &'d Value) -> SourceBody<'d> {
    let consumed = media_types(reader, "consumes");
    let preferred = consumed.into_iter().min_by_key(|name| format_of(name));
    // A body that is not a form is never one, whatever the document declares for all operations.
    let preferred = preferred
        .filter(|name| !matches!(format_of(name), BodyFormat::Form | BodyFormat::Multipart));
    let media_type = preferred.unwrap_or("application/json");
    SourceBody {
        format: format_of(media_type),
        media_type,
        schema: body.get("schema").map(Cow::Borrowed),
        is_required: flag(body, "required"),
        description: text(body, "description"),
        ..SourceBody::default()
    }
}

/// The body of parameters in a form.
fn form<'d>(reader: &mut Reader<'_, 'd>, fields: &[&'d Value]) -> Option<SourceBody<'d>> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut encodings = Vec::new();
    for field in fields {
        let Some(name) = text(field, "name") else {
            reader.note(NO_NAME);
            continue;
        };
        let mut schema = schema_of(field);
        if let (Some(description), Value::Object(schema)) =
            (text(field, "description"), &mut schema)
        {
            schema.insert("description".to_owned(), description.into());
        }
        properties.insert(name.to_owned(), schema);
        if flag(field, "required") {
            required.push(Value::from(name));
        }
        let (style, is_exploded) = style_of(field);
        if style != ValueStyle::Form || !is_exploded {
            encodings.push(FieldEncoding { name, style, is_exploded, media_type: None });
        }
    }
    if properties.is_empty() {
        return None;
    }
    let formats: Vec<_> = media_types(reader, "consumes").into_iter().map(format_of).collect();
    let is_multipart = fields.iter().any(|field| text(field, "type") == Some("file"))
        || formats.contains(&BodyFormat::Multipart) && !formats.contains(&BodyFormat::Form);
    let (format, media_type) = if is_multipart {
        (BodyFormat::Multipart, "multipart/form-data")
    } else {
        (BodyFormat::Form, "application/x-www-form-urlencoded")
    };
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Some(SourceBody {
        format,
        media_type,
        schema: Some(Cow::Owned(schema)),
        is_required: true,
        encodings,
        ..SourceBody::default()
    })
}

fn responses<'d>(reader: &mut Reader<'_, 'd>) -> Vec<SourceResponse<'d>> {
    let produced = media_types(reader, "produces");
    let media_type = produced.iter().min_by_key(|name| format_of(name)).copied();
    let media_type = media_type.unwrap_or("application/json");
    let mut all = Vec::new();
    for (status, response) in reader.successes() {
        let Some(schema) = response.get("schema") else {
            all.push(super::no_content(status));
            continue;
        };
        let is_file = text(schema, "type") == Some("file");
        all.push(SourceResponse {
            format: if is_file { BodyFormat::Bytes } else { format_of(media_type) },
            media_type,
            schema: Some(Cow::Borrowed(schema)),
            is_second_choice: produced.first().is_some_and(|first| *first != media_type),
        });
    }
    all
}

fn parameter_of<'d>(
    reader: &mut Reader<'_, 'd>,
    parameter: &'d Value,
) -> Option<SourceParameter<'d>> {
    let (name, location) = reader.name_and_location(parameter)?;
    let (style, is_exploded) = style_of(parameter);
    // Commas are usual in both styles.
    let is_simple = style == ValueStyle::Form && location != QUERY;
    let schema = Cow::Owned(schema_of(parameter));
    Some(SourceParameter {
        examples: parameter.get("x-example").into_iter().collect(),
        style: if is_simple { ValueStyle::Simple } else { style },
        is_exploded: is_exploded && location == QUERY,
        ..SourceParameter::new(Cow::Borrowed(name), location, schema, parameter)
    })
}

/// The schema of a parameter: what is left of it without the keys of parameters.
fn schema_of(parameter: &Value) -> Value {
    const OTHERS: [&str; 8] = [
        "name",
        "in",
        "required",
        "description",
        "collectionFormat",
        "allowEmptyValue",
        "deprecated",
        "schema",
    ];
    let own = parameter.as_object().into_iter().flatten();
    let own = own.filter(|(key, _)| !OTHERS.contains(&key.as_str()) && !key.starts_with("x-"));
    let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    match parameter.get("schema") {
        // Some documents describe parameters as OpenAPI 3 does.
        Some(schema) if own.is_empty() => schema.clone(),
        _ => Value::Object(own),
    }
}

fn style_of(parameter: &Value) -> (ValueStyle, bool) {
    let items = parameter.get("items");
    let format = text(parameter, "collectionFormat");
    match format.or_else(|| items.and_then(|items| text(items, "collectionFormat"))) {
        Some("multi") => (ValueStyle::Form, true),
        Some("ssv") => (ValueStyle::SpaceDelimited, false),
        Some("tsv") => (ValueStyle::TabDelimited, false),
        Some("pipes") => (ValueStyle::PipeDelimited, false),
        _ => (ValueStyle::Form, false),
    }
}

fn security_scheme(scheme: &Value) -> SourceScheme {
    match text(scheme, "type") {
        Some("apiKey") => super::key(scheme),
        Some("basic") => SourceScheme::Basic,
        Some("oauth2") => {
            let is_of_client = text(scheme, "flow") == Some("application");
            super::oauth(text(scheme, "tokenUrl").filter(|_| is_of_client))
        }
        other => SourceScheme::Unknown(other.unwrap_or("unknown").to_owned()),
    }
}
