//! Errors of sign-ins and access tokens.

use std::io;

use gramc_tools::access_token::AccessTokenError;
use gramc_tools::http_client;
use gramc_tools::injected_source::SourceError;
use gramc_tools::sanitize::sanitize_line;
use rmcp::transport::auth::AuthError;

/// Why a server gives no access token.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("{}", http_client::root(.0))]
    Http(#[from] reqwest::Error),
    #[error("{}", sanitize_line(&.0.to_string()))]
    Protocol(#[from] AuthError),
    #[error(transparent)]
    File(#[from] io::Error),
    #[error(transparent)]
    Secret(#[from] SourceError),
    #[error("it names no authorization server")]
    NoAuthorizationServer,
    #[error("{}; name a client that is registered in --client-id", sanitize_line(&.0.to_string()))]
    Registration(AuthError),
    #[error("the authorization server does not name itself")]
    NoIssuer,
    #[error("{0}")]
    InvalidEndpoint(String),
    #[error("the authorization server is said to be on this machine")]
    LocalServer,
    #[error("the authorization server gives tokens without TLS")]
    NoTls,
    #[error("the authorization server at {server} {reason}")]
    Refused { server: String, reason: AccessTokenError },
    #[error("the private key cannot sign")]
    Signature,
    #[error("no access token in the response")]
    MissingToken,
    #[error("the sign-in has expired; {advice}")]
    Expired { advice: String },
    #[error("no access token: {0}")]
    NoToken(Box<TokenError>),
}
