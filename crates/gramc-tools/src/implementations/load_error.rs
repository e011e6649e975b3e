//! Errors in declarations of implementations.

use gramc_calls::MappingError;

use super::ReplayError;
use super::http::TemplateError;
use crate::http_client::{HeaderError, TlsError};
use crate::injected_source::SourceError;
use crate::invocation::InvocationError;

/// Why an implementation cannot be made from its declaration.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The program that loads the library does not support the kind.
    #[error("this program was built without the kind {kind}")]
    UnsupportedKind {
        /// The name of the kind.
        kind: &'static str,
    },
    /// The kind has no servers, so that it cannot implement all tools of one.
    #[error("the kind {kind} has no `*`")]
    NoServer {
        /// The name of the kind.
        kind: &'static str,
    },
    /// A value cannot be read from its source.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A header is invalid.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The TLS options are invalid.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The attribute `arguments` is invalid.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// A recording is invalid.
    #[error("{path}: {error}")]
    Recording {
        /// The file of the recording.
        path: String,
        /// The error.
        error: ReplayError,
    },
    /// The method of a request is invalid.
    #[error("invalid HTTP method `{0}`")]
    Method(String),
    /// The URL of a service is invalid.
    #[error(transparent)]
    Url(#[from] TemplateError),
    /// The attribute `pages` is invalid.
    #[error(transparent)]
    Pages(#[from] PagesError),
    /// An argument has an unknown place in the request.
    #[error("`{argument}` goes to an unknown place of the request: {place}")]
    Place {
        /// The argument.
        argument: String,
        /// The place, as JSON.
        place: String,
    },
    /// There is no builtin of this name.
    #[error("unknown builtin `{name}`; the builtins are {known}")]
    UnknownBuiltin {
        /// The unknown name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The implementation itself reports an error.
    #[error("{}", .0.detail)]
    Implementation(#[from] InvocationError),
    /// The [`ServerLoader`](crate::server_loader::ServerLoader) reports an error.
    #[error(transparent)]
    Server(Box<dyn std::error::Error + Send + Sync>),
}

/// Why the attribute `pages` is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PagesError {
    /// There is no `next`.
    #[error("`pages` lacks `next`, where a page has the next one")]
    NoNext,
    /// A text is not a JSON pointer.
    #[error("`{key}` of `pages` is not a JSON pointer such as \"/{text}\"")]
    NoPointer {
        /// The key of the text.
        key: &'static str,
        /// The text.
        text: String,
    },
}
