//! Reads documents of Google Discovery.

use std::borrow::Cow;

use gramc_model::RequestLocation;
use serde_json::{Value, json};

use crate::document::{Document, entries, flag, text};
use crate::notes::Notes;
use crate::source::{
    Location, Method, Source, SourceBody, SourceOperation, SourceParameter, SourceResponse,
    SourceScheme,
};

/// The name of the only security scheme.
const OAUTH: &str = "accessToken";

pub(super) fn read<'d>(document: &Document<'d>, notes: &mut Notes) -> Source<'d> {
    let root = document.root;
    let mut source =
        Source { title: text(root, "name").or_else(|| text(root, "title")), ..Source::default() };
    let has_oauth = root.pointer("/auth/oauth2").is_some();
    if has_oauth {
        source.schemes.push((OAUTH, SourceScheme::Bearer));
    }
    if entries(root, "parameters").next().is_some() {
        notes.add("the parameters of all methods, such as `fields`, are left out", "parameters");
    }
    let reader = Reader { server: server(root), has_oauth };
    reader.resource(root, &[], &mut source.operations, notes);
    source
}

fn server(root: &Value) -> Option<String> {
    match text(root, "rootUrl") {
        Some(base) => Some(format!("{base}{}", text(root, "servicePath").unwrap_or_default())),
        None => text(root, "baseUrl").map(str::to_owned),
    }
}

struct Reader {
    server: Option<String>,
    has_oauth: bool,
}

impl Reader {
    /// The methods of a resource and of the resources in it. `names` are those of the resources.
    fn resource<'d>(
        &self,
        resource: &'d Value,
        names: &[&'d str],
        operations: &mut Vec<SourceOperation<'d>>,
        notes: &mut Notes,
    ) {
        for (_, method) in entries(resource, "methods") {
            operations.extend(self.method(method, names, notes));
        }
        for (name, inner) in entries(resource, "resources") {
            let names = [names, &[name.as_str()]].concat();
            self.resource(inner, &names, operations, notes);
        }
    }

    fn method<'d>(
        &self,
        method: &'d Value,
        names: &[&'d str],
        notes: &mut Notes,
    ) -> Option<SourceOperation<'d>> {
        let id = text(method, "id").unwrap_or_default();
        let Some(verb) = text(method, "httpMethod").and_then(Method::of) else {
            notes.add("the method has no HTTP method and is left out", id);
            return None;
        };
        let path = text(method, "path").or_else(|| text(method, "flatPath"))?;
        if flag(method, "supportsMediaUpload") {
            notes.add("the upload of media is left out", id);
        }
        if flag(method, "supportsMediaDownload") {
            notes.add("the download of media is left out", id);
        }
        let parameters = entries(method, "parameters");
        let parameters = parameters.map(|(name, parameter)| parameter_of(name, parameter, path));
        let body = method.get("request").map(|request| SourceBody {
            media_type: "application/json",
            schema: Some(reference(request)),
            ..SourceBody::default()
        });
        let response = method.get("response").map_or_else(
            || super::no_content(""),
            |response| SourceResponse {
                media_type: "application/json",
                schema: Some(reference(response)),
                ..SourceResponse::default()
            },
        );
        // The name of the API says nothing within it.
        let short = id.split_once('.').map_or(id, |(_, rest)| rest);
        Some(SourceOperation {
            id: Some(short).filter(|id| !id.is_empty()),
            method: verb,
            server: self.server.clone(),
            path: path.to_owned(),
            tags: names.first().copied().into_iter().collect(),
            summary: None,
            description: text(method, "description"),
            is_deprecated: flag(method, "deprecated"),
            pages: None,
            annotations: None,
            parameters: parameters.collect(),
            body,
            responses: vec![response],
            security: if self.has_oauth && method.get("scopes").is_some() {
                vec![vec![(OAUTH, Vec::new())]]
            } else {
                Vec::new()
            },
        })
    }
}

/// The schema of a request or a response, which may have more keys than a reference.
fn reference(of: &Value) -> Cow<'_, Value> {
    match of.get("$ref") {
        Some(target) => Cow::Owned(json!({"$ref": target})),
        None => Cow::Borrowed(of),
    }
}

fn parameter_of<'d>(name: &'d str, parameter: &'d Value, path: &str) -> SourceParameter<'d> {
    let is_repeated = flag(parameter, "repeated");
    let mut item = parameter.clone();
    if let Value::Object(map) = &mut item {
        for key in ["required", "location", "repeated", "description", "deprecated", "annotations"]
        {
            map.shift_remove(key);
        }
    }
    let schema = if is_repeated { json!({"type": "array", "items": item}) } else { item };
    let location = match text(parameter, "location") {
        Some("path") => Location::Path,
        _ => Location::Request(RequestLocation::Query),
    };
    SourceParameter {
        operator: if path.contains(&format!("{{+{name}}}")) { "+" } else { "" },
        ..SourceParameter::new(Cow::Borrowed(name), location, Cow::Owned(schema), parameter)
    }
}
