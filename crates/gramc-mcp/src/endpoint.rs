//! The endpoint of streamable HTTP: messages of clients, and streams of events for them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use futures_util::stream::{self, unfold};
use gramc_tools::RpcError;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::Server;
use crate::connection::{ClientConnection, answer};
use crate::message::{Message, Unreadable};
use crate::outbox::{EventReader, EventStream, Outbox, StreamEvent};
use crate::param_headers::compare_headers;
use crate::protocol::{
    ClientIntroduction, EMPTY_EVENTS, HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST,
    METHOD_NOT_FOUND, MISSING_CAPABILITY, REVISION_KEY, REVISIONS, SESSION_HEADER,
    UNSUPPORTED_REVISION, internal, is_modern,
};
use crate::sessions::{HttpSession, HttpSessions, MIN_IDLE, NumberedStream};

/// The header with the id of a session.
const SESSION: HeaderName = HeaderName::from_static(SESSION_HEADER);
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// Maximum size of a message in bytes.
const MAX_REQUEST_BYTES: usize = 4 << 20;
/// How long an answer may take to be sent as JSON. After that, it is sent as an event, so that the
/// connection shows that it is alive.
const MAX_SILENCE: Duration = Duration::from_secs(2);
/// Interval of the signs of life of event streams.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a client should wait before it reads on after its connection broke.
const RETRY: Duration = Duration::from_secs(1);

/// Where messages arrive.
pub(crate) struct Endpoint {
    server: Server,
    pub(crate) sessions: HttpSessions,
    /// Cancelled when the server ends.
    stop: CancellationToken,
}

impl Endpoint {
    pub(crate) fn new(server: &Server, max_sessions: usize, stop: CancellationToken) -> Self {
        let sessions = HttpSessions::new(max_sessions, MIN_IDLE);
        Self { server: server.clone(), sessions, stop }
    }

    /// Ends all conversations.
    pub(crate) async fn close(&self) {
        self.sessions.end_all().await;
        self.server.0.sessionless.close().await;
    }

    async fn receive(&self, message: Message, headers: &HeaderMap) -> Response {
        match find_scope(&message, headers) {
            Err(refusal) => refusal.into_response(),
            Ok(MessageScope::PerRequest) => self.receive_sessionless(message).await,
            Ok(MessageScope::Session) => match message {
                Message::Request { id, method, params } if method == "initialize" => {
                    self.begin_session(id, params).await
                }
                message => match self.session_of(headers, &id_of(&message)) {
                    Ok(session) => self.receive_in_session(&session, message).await,
                    Err(refusal) => refusal.into_response(),
                },
            },
        }
    }

    fn session_of(
        &self,
        headers: &HeaderMap,
        id: &Value,
    ) -> Result<Arc<HttpSession>, Box<Refusal>> {
        let refuse = |status, message: &str| {
            let error = RpcError::new(INVALID_REQUEST, message);
            Err(Box::new(Refusal { status, id: id.clone(), error }))
        };
        let Some(session) = text_of(headers, &SESSION) else {
            return refuse(StatusCode::BAD_REQUEST, "the header `Mcp-Session-Id` is missing");
        };
        match self.sessions.find(session) {
            Some(session) => Ok(session),
            None => refuse(StatusCode::NOT_FOUND, "the session does not exist or has ended"),
        }
    }

    async fn begin_session(&self, id: Value, params: Option<Value>) -> Response {
        let Some(_room) = self.sessions.make_room().await else {
            let message =
                format!("all {} sessions are in use; try again later", self.sessions.most);
            let (status, error) = (StatusCode::SERVICE_UNAVAILABLE, internal(message));
            return Refusal { status, id, error }.into_response();
        };
        let session = Arc::new(HttpSession::new(&self.server));
        let connection = Arc::clone(&session.connection);
        let outbox = Outbox::Events(Arc::clone(&session.own));
        let begun = connection.begin(id.clone(), "initialize".to_owned(), params, outbox);
        let outcome = answer(begun).await.unwrap_or_else(|| Ok(Value::Null));
        let is_open = outcome.is_ok();
        let mut response = json_response(Message::Response { id, outcome }.into_text());
        if is_open {
            let id = self.sessions.add(session);
            response.headers_mut().extend(HeaderValue::try_from(id).ok().map(|id| (SESSION, id)));
        } else {
            session.connection.close().await;
        }
        response
    }

