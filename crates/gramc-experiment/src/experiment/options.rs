//! The options of an experiment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use gramc_project::Price;
use gramc_project::files::{PROJECT_FILE, project_root, read_project};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::error::ExperimentError;
use crate::method::Method;
use crate::outcome::Outcome;
use crate::running::plan::Shard;

/// The options of an experiment, as `gramc ab` has them. Programs pass those that deserialize; times
/// are in seconds.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExperimentOptions {
    /// The name of the experiment.
    pub name: Option<String>,
    /// The purpose of the experiment.
    #[serde(skip)]
    pub description: Option<String>,
    /// Number of runs per case and arm. The default is that of the baseline, or 1.
    pub repeats: Option<u32>,
    /// Seed of the order of the runs.
    pub seed: u64,
    /// Number of runs in parallel. The default is 8.
    pub concurrency: Option<u32>,
    /// Maximum runs started per second.
    pub rate: Option<f64>,
    /// Maximum time of a turn.
    #[serde(deserialize_with = "seconds")]
    pub time_limit: Option<Duration>,
    /// Maximum model requests of a turn.
    #[serde(skip)]
    pub max_iterations: Option<u32>,
    /// Sampling temperature, which the agents of the arms have.
    #[serde(skip)]
    pub temperature: Option<f64>,
    /// Whether the instructions of the agents lack the guidance on tool calls.
    #[serde(skip)]
    pub no_guidance: bool,
    /// No run starts beyond this total cost.
    pub max_cost: Option<f64>,
    /// No run starts beyond this total of tokens.
    pub max_tokens: Option<u64>,
    /// No run starts after this time.
    #[serde(deserialize_with = "seconds")]
    pub max_time: Option<Duration>,
    /// Whether to stop when the result is clear.
    pub sequential: bool,
    /// Model of judges and simulated users that name none.
    pub judge: Option<String>,
    /// Model that the agent uses.
    pub model: Option<String>,
    /// The version of the agent's code. An experiment with another version is not resumed.
    pub agent_version: Option<String>,
    /// The part to run.
    pub shard: Option<Shard>,
    /// The cases to run. Empty for all.
    #[serde(skip)]
    pub only: Vec<String>,
    /// The baseline: the report folder of an earlier experiment, and an arm after a colon.
    #[serde(skip)]
    pub against: Option<String>,
    /// The file that caches replies of models.
    #[serde(skip)]
    pub replies: Option<PathBuf>,
    /// Whether to use cached replies only.
    #[serde(skip)]
    pub offline: bool,
    /// Prices by model.
    #[serde(skip)]
    pub prices: BTreeMap<String, Price>,
    /// The folder that scripts of evaluators are relative to.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Whether to show the progress on standard error if that is a terminal. The default is true.
    pub progress: Option<bool>,
    /// Folder for runs and reports.
    pub report: Option<PathBuf>,
    /// Smallest success difference that matters, in percentage points.
    pub margin: Option<f64>,
    /// Outcome that decides.
    #[serde(deserialize_with = "outcome")]
    pub primary: Option<Outcome>,
    /// The file of labels of people.
    #[serde(skip)]
    pub labels: Option<PathBuf>,
}

/// A positive number of seconds.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let seconds = Option::<f64>::deserialize(deserializer)?;
    let duration = |seconds| Duration::try_from_secs_f64(seconds).ok().filter(|it| !it.is_zero());
    let invalid = |seconds| {
        serde::de::Error::custom(format!("expected a positive number of seconds, found {seconds}"))
    };
    seconds.map(|seconds| duration(seconds).ok_or_else(|| invalid(seconds))).transpose()
}

fn outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Outcome>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map(|name| name.parse().map_err(serde::de::Error::custom)).transpose()
}

