//! Simulated users.

use gramc_agent::Message;
use regress::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case_error::CaseError;
use crate::cases::case::Case;
use crate::error::ExperimentError;
use crate::grading::evaluators::RunEvaluators;
use crate::program::{OneOrMany, Program};

/// The default of `max_turns`.
const DEFAULT_MAX_TURNS: u32 = 10;
/// The answer of a model that ends the conversation.
const DONE: &str = "DONE";

/// The `user` of a case.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "expected `user` to be an object with `script`, `command` or `goal`"
)]
pub(crate) struct UserFields {
    script: Option<Vec<ScriptLine>>,
    command: Option<OneOrMany>,
    goal: Option<String>,
    model: Option<String>,
    max_turns: Option<u32>,
}

/// A message of a script, or one with a condition.
#[derive(Deserialize)]
#[serde(untagged)]
enum ScriptLine {
    Text(String),
    When(ConditionalLine),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionalLine {
    when: Option<String>,
    say: String,
}

/// A user that reacts to the answers of the agent.
#[derive(Debug)]
pub struct SimulatedUser {
    kind: UserKind,
    max_turns: u32,
}

#[derive(Debug)]
enum UserKind {
    /// Messages with conditions on the last answer. Each is sent once.
    Script(Vec<(Option<Regex>, String)>),
    /// A program that gets the conversation and writes the next message.
    Program(Program),
    /// A model that plays a user with a goal. An empty name is the default one.
    Model { model: String, goal: String },
}

/// The conversation of a user: each message and the answer to it.
#[derive(Debug, Default)]
pub(crate) struct Dialogue {
    pub(crate) turns: Vec<(String, String)>,
    /// The messages of a script that were sent.
    sent: Vec<usize>,
}

impl SimulatedUser {
    pub(crate) fn new(fields: UserFields) -> Result<Self, CaseError> {
        let UserFields { script, command, goal, model, max_turns } = fields;
        let max_turns = max_turns.unwrap_or(DEFAULT_MAX_TURNS);
        if max_turns == 0 {
            return Err(CaseError::MaxTurns);
        }
        if model.is_some() && goal.is_none() {
            return Err(CaseError::ModelWithoutGoal);
        }
        let kind = match (script, command, goal) {
            (Some(lines), None, None) if lines.is_empty() => {
                return Err(CaseError::EmptyScript);
            }
            (Some(lines), None, None) => UserKind::Script(
                lines.into_iter().map(ScriptLine::parse).collect::<Result<_, _>>()?,
            ),
            (None, Some(command), None) => UserKind::Program(Program::new(command)?),
            (None, None, Some(goal)) => UserKind::Model { model: model.unwrap_or_default(), goal },
            _ => return Err(CaseError::UserKind),
        };
        Ok(Self { kind, max_turns })
    }

    /// The model, if there is one. Empty for the default one.
    pub(crate) fn model(&self) -> Option<&str> {
        match &self.kind {
            UserKind::Model { model, .. } => Some(model),
            _ => None,
        }
    }

    /// Maximum messages of a conversation.
    pub(crate) fn max_turns(&self) -> usize {
        self.max_turns as usize
    }

    /// The program, if there is one.
    pub(crate) fn program(&self) -> Option<&Program> {
        match &self.kind {
            UserKind::Program(program) => Some(program),
            _ => None,
        }
    }

    /// The next message, or `None` if the user has nothing more to say.
    pub(crate) async fn next(
        &self,
        case: &Case,
        dialogue: &mut Dialogue,
        evaluators: &RunEvaluators,
    ) -> Result<Option<String>, ExperimentError> {
        if dialogue.turns.len() >= self.max_turns() {
            return Ok(None);
        }
        let text = match &self.kind {
            UserKind::Script(lines) => return Ok(dialogue.next_of_script(lines)),
            UserKind::Program(program) => {
                let turns = dialogue.turns.iter();
                let turns = turns.map(|(user, agent)| json!({"user": user, "agent": agent}));
                let turns: Value = turns.collect();
                let input =
                    json!({"case": case.id, "definition": case.definition(), "turns": turns});
                let output = program.run(&input).await?;
                if let Some(message) = output.failure(program) {
                    return Err(ExperimentError::Program(program.name.clone(), message));
                }
                output.text
            }
            UserKind::Model { model, goal } => {
                let instruction = format!(
                    "You play a user who talks to an assistant, to test it. Your goal:\n{goal}\n\n\
                     Write only the next message of the user, in the user's words. Do not help the \
                     assistant, and do not repeat yourself. Say only what the goal gives you to say. \
                     When the goal is reached, or cannot be reached, write {DONE} and nothing else."
                );
                let messages = dialogue.mirror_roles();
                let text = evaluators.ask(model, &instruction, &messages).await?;
                if text.trim().is_empty() {
                    let message = "the simulated user wrote nothing".to_owned();
                    return Err(ExperimentError::Evaluator(model.clone(), message));
                }
                // Some models say goodbye first.
                if text.trim().trim_end_matches(['.', '*', '"']).ends_with(DONE) {
                    return Ok(None);
                }
                text
            }
        };
        let text = text.trim();
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }
}

impl Dialogue {
    /// The first message of a script that was not sent and whose condition holds.
    fn next_of_script(&mut self, lines: &[(Option<Regex>, String)]) -> Option<String> {
        let answer = self.turns.last().map_or("", |(_, answer)| answer.as_str());
        let fits = |at: &usize| {
            let when = &lines[*at].0;
            !self.sent.contains(at) && when.as_ref().is_none_or(|it| it.find(answer).is_some())
        };
        let at = (0..lines.len()).find(fits)?;
        self.sent.push(at);
        Some(lines[at].1.clone())
    }

    /// The conversation from the view of the user's model: the agent's answers are its user messages.
    fn mirror_roles(&self) -> Vec<Message> {
        let mut messages = vec![Message::user("(The assistant is waiting for the first message.)")];
        for (user, agent) in &self.turns {
            messages.extend([Message::assistant(user.clone()), Message::user(agent.clone())]);
        }
        messages
    }
}

impl ScriptLine {
    fn parse(self) -> Result<(Option<Regex>, String), CaseError> {
        let line = match self {
            Self::Text(say) => ConditionalLine { when: None, say },
            Self::When(line) => line,
        };
        let when = line.when.map(|pattern| {
            Regex::with_flags(&pattern, "i").map_err(|error| CaseError::Pattern { pattern, error })
        });
        Ok((when.transpose()?, line.say))
    }
}
