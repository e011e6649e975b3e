//! OpenAI's responses, Anthropic's messages and Gemini, through the crate `genai`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, ContentPart, MessageContent,
    StopReason, Tool, ToolCall, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use gramc_schema::Target;
use gramc_tools::Image;
use serde_json::{Value, json};

use super::{
    Model, ModelError, ModelErrorKind, ModelRequest, ReplyFuture, StreamSink, client, finish,
};
use crate::message::{AssistantMessage, FinishReason, Message, ModelCall, Reply, Usage};
use crate::observer::Event;

/// A model of a provider that `genai` supports.
#[derive(Debug)]
pub(super) struct GenaiModel {
    name: String,
    target: Target,
    kind: AdapterKind,
    service: ServiceTarget,
    client: Client,
    key: ApiKey,
}

/// A key that `Debug` masks.
struct ApiKey(String);

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl GenaiModel {
    /// `base` is the address without the paths of the provider's API.
    pub(super) fn new(
        (name, model): (&str, &str),
        (kind, target): (AdapterKind, Target),
        base: &str,
        key: String,
    ) -> Result<Self, String> {
        let base = format!("{}/", base.trim_end_matches('/'));
        let (_, web) = client::of_address(&base)?;
        let client = Client::builder().with_reqwest(web).build();
        let client =
            client.map_err(|error| format!("cannot create a client for {base}: {error}"))?;
        let service = ServiceTarget {
            endpoint: Endpoint::from_owned(base),
            auth: AuthData::from_single(key.clone()),
            model: ModelIden::new(kind, model),
        };
        Ok(Self { name: name.to_owned(), target, kind, service, client, key: ApiKey(key) })
    }

    async fn request(
        &self,
        request: ModelRequest<'_>,
        sink: StreamSink<'_>,
    ) -> Result<Reply, ModelError> {
        let mut options = options(&request);
        if request.stream {
            return self.stream(self.chat_request(&request), &options, sink).await;
        }
        let chat = self.chat_request(&request);
        options.capture_raw_body = Some(self.kind == AdapterKind::OpenAIResp);
        match self.client.exec_chat(self.service.clone(), chat, Some(&options)).await {
            Ok(response) => {
                Self::check_stop(response.stop_reason.as_ref(), &response.content)?;
                let filtered = response.captured_raw_body.as_ref().is_some_and(is_filtered);
                let finish_reason = finish_reason(response.stop_reason.as_ref(), filtered);
                let model = response.provider_model_iden.model_name.to_string();
                let reply = self.reply(&response.content, &response.usage, finish_reason);
                Ok(Reply { model: Some(model), ..reply })
            }
            // `genai` rejects a complete response of OpenAI whose arguments are invalid JSON, but
            // accepts a streamed one.
            Err(error @ genai::Error::ChatResponseGeneration { .. })
                if self.kind == AdapterKind::OpenAIResp =>
            {
                let retry = self.stream(self.chat_request(&request), &options, &|_| {}).await;
                retry.map_err(|_| self.convert_error(error))
            }
            Err(error) => Err(self.convert_error(error)),
        }
    }

    /// Streams a reply.
    async fn stream(
        &self,
        chat: ChatRequest,
        options: &ChatOptions,
        sink: StreamSink<'_>,
    ) -> Result<Reply, ModelError> {
        let filtered = Arc::new(AtomicBool::default());
        let seen = Arc::clone(&filtered);
        let options = options.clone().with_raw_frame_fn(move |_, frame| {
            if frame.data.contains("\"response.incomplete\"")
                && frame.json().is_some_and(|event| is_filtered(&event["response"]))
            {
                seen.store(true, Ordering::Relaxed);
            }
        });
        let response = self.client.exec_chat_stream(self.service.clone(), chat, Some(&options));
        let mut stream = response.await.map_err(|error| self.convert_error(error))?.stream;
        while let Some(event) = stream.next().await {
            match event.map_err(|error| self.convert_error(error))? {
                ChatStreamEvent::Chunk(chunk) => sink(Event::ReplyText(&chunk.content)),
                ChatStreamEvent::End(end) => {
                    // `genai` also sends this event if the stream ends without a stop reason.
                    if end.captured_stop_reason.is_none() && self.kind != AdapterKind::Anthropic {
                        break;
                    }
                    let content = end.captured_content.unwrap_or_default();
                    let stop = end.captured_stop_reason;
                    Self::check_stop(stop.as_ref(), &content)?;
                    let usage = end.captured_usage.unwrap_or_default();
                    let filtered = filtered.load(Ordering::Relaxed);
                    let finish_reason = finish_reason(stop.as_ref(), filtered);
                    return Ok(self.reply(&content, &usage, finish_reason));
                }
                _ => {}
            }
        }
        Err(client::interrupted())
    }

    /// Fails if Gemini dropped a call that it could not parse.
    fn check_stop(reason: Option<&StopReason>, content: &MessageContent) -> Result<(), ModelError> {
        match reason {
            Some(StopReason::Other(reason))
                if reason == "MALFORMED_FUNCTION_CALL" && content.tool_calls().is_empty() =>
            {
                let detail = "the provider cannot parse a call of the model";
                Err(ModelError::new(ModelErrorKind::Interrupted, detail))
            }
            _ => Ok(()),
        }
    }

    fn chat_request(&self, request: &ModelRequest<'_>) -> ChatRequest {
        let mut chat = ChatRequest::new(self.messages(request.messages));
        if !request.instruction.is_empty() {
            chat = chat.with_system(request.instruction);
        }
        if !request.tools.is_empty() {
            chat = chat.with_tools(request.tools.iter().map(tool));
        }
        chat
    }

    /// Converts messages. Consecutive results become one message, and their images another one.
    fn messages(&self, messages: &[Message]) -> Vec<ChatMessage> {
        let mut all = Vec::with_capacity(messages.len());
        let mut results: Vec<ToolResponse> = Vec::new();
        let mut shown: Vec<(&str, &Image)> = Vec::new();
        for message in messages {
            if let Message::Tool { id, name, content, images } = message {
                let result = ToolResponse::new(id.as_str(), content.as_str());
                results.push(result.with_fn_name(name.as_str()));
                shown.extend(images.iter().map(|image| (name.as_str(), image)));
                continue;
            }
            end_results(&mut results, &mut shown, &mut all);
            match message {
                Message::User { content, images } => {
                    let text = ContentPart::from_text(content.as_str());
                    let parts = std::iter::once(text).chain(images.iter().map(binary));
                    all.push(ChatMessage::user(MessageContent::from_parts(
                        parts.collect::<Vec<_>>(),
                    )));
                }
                Message::Assistant(message) => {
                    all.push(ChatMessage::assistant(self.content(message)));
                }
                Message::Tool { .. } => {}
            }
        }
        end_results(&mut results, &mut shown, &mut all);
        all
    }

    /// Converts a message of the model. A message of this provider is sent back unchanged.
    fn content(&self, message: &AssistantMessage) -> MessageContent {
        if let Some(own) = &message.provider
            && own["by"] == self.kind.as_str()
            && let Ok(mut content) =
                serde_json::from_value::<MessageContent>(own["content"].clone())
        {
            // The conversation may have assigned new ids to the calls.
            let calls = content.iter_mut().filter_map(|part| match part {
                ContentPart::ToolCall(call) => Some(call),
                _ => None,
            });
            for (call, known) in calls.zip(&message.tool_calls) {
                call.call_id.clone_from(&known.id);
                // Providers reject arguments that are not an object.
                if call.fn_arguments.is_string() {
                    call.fn_arguments = known.object();
                }
            }
            return content;
        }
        let mut content = MessageContent::default();
        if let Some(text) = message.content.as_deref().filter(|text| !text.is_empty()) {
            content.push(text);
        }
        for call in &message.tool_calls {
            content.push(ToolCall {
                call_id: call.id.clone(),
                fn_name: call.name.clone(),
                fn_arguments: call.object(),
                thought_signatures: None,
            });
        }
        content
    }

    fn reply(
        &self,
        content: &MessageContent,
        usage: &genai::chat::Usage,
        finish_reason: FinishReason,
    ) -> Reply {
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
            message: AssistantMessage {
                content: text.or_else(|| tool_calls.is_empty().then(String::new)),
                tool_calls,
                provider: Some(json!({"by": self.kind.as_str(), "content": content_for_it})),
            },
            usage: Usage {
                input_tokens: count(usage.prompt_tokens),
                output_tokens: count(usage.completion_tokens),
            },
            model: None,
            finish_reason,
            calls_as_text: false,
        }
    }

    fn convert_error(&self, error: genai::Error) -> ModelError {
        use genai::Error as E;
        use genai::webc::Error as Web;

        match error {
            E::WebModelCall { webc_error, .. } | E::WebAdapterCall { webc_error, .. } => {
                match webc_error {
                    Web::ResponseFailedStatus { status, body, headers } => {
                        client::status_error(status, &headers, &body, &self.key.0)
                    }
                    Web::Reqwest(error) => client::request_error(&error),
                    other => self.malformed(&other.to_string()),
                }
            }
            E::HttpError { status, body, headers, .. } => {
                client::status_error(status, &headers, &body, &self.key.0)
            }
            // All failures of a streamed request are wrapped in this error.
            E::WebStream { cause, error, .. } => match error.downcast::<genai::Error>() {
                Ok(error) => self.convert_error(*error),
                Err(error) => {
                    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
                        return client::request_error(error);
                    }
                    let cause = client::sanitize(&cause, &self.key.0);
                    let detail = format!("the provider's reply was interrupted: {cause}");
                    ModelError::new(ModelErrorKind::Interrupted, detail)
                }
            },
            E::ChatResponse { body, .. } => self.provider_error(&body),
            // OpenAI's failed responses arrive as this error, with the provider's message.
            E::StreamParse { serde_error, .. } if self.kind == AdapterKind::OpenAIResp => {
                let message = client::sanitize(&serde_error.to_string(), &self.key.0);
                let detail = format!("the provider failed: {message}");
                ModelError::new(ModelErrorKind::Unavailable, detail)
            }
            E::ChatResponseGeneration { cause, .. } => self.malformed(&cause),
            other => self.malformed(&other.to_string()),
        }
    }

    /// The error that a provider sends within a reply.
    fn provider_error(&self, body: &Value) -> ModelError {
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
            | (_, 429) => ModelErrorKind::RateLimited,
            ("api_error" | "timeout_error" | "server_error" | "UNAVAILABLE" | "INTERNAL", _)
            | (_, 500..=599) => ModelErrorKind::Unavailable,
            ("invalid_request_error" | "INVALID_ARGUMENT", _) | (_, 400 | 413 | 422) => {
                ModelErrorKind::InvalidRequest
            }
            _ => ModelErrorKind::Rejected,
        };
        let message = error.get("message").and_then(Value::as_str).or(words);
        let message = client::sanitize(message.unwrap_or("unknown error"), &self.key.0);
        ModelError::new(kind, format!("the provider failed: {message}"))
    }

    fn malformed(&self, error: &str) -> ModelError {
        client::malformed(error, &self.key.0)
    }
}

