//! Experiments that a specification declares.

use std::path::{Path, PathBuf};

use gramc_model::{Experiment as ExperimentDeclaration, ExperimentArm};
use serde_json::Value;
use smol_str::SmolStr;

use crate::error::ExperimentError;
use crate::outcome::Outcome;

/// The source of an arm. Missing values are those of the experiment.
#[derive(Debug, Clone, Default)]
pub struct ArmSource {
    /// The name. The default is the name of the library.
    pub name: Option<String>,
    /// The library: a file, or a name in the specification. Empty if it is not named.
    pub library: String,
    /// The file of the specification.
    pub spec: Option<PathBuf>,
    /// The agent.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Attributes that replace those of the agent.
    pub attributes: Vec<(SmolStr, Value)>,
}

impl ArmSource {
    /// An arm that differs in its library only.
    pub fn of_library(library: &str) -> Self {
        Self { library: library.to_owned(), ..Self::default() }
    }

    /// An arm of an experiment whose paths are relative to a folder.
    fn new(arm: &ExperimentArm, folder: &Path) -> Self {
        let mut source = Self::of_library(&arm.library);
        source.name = Some(arm.name.to_string());
        for (key, value) in &arm.attributes {
            let text = value.as_str().map(str::to_owned);
            match key.as_str() {
                "spec" => source.spec = text.map(|path| folder.join(path)),
                "agent" => source.agent = text,
                "model" => source.model = text,
                _ => source.attributes.push((key.clone(), value.clone())),
            }
        }
        source
    }
}

/// The attributes of an experiment that a specification declares.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "they are documented as attributes of experiments")]
pub struct DeclaredExperiment {
    pub arms: Vec<ArmSource>,
    pub cases: Option<PathBuf>,
    pub repeats: Option<u32>,
    pub seed: Option<u64>,
    pub agent: Option<String>,
    pub judge: Option<String>,
    pub primary: Option<Outcome>,
    pub description: Option<String>,
}

impl DeclaredExperiment {
    /// Reads an experiment whose paths are relative to a folder.
    pub fn new(experiment: &ExperimentDeclaration, folder: &Path) -> Result<Self, ExperimentError> {
        let find = |key: &str| {
            experiment.attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value)
        };
        let invalid = |key: &str, expected: &str| {
            let name = &experiment.name;
            let message = format!("expected {expected} as `{key}` of the experiment `{name}`");
            ExperimentError::Declaration(message)
        };
        let text = |key: &str| {
            let text = |value: &Value| {
                let text = value.as_str().map(str::to_owned);
                text.ok_or_else(|| invalid(key, "a string"))
            };
            find(key).map(text).transpose()
        };
        let number = |key: &str| {
            let number = |value: &Value| {
                value.as_u64().ok_or_else(|| invalid(key, "an integer of at least 0"))
            };
            find(key).map(number).transpose()
        };
        let repeats = |repeats: u64| {
            let repeats = u32::try_from(repeats).ok().filter(|it| (1..=10_000).contains(it));
            repeats.ok_or_else(|| invalid("repeats", "an integer from 1 to 10,000"))
        };
        let primary = |name: String| {
            let outcome = Outcome::from_name(&name);
            outcome.ok_or_else(|| invalid("primary", "the name of an outcome"))
        };
        Ok(Self {
            arms: experiment.arms.iter().map(|arm| ArmSource::new(arm, folder)).collect(),
            cases: text("cases")?.map(|path| folder.join(path)),
            repeats: number("repeats")?.map(repeats).transpose()?,
            seed: number("seed")?,
            agent: text("agent")?,
            judge: text("judge")?,
            primary: text("primary")?.map(primary).transpose()?,
            description: experiment.description.as_ref().map(ToString::to_string),
        })
    }
}
