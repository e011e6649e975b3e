//! Streamable HTTP.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::serve::ListenerExt as _;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::{TcpListener, lookup_host};
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::metrics::MEDIA_TYPE;
use crate::protocol::{SESSION_HEADER, UNTYPED, is_untyped};
use crate::sessions::{HttpSessions, MAX_SESSIONS, MIN_IDLE};
use crate::{ServeError, Server};

const PATH: &str = "/mcp";
/// The header that repeats the method of a request.
const METHOD_HEADER: &str = "mcp-method";
const METRICS_PATH: &str = "/metrics";
/// The path that shows that the server runs.
const HEALTH_PATH: &str = "/healthz";
/// Maximum size of a request in bytes.
const MAX_REQUEST_BYTES: usize = 4 << 20;
/// Maximum time for connections to close at shutdown.
const MAX_CLOSE_TIME: Duration = Duration::from_secs(5);

/// A network address that clients connect to.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    token: Option<Arc<str>>,
    path: String,
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
        Ok(Self { socket, address, token, path: PATH.to_owned() })
    }

    /// Listens at a free loopback port, for clients that know the name.
    pub(crate) async fn bind_hidden(name: &str) -> Result<Self, ServeError> {
        Ok(Self { path: format!("{PATH}/{name}"), ..Self::bind("0", None).await? })
    }

    /// The URL that clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
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
    pub async fn over_http(
        &self,
        listener: Listener,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServeError> {
        let (stop, closing) = (CancellationToken::new(), CancellationToken::new());
        let sessions = Arc::new(HttpSessions::new(MAX_SESSIONS, MIN_IDLE));
        let server = self.clone();
        let service = StreamableHttpService::new(
            move || Ok(Connection::new(&server)),
            Arc::clone(&sessions.manager),
            listener.config(&stop),
        );
        let guard = middleware::from_fn_with_state(listener.token.clone(), require_token);
        let metrics = self.clone();
        let metrics = move || async move {
            ([(CONTENT_TYPE, MEDIA_TYPE)], metrics.0.metrics.text()).into_response()
        };
        let router = Router::new()
            .route_service(&format!("{}/", listener.path), service.clone())
            .route_service(&listener.path, service)
            .layer(middleware::from_fn_with_state(sessions, parse_request))
            .route(METRICS_PATH, get(metrics))
            .layer(guard)
            .route(HEALTH_PATH, get(|| async { "ok\n" }))
            .layer(middleware::from_fn_with_state(listener.address.ip(), reject_other_hosts));
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

/// Answers a body that is not a message with an error of JSON-RPC, for which rmcp has plain text
/// only. Makes room for new sessions.
async fn parse_request(
    State(sessions): State<Arc<HttpSessions>>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(id) = session_of(request.headers()) {
        sessions.touch(id).await;
    }
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let accepts_all = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("*/*"));
    if parts.headers.get(ACCEPT).is_none_or(accepts_all) {
        parts
            .headers
            .insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
    let Ok(bytes) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let request = match serde_json::from_slice(&bytes) {
        Ok(ClientJsonRpcMessage::Request(request)) => Some(request.request),
        Ok(_) => None,
        Err(error) => return unreadable(&bytes, &error),
    };
    let changed = match &request {
        Some(ClientRequest::InitializeRequest(_)) if !sessions.make_room().await => {
            return (StatusCode::SERVICE_UNAVAILABLE, "too many sessions").into_response();
        }
        Some(ClientRequest::CallToolRequest(_)) => with_text_arguments(&bytes),
        Some(request) if is_untyped(request.method()) => {
            make_untyped(&bytes, request.method(), &mut parts.headers)
        }
        _ => None,
    };
    let body = match changed {
        Some(text) => {
            parts.headers.remove(CONTENT_LENGTH);
            Body::from(text)
        }
        None => Body::from(bytes),
    };
    let response = next.run(Request::from_parts(parts, body)).await;
    if let Some(id) = session_of(response.headers()) {
        sessions.touch(id).await;
    }
    response
}

/// A call whose arguments are text, as which they mean the same. rmcp cannot parse it, so it leaves the
/// result as it is; in the result of a call that it parses, it drops unknown keys.
fn with_text_arguments(call: &[u8]) -> Option<String> {
    let mut call: Value = serde_json::from_slice(call).ok()?;
    let params = call.get_mut("params")?.as_object_mut()?;
    let arguments = params.get("arguments").unwrap_or(&Value::Null);
    let text = if arguments.is_null() { "{}".to_owned() } else { arguments.to_string() };
    params.insert("arguments".to_owned(), text.into());
    Some(call.to_string())
}

/// A request with a method that rmcp does not know, so that it leaves the result as it is. The
/// header that repeats the method has to be the same.
fn make_untyped(request: &[u8], method: &str, headers: &mut HeaderMap) -> Option<String> {
    let mut request: Value = serde_json::from_slice(request).ok()?;
    let untyped = format!("{UNTYPED}{method}");
    if headers.get(METHOD_HEADER).is_some_and(|header| header == method) {
        headers.insert(METHOD_HEADER, HeaderValue::from_str(&untyped).ok()?);
    }
    *request.get_mut("method")? = untyped.into();
    Some(request.to_string())
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER)?.to_str().ok()
}

/// The answer to a body that is not JSON, or not a message.
fn unreadable(body: &[u8], error: &serde_json::Error) -> Response {
    match serde_json::from_slice::<Value>(body) {
        Ok(message) => {
            let id = message.get("id").filter(|id| id.is_string() || id.is_number());
            let why = format!("invalid message: {error}");
            refusal(id.unwrap_or(&Value::Null), ErrorCode::INVALID_REQUEST, &why)
        }
        Err(error) => {
            refusal(&Value::Null, ErrorCode::PARSE_ERROR, &format!("invalid JSON: {error}"))
        }
    }
}

fn refusal(id: &Value, code: ErrorCode, message: &str) -> Response {
    let error = json!({"code": code.0, "message": message});
    let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
    let headers = [(CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, headers, body.to_string()).into_response()
}

/// Rejects requests that name another host than the loopback host that they reach, as those from web
/// pages do whose host name resolves to it.
async fn reject_other_hosts(State(own): State<IpAddr>, request: Request, next: Next) -> Response {
    let named = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let name = named.map(|named| match named.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => named,
    });
    let is_own = name.is_none_or(|name| {
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        name.eq_ignore_ascii_case("localhost") || address.is_ok_and(is_loopback)
    });
    if is_loopback(own) && !is_own {
        return StatusCode::FORBIDDEN.into_response();
    }
    next.run(request).await
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
