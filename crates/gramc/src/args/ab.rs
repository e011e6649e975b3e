//! The arguments of `gramc ab`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use gramc_experiment::{ArmSource, Gate, Outcome, Shard};
use serde_json::Value;

use super::AgentOptions;
use super::error::ArgError;
use super::run::{number, seconds};

/// Run an agent with several libraries, models or specifications and compare the results
///
/// Each library is an arm, and every case runs in every arm. --arm names arms that differ in more. The results go to standard output; with
/// --report, also to report.html, report.json, report.md and runs.jsonl in a folder.
/// Finished runs are saved at once, so the same command continues an interrupted experiment. Exit
/// code 1 if a library is incompatible or a gate fails.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  gramc ab hello-world.gram --library friendly.gram --library polite.gram --cases greetings.jsonl
  gramc ab shop.gram --cases cases.jsonl --library stable --arm 'a:' --arm 'b: model=openai/gpt-5'
  gramc ab shop.gram --experiment search --report results
  gramc ab shop.gram --experiment search --plan
  gramc ab shop.gram --experiment search --gate 'success >= -1pp' --gate 'latency <= +10%'
  gramc ab shop.gram --experiment search --shard 3/16 --report part-3
  gramc ab merge part-* --report results"
)]
pub(crate) struct Ab {
    #[command(subcommand)]
    pub(crate) command: Option<AbCommand>,
    /// Specification: a file and its imports, a folder, or - for standard input
    #[arg(value_name = "SPEC", required = true)]
    pub(crate) spec: Option<PathBuf>,
    /// Name of standard input in diagnostics
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    pub(crate) stdin_filename: String,
    /// Library of an arm: a file (FILE:NAME if it declares several), or the name of a library in
    /// SPEC. The first one is the baseline
    #[arg(long = "library", value_name = "FILE")]
    pub(crate) libraries: Vec<String>,
    /// Arm that differs in more than its library, such as 'b: library=new.gram, model=openai/x,
    /// spec=v2.gram, agent=helper'; repeatable. Unnamed keys have the values of the other options
    #[arg(long = "arm", value_name = "NAME: KEY=VALUE,…", conflicts_with = "experiment", value_parser = parse_arm)]
    pub(crate) arms: Vec<ArmSource>,
    /// Experiment in SPEC that provides defaults for all options
    #[arg(long, value_name = "NAME", conflicts_with = "libraries")]
    pub(crate) experiment: Option<String>,
    /// Report folder of an earlier experiment: its arm ARM is the baseline, and is not run again
    /// [default: the arm with the name of the first arm here, else its first one]
    #[arg(long, value_name = "DIR[:ARM]")]
    pub(crate) against: Option<String>,
    /// Cases, one JSON object per line: {"id": …, "input": …, "expect": {…}}
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Option<PathBuf>,
    /// Number of runs per case and arm [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeats: Option<u32>,
    /// Seed of the run order and the bootstrap [default: 0]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) agents: AgentOptions,
    /// Model of judges and simulated users that name none
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) judge: Option<String>,
    /// Show how the arms differ and which differences the cases can detect; run nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Evaluate success after each case, and stop when the result is clear. Uses confidence intervals
    /// that are valid at every step, and therefore wider
    #[arg(long, conflicts_with = "shard")]
    pub(crate) sequential: bool,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

