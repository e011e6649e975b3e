//! Access tokens for MCP servers, by OAuth 2.1.

use std::sync::Arc;
use std::time::Duration;

use gramc_tools::access_token::AccessToken;
use gramc_tools::http_client::{self, TlsOptions};
use gramc_tools::masks::SecretMasks;
use gramc_tools::sanitize::sanitize_line;
use parking_lot::RwLock;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, ClientCredentialsConfig, InMemoryCredentialStore,
    OAuthClientConfig,
};
use serde_json::Value;
use tokio::sync::Mutex;

use super::sign_in::{SignIns, StoredSignIn};
use super::signed_client::{SignedClient, SigningKey};
use super::token_error::TokenError;

/// How long an authorization server may take to give a token.
const TOKEN_LIMIT: Duration = Duration::from_secs(30);

/// How a client gets the right to use a server.
#[derive(Clone)]
pub enum OAuthGrant {
    /// A user has signed in, and the tokens are kept in a folder.
    SignIn(SignIns),
    /// The client has credentials of its own.
    ClientCredentials {
        /// The identifier of the client.
        id: String,
        /// The secret of the client.
        secret: String,
        /// The requested scopes.
        scopes: Vec<String>,
    },
    /// The client signs its requests for tokens.
    PrivateKey {
        /// The identifier of the client.
        id: String,
        /// Its private key.
        key: Arc<SigningKey>,
        /// The requested scopes.
        scopes: Vec<String>,
    },
}

/// The access tokens for a server.
pub(super) struct OAuth {
    url: Url,
    tls: TlsOptions,
    grant: OAuthGrant,
    state: Mutex<OAuthState>,
    /// Masks all tokens so far.
    masks: RwLock<(Vec<String>, Arc<SecretMasks>)>,
}

#[derive(Default)]
struct OAuthState {
    manager: Option<AuthorizationManager>,
    /// Whether the manager knows the authorization server.
    is_ready: bool,
    /// The token of a client that signs its requests.
    signed: Option<AccessToken>,
}

impl OAuth {
    pub(super) fn new(url: &Url, tls: &TlsOptions, grant: OAuthGrant) -> Self {
        let (url, tls) = (url.clone(), tls.clone());
        Self { url, tls, grant, state: Mutex::default(), masks: RwLock::default() }
    }

    /// The token for the next request. `None` without a sign-in.
    pub(super) async fn token(&self) -> Result<Option<String>, TokenError> {
        let mut state = self.state.lock().await;
        if let Some(token) = self.find_signed_token(&mut state, None).await {
            return token.map(Some);
        }
        let Some(manager) = self.manager(&mut state).await? else { return Ok(None) };
        // A token that is still valid needs no request.
        let valid = manager.get_access_token().await.ok();
        let token = match valid {
            Some(token) => Ok(token),
            None => self.fresh_token(&mut state).await,
        };
        if token.is_err() {
            // The user may sign in again, as another client.
            *state = OAuthState::default();
        }
        let token = token?;
        self.mask_from_now_on(&token);
        Ok(Some(token))
    }

    /// Another token in place of one that the server rejected, if there is one.
    pub(super) async fn token_after(&self, rejected: &str) -> Option<String> {
        let mut state = self.state.lock().await;
        if let Some(token) = self.find_signed_token(&mut state, Some(rejected)).await {
            return token.ok();
        }
        let manager = self.manager(&mut state).await.ok()??;
        // Another request or another program may have got one meanwhile.
        let token = match manager.get_access_token().await {
            Ok(token) if token != rejected => token,
            _ => {
                self.prepare(&mut state).await.ok()?;
                self.renew_token(&state).await.ok()?
            }
        };
        self.mask_from_now_on(&token);
        (token != rejected).then_some(token)
    }

