//! Tools of MCP servers.

mod whole_server;

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::{
    Loader, environment, flag, name_or_tool, request_headers, run_unless_cancelled, text, texts,
    tls_options,
};
use crate::content::ToolContent;
use crate::injected_source::source;
use crate::invocation::{
    Answer, AnswerFuture, CloseFuture, ConnectFuture, DeclaredInterface, Implementation,
    Invocation, InvocationError, InvocationErrorKind, RequestOrigin, SessionResources,
};
use crate::mcp::{LibraryServer, McpServer, OAuthGrant, SessionServers, SigningKey, UrlOptions};
use crate::sanitize::beginning;

pub(super) use whole_server::WholeServer;

/// A tool of an MCP server.
///
/// Its answer is the result as the server sent it.
#[derive(Debug, Clone)]
pub struct Mcp {
    server: McpServer,
    tool: Arc<str>,
}

/// The response to a call.
#[derive(Deserialize)]
struct ResponseMessage {
    result: Map<String, Value>,
}

impl Mcp {
    /// The tool of a server that is called `tool` there.
    pub fn new(server: &McpServer, tool: impl Into<String>) -> Self {
        Self { server: server.clone(), tool: Arc::from(tool.into()) }
    }

    pub(super) fn load(
        loader: &mut Loader<'_>,
        declared: &gramc_model::Implementation,
    ) -> Result<Self, String> {
        let server = server(loader, declared, false)?;
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
        let (max_answer, origin) = (invocation.max_answer, invocation.origin.clone());
        let (message, who) = self.server.call(&self.tool, arguments, max_answer, origin).await?;
        let garbled = |detail| InvocationError::new(InvocationErrorKind::Garbled, detail);
        let message: ResponseMessage = serde_json::from_str(&message).map_err(|error| {
            garbled(format!("{who} gave no answer: its response is invalid: {error}"))
        })?;
        let mut content = ToolContent::from_result(message.result).map_err(|key| {
            garbled(format!(
                "{who} gave no answer: its response is invalid: `{key}` has another type"
            ))
        })?;
        if content.get("resultType").is_some_and(|kind| !kind.is_null() && kind != "complete") {
            let detail = format!("{who} requested input, which is not supported");
            return Err(InvocationError::new(InvocationErrorKind::Failed, detail));
        }
        let is_absent = |key| content.get(key).is_none_or(Value::is_null);
        if is_absent("content") && is_absent("structuredContent") && !content.is_error() {
            return Err(garbled(format!("{who} returned a result without `content`")));
        }
        if content.size() > max_answer {
            return Err(InvocationError::too_large(&who, max_answer));
        }
        if content.is_error() {
            return Err(failed(&who, content));
        }
        if let Some(value) = content.structured() {
            let violation = self.server.output_violation(&self.tool, value);
            content.set_violation(violation);
        }
        Ok(Answer::Content(content))
    }
}

/// The server of an implementation of one tool or of all its tools. The tools of a server share a
/// connection.
fn server(
    loader: &mut Loader<'_>,
    declared: &gramc_model::Implementation,
    is_whole: bool,
) -> Result<McpServer, String> {
    let names = ["url", "command", "env", "cwd", "headers", "tls", "oauth", "shared"];
    let key = Value::from(names.map(|name| json!(declared.attribute(name))).to_vec()).to_string();
    if let Some((_, known)) = loader.servers.iter_mut().find(|(known, _)| *known == key) {
        known.is_whole |= is_whole;
        return Ok(known.server.clone());
    }
    let url = text(declared, "url");
    let server = if url.is_empty() {
        McpServer::command_with(texts(declared, "command"), environment(loader, declared)?)
    } else {
        McpServer::url_with(&url, url_options(loader, declared)?).map_err(|error| error.detail)?
    };
    let server = if flag(declared, "shared") { server.shared() } else { server };
    loader.servers.push((key, LibraryServer { server: server.clone(), is_whole }));
    Ok(server)
}

/// How a server at a URL is spoken to: with the declared headers and credentials, or else with the
/// sign-in of the user.
fn url_options(
    loader: &Loader<'_>,
    declared: &gramc_model::Implementation,
) -> Result<UrlOptions, String> {
    let headers = request_headers(loader, declared)?.with_bearer();
    let tls = tls_options(loader, declared)?;
    match declared.attribute("oauth") {
        Some(value) => {
            let oauth = Some(client_credentials(value, loader.folder)?);
            Ok(UrlOptions { headers, tls, oauth })
        }
        None => Ok(UrlOptions::of_user(headers, tls)),
    }
}

fn client_credentials(value: &Value, folder: &Path) -> Result<OAuthGrant, String> {
    let read = |key: &str| match value.get(key) {
        Some(found) => {
            let read = source(found, folder).read()?;
            Ok(Some(read.as_str().unwrap_or_default().to_owned()))
        }
        None => Ok::<_, String>(None),
    };
    let scopes = read("scope")?.unwrap_or_default();
    let scopes = scopes.split_whitespace().map(str::to_owned).collect();
    let id = read("clientId")?.ok_or("`oauth` lacks `clientId`")?;
    match (read("clientSecret")?, read("privateKey")?) {
        (Some(secret), None) => Ok(OAuthGrant::ClientCredentials { id, secret, scopes }),
        (None, Some(key)) => {
            let key = SigningKey::from_pem(&key).map_err(|why| format!("`privateKey`: {why}"))?;
            Ok(OAuthGrant::PrivateKey { id, key: Arc::new(key), scopes })
        }
        (None, None) => Err("`oauth` lacks `clientSecret` or `privateKey`".to_owned()),
        (Some(_), Some(_)) => {
            Err("`oauth` has `clientSecret` and `privateKey`: one of them is enough".to_owned())
        }
    }
}

/// The error of a call that the server reports as failed.
fn failed(who: &str, content: ToolContent) -> InvocationError {
    let text = content.text().unwrap_or_else(|| Value::from(content.blocks()).to_string());
    let mut text = beginning(&text);
    if text.is_empty() {
        text = format!("{who} reported a failure");
    }
    let content = (!content.blocks().is_empty()).then(|| Box::new(content));
    InvocationError { content, ..InvocationError::new(InvocationErrorKind::Failed, text) }
}

impl Implementation for Mcp {
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

    fn listed(&self) -> Option<Value> {
        self.server.known_tool(&self.tool)
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
