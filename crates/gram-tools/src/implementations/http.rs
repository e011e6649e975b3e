//! Services that get the arguments as the body of a POST.

use std::fmt;
use std::sync::{Arc, OnceLock};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};

use super::{Loader, flag, raw_answer, run_unless_cancelled, sources, text, too_large};
use crate::http_client;
use crate::invocation::{
    Answer, AnswerFuture, Implementation, Invocation, InvocationError, InvocationErrorKind,
};
use crate::sanitize::{TEXT_LENGTH, beginning, sanitize_line};

/// A pool of connections to services. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct HttpClient(Arc<ClientPool>);

#[derive(Debug, Default)]
struct ClientPool {
    near: OnceLock<reqwest::Client>,
    far: OnceLock<reqwest::Client>,
}

impl HttpClient {
    /// The client for an address. It is made when it is needed first.
    fn to(&self, url: &Url) -> Result<reqwest::Client, InvocationError> {
        let place = if http_client::is_loopback(url) { &self.0.near } else { &self.0.far };
        if let Some(client) = place.get() {
            return Ok(client.clone());
        }
        let client = http_client::client(url).build().map_err(|error| {
            let detail = format!("no connection can be prepared: {}", http_client::root(&error));
            InvocationError::new(InvocationErrorKind::Unreachable, detail)
        })?;
        // Another call may have set it meanwhile; then this client is dropped.
        Ok(place.get_or_init(|| client).clone())
    }
}

/// A service. It gets the arguments as one JSON object in the body of a POST, and answers with
/// JSON, or with text where the tool's result is text. Any status but a success is a failure.
#[derive(Clone)]
pub struct Http {
    client: HttpClient,
    url: Arc<Url>,
    headers: HeaderMap,
    is_content: bool,
}

impl Http {
    /// The service at `url`, which gets `headers`, too. Fails where the address is no whole URL, or
    /// a header is none.
    pub fn new(url: &str, headers: Vec<(String, String)>) -> Result<Self, InvocationError> {
        let unreachable =
            |detail: String| InvocationError::new(InvocationErrorKind::Unreachable, detail);
        let url = http_client::address(url).ok_or_else(|| {
            unreachable(
                "cannot reach the service: its address must be a whole URL, \
                 such as https://example.com/search"
                    .to_owned(),
            )
        })?;
        let mut map = HeaderMap::new();
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in headers {
            let (Ok(key), Ok(mut value)) =
                (HeaderName::try_from(&name), HeaderValue::try_from(value))
            else {
                // The value may be a password.
                let name = sanitize_line(&name);
                return Err(unreachable(format!("invalid header name or value: `{name}`")));
            };
            value.set_sensitive(true);
            map.insert(key, value);
        }
        let client = HttpClient::default();
        Ok(Self { client, url: Arc::new(url), headers: map, is_content: false })
    }

    pub(super) fn load(
        loader: &Loader<'_>,
        declared: &gram_model::Implementation,
    ) -> Result<Self, String> {
        let headers = declared.attribute("headers");
        let headers = headers.map_or_else(Vec::new, |it| sources(it, loader.folder));
        let headers: Result<Vec<_>, String> = headers
            .into_iter()
            .map(|(name, source)| {
                let value = source.read()?;
                Ok((name.to_string(), value.as_str().unwrap_or_default().to_owned()))
            })
            .collect();
        let mut http = Self::new(&text(declared, "url"), headers?).map_err(|error| error.detail)?;
        http.is_content = flag(declared, "content");
        Ok(http.sharing(&loader.http))
    }

    /// Takes the connections of `client`, which other services may use, too.
    #[must_use]
    pub(crate) fn sharing(mut self, client: &HttpClient) -> Self {
        self.client = client.clone();
        self
    }

    async fn answer(self, invocation: Invocation) -> Result<Answer, InvocationError> {
        let who = format!("the service at {}", http_client::without_secrets(&self.url));
        let request = self
            .client
            .to(&self.url)?
            .post(Url::clone(&self.url))
            .headers(self.headers)
            .body(invocation.arguments.as_bytes().to_vec());
        let response = request.send().await.map_err(|error| not_sent(&who, &error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(&who, response).await);
        }
        let body = read(&who, response, invocation.max_answer).await?;
        raw_answer(&who, body, self.is_content)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Address and headers may hold a password.
        f.debug_struct("Http")
            .field("url", &http_client::without_secrets(&self.url))
            .finish_non_exhaustive()
    }
}

impl Implementation for Http {
    fn kind(&self) -> &'static str {
        "Http"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let cancelled = invocation.cancelled.clone();
        Box::pin(run_unless_cancelled(cancelled, self.clone().answer(invocation)))
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
                return Err(too_large(who, max_answer));
            }
            Ok(Some(part)) => body.extend_from_slice(&part),
            Ok(None) => return Ok(body),
            Err(error) => {
                let why = http_client::root(&error);
                let detail =
                    format!("{who} closed the connection in the middle of its response: {why}");
                return Err(InvocationError::new(InvocationErrorKind::Died, detail));
            }
        }
    }
}

/// Why there is no answer at all.
fn not_sent(who: &str, error: &reqwest::Error) -> InvocationError {
    let why = http_client::root(error);
    if error.is_redirect() {
        return InvocationError::new(InvocationErrorKind::Failed, format!("{who} {why}"));
    }
    let (kind, what) = if error.is_connect() {
        (InvocationErrorKind::Unreachable, "cannot be reached")
    } else if http_client::is_cut(error) {
        (InvocationErrorKind::Died, "hung up before it answered")
    } else {
        (InvocationErrorKind::Garbled, "does not answer as an HTTP server does")
    };
    InvocationError::new(kind, format!("{who} {what}: {why}"))
}

/// The error for an unsuccessful status, with the beginning of the body.
async fn refused(who: &str, mut response: Response) -> InvocationError {
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
    InvocationError::new(InvocationErrorKind::Failed, detail)
}

#[cfg(test)]
mod tests;
