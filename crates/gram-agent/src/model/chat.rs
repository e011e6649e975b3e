//! OpenAI's chat completions, which most servers speak: hosted ones, llama.cpp's, Ollama's.
//!
//! The arguments of a call stay the text that the model wrote, for what is wrong with it is put
//! right later, and told to the model where it cannot be.

mod body;
mod pieces;

use std::time::Duration;

use futures_util::StreamExt;
use gram_schema::Target;
use gram_schema::model::Api;
use reqwest::{Client, Url};
use serde_json::Value;
use sse_stream::SseStream;

use super::{Asked, Ear, Failure, Model, ModelError, Request, client};
use crate::message::Reply;

/// A model behind a server that speaks chat completions.
#[derive(Debug)]
pub(super) struct Chat {
    name: String,
    model: String,
    url: Url,
    key: String,
    api: Api,
    client: Client,
}

impl Chat {
    /// `base` is the address that ends in `/v1`; without a key none is sent.
    pub(super) fn new(
        (name, model): (&str, &str),
        base: &str,
        key: String,
        api: Api,
        silence: Duration,
    ) -> Result<Self, String> {
        let url = format!("{}/chat/completions", base.trim_end_matches('/'));
        let url = Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| format!("`{base}` is no address of a server"))?;
        let client = client::client(&url, silence)?;
        Ok(Self { name: name.to_owned(), model: model.to_owned(), url, key, api, client })
    }

    async fn answer(&self, request: Request<'_>, ear: Ear<'_>) -> Result<Reply, ModelError> {
        let body = body::of(&self.model, self.api, &request);
        let mut post = self.client.post(self.url.clone()).json(&body);
        if !self.key.is_empty() {
            post = post.bearer_auth(&self.key);
        }
        let response = post.send().await.map_err(|error| client::lost(&error))?;
        let response = client::checked(response, &self.key).await?;
        if request.stream && is_stream(&response) {
            return self.heard(response, ear).await;
        }
        let whole = client::whole(response).await?;
        let mut pieces = pieces::Pieces::default();
        pieces.message(&whole).map_err(|what| self.garbled(&what))?;
        pieces.reply(ear).map_err(|what| self.garbled(&what))
    }

    /// An answer that comes in pieces.
    async fn heard(&self, response: reqwest::Response, ear: Ear<'_>) -> Result<Reply, ModelError> {
        let parts = client::parts(response).boxed();
        let mut events = SseStream::from_bytes_stream(parts);
        let mut pieces = pieces::Pieces::default();
        while let Some(event) = events.next().await {
            let data = match event {
                Ok(event) => event.data.unwrap_or_default(),
                Err(sse_stream::Error::Body(error)) => {
                    return Err(match error.downcast_ref::<std::io::Error>() {
                        Some(error) => client::stopped(error),
                        None => ModelError::new(Failure::Cut, error.to_string()),
                    });
                }
                Err(error) => return Err(self.garbled(&error.to_string())),
            };
            match data.trim() {
                "" => {}
                "[DONE]" => return pieces.reply(ear).map_err(|what| self.garbled(&what)),
                data => pieces.piece(data, ear).map_err(|what| self.garbled(&what))?,
            }
        }
        // Some servers end without saying so, after they have said why.
        if pieces.is_finished() {
            return pieces.reply(ear).map_err(|what| self.garbled(&what));
        }
        Err(ModelError::new(Failure::Cut, "the provider's answer broke off in the middle"))
    }

    fn garbled(&self, what: &str) -> ModelError {
        let what = client::shown(what, &self.key);
        ModelError::new(Failure::Garbled, format!("the provider's answer cannot be read: {what}"))
    }
}

fn is_stream(response: &reqwest::Response) -> bool {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.starts_with("text/event-stream")
}

impl Model for Chat {
    fn target(&self) -> Target {
        match self.api {
            Api::Tools => Target::OpenAi,
            Api::Functions => Target::OpenAiFunctions,
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn ask<'a>(&'a self, request: Request<'a>, ear: Ear<'a>) -> Asked<'a> {
        Box::pin(self.answer(request, ear))
    }
}

/// A text that a server may send in place of a text, or not at all.
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
