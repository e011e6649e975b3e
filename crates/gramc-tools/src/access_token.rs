//! Requests for the access tokens of clients, by OAuth 2.0.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;

use crate::http_client::{root, status_words};
use crate::request_text::in_query;
use crate::sanitize::sanitize_line;

/// The maximum size of a response in bytes.
const MAX_RESPONSE: usize = 1 << 20;

/// The maximum time that a token is not used any more before it expires.
const MAX_MARGIN: Duration = Duration::from_secs(30);

/// An access token.
pub struct AccessToken {
    /// The token.
    pub text: String,
    /// When it is not used any more, if the server says when it expires.
    pub ends: Option<Instant>,
}

/// Why there is no token, as a phrase that follows the server's name.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each variant has its message")]
pub enum AccessTokenError {
    #[error("{}", root(.0))]
    Http(#[from] reqwest::Error),
    /// This may pass.
    #[error("answered with {}", status_words(.0.as_u16()))]
    Unavailable(StatusCode),
    #[error("gives no token, but something long")]
    TooLong,
    #[error("answered with {}, and with no token", status_words(.0.as_u16()))]
    NoToken(StatusCode),
    #[error("answered with {}: {reason}", status_words(.status.as_u16()))]
    Refused { status: StatusCode, reason: String },
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Option<String>,
    /// The seconds until it expires. Some servers send it as text.
    expires_in: Option<Value>,
    error: Option<String>,
    error_description: Option<String>,
}

impl AccessToken {
    /// Requests a token with the fields of a form, and with the credentials of the client in a
    /// header, if they are given.
    pub async fn request(
        http: &Client,
        url: &Url,
        fields: &[(&str, &str)],
        credentials: Option<[&str; 2]>,
    ) -> Result<Self, AccessTokenError> {
        let fields = fields.iter().map(|(name, value)| format!("{name}={}", in_query(value)));
        let mut request = http
            .post(url.clone())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(fields.collect::<Vec<_>>().join("&"));
        if let Some(credentials) = credentials {
            let credentials = STANDARD.encode(credentials.map(in_query).join(":"));
            if let Ok(mut value) = HeaderValue::try_from(format!("Basic {credentials}")) {
                value.set_sensitive(true);
                request = request.header(AUTHORIZATION, value);
            }
        }
        let mut response = request.send().await?;
        let status = response.status();
        if is_transient(status) || status.is_server_error() {
            return Err(AccessTokenError::Unavailable(status));
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await? {
            if body.len() + part.len() > MAX_RESPONSE {
                return Err(AccessTokenError::TooLong);
            }
            body.extend_from_slice(&part);
        }
        let response: TokenResponse =
            serde_json::from_slice(&body).map_err(|_| AccessTokenError::NoToken(status))?;
        if let Some(text) = response.access_token.filter(|_| status.is_success()) {
            Ok(Self { text, ends: response.expires_in.as_ref().and_then(end) })
        } else {
            let why = [response.error, response.error_description].into_iter().flatten();
            let reason = sanitize_line(&why.collect::<Vec<_>>().join(": "));
            Err(AccessTokenError::Refused { status, reason })
        }
    }

    /// Whether it can still be used, and is not the `rejected` one.
    pub fn is_valid(&self, rejected: Option<&str>) -> bool {
        self.ends.is_none_or(|ends| Instant::now() < ends) && rejected != Some(&self.text)
    }
}

/// When a token is not used any more that expires in so many seconds.
fn end(seconds: &Value) -> Option<Instant> {
    let seconds = seconds.as_f64().or_else(|| seconds.as_str()?.parse().ok())?;
    let life = Duration::try_from_secs_f64(seconds).ok()?;
    Instant::now().checked_add(life.saturating_sub(MAX_MARGIN.min(life / 10)))
}

/// Whether a failure with this status may pass.
pub(crate) fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 502 | 503 | 504)
}
