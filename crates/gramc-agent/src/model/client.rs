//! The HTTP client of providers, and its errors.

use std::io;
use std::time::{Duration, SystemTime};

use futures_util::{Stream, StreamExt};
use gramc_json_schema::shorten::shorten_line;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;

use super::{ModelError, ModelErrorKind};

/// Maximum time to connect to a provider.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Maximum time that a provider may send nothing.
const MODEL_TIMEOUT: Duration = Duration::from_mins(2);
const MAX_REPLY_BYTES: usize = 64 << 20;
/// Maximum bytes of an error response that are read.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Maximum characters of an error that are shown.
const MAX_SHOWN_CHARS: usize = 500;

/// A client that cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is not one of a server.
    #[error("invalid server address `{0}`")]
    InvalidAddress(String),
    /// The configuration of TLS or of proxies is invalid.
    #[error("cannot create a client for {0}: {1}")]
    Client(Url, reqwest::Error),
}

/// Creates a client for a server. A request fails if the server sends nothing for `read_timeout`.
pub(crate) fn client(url: &Url, read_timeout: Duration) -> Result<Client, ClientError> {
    // This fails if the same provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("gramc/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_LIMIT)
        .read_timeout(read_timeout)
        // A redirect must not send the key to another server.
        .redirect(reqwest::redirect::Policy::none());
    let host = url.host_str().unwrap_or_default();
    // For a proxy, these names are the proxy itself.
    let local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let builder = if local { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| ClientError::Client(url.clone(), error))
}

/// Creates a client for the provider at an address.
pub(super) fn client_of_address(address: &str) -> Result<Client, ClientError> {
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.ok_or_else(|| ClientError::InvalidAddress(address.to_owned()))?;
    client(&url, MODEL_TIMEOUT)
}

/// The innermost cause of an error, without the number of an error of the operating system.
pub(crate) fn root_cause(mut error: &(dyn std::error::Error + 'static)) -> String {
    while let Some(deeper) = error.source() {
        error = deeper;
    }
    let cause = error.to_string();
    cause.split(" (os error").next().unwrap_or_default().to_owned()
}

pub(super) async fn check_status(response: Response, key: &str) -> Result<Response, ModelError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let headers = response.headers().clone();
    let body = match read(response, MAX_ERROR_BYTES).await {
        Ok(body) => String::from_utf8_lossy(&body).into_owned(),
        Err(_) => String::new(),
    };
    Err(status_error(status, &headers, &body, key))
}

/// The error of a response with this status.
fn status_error(status: StatusCode, headers: &HeaderMap, body: &str, key: &str) -> ModelError {
    let json = serde_json::from_str::<Value>(body).ok();
    let kind = match status.as_u16() {
        404 => ModelErrorKind::UnknownModel,
        400 | 403 if json.as_ref().is_some_and(is_about_the_model) => ModelErrorKind::UnknownModel,
        429 => ModelErrorKind::RateLimited,
        400 | 413 | 422 => ModelErrorKind::InvalidRequest,
        408 | 409 | 425 | 500..=599 => ModelErrorKind::Unavailable,
        _ => ModelErrorKind::Rejected,
    };
    let message = json.as_ref().and_then(|body| {
        let error = body.get("error").or_else(|| body.get(0)?.get("error"))?;
        error.get("message").unwrap_or(error).as_str()
    });
    let message = message.unwrap_or(body).trim();
    let mut detail = format!("the provider returned HTTP status {status}");
    if !message.is_empty() {
        detail.push_str(": ");
        detail.push_str(&sanitize(message, key));
    }
    ModelError { kind, detail, retry_after: retry_after(headers) }
}

/// Whether an error says that the provider does not know the model: OpenAI's and Mistral's codes.
fn is_about_the_model(body: &Value) -> bool {
    let error = body.get("error").unwrap_or(body);
    ["code", "type"].iter().any(|key| {
        matches!(error[*key].as_str(), Some("model_not_found" | "invalid_model" | "unknown_model"))
    })
}

/// Masks the key and removes control characters in a text of a provider, and truncates it.
pub(super) fn sanitize(text: &str, key: &str) -> String {
    let text = if key.len() < 4 { text.to_owned() } else { text.replace(key, "***") };
    shorten_line(&text, MAX_SHOWN_CHARS)
}

