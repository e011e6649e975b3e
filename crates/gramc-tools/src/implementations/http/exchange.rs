//! A request with its response: with an access token, and again after a failure that may pass.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode};

use super::access_token::ClientCredentials;
use super::{Http, not_called, not_sent};
use crate::access_token::is_transient;
use crate::invocation::{InvocationError, InvocationErrorKind};
use crate::masks::SecretMasks;

/// The time before the first repetition. It doubles with each.
const FIRST_DELAY: Duration = Duration::from_millis(500);

/// The maximum time before a repetition. A service that asks for more time is not called again.
const MAX_DELAY: Duration = Duration::from_secs(30);

pub(super) struct Request {
    pub(super) builder: RequestBuilder,
    /// What its access token is requested with.
    pub(super) credentials: Option<ClientCredentials>,
    /// What the library injects into the query.
    pub(super) injected_query: String,
    /// Whether it may be sent again after a failure.
    pub(super) is_repeatable: bool,
}

pub(super) struct Exchanged {
    pub(super) response: Response,
    /// Masks the access token of the request.
    pub(super) masks: SecretMasks,
}

impl Http {
    /// Sends a request, again if that may help and the request allows it.
    pub(super) async fn exchange(
        &self,
        who: &str,
        request: &Request,
    ) -> Result<Exchanged, InvocationError> {
        let mut attempt = 0;
        loop {
            let sent = self.send(who, request).await;
            if attempt == self.retries || !request.is_repeatable {
                return sent;
            }
            let Some(delay) = delay_after(&sent, attempt) else { return sent };
            tokio::time::sleep(delay).await;
            attempt += 1;
        }
    }

    /// Sends a request, with another access token if the first one is rejected.
    async fn send(&self, who: &str, request: &Request) -> Result<Exchanged, InvocationError> {
        let Some(credentials) = &request.credentials else {
            let response = once(who, &request.builder, None).await?;
            return Ok(Exchanged { response, masks: SecretMasks::default() });
        };
        let without_token = |error: InvocationError| InvocationError {
            detail: format!("{who} is not called: {}", error.detail),
            ..error
        };
        let tokens = &self.client.0.tokens;
        let token = tokens.token(&self.client, credentials, None).await.map_err(without_token)?;
        let response = once(who, &request.builder, Some(&token)).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(Exchanged { response, masks: SecretMasks::new([token]) });
        }
        let next = tokens.token(&self.client, credentials, Some(&token)).await;
        let next = next.map_err(without_token)?;
        let response = once(who, &request.builder, Some(&next)).await?;
        Ok(Exchanged { response, masks: SecretMasks::new([token, next]) })
    }
}

async fn once(
    who: &str,
    request: &RequestBuilder,
    token: Option<&str>,
) -> Result<Response, InvocationError> {
    // Every body is in memory, so that it can be sent again.
    let mut request =
        request.try_clone().ok_or_else(|| not_called(who, &"the body is a stream"))?;
    if let Some(token) = token {
        let value = HeaderValue::try_from(format!("Bearer {token}"));
        let invalid = "the access token is not valid in a header";
        let mut value = value.map_err(|_| not_called(who, &invalid))?;
        value.set_sensitive(true);
        // It replaces a declared header.
        request = request.headers(HeaderMap::from_iter([(AUTHORIZATION, value)]));
    }
    request.send().await.map_err(|error| not_sent(who, &error))
}

/// How long to wait before a request is repeated. `None` if the failure will not pass.
fn delay_after(sent: &Result<Exchanged, InvocationError>, attempt: u32) -> Option<Duration> {
    let usual = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(attempt)).min(MAX_DELAY);
    match sent {
        Ok(Exchanged { response, .. }) => {
            is_transient(response.status()).then_some(())?;
            let wanted = retry_after(response.headers()).unwrap_or(usual);
            (wanted <= MAX_DELAY).then_some(wanted)
        }
        Err(error) => {
            let kinds = [InvocationErrorKind::Unreachable, InvocationErrorKind::Died];
            kinds.contains(&error.kind).then_some(usual)
        }
    }
}

/// The time that a service asks for, in seconds or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTime::parse_from_rfc2822(text).ok()?;
    Some((date.with_timezone(&Utc) - Utc::now()).to_std().unwrap_or_default())
}
