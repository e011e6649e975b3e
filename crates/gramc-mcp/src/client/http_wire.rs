//! Servers over HTTP: streamable HTTP, and HTTP with SSE as in revision 2024-11-05 of the protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream::StreamExt as _;
use gramc_tools::http_client;
use gramc_tools::sanitize::sanitize_line;
use parking_lot::RwLock;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use rmcp::transport::auth::WWWAuthenticateParams;
use tokio::time::timeout;

use super::address::UrlAddress;
use super::event_stream::{Events, Place};
use super::http_error::HttpError;
use super::inbox::{Inbox, InboxGuard, PendingRequest};
use super::wire::Wire;
use crate::lines::MAX_MESSAGE_BYTES;
use crate::message::Message;
use crate::param_headers::standard_headers;
use crate::protocol::{MODERN, SESSION_HEADER};

const SESSION: HeaderName = HeaderName::from_static(SESSION_HEADER);
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// The time limit for the first event of a server of revision 2024-11-05.
const ENDPOINT_LIMIT: Duration = Duration::from_secs(10);

/// How far the answer to a request has come.
enum Progress {
    /// It is there.
    Settled,
    /// It arrives in another stream.
    Elsewhere,
    /// The server ended the stream before.
    Ended,
}

pub(super) struct HttpWire {
    http: reqwest::Client,
    address: Arc<UrlAddress>,
    /// Where messages are sent to. A server of revision 2024-11-05 names it.
    endpoint: RwLock<Option<Url>>,
    session: RwLock<Option<HeaderValue>>,
    /// The revision of the protocol, once it is known.
    revision: RwLock<Option<HeaderValue>>,
    /// Whether the server may send answers in a stream of their own.
    is_listening: AtomicBool,
}

impl HttpWire {
    pub(super) fn new(address: &Arc<UrlAddress>) -> Result<Self, reqwest::Error> {
        let UrlAddress { url, headers, tls, .. } = &**address;
        let http = http_client::client(url, tls).default_headers(headers.map().clone());
        Ok(Self {
            http: http.build()?,
            address: Arc::clone(address),
            endpoint: RwLock::default(),
            session: RwLock::default(),
            revision: RwLock::default(),
            is_listening: AtomicBool::new(false),
        })
    }

    /// Names the revision of the protocol in all requests from now on, or none.
    pub(super) fn set_revision(&self, revision: Option<&str>) {
        *self.revision.write() = revision.and_then(|it| HeaderValue::from_str(it).ok());
    }

    /// Whether the server has to be told that a request is cancelled. From revision 2026-07-28 on,
    /// the end of the stream says so.
    pub(super) fn needs_cancellation(&self) -> bool {
        self.revision.read().as_ref().is_none_or(|it| it.as_bytes() < MODERN.as_bytes())
    }

    /// An error in words, with what a user can do against it.
    pub(super) fn describe(&self, error: &HttpError) -> String {
        let oauth = self.address.oauth.as_ref();
        let advice = oauth.and_then(|oauth| match error {
            HttpError::MissingScope(scope) => oauth.advice(scope.as_deref()),
            HttpError::Unauthorized => oauth.advice(None),
            _ => None,
        });
        let words = error.words();
        advice.map_or(words.clone(), |advice| format!("{words}; {advice}"))
    }

    fn mask(&self, text: String) -> String {
        match &self.address.oauth {
            Some(oauth) => oauth.mask(text),
            None => text,
        }
    }

    /// Makes a request, and passes everything that the server sends until its answer to the inbox.
    pub(super) async fn request(
        self: Arc<Self>,
        request: Arc<PendingRequest>,
        text: String,
        inbox: Arc<Inbox>,
    ) {
        match self.converse(&request, &text, &inbox).await {
            Ok(Progress::Settled) => {}
            Ok(Progress::Elsewhere) if self.is_listening.load(Ordering::Acquire) => {}
            Ok(Progress::Ended | Progress::Elsewhere) => request.close(),
            Err(HttpError::Answered(error)) => request.reject(error),
            Err(HttpError::LostSession) => inbox.lose_session(&request),
            Err(error) => request.fail(error.kind(), self.describe(&error)),
        }
    }

    async fn converse(
        self: &Arc<Self>,
        request: &Arc<PendingRequest>,
        text: &str,
        inbox: &Arc<Inbox>,
    ) -> Result<Progress, HttpError> {
        let response = self.post(text, &request.options.headers).await?;
        if let Some(session) = response.headers().get(SESSION) {
            *self.session.write() = Some(session.clone());
        }
        match media_type(&response) {
            EVENTS => self.read_answer(response, request, inbox).await,
            JSON => {
                let text = self.text(response, request.max_message()).await?;
                match text {
                    Some(text) => self.pass(&text, Some(request), inbox).await,
                    None => reject_length(Some(request), inbox),
                }
                Ok(if request.is_settled() { Progress::Settled } else { Progress::Ended })
            }
            _ if response.status() == StatusCode::ACCEPTED => Ok(Progress::Elsewhere),
            other => Err(HttpError::UnexpectedType(sanitize_line(other))),
        }
    }

