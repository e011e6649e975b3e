//! Models behind HTTP: one request and reply, whatever the protocol of the provider.

use std::{fmt, io};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use gramc_schema::Target;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;
use sse_stream::SseStream;

use super::{Model, ModelError, ModelErrorKind, ModelRequest, ReplyFuture, StreamSink, client};
use crate::message::Reply;

/// The bodies of a provider's API.
pub(super) trait Protocol: fmt::Debug + Send + Sync {
    /// The target of the tools.
    fn target(&self) -> Target;

    /// The path of the API, relative to the address of the provider.
    fn path(&self, model: &str, stream: bool) -> String;

    fn add_headers(&self, request: RequestBuilder) -> RequestBuilder {
        request
    }

    fn authorize(&self, request: RequestBuilder, key: &str) -> RequestBuilder {
        request.bearer_auth(key)
    }

    fn body(&self, model: &str, request: &ModelRequest<'_>) -> Value;

    fn reader(&self) -> Box<dyn ReplyReader>;
}

/// Reads one reply, complete or streamed.
pub(super) trait ReplyReader: Send {
    /// Adds the body of a complete reply.
    fn add_body(&mut self, body: &str) -> Result<(), ReplyError>;

    /// Adds an event of a streamed reply. Returns whether the reply is complete.
    fn add_event(&mut self, data: &str, sink: StreamSink<'_>) -> Result<bool, ReplyError>;

    /// The reply, once it is complete or its stream has ended.
    fn finish(self: Box<Self>, sink: StreamSink<'_>) -> Result<Reply, ReplyError>;
}

/// A reply that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplyError {
    #[error("{0}")]
    Malformed(String),
    /// It contains an error of the provider.
    #[error("{0}")]
    Provider(Value),
    /// It ends early.
    #[error("{0}")]
    Interrupted(&'static str),
    /// The provider rejects the prompt.
    #[error("the provider rejected the prompt: {0}")]
    RejectedPrompt(String),
}

impl From<serde_json::Error> for ReplyError {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// A model of a provider.
#[derive(Debug)]
pub(super) struct HttpModel {
    /// The provider and the name of the model.
    pub(super) name: String,
    pub(super) model: String,
    /// The address of the provider, without the paths of its API and without a slash at its end.
    pub(super) base: String,
    /// An empty key is not sent.
    pub(super) key: ApiKey,
    pub(super) client: Client,
    pub(super) takes_images: bool,
    pub(super) protocol: Box<dyn Protocol>,
}

/// A key that `Debug` masks.
pub(super) struct ApiKey(pub(super) String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl HttpModel {
    async fn request(
        &self,
        request: ModelRequest<'_>,
        sink: StreamSink<'_>,
    ) -> Result<Reply, ModelError> {
        let path = self.protocol.path(&self.model, request.stream);
        let url = format!("{}/{path}", self.base);
        let url = Url::parse(&url).map_err(|error| self.malformed_error(&error.to_string()))?;
        let body = self.protocol.body(&self.model, &request);
        let mut post = self.protocol.add_headers(self.client.post(url).json(&body));
        if !self.key.0.is_empty() {
            post = self.protocol.authorize(post, &self.key.0);
        }
        let response = post.send().await.map_err(|error| client::request_error(&error))?;
        let response = client::check_status(response, &self.key.0).await?;
        if request.stream && is_stream(&response) {
            return self.read_stream(client::stream(response), sink).await;
        }
        let body = client::read_all(response).await?;
        let body = std::str::from_utf8(&body).map_err(|_| self.malformed_error("invalid UTF-8"))?;
        let mut reader = self.protocol.reader();
        let reply = reader.add_body(body).and_then(|()| reader.finish(sink));
        reply.map_err(|error| self.convert_error(error))
    }

    pub(super) async fn read_stream(
        &self,
        chunks: impl Stream<Item = Result<Bytes, io::Error>> + Send,
        sink: StreamSink<'_>,
    ) -> Result<Reply, ModelError> {
        let mut events = SseStream::from_bytes_stream(chunks.boxed());
        let mut reader = self.protocol.reader();
        while let Some(event) = events.next().await {
            let data = match event {
                Ok(event) => event.data.unwrap_or_default(),
                Err(sse_stream::Error::Body(error)) => {
                    return Err(match error.downcast_ref::<std::io::Error>() {
                        Some(error) => client::read_error(error),
                        None => ModelError::new(ModelErrorKind::Interrupted, error.to_string()),
                    });
                }
                Err(error) => return Err(self.malformed_error(&error.to_string())),
            };
            if data.trim().is_empty() {
                continue;
            }
            let is_complete = reader.add_event(data.trim(), sink);
            if is_complete.map_err(|error| self.convert_error(error))? {
                break;
            }
        }
        reader.finish(sink).map_err(|error| self.convert_error(error))
    }

    fn convert_error(&self, error: ReplyError) -> ModelError {
        match error {
            ReplyError::Malformed(detail) => self.malformed_error(&detail),
            ReplyError::Provider(body) => client::provider_error(&body, &self.key.0),
            ReplyError::Interrupted(detail) => ModelError::new(ModelErrorKind::Interrupted, detail),
            ReplyError::RejectedPrompt(_) => {
                let detail = client::sanitize(&error.to_string(), &self.key.0);
                ModelError::new(ModelErrorKind::InvalidRequest, detail)
            }
        }
    }

    fn malformed_error(&self, error: &str) -> ModelError {
        client::malformed_error(error, &self.key.0)
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.starts_with("text/event-stream")
}

impl Model for HttpModel {
    fn target(&self) -> Target {
        self.protocol.target()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn takes_images(&self) -> bool {
        self.takes_images
    }

    fn send<'a>(&'a self, request: ModelRequest<'a>, sink: StreamSink<'a>) -> ReplyFuture<'a> {
        Box::pin(self.request(request, sink))
    }
}
