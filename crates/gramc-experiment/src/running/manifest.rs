//! Manifests: everything that must be equal for runs to belong to one experiment.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cases::case::{AttributesById, Case, CaseAttributes};
use crate::error::ExperimentError;
use crate::method::Method;
use crate::running::plan::{Plan, Shard};

/// The manifest of an experiment, `experiment.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentManifest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The agent of the first arm.
    pub agent: String,
    /// The version of an agent that is a function of the host program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The model of the first arm.
    pub model: String,
    /// The hash of the specification of the first arm.
    pub specification: String,
    /// The arms. All others are compared with the first.
    pub arms: Vec<ArmManifest>,
    /// The differences between the arms.
    pub differences: Vec<Difference>,
    /// The hash of the cases.
    pub cases: String,
    pub plan: Plan,
    /// How the arms are compared. Runs do not depend on it.
    pub method: Method,
    /// The sampling parameters and limits of runs, as text.
    pub settings: String,
    /// The models of judges and simulated users, with the hashes of their scripts. Empty without any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evaluators: String,
    /// The clusters, weights and tags of the cases that have any, by id.
    #[serde(default, skip_serializing_if = "AttributesById::is_empty")]
    pub attributes: AttributesById,
    /// When the runs of the first arm were made, if they come from an earlier experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineTimes>,
    /// The number of runs in parallel. 0 if it is unknown.
    #[serde(default)]
    pub concurrency: u32,
    /// The shard, if this is a part of the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmManifest {
    pub name: String,
    /// The hash of the library's declaration.
    pub library: String,
    /// The agent, if it is not that of the first arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model, if it is not that of the first arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The hash of the specification, if it is not that of the first arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specification: Option<String>,
    /// Attributes that replace those of the agent.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
}

/// When the runs of a baseline were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineTimes {
    /// When the first one began, in the form of RFC 3339.
    pub first: String,
    /// When the last one began.
    pub last: String,
}

/// A difference between the arms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The tool whose implementations differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Another difference: `model`, `agent`, or a declaration, such as `tool search`. Without it and
    /// without a tool, the attributes of the libraries differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The text in each arm. Empty if an arm has none.
    pub arms: Vec<String>,
}

impl ExperimentManifest {
    /// The names of the arms.
    pub fn arm_names(&self) -> impl Iterator<Item = &str> {
        self.arms.iter().map(|arm| &*arm.name)
    }

    /// The agents and the models of all arms, without repetitions.
    pub fn agents_and_models(&self) -> [Vec<&str>; 2] {
        let mut all = [vec![&*self.agent], vec![&*self.model]];
        for arm in &self.arms {
            for (known, own) in all.iter_mut().zip([&arm.agent, &arm.model]) {
                known.extend(own.as_deref().filter(|own| !known.contains(own)));
            }
        }
        all
    }

    /// Describes the first difference from another manifest. Returns `None` for the same experiment,
    /// even if the shards differ.
    pub fn difference_from(&self, other: &Self) -> Option<&'static str> {
        let differences = [
            (self.specification != other.specification, "the specification differs"),
            (self.agent != other.agent, "the agent differs"),
            (self.agent_version != other.agent_version, "the code or version of the agent differs"),
            (self.model != other.model, "the model differs"),
            (self.arms != other.arms, "the arms differ"),
            (self.cases != other.cases, "the cases differ"),
            (self.plan.repeats != other.plan.repeats, "the number of repeats differs"),
            (self.plan.seed != other.plan.seed, "the seed differs"),
            (self.plan != other.plan, "the plan differs"),
            (self.evaluators != other.evaluators, "the judges or simulated users differ"),
            (self.settings != other.settings, "the limits or sampling parameters differ"),
        ];
        differences.into_iter().find_map(|(difference_from, what)| difference_from.then_some(what))
    }

    /// Why an experiment cannot be monitored sequentially, if it should be.
    pub fn sequential_fault(&self, cases: &[Case]) -> Option<&'static str> {
        let is_unit = |it: &CaseAttributes| it.cluster.is_none() && it.weight.is_none();
        if !self.method.sequential {
            None
        } else if !self.method.judges_success() {
            Some("monitors success: no other outcome can be primary")
        } else if cases.iter().any(|case| case.grader.is_none()) {
            Some("requires `expect` in every case")
        } else if !self.attributes.values().all(is_unit) {
            Some("does not support `cluster` and `weight` of cases")
        } else {
            None
        }
    }

    pub(crate) fn ensure_matches(&self, other: &Self, path: &Path) -> Result<(), ExperimentError> {
        let what = match self.difference_from(other) {
            None if self.shard == other.shard => return Ok(()),
            None => "the shard differs",
            Some(what) => what,
        };
        Err(ExperimentError::OtherExperiment(path.display().to_string(), what))
    }
}