    async fn receive_in_session(&self, session: &Arc<HttpSession>, message: Message) -> Response {
        let connection = &session.connection;
        match message {
            Message::Notification { method, params } => {
                connection.hear(&method, params).await;
                StatusCode::ACCEPTED.into_response()
            }
            Message::Response { id, outcome } => {
                connection.take_answer(&id, outcome);
                StatusCode::ACCEPTED.into_response()
            }
            Message::Request { id, method, params } => {
                let begun = session.begin_stream();
                let outbox = Outbox::Events(Arc::clone(&begun.stream));
                let is_primed = connection.revision().is_some_and(|it| it >= EMPTY_EVENTS);
                let (request, session) = (
                    connection.begin(id.clone(), method, params, outbox.clone()),
                    Arc::clone(session),
                );
                // The client may read the answer later, if its connection breaks.
                tokio::spawn(async move {
                    outbox.finish(id, answer(request).await).await;
                    session.touch();
                });
                self.read_stream(&begun, 0, is_primed)
            }
        }
    }

    /// The events of a stream from a position on.
    fn read_stream(&self, begun: &NumberedStream, from: u64, is_primed: bool) -> Response {
        let NumberedStream { number, stream } = begun;
        let Some(reader) = stream.read(from, self.stop.clone()) else { return lost_events() };
        let retry = RETRY.as_millis();
        let first = is_primed.then(|| format!("id: {number}-{from}\nretry: {retry}\ndata: \n\n"));
        event_stream(EventBody { reader, stream: Some(*number), _guard: None }, first)
    }

    /// Answers a message that belongs to no session.
    async fn receive_sessionless(&self, message: Message) -> Response {
        let events = Arc::<EventStream>::default();
        let outbox = Outbox::Events(Arc::clone(&events));
        let connection = ClientConnection::sessionless(&self.server, outbox.clone());
        let (id, method, params) = match message {
            Message::Request { id, method, params } => (id, method, params),
            Message::Notification { method, params } => {
                connection.hear(&method, params).await;
                return StatusCode::ACCEPTED.into_response();
            }
            Message::Response { .. } => {
                let error = RpcError::new(INVALID_REQUEST, "the response matches no request");
                let id = Value::Null;
                return Refusal { status: StatusCode::BAD_REQUEST, id, error }.into_response();
            }
        };
        let Some(reader) = events.read(0, self.stop.clone()) else { return lost_events() };
        let guard = Some(CancelOnDrop(Arc::clone(&connection)));
        let meta = meta_of(params.as_ref());
        let is_described = meta.is_some_and(|meta| ClientIntroduction::of_request(meta).is_ok());
        let (tell_status, status) = oneshot::channel();
        let begun = connection.begin(id.clone(), method, params, outbox.clone());
        tokio::spawn(async move {
            let answer = answer(begun).await;
            let error = answer.as_ref().and_then(|answer| answer.as_ref().err());
            // The client may have disconnected.
            let _ =
                tell_status.send(error.map_or(StatusCode::OK, |it| status_of(it, is_described)));
            outbox.finish(id, answer).await;
        });
        let only = timeout(MAX_SILENCE, events.wait()).await.ok().flatten();
        if let Some(text) = only {
            let mut response = json_response(text.to_string());
            *response.status_mut() = status.await.unwrap_or_default();
            return response;
        }
        event_stream(EventBody { reader, stream: None, _guard: guard }, None)
    }
}

/// Cancels a request when the stream of its answer is dropped.
struct CancelOnDrop(Arc<ClientConnection>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel_all();
    }
}

/// How a message is related to others.
enum MessageScope {
    /// It belongs to a session, or begins one.
    Session,
    /// It stands for itself, as from revision 2026-07-28 on.
    PerRequest,
}

