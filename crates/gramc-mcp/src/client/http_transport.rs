//! A server that is reached by its address, over streamable HTTP.

use std::collections::HashMap;
use std::io::{self, Cursor};
use std::sync::Arc;

use futures_util::stream::{BoxStream, Stream, StreamExt as _};
use gramc_tools::http_client;
use gramc_tools::invocation::InvocationErrorKind;
use gramc_tools::sanitize::sanitize_line;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthError, WWWAuthenticateParams};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::address::UrlAddress;
use super::failure_log::{FailureLog, unreadable};
use super::lines::MAX_MESSAGE_BYTES;
use super::pending_calls::{PendingCall, stub};
use super::wire::seal_list;

/// The header that repeats the method of a request.
const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
/// How often a stream that broke off is taken up again. The waits double, from one second on.
const MAX_RETRIES: usize = 2;

type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

pub(super) fn transport(
    address: &Arc<UrlAddress>,
    failures: &Arc<FailureLog>,
) -> Result<StreamableHttpClientTransport<HttpTransport>, reqwest::Error> {
    let UrlAddress { url, headers, tls, .. } = &**address;
    let http = http_client::client(url, tls).default_headers(headers.map().clone());
    let http = http.build()?;
    let (address, failures) = (Arc::clone(address), Arc::clone(failures));
    let client = HttpTransport { http, address, failures };
    let mut config = StreamableHttpClientTransportConfig::with_uri(client.address.url.as_str());
    // An interrupted stream is resumed if the server allows that. The number of retries is limited,
    // because a caller waits for the answer.
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(MAX_RETRIES);
    config.retry_config = Arc::new(retry);
    // How many calls may run at once is not decided here.
    config.max_concurrent_requests = usize::MAX;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// The client of `rmcp` with four differences: lists of tools pass as text, responses to calls are
/// stored separately, failures are recorded, and access tokens are renewed and masked.
#[derive(Clone)]
pub(super) struct HttpTransport {
    http: reqwest::Client,
    address: Arc<UrlAddress>,
    failures: Arc<FailureLog>,
}

impl HttpTransport {
    /// Sends a request with an access token, and again with another one if that is rejected.
    async fn authorize<T, F>(
        &self,
        token: Option<String>,
        send: impl Fn(Option<String>) -> F + Send + Sync,
    ) -> Result<T, HttpError>
    where
        F: Future<Output = Result<T, HttpError>> + Send,
    {
        let Some(oauth) = &self.address.oauth else { return send(token).await };
        let token = oauth.token().await;
        let token = token.map_err(|error| AuthError::AuthorizationFailed(error.to_string()))?;
        let outcome = send(token.clone()).await;
        if let (Err(error), Some(rejected)) = (&outcome, &token)
            && is_unauthorized(error)
            && let Some(token) = oauth.token_after(rejected).await
        {
            return send(Some(token)).await;
        }
        outcome
    }

    fn mask(&self, text: String) -> String {
        match &self.address.oauth {
            Some(oauth) => oauth.mask(text),
            None => text,
        }
    }

    /// Masks the tokens in a message that `rmcp` has read.
    fn mask_message(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        if self.address.oauth.is_none() {
            return message;
        }
        let masked = serde_json::to_string(&message).map(|text| self.mask(text));
        masked.and_then(|text| serde_json::from_str(&text)).unwrap_or(message)
    }

    /// Wraps the lists of tools in a stream of events as text, and stores the responses to calls
    /// separately. `call` is the call that opened the stream: errors in it affect only this call.
    fn events(&self, events: Events, call: Option<(RequestId, PendingCall)>) -> Events {
        let transport = self.clone();
        events
            .then(move |event| {
                let (transport, call) = (transport.clone(), call.clone());
                async move {
                    let failures = &transport.failures;
                    let mut event = match (event, &call) {
                        (Ok(event), _) => event,
                        (Err(_), Some((id, call))) if call.is_settled() => {
                            return Ok(Sse::default().data(text(&stub(id.clone()))));
                        }
                        (Err(error), _) => return Err(error),
                    };
                    if let Some(data) = event.data.as_mut()
                        && !data.trim().is_empty()
                    {
                        let sent = transport.mask(std::mem::take(data));
                        *data = match &call {
                            Some((id, call)) => translate(failures, &sent, id, call).await,
                            None => sealed_event(failures, &sent).await,
                        };
                    }
                    Ok(event)
                }
            })
            .boxed()
    }

    /// Requests a page of tools, or calls a tool. `rmcp` would parse the responses, so it only makes
    /// the other requests.
    async fn post(
        &self,
        url: &str,
        message: &ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let accepted = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
        let mut request = self.http.post(url).header(ACCEPT, accepted);
        let call = PendingCall::of(message).map(|(id, call)| (id.clone(), call.clone()));
        let own = call.iter().flat_map(|(_, call)| call.headers().iter().cloned());
        for (name, value) in headers.into_iter().chain(own) {
            request = request.header(name, value);
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let has_session = session.is_some();
        if let Some(session) = session {
            request = request.header(HEADER_SESSION_ID, &*session);
        }
        let body = serde_json::to_vec(message)?;
        let request = request.header(CONTENT_TYPE, JSON_MIME_TYPE).body(body);
        let response = request.send().await.map_err(HttpError::Client)?;
        let status = response.status();
        if let Some(error) = self.challenge(&response) {
            return Err(error);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(HttpError::SessionExpired);
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if status.is_success() && kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            let parts = self.parts(response, call.as_ref().map(|(_, call)| call));
            let events = self.events(SseStream::from_bytes_stream(parts).boxed(), call);
            return Ok(StreamableHttpPostResponse::Sse(events, None));
        }
        if !kind.starts_with(JSON_MIME_TYPE) {
            return Err(if status.is_success() {
                HttpError::UnexpectedContentType(Some(sanitize_line(kind)))
            } else {
                HttpStatusError::new(status.as_u16(), None).into()
            });
        }
        let text = self.text(response, call.as_ref().map(|(_, call)| call)).await?;
        let answer = match &call {
            Some((_, call)) => read_answer(&self.failures, &text, call),
            None => self.failures.message(&text).await,
        };
        match answer {
            Some(answer) if status.is_success() || matches!(answer, JsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(answer, None))
            }
            _ if status.is_success() => {
                Err(HttpError::UnexpectedServerResponse("what it sent is not the protocol".into()))
            }
            _ => Err(HttpStatusError::new(status.as_u16(), None).into()),
        }
    }

    /// The parts of a body. If it gets too long, it ends the call that it answers, or else the work.
    fn parts(
        &self,
        response: Response,
        call: Option<&PendingCall>,
    ) -> impl Stream<Item = io::Result<Cursor<Vec<u8>>>> + use<> {
        let failures = Arc::clone(&self.failures);
        let call = call.cloned();
        let mut left = call.as_ref().map_or(MAX_MESSAGE_BYTES, PendingCall::room);
        response.bytes_stream().map(move |part| {
            let part = part.map_err(|error| io::Error::other(http_client::root(&error)))?;
            let Some(rest) = left.checked_sub(part.len()) else {
                match &call {
                    Some(call) => call.too_large(),
                    None => failures.too_long(),
                }
                return Err(io::ErrorKind::FileTooLarge.into());
            };
            left = rest;
            Ok(Cursor::new(part.to_vec()))
        })
    }

    /// The whole of a body that is not too long.
    async fn text(
        &self,
        response: Response,
        call: Option<&PendingCall>,
    ) -> Result<String, HttpError> {
        let mut body = Vec::new();
        let mut parts = Box::pin(self.parts(response, call));
        while let Some(part) = parts.next().await {
            body.append(part?.get_mut());
        }
        Ok(self.mask(String::from_utf8_lossy(&body).into_owned()))
    }

    /// The error of a response that wants an access token, or one with more rights.
    fn challenge(&self, response: &Response) -> Option<HttpError> {
        let challenge = response.headers().get(WWW_AUTHENTICATE);
        let challenge = challenge.and_then(|value| value.to_str().ok());
        match (response.status(), challenge) {
            (StatusCode::UNAUTHORIZED, challenge) => {
                let challenge = challenge.unwrap_or_default().to_owned();
                Some(HttpError::AuthRequired(AuthRequiredError::new(challenge)))
            }
            (StatusCode::FORBIDDEN, Some(challenge)) => {
                let scope = WWWAuthenticateParams::parse(challenge, &self.address.url).scope;
                let error = InsufficientScopeError::new(challenge.to_owned(), scope);
                Some(HttpError::InsufficientScope(error))
            }
            _ => None,
        }
    }

    /// Notes why a message was not answered: for the call that it makes, or else for all.
    fn note(&self, message: &ClientJsonRpcMessage, error: &HttpError) {
        let kind = kind_of(error);
        let words = |error: &HttpError| match advice(error, &self.address) {
            Some(advice) => format!("{}; {advice}", words(error)),
            None => words(error),
        };
        match PendingCall::of(message) {
            // `rmcp` begins another session and tries again.
            Some(_) if matches!(error, HttpError::SessionExpired) => {}
            Some((_, call)) => call.fail(kind, words(error)),
            None if is_optional(message) => {}
            None => self.failures.end(kind, words(error)),
        }
    }
}

/// Whether the connection is of use without a message: a cancellation, or a request to hear of changes.
fn is_optional(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Notification(note) => {
            matches!(note.notification, ClientNotification::CancelledNotification(_))
        }
        JsonRpcMessage::Request(request) => {
            ["subscriptions/listen", "tasks/cancel"].contains(&request.request.method())
        }
        _ => false,
    }
}

