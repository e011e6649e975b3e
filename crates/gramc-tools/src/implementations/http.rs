//! Services that get the arguments in a request.

mod access_token;
mod charset;
mod exchange;
mod multipart;
mod pages;
mod request;
mod url_template;
mod values;

use std::fmt;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gramc_model::{BodyFormat, RequestPlace};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Response, Url};
use serde::de::IgnoredAny;
use serde_json::Value;

use self::access_token::AccessTokens;
use self::exchange::{Exchanged, Request};
use self::pages::{Pages, next_link};
use self::request::{ArgumentPlace, RequestParts, RequestPlan, add_query};
pub use self::url_template::TemplateError;
use self::url_template::UrlTemplate;
use super::{Declaration, LoadError, raw_answer, run_unless_cancelled};
use crate::http_client::{self, RequestHeaders, TlsOptions};
use crate::invocation::{Answer, AnswerFuture, Implementation, Invocation, InvocationError};
use crate::sanitize::{TEXT_LENGTH, beginning};

/// A pool of connections to services. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct HttpClient(Arc<ClientPool>);

#[derive(Default)]
struct ClientPool {
    tls: TlsOptions,
    near: OnceLock<reqwest::Client>,
    far: OnceLock<reqwest::Client>,
    tokens: AccessTokens,
}

impl HttpClient {
    fn with_tls(tls: TlsOptions) -> Self {
        Self(Arc::new(ClientPool { tls, ..ClientPool::default() }))
    }

    /// The client for an address. It is made when it is needed first.
    fn to(&self, url: &Url) -> Result<reqwest::Client, InvocationError> {
        let place = if http_client::is_loopback(url) { &self.0.near } else { &self.0.far };
        if let Some(client) = place.get() {
            return Ok(client.clone());
        }
        let client = http_client::client(url, &self.0.tls).build().map_err(|error| {
            let why = http_client::root(&error);
            InvocationError::unreachable(format!("no connection can be prepared: {why}"))
        })?;
        // Another call may have set it meanwhile; then this client is dropped.
        Ok(place.get_or_init(|| client).clone())
    }
}

/// A service. It gets the arguments as one JSON object in the body of a POST, unless it is declared
/// otherwise, and answers with JSON, or with text where the tool's result is text. Any status but a
/// success is a failure.
#[derive(Clone)]
pub struct Http {
    client: HttpClient,
    method: Method,
    url: Arc<UrlTemplate>,
    headers: Arc<RequestHeaders>,
    plan: Arc<RequestPlan>,
    pages: Option<Arc<Pages>>,
    /// How often a request is repeated that failed.
    retries: u32,
    is_content: bool,
    /// Whether an answer is bytes, which become base64.
    is_bytes: bool,
}

/// A successful response.
struct Fetched {
    /// In UTF-8 if it is text.
    body: Vec<u8>,
    media_type: String,
    /// The next page, if the header `Link` names one.
    next_link: Option<String>,
}

impl Http {
    /// The service at `url`, which gets `headers`, too. Its path may name arguments:
    /// `https://example.com/pets/{id}`. Fails where the address is no whole URL, or a header is
    /// none.
    pub fn new(url: &str, headers: Vec<(String, String)>) -> Result<Self, InvocationError> {
        Ok(Self {
            client: HttpClient::default(),
            method: Method::POST,
            url: Arc::new(UrlTemplate::parse(url).map_err(InvocationError::unreachable)?),
            headers: Arc::new(RequestHeaders::new(headers).map_err(InvocationError::unreachable)?),
            plan: Arc::new(RequestPlan::new(&Method::POST, BodyFormat::Json, Vec::new())),
            pages: None,
            retries: 0,
            is_content: false,
            is_bytes: false,
        })
    }