    /// A token that is not the rejected one, for a client that signs its requests.
    async fn find_signed_token(
        &self,
        state: &mut OAuthState,
        rejected: Option<&str>,
    ) -> Option<Result<String, TokenError>> {
        let OAuthGrant::PrivateKey { id, key, scopes } = &self.grant else { return None };
        if let Some(token) = state.signed.as_ref().filter(|token| token.is_valid(rejected)) {
            return Some(Ok(token.text.clone()));
        }
        let requested = self.request_signed(&SignedClient { id, key, scopes }).await;
        Some(match requested {
            Ok(token) => {
                self.mask_from_now_on(&token.text);
                Ok(state.signed.insert(token).text.clone())
            }
            Err(error) => Err(TokenError::NoToken(Box::new(error))),
        })
    }

    async fn request_signed(&self, client: &SignedClient<'_>) -> Result<AccessToken, TokenError> {
        let manager = manager(&self.url, &self.tls).await?;
        let metadata = manager.resolve_metadata().await?.metadata;
        let issuer = metadata.issuer.ok_or(TokenError::NoIssuer)?;
        let endpoint = Url::parse(&metadata.token_endpoint)
            .map_err(|error| TokenError::InvalidEndpoint(error.to_string()))?;
        let is_local = http_client::is_loopback(&endpoint);
        if is_local && !http_client::is_loopback(&self.url) {
            return Err(TokenError::LocalServer);
        }
        if endpoint.scheme() != "https" && !is_local {
            return Err(TokenError::NoTls);
        }
        let http = http_client::client(&endpoint, &self.tls).timeout(TOKEN_LIMIT).build()?;
        client.request(&http, &issuer, &endpoint, &resource(&self.url)).await
    }

    /// Masks the tokens in a text of the server.
    pub(super) fn mask(&self, text: String) -> String {
        let masks = Arc::clone(&self.masks.read().1);
        if masks.is_empty() { text } else { masks.text(&text) }
    }

    fn mask_from_now_on(&self, token: &str) {
        let is_known = |tokens: &[String]| tokens.iter().any(|known| known == token);
        if is_known(&self.masks.read().0) {
            return;
        }
        let mut masks = self.masks.write();
        masks.0.push(token.to_owned());
        masks.1 = Arc::new(SecretMasks::of_library(&masks.0));
    }

