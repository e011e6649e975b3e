//! Access tokens for the credentials of a client, by OAuth 2.0.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use gramc_model::RequestPlace;
use oauth2::basic::BasicClient;
use oauth2::{
    AsyncHttpClient, AuthType, ClientId, ClientSecret, HttpRequest, HttpResponse,
    RequestTokenError, TokenResponse, TokenUrl,
};
use parking_lot::Mutex;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{StatusCode, Url};
use serde_json::Value;

use super::exchange::is_transient;
use super::request::RequestError;
use super::{HttpClient, not_sent, read};
use crate::http_client::{status_words, without_secrets};
use crate::invocation::{InvocationError, InvocationErrorKind};
use crate::masks::SecretMasks;
use crate::sanitize::sanitize_line;

/// The maximum size of the response to a request for a token, in bytes.
const MAX_RESPONSE: usize = 1 << 20;

/// The maximum number of credentials whose tokens are kept.
const MAX_TOKENS: usize = 64;

/// The maximum time that a token is not used any more before it expires.
const MAX_MARGIN: Duration = Duration::from_secs(30);

/// What a token is requested with.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ClientCredentials {
    url: Url,
    id: String,
    secret: String,
    fields: Vec<(String, String)>,
}

impl ClientCredentials {
    /// The credentials in an argument, `id:secret`.
    pub(super) fn new(
        place: &RequestPlace,
        argument: &str,
        value: &str,
    ) -> Result<Self, RequestError> {
        let (id, secret) =
            value.split_once(':').ok_or_else(|| RequestError::Credentials(argument.to_owned()))?;
        let url = place.name.as_deref().unwrap_or_default();
        let url = Url::parse(url).map_err(|_| RequestError::TokenUrl(argument.to_owned()))?;
        let (id, secret) = (id.to_owned(), secret.to_owned());
        Ok(Self { url, id, secret, fields: place.token_fields.clone() })
    }

    /// Masks the secret in all forms that a request has.
    fn masks(&self) -> SecretMasks {
        let [id, secret] = [&self.id, &self.secret]
            .map(|text| -> String { utf8_percent_encode(text, NON_ALPHANUMERIC).to_string() });
        let both = |id: &str, secret: &str| format!("{id}:{secret}");
        SecretMasks::new([
            both(&id, &secret),
            both(&self.id, &self.secret),
            secret,
            self.secret.clone(),
        ])
    }

    /// Requests a token. `authentication` says where the request has the credentials.
    async fn request(
        &self,
        client: &TokenClient,
        authentication: AuthType,
    ) -> Result<AccessToken, TokenError> {
        let oauth = BasicClient::new(ClientId::new(self.id.clone()))
            .set_client_secret(ClientSecret::new(self.secret.clone()))
            .set_auth_type(authentication)
            .set_token_uri(TokenUrl::from_url(self.url.clone()));
        let mut request = oauth.exchange_client_credentials();
        for (name, value) in &self.fields {
            request = request.add_extra_param(name, value);
        }
        let response = request.request_async(client).await;
        response.map(|it| AccessToken::new(it.access_token().secret(), it.expires_in())).map_err(
            |error| {
                let why = match error {
                    RequestTokenError::Request(error) => {
                        return TokenError { error, is_answer: false };
                    }
                    RequestTokenError::ServerResponse(response) => response.to_string(),
                    RequestTokenError::Parse(error, _) => {
                        format!("its answer is not a token: {}", error.into_inner())
                    }
                    RequestTokenError::Other(why) => why,
                };
                let why = self.masks().text(&sanitize_line(&why));
                let detail = format!("{} gives no access token: {why}", client.server);
                let error = InvocationError::new(InvocationErrorKind::Failed, detail);
                TokenError { error, is_answer: true }
            },
        )
    }
}

/// Why there is no token.
struct TokenError {
    error: InvocationError,
    /// Whether the server answered: it refused the credentials, or looks for them elsewhere.
    is_answer: bool,
}