/// How a message is related to others. Fails if the message and its headers differ.
fn find_scope(message: &Message, headers: &HeaderMap) -> Result<MessageScope, Box<Refusal>> {
    let refuse = |code, text: String| {
        let error = RpcError::new(code, text);
        Err(Box::new(Refusal { status: StatusCode::BAD_REQUEST, id: id_of(message), error }))
    };
    let (method, params) = match message {
        Message::Request { method, params, .. } | Message::Notification { method, params } => {
            (method.as_str(), params.as_ref())
        }
        Message::Response { .. } => ("", None),
    };
    let sent = headers.get(REVISION).map(|value| value.to_str().unwrap_or_default());
    let named = meta_of(params).and_then(|meta| meta.get(REVISION_KEY)?.as_str());
    let named = named.filter(|_| matches!(message, Message::Request { .. }));
    let is_sent_modern = sent.is_some_and(is_modern);
    let is_initialize = method == "initialize";
    if is_sent_modern
        && !method.is_empty()
        && let Err(mismatch) = compare_headers(headers, method, params, !is_initialize)
    {
        return refuse(HEADER_MISMATCH, mismatch.to_string());
    }
    if is_initialize {
        return Ok(MessageScope::Session);
    }
    match (sent, named) {
        (None, Some(_)) => refuse(HEADER_MISMATCH, format!("the header `{REVISION}` is missing")),
        (Some(sent), Some(named)) if sent != named => {
            refuse(HEADER_MISMATCH, format!("the header `{REVISION}` differs from `_meta`"))
        }
        (Some(sent), None) if !REVISIONS.contains(&sent) => {
            let known = REVISIONS.join(", ");
            refuse(INVALID_REQUEST, format!("the header `{REVISION}` must be one of {known}"))
        }
        _ if named.is_some() || is_sent_modern || method == "server/discover" => {
            Ok(MessageScope::PerRequest)
        }
        _ => Ok(MessageScope::Session),
    }
}

fn meta_of(params: Option<&Value>) -> Option<&Map<String, Value>> {
    params?.get("_meta")?.as_object()
}

fn id_of(message: &Message) -> Value {
    match message {
        Message::Request { id, .. } => id.clone(),
        _ => Value::Null,
    }
}

/// The status of an answer with an error, as from revision 2026-07-28 on.
fn status_of(error: &RpcError, is_described: bool) -> StatusCode {
    match error.code {
        UNSUPPORTED_REVISION | MISSING_CAPABILITY | HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        INVALID_PARAMS if !is_described => StatusCode::BAD_REQUEST,
        METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// A message that is not handled.
struct Refusal {
    status: StatusCode,
    id: Value,
    error: RpcError,
}

impl Refusal {
    fn into_response(self) -> Response {
        let Self { status, id, error } = self;
        let mut response = json_response(Message::Response { id, outcome: Err(error) }.into_text());
        *response.status_mut() = status;
        response
    }
}

fn json_response(text: String) -> Response {
    ([(CONTENT_TYPE, JSON)], text).into_response()
}

/// The answer to a client that asks for events that were deleted.
fn lost_events() -> Response {
    let message = "the events after this `Last-Event-ID` were deleted; send the request again";
    let error = RpcError::new(INVALID_REQUEST, message);
    Refusal { status: StatusCode::BAD_REQUEST, id: Value::Null, error }.into_response()
}

/// The events of a response.
struct EventBody {
    reader: EventReader,
    /// The number of the stream, if its events have ids.
    stream: Option<u64>,
    /// A client without a session that disconnects cancels its request.
    _guard: Option<CancelOnDrop>,
}

impl EventBody {
    async fn next(&mut self) -> Option<String> {
        let Ok(event) = timeout(KEEP_ALIVE, self.reader.next()).await else {
            return Some(":\n\n".to_owned());
        };
        let StreamEvent { number, text } = event?;
        Some(match self.stream {
            Some(stream) => format!("id: {stream}-{}\ndata: {text}\n\n", number + 1),
            None => format!("data: {text}\n\n"),
        })
    }
}

fn event_stream(body: EventBody, first: Option<String>) -> Response {
    let rest = unfold(body, async |mut body| Some((body.next().await?, body)));
    let events = stream::iter(first).chain(rest).map(Ok::<_, Infallible>);
    let no_cache = [
        (CONTENT_TYPE, EVENTS),
        (CACHE_CONTROL, "no-cache"),
        // Proxies must not hold events back.
        (BUFFERING, "no"),
    ];
    (no_cache, Body::from_stream(events)).into_response()
}

fn text_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a client takes a type of content. One that names none takes all.
fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let mut parts = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .peekable();
    let group = wanted.split('/').next().unwrap_or_default();
    parts.peek().is_none()
        || parts.any(|part| {
            let mut words = part.split(';').map(str::trim);
            let kind = words.next().unwrap_or_default().to_ascii_lowercase();
            let is_refused = words.any(|word| word.strip_prefix("q=").is_some_and(is_zero));
            !is_refused && (kind == wanted || kind == "*/*" || kind == format!("{group}/*"))
        })
}

fn is_zero(quality: &str) -> bool {
    quality.parse() == Ok(0.0)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = text_of(headers, &CONTENT_TYPE).and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case(JSON))
}

