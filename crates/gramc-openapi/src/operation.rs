//! An operation as a tool: its parameters, its result, and its request.

use std::borrow::Cow;
use std::collections::HashSet;

use gramc_model::{BodyFormat, Implementation, RequestLocation, RequestPlace, ValueStyle};
use gramc_schema::import::ToolSchema;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::library::HttpCall;
use crate::names::free_name;
use crate::path::PathTemplate;
use crate::schema::{Direction, Lowerer, clean};
use crate::server;
use crate::source::{
    FieldEncoding, Location, Method, SourceBody, SourceOperation, SourceParameter, format_of,
    is_media_type,
};
use crate::value_kind::{ValueKind, kind_of, style};

/// An operation as a tool, and the implementation that sends its request.
pub(crate) struct Operation {
    pub(crate) tool: ToolSchema,
    pub(crate) call: Implementation,
    pub(crate) url: String,
    /// Whether it works without a secret.
    pub(crate) is_public: bool,
}

/// Makes a tool of an operation.
pub(crate) fn build(
    source: &SourceOperation<'_>,
    name: &str,
    server: Option<&str>,
    lowerer: &mut Lowerer<'_>,
) -> Operation {
    lowerer.place = source.place();
    let template = PathTemplate::parse(&source.path);
    if let Some(expression) = &template.unsupported {
        lowerer.note(&format!("`{expression}` in the path is not supported and left out"));
    }
    let parameters = declared_parameters(source, &template, lowerer);
    let mut builder = Builder {
        method: source.method,
        lowerer,
        properties: Map::new(),
        required: Vec::new(),
        open: None,
        places: Vec::new(),
        expressions: Vec::new(),
    };
    for parameter in &parameters {
        builder.parameter(parameter);
    }
    let (mut body, headers) = builder.body(source.body.as_ref());
    let Builder { properties, required, open, mut places, expressions, .. } = builder;
    let is_query = |place: &RequestPlace| *place == RequestPlace::at(RequestLocation::Query);
    if !source.method.has_body() || body == BodyFormat::None {
        places.retain(|(_, place)| !is_query(place));
    }
    if !source.method.has_body() && body == BodyFormat::None {
        body = BodyFormat::Json;
    }
    let server =
        server::address(source.server.as_deref(), server, &lowerer.place, &mut lowerer.notes);
    let url = template.url(&server, |name| {
        let known = expressions.iter().find(|(known, _)| known == name);
        known.map_or_else(|| name.to_owned(), |(_, expression)| expression.clone())
    });
    let mut schema = Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Value::Object(properties)),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.extend(open.map(|open| ("additionalProperties".to_owned(), open)));
    let (result, is_bytes, accept) = result(source, lowerer);
    let headers = headers.into_iter().chain(accept.map(|accept| ("Accept", accept)));
    let http = HttpCall { url, body, places, headers: headers.collect(), is_bytes };
    let tool = ToolSchema {
        name: name.into(),
        description: description(source),
        is_deprecated: source.is_deprecated,
        parameters: Value::Object(schema),
        result,
        attributes: effects(source),
        injected: Vec::new(),
    };
    let is_public = source.security.iter().any(Vec::is_empty);
    Operation { tool, call: http.implementation(name, source), url: http.url, is_public }
}

/// The parameters of an operation: those that its path names, and the others.
fn declared_parameters<'d>(
    source: &SourceOperation<'d>,
    template: &PathTemplate,
    lowerer: &mut Lowerer<'_>,
) -> Vec<SourceParameter<'d>> {
    let names = template.names();
    let mut all: Vec<SourceParameter<'d>> = Vec::new();
    for parameter in &source.parameters {
        let in_query = template.in_query.iter().find(|(name, _)| *name == parameter.name);
        if let Some((_, name)) = in_query {
            let name = Cow::Owned(name.clone());
            let location = Location::Request(RequestLocation::Query);
            all.push(SourceParameter { name, location, ..parameter.clone() });
        } else if parameter.location == Location::Path && !names.contains(&&*parameter.name) {
            lowerer.note(&format!(
                "the path does not name the parameter `{}`, which is left out",
                parameter.name
            ));
        } else {
            all.push(parameter.clone());
        }
    }
    for name in names {
        if !all.iter().any(|known| known.location == Location::Path && known.name == name) {
            let schema = Cow::Owned(json!({"type": "string"}));
            let name = Cow::Owned(name.to_owned());
            let is_reserved = source.path.contains(&format!("{{+{name}}}"));
            all.push(SourceParameter {
                operator: if is_reserved { "+" } else { "" },
                ..SourceParameter::new(name, Location::Path, schema, &Value::Null)
            });
        }
    }
    // Those of the path come first and keep their names. Else the order of the document counts.
    all.sort_by_key(|parameter| (!parameter.is_required, parameter.location != Location::Path));
    all
}

