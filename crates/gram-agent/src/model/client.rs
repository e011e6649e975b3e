//! What all that is asked over HTTP needs: a client, and what its failures mean.

use std::io;
use std::time::{Duration, SystemTime};

use futures_util::{Stream, StreamExt};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;

use super::{Failure, ModelError};

/// How long a provider may take until it is connected to.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// The most bytes of one answer.
const LARGEST: usize = 64 << 20;
/// The most bytes of an error that are read.
const LARGEST_ERROR: usize = 64 << 10;
/// The most characters of an error that are shown.
const LONGEST_SHOWN: usize = 500;

/// A client for a provider at an address. A provider that says nothing for `silence` has failed.
pub(crate) fn client(url: &Url, silence: Duration) -> Result<Client, String> {
    // The second time there is one already, the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("gramc/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_LIMIT)
        .read_timeout(silence)
        // A key goes where it was meant to go, and nowhere else.
        .redirect(reqwest::redirect::Policy::none());
    let host = url.host_str().unwrap_or_default();
    // A proxy has another idea of who that is.
    let local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let builder = if local { builder.no_proxy() } else { builder };
    builder.build().map_err(|error| format!("no client for {url} can be made: {error}"))
}

/// The answer of a provider, where it is one; else what went wrong, with the key masked.
pub(super) async fn checked(response: Response, key: &str) -> Result<Response, ModelError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let retry_after = retry_after(response.headers());
    let body = match read(response, LARGEST_ERROR).await {
        Ok(body) => String::from_utf8_lossy(&body).into_owned(),
        Err(_) => String::new(),
    };
    Err(ModelError { retry_after, ..status_error(status, &body, key) })
}

/// What a status means, with what the provider says of it.
pub(super) fn status_error(status: StatusCode, body: &str, key: &str) -> ModelError {
    let kind = match status.as_u16() {
        429 => Failure::Busy,
        408 | 409 | 425 | 500..=599 => Failure::Unavailable,
        _ => Failure::Refused,
    };
    let said = serde_json::from_str::<Value>(body).ok();
    let said = said.as_ref().and_then(|body| {
        let error = body.get("error").or_else(|| body.get(0)?.get("error"))?;
        error.get("message").unwrap_or(error).as_str()
    });
    let said = said.unwrap_or(body).trim();
    let mut detail = format!("the provider answered with HTTP status {status}");
    if !said.is_empty() {
        detail.push_str(": ");
        detail.push_str(&shown(said, key));
    }
    ModelError::new(kind, detail)
}

/// A text of a provider, as messages show it.
pub(super) fn shown(text: &str, key: &str) -> String {
    let text = if key.len() < 4 { text.to_owned() } else { text.replace(key, "***") };
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = plain.clone().take(LONGEST_SHOWN).collect();
    if plain.count() > LONGEST_SHOWN {
        shown.push('…');
    }
    shown
}

/// When a provider wants to be asked again: seconds, or a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
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

/// Why no answer came.
pub(super) fn lost(error: &reqwest::Error) -> ModelError {
    if error.is_timeout() && !error.is_connect() {
        return ModelError::new(Failure::Timeout, "the provider did not answer in time");
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let cause = cause.to_string();
    let cause = cause.split(" (os error").next().unwrap_or_default();
    if error.is_connect() {
        // The rest of the address may hold a key.
        let at = error.url().map(|url| format!(" at {}", url.origin().ascii_serialization()));
        let at = at.unwrap_or_default();
        let detail = format!("the provider cannot be reached{at}: {cause}");
        return ModelError::new(Failure::Unavailable, detail);
    }
    ModelError::new(Failure::Cut, format!("the provider's answer broke off: {cause}"))
}

/// The bytes of an answer as they come, up to a limit.
pub(super) fn bytes(
    response: Response,
    most: usize,
) -> impl Stream<Item = Result<bytes::Bytes, io::Error>> {
    let mut read = 0_usize;
    response.bytes_stream().map(move |part| {
        let part = part.map_err(|error| {
            let kind = if error.is_timeout() {
                io::ErrorKind::TimedOut
            } else {
                io::ErrorKind::UnexpectedEof
            };
            io::Error::new(kind, lost(&error).detail)
        })?;
        read = read.saturating_add(part.len());
        if read > most {
            let detail = format!("the provider's answer is larger than {most} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, detail));
        }
        Ok(part)
    })
}

/// What it means that the bytes of an answer stop coming.
pub(super) fn stopped(error: &io::Error) -> ModelError {
    let kind = match error.kind() {
        io::ErrorKind::TimedOut => Failure::Timeout,
        io::ErrorKind::FileTooLarge => Failure::Garbled,
        _ => Failure::Cut,
    };
    ModelError::new(kind, error.to_string())
}

async fn read(response: Response, most: usize) -> Result<Vec<u8>, io::Error> {
    let mut parts = std::pin::pin!(bytes(response, most));
    let mut all = Vec::new();
    while let Some(part) = parts.next().await {
        all.extend_from_slice(&part?);
    }
    Ok(all)
}

/// The whole answer.
pub(super) async fn whole(response: Response) -> Result<Vec<u8>, ModelError> {
    read(response, LARGEST).await.map_err(|error| stopped(&error))
}

/// The answer as it comes.
pub(super) fn parts(response: Response) -> impl Stream<Item = Result<bytes::Bytes, io::Error>> {
    bytes(response, LARGEST)
}
