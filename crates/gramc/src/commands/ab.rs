//! `gramc ab`

mod arms;

use std::io::IsTerminal as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use gramc_agent::model::Models;
use gramc_experiment::{
    CaseText, DeclaredExperiment, Experiment, ExperimentError, ExperimentOptions,
    FinishedExperiment, Progress, ProgressBar, StopReason, merge_parts,
};
use gramc_project::{Inputs, ProjectSettings, files};
use serde_json::json;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::calls::{Read, only_one_reads, read_spec, run_to_the_end};
use super::run::{folder, given_model};
use crate::args::{Ab, AbCommand, Display, Format, Merge, Reporting, Spec};
use crate::failure::{CLEAN, FAILED, Failure, Outcome, PROBLEMS};
use crate::output::{self, say, say_each};
use crate::{live, report};

pub(super) fn run(args: &Ab, display: Display) -> Outcome {
    match (&args.command, &args.spec) {
        (Some(AbCommand::Merge(merge)), _) => merge_folders(merge, display),
        (None, Some(spec)) => compare_arms(args, spec, display),
        // The arguments demand one of them.
        (None, None) => Err(Failure::new("missing specification")),
    }
}

fn compare_arms(args: &Ab, spec: &Path, display: Display) -> Outcome {
    let spec = Spec {
        path: spec.to_owned(),
        stdin_filename: args.stdin_filename.clone(),
        ..Spec::default()
    };
    let Some(read) = read_spec(&spec, display)? else { return Ok(PROBLEMS) };
    let read = Rc::new(read);
    let declared = args.experiment.as_ref().map(|name| find_experiment(name, &read)).transpose()?;
    let arms = match &declared {
        Some(declared) => declared.arms.clone(),
        None => arms::given_arms(args)?,
    };
    let cases = args.cases.clone().or_else(|| declared.as_ref()?.cases.clone());
    let cases = cases.ok_or_else(|| Failure::new("missing cases: use --cases"))?;
    only_one_reads(&[&spec.path, &cases])?;
    let sides = arms::read_sides(arms, declared.is_some(), &read, &spec.path, display)?;
    let Some(sides) = sides else { return Ok(PROBLEMS) };
    let close = async {
        for side in &sides {
            side.library.close().await;
        }
    };
    let work = async {
        let Some(bounds) = arms::bind_all(&sides).await? else { return Ok(PROBLEMS) };
        let agent = args.agents.agent.as_deref().or_else(|| declared.as_ref()?.agent.as_deref());
        let parts = sides.iter().zip(&bounds).map(|(side, bound)| side.parts(bound, agent, args));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let mut models = Models::of_environment(folder(&spec.path));
        let options = options(args, declared.as_ref(), &spec.path, &mut models, display)?;
        let cases = read_cases(&cases)?;
        match Experiment::new(&parts, cases, options, &mut models) {
            Ok(experiment) => run_experiment(experiment, args, display).await,
            Err(ExperimentError::Cases(faults)) => {
                say_each("error: ", &faults);
                say("nothing was run");
                Ok(PROBLEMS)
            }
            Err(error) => Err(failure(error)),
        }
    };
    run_to_the_end(Builder::new_multi_thread(), work, close)
}