struct Builder<'b, 'd> {
    method: Method,
    lowerer: &'b mut Lowerer<'d>,
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The schema of undeclared parameters.
    open: Option<Value>,
    places: Vec<(String, RequestPlace)>,
    /// The parameters of the path, as URI templates name them.
    expressions: Vec<(String, String)>,
}

impl Builder<'_, '_> {
    fn parameter(&mut self, parameter: &SourceParameter<'_>) {
        let mut schema = self.lowerer.schema(&parameter.schema, Direction::Request);
        let kind = kind_of(self.lowerer, &schema);
        if let Value::Object(schema) = &mut schema {
            describe(schema, parameter.description);
            if parameter.is_deprecated {
                schema.insert("deprecated".to_owned(), Value::Bool(true));
            }
            self.lowerer.add_examples(schema, &parameter.examples);
        }
        let name = self.free_name(&parameter.name, parameter.location.name());
        if parameter.is_required {
            self.required.push(name.clone());
        }
        let original = (name != parameter.name).then(|| parameter.name.to_string());
        match parameter.location {
            Location::Path => {
                let is_exploded = parameter.is_exploded && kind != ValueKind::Scalar;
                let after = if is_exploded { "*" } else { "" };
                let expression = format!("{}{name}{after}", parameter.operator);
                self.expressions.push((parameter.name.to_string(), expression));
                let is_delimited = matches!(
                    parameter.style,
                    ValueStyle::SpaceDelimited
                        | ValueStyle::TabDelimited
                        | ValueStyle::PipeDelimited
                );
                if is_delimited && kind == ValueKind::List {
                    let style = Some((parameter.style, false));
                    let place = RequestPlace { style, ..RequestPlace::at(RequestLocation::Path) };
                    self.places.push((name.clone(), place));
                }
            }
            Location::Request(location) => {
                let style = style(location, kind, parameter.style, parameter.is_exploded);
                let place = RequestPlace { name: original, style, ..RequestPlace::at(location) };
                self.places.push((name.clone(), place));
            }
        }
        self.properties.insert(name, schema);
    }

    /// A name that no parameter has yet.
    fn free_name(&self, name: &str, location: &str) -> String {
        free_name(
            [name.to_owned(), format!("{name}_{location}")],
            |number| format!("{name}_{location}{number}"),
            |name| !self.properties.contains_key(name),
        )
    }

