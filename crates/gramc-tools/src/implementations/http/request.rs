//! The request of a call: which argument goes where.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use gramc_model::{BodyFormat, RequestLocation as Location, RequestPlace, ValueStyle};
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::access_token::ClientCredentials;
use super::multipart::Multipart;
use super::values::{Style, add_pairs, cookie, header_text, join_parts, text};

/// Why a request cannot be made of the arguments.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestError {
    #[error("`{0}` is not base64")]
    Base64(String),
    #[error("the value of `{0}` cannot be sent in a header")]
    Header(String),
    #[error("`{0}` is not the name of a header")]
    HeaderName(String),
    #[error("`{0}` is not a text")]
    Text(String),
    #[error(
        "the value of `{0}` is not the ID and the secret of a client, with a colon between them"
    )]
    Credentials(String),
    #[error("the place of `{0}` has no valid URL")]
    TokenUrl(String),
}

/// Where the arguments of all calls go.
#[derive(Debug, Clone)]
pub(super) struct RequestPlan {
    places: Vec<ArgumentPlace>,
    body: BodyFormat,
    /// Whether arguments without a place are in the query.
    rest_in_query: bool,
    /// Whether every request has a body.
    has_body: bool,
}

#[derive(Debug, Clone)]
pub(super) struct ArgumentPlace {
    pub(super) argument: String,
    pub(super) place: RequestPlace,
    /// Whether this only concerns a value that the library injects: a model must not choose it.
    pub(super) is_injected: bool,
}

/// A request without its URL path and method.
#[derive(Default)]
pub(super) struct RequestParts {
    pub(super) query: String,
    /// The part of the query that the library injects.
    pub(super) injected_query: String,
    pub(super) headers: HeaderMap,
    /// What the access token is requested with.
    pub(super) credentials: Option<ClientCredentials>,
    /// The content type and the body.
    pub(super) body: Option<(String, Vec<u8>)>,
}

/// A property of a body.
struct BodyField<'p> {
    name: String,
    value: Value,
    place: Option<&'p RequestPlace>,
}

impl BodyField<'_> {
    fn style(&self) -> Style {
        self.place.and_then(|place| place.style)
    }
}

impl RequestPlan {
    pub(super) fn new(method: &Method, body: BodyFormat, places: Vec<ArgumentPlace>) -> Self {
        let in_query = !gramc_model::has_body(method.as_str());
        let is_of_body =
            |it: &ArgumentPlace| matches!(it.place.location, Location::Field | Location::Body);
        let whole = places.iter().any(|it| it.place.location == Location::Body);
        let has_body =
            body != BodyFormat::None && (!in_query || places.iter().any(is_of_body)) && !whole;
        Self { places, body, rest_in_query: in_query || body == BodyFormat::None, has_body }
    }

    /// Whether all arguments are the properties of a JSON body.
    pub(super) fn is_plain_json(&self) -> bool {
        self.places.is_empty() && self.body == BodyFormat::Json && !self.rest_in_query
    }

    /// Joins the lists that go to the path in another style than those of URI templates.
    pub(super) fn join_lists_of_path(&self, arguments: &mut Map<String, Value>) {
        for ArgumentPlace { argument, place, .. } in &self.places {
            if place.location == Location::Path
                && let Some(value) = arguments.get_mut(argument)
                && let Some(text) = join_parts(value, place.style)
            {
                *value = text.into();
            }
        }
    }