    /// The manager, which makes no request by itself. `None` without a sign-in.
    async fn manager<'s>(
        &self,
        state: &'s mut OAuthState,
    ) -> Result<Option<&'s AuthorizationManager>, TokenError> {
        if let OAuthGrant::SignIn(sign_ins) = &self.grant
            && !sign_ins.has(&self.url)
        {
            *state = OAuthState::default();
            return Ok(None);
        }
        if state.manager.is_none() {
            let mut manager = manager(&self.url, &self.tls).await?;
            match &self.grant {
                OAuthGrant::SignIn(sign_ins) => {
                    manager.set_credential_store(sign_ins.store(&self.url));
                }
                _ => {
                    manager.set_credential_store(InMemoryCredentialStore::new());
                }
            }
            state.manager = Some(manager);
        }
        Ok(state.manager.as_ref())
    }

    /// Asks for the authorization server, so that the manager can request tokens.
    async fn prepare(&self, state: &mut OAuthState) -> Result<(), TokenError> {
        let OAuthState { manager: Some(manager), is_ready, .. } = state else { return Ok(()) };
        if *is_ready {
            return Ok(());
        }
        let failed = |error: AuthError| self.explain(error);
        if let OAuthGrant::SignIn(sign_ins) = &self.grant {
            manager.initialize_from_store().await.map_err(failed)?;
            let stored = sign_ins.load(&self.url)?;
            if let Some((id, secret)) = stored.as_ref().and_then(StoredSignIn::client) {
                let config = OAuthClientConfig::new(id, self.url.as_str());
                let config = config.with_client_secret(secret?);
                manager.configure_client(config).map_err(failed)?;
            }
        } else {
            let resolution = manager.resolve_metadata().await.map_err(failed)?;
            manager.set_metadata(resolution.metadata);
            let config = self.client_credentials();
            manager.validate_client_credentials_metadata(&config).map_err(failed)?;
            manager.configure_client_credentials(&config).map_err(failed)?;
        }
        *is_ready = true;
        Ok(())
    }

    /// A token that is not about to expire.
    async fn fresh_token(&self, state: &mut OAuthState) -> Result<String, TokenError> {
        self.prepare(state).await?;
        let manager = state.manager.as_ref().ok_or(TokenError::NoAuthorizationServer)?;
        match manager.get_access_token().await {
            Ok(token) => Ok(token),
            Err(AuthError::AuthorizationRequired) => self.renew_token(state).await,
            Err(error) => Err(self.explain(error)),
        }
    }

    /// A token that was requested just now.
    async fn renew_token(&self, state: &OAuthState) -> Result<String, TokenError> {
        let manager = state.manager.as_ref().ok_or(TokenError::NoAuthorizationServer)?;
        let renewed = match &self.grant {
            OAuthGrant::SignIn(_) => manager.refresh_token().await,
            _ => manager.exchange_client_credentials(&self.client_credentials()).await,
        };
        let response = renewed.map_err(|error| self.explain(error))?;
        // The type of the crate `oauth2` has no other way to it without that crate.
        let response = serde_json::to_value(response).unwrap_or_default();
        let token = response.get("access_token").and_then(Value::as_str);
        token.map(str::to_owned).ok_or(TokenError::MissingToken)
    }

    fn client_credentials(&self) -> ClientCredentialsConfig {
        let (id, secret, scopes) = match &self.grant {
            OAuthGrant::ClientCredentials { id, secret, scopes } => (id, secret, scopes),
            _ => (&String::new(), &String::new(), &Vec::new()),
        };
        ClientCredentialsConfig::ClientSecret {
            client_id: id.clone(),
            client_secret: secret.clone(),
            scopes: scopes.clone(),
            resource: Some(resource(&self.url)),
        }
    }

    /// How a user gets the right to use the server, or another scope of it.
    pub(super) fn advice(&self, scope: Option<&str>) -> Option<String> {
        let OAuthGrant::SignIn(sign_ins) = &self.grant else { return None };
        let url = match http_client::without_secrets(&self.url) {
            url if url == self.url.as_str() => url,
            // What is left out may be a secret, and is part of the address.
            _ => "URL".to_owned(),
        };
        let Some(scope) = scope else { return Some(format!("sign in with `gramc login {url}`")) };
        // Rights that were granted are asked for again, because a new token replaces the old one.
        let stored = sign_ins.load(&self.url).ok().flatten();
        let mut scopes = stored.map(|stored| stored.scopes().to_vec()).unwrap_or_default();
        scopes.extend(scope.split_whitespace().map(sanitize_line));
        scopes.sort_unstable();
        scopes.dedup();
        Some(format!("sign in with `gramc login {url} --scope \"{}\"`", scopes.join(" ")))
    }

    fn explain(&self, error: AuthError) -> TokenError {
        match (&error, &self.grant) {
            (
                AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_),
                OAuthGrant::SignIn(_),
            ) => TokenError::Expired { advice: self.advice(None).unwrap_or_default() },
            _ => TokenError::NoToken(Box::new(error.into())),
        }
    }
}

/// The identifier of a server, for which tokens are requested.
fn resource(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.into()
}

/// A manager without state. Hosts that the server names may have private addresses, as those of
/// companies do, but no others than public ones and these.
pub(super) async fn manager(
    url: &Url,
    tls: &TlsOptions,
) -> Result<AuthorizationManager, TokenError> {
    // Also sets the provider of cryptography.
    let client = http_client::client(url, tls);
    let mut manager = AuthorizationManager::new_allowing_private_addresses(url.clone()).await?;
    if !tls.is_default() {
        manager.with_client(client.build()?)?;
    }
    Ok(manager)
}
