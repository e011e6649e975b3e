//! An operation as its document describes it, before its schemas are converted.
//!
//! The readers of all kinds of documents produce this; the rest of the crate does not know which
//! kind a document is of.

use std::borrow::Cow;

use gramc_model::{BodyFormat, RequestLocation, ValueStyle};
use serde_json::{Map, Value};

use crate::document::{flag, text};

/// An HTTP method of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
    Trace,
}

impl Method {
    pub(crate) const ALL: [Self; 8] = [
        Self::Get,
        Self::Head,
        Self::Post,
        Self::Put,
        Self::Patch,
        Self::Delete,
        Self::Options,
        Self::Trace,
    ];

    /// Its name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Trace => "TRACE",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(name))
    }

    /// Whether a request has a body unless it is declared otherwise.
    pub(crate) fn has_body(self) -> bool {
        gramc_model::has_body(self.name())
    }

    /// Whether it changes nothing by definition.
    pub(crate) const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Trace)
    }

    /// Whether sending a request twice is the same as sending it once.
    pub(crate) const fn is_idempotent(self) -> bool {
        self.is_safe() || matches!(self, Self::Put | Self::Delete)
    }
}

/// The part of a request that a parameter outside of the body belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Location {
    /// The path of the URL.
    Path,
    Request(RequestLocation),
}

impl Location {
    /// Its name in a document.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Request(location) => location.name(),
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "path" => Some(Self::Path),
            "query" | "querystring" => Some(Self::Request(RequestLocation::Query)),
            "header" => Some(Self::Request(RequestLocation::Header)),
            "cookie" => Some(Self::Request(RequestLocation::Cookie)),
            _ => None,
        }
    }
}

/// The style of values with a name in a document.
pub(crate) fn style_of(name: &str) -> Option<ValueStyle> {
    ValueStyle::ALL.into_iter().find(|style| style.name() == name)
}

/// Whether lists and objects are exploded unless a document says otherwise.
pub(crate) const fn explodes(style: ValueStyle) -> bool {
    matches!(style, ValueStyle::Form | ValueStyle::DeepObject)
}

/// A parameter outside of the body.
#[derive(Debug, Clone)]
pub(crate) struct SourceParameter<'d> {
    pub(crate) name: Cow<'d, str>,
    pub(crate) location: Location,
    pub(crate) is_required: bool,
    pub(crate) schema: Cow<'d, Value>,
    pub(crate) description: Option<&'d str>,
    pub(crate) is_deprecated: bool,
    pub(crate) examples: Vec<&'d Value>,
    pub(crate) style: ValueStyle,
    pub(crate) is_exploded: bool,
    /// The operator of URI templates for a parameter of the path.
    pub(crate) operator: &'static str,
}

impl<'d> SourceParameter<'d> {
    /// A parameter with the usual style of its location, and with the keys that all kinds of documents
    /// have.
    pub(crate) fn new(
        name: Cow<'d, str>,
        location: Location,
        schema: Cow<'d, Value>,
        parameter: &'d Value,
    ) -> Self {
        let style = match location {
            Location::Path | Location::Request(RequestLocation::Header) => ValueStyle::Simple,
            Location::Request(_) => ValueStyle::Form,
        };
        Self {
            name,
            location,
            is_required: flag(parameter, "required") || location == Location::Path,
            schema,
            description: text(parameter, "description"),
            is_deprecated: flag(parameter, "deprecated"),
            examples: Vec::new(),
            style,
            is_exploded: explodes(style),
            operator: "",
        }
    }
}

/// Whether a text is one media type. Attributes of a library may name variables and files, `env:NAME` and
/// `file:PATH`; no media type looks like that.
pub(crate) fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$&^_.+-".contains(c);
        !part.is_empty() && part.chars().all(is_token)
    };
    text.split_once('/').is_some_and(|(kind, format)| is_token(kind) && is_token(format))
}

