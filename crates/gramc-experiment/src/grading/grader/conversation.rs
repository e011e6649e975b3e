//! Grading of conversations that are no runs of an experiment.

use gramc_agent::Message;
use serde::Deserialize;
use serde_json::Value;

use super::Grader;
use crate::error::ExperimentError;
use crate::grading::evaluators::Evaluators;
use crate::grading::transcript::{RecordedCall, Transcript};

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GradedConversation {
    case: String,
    /// The last answer.
    text: String,
    messages: Vec<Message>,
    calls: Vec<RecordedCall>,
}

impl Grader {
    /// Reads an `expect` of a case. A judge is not supported.
    pub fn parse(expect: Value) -> Result<Self, ExperimentError> {
        let invalid = |message: String| ExperimentError::content("expect", message);
        let expect = serde_json::from_value(expect).map_err(|error| invalid(error.to_string()))?;
        let grader = Self::new(expect).map_err(|error| invalid(error.to_string()))?;
        match grader.rubric {
            Some(_) => Err(invalid("`rubric` needs an experiment".to_owned())),
            None => Ok(grader),
        }
    }

    /// The conditions that a conversation does not meet: an object with the last answer as `text`,
    /// `messages`, and `calls` with `name`, `arguments` and `ok`.
    pub async fn missed(&self, conversation: Value) -> Result<Vec<String>, ExperimentError> {
        let conversation = serde_json::from_value(conversation);
        let GradedConversation { case, text, messages, calls } = conversation
            .map_err(|error| ExperimentError::content("conversation", error.to_string()))?;
        let transcript = Transcript { case, text, messages, calls, ..Transcript::default() };
        let evaluators = Evaluators::default().of_run("", None);
        Ok(self.grade(&transcript, &evaluators).await?.missed)
    }
}