/// The replacement of an event's data in a stream that answers a call.
async fn translate(
    failures: &FailureLog,
    data: &str,
    id: &RequestId,
    call: &PendingCall,
) -> String {
    if let Some(stub) = failures.calls.settle(data) {
        return text(&stub);
    }
    // `rmcp` skips an event without data.
    let Some(data) = failures.past_client(data, Some(call)).await else { return String::new() };
    match serde_json::from_str::<ServerJsonRpcMessage>(&data) {
        Ok(message) => {
            failures.lets_through(&message).await;
            data.into_owned()
        }
        Err(error) => {
            // It may have been the answer, which would be waited for in vain.
            call.fail(InvocationErrorKind::Garbled, unreadable(&error));
            text(&stub(id.clone()))
        }
    }
}

/// The replacement of an event's data in any other stream.
async fn sealed_event(failures: &FailureLog, data: &str) -> String {
    if let Some(stub) = failures.calls.settle(data) {
        return text(&stub);
    }
    let Some(data) = failures.past_client(data, None).await else { return String::new() };
    // Notes an answer that cannot be read, which `rmcp` would skip.
    if let Some(message) = failures.read(&data) {
        failures.lets_through(&message).await;
    }
    seal_list(&data).into_owned()
}

fn read_answer(
    failures: &FailureLog,
    text: &str,
    call: &PendingCall,
) -> Option<ServerJsonRpcMessage> {
    if let Some(stub) = failures.calls.settle(text) {
        return Some(stub);
    }
    match serde_json::from_str(text) {
        Ok(message) => Some(message),
        Err(error) => {
            call.fail(InvocationErrorKind::Garbled, unreadable(&error));
            None
        }
    }
}

