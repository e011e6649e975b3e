//! Access tokens for the credentials of a client.

use std::collections::HashMap;
use std::sync::Arc;

use gramc_model::RequestPlace;
use parking_lot::Mutex;
use reqwest::Url;

use super::request::RequestError;
use super::{HttpClient, not_sent};
use crate::access_token::{AccessToken, AccessTokenError};
use crate::http_client::without_secrets;
use crate::invocation::InvocationError;
use crate::masks::SecretMasks;
use crate::request_text::in_query;

/// The maximum number of credentials whose tokens are kept.
const MAX_TOKENS: usize = 64;

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
        let (id, secret) = (in_query(&self.id), in_query(&self.secret));
        SecretMasks::new([
            format!("{id}:{secret}"),
            format!("{}:{}", self.id, self.secret),
            secret,
            self.secret.clone(),
        ])
    }

    /// Requests a token. The request has the credentials in a header or in its body.
    async fn request(
        &self,
        client: &reqwest::Client,
        in_header: bool,
    ) -> Result<AccessToken, AccessTokenError> {
        let mut fields = vec![("grant_type", "client_credentials")];
        if !in_header {
            fields.extend([("client_id", &*self.id), ("client_secret", &*self.secret)]);
        }
        fields.extend(self.fields.iter().map(|(name, value)| (&**name, &**value)));
        let credentials = in_header.then_some([&*self.id, &*self.secret]);
        AccessToken::request(client, &self.url, &fields, credentials).await
    }

    fn explain(&self, error: &AccessTokenError) -> InvocationError {
        let server = format!("the authorization server at {}", without_secrets(&self.url));
        let why = match error {
            AccessTokenError::Http(error) => return not_sent(&server, error),
            AccessTokenError::Unavailable(_) => {
                return InvocationError::unreachable(format!("{server} {error}"));
            }
            AccessTokenError::Refused { reason, .. } => reason.clone(),
            error => format!("it {error}"),
        };
        let why = self.masks().text(&why);
        InvocationError::failure(format!("{server} gives no access token: {why}"))
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
        if let Some(token) = slot.as_ref().filter(|token| token.is_valid(rejected)) {
            return Ok(token.text.clone());
        }
        let client = client.to(&credentials.url)?;
        let token = match credentials.request(&client, true).await {
            Err(error @ (AccessTokenError::Http(_) | AccessTokenError::Unavailable(_))) => {
                Err(error)
            }
            // Every server has to support credentials in the header, but not every one does.
            Err(refused) => {
                credentials.request(&client, false).await.map_err(|error| match error {
                    AccessTokenError::Http(_) | AccessTokenError::Unavailable(_) => error,
                    _ => refused,
                })
            }
            token => token,
        };
        let token = token.map_err(|error| credentials.explain(&error))?;
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
