//! Tools of MCP servers.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Loader, environment, name_or_tool, request_headers, run_unless_cancelled, text, texts,
    too_large,
};
use crate::invocation::{
    Answer, AnswerFuture, CloseFuture, ConnectFuture, DeclaredInterface, Implementation,
    Invocation, InvocationError, InvocationErrorKind,
};
use crate::mcp::McpServer;
use crate::sanitize::beginning;

/// A tool of an MCP server.
///
/// Its answer is the server's `structuredContent`, or else the text that the server sent, joined
/// by line ends. Where that holds anything but text, the answer is the list of its blocks.
#[derive(Debug, Clone)]
pub struct Mcp {
    server: McpServer,
    tool: Arc<str>,
}

/// The response to a call.
#[derive(Deserialize)]
struct ResponseMessage {
    result: CallResult,
}

/// The result of `tools/call`, as the revision 2025-11-25 of the protocol has it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    content: Option<Vec<Value>>,
    structured_content: Option<Value>,
    is_error: Option<bool>,
    /// Of a later revision: whether this is the result, or a question.
    result_type: Option<String>,
}

impl Mcp {
    /// The tool of a server that is called `tool` there.
    pub fn new(server: &McpServer, tool: impl Into<String>) -> Self {
        Self { server: server.clone(), tool: Arc::from(tool.into()) }
    }

    pub(super) fn load(
        loader: &mut Loader<'_>,
        declared: &gram_model::Implementation,
    ) -> Result<Self, String> {
        let server = server(loader, declared)?;
        Ok(Self::new(&server, name_or_tool(declared, "tool")))
    }

    async fn answer(self, invocation: Invocation) -> Result<Answer, InvocationError> {
        match self.ask(invocation.object()?, &invocation).await {
            // Error messages for an unknown tool differ between servers; the list of tools does
            // not.
            Err(error) if error.kind == InvocationErrorKind::Failed => {
                Err(self.server.missing(&self.tool).await.unwrap_or(error))
            }
            outcome => outcome,
        }
    }

    async fn ask(
        &self,
        arguments: Map<String, Value>,
        invocation: &Invocation,
    ) -> Result<Answer, InvocationError> {
        let max_answer = invocation.max_answer;
        let (message, who) = self.server.call(&self.tool, arguments, max_answer).await?;
        let message: ResponseMessage = serde_json::from_str(&message).map_err(|error| {
            let detail = format!("{who} gave no answer: its response is invalid: {error}");
            InvocationError::new(InvocationErrorKind::Garbled, detail)
        })?;
        let CallResult { content, structured_content, is_error, result_type } = message.result;
        if result_type.is_some_and(|kind| kind != "complete") {
            let detail = format!("{who} requested input, which is not supported");
            return Err(InvocationError::new(InvocationErrorKind::Failed, detail));
        }
        if content.is_none() && structured_content.is_none() && is_error != Some(true) {
            let detail = format!("{who} returned a result without `content`");
            return Err(InvocationError::new(InvocationErrorKind::Garbled, detail));
        }
        let content = content.unwrap_or_default();
        let text = text_of(&content);
        if is_error == Some(true) {
            return Err(failed(&who, text, content));
        }
        // The text content is the server's rendering for readers of text.
        let structured =
            structured_content.filter(|_| !invocation.text_result || content.is_empty());
        let answer = match (structured, text) {
            (Some(value), _) => Answer::Json(value),
            (None, Some(text)) => Answer::Raw(text),
            (None, None) => Answer::Json(Value::Array(content)),
        };
        let length = match &answer {
            Answer::Raw(text) => text.len(),
            Answer::Json(value) => length(value),
        };
        if length > max_answer { Err(too_large(&who, max_answer)) } else { Ok(answer) }
    }
}

/// The server that an implementation names. The tools of a server share a connection.
fn server(
    loader: &mut Loader<'_>,
    declared: &gram_model::Implementation,
) -> Result<McpServer, String> {
    let names = ["url", "command", "env", "cwd", "headers"];
    let key = Value::from(names.map(|name| json!(declared.attribute(name))).to_vec()).to_string();
    if let Some(known) = loader.servers.get(&key) {
        return Ok(known.clone());
    }
    let url = text(declared, "url");
    let server = if url.is_empty() {
        McpServer::command_with(texts(declared, "command"), environment(loader, declared)?)
    } else {
        let headers = request_headers(loader, declared)?.with_bearer();
        McpServer::url_with(&url, headers).map_err(|error| error.detail)?
    };
    loader.servers.insert(key, server.clone());
    Ok(server)
}

/// The error of a call that the server reports as failed.
fn failed(who: &str, text: Option<String>, content: Vec<Value>) -> InvocationError {
    let text = text.unwrap_or_else(|| Value::Array(content).to_string());
    let mut text = beginning(&text);
    if text.is_empty() {
        text = format!("{who} reported a failure");
    }
    InvocationError::new(InvocationErrorKind::Failed, text)
}

/// The text of content that is nothing else.
fn text_of(content: &[Value]) -> Option<String> {
    let text = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"].as_str().map(str::to_owned),
        _ => None,
    };
    content.iter().map(text).collect::<Option<Vec<_>>>().map(|lines| lines.join("\n"))
}

/// The bytes of a value as JSON.
fn length(value: &Value) -> usize {
    struct ByteCounter(usize);

    impl std::io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = ByteCounter(0);
    // Neither a value nor counting can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

impl Implementation for Mcp {
    fn kind(&self) -> &'static str {
        "Mcp"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let cancelled = invocation.cancelled.clone();
        Box::pin(run_unless_cancelled(cancelled, self.clone().answer(invocation)))
    }

    fn connect(&self) -> ConnectFuture {
        let server = self.server.clone();
        Box::pin(async move { server.connect().await })
    }

    fn close(&self) -> CloseFuture {
        let server = self.server.clone();
        Box::pin(async move { server.close().await })
    }

    fn secrets(&self) -> &[String] {
        self.server.secrets()
    }

    /// That the server has no such tool, if it was asked for its tools already.
    fn fault(&self) -> Option<String> {
        self.server.known_missing(&self.tool)
    }

    /// The schemas that the server lists, if it was asked for its tools already.
    fn declared(&self) -> Option<DeclaredInterface> {
        let mut tool = self.server.known_tool(&self.tool)?;
        let mut schema = |key: &str| tool.get_mut(key).map(Value::take).filter(|it| !it.is_null());
        let result = schema("outputSchema");
        Some(DeclaredInterface::Schemas { parameters: schema("inputSchema")?, result })
    }
}

#[cfg(test)]
mod tests;
