//! Failures of HTTP requests to a server.

use gramc_tools::RpcError;
use gramc_tools::http_client;
use gramc_tools::invocation::InvocationErrorKind;
use gramc_tools::sanitize::sanitize_line;
use reqwest::StatusCode;

/// Why a message was not sent, or not answered.
#[derive(Debug)]
pub(super) enum HttpError {
    Client(reqwest::Error),
    /// The stream of the answer broke off, for a reason in words.
    Broken(String),
    Status(StatusCode),
    /// The server requires an access token.
    Unauthorized,
    /// The access token lacks rights: these, if the server names them.
    MissingScope(Option<String>),
    /// There is no access token, for a reason in words.
    NoToken(String),
    /// The answer has another media type.
    UnexpectedType(String),
    /// The server does not know the session any more.
    LostSession,
    /// The server answered with an error of JSON-RPC.
    Answered(RpcError),
}

impl HttpError {
    pub(super) fn kind(&self) -> InvocationErrorKind {
        match self {
            Self::Client(error) if error.is_connect() => InvocationErrorKind::Unreachable,
            Self::Client(error) if error.is_redirect() => InvocationErrorKind::Failed,
            Self::Client(_) | Self::Broken(_) | Self::LostSession => InvocationErrorKind::Died,
            Self::UnexpectedType(_) => InvocationErrorKind::Garbled,
            _ => InvocationErrorKind::Failed,
        }
    }

    /// The error in words, without the address, which may hold a password.
    pub(super) fn words(&self) -> String {
        let answered = |code: u16| format!("it answered with {}", http_client::status_words(code));
        match self {
            Self::Client(error) if error.is_redirect() => {
                format!("it {}", http_client::root(error))
            }
            Self::Client(error) => http_client::root(error),
            Self::Broken(reason) | Self::NoToken(reason) => reason.clone(),
            Self::Status(status) => answered(status.as_u16()),
            Self::Unauthorized => answered(401),
            Self::MissingScope(_) => answered(403),
            Self::UnexpectedType(kind) => {
                let kind = if kind.is_empty() { "something without a type" } else { kind };
                format!("it sends {kind}, which is not what an MCP server sends")
            }
            Self::LostSession => "it does not know the session any more".to_owned(),
            Self::Answered(error) => {
                format!(
                    "it answered with the error {}: {}",
                    error.code,
                    sanitize_line(&error.message)
                )
            }
        }
    }
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        Self::Client(error)
    }
}
