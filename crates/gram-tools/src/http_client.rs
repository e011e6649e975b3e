//! HTTP clients for services and MCP servers.

use std::error::Error;
#[cfg(feature = "http")]
use std::io;

use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{ClientBuilder, StatusCode, Url};

use crate::sanitize::shown;

/// The most redirections that are followed; as many as `reqwest` follows by itself.
const MAX_REDIRECTIONS: usize = 10;

/// The address, where it is a whole URL of the web.
pub(crate) fn address(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Whether an address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    matches!(url.host_str().unwrap_or_default(), "localhost" | "127.0.0.1" | "[::1]")
}

/// The builder of a client for an address.
pub(crate) fn client(url: &Url) -> ClientBuilder {
    // The second time there is one already, the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // The address may hold a password, which no other server may see.
    let builder = reqwest::Client::builder()
        .user_agent(concat!("gramc/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::custom(redirect))
        .referer(false);
    // A proxy would resolve the loopback address to itself.
    if is_loopback(url) { builder.no_proxy() } else { builder }
}

/// Follows redirections to the same scheme, host and port: arguments and headers hold what is meant
/// for this server alone. One that would make a GET of a POST, and so lose the arguments, is none to
/// follow, except to where the answer lies (303).
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

/// A redirection that is not followed, in words that follow the server's name.
#[derive(Debug, thiserror::Error)]
#[error("answered with {}, which leads to {to} and is not followed", status_words(*.status))]
struct RedirectError {
    status: u16,
    to: String,
}

/// The address without what may be a password: a user, and the questions behind the path.
pub(crate) fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for addresses without a host, which are refused before.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    shown(url.as_str())
}

pub(crate) fn status_words(code: u16) -> String {
    let name = StatusCode::from_u16(code).ok();
    let name = name.and_then(|status| status.canonical_reason()).unwrap_or_default();
    format!("HTTP status {code} {name}").trim_end().to_owned()
}

/// The innermost reason of an error; those around it only say that there is one, and may hold the
/// address with its password.
pub(crate) fn root(error: &reqwest::Error) -> String {
    let Some(inner) = causes(error).last() else {
        return error.to_string();
    };
    let text = inner.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    shown(text)
}

/// Whether the connection was there, and then was not any more.
#[cfg(feature = "http")]
pub(crate) fn is_cut(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| {
        cause.is::<io::Error>()
            // `hyper`, whose errors these are, says nothing more exact to those who do not know it.
            || cause.to_string().starts_with("connection closed before message completed")
    })
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}