    /// Loads a service that shares the connections of `client`, unless it has TLS options.
    pub(super) fn load(
        client: &HttpClient,
        declaration: Declaration<'_>,
    ) -> Result<Self, LoadError> {
        let method = match declaration.text("method") {
            method if method.is_empty() => Method::POST,
            method => Method::try_from(&*method).map_err(|_| LoadError::Method(method))?,
        };
        let tls = declaration.tls_options()?;
        let client = if tls.is_default() { client.clone() } else { HttpClient::with_tls(tls) };
        let body = declaration.text("body");
        // `check` refuses unknown formats.
        let body = BodyFormat::ALL.into_iter().find(|format| format.name() == body);
        let body = body.unwrap_or(BodyFormat::Json);
        let plan = RequestPlan::new(&method, body, places(declaration)?);
        let retries = retries(declaration, &method);
        Ok(Self {
            client,
            method,
            url: Arc::new(UrlTemplate::parse(&declaration.text("url"))?),
            headers: Arc::new(declaration.request_headers()?),
            plan: Arc::new(plan),
            pages: Pages::of(declaration.implementation)?.map(Arc::new),
            retries,
            is_content: declaration.flag("content"),
            is_bytes: declaration.text("answer") == "bytes",
        })
    }

    /// Takes the connections of `client`, which other services may use, too.
    #[cfg(test)]
    #[must_use]
    fn sharing(mut self, client: &HttpClient) -> Self {
        self.client = client.clone();
        self
    }

    async fn answer(self, invocation: Invocation) -> Result<Answer, InvocationError> {
        let who = format!("the service at {}", self.url);
        let request = self.request(&who, &invocation)?;
        let fetched = self.fetch(&who, &request, invocation.max_answer).await?;
        let media_type = fetched.media_type.clone();
        let body = match &self.pages {
            Some(pages) => {
                pages.join(&self, &who, &request, fetched, invocation.max_answer).await?
            }
            None => fetched.body,
        };
        if self.is_bytes {
            return Ok(Answer::Json(STANDARD.encode(body).into()));
        }
        if body.is_empty() && !invocation.text_result {
            return Ok(Answer::Json(Value::Null));
        }
        // A response that is not as described arrives, too.
        match std::str::from_utf8(&body) {
            Err(_) => {
                let data = format!("data:{media_type};base64,{}", STANDARD.encode(body));
                return Ok(Answer::Json(data.into()));
            }
            Ok(text) if !self.is_content && serde_json::from_str::<IgnoredAny>(text).is_err() => {
                let text = text.strip_suffix('\n').unwrap_or(text);
                return Ok(Answer::Json(text.strip_suffix('\r').unwrap_or(text).into()));
            }
            Ok(_) => {}
        }
        raw_answer(&who, body, self.is_content)
    }

    /// The whole body of a successful response.
    async fn fetch(
        &self,
        who: &str,
        request: &Request,
        max_answer: usize,
    ) -> Result<Fetched, InvocationError> {
        let Exchanged { response, masks } = self.exchange(who, request).await?;
        if !response.status().is_success() {
            let error = status_error(who, response).await;
            return Err(InvocationError { detail: masks.text(&error.detail), ..error });
        }
        let next_link = next_link(response.headers());
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        let body = read(who, response, max_answer).await?;
        let mut body =
            if self.is_bytes { body } else { charset::to_utf8(body, charset::of(&content_type)) };
        if !masks.is_empty()
            && let Ok(text) = std::str::from_utf8(&body)
        {
            body = masks.text(text).into_bytes();
        }
        let media_type = content_type.split(';').next().unwrap_or_default().trim().to_owned();
        Ok(Fetched { body, media_type, next_link })
    }

    /// The request of a call. The path takes the arguments that it names; the plan says where the
    /// others go.
    fn request(&self, who: &str, invocation: &Invocation) -> Result<Request, InvocationError> {
        let mut arguments = invocation.object()?;
        self.plan.join_lists_of_path(&mut arguments);
        let mut url = self.url.fill(&mut arguments).map_err(|error| not_called(who, &error))?;
        let parts = if self.plan.is_plain_json() && !self.url.has_parameters() {
            // The text has the digits of the numbers as they were sent.
            let body = invocation.arguments.as_bytes().to_vec();
            RequestParts { body: Some(("application/json".to_owned(), body)), ..Default::default() }
        } else {
            let parts = self.plan.parts(arguments, &invocation.hidden);
            parts.map_err(|error| not_called(who, &error))?
        };
        let RequestParts { query, injected_query, headers, credentials, body } = parts;
        add_query(&mut url, &query);
        let client = self.client.to(&url)?;
        let mut builder = client.request(self.method.clone(), url).headers(headers);
        if let Some((kind, body)) = body {
            builder = builder.header(CONTENT_TYPE, kind).body(body);
        }
        for (name, value) in invocation.origin.trace_context() {
            if let Ok(value) = HeaderValue::from_str(value) {
                builder = builder.header(name, value);
            }
        }
        // A declared content type replaces that of the body.
        let builder = builder.headers(self.headers.map().clone());
        let is_repeatable = invocation.is_repeatable;
        Ok(Request { builder, credentials, injected_query, is_repeatable })
    }
}

