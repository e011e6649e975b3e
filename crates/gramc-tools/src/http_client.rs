//! HTTP clients for services and MCP servers.

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, USER_AGENT,
};
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Certificate, ClientBuilder, Identity, StatusCode, Url};

use crate::injected_source::SourceError;
use crate::sanitize::sanitize_line;

/// The maximum number of redirects, which is the default of `reqwest`.
const MAX_REDIRECTIONS: usize = 10;

/// The headers whose values are no secrets.
static PUBLIC_HEADERS: [HeaderName; 6] =
    [ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE, USER_AGENT];

/// A header has an invalid name or value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid header name or value: `{name}`")]
pub struct HeaderError {
    name: String,
}

/// The headers that a server gets with each request.
#[derive(Clone, Default)]
pub struct RequestHeaders {
    map: HeaderMap,
    secrets: Vec<String>,
}

impl RequestHeaders {
    /// Creates headers from their names and values. All values count as secrets, except those of
    /// headers such as `Accept`. Fails if a name or a value is invalid.
    pub fn new(headers: impl IntoIterator<Item = (String, String)>) -> Result<Self, HeaderError> {
        let mut all = Self::default();
        for (name, value) in headers {
            let (Ok(key), Ok(mut header)) =
                (HeaderName::try_from(&name), HeaderValue::try_from(&value))
            else {
                // The value may be a password.
                return Err(HeaderError { name: sanitize_line(&name) });
            };
            if !PUBLIC_HEADERS.contains(&key) {
                header.set_sensitive(true);
                // A server may repeat a token without its scheme: `Bearer …`.
                all.secrets.extend(value.split_once(' ').map(|(_, token)| token.trim().to_owned()));
                all.secrets.push(value);
            }
            all.map.insert(key, header);
        }
        Ok(all)
    }

    /// Adds the scheme `Bearer` to an `Authorization` that is only a token, as MCP requires.
    #[must_use]
    pub fn with_bearer(mut self) -> Self {
        use reqwest::header::AUTHORIZATION;

        if let Some(token) = self.map.get(AUTHORIZATION).and_then(|value| value.to_str().ok())
            && !token.contains(' ')
            && let Ok(mut value) = HeaderValue::try_from(format!("Bearer {token}"))
        {
            value.set_sensitive(true);
            self.map.insert(AUTHORIZATION, value);
        }
        self
    }

    /// Whether they contain `Authorization`.
    pub fn has_authorization(&self) -> bool {
        self.map.contains_key(reqwest::header::AUTHORIZATION)
    }

    /// The values that must not appear in any output.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// The headers.
    pub fn map(&self) -> &HeaderMap {
        &self.map
    }
}

impl std::fmt::Debug for RequestHeaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.map.keys()).finish()
    }
}

