//! What an experiment is: what has to be the same for runs to belong together.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::ExperimentError;
use crate::analysis::Method;
use crate::plan::{Plan, Shard};

/// What an experiment is. It is written as `experiment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Its name, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is to find out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The agent.
    pub agent: String,
    /// The model of the agent.
    pub model: String,
    /// The hash of the specification.
    pub specification: String,
    /// The arms, in order; all others are compared with the first.
    pub arms: Vec<ArmAbout>,
    /// In which tools the arms differ.
    pub differences: Vec<Difference>,
    /// The hash of the cases.
    pub cases: String,
    /// The runs.
    pub plan: Plan,
    /// How the arms are compared, which makes no difference to runs.
    pub method: Method,
    /// What else the runs hang on: sampling and limits, as text.
    pub settings: String,
    /// Which part this is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

/// An arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmAbout {
    /// Its name: the library's.
    pub name: String,
    /// The hash of the library's declaration.
    pub library: String,
}

/// A tool whose implementations differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The tool; nothing for what a library says of all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What each arm has there, in the order of the arms; empty where it has nothing.
    pub arms: Vec<String>,
}

impl About {
    /// The names of the arms.
    pub fn arm_names(&self) -> impl Iterator<Item = &str> {
        self.arms.iter().map(|arm| &*arm.name)
    }

    /// What of it differs from another one, in words; nothing where both are the same experiment,
    /// if other parts of it.
    pub fn differs(&self, other: &Self) -> Option<&'static str> {
        let differences = [
            (self.specification != other.specification, "its specification is another one"),
            (self.agent != other.agent, "it is about another agent"),
            (self.model != other.model, "its model is another one"),
            (self.arms != other.arms, "its libraries are others, or have changed"),
            (self.cases != other.cases, "its cases are others"),
            (self.plan.repeats != other.plan.repeats, "it repeats cases another number of times"),
            (self.plan.seed != other.plan.seed, "its seed is another one"),
            (self.plan != other.plan, "its plan is another one"),
            (self.settings != other.settings, "its limits or its sampling are others"),
        ];
        differences.into_iter().find_map(|(differs, what)| differs.then_some(what))
    }

    pub(crate) fn must_be(&self, other: &Self, path: &Path) -> Result<(), ExperimentError> {
        let what = match self.differs(other) {
            None if self.shard == other.shard => return Ok(()),
            None => "it is another part",
            Some(what) => what,
        };
        Err(ExperimentError::new(format!(
            "{} holds another experiment: {what}; name another folder, or remove that one",
            path.display()
        )))
    }
}

/// The hash of a text: SHA-256, in hexadecimal.
pub fn hash(text: impl AsRef<[u8]>) -> String {
    use std::fmt::Write as _;

    Sha256::digest(text).iter().fold(String::new(), |mut out, byte| {
        // Writing to a text in memory cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