/// The delay before a retry: `Retry-After` in seconds or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    if let Some(text) = headers.get("retry-after-ms").and_then(|value| value.to_str().ok())
        && let Ok(milliseconds) = text.trim().parse()
    {
        return Some(Duration::from_millis(milliseconds));
    }
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = httpdate::parse_http_date(text).ok()?;
    Some(at.duration_since(SystemTime::now()).unwrap_or_default())
}

/// The error of a request without a response.
pub(super) fn request_error(error: &reqwest::Error) -> ModelError {
    if error.is_timeout() && !error.is_connect() {
        return ModelError::new(ModelErrorKind::Timeout, "the provider did not respond in time");
    }
    let cause = root_cause(error);
    if error.is_connect() {
        // The rest of the address may contain a key.
        let at = error.url().map(|url| format!(" at {}", url.origin().ascii_serialization()));
        let at = at.unwrap_or_default();
        let detail = format!("cannot connect to the provider{at}: {cause}");
        return ModelError::new(ModelErrorKind::Unavailable, detail);
    }
    ModelError::new(
        ModelErrorKind::Interrupted,
        format!("the provider's reply was interrupted: {cause}"),
    )
}

/// The message about a reply that ends early.
pub(super) const INTERRUPTED: &str = "the provider's reply was interrupted";

/// The error that a provider sends within a reply.
pub(super) fn provider_error(body: &Value, key: &str) -> ModelError {
    let error = body.get("error").unwrap_or(body);
    let word = |key: &&str| error.get(key)?.as_str().filter(|word| *word != "error");
    let words = ["type", "code", "status"].iter().find_map(word);
    let number = error.get("code").and_then(Value::as_u64).unwrap_or_default();
    let kind = match (words.unwrap_or_default(), number) {
        (
            "overloaded_error" | "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED",
            _,
        )
        | (_, 429) => ModelErrorKind::RateLimited,
        ("api_error" | "timeout_error" | "server_error" | "UNAVAILABLE" | "INTERNAL", _)
        | (_, 500..=599) => ModelErrorKind::Unavailable,
        ("invalid_request_error" | "INVALID_ARGUMENT", _) | (_, 400 | 413 | 422) => {
            ModelErrorKind::InvalidRequest
        }
        _ => ModelErrorKind::Rejected,
    };
    let message = error.get("message").and_then(Value::as_str).or(words);
    let message = sanitize(message.unwrap_or("unknown error"), key);
    ModelError::new(kind, format!("the provider failed: {message}"))
}

pub(super) fn malformed_error(error: &str, key: &str) -> ModelError {
    let error = sanitize(error, key);
    ModelError::new(
        ModelErrorKind::Malformed,
        format!("the provider's reply is malformed: {error}"),
    )
}

/// Streams the body of a response, up to a limit.
fn stream_up_to(
    response: Response,
    max: usize,
) -> impl Stream<Item = Result<bytes::Bytes, io::Error>> {
    let mut read = 0_usize;
    response.bytes_stream().map(move |part| {
        let part = part.map_err(|error| {
            let kind = if error.is_timeout() {
                io::ErrorKind::TimedOut
            } else {
                io::ErrorKind::UnexpectedEof
            };
            io::Error::new(kind, request_error(&error).detail)
        })?;
        read = read.saturating_add(part.len());
        if read > max {
            let detail = format!("the provider's reply is larger than {max} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, detail));
        }
        Ok(part)
    })
}

/// The error of a body that cannot be read.
pub(super) fn read_error(error: &io::Error) -> ModelError {
    let kind = match error.kind() {
        io::ErrorKind::TimedOut => ModelErrorKind::Timeout,
        io::ErrorKind::FileTooLarge => ModelErrorKind::Malformed,
        _ => ModelErrorKind::Interrupted,
    };
    ModelError::new(kind, error.to_string())
}

async fn read(response: Response, max: usize) -> Result<Vec<u8>, io::Error> {
    let mut chunks = std::pin::pin!(stream_up_to(response, max));
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await {
        all.extend_from_slice(&chunk?);
    }
    Ok(all)
}

/// Reads the body of a reply.
pub(super) async fn read_all(response: Response) -> Result<Vec<u8>, ModelError> {
    read(response, MAX_REPLY_BYTES).await.map_err(|error| read_error(&error))
}

/// Streams the body of a reply.
pub(super) fn stream(response: Response) -> impl Stream<Item = Result<bytes::Bytes, io::Error>> {
    stream_up_to(response, MAX_REPLY_BYTES)
}
