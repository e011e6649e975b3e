//! A tool of an MCP server.

use std::sync::Arc;

use gramc_tools::ToolContent;
use gramc_tools::implementations::run_unless_cancelled;
use gramc_tools::invocation::{
    Answer, AnswerFuture, CloseFuture, ConnectFuture, DeclaredInterface, Implementation,
    Invocation, InvocationError, InvocationErrorKind, RequestOrigin, SessionResources,
};
use gramc_tools::sanitize::beginning;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::session_servers::SessionServers;
use super::{McpServer, UpstreamError};

/// A tool of an MCP server.
///
/// Its answer is the result as the server sent it.
#[derive(Clone)]
pub struct McpTool {
    server: McpServer,
    tool: Arc<str>,
}

impl McpTool {
    /// The tool of a server that is called `tool` there.
    pub fn new(server: &McpServer, tool: impl Into<String>) -> Self {
        Self { server: server.clone(), tool: Arc::from(tool.into()) }
    }

    async fn answer(self, invocation: Invocation) -> Result<Answer, InvocationError> {
        match self.ask(&invocation.object()?, &invocation).await {
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
        arguments: &Map<String, Value>,
        invocation: &Invocation,
    ) -> Result<Answer, InvocationError> {
        let who = format!("the MCP server {}", self.server);
        let (max_answer, origin) = (invocation.max_answer, invocation.origin.clone());
        let refusal = Arc::clone(&origin.refusal);
        let result = self.server.call(&self.tool, arguments, max_answer, origin).await;
        if let Err(UpstreamError::Error(error)) = &result {
            // The first one stays.
            let _ = refusal.set(error.clone());
        }
        let result = result.map_err(|error| error.of_call(&who))?;
        let garbled = |why: &str| InvocationError::invalid(format!("{who} returned {why}"));
        let invalid = |why: &str| garbled(&format!("no result: its response is invalid: {why}"));
        let Value::Object(result) = result else {
            return Err(invalid("the result is not an object"));
        };
        let mut content = ToolContent::from_result(result)
            .map_err(|key| invalid(&format!("`{key}` has the wrong type")))?;
        if content.get("resultType").is_some_and(|kind| !kind.is_null() && kind != "complete") {
            let detail = format!("{who} requested input, which is not supported");
            return Err(InvocationError::failure(detail));
        }
        let is_absent = |key| content.get(key).is_none_or(Value::is_null);
        if is_absent("content") && is_absent("structuredContent") && !content.is_error() {
            return Err(garbled("a result without `content`"));
        }
        if content.size() > max_answer {
            return Err(InvocationError::too_large(&who, max_answer));
        }
        if content.is_error() {
            return Err(failure(&who, content));
        }
        if let Some(value) = content.structured_content() {
            content.violation = self.server.output_violation(&self.tool, value);
        }
        Ok(Answer::Content(content))
    }
}

/// The error of a call that the server reports as failed.
fn failure(who: &str, content: ToolContent) -> InvocationError {
    let text = content.text().unwrap_or_else(|| Value::from(content.blocks()).to_string());
    let mut text = beginning(&text);
    if text.is_empty() {
        text = format!("{who} reported a failure");
    }
    let content = (!content.blocks().is_empty()).then(|| Box::new(content));
    InvocationError { content, ..InvocationError::failure(text) }
}

impl Implementation for McpTool {
    fn kind(&self) -> &'static str {
        "Mcp"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let cancelled = invocation.cancelled.clone();
        Box::pin(run_unless_cancelled(cancelled, self.clone().answer(invocation)))
    }

    fn reports_progress(&self, origin: &RequestOrigin) -> bool {
        origin.client.is_some() || self.server.has_hearing_client()
    }

    fn in_session(&self, resources: &SessionResources) -> Option<Arc<dyn Implementation>> {
        let server = resources.get::<SessionServers>().of(&self.server);
        Some(Arc::new(Self { server, tool: Arc::clone(&self.tool) }))
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

    /// The description that the server lists, if it was asked for its tools already.
    fn description(&self) -> Option<SmolStr> {
        Some(self.server.known_tool(&self.tool)?.get("description")?.as_str()?.into())
    }

    fn listing(&self) -> Option<Value> {
        self.server.known_tool(&self.tool)
    }

    /// The schemas that the server lists, if it was asked for its tools already.
    fn interface(&self) -> Option<DeclaredInterface> {
        let mut tool = self.server.known_tool(&self.tool)?;
        let mut schema = |key: &str| tool.get_mut(key).map(Value::take).filter(|it| !it.is_null());
        let result = schema("outputSchema");
        Some(DeclaredInterface::Schemas { parameters: schema("inputSchema")?, result })
    }
}

#[cfg(test)]
mod tests;
