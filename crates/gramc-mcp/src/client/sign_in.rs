//! Sign-ins of a user to MCP servers, which are kept in files.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use gramc_tools::hex;
use gramc_tools::http_client::{self, TlsOptions};
use gramc_tools::injected_source::{SourceError, source};
use gramc_tools::sanitize::sanitize_line;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use rmcp::transport::auth::{
    AuthError, AuthorizationRequest, AuthorizationSession, CredentialRefreshGuard, CredentialStore,
    StoredCredentials,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::oauth::manager;
use super::token_error::TokenError;
use crate::protocol::{LAST_LEGACY, SESSION_HEADER};

/// The environment variable that names the folder of sign-ins.
const FOLDER_VARIABLE: &str = "GRAMC_SIGN_INS";

/// How long a server may take to refuse a client without a token.
const CHALLENGE_LIMIT: Duration = Duration::from_secs(30);

/// A sign-in that fails.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error("the address of the MCP server must be a whole URL, such as https://example.com/mcp")]
    InvalidAddress,
    #[error("there is no home folder to keep sign-ins in; name a folder in {FOLDER_VARIABLE}")]
    NoFolder,
    #[error("cannot sign in to the MCP server at {server}: {reason}")]
    Failed { server: String, reason: Box<TokenError> },
    #[error("cannot sign in to the MCP server at {server}: {reason}")]
    Refused { server: String, reason: String },
    #[error("no browser came back: {0}")]
    NoBrowser(io::Error),
    #[error("cannot remove the sign-in {}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
}

/// What a user wants of a sign-in.
#[derive(Clone, Default)]
pub struct SignInOptions {
    /// The identifier of a client that is registered already.
    pub client_id: Option<String>,
    /// The source of its secret: `env:NAME` or `file:PATH`.
    pub client_secret: Option<String>,
    /// The scopes to request instead of those that the server names.
    pub scopes: Vec<String>,
    /// TLS options of the server.
    pub tls: TlsOptions,
}

/// The sign-ins in a folder.
#[derive(Debug, Clone)]
pub struct SignIns {
    folder: PathBuf,
}

/// The content of a file: one sign-in.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredSignIn {
    /// The address of the server, for people.
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<ClientSecret>,
    credentials: Option<StoredCredentials>,
}

impl StoredSignIn {
    pub(super) fn scopes(&self) -> &[String] {
        self.credentials.as_ref().map_or(&[], |it| &it.granted_scopes)
    }

