//! Agents that are functions of the host program.
//!
//! A function answers the messages of the user. It calls the tools through the session that it is
//! given, which is the same for all turns of a conversation and reports each call.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use gram_tools::Session;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::external::{AgentAnswer, AgentCall, AnswerFields, beginning, failure};
use crate::model::ModelError;

/// A function of the host program that is an agent.
pub trait AgentFunction: Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Starts a conversation, whose calls go through the session.
    fn start(&self, session: Arc<Session>) -> Box<dyn FunctionConversation>;
}

/// A conversation with a function. Dropping it ends the conversation.
pub trait FunctionConversation: Debug + Send {
    /// Answers a message of the user. Dropping the future cancels the answer.
    fn answer(&mut self, message: &str) -> FunctionFuture;
}

/// The answer of a function: a string, or an object with `output` and, if they are known, `usage` and
/// `model`, as the answers of programs. An error is the message of an exception.
pub type FunctionFuture = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

/// A function in a conversation.
#[derive(Debug)]
pub(crate) struct RunningFunction {
    /// The function, for messages.
    who: String,
    conversation: Box<dyn FunctionConversation>,
    calls: UnboundedReceiver<AgentCall>,
}

impl RunningFunction {
    /// Starts a conversation in a session, which is returned, too.
    pub(crate) fn start(function: &dyn AgentFunction, session: Session) -> (Self, Arc<Session>) {
        let (sender, calls) = unbounded_channel();
        let session = Arc::new(session.with_observer(Arc::new(AgentCall::observer(sender))));
        let who = format!("the agent `{}`", function.name());
        let conversation = function.start(Arc::clone(&session));
        (Self { who, conversation, calls }, session)
    }

    /// Asks for an answer, and hands over the calls that are made before it.
    pub(crate) async fn ask(
        &mut self,
        message: &str,
        on_call: impl FnMut(AgentCall),
    ) -> Result<AgentAnswer, ModelError> {
        let (start, who) = (Instant::now(), &self.who);
        let answer = self.conversation.answer(message);
        let answer = AgentCall::until(&mut self.calls, answer, on_call).await;
        let answer = answer.map_err(|error| failure(who, &format!("failed: {error}")))?;
        if answer.is_string() {
            return AnswerFields::of_output(answer).answer(who, "", start);
        }
        let shown = answer.to_string();
        let fields = AnswerFields::deserialize(answer).map_err(|error| {
            let wanted = "expected a string, or an object with `output`";
            failure(who, &format!("gave no answer: {wanted} ({error}): {}", beginning(&shown)))
        })?;
        fields.answer(who, &shown, start)
    }
}
