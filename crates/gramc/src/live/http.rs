//! A server that is reached by its address, over streamable HTTP.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error as _;
use std::io::{self, Cursor};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{BoxStream, Stream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode, Url};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    HttpStatusError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::Value;
use sse_stream::{Sse, SseStream};

use super::BYTE_LIMIT;
use super::ask::{self, Broken};
use super::trouble::{Trouble, shown};
use super::wire::sealed;
use crate::failure::Failure;

type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Asks the server at `url` for its tools.
pub(super) async fn tools(url: &str, limit: Duration) -> Result<Value, Failure> {
    let address = Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            Failure::new(
                "cannot reach the MCP server: its address must be a whole URL, \
                 such as https://example.com/mcp",
            )
        })?;
    let failed = |why: &str| {
        Failure::new(format!(
            "cannot get the tools of the MCP server at {}: {why}",
            without_secrets(&address)
        ))
    };
    let http = plain_client(&address).map_err(|error| failed(&root(&error)))?;
    let trouble = Arc::new(Trouble::new("In its answers"));
    let client = Client { http, trouble: Arc::clone(&trouble) };
    let config = StreamableHttpClientTransportConfig::with_uri(address.as_str());
    let transport = StreamableHttpClientTransport::with_client(client, config);
    ask::tools(transport, limit, &trouble).await.map_err(|broken| {
        let why = trouble.reason().unwrap_or(match broken {
            Broken::Reason(why) => why,
            Broken::Closed(request) => format!("it hung up before it answered `{request}`"),
        });
        failed(&(why + &trouble.details()))
    })
}

/// The address without what may be a password: a user, and the questions behind the path.
fn without_secrets(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for addresses without a host, which are refused before.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    shown(url.as_str())
}

fn plain_client(url: &Url) -> reqwest::Result<reqwest::Client> {
    // The second time there is one already, the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder =
        reqwest::Client::builder().user_agent(concat!("gramc/", env!("CARGO_PKG_VERSION")));
    let host = url.host_str().unwrap_or_default();
    if matches!(host, "localhost" | "127.0.0.1" | "[::1]") {
        // A proxy has another idea of who that is.
        builder = builder.no_proxy();
    }
    builder.build()
}

/// The client that `rmcp` brings, with two differences: lists of tools pass as text, and what
/// goes wrong is noted.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    trouble: Arc<Trouble>,
}

impl Client {
    /// Seals the lists of tools in a stream of events.
    fn events(&self, events: Events) -> Events {
        let trouble = Arc::clone(&self.trouble);
        events
            .map(move |event| {
                let mut event = event?;
                if let Some(text) = event.data.as_mut() {
                    // Notes an answer that cannot be read, which `rmcp` would skip.
                    if !text.trim().is_empty() {
                        trouble.message(text);
                    }
                    if let Cow::Owned(replaced) = sealed(text) {
                        *text = replaced;
                    }
                }
                Ok(event)
            })
            .boxed()
    }

    /// Asks for a page of tools. All other requests are made by `rmcp`; of this one it would read
    /// the answer before anybody else could.
    async fn post_list(
        &self,
        url: &str,
        message: &ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let accepted = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
        let mut request = self.http.post(url).header(ACCEPT, accepted);
        for (name, value) in headers {
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
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(HttpError::SessionExpired);
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if status.is_success() && kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            let events = self.events(SseStream::from_bytes_stream(self.parts(response)).boxed());
            return Ok(StreamableHttpPostResponse::Sse(events, None));
        }
        if !kind.starts_with(JSON_MIME_TYPE) {
            return Err(if status.is_success() {
                HttpError::UnexpectedContentType(Some(shown(kind)))
            } else {
                HttpStatusError::new(status.as_u16(), None).into()
            });
        }
        let text = self.text(response).await?;
        match self.trouble.message(&text) {
            Some(answer) if status.is_success() || matches!(answer, JsonRpcMessage::Error(_)) => {
                Ok(StreamableHttpPostResponse::Json(answer, None))
            }
            _ if status.is_success() => {
                Err(HttpError::UnexpectedServerResponse("what it sent is not the protocol".into()))
            }
            _ => Err(HttpStatusError::new(status.as_u16(), None).into()),
        }
    }

    /// The parts of a body; it ends the work if it gets too long.
    fn parts(&self, response: Response) -> impl Stream<Item = io::Result<Cursor<Vec<u8>>>> + use<> {
        let trouble = Arc::clone(&self.trouble);
        let mut left = BYTE_LIMIT;
        response.bytes_stream().map(move |part| {
            let part = part.map_err(|error| io::Error::other(root(&error)))?;
            let Some(rest) = left.checked_sub(part.len()) else {
                trouble.too_long();
                return Err(io::ErrorKind::FileTooLarge.into());
            };
            left = rest;
            Ok(Cursor::new(part.to_vec()))
        })
    }

    /// The whole of a body that is not too long.
    async fn text(&self, response: Response) -> Result<String, HttpError> {
        let mut body = Vec::new();
        let mut parts = Box::pin(self.parts(response));
        while let Some(part) = parts.next().await {
            body.append(part?.get_mut());
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// Ends the work with a request's error.
    fn noted<T>(&self, outcome: Result<T, HttpError>) -> Result<T, HttpError> {
        outcome.inspect_err(|error| self.trouble.end(words(error)))
    }
}

/// An error in words for people, without the address, which may hold a password.
fn words(error: &HttpError) -> String {
    match error {
        HttpError::Client(error) => root(error),
        HttpError::HttpStatus(error) => status_words(error.status),
        HttpError::AuthRequired(_) => status_words(401),
        HttpError::InsufficientScope(_) => status_words(403),
        HttpError::Io(error) => error.to_string(),
        HttpError::UnexpectedContentType(kind) => format!(
            "it sends {}, which is not what an MCP server sends",
            kind.as_deref().filter(|kind| !kind.is_empty()).unwrap_or("something without a type")
        ),
        other => shown(&other.to_string()),
    }
}

fn status_words(code: u16) -> String {
    let name = StatusCode::from_u16(code).ok();
    let name = name.and_then(|status| status.canonical_reason()).unwrap_or_default();
    format!("it answered with HTTP status {code} {name}").trim_end().to_owned()
}

/// The innermost reason of an error; those around it only say that there is one.
fn root(error: &reqwest::Error) -> String {
    let Some(mut inner) = error.source() else {
        return error.to_string();
    };
    while let Some(next) = inner.source() {
        inner = next;
    }
    let text = inner.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    shown(text)
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        if let JsonRpcMessage::Request(request) = &message
            && let ClientRequest::ListToolsRequest(_) = &request.request
        {
            let page = self.post_list(&url, &message, session, token, headers).await;
            return self.noted(page);
        }
        let answer = self.http.post_message(url, message, session, token, headers);
        self.noted(answer.await)
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.http.delete_session(url, session, token, headers).await
    }

    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, HttpError> {
        let events = self.http.get_stream(url, session, last_event, token, headers);
        Ok(self.events(events.await?))
    }
}