/// Reads an arm, such as `b: library=new.gram, model=openai/x`.
fn parse_arm(text: &str) -> Result<ArmSource, ArgError> {
    const KEYS: [&str; 4] = ["library", "spec", "agent", "model"];
    /// Attributes of agents that fit in a line.
    const ATTRIBUTES: [&str; 6] =
        ["temperature", "topP", "maxTokens", "seed", "maxIterations", "instruction"];
    let is_name = |name: &&str| !name.is_empty() && !name.contains('=');
    let (name, rest) = text
        .split_once(':')
        .map(|(name, rest)| (name.trim(), rest))
        .filter(|(name, _)| is_name(name))
        .ok_or(ArgError::Expected("NAME: KEY=VALUE, such as 'b: model=openai/x'"))?;
    let mut arm = ArmSource { name: Some(name.to_owned()), ..ArmSource::default() };
    for entry in rest.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (key, value) =
            entry.split_once('=').ok_or_else(|| ArgError::NoKeyValue(entry.to_owned()))?;
        let (key, value) = (key.trim(), value.trim().to_owned());
        match key {
            "library" => arm.library = value,
            "spec" => arm.spec = Some(value.into()),
            "agent" => arm.agent = Some(value),
            "model" => arm.model = Some(value),
            _ if ATTRIBUTES.contains(&key) => {
                let number = value.parse().map(Value::Number);
                let value = match key {
                    "instruction" => Value::String(value),
                    _ => number.map_err(|_| ArgError::NoNumber {
                        key: key.to_owned(),
                        value: value.clone(),
                    })?,
                };
                arm.attributes.push((key.into(), value));
            }
            _ => {
                let keys = KEYS.iter().chain(&ATTRIBUTES).copied();
                let help = gramc_model::did_you_mean(key, keys.clone());
                let all = || keys.collect::<Vec<_>>().join(", ");
                let help = help.unwrap_or_else(|| format!("there are {}", all()));
                return Err(ArgError::UnknownKey { key: key.to_owned(), help });
            }
        }
    }
    Ok(arm)
}

/// Limits of the runs.
#[derive(Debug, ClapArgs)]
pub(crate) struct Bounds {
    /// Number of runs in parallel
    #[arg(long, value_name = "COUNT", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) concurrency: u32,
    /// Maximum runs started per second
    #[arg(long, value_name = "COUNT", value_parser = above_zero)]
    pub(crate) rate: Option<f64>,
    /// Stop starting runs at this total cost, by the prices in gram.toml
    #[arg(long, value_name = "AMOUNT", value_parser = above_zero)]
    pub(crate) max_cost: Option<f64>,
    /// Stop starting runs at this total of tokens
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_tokens: Option<u64>,
    /// Stop starting runs after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_time: Option<f64>,
    /// Run only the case of this id; repeatable
    #[arg(long = "case", value_name = "ID")]
    pub(crate) only: Vec<String>,
    /// Run only this part, such as 3/16; gramc ab merge combines parts
    #[arg(long, value_name = "PART/OF")]
    pub(crate) shard: Option<Shard>,
    /// File that caches model responses
    #[arg(long, value_name = "FILE")]
    pub(crate) replies: Option<PathBuf>,
    /// Only use responses from --replies
    #[arg(long, requires = "replies")]
    pub(crate) offline: bool,
}

/// Reports.
#[derive(Debug, ClapArgs)]
pub(crate) struct Reporting {
    /// Folder for runs and reports
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Condition for exit code 0, such as 'success >= -1pp'; repeatable
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) gate: Vec<Gate>,
    /// Outcome to report; repeatable: success, score, preference, calls, refused, repairs,
    /// attempts, iterations, tokens, cost, latency [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) outcome: Vec<Outcome>,
    /// Outcome that decides; the intervals and p-values of all others are adjusted for their number
    /// [default: success, without adjustment]
    #[arg(long, value_name = "NAME")]
    pub(crate) primary: Option<Outcome>,
    /// Labels of people, one JSON object per line: {"case": …, "arm": …, "success": true}; the report
    /// contains the agreement of the judge
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Smallest success difference that matters, in percentage points [default: 5]
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub(crate) margin: Option<f64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AbCommand {
    Merge(Merge),
}

/// Combine parts of an experiment
///
/// Reads folders that gramc ab --shard wrote, and reports all of their runs.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  gramc ab merge part-1 part-2 part-3 --report results")]
pub(crate) struct Merge {
    /// Folders of the parts
    #[arg(value_name = "DIR", required = true)]
    pub(crate) parts: Vec<PathBuf>,
    /// Report the runs of these parts although others are missing
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

fn above_zero(text: &str) -> Result<f64, ArgError> {
    number(text, |number| number > 0.0, "a number greater than 0")
}

/// Percentage points.
fn points(text: &str) -> Result<f64, ArgError> {
    let text = text.strip_suffix("pp").unwrap_or(text).trim();
    let expected = "a number of percentage points between 0 and 100";
    number(text, |points| points > 0.0 && points < 100.0, expected)
}