    /// Adds the parameters of the body. Returns its format, and headers that it needs.
    fn body(&mut self, body: Option<&SourceBody<'_>>) -> (BodyFormat, Vec<(&'static str, String)>) {
        let Some(body) = body else { return (BodyFormat::None, Vec::new()) };
        let media_type = body.media_type.split(';').next().unwrap_or_default().trim();
        let usual = match body.format {
            BodyFormat::Json => "application/json",
            BodyFormat::Text => "text/plain",
            BodyFormat::Bytes => "application/octet-stream",
            BodyFormat::Form | BodyFormat::Multipart | BodyFormat::None => media_type,
        };
        let is_usual = media_type == usual || media_type.contains('*') || !media_type.contains('/');
        let mut headers = Vec::new();
        if !is_usual && is_media_type(media_type) {
            let is_text = body.format == BodyFormat::Text && media_type.starts_with("text/");
            let charset = if is_text { "; charset=utf-8" } else { "" };
            headers.push(("Content-Type", format!("{media_type}{charset}")));
        } else if !is_usual {
            self.lowerer.note(&format!("`{media_type}` is not a media type and left out"));
        }
        if matches!(body.format, BodyFormat::Text | BodyFormat::Bytes)
            && body.schema.as_deref().is_some_and(|schema| schema.get("properties").is_some())
        {
            self.lowerer.note(&format!("the schema of a body of `{media_type}` is left out"));
        }
        let whole = match (body.format, &body.schema) {
            (BodyFormat::Text, _) => Some(json!({"type": "string"})),
            (BodyFormat::Bytes, _) => Some(json!({"type": "string", "contentEncoding": "base64"})),
            (_, None) => Some(json!({})),
            (_, Some(schema)) => {
                let lowered = self.lowerer.schema(schema, Direction::Request);
                if self.flatten(body, &lowered) { None } else { Some(lowered) }
            }
        };
        if let Some(mut schema) = whole {
            if let Value::Object(schema) = &mut schema {
                describe(schema, body.description);
                self.lowerer.add_examples(schema, body.example.as_slice());
            }
            let name = self.free_name("body", "request");
            if body.is_required {
                self.required.push(name.clone());
            }
            self.places.push((name.clone(), RequestPlace::at(RequestLocation::Body)));
            self.properties.insert(name, schema);
        }
        (body.format, headers)
    }

    /// Makes parameters of the properties of a body, if it is an object with properties. Those of JSON
    /// keep their names, or all of them stay one parameter.
    fn flatten(&mut self, body: &SourceBody<'_>, lowered: &Value) -> bool {
        let resolved = self.lowerer.resolved(lowered).clone();
        let Some(map) = resolved.as_object() else { return false };
        let said = [
            "type",
            "title",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "examples",
            "default",
            "deprecated",
        ];
        // A body of null says no more than one without properties.
        let is_record =
            map.get("type").is_some_and(|ty| *ty == "object" || *ty == json!(["object", "null"]))
                && map.keys().all(|key| said.contains(&key.as_str()));
        let Some(properties) = map.get("properties").and_then(Value::as_object) else {
            return false;
        };
        let required: HashSet<&str> = map
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let is_declared = |name: &&str| properties.contains_key(*name);
        if !is_record || !required.iter().all(is_declared) {
            return false;
        }
        let is_taken = |name: &String| self.properties.contains_key(name);
        if body.format == BodyFormat::Json && properties.keys().any(is_taken) {
            return false;
        }
        // A call without the body would lack them. A form is not sent for nothing.
        if !body.is_required && !required.is_empty() && body.format == BodyFormat::Json {
            return false;
        }
        let open = map.get("additionalProperties");
        // Undeclared arguments would not reach the body.
        if open.is_some_and(|open| *open != Value::Bool(false)) && !self.method.has_body() {
            return false;
        }
        let examples = body.example.and_then(Value::as_object);
        let mut kept: Vec<_> =
            properties.iter().filter(|(_, it)| it.get("readOnly").is_none()).collect();
        kept.sort_by_key(|(name, _)| !required.contains(name.as_str()));
        for (name, schema) in kept {
            let mut schema = schema.clone();
            let kind = kind_of(self.lowerer, &schema);
            if let Value::Object(schema) = &mut schema {
                if let Some(example) = examples.and_then(|examples| examples.get(name))
                    && !schema.contains_key("examples")
                {
                    self.lowerer.add_examples(schema, &[example]);
                }
                if self.method == Method::Patch {
                    keep_out_default(schema);
                }
            }
            let is_bytes = body.format == BodyFormat::Multipart && as_bytes(&mut schema);
            let encoding = body.encodings.iter().find(|it| it.name == name);
            let style = encoding.and_then(|FieldEncoding { style, is_exploded, .. }| {
                let is_structured = !matches!(kind, ValueKind::Scalar);
                (is_structured && (*style, *is_exploded) != (ValueStyle::Form, true))
                    .then_some((*style, *is_exploded))
            });
            // Lists and objects are sent as JSON, whatever else is declared.
            let is_json = kind == ValueKind::Other && !is_bytes;
            let media_type = encoding.and_then(|it| it.media_type);
            let media_type =
                media_type.filter(|it| *it != "application/json" || kind == ValueKind::Scalar);
            let media_type = media_type.filter(|it| !is_json || format_of(it) == BodyFormat::Json);
            let free = self.free_name(name, "body");
            let original = (free != *name).then(|| name.clone());
            let place = RequestPlace {
                name: original,
                style,
                is_bytes,
                media_type: media_type.map(str::to_owned),
                ..RequestPlace::at(RequestLocation::Field)
            };
            if !self.method.has_body() || place != RequestPlace::at(RequestLocation::Field) {
                self.places.push((free.clone(), place));
            }
            if required.contains(name.as_str()) {
                self.required.push(free.clone());
            }
            self.properties.insert(free, schema);
        }
        self.open = open.cloned();
        true
    }
}

/// Says a default in the description: a server changes what a `PATCH` sends, so that a default must not
/// be sent by itself.
fn keep_out_default(schema: &mut Map<String, Value>) {
    let Some(default) = schema.shift_remove("default") else { return };
    let own = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = format!("{own}\nDefault: {default}").trim().to_owned();
    schema.insert("description".to_owned(), text.into());
}

