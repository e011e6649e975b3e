//! Grading of conversations that are no runs of an experiment.

use gramc_agent::Message;
use serde::Deserialize;
use serde_json::Value;

use super::Grader;
use crate::error::ExperimentError;
use crate::grading::evaluators::Evaluators;
use crate::grading::transcript::{RecordedCall, Transcript};

/// A conversation to grade.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GradedConversation {
    /// The id of the case.
    pub case: String,
    /// The last answer.
    pub text: String,
    /// All messages, for graders that are programs.
    pub messages: Vec<Message>,
    /// The calls.
    pub calls: Vec<RecordedCall>,
}

impl Grader {
    /// Reads an `expect` of a case. A judge is not supported.
    ///
    /// # Errors
    ///
    /// If the expectation is invalid or has a rubric.
    pub fn parse(expect: Value) -> Result<Self, ExperimentError> {
        let invalid = |message: String| ExperimentError::content("expect", message);
        let expect = serde_json::from_value(expect).map_err(|error| invalid(error.to_string()))?;
        let grader = Self::new(expect).map_err(invalid)?;
        match grader.rubric {
            Some(_) => Err(invalid("`rubric` needs an experiment".to_owned())),
            None => Ok(grader),
        }
    }

    /// The conditions that a conversation does not meet.
    ///
    /// # Errors
    ///
    /// If the grading program cannot be run.
    pub async fn missed(
        &self,
        conversation: GradedConversation,
    ) -> Result<Vec<String>, ExperimentError> {
        let GradedConversation { case, text, messages, calls } = conversation;
        let transcript = Transcript { case, text, messages, calls, ..Transcript::default() };
        let evaluators = Evaluators::default().of_run("", None);
        Ok(self.grade(&transcript, &evaluators).await?.missed)
    }
}
