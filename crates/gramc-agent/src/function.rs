//! Agents that are functions of the host program.
//!
//! A function answers the messages of the user. It calls the tools through the session that it is
//! given, which is the same for all turns of a conversation and reports each call.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Instant;

use gramc_tools::Session;
use gramc_tools::invocation::ValueFuture;
use serde::Deserialize as _;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::external::{AgentAnswer, AgentCall, AnswerFields, failure, shorten_answer};
use crate::model::ModelError;

/// A function of the host program that is an agent.
pub trait AgentFunction: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Starts a conversation, whose calls go through the session.
    fn start(&self, session: Arc<Session>) -> Box<dyn FunctionConversation>;
}

/// A conversation with a function. Dropping it ends the conversation.
pub trait FunctionConversation: Send {
    /// Answers a message of the user. Dropping the future cancels the answer.
    fn answer(&mut self, message: &str) -> FunctionFuture;
}

impl Debug for dyn AgentFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Debug for dyn FunctionConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FunctionConversation")
    }
}

/// The answer of a function: a string, or an object with `output` and, if they are known, `usage` and
/// `model`, as the answers of programs. An error is the message of an exception.
pub type FunctionFuture = ValueFuture;

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
        let answer = AgentCall::wait_with_calls(&mut self.calls, answer, on_call).await;
        let answer = answer.map_err(|error| failure(who, &format!("failed: {error}")))?;
        if answer.is_string() {
            return AnswerFields::of_output(answer).answer(who, "", start);
        }
        let shown = answer.to_string();
        let fields = AnswerFields::deserialize(&answer).map_err(|error| {
            let why = if answer.is_object() { format!(" ({error})") } else { String::new() };
            let expected = format!("expected a string, or an object with `output`{why}");
            let found = shorten_answer(&shown);
            failure(who, &format!("returned an invalid answer: {expected}, found {found}"))
        })?;
        fields.answer(who, &shown, start)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests {
    use std::time::Duration;

    use gramc_check::check;
    use gramc_syntax::{SourceFile, parse};
    use gramc_tools::implementations::async_function;
    use gramc_tools::invocation::InvocationError;
    use gramc_tools::{Call, ToolLibrary};
    use parking_lot::Mutex;
    use serde_json::{Value, json};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::model::ModelErrorKind;
    use crate::{AgentTeam, Conversation, Event, Limits, Message, Observer, TurnEnd};

    /// Calls `double` with the message as arguments, and says how often it was asked.
    #[derive(Debug)]
    struct Clerk;

    #[derive(Debug)]
    struct ClerkConversation(Arc<Session>, usize);

    impl AgentFunction for Clerk {
        fn name(&self) -> &'static str {
            "clerk"
        }

        fn start(&self, session: Arc<Session>) -> Box<dyn FunctionConversation> {
            Box::new(ClerkConversation(session, 0))
        }
    }

    impl FunctionConversation for ClerkConversation {
        fn answer(&mut self, message: &str) -> FunctionFuture {
            self.1 += 1;
            let (session, count, message) = (Arc::clone(&self.0), self.1, message.to_owned());
            Box::pin(async move {
                let verdict = session.call(Call::new("double", &*message)).await;
                match &*message {
                    "fail" => Err(InvocationError::failure("no idea")),
                    "wait" => std::future::pending().await,
                    "number" => Ok(json!(7)),
                    "nothing" => Ok(json!({"text": "misnamed"})),
                    "busy" => Ok(json!({"error": "the provider is busy"})),
                    "count" => Ok(json!({
                        "output": count, "model": "m",
                        "usage": {"input_tokens": 3, "output_tokens": 4, "requests": 2},
                    })),
                    _ => Ok(verdict.message().into()),
                }
            })
        }
    }

    /// The names of events.
    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Observer for Heard {
        fn on_event(&self, agent: &str, event: &Event<'_>) {
            let text = match event {
                Event::ToolCalled { call, verdict, .. } => {
                    format!("{agent} {} {} {}", call.id, call.arguments, verdict.is_ok())
                }
                Event::ModelReplied { reply, .. } => format!("reply {:?}", reply.model),
                _ => return,
            };
            self.0.lock().push(text);
        }
    }

    fn conversation(limits: Limits) -> Conversation {
        let text = "[double:Tool | (n::Int)==>(key::Text {secret: true})==>(::Number)]";
        let module = check(&[parse(SourceFile::new("spec.gram", text))]).module.unwrap();
        let double = async_function(|arguments: Value| async move {
            Ok::<_, String>(json!(2 * arguments["n"].as_i64().unwrap_or_default()))
        });
        let bound = ToolLibrary::new("l").with("double", double).bind(&module).unwrap();
        let team = AgentTeam::of_function(&module, &bound, Arc::new(Clerk), Some("openai/x"));
        let team = team.unwrap();
        assert_eq!((team.agent(), team.model()), ("clerk", "openai/x"));
        Conversation::new(&Arc::new(team), limits)
    }

    #[tokio::test]
    async fn calls_and_answers_are_those_of_the_conversation() {
        let (heard, never) = (Heard::default(), CancellationToken::new());
        let mut conversation = conversation(Limits::default());
        let message = r#"{"n": "4", "key": "hunter2-hunter2"}"#;
        let turn = conversation.turn(message, &heard, &never).await;
        assert_eq!((turn.end, &*turn.text, turn.calls), (TurnEnd::Answered, "8", 1));
        let turn = conversation.turn("count", &heard, &never).await;
        // The function is the same one, and has no requests of its own to count.
        assert_eq!((&*turn.text, turn.iterations, turn.usage.total()), ("2", 2, 7));
        assert_eq!(
            *heard.0.lock(),
            [
                r#"clerk call_1 {"n":"4","key":"***"} true"#,
                "reply None",
                r#"clerk call_2 "***" false"#,
                "reply Some(\"m\")"
            ]
        );
        let messages = conversation.save().messages;
        let roles = messages.iter().map(|message| match message {
            Message::User { .. } => "user",
            Message::Assistant(message) if message.content.is_none() => "call",
            Message::Assistant(_) => "answer",
            Message::Tool { .. } => "tool",
        });
        let turn = ["user", "call", "tool", "answer"];
        assert_eq!(roles.collect::<Vec<_>>(), [turn, turn].concat());
    }

    #[tokio::test]
    async fn functions_fail_like_programs() {
        let never = CancellationToken::new();
        let time = Duration::from_millis(50);
        let mut conversation = conversation(Limits { time: Some(time), ..Limits::default() });
        for (message, kind, expected) in [
            ("fail", ModelErrorKind::Program, "the agent `clerk` failed: no idea"),
            ("number", ModelErrorKind::Program, "the agent `clerk` returned an invalid answer: e"),
            ("nothing", ModelErrorKind::Program, "the agent `clerk` returned no `output`: {"),
            ("busy", ModelErrorKind::Unavailable, "the agent `clerk` reports: the provider is bu"),
        ] {
            let turn = conversation.turn(message, &Heard::default(), &never).await;
            let TurnEnd::Failed(error) = turn.end else { panic!("{:?}", turn.end) };
            assert_eq!(error.kind, kind);
            assert!(error.detail.starts_with(expected), "{}", error.detail);
        }
        let turn = conversation.turn("wait", &Heard::default(), &never).await;
        assert_eq!((turn.end, turn.calls), (TurnEnd::Time(time), 1));
        never.cancel();
        let turn = conversation.turn("count", &Heard::default(), &never).await;
        assert_eq!(turn.end, TurnEnd::Cancelled);
    }
}
