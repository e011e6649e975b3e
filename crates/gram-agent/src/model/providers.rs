//! OpenAI's responses, Anthropic's messages and Gemini, as the crate `genai` speaks them.

use std::time::Duration;

use futures_util::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, ContentPart, MessageContent,
    StopReason, Tool, ToolCall, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use gram_schema::Target;
use reqwest::Url;
use serde_json::{Value, json};

use super::{Asked, Ear, Failure, Heard, Model, ModelError, Request, client};
use crate::message::{Message, ModelCall, Reply, Said, Usage};

/// A model of one of these providers.
#[derive(Debug)]
pub(super) struct Provided {
    name: String,
    target: Target,
    kind: AdapterKind,
    service: ServiceTarget,
    client: Client,
    key: Key,
}

/// A key, which no debugging shows.
struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// A provider that `genai` speaks to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Provider {
    Responses,
    Anthropic,
    Gemini,
}

impl Provider {
    /// What tools are compiled to for it.
    pub(super) fn target(self) -> Target {
        match self {
            Self::Responses => Target::OpenAiResponses,
            Self::Anthropic => Target::Anthropic,
            Self::Gemini => Target::Gemini,
        }
    }
}

impl Provided {
    /// `base` is the address before the paths that the provider's API adds.
    pub(super) fn new(
        (name, model): (&str, &str),
        provider: Provider,
        base: &str,
        key: String,
        silence: Duration,
    ) -> Result<Self, String> {
        let kind = match provider {
            Provider::Responses => AdapterKind::OpenAIResp,
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::Gemini => AdapterKind::Gemini,
        };
        let base = format!("{}/", base.trim_end_matches('/'));
        let url = Url::parse(&base).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| format!("`{base}` is no address of a server"))?;
        let web = client::client(&url, silence)?;
        let client = Client::builder().with_reqwest(web).build();
        let client =
            client.map_err(|error| format!("no client for {base} can be made: {error}"))?;
        let service = ServiceTarget {
            endpoint: Endpoint::from_owned(base),
            auth: AuthData::from_single(key.clone()),
            model: ModelIden::new(kind, model),
        };
        let (name, target) = (name.to_owned(), provider.target());
        Ok(Self { name, target, kind, service, client, key: Key(key) })
    }

    async fn answer(&self, request: Request<'_>, ear: Ear<'_>) -> Result<Reply, ModelError> {
        let options = options(&request);
        if request.stream {
            return self.heard(self.request(&request), &options, ear).await;
        }
        let asked = self.request(&request);
        match self.client.exec_chat(self.service.clone(), asked, Some(&options)).await {
            Ok(answer) => {
                Self::ended(answer.stop_reason.as_ref(), &answer.content)?;
                Ok(self.reply(&answer.content, &answer.usage))
            }
            // OpenAI's whole answers are not given at all where arguments are no JSON; those that
            // come in pieces are, with arguments as they were written.
            Err(error @ genai::Error::ChatResponseGeneration { .. })
                if self.kind == AdapterKind::OpenAIResp =>
            {
                let again = self.heard(self.request(&request), &options, &|_| {}).await;
                again.map_err(|_| self.failed(error))
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// An answer that comes in pieces.
    async fn heard(
        &self,
        asked: ChatRequest,
        options: &ChatOptions,
        ear: Ear<'_>,
    ) -> Result<Reply, ModelError> {
        let answer = self.client.exec_chat_stream(self.service.clone(), asked, Some(options));
        let mut stream = answer.await.map_err(|error| self.failed(error))?.stream;
        while let Some(event) = stream.next().await {
            match event.map_err(|error| self.failed(error))? {
                ChatStreamEvent::Chunk(chunk) => ear(Heard::Text(&chunk.content)),
                ChatStreamEvent::End(end) => {
                    // Where the stream stops before the provider said why, `genai` ends it.
                    if end.captured_stop_reason.is_none() && self.kind != AdapterKind::Anthropic {
                        break;
                    }
                    let content = end.captured_content.unwrap_or_default();
                    Self::ended(end.captured_stop_reason.as_ref(), &content)?;
                    return Ok(self.reply(&content, &end.captured_usage.unwrap_or_default()));
                }
                _ => {}
            }
        }
        Err(ModelError::new(Failure::Cut, "the provider's answer broke off in the middle"))
    }

    /// Fails where the provider itself gave the answer up: Gemini reads calls before it gives
    /// them, and leaves out what it cannot read.
    fn ended(why: Option<&StopReason>, content: &MessageContent) -> Result<(), ModelError> {
        match why {
            Some(StopReason::Other(why))
                if why == "MALFORMED_FUNCTION_CALL" && content.tool_calls().is_empty() =>
            {
                let detail = "the model wrote a call that the provider cannot read";
                Err(ModelError::new(Failure::Cut, detail))
            }
            _ => Ok(()),
        }
    }

    fn request(&self, request: &Request<'_>) -> ChatRequest {
        let mut asked = ChatRequest::new(self.messages(request.messages));
        if !request.instruction.is_empty() {
            asked = asked.with_system(request.instruction);
        }
        if !request.tools.is_empty() {
            asked = asked.with_tools(request.tools.iter().map(tool));
        }
        asked
    }

    /// Results that follow each other answer one message, and go together.
    fn messages(&self, messages: &[Message]) -> Vec<ChatMessage> {
        let mut all = Vec::with_capacity(messages.len());
        let mut results: Vec<ToolResponse> = Vec::new();
        for message in messages {
            if let Message::Tool { id, name, content } = message {
                let result = ToolResponse::new(id.as_str(), content.as_str());
                results.push(result.with_fn_name(name.as_str()));
                continue;
            }
            if !results.is_empty() {
                all.push(std::mem::take(&mut results).into());
            }
            match message {
                Message::User { content } => all.push(ChatMessage::user(content.as_str())),
                Message::Assistant(said) => all.push(ChatMessage::assistant(self.said(said))),
                Message::Tool { .. } => {}
            }
        }
        if !results.is_empty() {
            all.push(results.into());
        }
        all
    }

    /// A message of the model; as the provider sent it, where it was this provider.
    fn said(&self, said: &Said) -> MessageContent {
        if let Some(own) = &said.provider
            && own["by"] == self.kind.as_str()
            && let Ok(mut content) =
                serde_json::from_value::<MessageContent>(own["content"].clone())
        {
            // Calls whose ids were used before have others now, and so have their results.
            let calls = content.iter_mut().filter_map(|part| match part {
                ContentPart::ToolCall(call) => Some(call),
                _ => None,
            });
            for (call, known) in calls.zip(&said.tool_calls) {
                call.call_id.clone_from(&known.id);
            }
            return content;
        }
        let mut content = MessageContent::default();
        if let Some(text) = said.content.as_deref().filter(|text| !text.is_empty()) {
            content.push(text);
        }
        for call in &said.tool_calls {
            content.push(ToolCall {
                call_id: call.id.clone(),
                fn_name: call.name.clone(),
                fn_arguments: call.object(),
                thought_signatures: None,
            });
        }
        content
    }

    fn reply(&self, content: &MessageContent, usage: &genai::chat::Usage) -> Reply {
        let calls = content.tool_calls().into_iter().map(|call| ModelCall {
            id: call.call_id.clone(),
            name: call.fn_name.clone(),
            arguments: match &call.fn_arguments {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
        });
        let tool_calls: Vec<_> = calls.collect();
        let text = content.joined_texts();
        let content_for_it = serde_json::to_value(content).unwrap_or_default();
        let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
        Reply {
            said: Said {
                content: text.or_else(|| tool_calls.is_empty().then(String::new)),
                tool_calls,
                provider: Some(json!({"by": self.kind.as_str(), "content": content_for_it})),
            },
            usage: Usage {
                input_tokens: count(usage.prompt_tokens),
                output_tokens: count(usage.completion_tokens),
            },
        }
    }

    fn failed(&self, error: genai::Error) -> ModelError {
        use genai::Error as E;
        use genai::webc::Error as Web;

        match error {
            E::WebModelCall { webc_error, .. } | E::WebAdapterCall { webc_error, .. } => {
                match webc_error {
                    Web::ResponseFailedStatus { status, body, headers } => ModelError {
                        retry_after: client::retry_after(&headers),
                        ..client::status_error(status, &body, &self.key.0)
                    },
                    Web::Reqwest(error) => client::lost(&error),
                    other => self.garbled(&other.to_string()),
                }
            }
            E::HttpError { status, body, headers, .. } => ModelError {
                retry_after: client::retry_after(&headers),
                ..client::status_error(status, &body, &self.key.0)
            },
            // What is asked for as a stream fails in the stream, whatever it is.
            E::WebStream { cause, error, .. } => match error.downcast::<genai::Error>() {
                Ok(error) => self.failed(*error),
                Err(error) => {
                    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
                        return client::lost(error);
                    }
                    let cause = client::shown(&cause, &self.key.0);
                    let detail = format!("the provider's answer broke off: {cause}");
                    ModelError::new(Failure::Cut, detail)
                }
            },
            E::ChatResponse { body, .. } => self.told(&body),
            // A response that failed comes so, with the provider's words.
            E::StreamParse { serde_error, .. } if self.kind == AdapterKind::OpenAIResp => {
                let said = client::shown(&serde_error.to_string(), &self.key.0);
                ModelError::new(Failure::Unavailable, format!("the provider failed: {said}"))
            }
            E::ChatResponseGeneration { cause, .. } => self.garbled(&cause),
            other => self.garbled(&other.to_string()),
        }
    }

    /// An error that a provider tells in the middle of an answer.
    fn told(&self, body: &Value) -> ModelError {
        let error = body.get("error").unwrap_or(body);
        let word = |key: &&str| error.get(key)?.as_str().filter(|word| *word != "error");
        let words = ["type", "code", "status"].iter().find_map(word);
        let number = error.get("code").and_then(Value::as_u64).unwrap_or_default();
        let kind = match (words.unwrap_or_default(), number) {
            (
                "overloaded_error"
                | "rate_limit_error"
                | "rate_limit_exceeded"
                | "RESOURCE_EXHAUSTED",
                _,
            )
            | (_, 429) => Failure::Busy,
            ("api_error" | "timeout_error" | "server_error" | "UNAVAILABLE" | "INTERNAL", _)
            | (_, 500..=599) => Failure::Unavailable,
            _ => Failure::Refused,
        };
        let said = error.get("message").and_then(Value::as_str).or(words);
        let said = said.unwrap_or("it gives no answer, and does not say why");
        let said = client::shown(said, &self.key.0);
        ModelError::new(kind, format!("the provider failed: {said}"))
    }

    fn garbled(&self, what: &str) -> ModelError {
        let what = client::shown(what, &self.key.0);
        ModelError::new(Failure::Garbled, format!("the provider's answer cannot be read: {what}"))
    }
}

fn options(request: &Request<'_>) -> ChatOptions {
    let sampling = request.sampling;
    ChatOptions {
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_tokens: sampling.max_tokens,
        seed: sampling.seed,
        capture_usage: Some(true),
        capture_content: Some(true),
        capture_tool_calls: Some(true),
        capture_reasoning_content: Some(true),
        ..ChatOptions::default()
    }
}

/// A tool, from the form that our own compiler gave it.
fn tool(compiled: &Value) -> Tool {
    let name = compiled["name"].as_str().unwrap_or_default();
    let mut tool = Tool::new(name);
    if let Some(description) = compiled["description"].as_str() {
        tool = tool.with_description(description);
    }
    let schema = ["parameters", "input_schema"].iter().find_map(|key| compiled.get(key));
    match schema {
        Some(schema) => tool.with_schema(schema.clone()),
        None => tool,
    }
}

impl Model for Provided {
    fn target(&self) -> Target {
        self.target
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn ask<'a>(&'a self, request: Request<'a>, ear: Ear<'a>) -> Asked<'a> {
        Box::pin(self.answer(request, ear))
    }
}
