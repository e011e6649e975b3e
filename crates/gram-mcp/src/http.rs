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

use crate::{ServeError, Server};

/// Where the server answers.
const PATH: &str = "/mcp";
/// The most bytes of a request.
const LONGEST_REQUEST: usize = 4 << 20;
/// How long connections may take to close when the server is to end.
const LAST_BYTES: Duration = Duration::from_secs(5);
/// A session ends when nobody used it for so long. A person may well pause in a conversation.
const SESSION_IDLE: Duration = Duration::from_hours(1);

/// A place on the network where clients connect to.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    token: Option<Arc<str>>,
}

impl fmt::Debug for Listener {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Listener {
    /// Listens at an address: `8080` or `127.0.0.1:8080` for this machine alone, another one for
    /// others, too. Port 0 is any that is free. With a `token`, all requests need to bring it as
    /// `Authorization: Bearer TOKEN`; without, the address has to be one of this machine alone.
    ///
    /// # Errors
    ///
    /// The address is none or is in use, or others could connect without a token.
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
                return Err(wrong(&"an address is a port, or HOST:PORT"));
            }
            Err(_) => lookup_host(address).await.map_err(|error| wrong(&error))?.collect(),
        };
        if token.is_none() && !places.iter().all(|place| is_loopback(place.ip())) {
            return Err(ServeError::NoToken(format!(
                "others can connect at `{address}`, so there has to be a token that they need to know"
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

    /// Which requests are let in, by whom they name as their host and origin.
    fn config(&self, stop: &CancellationToken) -> StreamableHttpServerConfig {
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stop.clone())
            .with_max_request_body_bytes(LONGEST_REQUEST);
        if is_loopback(self.address.ip()) {
            // A page of another site whose name leads here names that site.
            let (own, port) = (self.address.ip().to_string(), self.address.port());
            let origins = ["localhost", "127.0.0.1", "[::1]"];
            config
                .with_allowed_hosts(["localhost", "127.0.0.1", "::1", &*own])
                .with_allowed_origins(origins.map(|host| format!("http://{host}:{port}")))
        } else {
            // By which names others reach this machine is not known here; they need the token. No
            // page in a browser does.
            config.disable_allowed_hosts().enforce_origin_validation()
        }
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

impl Server {
    /// Serves clients over streamable HTTP, until `until` is over. Calls that run then have five
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
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        let server = self.clone();
        let service = StreamableHttpService::new(
            move || Ok(server.connection()),
            Arc::new(sessions),
            listener.config(&stop),
        );
        let guard = middleware::from_fn_with_state(listener.token.clone(), admitted);
        let router = Router::new().route_service(PATH, service).layer(guard);
        // Small messages are sent at once.
        let sockets = listener.socket.tap_io(|socket| {
            // It is slower without, and works.
            let _ = socket.set_nodelay(true);
        });
        let (server, over) = (self.clone(), closing.clone());
        let last_calls = async move {
            until.await;
            // Streams that only wait for news never end by themselves, so calls are waited for
            // here, and then all is cut.
            let _nobody = server.last_calls().await;
            stop.cancel();
            over.cancel();
        };
        let serving = axum::serve(sockets, router).with_graceful_shutdown(last_calls);
        let late = async {
            closing.cancelled().await;
            tokio::time::sleep(LAST_BYTES).await;
        };
        tokio::select! {
            outcome = serving.into_future() => {
                outcome.map_err(|error| ServeError::Address(format!("cannot go on listening: {error}")))
            }
            // A client that does not read its answer does not keep the server from ending.
            () = late => Ok(()),
        }
    }
}

/// Lets a request in if it brings the token, where there has to be one.
async fn admitted(State(token): State<Option<Arc<str>>>, request: Request, next: Next) -> Response {
    match token {
        Some(token) if !brings(request.headers(), &token) => {
            (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response()
        }
        _ => next.run(request).await,
    }
}

fn brings(headers: &HeaderMap, token: &str) -> bool {
    let sent = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
    let Some((scheme, sent)) = sent.and_then(|sent| sent.split_once(' ')) else { return false };
    scheme.eq_ignore_ascii_case("bearer") && same(sent.trim().as_bytes(), token.as_bytes())
}

/// Whether two texts are the same, in a time that says nothing of where they differ.
fn same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0, |all, (left, right)| all | (left ^ right));
    left.len() == right.len() && differences == 0
}
