//! A description of an API, as tools and the calls behind them.

use gramc_model::{BodyFormat, RequestLocation, RequestPlace};
use serde_json::{Map, Value};
use smol_str::SmolStr;

pub(crate) use crate::source::Method;

/// An API.
#[derive(Debug, Clone, Default)]
pub(crate) struct Api {
    /// Its name as an identifier, such as `petstore`.
    pub(crate) name: SmolStr,
    /// Its operations, in the order of the document.
    pub(crate) operations: Vec<Operation>,
    /// The schemas that those of the operations refer to as `#/$defs/NAME`.
    pub(crate) definitions: Map<String, Value>,
    /// The tags of the operations with their descriptions.
    pub(crate) tags: Vec<(SmolStr, Option<String>)>,
    /// The secrets that requests need.
    pub(crate) secrets: Vec<Secret>,
    /// Sentences about what was left out or changed.
    pub(crate) notes: Vec<String>,
}

/// An operation as a tool.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// The name of the tool.
    pub(crate) name: SmolStr,
    /// What it does.
    pub(crate) description: Option<String>,
    /// Whether it should no longer be used.
    pub(crate) is_deprecated: bool,
    /// What it does to the world: attributes such as `readOnly`.
    pub(crate) effects: Vec<(SmolStr, Value)>,
    /// The schema of the parameters: an object with `properties`.
    pub(crate) parameters: Map<String, Value>,
    /// The schema of the result, if the document says anything about it.
    pub(crate) result: Option<Value>,
    /// The request that runs it.
    pub(crate) http: HttpCall,
    /// Its tags.
    pub(crate) tags: Vec<SmolStr>,
    /// The parameters of [`Api::secrets`] that it needs.
    pub(crate) secrets: Vec<SmolStr>,
}

/// The request of an operation.
#[derive(Debug, Clone)]
pub(crate) struct HttpCall {
    /// The method.
    pub(crate) method: Method,
    /// The URL, whose path names parameters in braces.
    pub(crate) url: String,
    /// The format of the body.
    pub(crate) body: BodyFormat,
    /// Where parameters go that do not go where the method implies.
    pub(crate) places: Vec<(String, RequestPlace)>,
    /// Headers with their values.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The keys of the items and of the URL of the next page, if the answer comes in pages.
    pub(crate) pages: Option<(String, String)>,
    /// Whether the answer is bytes.
    pub(crate) is_bytes: bool,
}

/// A secret that requests need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Secret {
    /// The parameter of the tools.
    pub(crate) parameter: SmolStr,
    /// What it is, for people.
    pub(crate) description: String,
    /// The environment variable with its value.
    pub(crate) variable: String,
    /// How it is sent.
    pub(crate) scheme: SecretScheme,
}

/// How a secret is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SecretScheme {
    /// In the header `Authorization`, after `Bearer`.
    Bearer,
    /// In the header `Authorization`, after `Basic`: a user and a password, with a colon between them.
    Basic,
    /// In the header `Authorization`, as an access token that the URL gives for the ID and the secret of a
    /// client, with a colon between them.
    ClientCredentials {
        /// The URL of the authorization server.
        url: String,
        /// The scopes, separated by spaces.
        scope: String,
    },
    /// In a header, the query or a cookie of this name.
    Key(RequestLocation, String),
}
