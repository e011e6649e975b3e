//! A description of an API, as tools and the calls behind them.

use gram_model::{BodyFormat, RequestLocation, RequestPlace};
use serde_json::{Map, Value};
use smol_str::SmolStr;

pub use crate::source::Method;

/// An API.
#[derive(Debug, Clone, Default)]
pub struct Api {
    /// Its name as an identifier, such as `petstore`.
    pub name: SmolStr,
    /// Its operations, in the order of the document.
    pub operations: Vec<Operation>,
    /// The schemas that those of the operations refer to as `#/$defs/NAME`.
    pub definitions: Map<String, Value>,
    /// The tags of the operations with their descriptions.
    pub tags: Vec<(SmolStr, Option<String>)>,
    /// The secrets that requests need.
    pub secrets: Vec<Secret>,
    /// Sentences about what was left out or changed.
    pub notes: Vec<String>,
}

/// An operation as a tool.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The name of the tool.
    pub name: SmolStr,
    /// What it does.
    pub description: Option<String>,
    /// Whether it should no longer be used.
    pub is_deprecated: bool,
    /// What it does to the world: attributes such as `readOnly`.
    pub effects: Vec<(SmolStr, Value)>,
    /// The schema of the parameters: an object with `properties`.
    pub parameters: Map<String, Value>,
    /// The schema of the result, if the document says anything about it.
    pub result: Option<Value>,
    /// The request that runs it.
    pub http: HttpCall,
    /// Its tags.
    pub tags: Vec<SmolStr>,
    /// The parameters of [`Api::secrets`] that it needs.
    pub secrets: Vec<SmolStr>,
}

/// The request of an operation.
#[derive(Debug, Clone)]
pub struct HttpCall {
    /// The method.
    pub method: Method,
    /// The URL, whose path names parameters in braces.
    pub url: String,
    /// The format of the body.
    pub body: BodyFormat,
    /// Where parameters go that do not go where the method implies.
    pub places: Vec<(String, RequestPlace)>,
    /// Headers with their values.
    pub headers: Vec<(&'static str, String)>,
    /// Whether the answer is bytes.
    pub is_bytes: bool,
}

/// A secret that requests need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The parameter of the tools.
    pub parameter: SmolStr,
    /// What it is, for people.
    pub description: String,
    /// The environment variable with its value.
    pub variable: String,
    /// How it is sent.
    pub scheme: SecretScheme,
}

/// How a secret is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretScheme {
    /// In the header `Authorization`, after `Bearer`.
    Bearer,
    /// In the header `Authorization`, after `Basic`: a user and a password, with a colon between them.
    Basic,
    /// In a header, the query or a cookie of this name.
    Key(RequestLocation, String),
}