fn text(message: &ServerJsonRpcMessage) -> String {
    // It holds nothing but an id, which can be written.
    serde_json::to_string(message).unwrap_or_default()
}

fn kind_of(error: &HttpError) -> InvocationErrorKind {
    match error {
        HttpError::Client(error) if error.is_connect() => InvocationErrorKind::Unreachable,
        HttpError::Client(error) if error.is_redirect() => InvocationErrorKind::Failed,
        HttpError::Client(_) | HttpError::Io(_) | HttpError::Sse(_) => InvocationErrorKind::Died,
        HttpError::HttpStatus(_)
        | HttpError::AuthRequired(_)
        | HttpError::InsufficientScope(_)
        | HttpError::Auth(_) => InvocationErrorKind::Failed,
        _ => InvocationErrorKind::Garbled,
    }
}

/// An error in words for people, without the address, which may hold a password.
fn words(error: &HttpError) -> String {
    match error {
        HttpError::Client(error) if error.is_redirect() => {
            format!("it {}", http_client::root(error))
        }
        HttpError::Client(error) => http_client::root(error),
        HttpError::HttpStatus(error) => answered_with(error.status),
        HttpError::AuthRequired(_) => answered_with(401),
        HttpError::InsufficientScope(_) => answered_with(403),
        HttpError::Auth(AuthError::AuthorizationFailed(reason)) => reason.clone(),
        HttpError::Io(error) => error.to_string(),
        HttpError::UnexpectedContentType(kind) => format!(
            "it sends {}, which is not what an MCP server sends",
            kind.as_deref().filter(|kind| !kind.is_empty()).unwrap_or("something without a type")
        ),
        other => sanitize_line(&other.to_string()),
    }
}