    /// The places of the arguments that the path has not taken. `hidden` are those that the library
    /// injects.
    pub(super) fn parts(
        &self,
        arguments: Map<String, Value>,
        hidden: &[SmolStr],
    ) -> Result<RequestParts, RequestError> {
        let mut parts = RequestParts::default();
        let mut cookies = Vec::new();
        let mut fields = Vec::new();
        let mut whole = None;
        for (argument, value) in arguments {
            let is_hidden = hidden.iter().any(|name| *name == argument);
            let is_meant =
                |it: &&ArgumentPlace| it.argument == argument && (is_hidden || !it.is_injected);
            let place = self.places.iter().find(is_meant).map(|it| &it.place);
            let usual = if self.rest_in_query { Location::Query } else { Location::Field };
            let location = place.map_or(usual, |place| place.location);
            let style = place.and_then(|place| place.style);
            let name =
                place.and_then(|place| place.name.clone()).unwrap_or_else(|| argument.clone());
            // Null only means something in a body of JSON.
            if value.is_null() && !matches!(location, Location::Field | Location::Body) {
                continue;
            }
            let header = |value: String| {
                let mut value = HeaderValue::try_from(value)
                    .map_err(|_| RequestError::Header(argument.clone()))?;
                value.set_sensitive(true);
                Ok(value)
            };
            match location {
                Location::Query => {
                    add_pairs(&mut parts.query, &name, &value, style);
                    if is_hidden {
                        add_pairs(&mut parts.injected_query, &name, &value, style);
                    }
                }
                Location::Header => {
                    let key = HeaderName::try_from(&name)
                        .map_err(|_| RequestError::HeaderName(name.clone()))?;
                    parts.headers.insert(key, header(header_text(&value, style))?);
                }
                Location::Cookie => cookies.push(cookie(&name, &value, style)),
                Location::Bearer => {
                    let value = header(format!("Bearer {}", text(&value)))?;
                    parts.headers.insert(AUTHORIZATION, value);
                }
                Location::Basic => {
                    let value = header(format!("Basic {}", STANDARD.encode(text(&value))))?;
                    parts.headers.insert(AUTHORIZATION, value);
                }
                Location::OAuth => {
                    let place = place.ok_or_else(|| RequestError::TokenUrl(argument.clone()))?;
                    let credentials = ClientCredentials::new(place, &argument, &text(&value))?;
                    parts.credentials = Some(credentials);
                }
                // The path does not name it.
                Location::Path => {}
                Location::Field => fields.push(BodyField { name, value, place }),
                Location::Body => whole = Some((argument, value)),
            }
        }
        if !cookies.is_empty() {
            let value = HeaderValue::try_from(cookies.join("; "));
            let mut value = value.map_err(|_| RequestError::Header("cookie".to_owned()))?;
            value.set_sensitive(true);
            parts.headers.insert(COOKIE, value);
        }
        parts.body = match whole {
            Some((argument, value)) => Some(self.whole_body(&argument, value)?),
            None if self.has_body => Some(self.body_of(&fields)?),
            None => None,
        };
        Ok(parts)
    }

    /// The body that is one argument.
    fn whole_body(&self, argument: &str, value: Value) -> Result<(String, Vec<u8>), RequestError> {
        let body = match self.body {
            BodyFormat::Json | BodyFormat::None => {
                ("application/json", value.to_string().into_bytes())
            }
            BodyFormat::Text => ("text/plain; charset=utf-8", text(&value).into_bytes()),
            BodyFormat::Bytes => ("application/octet-stream", bytes(argument, &value)?),
            BodyFormat::Form | BodyFormat::Multipart => {
                let fields = match value {
                    Value::Object(fields) => fields,
                    other => Map::from_iter([(argument.to_owned(), other)]),
                };
                let fields = fields.into_iter();
                let fields = fields.map(|(name, value)| BodyField { name, value, place: None });
                return self.body_of(&fields.collect::<Vec<_>>());
            }
        };
        Ok((body.0.to_owned(), body.1))
    }

    fn body_of(&self, fields: &[BodyField<'_>]) -> Result<(String, Vec<u8>), RequestError> {
        match self.body {
            BodyFormat::Form => {
                let mut form = String::new();
                for field in fields {
                    add_pairs(&mut form, &field.name, &field.value, field.style());
                }
                Ok(("application/x-www-form-urlencoded".to_owned(), form.into_bytes()))
            }
            BodyFormat::Multipart => {
                let mut multipart = Multipart::new();
                for field in fields {
                    let BodyField { name, value, place } = field;
                    let media_type = place.and_then(|place| place.media_type.as_deref());
                    if let Some(text) = join_parts(value, field.style()) {
                        let is_json = field.style().is_some_and(|it| it.0 == ValueStyle::Json);
                        let media_type = media_type.or(is_json.then_some("application/json"));
                        multipart.add(name, &text.into(), media_type);
                        continue;
                    }
                    let values = match value {
                        Value::Null => &[],
                        Value::Array(items) => items.as_slice(),
                        value => std::slice::from_ref(value),
                    };
                    for value in values {
                        if place.is_some_and(|place| place.is_bytes) {
                            multipart.add_file(name, &bytes(name, value)?, media_type);
                        } else {
                            multipart.add(name, value, media_type);
                        }
                    }
                }
                Ok(multipart.finish())
            }
            _ => {
                let fields = fields.iter().map(|it| (it.name.clone(), it.value.clone()));
                let body = Value::Object(fields.collect()).to_string();
                Ok(("application/json".to_owned(), body.into_bytes()))
            }
        }
    }
}

pub(super) fn add_query(url: &mut Url, query: &str) {
    if query.is_empty() {
        return;
    }
    let query = match url.query().filter(|known| !known.is_empty()) {
        Some(known) => format!("{known}&{query}"),
        None => query.to_owned(),
    };
    url.set_query(Some(&query));
}

/// The bytes of a value in base64, of any kind.
fn bytes(argument: &str, value: &Value) -> Result<Vec<u8>, RequestError> {
    let text = value.as_str().ok_or_else(|| RequestError::Text(argument.to_owned()))?;
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
        .iter()
        .find_map(|engine| engine.decode(text).ok())
        .ok_or_else(|| RequestError::Base64(argument.to_owned()))
}
