//! Where a server is, and what it is given.

use std::fmt::{self, Display};
use std::sync::Arc;

use gramc_tools::ProgramEnvironment;
use gramc_tools::http_client::{self, RequestHeaders, TlsOptions};
use gramc_tools::sanitize::sanitize_line;
use reqwest::Url;
use smol_str::SmolStr;

use super::oauth::{OAuth, OAuthGrant};
use super::sign_in::SignIns;

/// How a server at a URL is spoken to.
#[derive(Clone, Default)]
pub struct UrlOptions {
    /// The headers of each request.
    pub headers: RequestHeaders,
    /// What TLS needs.
    pub tls: TlsOptions,
    /// How requests are authorized, if the headers do not do it.
    pub oauth: Option<OAuthGrant>,
}

impl UrlOptions {
    /// The sign-in of the user, unless the headers say who the client is.
    pub fn of_user(headers: RequestHeaders, tls: TlsOptions) -> Self {
        let is_known = headers.has_authorization();
        let sign_ins = if is_known { None } else { SignIns::of_user() };
        Self { headers, tls, oauth: sign_ins.map(OAuthGrant::SignIn) }
    }
}

/// A server, with its name in messages if it has one.
#[derive(Clone)]
pub(super) struct ServerAddress {
    pub(super) place: ServerPlace,
    pub(super) name: Option<SmolStr>,
}

/// A program with its arguments and its environment, or a URL with options.
#[derive(Clone)]
pub(super) enum ServerPlace {
    Command { words: Arc<[String]>, environment: Arc<ProgramEnvironment> },
    Url(Arc<UrlAddress>),
}

pub(super) struct UrlAddress {
    pub(super) url: Url,
    pub(super) headers: RequestHeaders,
    pub(super) tls: TlsOptions,
    /// The tokens, which all connections share.
    pub(super) oauth: Option<Arc<OAuth>>,
    secrets: Vec<String>,
}

impl ServerAddress {
    /// The values that the server gets and that must not appear in any output.
    pub(super) fn secrets(&self) -> &[String] {
        match &self.place {
            ServerPlace::Command { environment, .. } => environment.secrets(),
            ServerPlace::Url(address) => &address.secrets,
        }
    }

    /// The server that a program is.
    pub(super) fn command(
        words: impl Into<Arc<[String]>>,
        environment: ProgramEnvironment,
    ) -> Self {
        let (words, environment) = (words.into(), Arc::new(environment));
        Self { place: ServerPlace::Command { words, environment }, name: None }
    }

    /// The server at a URL. `None` if that is not a whole URL.
    pub(super) fn url(url: &str, options: UrlOptions) -> Option<Self> {
        let url = http_client::address(url)?;
        let UrlOptions { headers, tls, oauth } = options;
        let mut secrets = headers.secrets().to_vec();
        if let Some(OAuthGrant::ClientCredentials { secret, .. }) = &oauth {
            secrets.push(secret.clone());
        }
        let oauth = oauth.map(|grant| Arc::new(OAuth::new(&url, &tls, grant)));
        let address = Arc::new(UrlAddress { url, headers, tls, oauth, secrets });
        Some(Self { place: ServerPlace::Url(address), name: None })
    }
}

/// The server without the arguments and credentials, which may be secret, as part of a message.
impl Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            return write!(f, "`{}`", sanitize_line(name));
        }
        match &self.place {
            ServerPlace::Command { words, .. } => {
                write!(f, "`{}`", sanitize_line(words.first().map_or("", String::as_str)))
            }
            ServerPlace::Url(address) => {
                write!(f, "at {}", http_client::without_secrets(&address.url))
            }
        }
    }
}
