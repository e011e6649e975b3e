//! Streamable HTTP.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, lookup_host};
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::{ServeError, Server};

/// The path of the endpoint.
const PATH: &str = "/mcp";
/// Maximum size of a request in bytes.
const MAX_REQUEST_BYTES: usize = 4 << 20;
/// Maximum time for connections to close at shutdown.
const MAX_CLOSE_TIME: Duration = Duration::from_secs(5);
/// Idle time after which a session ends, long enough for a pause in a conversation.
const MAX_SESSION_IDLE: Duration = Duration::from_hours(1);

/// A network address that clients connect to.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    token: Option<Arc<str>>,
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
    ///
    /// # Errors
    ///
    /// The address is invalid or in use, or it is not a loopback address and there is no token.
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
        Ok(Self { socket, address, token })
    }

    /// The URL that clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// The allowed hosts and origins of requests.
    fn config(&self, stop: &CancellationToken) -> StreamableHttpServerConfig {
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stop.clone())
            .with_max_request_body_bytes(MAX_REQUEST_BYTES);
        if is_loopback(self.address.ip()) {
            // Protects from DNS rebinding: a page of another site sends that site as host and origin.
            let (own, port) = (self.address.ip().to_string(), self.address.port());
            let origins = ["localhost", "127.0.0.1", "[::1]"];
            config
                .with_allowed_hosts(["localhost", "127.0.0.1", "::1", &*own])
                .with_allowed_origins(origins.map(|host| format!("http://{host}:{port}")))
        } else {
            // The names of this host are unknown, so the token protects it. Requests from browsers
            // are rejected.
            config.disable_allowed_hosts().enforce_origin_validation()
        }
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

impl Server {
    /// Serves clients over streamable HTTP until `until` completes. Running calls then have five
    /// seconds to end.
    ///
    /// # Errors
    ///
    /// The system takes the listener away.
    pub async fn over_http(
        &self,
        listener: Listener,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let (stop, closing) = (CancellationToken::new(), CancellationToken::new());
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(MAX_SESSION_IDLE);
        let server = self.clone();
        let service = StreamableHttpService::new(
            move || Ok(Connection::new(&server)),
            Arc::new(sessions),
            listener.config(&stop),
        );
        let guard = middleware::from_fn_with_state(listener.token.clone(), admitted);
        let router = Router::new().route_service(PATH, service).layer(guard);
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
        let serving = axum::serve(sockets, router).with_graceful_shutdown(drained);
        let late = async {
            closing.cancelled().await;
            tokio::time::sleep(MAX_CLOSE_TIME).await;
        };
        tokio::select! {
            outcome = serving.into_future() => {
                outcome.map_err(|error| ServeError::Address(format!("cannot accept connections: {error}")))
            }
            // A client that does not read its response must not delay shutdown.
            () = late => Ok(()),
        }
    }
}

/// Rejects requests without the token, if one is configured.
async fn admitted(State(token): State<Option<Arc<str>>>, request: Request, next: Next) -> Response {
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