/// Makes a text in a form bytes, if it is a file. Returns whether it is.
fn as_bytes(schema: &mut Value) -> bool {
    let Some(map) = schema.as_object_mut() else { return false };
    if let Some(items) = map.get_mut("items") {
        return as_bytes(items);
    }
    let is_text = map.get("type").is_some_and(|ty| ty == "string");
    if is_text && map.get("format").is_some_and(|format| format == "binary") {
        map.shift_remove("format");
        map.insert("contentEncoding".to_owned(), "base64".into());
    }
    is_text && map.contains_key("contentEncoding")
}

/// Adds the description of a parameter to that of its schema.
fn describe(schema: &mut Map<String, Value>, text: Option<&str>) {
    let Some(text) = text.map(clean).filter(|text| !text.is_empty()) else { return };
    let members = schema.get("description").and_then(Value::as_str);
    let members = members.and_then(|own| own.strip_prefix("One of:\n"));
    let text = members.map_or_else(|| text.clone(), |members| format!("{text}\n{members}"));
    schema.insert("description".to_owned(), text.into());
}

/// What an operation does to the world: as it says, or as its method does.
fn effects(source: &SourceOperation<'_>) -> Vec<(SmolStr, Value)> {
    if let Some(annotations) = source.annotations {
        let hints = annotations.iter().filter_map(|(key, value)| {
            let name = key.strip_suffix("Hint").filter(|_| value.is_boolean())?;
            let is_known = ["readOnly", "destructive", "idempotent", "openWorld"].contains(&name);
            is_known.then(|| (name.into(), value.clone()))
        });
        return hints.collect();
    }
    let names: &[&str] = match source.method {
        method if method.is_safe() => &["readOnly"],
        Method::Delete => &["destructive", "idempotent"],
        Method::Put => &["idempotent"],
        _ => &[],
    };
    names.iter().map(|name| ((*name).into(), Value::Bool(true))).collect()
}

fn description(source: &SourceOperation<'_>) -> Option<String> {
    let [summary, description] = [source.summary, source.description].map(|text| text.map(clean));
    let text = match (summary, description) {
        (Some(summary), Some(description)) => {
            let plain = summary.trim_end_matches('.').to_lowercase();
            if description.to_lowercase().starts_with(&plain) {
                description
            } else {
                format!("{summary}\n\n{description}")
            }
        }
        (Some(text), None) | (None, Some(text)) => text,
        (None, None) => {
            let of_body = source.body.as_ref().and_then(|body| body.description);
            return of_body.map(clean).or_else(|| Some(source.place())).filter(|it| !it.is_empty());
        }
    };
    Some(text).filter(|text| !text.is_empty())
}

/// The result of an operation, whether it is bytes, and what the request accepts.
fn result(
    source: &SourceOperation<'_>,
    lowerer: &mut Lowerer<'_>,
) -> (Option<Value>, bool, Option<String>) {
    if source.method == Method::Head {
        return (Some(json!({"type": "null"})), false, None);
    }
    let mut members: Vec<Value> = Vec::new();
    let has = |format: &BodyFormat| source.responses.iter().any(|it| it.format == *format);
    let is_bytes = has(&BodyFormat::Bytes) && !has(&BodyFormat::Json) && !has(&BodyFormat::Text);
    let (mut is_open, mut accept) = (false, None);
    for response in &source.responses {
        let schema = match (response.format, &response.schema) {
            (BodyFormat::None, _) => json!({"type": "null"}),
            (BodyFormat::Json, Some(schema)) => lowerer.schema(schema, Direction::Response),
            (BodyFormat::Bytes, _) if is_bytes => {
                json!({"type": "string", "contentEncoding": "base64"})
            }
            (
                BodyFormat::Bytes | BodyFormat::Text | BodyFormat::Form | BodyFormat::Multipart,
                _,
            ) => {
                json!({"type": "string"})
            }
            (BodyFormat::Json, None) => json!({}),
        };
        let media_type = response.media_type.split(';').next().unwrap_or_default().trim();
        if response.is_second_choice && is_media_type(media_type) {
            accept.get_or_insert_with(|| response.media_type.trim().to_owned());
        }
        is_open |= schema == json!({});
        if !members.contains(&schema) {
            members.push(schema);
        }
    }
    let is_only_null = members.iter().all(|member| *member == json!({"type": "null"}));
    let result = match members.len() {
        0 => None,
        _ if is_open => None,
        // A document that describes no content often only leaves it out.
        1 if is_only_null && source.responses.iter().all(|it| it.schema.is_none()) => None,
        1 => members.pop(),
        _ => Some(json!({"anyOf": members})),
    };
    (result, is_bytes, accept)
}
