//! Errors of sign-ins and access tokens.

use std::io;

use gramc_tools::http_client;
use gramc_tools::injected_source::SourceError;
use gramc_tools::sanitize::sanitize_line;
use rmcp::transport::auth::AuthError;

/// Why a server gives no access token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// No request can be sent, or no response arrives.
    #[error("{}", http_client::root(.0))]
    Http(#[from] reqwest::Error),
    /// The authorization server violates the protocol or refuses.
    #[error("{}", sanitize_line(&.0.to_string()))]
    Protocol(#[from] AuthError),
    /// The file of the sign-in cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The secret of the client cannot be read.
    #[error(transparent)]
    Secret(#[from] SourceError),
    /// The server has no authorization server.
    #[error("it names no authorization server")]
    NoAuthorizationServer,
    /// The authorization server does not register clients.
    #[error("{}; name a client that is registered in --client-id", sanitize_line(&.0.to_string()))]
    Registration(AuthError),
    /// The metadata of the authorization server lacks the issuer.
    #[error("the authorization server does not name itself")]
    NoIssuer,
    /// The metadata of the authorization server has an invalid URL.
    #[error("{0}")]
    InvalidEndpoint(String),
    /// A remote server names this machine as its authorization server.
    #[error("the authorization server is said to be on this machine")]
    LocalServer,
    /// The authorization server does not use TLS.
    #[error("the authorization server gives tokens without TLS")]
    NoTls,
    /// The authorization server answers without a token.
    #[error("the authorization server at {server} {reason}")]
    Refused {
        /// The address of the authorization server.
        server: String,
        /// A phrase that follows the address.
        reason: String,
    },
    /// The private key cannot sign the request.
    #[error("the private key cannot sign")]
    Signature,
    /// The token is missing in the response.
    #[error("no access token in the response")]
    MissingToken,
    /// The user has to sign in again.
    #[error("the sign-in has expired; {advice}")]
    Expired {
        /// The command to run.
        advice: String,
    },
    /// A request for a token failed.
    #[error("no access token: {0}")]
    NoToken(Box<TokenError>),
}
