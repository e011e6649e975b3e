//! The options of an experiment.

use std::path::PathBuf;
use std::time::Duration;

use gramc_experiment::{Outcome, Shard};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::ExperimentFailure;

/// The options of an experiment, as `gramc ab` has them. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExperimentOptions {
    /// The name of the experiment.
    pub name: Option<String>,
    /// Number of runs per case and arm.
    pub repeats: u32,
    /// Seed of the order of the runs.
    pub seed: u64,
    /// Number of runs in parallel.
    pub concurrency: u32,
    /// Maximum runs started per second.
    pub rate: Option<f64>,
    /// Maximum time of a turn.
    #[serde(deserialize_with = "seconds")]
    pub time_limit: Option<Duration>,
    /// No run starts beyond this total cost.
    pub max_cost: Option<f64>,
    /// No run starts beyond this total of tokens.
    pub max_tokens: Option<u64>,
    /// No run starts after this time.
    #[serde(deserialize_with = "seconds")]
    pub max_time: Option<Duration>,
    /// Smallest success difference that matters, in percentage points.
    pub margin: Option<f64>,
    /// Outcome that decides.
    pub primary: Option<String>,
    /// Whether to stop when the result is clear.
    pub sequential: bool,
    /// Model of judges and simulated users that name none.
    pub judge: Option<String>,
    /// Model that the agent uses.
    pub model: Option<String>,
    /// What identifies the code of the agent, so that an experiment with another one is not continued.
    pub agent_version: Option<String>,
    /// Folder for runs and reports.
    pub report: Option<PathBuf>,
    /// The part to run.
    pub shard: Option<Shard>,
    /// Whether to show the progress on standard error if that is a terminal.
    pub progress: bool,
}

impl Default for ExperimentOptions {
    fn default() -> Self {
        Self {
            name: None,
            repeats: 1,
            seed: 0,
            concurrency: 8,
            rate: None,
            time_limit: None,
            max_cost: None,
            max_tokens: None,
            max_time: None,
            margin: None,
            primary: None,
            sequential: false,
            judge: None,
            model: None,
            agent_version: None,
            report: None,
            shard: None,
            progress: true,
        }
    }
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

impl ExperimentOptions {
    /// Reads options that are a JSON object.
    ///
    /// # Errors
    ///
    /// If an option is unknown or has a value of another type.
    pub fn read(options: &str) -> Result<Self, ExperimentFailure> {
        let options: Map<String, Value> = serde_json::from_str(options)?;
        for (name, value) in &options {
            let one: Map<_, _> = [(name.clone(), value.clone())].into_iter().collect();
            let Err(error) = Self::deserialize(Value::Object(one)) else { continue };
            let error = error.to_string();
            // The words of serde are for those who know its types.
            let is_type = ["invalid type", "invalid value", "invalid number"];
            let is_type = is_type.iter().any(|start| error.starts_with(start));
            return Err(ExperimentFailure(if is_type {
                format!("invalid value of `{name}`: {value}")
            } else if error.contains(&format!("`{name}`")) {
                error
            } else {
                format!("invalid `{name}`: {error}")
            }));
        }
        Ok(Self::deserialize(Value::Object(options))?)
    }

    /// Checks the ranges of numbers.
    pub(super) fn check(&self) -> Result<(), ExperimentFailure> {
        let is_positive = |number: Option<f64>| number.is_none_or(|it| it > 0.0 && it.is_finite());
        let checks = [
            ((1..=10_000).contains(&self.repeats), "`repeats` to be from 1 to 10,000"),
            ((1..=1_024).contains(&self.concurrency), "`concurrency` to be from 1 to 1,024"),
            (is_positive(self.rate), "`rate` to be greater than 0"),
            (is_positive(self.max_cost), "`max_cost` to be greater than 0"),
            (
                self.margin.is_none_or(|points| points > 0.0 && points < 100.0),
                "`margin` to be a number of percentage points between 0 and 100",
            ),
            (!self.sequential || self.shard.is_none(), "only one of `sequential` and `shard`"),
        ];
        match checks.into_iter().find(|(holds, _)| !holds) {
            Some((_, wanted)) => Err(ExperimentFailure(format!("expected {wanted}"))),
            None => Ok(()),
        }
    }

    /// The outcome that decides.
    pub(super) fn primary(&self) -> Result<Option<Outcome>, ExperimentFailure> {
        let Some(name) = &self.primary else { return Ok(None) };
        Outcome::from_name(name).map(Some).ok_or_else(|| {
            let names = || Outcome::ALL.map(Outcome::name).into_iter();
            let help = gramc_model::did_you_mean(name, names());
            let help = help.unwrap_or_else(|| {
                format!("expected one of {}", names().collect::<Vec<_>>().join(", "))
            });
            ExperimentFailure(format!("unknown outcome `{name}`; {help}"))
        })
    }
}