impl ExperimentOptions {
    /// Reads the options of a program, a JSON object. Prices are those of the project that the current
    /// folder belongs to.
    pub fn read(options: &str) -> Result<Self, ExperimentError> {
        let invalid = |error: serde_json::Error| ExperimentError::Options(error.to_string());
        let options: Map<String, Value> = serde_json::from_str(options).map_err(invalid)?;
        for (name, value) in &options {
            let one: Map<_, _> = [(name.clone(), value.clone())].into_iter().collect();
            let Err(error) = Self::deserialize(Value::Object(one)) else { continue };
            let error = error.to_string();
            // serde names types of Rust.
            let is_type = ["invalid type", "invalid value", "invalid number"];
            let is_type = is_type.iter().any(|start| error.starts_with(start));
            return Err(ExperimentError::Options(if is_type {
                format!("invalid value of `{name}`: {value}")
            } else if error.contains(&format!("`{name}`")) {
                error
            } else {
                format!("invalid `{name}`: {error}")
            }));
        }
        let options = Self::deserialize(Value::Object(options)).map_err(invalid)?;
        Ok(Self { prices: read_prices()?, ..options })
    }

    /// Checks the ranges of numbers.
    pub(super) fn check(&self) -> Result<(), ExperimentError> {
        let is_positive = |number: Option<f64>| number.is_none_or(|it| it > 0.0 && it.is_finite());
        let is_repeats = |repeats: u32| (1..=10_000).contains(&repeats);
        let checks = [
            (self.repeats.is_none_or(is_repeats), "`repeats` to be from 1 to 10,000"),
            ((1..=1_024).contains(&self.concurrency()), "`concurrency` to be from 1 to 1,024"),
            (is_positive(self.rate), "`rate` to be greater than 0"),
            (is_positive(self.max_cost), "`max_cost` to be greater than 0"),
            (
                self.margin.is_none_or(|points| points > 0.0 && points < 100.0),
                "`margin` to be a number of percentage points between 0 and 100",
            ),
            (!self.sequential || self.shard.is_none(), "only one of `sequential` and `shard`"),
        ];
        match checks.into_iter().find(|(holds, _)| !holds) {
            Some((_, expected)) => Err(ExperimentError::Options(format!("expected {expected}"))),
            None => Ok(()),
        }
    }

    /// Number of runs in parallel.
    pub(super) fn concurrency(&self) -> u32 {
        self.concurrency.unwrap_or(8)
    }

    /// The statistical settings.
    pub(super) fn method(&self) -> Method {
        let default = Method::default();
        Method {
            margin: self.margin.map_or(default.margin, |points| points / 100.0),
            sequential: self.sequential,
            primary: self.primary,
            ..default
        }
    }

    /// The limits and sampling parameters of runs as text. `scripts` are the hashes of scripted models.
    pub(super) fn settings(&self, scripts: &str) -> String {
        format!(
            "temperature {:?}, iterations {:?}, time {:?}, guidance {}, sequential {}, script {scripts}",
            self.temperature,
            self.max_iterations,
            self.time_limit.map(|limit| limit.as_secs_f64()),
            !self.no_guidance,
            self.sequential
        )
    }
}

/// The prices of the project that the current folder belongs to.
fn read_prices() -> Result<BTreeMap<String, Price>, ExperimentError> {
    let here = std::env::current_dir().unwrap_or_default();
    let Some(root) = project_root(&here) else { return Ok(BTreeMap::new()) };
    let path = root.join(PROJECT_FILE);
    let read = read_project(&path, &path.display().to_string());
    let (project, _) = read.map_err(|error| ExperimentError::Project(error.to_string()))?;
    Ok(project.prices.into_iter().collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where something is missing")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_checked() {
        let error = |options: Value| {
            let options: Result<ExperimentOptions, _> = serde_json::from_value(options);
            match options {
                Ok(options) => options.check().unwrap_err().to_string(),
                Err(error) => error.to_string(),
            }
        };
        assert_eq!(error(json!({"repeats": 0})), "expected `repeats` to be from 1 to 10,000");
        assert_eq!(error(json!({"rate": -1.0})), "expected `rate` to be greater than 0");
        assert_eq!(
            error(json!({"time_limit": 0})),
            "expected a positive number of seconds, found 0"
        );
        assert_eq!(
            error(json!({"margin": 100})),
            "expected `margin` to be a number of percentage points between 0 and 100"
        );
        assert!(error(json!({"shard": "3/2"})).starts_with("invalid shard `3/2`"));
        assert!(error(json!({"repeat": 2})).starts_with("unknown field `repeat`"));
        let both = error(json!({"sequential": true, "shard": "1/2"}));
        assert_eq!(both, "expected only one of `sequential` and `shard`");
    }
}
