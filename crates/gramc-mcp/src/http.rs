//! Streamable HTTP.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use axum::{Router, routing};
use tokio::net::{TcpListener, lookup_host};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::endpoint::{self, Endpoint};
use crate::metrics::MEDIA_TYPE;
use crate::{ServeError, Server};

const PATH: &str = "/mcp";
/// Maximum number of sessions, unless the listener has another one.
const MAX_SESSIONS: usize = 100;
const METRICS_PATH: &str = "/metrics";
/// The path that shows that the server runs.
const HEALTH_PATH: &str = "/healthz";
/// Maximum time for connections to close at shutdown.
const MAX_CLOSE_TIME: Duration = Duration::from_secs(5);

/// A network address that clients connect to.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    token: Option<Arc<str>>,
    path: String,
    max_sessions: usize,
}

impl fmt::Debug for Listener {
    /// Omits the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Listener {
    /// Listens at an address. `8080` is short for `127.0.0.1:8080`; port 0 selects a free port. With
    /// a `token`, all requests must send `Authorization: Bearer TOKEN`. Without a token, only
    /// loopback addresses are allowed.
    pub async fn bind(address: &str, token: Option<String>) -> Result<Self, ServeError> {
        let wrong = |why: &dyn fmt::Display| {
            let mut why = why.to_string();
            if let Some((words, _)) = why.split_once(" (os error") {
                why = words.to_lowercase();
            }
            ServeError::Address(format!("cannot listen at `{address}`: {why}"))
        };
        if token.as_deref().is_some_and(|token| token.trim().is_empty()) {
            return Err(wrong(&"the token is empty"));
        }
        let places: Vec<SocketAddr> = match address.parse::<u16>() {
            Ok(port) => vec![SocketAddr::from(([127, 0, 0, 1], port))],
            Err(_) if !address.contains(':') => {
                return Err(wrong(&"expected a port or HOST:PORT"));
            }
            Err(_) => lookup_host(address).await.map_err(|error| wrong(&error))?.collect(),
        };
        if token.is_none() && !places.iter().all(|place| is_loopback(place.ip())) {
            return Err(ServeError::NoToken(format!(
                "`{address}` is not a loopback address, so a token is required"
            )));
        }
        let socket = TcpListener::bind(&places[..]).await.map_err(|error| wrong(&error))?;
        let address = socket.local_addr().map_err(|error| wrong(&error))?;
        let token = token.map(|token| Arc::from(token.trim()));
        Ok(Self { socket, address, token, path: PATH.to_owned(), max_sessions: MAX_SESSIONS })
    }

    /// Listens at a free loopback port, for clients that know the name.
    pub(crate) async fn bind_hidden(name: &str) -> Result<Self, ServeError> {
        Ok(Self { path: format!("{PATH}/{name}"), ..Self::bind("0", None).await? })
    }

    /// Limits the number of sessions. If all are in use, new clients are rejected.
    #[must_use]
    pub fn with_max_sessions(self, max_sessions: usize) -> Self {
        Self { max_sessions, ..self }
    }

    /// The URL that clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

impl Server {
    /// Serves clients over streamable HTTP until `until` completes. Running calls then have five
    /// seconds to end.
    pub async fn over_http(
        &self,
        listener: Listener,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let (stop, closing) = (CancellationToken::new(), CancellationToken::new());
        let endpoint = Arc::new(Endpoint::new(self, listener.max_sessions, stop.clone()));
        let guard = middleware::from_fn_with_state(listener.token.clone(), require_token);
        let metrics = self.clone();
        let metrics = move || async move {
            ([(CONTENT_TYPE, MEDIA_TYPE)], metrics.0.metrics.text()).into_response()
        };
        let own = routing::post(endpoint::post).get(endpoint::get).delete(endpoint::delete);
        let router = Router::new()
            .route(&format!("{}/", listener.path), own.clone())
            .route(&listener.path, own)
            .with_state(Arc::clone(&endpoint))
            .route(METRICS_PATH, routing::get(metrics))
            .layer(guard)
            .route(HEALTH_PATH, routing::get(|| async { "ok\n" }))
            .layer(middleware::from_fn_with_state(listener.address, reject_other_sites));
        // Send small messages immediately.
        let sockets = listener.socket.tap_io(|socket| {
            // Only an optimization.
            let _ = socket.set_nodelay(true);
        });
        let (server, over) = (self.clone(), closing.clone());
        let drained = async move {
            until.await;
            // Event streams never end by themselves, so they are cut after the calls have
            // ended.
            let _no_new_calls = server.drain_calls().await;
            stop.cancel();
            over.cancel();
        };
        let idle = Arc::clone(&endpoint);
        let _ending_idle =
            AbortOnDropHandle::new(tokio::spawn(async move { idle.sessions.end_idle().await }));
        let serving = axum::serve(sockets, router).with_graceful_shutdown(drained);
        let late = async {
            closing.cancelled().await;
            tokio::time::sleep(MAX_CLOSE_TIME).await;
        };
        let outcome = tokio::select! {
            outcome = serving.into_future() => {
                outcome.map_err(|error| ServeError::Address(format!("cannot accept connections: {error}")))
            }
            // A client that does not read its response must not delay shutdown.
            () = late => Ok(()),
        };
        let _ = tokio::time::timeout(MAX_CLOSE_TIME, endpoint.close()).await;
        outcome
    }
}

/// Rejects requests of web pages. At a loopback address, these name another host than the one that they
/// reach, if their host name resolves to it, or their own origin. The names of other addresses are
/// unknown, so the token protects them.
async fn reject_other_sites(
    State(own): State<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    if comes_from_elsewhere(own, request.headers()) {
        return StatusCode::FORBIDDEN.into_response();
    }
    next.run(request).await
}

fn comes_from_elsewhere(own: SocketAddr, headers: &HeaderMap) -> bool {
    let header = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let (host, origin) = (header(HOST), header(ORIGIN));
    if !is_loopback(own.ip()) {
        return origin.is_some();
    }
    let is_own_origin = |origin: &str| {
        let host = origin.strip_prefix("http://").and_then(|host| host.rsplit_once(':'));
        host.is_some_and(|(host, port)| is_loopback_name(host) && port.parse() == Ok(own.port()))
    };
    !host.is_none_or(is_loopback_name) || !origin.is_none_or(is_own_origin)
}

/// Whether a host, with or without a port, is this machine.
fn is_loopback_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(is_loopback)
}

/// Rejects requests without the token, if one is configured.
async fn require_token(
    State(token): State<Option<Arc<str>>>,
    request: Request,
    next: Next,
) -> Response {
    match token {
        Some(token) if !has_token(request.headers(), &token) => {
            (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response()
        }
        _ => next.run(request).await,
    }
}

fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let sent = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let Some((scheme, sent)) = sent.and_then(|sent| sent.split_once(' ')) else { return false };
    scheme.eq_ignore_ascii_case("bearer") && same(sent.trim().as_bytes(), token.as_bytes())
}

/// Compares two byte strings in constant time.
fn same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0, |all, (left, right)| all | (left ^ right));
    left.len() == right.len() && differences == 0
}
