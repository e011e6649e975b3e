//! The interface between checked calls and implementations.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

/// One run of an implementation.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The tool's name in the specification.
    pub tool: SmolStr,
    /// One JSON object: the arguments as the checks left them, with pinned, default and injected
    /// values.
    pub arguments: Arc<str>,
    /// Whether the tool's result is text, so that an answer that is no JSON is one, too.
    pub text_result: bool,
    /// The most bytes of an answer that are read. What is longer is [`InvocationErrorKind::TooLarge`].
    pub max_answer: usize,
    /// How many times the session ran the tool with these arguments before. Only counted where
    /// [`Implementation::counts`] asks for it.
    pub occurrence: u32,
    /// The parameters that no recording holds as they are: injected and secret ones.
    pub hidden: Arc<[SmolStr]>,
    /// Set when the caller no longer waits for the answer.
    pub cancelled: CancellationToken,
}

/// The answer of an implementation.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A value.
    Json(Value),
    /// The output of a program: JSON, or text if the tool's result is text.
    Raw(String),
}

/// Why an implementation gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvocationErrorKind {
    /// It ran and reported a failure.
    Failed,
    /// It ended, or its connection did, before it answered; or it panicked.
    Died,
    /// It could not be started or reached.
    Unreachable,
    /// Its answer is invalid.
    Garbled,
    /// Its answer is longer than allowed.
    TooLarge,
    /// The call was cancelled.
    Cancelled,
    /// The host program executes the tool, see `Client`; there is nothing to wait for here.
    HostExecuted,
}

/// An implementation gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct InvocationError {
    /// The kind of the error.
    pub kind: InvocationErrorKind,
    /// What happened, in a sentence for the model and for people, without the arguments.
    pub detail: String,
}

impl InvocationError {
    /// An error with its sentence.
    pub fn new(kind: InvocationErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

/// The future of an answer. Dropping it aborts the invocation and stops its processes.
pub type AnswerFuture = Pin<Box<dyn Future<Output = Result<Answer, InvocationError>> + Send>>;

/// The future of a connection.
pub type ConnectFuture = Pin<Box<dyn Future<Output = Result<(), InvocationError>> + Send>>;

/// The future of closing a connection.
pub type CloseFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The interface that an implementation declares.
#[derive(Debug, Clone, PartialEq)]
pub enum DeclaredInterface {
    /// A signature.
    Signature {
        /// As gram.
        text: SmolStr,
        /// Declarations of types and terms, as gram, that its names mean before they mean types of
        /// the specification.
        types: SmolStr,
    },
    /// JSON Schemas of the parameters and, where it says so, of the result.
    Schemas {
        /// The schema of the parameter object.
        parameters: Value,
        /// The schema of the result.
        result: Option<Value>,
    },
}

/// An implementation of a tool. All sessions of a library share it.
pub trait Implementation: Debug + Send + Sync {
    /// The kind, as a library calls it: `Command`, `Http`, …
    fn kind(&self) -> &'static str;

    /// Runs it once. The caller enforces time limits.
    fn invoke(&self, invocation: Invocation) -> AnswerFuture;

    /// Whether it uses [`Invocation::occurrence`].
    fn counts(&self) -> bool {
        false
    }

    /// Connects to what it runs, where that is apart, so that [`Self::declared`] knows what it says.
    fn connect(&self) -> ConnectFuture {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Ends what it keeps running. That is started again when it is needed.
    fn close(&self) -> CloseFuture {
        Box::pin(std::future::ready(()))
    }

    /// Why no call of it can go well, in a sentence, where that is known already.
    fn fault(&self) -> Option<String> {
        None
    }

    /// The description, if it has one.
    fn description(&self) -> Option<SmolStr> {
        None
    }

    /// What it says of the calls that it takes, if anything.
    fn declared(&self) -> Option<DeclaredInterface> {
        None
    }
}
