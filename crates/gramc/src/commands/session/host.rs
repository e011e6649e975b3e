//! Questions to the host program, and its answers.

use std::collections::HashMap;
use std::sync::Arc;

use gramc_tools::approval::{
    ApprovalDecision, ApprovalRequest, Approver, DecidedBy, DecisionFuture,
};
use gramc_tools::invocation::{
    Answer, AnswerFuture, Implementation, Invocation, InvocationError, InvocationErrorKind,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::commands::calls::lines::LineError;

/// The host program on the other side.
#[derive(Debug)]
pub(super) struct Host {
    lines: mpsc::Sender<String>,
    questions: Mutex<Questions>,
}

#[derive(Debug, Default)]
struct Questions {
    asked: u64,
    open: HashMap<String, Question>,
    /// Whether the input has ended, so that no answer comes.
    ended: bool,
}

/// A question that waits for its answer.
#[derive(Debug)]
enum Question {
    Invoke(oneshot::Sender<ToolAnswer>),
    Approve(oneshot::Sender<ApprovalDecision>),
}

/// The answer of the host program to an invocation.
#[derive(Debug)]
pub(super) enum ToolAnswer {
    /// The result, with the length of its text.
    Result { value: Value, length: usize },
    /// The error message.
    Error(String),
}

/// An answer of the host program.
pub(super) enum HostAnswer {
    Tool(ToolAnswer),
    Approval(bool, String),
}

impl Host {
    pub(super) fn new(lines: mpsc::Sender<String>) -> Self {
        Self { lines, questions: Mutex::default() }
    }

    /// Prints a line. Fails if the output is closed.
    pub(super) async fn print(&self, line: String) -> Result<(), OutputClosed> {
        self.lines.send(line).await.map_err(|_| OutputClosed)
    }

    /// Asks the host program. `None` if its input ends, or has ended, without an answer. A question
    /// that is dropped is closed.
    async fn ask<A>(
        self: &Arc<Self>,
        kind: &str,
        name: &str,
        arguments: &str,
        question: fn(oneshot::Sender<A>) -> Question,
    ) -> Option<A> {
        let (send, answer) = oneshot::channel();
        let id = {
            let mut questions = self.questions.lock();
            if questions.ended {
                return None;
            }
            questions.asked += 1;
            let id = format!("ask-{}", questions.asked);
            questions.open.insert(id.clone(), question(send));
            id
        };
        let guard = OpenQuestion { host: self, id };
        let (id, name) = (&guard.id, json!(name));
        // The arguments are JSON already.
        let line =
            format!("{{\"{kind}\":{{\"id\":\"{id}\",\"name\":{name},\"arguments\":{arguments}}}}}");
        self.print(line).await.ok()?;
        answer.await.ok()
    }

    /// Closes all questions: no answer comes any more.
    pub(super) fn end(&self) {
        let mut questions = self.questions.lock();
        questions.ended = true;
        questions.open.clear();
    }

    /// Passes an answer to the task that asked.
    pub(super) fn answer(&self, id: &str, answer: HostAnswer) -> Result<(), LineError> {
        let mut questions = self.questions.lock();
        // The task may have given up.
        match (questions.open.remove(id), answer) {
            (Some(Question::Invoke(waiting)), HostAnswer::Tool(answer)) => {
                drop(waiting.send(answer));
            }
            (Some(Question::Approve(waiting)), HostAnswer::Approval(approved, reason)) => {
                drop(waiting.send(ApprovalDecision::new(approved, DecidedBy::Host, &reason)));
            }
            (None, _) => return Err(LineError::NoQuestion(id.to_owned())),
            (Some(other), answer) => {
                questions.open.insert(id.to_owned(), other);
                let id = id.to_owned();
                return Err(match answer {
                    HostAnswer::Tool(_) => LineError::NotApproval(id),
                    HostAnswer::Approval(..) => LineError::NotInvocation(id),
                });
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct OutputClosed;

/// Closes a question when it is dropped.
struct OpenQuestion<'h> {
    host: &'h Host,
    id: String,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.host.questions.lock().open.remove(&self.id);
    }
}

/// Asks the host program for approval, and lets it execute tools.
#[derive(Debug, Clone)]
pub(super) struct HostTools(pub(super) Arc<Host>);

impl Implementation for HostTools {
    fn kind(&self) -> &'static str {
        "Client"
    }

    fn invoke(&self, invocation: Invocation) -> AnswerFuture {
        let host = Arc::clone(&self.0);
        Box::pin(async move {
            let (tool, arguments) = (invocation.tool.as_str(), &*invocation.arguments);
            let max = invocation.max_answer;
            let error = |kind, detail: String| Err(InvocationError::new(kind, detail));
            match host.ask("invoke", tool, arguments, Question::Invoke).await {
                Some(ToolAnswer::Result { length, .. }) if length > max => error(
                    InvocationErrorKind::TooLarge,
                    format!("the host program returned a response of more than {max} bytes"),
                ),
                Some(ToolAnswer::Result { value, .. }) => Ok(Answer::Json(value)),
                Some(ToolAnswer::Error(detail)) => error(InvocationErrorKind::Failed, detail),
                None => error(
                    InvocationErrorKind::Died,
                    "the host program ended its input without an answer".to_owned(),
                ),
            }
        })
    }
}

impl Approver for HostTools {
    fn decide(&self, request: ApprovalRequest) -> DecisionFuture<'_> {
        Box::pin(async move {
            let arguments = request.arguments.to_string();
            self.0.ask("approve", &request.name, &arguments, Question::Approve).await
        })
    }
}