/// Sends the requests of the crate `oauth2` to a server.
struct TokenClient {
    client: reqwest::Client,
    server: String,
}

impl TokenClient {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, InvocationError> {
        let server = &self.server;
        let not_sent = |error: reqwest::Error| not_sent(server, &error);
        let request = request.try_into().map_err(not_sent)?;
        let response = self.client.execute(request).await.map_err(not_sent)?;
        let status = response.status();
        if is_transient(status) || status.is_server_error() {
            let status = status_words(status.as_u16());
            let detail = format!("{server} answered with {status}");
            return Err(InvocationError::new(InvocationErrorKind::Unreachable, detail));
        }
        let headers = response.headers().clone();
        let body = read(server, response, MAX_RESPONSE).await?;
        let mut whole = HttpResponse::new(with_numeric_lifetime(body));
        // Some servers create a token with another successful status.
        *whole.status_mut() = if status.is_success() { StatusCode::OK } else { status };
        *whole.headers_mut() = headers;
        Ok(whole)
    }
}

/// The response with a number in `expires_in`, which some servers give as a text.
fn with_numeric_lifetime(body: Vec<u8>) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(&body) else { return body };
    let Some(lifetime) = value.get_mut("expires_in") else { return body };
    match lifetime.as_str().and_then(|text| text.parse::<u64>().ok()) {
        Some(seconds) => *lifetime = seconds.into(),
        None => return body,
    }
    value.to_string().into_bytes()
}

impl<'c> AsyncHttpClient<'c> for TokenClient {
    type Error = InvocationError;
    type Future = BoxFuture<'c, Result<HttpResponse, InvocationError>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

struct AccessToken {
    text: String,
    /// When it is not used any more, if the server says when it expires.
    ends: Option<Instant>,
}

impl AccessToken {
    fn new(text: &str, expires_in: Option<Duration>) -> Self {
        let margin = |time: Duration| MAX_MARGIN.min(time / 10);
        let ends = expires_in
            .and_then(|time| Instant::now().checked_add(time.saturating_sub(margin(time))));
        Self { text: text.to_owned(), ends }
    }
}

/// The token of some credentials. Only one request for it is made at a time.
type TokenSlot = Arc<tokio::sync::Mutex<Option<AccessToken>>>;

/// The tokens that the services of a library share.
#[derive(Default)]
pub(super) struct AccessTokens(Mutex<HashMap<ClientCredentials, TokenSlot>>);

impl AccessTokens {
    /// A token that has not expired and is not the `rejected` one.
    pub(super) async fn token(
        &self,
        client: &HttpClient,
        credentials: &ClientCredentials,
        rejected: Option<&str>,
    ) -> Result<String, InvocationError> {
        let slot = self.slot(credentials);
        let mut slot = slot.lock().await;
        if let Some(token) = &*slot
            && token.ends.is_none_or(|ends| Instant::now() < ends)
            && rejected != Some(&token.text)
        {
            return Ok(token.text.clone());
        }
        let server = format!("the authorization server at {}", without_secrets(&credentials.url));
        let client = TokenClient { client: client.to(&credentials.url)?, server };
        let token = match credentials.request(&client, AuthType::BasicAuth).await {
            // Every server has to take them in the header, but not every one does.
            Err(refused) if refused.is_answer => {
                let in_body = credentials.request(&client, AuthType::RequestBody).await;
                in_body.map_err(|error| if error.is_answer { refused } else { error })
            }
            other => other,
        };
        let token = token.map_err(|failed| failed.error)?;
        Ok(slot.insert(token).text.clone())
    }

    fn slot(&self, credentials: &ClientCredentials) -> TokenSlot {
        let mut slots = self.0.lock();
        if slots.len() >= MAX_TOKENS && !slots.contains_key(credentials) {
            slots.clear();
        }
        Arc::clone(slots.entry(credentials.clone()).or_default())
    }
}

impl std::fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCredentials").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for AccessTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessTokens").finish_non_exhaustive()
    }
}