/// Whether OpenAI's content filter ended a response. `genai` takes that for a token limit.
fn is_filtered(response: &Value) -> bool {
    response["incomplete_details"]["reason"] == "content_filter"
}

fn finish_reason(reason: Option<&StopReason>, filtered: bool) -> FinishReason {
    if filtered { FinishReason::ContentFilter } else { finish::finish_reason(reason) }
}

fn options(request: &ModelRequest<'_>) -> ChatOptions {
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

/// Converts a compiled tool.
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

/// Ends a series of results. Providers differ in which of them take images in results, and all take
/// them of a user.
fn end_results(
    results: &mut Vec<ToolResponse>,
    shown: &mut Vec<(&str, &Image)>,
    all: &mut Vec<ChatMessage>,
) {
    if !results.is_empty() {
        all.push(std::mem::take(results).into());
    }
    if !shown.is_empty() {
        let parts = shown.drain(..).flat_map(|(tool, image)| {
            [ContentPart::from_text(Message::image_caption(tool)), binary(image)]
        });
        all.push(ChatMessage::user(MessageContent::from_parts(parts.collect::<Vec<_>>())));
    }
}

fn binary(image: &Image) -> ContentPart {
    ContentPart::from_binary_base64(image.media_type.as_str(), image.data.as_str(), None)
}

impl Model for GenaiModel {
    fn takes_images(&self) -> bool {
        true
    }

    fn target(&self) -> Target {
        self.target
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn send<'a>(&'a self, request: ModelRequest<'a>, sink: StreamSink<'a>) -> ReplyFuture<'a> {
        Box::pin(self.request(request, sink))
    }
}