/// Parses an absolute HTTP or HTTPS URL.
pub fn address(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Whether a URL refers to the loopback interface.
pub fn is_loopback(url: &Url) -> bool {
    matches!(url.host_str().unwrap_or_default(), "localhost" | "127.0.0.1" | "[::1]")
}

/// Why TLS options cannot be used.
#[allow(missing_docs, reason = "each variant has its message")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    #[error(transparent)]
    File(#[from] SourceError),
    #[error("no PEM certificate in {0}")]
    NoCertificate(String),
    #[error("no PEM certificate with its private key in {0}")]
    NoIdentity(String),
    #[error("a private key needs its certificate, `cert`")]
    KeyAlone,
}

/// The certificates of a client, in addition to those that the system trusts.
#[derive(Clone, Default)]
pub struct TlsOptions {
    authorities: Vec<Certificate>,
    identity: Option<Identity>,
}

impl TlsOptions {
    /// Reads files in PEM format: certificates of further authorities, and the certificate of the
    /// client with its private key, which may be in the same file.
    pub fn read(
        ca: Option<&Path>,
        cert: Option<&Path>,
        key: Option<&Path>,
    ) -> Result<Self, TlsError> {
        let read = |path: &Path| fs::read(path).map_err(|error| SourceError::file(path, &error));
        let authorities = match ca {
            Some(path) => {
                let found = Certificate::from_pem_bundle(&read(path)?).unwrap_or_default();
                if found.is_empty() {
                    return Err(TlsError::NoCertificate(path.display().to_string()));
                }
                found
            }
            None => Vec::new(),
        };
        let identity = match (cert, key) {
            (Some(cert), key) => {
                let mut pem = read(cert)?;
                if let Some(key) = key {
                    pem.push(b'\n');
                    pem.extend(read(key)?);
                }
                let found = Identity::from_pem(&pem);
                let path = key.unwrap_or(cert);
                Some(found.map_err(|_| TlsError::NoIdentity(path.display().to_string()))?)
            }
            (None, Some(_)) => return Err(TlsError::KeyAlone),
            (None, None) => None,
        };
        Ok(Self { authorities, identity })
    }

    /// Whether there are no further certificates.
    pub fn is_default(&self) -> bool {
        self.authorities.is_empty() && self.identity.is_none()
    }
}

impl std::fmt::Debug for TlsOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsOptions").finish_non_exhaustive()
    }
}

/// Builds a client for the server at a URL.
pub fn client(url: &Url, tls: &TlsOptions) -> ClientBuilder {
    // This fails if the provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // The URL may contain a password, which must not leak to other servers.
    let builder = reqwest::Client::builder()
        .user_agent(concat!("gramc/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::custom(redirect))
        .referer(false)
        .tls_certs_merge(tls.authorities.iter().cloned());
    let builder = match &tls.identity {
        Some(identity) => builder.identity(identity.clone()),
        None => builder,
    };
    // A proxy would resolve the loopback address to its own machine.
    if is_loopback(url) { builder.no_proxy() } else { builder }
}

/// Follows redirects to the same scheme, host and port only: arguments and headers are meant for
/// this server alone. A 301 or 302 is not followed because it turns a POST into a GET, which loses
/// the arguments. A 303, which refers to the response, is followed.
fn redirect(attempt: Attempt<'_>) -> Action {
    let to = attempt.url();
    let origin = |url: &Url| {
        (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default())
    };
    let is_followed = attempt.previous().len() <= MAX_REDIRECTIONS
        && !matches!(attempt.status(), StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND)
        && attempt.previous().last().is_some_and(|from| origin(from) == origin(to));
    if is_followed {
        return attempt.follow();
    }
    let error = RedirectError { status: attempt.status().as_u16(), to: without_secrets(to) };
    attempt.error(error)
}

/// A redirect that is not followed. The message is a phrase that follows the server's name.
#[derive(Debug, thiserror::Error)]
#[error("answered with {}, which leads to {to} and is not followed", status_words(*.status))]
struct RedirectError {
    status: u16,
    to: String,
}

/// The URL without parts that may contain secrets: credentials, query and fragment.
pub fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for URLs without a host, which `address` rejects.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    sanitize_line(url.as_str())
}

/// The code of a status with its name.
pub fn status_words(code: u16) -> String {
    let name = StatusCode::from_u16(code).ok();
    let name = name.and_then(|status| status.canonical_reason()).unwrap_or_default();
    format!("HTTP status {code} {name}").trim_end().to_owned()
}

/// The innermost cause of an error. The outer errors add no information and may contain the URL
/// with its password.
pub fn root(error: &reqwest::Error) -> String {
    let Some(inner) = causes(error).last() else {
        return error.to_string();
    };
    let text = inner.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    sanitize_line(text)
}

/// Whether an established connection was lost.
pub fn is_cut(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| {
        cause.is::<io::Error>()
            // `hyper` is not a direct dependency, so its errors are only recognizable by their
            // message.
            || cause.to_string().starts_with("connection closed before message completed")
    })
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}
