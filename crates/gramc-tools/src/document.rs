//! Reads a document from a URL.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::redirect::Policy;

use crate::http_client::{self, TlsOptions, without_secrets};

/// The redirects that are followed, to any host: the request has no secret.
const MAX_REDIRECTS: usize = 5;

/// Why a document cannot be read. The URL in a message has no password and no query.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("expected a URL such as https://api.example.com/openapi.json")]
    Url,
    #[error("cannot read {url}: {cause}")]
    Connection { url: String, cause: String },
    #[error("cannot read {url}: it answered {}", http_client::status_words(*.status))]
    Status { url: String, status: u16 },
    #[error("cannot read {url}: it is larger than {limit} bytes")]
    Size { url: String, limit: u64 },
}

/// Reads the document at a URL, of at most `limit` bytes. `None` if there is no document, but an endpoint
/// such as that of an MCP server.
///
/// # Errors
///
/// If the URL is invalid, or the server cannot be reached or refuses the request.
pub async fn fetch(
    url: &str,
    limit: u64,
    timeout: Duration,
) -> Result<Option<Vec<u8>>, FetchError> {
    let address = http_client::address(url).ok_or(FetchError::Url)?;
    let url = without_secrets(&address);
    let failed = |error: reqwest::Error| {
        let cause = http_client::root(&error);
        FetchError::Connection { url: url.clone(), cause }
    };
    let client = http_client::client(&address, &TlsOptions::default())
        .redirect(Policy::limited(MAX_REDIRECTS))
        .timeout(timeout)
        .build()
        .map_err(failed)?;
    let request = client.get(address).header(ACCEPT, "application/json, application/yaml, */*");
    let mut response = request.send().await.map_err(failed)?;
    let kind = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    match response.status().as_u16() {
        // These are the answers of MCP servers to requests without a session.
        400 | 405 | 406 => return Ok(None),
        200..=299 if is_stream => return Ok(None),
        200..=299 => {}
        status => return Err(FetchError::Status { url, status }),
    }
    let mut document = Vec::new();
    while let Some(part) = response.chunk().await.map_err(failed)? {
        document.extend_from_slice(&part);
        if document.len() as u64 > limit {
            return Err(FetchError::Size { url, limit });
        }
    }
    Ok(Some(document))
}