/// A message of a client.
pub(crate) async fn post(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let headers = &parts.headers;
    if !accepts(headers, JSON) || !accepts(headers, EVENTS) {
        let message = format!("the client must accept {JSON} and {EVENTS}");
        return (StatusCode::NOT_ACCEPTABLE, message).into_response();
    }
    if !is_json(headers) {
        let message = format!("the content type must be {JSON}");
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, message).into_response();
    }
    let Ok(bytes) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        let message = format!("the message exceeds {MAX_REQUEST_BYTES} bytes");
        return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    match Message::parse(text) {
        Ok(message) => endpoint.receive(message, headers).await,
        Err(error) => {
            let Unreadable { id, error, .. } = Unreadable::new(text, &error);
            Refusal { status: StatusCode::BAD_REQUEST, id, error }.into_response()
        }
    }
}

/// Rejects a revision without sessions, which has no other requests than `POST`.
fn reject_without_sessions(headers: &HeaderMap) -> Option<Response> {
    let is_modern = text_of(headers, &REVISION).is_some_and(is_modern);
    is_modern.then(|| (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")]).into_response())
}

/// Events that belong to no request, or that follow those that a client has received.
pub(crate) async fn get(State(endpoint): State<Arc<Endpoint>>, headers: HeaderMap) -> Response {
    if let Some(refusal) = reject_without_sessions(&headers) {
        return refusal;
    }
    if !accepts(&headers, EVENTS) {
        let message = format!("the client must accept {EVENTS}");
        return (StatusCode::NOT_ACCEPTABLE, message).into_response();
    }
    let session = match endpoint.session_of(&headers, &Value::Null) {
        Ok(session) => session,
        Err(refusal) => return refusal.into_response(),
    };
    let Some(last) = text_of(&headers, &LAST_EVENT) else {
        let own = NumberedStream { number: 0, stream: Arc::clone(&session.own) };
        return endpoint.read_stream(&own, own.stream.unread_position(), false);
    };
    let position = |last: &str| {
        let (number, from) = last.split_once('-')?;
        Some((session.stream(number.parse().ok()?)?, from.parse().ok()?))
    };
    match position(last) {
        Some((stream, from)) => endpoint.read_stream(&stream, from, false),
        None => lost_events(),
    }
}

/// The end of a session.
pub(crate) async fn delete(State(endpoint): State<Arc<Endpoint>>, headers: HeaderMap) -> Response {
    if let Some(refusal) = reject_without_sessions(&headers) {
        return refusal;
    }
    match text_of(&headers, &SESSION) {
        None => StatusCode::BAD_REQUEST.into_response(),
        Some(session) if endpoint.sessions.end(session).await => StatusCode::OK.into_response(),
        Some(_) => StatusCode::NOT_FOUND.into_response(),
    }
}