fn is_unauthorized(error: &HttpError) -> bool {
    match error {
        HttpError::AuthRequired(_) => true,
        HttpError::HttpStatus(error) => error.status == StatusCode::UNAUTHORIZED,
        _ => false,
    }
}

/// What a user can do against an error.
fn advice(error: &HttpError, address: &UrlAddress) -> Option<String> {
    let oauth = address.oauth.as_ref()?;
    match error {
        HttpError::InsufficientScope(error) => oauth.advice(error.required_scope.as_deref()),
        error if is_unauthorized(error) => oauth.advice(None),
        _ => None,
    }
}

fn answered_with(code: u16) -> String {
    format!("it answered with {}", http_client::status_words(code))
}

impl StreamableHttpClient for HttpTransport {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        mut headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        if let JsonRpcMessage::Request(request) = &message
            && let Ok(method) = HeaderValue::from_str(request.request.method())
        {
            headers.entry(METHOD_HEADER).or_insert(method);
        }
        self.failures.calls.expect(&message);
        let _answering = self.failures.answering(&message);
        let is_list = matches!(
            &message,
            JsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::ListToolsRequest(_))
        );
        let ours = is_list || PendingCall::of(&message).is_some();
        let outcome = if ours {
            let post = |token| self.post(&url, &message, session.clone(), token, headers.clone());
            self.authorize(token, post).await
        } else {
            let post = |token| {
                let (url, message) = (Arc::clone(&url), message.clone());
                self.http.post_message(url, message, session.clone(), token, headers.clone())
            };
            self.authorize(token, post).await.map(|response| match response {
                StreamableHttpPostResponse::Sse(events, session) => {
                    StreamableHttpPostResponse::Sse(self.events(events, None), session)
                }
                StreamableHttpPostResponse::Json(message, session) => {
                    StreamableHttpPostResponse::Json(self.mask_message(message), session)
                }
                other => other,
            })
        };
        outcome.inspect_err(|error| self.note(&message, error))
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        let delete = |token| {
            let (url, session) = (Arc::clone(&url), Arc::clone(&session));
            self.http.delete_session(url, session, token, headers.clone())
        };
        self.authorize(token, delete).await
    }

    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, HttpError> {
        let get = |token| {
            let (url, last_event) = (Arc::clone(&url), last_event.clone());
            self.http.get_stream(url, session.clone(), last_event, token, headers.clone())
        };
        Ok(self.events(self.authorize(token, get).await?, None))
    }
}
