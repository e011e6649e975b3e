//! The arguments of `gramc ab`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use gram_experiment::{Gate, Outcome, Shard};

use super::run::{seconds, temperature};

/// Compare libraries: one agent, the same cases, each library an arm
///
/// Every case runs in every arm. The verdict and the numbers go to standard output; with --report,
/// a folder gets report.html, report.json, report.md, runs.jsonl and runs.parquet. What is finished
/// is written down at once, so that the same command goes on with an experiment that was broken
/// off. The exit code is 1 when a library does not fit, or a gate fails.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  gramc ab hello-world.gram --library friendly.gram --library polite.gram --cases greetings.jsonl
  gramc ab shop.gram --experiment search --report results
  gramc ab shop.gram --experiment search --plan
  gramc ab shop.gram --experiment search --gate 'success >= -1pp' --gate 'latency <= +10%'
  gramc ab shop.gram --experiment search --shard 3/16 --report part-3
  gramc ab merge part-* --report results"
)]
pub(crate) struct Ab {
    #[command(subcommand)]
    pub(crate) command: Option<AbCommand>,
    /// The specification: a file, whose imports come along, a folder, or - for standard input
    #[arg(value_name = "SPEC", required = true)]
    pub(crate) spec: Option<PathBuf>,
    /// What messages call standard input
    #[arg(long, value_name = "NAME", default_value = "<stdin>")]
    pub(crate) stdin_filename: String,
    /// An arm: the file that declares its library, with `:NAME` behind it where it declares several;
    /// or the name of one that SPEC declares. All others are compared with the first
    #[arg(long = "library", value_name = "FILE")]
    pub(crate) libraries: Vec<String>,
    /// The experiment that SPEC declares, for all that is not said here
    #[arg(long, value_name = "NAME", conflicts_with = "libraries")]
    pub(crate) experiment: Option<String>,
    /// The cases, one JSON object a line: {"id": …, "input": …, "expect": {…}}
    #[arg(long, value_name = "FILE")]
    pub(crate) cases: Option<PathBuf>,
    /// How often each case runs in each arm [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeats: Option<u32>,
    /// What the order of the runs and the bootstraps come from [default: 0]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// The agent; without it, the one that no other agent calls
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The model, in the place of the agent's own
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub(crate) model: Option<String>,
    /// Say in what the arms differ and what the cases can show, and run nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Look at successes while they come, and end as soon as they say enough. The interval of success
    /// holds at every look, and is wider for that
    #[arg(long, conflicts_with = "shard")]
    pub(crate) sequential: bool,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

/// What bounds the runs.
#[derive(Debug, ClapArgs)]
pub(crate) struct Bounds {
    /// How many runs go on at once
    #[arg(long, value_name = "COUNT", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) concurrency: u32,
    /// How many runs begin in a second at most
    #[arg(long, value_name = "COUNT", value_parser = above_zero)]
    pub(crate) rate: Option<f64>,
    /// Begin no run once all have cost so much, by the prices of gram.toml
    #[arg(long, value_name = "AMOUNT", value_parser = above_zero)]
    pub(crate) max_cost: Option<f64>,
    /// Begin no run once all have taken so many tokens
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_tokens: Option<u64>,
    /// Begin no run after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_time: Option<f64>,
    /// How often the model may be asked in a turn, in the place of what the agent says
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_iterations: Option<u32>,
    /// How many seconds a turn may take
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<f64>,
    /// How the model picks its words, from 0, which always takes the likeliest
    #[arg(long, value_name = "NUMBER", value_parser = temperature)]
    pub(crate) temperature: Option<f64>,
    /// Leave what holds of calls out of the instruction
    #[arg(long)]
    pub(crate) no_guidance: bool,
    /// Run this part alone, such as 3/16; `gramc ab merge` puts parts together
    #[arg(long, value_name = "PART/OF")]
    pub(crate) shard: Option<Shard>,
    /// Keep the model's replies in this file, and take those that it holds already
    #[arg(long, value_name = "FILE")]
    pub(crate) replies: Option<PathBuf>,
    /// Ask no model: --replies holds all replies
    #[arg(long, requires = "replies")]
    pub(crate) offline: bool,
}

/// What is reported, and where.
#[derive(Debug, ClapArgs)]
pub(crate) struct Reporting {
    /// Keep the runs and the reports in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// What has to be proven for the exit code 0, such as `success >= -1pp`; may be said again
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) gate: Vec<Gate>,
    /// Report this outcome alone; may be said again: success, calls, refused, repairs, attempts,
    /// iterations, tokens, cost, latency
    #[arg(long, value_name = "NAME", value_parser = outcome)]
    pub(crate) outcome: Vec<Outcome>,
    /// A difference of success up to so many points is none that matters [default: 5]
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub(crate) margin: Option<f64>,
    /// How many samples bootstraps draw [default: 10000]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AbCommand {
    Merge(Merge),
}

/// Put parts of an experiment together
///
/// Reads the folders that `gramc ab --shard` has written, and reports all of their runs.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  gramc ab merge part-1 part-2 part-3 --report results")]
pub(crate) struct Merge {
    /// The folders
    #[arg(value_name = "DIR", required = true)]
    pub(crate) parts: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("a number above 0 is wanted".to_owned()),
    }
}

fn outcome(name: &str) -> Result<Outcome, String> {
    Outcome::from_name(name).ok_or_else(|| {
        let names = || Outcome::ALL.map(Outcome::name).into_iter();
        let help = gram_model::did_you_mean(name, names());
        help.unwrap_or_else(|| format!("there are {}", names().collect::<Vec<_>>().join(", ")))
    })
}

/// Points of per cent, as a fraction.
fn points(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("pp").unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(points) if points > 0.0 && points < 100.0 => Ok(points / 100.0),
        _ => Err("a number of points above 0 and below 100 is wanted".to_owned()),
    }
}