    /// Sends a message that has no answer.
    pub(super) async fn send(&self, message: Message) -> Result<(), HttpError> {
        let headers = match &message {
            Message::Notification { method, .. } => standard_headers(method, None),
            _ => Vec::new(),
        };
        self.post(&message.into_text(), &headers).await.map(drop)
    }

    /// Sends a message, with an access token, and again with another one if that is rejected.
    async fn post(
        &self,
        text: &str,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Response, HttpError> {
        let post = || {
            let url = self.endpoint.read().clone().unwrap_or_else(|| self.address.url.clone());
            let mut post = self.http.post(url).header(ACCEPT, format!("{JSON}, {EVENTS}"));
            for (name, value) in headers {
                post = post.header(name, value);
            }
            post.header(CONTENT_TYPE, JSON).body(text.to_owned())
        };
        self.exchange(post).await
    }

    async fn get(&self, last_event: Option<&str>) -> Result<Response, HttpError> {
        let get = || {
            let get = self.http.get(self.address.url.clone()).header(ACCEPT, EVENTS);
            match last_event {
                Some(id) => get.header(LAST_EVENT, id),
                None => get,
            }
        };
        let response = self.exchange(get).await?;
        match media_type(&response) {
            EVENTS => Ok(response),
            other => Err(HttpError::UnexpectedType(sanitize_line(other))),
        }
    }

    async fn exchange(
        &self,
        build: impl Fn() -> RequestBuilder + Send + Sync,
    ) -> Result<Response, HttpError> {
        let send = async |token: Option<String>| {
            let mut request = build();
            for (name, value) in [(REVISION, &self.revision), (SESSION, &self.session)] {
                if let Some(value) = &*value.read() {
                    request = request.header(name, value);
                }
            }
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            self.check(request.send().await?).await
        };
        let Some(oauth) = &self.address.oauth else { return send(None).await };
        let token = oauth.token().await;
        let token = token.map_err(|error| HttpError::NoToken(error.to_string()))?;
        match (send(token.clone()).await, token) {
            (Err(HttpError::Unauthorized), Some(rejected)) => {
                match oauth.token_after(&rejected).await {
                    Some(token) => send(Some(token)).await,
                    None => Err(HttpError::Unauthorized),
                }
            }
            (outcome, _) => outcome,
        }
    }

    /// The response, if it is one that may have an answer.
    async fn check(&self, response: Response) -> Result<Response, HttpError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let challenge = response.headers().get(WWW_AUTHENTICATE);
        let challenge = challenge.and_then(|value| value.to_str().ok());
        match (status, challenge) {
            (StatusCode::UNAUTHORIZED, _) => return Err(HttpError::Unauthorized),
            (StatusCode::FORBIDDEN, Some(challenge)) => {
                let scope = WWWAuthenticateParams::parse(challenge, &self.address.url).scope;
                return Err(HttpError::MissingScope(scope));
            }
            _ => {}
        }
        let has_session = self.session.read().is_some();
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(HttpError::LostSession);
        }
        let text = match media_type(&response) {
            JSON => self.text(response, MAX_MESSAGE_BYTES).await?,
            _ => None,
        };
        match text.as_deref().map(Message::parse) {
            Some(Ok(Message::Response { outcome: Err(error), .. })) => {
                // Servers that have been restarted say so.
                let is_lost = has_session
                    && status == StatusCode::BAD_REQUEST
                    && error.message.to_ascii_lowercase().contains("session");
                Err(if is_lost { HttpError::LostSession } else { HttpError::Answered(error) })
            }
            _ => Err(HttpError::Status(status)),
        }
    }

    /// Passes the events of a response on until the answer to its request is there. A stream that
    /// breaks off is resumed if the server allows that.
    async fn read_answer(
        self: &Arc<Self>,
        mut response: Response,
        request: &Arc<PendingRequest>,
        inbox: &Arc<Inbox>,
    ) -> Result<Progress, HttpError> {
        let mut place = Place::default();
        loop {
            let end = self.read_events(response, Some(request), inbox, &mut place).await;
            if request.is_settled() {
                return Ok(Progress::Settled);
            }
            if place.last_event.is_none() || !place.wait().await {
                return end.map(|()| Progress::Ended);
            }
            response = self.get(place.last_event.as_deref()).await?;
        }
    }

    /// Passes the events of a response on, until it ends or its request is answered.
    async fn read_events(
        self: &Arc<Self>,
        response: Response,
        request: Option<&Arc<PendingRequest>>,
        inbox: &Arc<Inbox>,
        place: &mut Place,
    ) -> Result<(), HttpError> {
        let most = request.map_or(MAX_MESSAGE_BYTES, |request| request.max_message());
        let mut events = Events::new(response, most);
        while let Some(event) = events.next().await? {
            let Some(event) = event else {
                reject_length(request, inbox);
                return Ok(());
            };
            place.pass(&event);
            // Other events are no messages: pings and the like.
            let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
            let data = event.data.filter(|data| is_message && !data.trim().is_empty());
            if let Some(data) = data {
                self.pass(&data, request, inbox).await;
            }
            if request.is_some_and(|request| request.is_settled()) || inbox.is_closed() {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn pass(
        self: &Arc<Self>,
        text: &str,
        within: Option<&Arc<PendingRequest>>,
        inbox: &Arc<Inbox>,
    ) {
        let text = self.mask(text.trim_start_matches('\u{feff}').to_owned());
        inbox.receive(&text, within, &Wire::Http(Arc::clone(self))).await;
    }

    /// The body of a response, unless it is longer than allowed.
    async fn text(&self, response: Response, most: usize) -> Result<Option<String>, HttpError> {
        let mut body = Vec::new();
        let mut parts = response.bytes_stream();
        while let Some(part) = parts.next().await {
            body.extend_from_slice(&part?);
            if body.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(String::from_utf8_lossy(&body).into_owned()))
    }

    /// Reads what a server with sessions sends outside of answers, until the inbox is closed.
    pub(super) fn listen(self: &Arc<Self>, inbox: &Arc<Inbox>) {
        if self.session.read().is_none() || self.is_listening.swap(true, Ordering::AcqRel) {
            return;
        }
        let (wire, inbox) = (Arc::clone(self), Arc::clone(inbox));
        tokio::spawn(async move { inbox.until_closed(wire.keep_listening(&inbox)).await });
    }

    async fn keep_listening(self: Arc<Self>, inbox: &Arc<Inbox>) {
        let mut place = Place::default();
        loop {
            match self.get(place.last_event.as_deref()).await {
                Ok(response) => {
                    // It is listened to again, whatever ends it.
                    let _ = self.read_events(response, None, inbox, &mut place).await;
                }
                Err(HttpError::Client(_)) => {}
                // It has no such stream.
                Err(_) => return,
            }
            if !place.wait().await {
                return;
            }
        }
    }

    /// Opens the stream of a server of revision 2024-11-05, which names the address for messages.
    pub(super) async fn open_stream(self: &Arc<Self>, inbox: &Arc<Inbox>) -> Result<(), HttpError> {
        let mut events = Events::new(self.get(None).await?, MAX_MESSAGE_BYTES);
        let first = async {
            while let Some(Some(event)) = events.next().await? {
                if event.event.as_deref() == Some("endpoint") {
                    return Ok(event.data);
                }
            }
            Ok::<_, HttpError>(None)
        };
        let name = timeout(ENDPOINT_LIMIT, first).await.unwrap_or(Ok(None))?;
        let url = name.and_then(|name| self.address.url.join(name.trim()).ok());
        // Credentials must not reach another host.
        let url = url.filter(|url| url.origin() == self.address.url.origin());
        let url = url.ok_or_else(|| HttpError::UnexpectedType(EVENTS.to_owned()))?;
        *self.endpoint.write() = Some(url);
        self.is_listening.store(true, Ordering::Release);
        let (wire, guard) = (Arc::clone(self), InboxGuard(Arc::clone(inbox)));
        tokio::spawn(async move {
            let reading = async {
                while let Ok(Some(Some(event))) = events.next().await {
                    if let Some(data) = event.data.filter(|data| !data.trim().is_empty()) {
                        wire.pass(&data, None, &guard.0).await;
                    }
                }
            };
            guard.0.until_closed(reading).await;
        });
        Ok(())
    }

    /// Ends the session.
    pub(super) async fn close(&self) {
        if self.session.read().is_some() {
            // The server may be gone, or keep sessions.
            let _ = self.exchange(|| self.http.delete(self.address.url.clone())).await;
            *self.session.write() = None;
        }
    }
}

/// A message is longer than allowed: it fails its request, or else the work.
fn reject_length(request: Option<&Arc<PendingRequest>>, inbox: &Inbox) {
    if !request.is_some_and(|request| request.reject_long_answer()) {
        inbox.reject_long_message();
    }
}

/// The media type of a response, without parameters.
fn media_type(response: &Response) -> &str {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim()
}