/// The places of parameters that an implementation and its library name.
fn places(declaration: Declaration<'_>) -> Result<Vec<ArgumentPlace>, LoadError> {
    let of_all = declaration.library_attribute("parameters");
    let injected = declaration.library_attribute("inject");
    let place = |argument: &String, place: &Value, is_injected: bool| {
        let read = place.as_str().and_then(RequestPlace::parse);
        let invalid = || LoadError::Place { argument: argument.clone(), place: place.to_string() };
        Ok(ArgumentPlace {
            argument: argument.clone(),
            place: read.ok_or_else(invalid)?,
            is_injected,
        })
    };
    let is_injected = |name: &str| injected.is_some_and(|it| it.get(name).is_some());
    let own = declaration.attribute("parameters").and_then(Value::as_object).into_iter().flatten();
    let own = own.map(|(name, text)| place(name, text, false));
    let of_all = of_all.and_then(Value::as_object).into_iter().flatten();
    let of_all = of_all.map(|(name, text)| place(name, text, is_injected(name)));
    // The implementation's own places come first, and so take precedence.
    own.chain(of_all).collect()
}

/// How often a failed request is repeated: what the implementation says, or its library for all requests
/// that may be sent twice.
fn retries(declaration: Declaration<'_>, method: &Method) -> u32 {
    let of_library = || declaration.library_attribute("retries").filter(|_| method.is_idempotent());
    let declared = declaration.attribute("retries").or_else(of_library).and_then(Value::as_u64);
    declared.map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX))
}

impl Implementation for Http {
    fn kind(&self) -> &'static str {
        "Http"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let cancelled = invocation.cancelled.clone();
        Box::pin(run_unless_cancelled(cancelled, self.clone().answer(invocation)))
    }

    fn secrets(&self) -> &[String] {
        self.headers.secrets()
    }
}

/// The whole of a body that is not too long.
async fn read(
    who: &str,
    mut response: Response,
    max_answer: usize,
) -> Result<Vec<u8>, InvocationError> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(part)) if part.len() > max_answer - body.len() => {
                return Err(InvocationError::too_large(who, max_answer));
            }
            Ok(Some(part)) => body.extend_from_slice(&part),
            Ok(None) => return Ok(body),
            Err(error) => {
                let why = http_client::root(&error);
                return Err(InvocationError::crash(format!(
                    "{who} closed the connection in the middle of its response: {why}"
                )));
            }
        }
    }
}

/// The error of a service that gets no request.
fn not_called(who: &str, why: &dyn fmt::Display) -> InvocationError {
    InvocationError::failure(format!("{who} is not called: {why}"))
}

/// Why there is no answer at all.
fn not_sent(who: &str, error: &reqwest::Error) -> InvocationError {
    let why = http_client::root(error);
    if error.is_redirect() {
        InvocationError::failure(format!("{who} {why}"))
    } else if error.is_connect() {
        InvocationError::unreachable(format!("{who} cannot be reached: {why}"))
    } else if http_client::is_cut(error) {
        InvocationError::crash(format!("{who} hung up before it answered: {why}"))
    } else {
        InvocationError::invalid(format!("{who} does not answer as an HTTP server does: {why}"))
    }
}

/// The error for an unsuccessful status, with the beginning of the body.
async fn status_error(who: &str, mut response: Response) -> InvocationError {
    let status = http_client::status_words(response.status().as_u16());
    let mut detail = format!("{who} answered with {status}");
    let mut body = Vec::new();
    while body.len() <= TEXT_LENGTH
        && let Ok(Some(part)) = response.chunk().await
    {
        body.extend_from_slice(&part);
    }
    let body = beginning(&String::from_utf8_lossy(&body));
    if !body.trim().is_empty() {
        detail += ":\n";
        detail += &body;
    }
    InvocationError::failure(detail)
}

#[cfg(test)]
mod tests;
