//! Grading of conversations by the `expect` of cases.

use gramc_experiment::Grader as ExperimentGrader;
use serde_json::Value;

use crate::experiment::ExperimentFailure;

/// Decides whether a conversation meets an expectation.
#[derive(Debug)]
pub struct Grader(ExperimentGrader);

impl Grader {
    /// Reads an `expect` of a case.
    ///
    /// # Errors
    ///
    /// If the expectation is invalid.
    pub fn new(expect: Value) -> Result<Self, ExperimentFailure> {
        Ok(Self(ExperimentGrader::parse(expect)?))
    }

    /// The conditions that a conversation does not meet: an object with the last answer as `text`,
    /// `messages`, and `calls` with `name`, `arguments` and `ok`.
    ///
    /// # Errors
    ///
    /// If the conversation has another form, or if the grading program cannot be run.
    pub async fn missed(&self, conversation: Value) -> Result<Vec<String>, ExperimentFailure> {
        let conversation = serde_json::from_value(conversation)?;
        Ok(self.0.missed(conversation).await?)
    }
}