    /// The identifier and the secret of the client, if it has a secret.
    pub(super) fn client(&self) -> Option<(String, Result<String, SourceError>)> {
        let secret = self.client_secret.as_ref()?.read();
        Some((self.credentials.as_ref()?.client_id.clone(), secret))
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClientSecret {
    /// Its source, which the user named.
    Source(String),
    /// The secret itself, which the authorization server gave. It is never read as a source.
    Value(String),
}

impl ClientSecret {
    fn read(&self) -> Result<String, SourceError> {
        match self {
            Self::Source(text) => source(&text.as_str().into(), Path::new("")).read_text(),
            Self::Value(secret) => Ok(secret.clone()),
        }
    }
}

impl SignIns {
    /// The sign-ins of the user: in the folder that `GRAMC_SIGN_INS` names, or else in that of the
    /// user's data. `None` if there is no such folder.
    pub fn of_user() -> Option<Self> {
        use etcetera::BaseStrategy as _;

        if let Some(folder) = std::env::var_os(FOLDER_VARIABLE).filter(|it| !it.is_empty()) {
            return Some(Self { folder: folder.into() });
        }
        let base = etcetera::choose_base_strategy().ok()?;
        Some(Self { folder: base.data_dir().join("gramc/sign-ins") })
    }

    /// The file for a server.
    fn path(&self, url: &Url) -> PathBuf {
        self.folder.join(hex(&Sha256::digest(url.as_str()))).with_extension("json")
    }

    pub(super) fn has(&self, url: &Url) -> bool {
        self.path(url).exists()
    }

    pub(super) fn store(&self, url: &Url) -> SignInStore {
        let (path, server) = (self.path(url), http_client::without_secrets(url));
        SignInStore { path, server, is_new: false, client_secret: None }
    }

    pub(super) fn load(&self, url: &Url) -> io::Result<Option<StoredSignIn>> {
        read(&self.path(url))
    }

    /// Begins a sign-in: asks the server for its authorization server, and registers gramc there,
    /// unless the options name a client. The browser ends at `redirect`.
    pub async fn begin(
        &self,
        url: &str,
        redirect: &str,
        options: SignInOptions,
    ) -> Result<PendingSignIn, SignInError> {
        let url = http_client::address(url).ok_or(SignInError::InvalidAddress)?;
        let store = self.store(&url);
        let server = store.server.clone();
        let session = begin(&url, redirect, options, store).await;
        let session = session.map_err(|error| SignInError::Failed {
            server: server.clone(),
            reason: Box::new(error),
        })?;
        Ok(PendingSignIn { session, server })
    }

    /// Forgets the sign-in to a server. Returns whether there was one.
    pub fn forget(&self, url: &str) -> Result<bool, SignInError> {
        let url = http_client::address(url).ok_or(SignInError::InvalidAddress)?;
        let path = self.path(&url);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(SignInError::File { path, error }),
        }
    }
}

/// A sign-in that waits for the user.
pub struct PendingSignIn {
    session: AuthorizationSession,
    server: String,
}

impl PendingSignIn {
    /// The page where the user signs in.
    pub fn page(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Completes the sign-in with the address where the browser ended, and keeps it.
    pub async fn complete(self, address: &str) -> Result<(), SignInError> {
        if let Some(reason) = refusal(address) {
            return Err(SignInError::Refused { server: self.server, reason });
        }
        let handled = self.session.handle_callback_url(address).await;
        handled.map(drop).map_err(|error| SignInError::Failed {
            server: self.server,
            reason: Box::new(error.into()),
        })
    }
}

/// Begins a sign-in that will be stored in `store`.
async fn begin(
    url: &Url,
    redirect: &str,
    options: SignInOptions,
    store: SignInStore,
) -> Result<AuthorizationSession, TokenError> {
    let mut manager = manager(url, &options.tls).await?;
    let challenge = challenge(url, &options.tls).await?;
    let resolution = manager.resolve_metadata_from_challenge(challenge.as_deref()).await?;
    let is_published = resolution.source.is_discovered();
    manager.set_metadata(resolution.metadata);
    let scopes = match options.scopes {
        scopes if scopes.is_empty() => manager.select_initial_scopes(&[]).await,
        scopes => scopes,
    };
    let (id, client_secret) = if let Some(id) = options.client_id {
        (id, options.client_secret.map(ClientSecret::Source))
    } else {
        let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
        match manager.register_client("gramc", redirect, &scopes).await {
            Ok(client) => (client.client_id, client.client_secret.map(ClientSecret::Value)),
            Err(_) if !is_published => return Err(TokenError::NoAuthorizationServer),
            Err(error) => return Err(TokenError::Registration(error)),
        }
    };
    let mut request = AuthorizationRequest::new(redirect)
        .with_initial_scope_selection()
        .with_scopes(scopes)
        .with_preregistered_client(id);
    if let Some(secret) = &client_secret {
        request = request.with_client_secret(secret.read()?);
    }
    manager.set_credential_store(SignInStore { is_new: true, client_secret, ..store });
    Ok(AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)?)
}

/// What a server answers to a client without a token. It may say where to sign in, and for which
/// scopes.
async fn challenge(url: &Url, tls: &TlsOptions) -> Result<Option<String>, reqwest::Error> {
    let client = http_client::client(url, tls).timeout(CHALLENGE_LIMIT).build()?;
    let client_info = json!({"name": "gramc", "version": env!("CARGO_PKG_VERSION")});
    let params =
        json!({"protocolVersion": LAST_LEGACY, "capabilities": {}, "clientInfo": client_info});
    let mut session = None;
    // Some servers only want a token for what follows.
    for (method, params) in [("initialize", params), ("tools/list", json!({}))] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request =
            client.post(url.clone()).header(ACCEPT, "text/event-stream, application/json");
        if let Some(session) = session {
            request = request.header(SESSION_HEADER, session);
        }
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        let response = request.send().await?;
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|it| it.to_str().ok());
        if challenge.is_some() || !response.status().is_success() {
            return Ok(challenge.map(str::to_owned));
        }
        session = response.headers().get(SESSION_HEADER).cloned();
    }
    Ok(None)
}

/// The reason in an address with which an authorization server refuses.
fn refusal(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let find = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value);
    let error = find("error")?;
    let detail = find("error_description").map(|text| format!(": {}", sanitize_line(&text)));
    Some(format!("{}{}", sanitize_line(&error), detail.unwrap_or_default()))
}

/// Keeps the tokens of one server in a file that only its owner may read.
pub(super) struct SignInStore {
    path: PathBuf,
    server: String,
    /// Whether the secret of the client replaces the stored one.
    is_new: bool,
    client_secret: Option<ClientSecret>,
}

impl SignInStore {
    fn store_error(&self, error: &io::Error) -> AuthError {
        AuthError::CredentialStoreError(format!("{}: {error}", self.path.display()))
    }
}

#[async_trait]
impl CredentialStore for SignInStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let stored = read(&self.path).map_err(|error| self.store_error(&error))?;
        Ok(stored.and_then(|stored| stored.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let save = || {
            let client_secret = match &self.client_secret {
                secret if self.is_new => secret.clone(),
                _ => read(&self.path)?.and_then(|stored| stored.client_secret),
            };
            write(
                &self.path,
                &StoredSignIn {
                    server: self.server.clone(),
                    client_secret,
                    credentials: Some(credentials),
                },
            )
        };
        save().map_err(|error| self.store_error(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.store_error(&error)),
            _ => Ok(()),
        }
    }

    /// Programs that share a sign-in renew it one after the other: a token for renewal is often
    /// valid once.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let path = self.path.with_extension("lock");
        let locked = tokio::task::spawn_blocking(move || {
            let file = private().open(path)?;
            file.lock()?;
            Ok(file)
        });
        let locked = locked.await.map_err(io::Error::other).flatten();
        let file = locked.map_err(|error| self.store_error(&error))?;
        Ok(Some(CredentialRefreshGuard::new(file)))
    }
}

fn read(path: &Path) -> io::Result<Option<StoredSignIn>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file as a whole.
fn write(path: &Path, stored: &StoredSignIn) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        let mut folders = fs::DirBuilder::new();
        folders.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
        folders.create(folder)?;
    }
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = private().truncate(true).open(&fresh)?;
    file.write_all(&serde_json::to_vec(stored)?)?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

/// Opens files that only their owner may read.
fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.create(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        options.mode(0o600);
    }
    options
}
