//! The interface between checked calls and implementations.

use std::any::Any;
use std::fmt::{self, Debug};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use gramc_model::{Tool, Types};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use smol_str::SmolStr;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::content::ToolContent;
use crate::session_client::{RpcError, SessionClient};

/// What implementations keep for one session, such as its connections.
#[derive(Default)]
pub struct SessionResources(Mutex<Vec<Arc<dyn SessionResource>>>);

/// Something that implementations share within a session.
pub trait SessionResource: Any + Send + Sync {
    /// Ends its connections. They are opened again on demand.
    fn close(self: Arc<Self>) -> CloseFuture;
}

impl SessionResources {
    /// The resource of a type, created on first use.
    pub fn get<R: SessionResource + Default>(&self) -> Arc<R> {
        let mut all = self.0.lock();
        let known = all.iter().find_map(|it| {
            let any: Arc<dyn Any + Send + Sync> = Arc::<dyn SessionResource>::clone(it);
            any.downcast::<R>().ok()
        });
        known.unwrap_or_else(|| {
            let new = Arc::<R>::default();
            all.push(Arc::<R>::clone(&new));
            new
        })
    }

    pub(crate) async fn close(&self) {
        let all = self.0.lock().clone();
        futures_util::future::join_all(all.into_iter().map(SessionResource::close)).await;
    }
}

/// The request of an MCP client that makes a call.
#[derive(Debug, Clone, Default)]
pub struct RequestOrigin {
    /// The token under which the client wants to hear of progress.
    pub progress_token: Option<Value>,
    /// The least level of the log messages that the client wants with the response.
    pub log_level: Option<Value>,
    /// Further metadata of the request, such as that of a trace.
    pub meta: Map<String, Value>,
    /// The error of JSON-RPC with which a server answered the call.
    pub refusal: Arc<OnceLock<RpcError>>,
    /// The client, if it answers the questions of servers as part of this request, as from revision
    /// 2026-07-28 of the protocol on.
    pub client: Option<Arc<dyn SessionClient>>,
    /// When a server last reported progress.
    pub last_progress: Arc<Mutex<Option<Instant>>>,
}

impl RequestOrigin {
    /// The context of the trace of the request, by the keys of W3C Trace Context.
    pub(crate) fn trace_context(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let value = |key| Some((key, self.meta.get(key)?.as_str()?));
        ["traceparent", "tracestate"].into_iter().filter_map(value)
    }
}

/// One run of an implementation.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The tool's name in the specification.
    pub tool: SmolStr,
    /// The arguments as a JSON object, after repairs and with pinned, default and injected values.
    pub arguments: Arc<str>,
    /// Whether the result is a string, so that output that is not JSON is a valid answer.
    pub text_result: bool,
    /// The maximum size of an answer in bytes. Longer answers are
    /// [`InvocationErrorKind::TooLarge`].
    pub max_answer: usize,
    /// The number of earlier runs with the same arguments in the session. Only counted if
    /// [`Implementation::counts`] is true.
    pub occurrence: u32,
    /// The parameters that recordings must not contain in plain text: injected and secret ones.
    pub hidden: Arc<[SmolStr]>,
    /// Whether a request may be sent again after a failure. The attributes `once` and `idempotent: false`
    /// of a tool forbid it.
    pub is_repeatable: bool,
    /// The request of an MCP client that makes the call.
    pub origin: RequestOrigin,
    /// Cancelled when the caller no longer waits for the answer.
    pub cancelled: CancellationToken,
}

/// The maximum size of an answer in bytes, if nothing else is set.
const DEFAULT_MAX_ANSWER: usize = 1 << 20;

impl Invocation {
    /// An invocation of a tool whose result is not text, with default options.
    pub fn new(tool: impl Into<SmolStr>, arguments: impl Into<Arc<str>>) -> Self {
        Self {
            tool: tool.into(),
            arguments: arguments.into(),
            text_result: false,
            max_answer: DEFAULT_MAX_ANSWER,
            occurrence: 0,
            hidden: Arc::default(),
            is_repeatable: true,
            origin: RequestOrigin::default(),
            cancelled: CancellationToken::new(),
        }
    }

    /// The arguments as a map.
    pub fn object(&self) -> Result<Map<String, Value>, InvocationError> {
        serde_json::from_str(&self.arguments).map_err(|error| {
            InvocationError::failure(format!("the arguments are not a JSON object: {error}"))
        })
    }
}

/// The answer of an implementation.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A value.
    Json(Value),
    /// The output of a program: JSON, or text if the tool's result is text.
    Raw(String),
    /// A result in the form of MCP. Its text is exact: it is neither trimmed nor rewritten.
    Content(ToolContent),
}

