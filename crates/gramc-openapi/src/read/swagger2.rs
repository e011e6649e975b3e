//! Reads documents of Swagger 2.0.

use std::borrow::Cow;

use gramc_model::{BodyFormat, RequestLocation, ValueStyle};
use serde_json::{Map, Value, json};

use super::{NO_NAME, PathOperation};
use crate::document::{Document, entries, flag, items, text};
use crate::notes::Notes;
use crate::server::Server;
use crate::source::{
    Location, Source, SourceBody, SourceOperation, SourceParameter, SourceResponse, SourceScheme,
    format_of,
};

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
    for of in super::operations(document, notes) {
        source.operations.push(Reader { document, of }.read(server.clone(), notes));
    }
    source
}

/// The address of the API.
fn server(root: &Value) -> Option<Server> {
    let path = text(root, "basePath").unwrap_or_default();
    let Some(host) = text(root, "host") else {
        return (!path.is_empty()).then(|| Server::new(path.to_owned()));
    };
    let schemes: Vec<_> = items(root, "schemes").iter().filter_map(Value::as_str).collect();
    let scheme =
        if schemes.contains(&"https") || !schemes.contains(&"http") { "https" } else { "http" };
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    let host = host.trim_start_matches("https://").trim_start_matches("http://");
    Some(Server::Url(format!("{scheme}://{}{slash}{path}", host.trim_end_matches('/'))))
}

struct Reader<'r, 'd> {
    document: &'r Document<'d>,
    of: PathOperation<'d>,
}

impl<'d> Reader<'_, 'd> {
    fn read(&self, server: Option<Server>, notes: &mut Notes) -> SourceOperation<'d> {
        let Self { document, of } = *self;
        let PathOperation { path, item, method, operation } = of;
        let place = format!("{} {path}", method.name());
        let mut parameters: Vec<SourceParameter<'d>> = Vec::new();
        let mut body = None;
        let mut fields: Vec<&'d Value> = Vec::new();
        for owner in [item, operation] {
            for parameter in items(owner, "parameters") {
                let Some(parameter) = document.follow(parameter, &place) else {
                    notes.add("a parameter is not described and left out", &place);
                    continue;
                };
                match text(parameter, "in") {
                    Some("body") => body = Some(parameter),
                    Some("formData") => {
                        fields.retain(|known| known.get("name") != parameter.get("name"));
                        fields.push(parameter);
                    }
                    _ => {
                        if let Some(read) = parameter_of(parameter, &place, notes) {
                            super::add(&mut parameters, read);
                        }
                    }
                }
            }
        }
        let body = body.map(|body| self.body(body)).or_else(|| self.form(&fields, &place, notes));
        let security = operation.get("security").or_else(|| document.root.get("security"));
        SourceOperation {
            id: text(operation, "operationId"),
            method,
            server,
            path: path.to_owned(),
            tags: items(operation, "tags").iter().filter_map(Value::as_str).collect(),
            summary: text(operation, "summary"),
            description: text(operation, "description"),
            is_deprecated: flag(operation, "deprecated"),
            pages: super::pages(operation),
            annotations: None,
            parameters,
            body,
            responses: self.responses(&place, notes),
            security: super::security(security),
        }
    }

    /// The media types of a key, which the document may say for all operations.
    fn media_types(&self, key: &str) -> impl Iterator<Item = &'d str> {
        let own = self.of.operation.get(key).and_then(Value::as_array);
        let all = own.map_or_else(|| items(self.document.root, key), Vec::as_slice);
        all.iter().filter_map(Value::as_str)
    }

    fn body(&self, body: &'d Value) -> SourceBody<'d> {
        let preferred = self.media_types("consumes").min_by_key(|name| format_of(name));
        // A body that is not a form is never one, whatever the document says for all operations.
        let preferred = preferred
            .filter(|name| !matches!(format_of(name), BodyFormat::Form | BodyFormat::Multipart));
        let media_type = preferred.unwrap_or("application/json");
        SourceBody {
            format: format_of(media_type),
            media_type,
            schema: body.get("schema").map(Cow::Borrowed),
            is_required: flag(body, "required"),
            description: text(body, "description"),
            example: None,
            styles: Vec::new(),
        }
    }

    /// The body of parameters in a form.
    fn form(&self, fields: &[&'d Value], place: &str, notes: &mut Notes) -> Option<SourceBody<'d>> {
        let is_file = |field: &&&Value| text(field, "type") == Some("file");
        let has_file = fields.iter().any(|field| is_file(&field));
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut styles = Vec::new();
        for field in fields {
            let Some(name) = text(field, "name") else {
                notes.add(NO_NAME, place);
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
                styles.push((name, style, is_exploded));
            }
        }
        if properties.is_empty() {
            return None;
        }
        let is_multipart = has_file
            || self.media_types("consumes").any(|name| format_of(name) == BodyFormat::Multipart)
                && !self.media_types("consumes").any(|name| format_of(name) == BodyFormat::Form);
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
            description: None,
            example: None,
            styles,
        })
    }

    fn responses(&self, place: &str, notes: &mut Notes) -> Vec<SourceResponse<'d>> {
        let produced: Vec<_> = self.media_types("produces").collect();
        let media_type = produced.iter().min_by_key(|name| format_of(name)).copied();
        let media_type = media_type.unwrap_or("application/json");
        let mut all = Vec::new();
        for (status, response) in super::successes(self.document, self.of.operation, place, notes) {
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
}

fn parameter_of<'d>(
    parameter: &'d Value,
    place: &str,
    notes: &mut Notes,
) -> Option<SourceParameter<'d>> {
    let (name, location) = super::name_and_location(parameter, place, notes)?;
    let is_query = location == Location::Request(RequestLocation::Query);
    let (style, is_exploded) = style_of(parameter);
    Some(SourceParameter {
        name: Cow::Borrowed(name),
        location,
        is_required: flag(parameter, "required") || location == Location::Path,
        schema: Cow::Owned(schema_of(parameter)),
        description: text(parameter, "description"),
        is_deprecated: flag(parameter, "deprecated"),
        examples: parameter.get("x-example").into_iter().collect(),
        style: if is_query { style } else { ValueStyle::Simple },
        is_exploded: is_query && is_exploded,
        operator: "",
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
