//! Errors in declarations of implementations.

use gramc_calls::MappingError;

use super::ReplayError;
#[cfg(not(target_family = "wasm"))]
use super::http::TemplateError;
#[cfg(not(target_family = "wasm"))]
use crate::http_client::{HeaderError, TlsError};
use crate::injected_source::SourceError;
use crate::invocation::InvocationError;

/// Why an implementation cannot be made from its declaration.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("this program was built without the kind {kind}")]
    UnsupportedKind { kind: &'static str },
    #[error("the kind {kind} has no `*`")]
    NoServer { kind: &'static str },
    #[error(transparent)]
    Source(#[from] SourceError),
    #[cfg(not(target_family = "wasm"))]
    #[error(transparent)]
    Header(#[from] HeaderError),
    #[cfg(not(target_family = "wasm"))]
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Mapping(#[from] MappingError),
    #[error("{path}: {error}")]
    Recording { path: String, error: ReplayError },
    #[error("invalid HTTP method `{0}`")]
    Method(String),
    #[cfg(not(target_family = "wasm"))]
    #[error(transparent)]
    Url(#[from] TemplateError),
    #[error(transparent)]
    Pages(#[from] PagesError),
    #[error("`{argument}` goes to an unknown place of the request: {place}")]
    Place { argument: String, place: String },
    #[error("unknown builtin `{name}`; the builtins are {known}")]
    UnknownBuiltin { name: String, known: String },
    #[error("{}", .0.detail)]
    Implementation(#[from] InvocationError),
    #[error(transparent)]
    Server(Box<dyn std::error::Error + Send + Sync>),
}

/// Why the attribute `pages` is invalid.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PagesError {
    #[error("`pages` lacks `next`, where a page has the next one")]
    NoNext,
    #[error("`{key}` of `pages` is not a JSON pointer such as \"/{text}\"")]
    NoPointer { key: &'static str, text: String },
}