/// Why an implementation returned no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvocationErrorKind {
    /// It ran and reported a failure.
    Failed,
    /// It exited, panicked or lost its connection before it answered.
    Died,
    /// It could not be started or reached.
    Unreachable,
    /// Its answer is invalid.
    Garbled,
    /// Its answer is longer than allowed.
    TooLarge,
    /// The call was cancelled.
    Cancelled,
    /// The host program executes the tool itself, see `Client`.
    HostExecuted,
}

/// The error of an implementation that returned no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct InvocationError {
    /// The kind of the error.
    pub kind: InvocationErrorKind,
    /// A description for the model and the user, without the arguments.
    pub detail: String,
    /// The result of an MCP server that reports the failure.
    pub content: Option<Box<ToolContent>>,
}

impl InvocationError {
    /// Creates an error with its description.
    pub fn new(kind: InvocationErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), content: None }
    }

    /// Creates an [`InvocationErrorKind::Failed`].
    pub fn failure(detail: impl Into<String>) -> Self {
        Self::new(InvocationErrorKind::Failed, detail)
    }

    /// Creates an [`InvocationErrorKind::Died`].
    pub fn crash(detail: impl Into<String>) -> Self {
        Self::new(InvocationErrorKind::Died, detail)
    }

    /// Creates an [`InvocationErrorKind::Unreachable`].
    #[allow(clippy::needless_pass_by_value, reason = "errors convert by passing this function")]
    pub fn unreachable(detail: impl ToString) -> Self {
        Self::new(InvocationErrorKind::Unreachable, detail.to_string())
    }

    /// Creates an [`InvocationErrorKind::Garbled`].
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(InvocationErrorKind::Garbled, detail)
    }

    /// The error for an answer of more bytes than allowed.
    pub fn too_large(who: &str, max_answer: usize) -> Self {
        Self::new(
            InvocationErrorKind::TooLarge,
            format!("{who} returned a response of more than {max_answer} bytes"),
        )
    }
}

/// The future of an answer. Dropping it aborts the invocation and stops its processes.
pub type AnswerFuture = Pin<Box<dyn Future<Output = Result<Answer, InvocationError>> + Send>>;

/// The future of a value that a function of the host program returns. Dropping it cancels the
/// function.
pub type ValueFuture = Pin<Box<dyn Future<Output = Result<Value, InvocationError>> + Send>>;

/// The future of a connection.
pub type ConnectFuture = Pin<Box<dyn Future<Output = Result<(), InvocationError>> + Send>>;

/// The future of closing a connection.
pub type CloseFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The interface that an implementation declares.
#[derive(Debug, Clone, PartialEq)]
pub enum DeclaredInterface {
    /// A signature.
    Signature {
        /// The signature in gram.
        text: SmolStr,
        /// Declarations of types and terms in gram. They take precedence over the types of the
        /// specification.
        types: SmolStr,
    },
    /// JSON Schemas of the parameters and, if declared, of the result.
    Schemas {
        /// The schema of the parameter object.
        parameters: Value,
        /// The schema of the result, if declared.
        result: Option<Value>,
    },
}

/// An implementation of a tool. All sessions of a library share it.
pub trait Implementation: Send + Sync {
    /// The kind, as written in a library: `Command`, `Http`, …
    fn kind(&self) -> &'static str;

    /// Runs the implementation once. The caller enforces timeouts.
    fn invoke(&self, invocation: Invocation) -> AnswerFuture;

    /// Whether it uses [`Invocation::occurrence`].
    fn counts(&self) -> bool {
        false
    }

    /// Whether it passes progress on under the token of a request.
    fn reports_progress(&self, _: &RequestOrigin) -> bool {
        false
    }

    /// The implementation with a session's own connections, if it keeps connections.
    fn in_session(&self, _: &SessionResources) -> Option<Arc<dyn Implementation>> {
        None
    }

    /// The implementation for a tool of a specification, if what it does depends on the tool.
    fn for_tool(&self, _: &Types, _: &Tool) -> Option<Arc<dyn Implementation>> {
        None
    }

    /// Connects to the server, if there is one, so that [`Self::interface`] knows its interface.
    fn connect(&self) -> ConnectFuture {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Stops the processes and connections that it keeps open. They are started again on demand.
    fn close(&self) -> CloseFuture {
        Box::pin(std::future::ready(()))
    }

    /// The reason why every call would fail, if that is known in advance.
    fn fault(&self) -> Option<String> {
        None
    }

    /// The values that must not appear in any output, such as those of its environment and its
    /// headers.
    fn secrets(&self) -> &[String] {
        &[]
    }

    /// The description, if it has one.
    fn description(&self) -> Option<SmolStr> {
        None
    }

    /// The tool as its MCP server lists it, if it was asked for its tools already.
    fn listing(&self) -> Option<Value> {
        None
    }

    /// The declared interface, if there is one.
    fn interface(&self) -> Option<DeclaredInterface> {
        None
    }
}

impl Debug for dyn Implementation {
    /// Only the kind, because the rest may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}