fn find_experiment(name: &str, spec: &Read) -> Result<DeclaredExperiment, Failure> {
    let known = &spec.module.experiments;
    let at = known.iter().position(|experiment| experiment.name == name).ok_or_else(|| {
        let names = || known.iter().map(|experiment| experiment.name.as_str());
        let help = match known.len() {
            0 => "the specification declares none".to_owned(),
            _ => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        Failure::unknown_name(&format!("unknown experiment `{name}`"), name, names(), Some(help))
    })?;
    Ok(DeclaredExperiment::new(&known[at], &spec.folder_of_experiment(at))?)
}

/// The most bytes of all cases.
const MAX_CASES: u64 = 1 << 30;

fn read_cases(path: &Path) -> Result<CaseText, Failure> {
    let text = files::read_bytes(path, MAX_CASES)?;
    let name = if path == Path::new("-") { "<stdin>".into() } else { path.display().to_string() };
    Ok(CaseText::new(text, name))
}

/// The options of the command line, and those of the declared experiment for all others.
fn options(
    args: &Ab,
    declared: Option<&DeclaredExperiment>,
    spec: &Path,
    models: &mut Models,
    display: Display,
) -> Result<ExperimentOptions, Failure> {
    let inputs = Inputs::of_paths(vec![spec.to_owned()]);
    let ProjectSettings { project, found } = ProjectSettings::read(&inputs)?;
    report::show(display, &found)?;
    let Ab { agents, bounds, reporting, .. } = args;
    let judge = args.judge.as_deref().map(|name| given_model(name, models)).transpose()?;
    let duration = |seconds: Option<f64>| seconds.map(Duration::from_secs_f64);
    Ok(ExperimentOptions {
        name: args.experiment.clone(),
        description: declared.and_then(|it| it.description.clone()),
        repeats: args.repeats.or_else(|| Some(declared?.repeats.unwrap_or(1))),
        seed: args.seed.or_else(|| declared?.seed).unwrap_or_default(),
        concurrency: Some(bounds.concurrency),
        rate: bounds.rate,
        time_limit: duration(agents.time_limit),
        max_iterations: agents.max_iterations,
        temperature: agents.temperature,
        no_guidance: agents.no_guidance,
        max_cost: bounds.max_cost,
        max_tokens: bounds.max_tokens,
        max_time: duration(bounds.max_time),
        sequential: args.sequential,
        judge: judge.or_else(|| declared?.judge.clone()),
        shard: bounds.shard,
        only: bounds.only.clone(),
        against: args.against.clone(),
        replies: bounds.replies.clone(),
        offline: bounds.offline,
        prices: project.prices.into_iter().collect(),
        folder: folder(spec).to_owned(),
        report: reporting.report.clone(),
        margin: reporting.margin,
        primary: reporting.primary.or_else(|| declared?.primary),
        labels: reporting.labels.clone(),
        ..ExperimentOptions::default()
    })
}

/// An error that names options of the command line.
fn failure(error: ExperimentError) -> Failure {
    match error {
        ExperimentError::TooFewArms => Failure::new(
            "expected at least two arms: repeat --library or --arm, or use --experiment or --against",
        ),
        ExperimentError::NoEvaluator(case) => Failure::new(format!(
            "the case `{case}` needs a model for its judge or user: use --judge"
        )),
        ExperimentError::PairwiseBaseline => Failure::new(
            "--against does not support `pairwise`: runs of a baseline are not judged again",
        ),
        ExperimentError::Sequential(fault) => Failure::new(format!("--sequential {fault}")),
        ExperimentError::NoPrice(model) => Failure::new(format!(
            "--max-cost needs the price of `{model}`: add it to gram.toml, as \
             [prices] \"{model}\" = {{ input = 0.15, output = 0.6 }} for a million tokens each"
        )),
        ExperimentError::MissingParts(_) => {
            Failure::new(format!("{error}; --partial reports the others"))
        }
        error => error.into(),
    }
}

async fn run_experiment(experiment: Experiment, args: &Ab, display: Display) -> Outcome {
    if experiment.has_other_settings() {
        say("warning: the baseline had other limits or sampling parameters");
    }
    if display.format == Format::Human
        && let Some(power) = experiment.power()
    {
        say(power);
    }
    if args.plan {
        output::print(&match display.format {
            Format::Json => format!("{}\n", json!(experiment.manifest())),
            _ => experiment.plan_text(),
        })?;
        return Ok(CLEAN);
    }
    let bar = Arc::new(ProgressBar::new());
    let cancelled = CancellationToken::new();
    let (mut signals, mut signal) = (live::Signals::new(), None);
    let finished = {
        let progress: Arc<dyn Progress> = bar.clone();
        let mut run = std::pin::pin!(experiment.run(progress, &cancelled));
        loop {
            tokio::select! {
                finished = &mut run => break finished.map_err(failure)?,
                // Runs that are under way are dropped; a second interrupt is handled, too.
                next = signals.next() => {
                    if signal.is_some() {
                        return Err(Failure::Interrupted(next));
                    }
                    signal = Some(next);
                    cancelled.cancel();
                }
            }
        }
    };
    bar.end();
    let runs = finished.report.finished;
    if let Some(signal) = signal {
        if finished.is_saved() {
            say(format_args!("{runs} runs are saved; run the same command again to continue"));
        }
        return Err(Failure::Interrupted(signal));
    }
    let is_incomplete = matches!(finished.stop, StopReason::NoAnswer(..));
    if is_incomplete {
        let reason = finished.stop.sentence().unwrap_or_default();
        let retry =
            if finished.is_saved() { "; run the same command again to retry them" } else { "" };
        say(format_args!("gramc: {reason}{retry}"));
        if runs == 0 {
            return Ok(FAILED);
        }
    }
    let code = print_report(finished, &args.reporting, display)?;
    Ok(if is_incomplete { FAILED } else { code })
}

fn merge_folders(args: &Merge, display: Display) -> Outcome {
    let reporting = &args.reporting;
    let options = ExperimentOptions {
        report: reporting.report.clone(),
        margin: reporting.margin,
        primary: reporting.primary,
        labels: reporting.labels.clone(),
        ..ExperimentOptions::default()
    };
    let finished = merge_parts(&args.parts, args.partial, options).map_err(failure)?;
    print_report(finished, reporting, display)
}

/// Prints and writes the report. Returns the exit code.
fn print_report(mut finished: FinishedExperiment, args: &Reporting, display: Display) -> Outcome {
    let report = &mut finished.report;
    // Gates apply to all outcomes.
    let failures = args.gate.iter();
    let failures = failures.flat_map(|gate| gate.failures(&report.comparisons, &report.unanswered));
    let failures: Vec<_> = failures.collect();
    report.retain_outcomes(&args.outcome);
    // The report is printed even if it cannot be written.
    if display.format == Format::Json {
        output::print(&format!("{}\n", report.json()))?;
    } else {
        output::print(&report.text())?;
    }
    finished.write()?;
    if let Some(folder) = args.report.as_ref().filter(|_| std::io::stderr().is_terminal()) {
        say(format_args!("the report is in {}", folder.join("report.html").display()));
    }
    say_each("", &failures);
    Ok(if failures.is_empty() { CLEAN } else { PROBLEMS })
}