/// The format of a media type. Formats are preferred in the order of the enum. JSON in lines is text.
pub(crate) fn format_of(media_type: &str) -> BodyFormat {
    let name = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match name.as_str() {
        "application/json" | "*/*" | "application/*" | "text/json" | "text/x-json" | "json" => {
            BodyFormat::Json
        }
        "application/x-www-form-urlencoded" => BodyFormat::Form,
        "application/xml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/graphql"
        | "application/x-ndjson"
        | "application/jsonl"
        | "application/x-jsonlines"
        | "application/javascript"
        | "application/sql" => BodyFormat::Text,
        name if name.starts_with("multipart/") => BodyFormat::Multipart,
        name if name.ends_with("+json") => BodyFormat::Json,
        name if name.starts_with("text/") || name.ends_with("+xml") || name.ends_with("+yaml") => {
            BodyFormat::Text
        }
        _ => BodyFormat::Bytes,
    }
}

/// A body of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceBody<'d> {
    pub(crate) format: BodyFormat,
    pub(crate) media_type: &'d str,
    pub(crate) schema: Option<Cow<'d, Value>>,
    pub(crate) is_required: bool,
    pub(crate) description: Option<&'d str>,
    pub(crate) example: Option<&'d Value>,
    pub(crate) encodings: Vec<FieldEncoding<'d>>,
}

/// How a field of a form becomes text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldEncoding<'d> {
    pub(crate) name: &'d str,
    pub(crate) style: ValueStyle,
    pub(crate) is_exploded: bool,
    /// The content type of its part in a multipart body.
    pub(crate) media_type: Option<&'d str>,
}

/// The content of a successful response.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceResponse<'d> {
    pub(crate) format: BodyFormat,
    pub(crate) media_type: &'d str,
    pub(crate) schema: Option<Cow<'d, Value>>,
    /// Whether the server would prefer another media type.
    pub(crate) is_second_choice: bool,
}

#[derive(Debug)]
pub(crate) struct SourceOperation<'d> {
    pub(crate) id: Option<&'d str>,
    pub(crate) method: Method,
    /// The URL of the server, which may be relative.
    pub(crate) server: Option<String>,
    pub(crate) path: String,
    pub(crate) tags: Vec<&'d str>,
    pub(crate) summary: Option<&'d str>,
    pub(crate) description: Option<&'d str>,
    pub(crate) is_deprecated: bool,
    /// The keys of the items and of the URL of the next page in an answer.
    pub(crate) pages: Option<(&'d str, &'d str)>,
    /// The annotations of MCP.
    pub(crate) annotations: Option<&'d Map<String, Value>>,
    pub(crate) parameters: Vec<SourceParameter<'d>>,
    pub(crate) body: Option<SourceBody<'d>>,
    pub(crate) responses: Vec<SourceResponse<'d>>,
    /// The alternatives of security schemes. An empty one makes the others optional.
    pub(crate) security: Vec<Vec<SchemeUse<'d>>>,
}

impl SourceOperation<'_> {
    /// Its place, for messages.
    pub(crate) fn place(&self) -> String {
        format!("{} {}", self.method.name(), self.path)
    }
}

/// The name of a security scheme, with the scopes that an operation needs.
pub(crate) type SchemeUse<'d> = (&'d str, Vec<&'d str>);

/// A security scheme that a library can say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SourceScheme {
    /// A token after `Bearer`.
    Bearer,
    /// A user and a password.
    Basic,
    /// The credentials of a client, for which a URL gives an access token.
    ClientCredentials(String),
    /// A value in a header, the query or a cookie.
    Key(RequestLocation, String),
    /// Another one, by its kind.
    Unknown(String),
}

/// All that a document describes.
#[derive(Debug, Default)]
pub(crate) struct Source<'d> {
    pub(crate) title: Option<&'d str>,
    pub(crate) operations: Vec<SourceOperation<'d>>,
    pub(crate) tags: Vec<(&'d str, Option<&'d str>)>,
    pub(crate) schemes: Vec<(&'d str, SourceScheme)>,
}
