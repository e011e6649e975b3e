//! OpenAI's chat completions, which most servers implement, including llama.cpp and Ollama.
//!
//! The arguments of calls stay as the model wrote them, because the session repairs them or reports
//! their errors to the model.

mod body;
mod reply_builder;

use futures_util::StreamExt;
use gramc_model::Api;
use gramc_schema::Target;
use reqwest::{Client, Url};
use serde_json::Value;
use sse_stream::SseStream;

use super::{Model, ModelError, ModelErrorKind, ModelRequest, ReplyFuture, StreamSink, client};
use crate::message::Reply;
use reply_builder::ReplyBuilder;

/// A model on a server with chat completions.
#[derive(Debug)]
pub(super) struct ChatModel {
    name: String,
    model: String,
    url: Url,
    key: String,
    api: Api,
    client: Client,
}

impl ChatModel {
    /// `base` is the address that ends in `/v1`. An empty key is not sent.
    pub(super) fn new(
        (name, model): (&str, &str),
        base: &str,
        key: String,
        api: Api,
    ) -> Result<Self, String> {
        let url = format!("{}/chat/completions", base.trim_end_matches('/'));
        let (url, client) = client::of_address(&url)?;
        Ok(Self { name: name.to_owned(), model: model.to_owned(), url, key, api, client })
    }

    async fn request(
        &self,
        request: ModelRequest<'_>,
        sink: StreamSink<'_>,
    ) -> Result<Reply, ModelError> {
        let body = body::build(&self.model, self.api, &request);
        let mut post = self.client.post(self.url.clone()).json(&body);
        if !self.key.is_empty() {
            post = post.bearer_auth(&self.key);
        }
        let response = post.send().await.map_err(|error| client::request_error(&error))?;
        let response = client::check_status(response, &self.key).await?;
        if request.stream && is_stream(&response) {
            return self.read_stream(response, sink).await;
        }
        let body = client::read_all(response).await?;
        let mut builder = ReplyBuilder::default();
        builder.add_message(&body).map_err(|error| self.malformed(&error))?;
        builder.finish(sink).map_err(|error| self.malformed(&error))
    }

    async fn read_stream(
        &self,
        response: reqwest::Response,
        sink: StreamSink<'_>,
    ) -> Result<Reply, ModelError> {
        let chunks = client::stream(response).boxed();
        let mut events = SseStream::from_bytes_stream(chunks);
        let mut builder = ReplyBuilder::default();
        while let Some(event) = events.next().await {
            let data = match event {
                Ok(event) => event.data.unwrap_or_default(),
                Err(sse_stream::Error::Body(error)) => {
                    return Err(match error.downcast_ref::<std::io::Error>() {
                        Some(error) => client::read_error(error),
                        None => ModelError::new(ModelErrorKind::Interrupted, error.to_string()),
                    });
                }
                Err(error) => return Err(self.malformed(&error.to_string())),
            };
            match data.trim() {
                "" => {}
                "[DONE]" => return builder.finish(sink).map_err(|error| self.malformed(&error)),
                data => builder.add_chunk(data, sink).map_err(|error| self.malformed(&error))?,
            }
        }
        // Some servers send a finish reason but no `[DONE]`.
        if builder.is_finished() {
            return builder.finish(sink).map_err(|error| self.malformed(&error));
        }
        Err(client::interrupted())
    }

    fn malformed(&self, error: &str) -> ModelError {
        client::malformed(error, &self.key)
    }
}

fn is_stream(response: &reqwest::Response) -> bool {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.starts_with("text/event-stream")
}

impl Model for ChatModel {
    fn target(&self) -> Target {
        match self.api {
            Api::Tools => Target::OpenAi,
            Api::Functions => Target::OpenAiFunctions,
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn takes_images(&self) -> bool {
        // Most models on other servers take text only.
        self.name.starts_with("openai/")
    }

    fn send<'a>(&'a self, request: ModelRequest<'a>, sink: StreamSink<'a>) -> ReplyFuture<'a> {
        Box::pin(self.request(request, sink))
    }
}

/// Text that a server may send as a string or as a list of parts.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            Some(texts.collect())
        }
        _ => None,
    }
}
