//! Where the arguments of a call go in an HTTP request.

use std::fmt;

use serde_json::Value;

use crate::attributes::ValueType;

/// The part of a request that an argument goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestLocation {
    /// The query of the URL.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// The path of the URL, which names the argument.
    Path,
    /// A property of the body.
    Field,
    /// The whole body.
    Body,
    /// The header `Authorization`, after `Bearer`.
    Bearer,
    /// The header `Authorization`, after `Basic` and in base64.
    Basic,
    /// The header `Authorization`, as an access token that its name, a URL, gives for it.
    OAuth,
}

impl RequestLocation {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Query,
        Self::Header,
        Self::Cookie,
        Self::Path,
        Self::Field,
        Self::Body,
        Self::Bearer,
        Self::Basic,
        Self::OAuth,
    ];

    /// Its name in a library.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
            Self::Path => "path",
            Self::Field => "field",
            Self::Body => "body",
            Self::Bearer => "bearer",
            Self::Basic => "basic",
            Self::OAuth => "oauth",
        }
    }
}

/// The format of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum BodyFormat {
    /// JSON.
    #[default]
    Json,
    /// `application/x-www-form-urlencoded`
    Form,
    /// `multipart/form-data`
    Multipart,
    /// Text of any other kind.
    Text,
    /// Bytes.
    Bytes,
    /// No body.
    None,
}

impl BodyFormat {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Json, Self::Form, Self::Multipart, Self::Text, Self::Bytes, Self::None];

    /// Its name in a library.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Form => "form",
            Self::Multipart => "multipart",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::None => "none",
        }
    }
}

/// Whether a request with this method has a body even if none of its arguments is declared to go
/// there.
pub fn has_body(method: &str) -> bool {
    !matches!(method, "GET" | "HEAD" | "DELETE" | "OPTIONS" | "TRACE")
}

/// How a list or an object becomes text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueStyle {
    /// Separated by commas; exploded, it repeats the name, and an object has its own names.
    Form,
    /// Separated by commas.
    Simple,
    /// Separated by spaces.
    SpaceDelimited,
    /// Separated by tabs.
    TabDelimited,
    /// Separated by `|`.
    PipeDelimited,
    /// `name[key]=value`
    DeepObject,
    /// JSON text.
    Json,
}

impl ValueStyle {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Form,
        Self::Simple,
        Self::SpaceDelimited,
        Self::TabDelimited,
        Self::PipeDelimited,
        Self::DeepObject,
        Self::Json,
    ];

    /// Its name, which is that of `OpenAPI` where that has one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Simple => "simple",
            Self::SpaceDelimited => "spaceDelimited",
            Self::TabDelimited => "tabDelimited",
            Self::PipeDelimited => "pipeDelimited",
            Self::DeepObject => "deepObject",
            Self::Json => "json",
        }
    }
}

/// Where an argument goes: `query`, `header X-Request-Id`, `query filter; deepObject`.
///
/// ```
/// use gramc_model::{RequestLocation, RequestPlace, ValueStyle};
///
/// let place = RequestPlace::parse("query ids[]; form*").unwrap();
/// assert_eq!(place.location, RequestLocation::Query);
/// assert_eq!(place.name.as_deref(), Some("ids[]"));
/// assert_eq!(place.style, Some((ValueStyle::Form, true)));
/// assert_eq!(place.to_string(), "query ids[]; form*");
/// assert_eq!(RequestPlace::parse("body; csv"), None);
///
/// let place = RequestPlace::parse("field; bytes; image/png").unwrap();
/// assert_eq!(place.media_type.as_deref(), Some("image/png"));
///
/// let place = RequestPlace::parse("oauth https://example.com/token; scope=read write").unwrap();
/// assert_eq!(place.token_fields, [("scope".to_owned(), "read write".to_owned())]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestPlace {
    /// The part of the request.
    pub location: RequestLocation,
    /// The name there, if it is not that of the argument.
    pub name: Option<String>,
    /// How a list or an object becomes text, and whether it is exploded.
    pub style: Option<(ValueStyle, bool)>,
    /// Whether the argument is base64 of the bytes to send.
    pub is_bytes: bool,
    /// The content type of a part of a multipart body.
    pub media_type: Option<String>,
    /// Further fields of the request for an access token, such as `scope` and `audience`.
    pub token_fields: Vec<(String, String)>,
}

impl RequestPlace {
    /// A place without a name and a style.
    pub fn at(location: RequestLocation) -> Self {
        Self {
            location,
            name: None,
            style: None,
            is_bytes: false,
            media_type: None,
            token_fields: Vec::new(),
        }
    }

    /// Reads a place.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let first = parts.next()?;
        let (location, name) = first.split_once(' ').map_or((first, ""), |(a, b)| (a, b.trim()));
        let location = RequestLocation::ALL.into_iter().find(|known| known.name() == location)?;
        let mut place = Self::at(location);
        if !name.is_empty() {
            place.name = Some(unescape(name));
        }
        if location == RequestLocation::OAuth {
            ValueType::Url.accepts(&Value::from(place.name.as_deref()?)).then_some(())?;
            for field in parts {
                let (name, value) = field.split_once('=')?;
                place.token_fields.push((unescape(name), unescape(value)));
            }
            return Some(place);
        }
        for option in parts {
            if option == "bytes" {
                place.is_bytes = true;
                continue;
            }
            if option.contains('/') {
                place.media_type = Some(option.to_owned());
                continue;
            }
            let (name, is_exploded) =
                option.strip_suffix('*').map_or((option, false), |name| (name, true));
            let style = ValueStyle::ALL.into_iter().find(|known| known.name() == name)?;
            place.style = Some((style, is_exploded));
        }
        Some(place)
    }
}

impl fmt::Display for RequestPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.location.name())?;
        if let Some(name) = &self.name {
            write!(f, " {}", escape(name))?;
        }
        for (name, value) in &self.token_fields {
            write!(f, "; {}={}", escape(name), escape(value))?;
        }
        if let Some((style, is_exploded)) = self.style {
            write!(f, "; {}{}", style.name(), if is_exploded { "*" } else { "" })?;
        }
        if self.is_bytes {
            f.write_str("; bytes")?;
        }
        if let Some(media_type) = &self.media_type {
            write!(f, "; {media_type}")?;
        }
        Ok(())
    }
}

/// The text without the characters that have a meaning here.
fn escape(text: &str) -> String {
    text.replace('%', "%25").replace(';', "%3B")
}

fn unescape(name: &str) -> String {
    name.replace("%3B", ";").replace("%25", "%")
}
