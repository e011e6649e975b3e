//! `gramc ab`

mod arms;
mod declared;
mod output;

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use gramc_agent::Limits;
use gramc_agent::model::Models;
use gramc_experiment::{
    Arm, Baseline, Case, Evaluators, ExperimentError, ExperimentManifest, Journal, Label, Method,
    Parts, Plan, ReplyCache, Report, RunConfig, RunStats, SequentialMonitor, StopReason,
    case_faults, differences, find_evaluators, hash, unpriced_model,
};
use gramc_model::Module;
use gramc_project::{Inputs, ProjectSettings, files};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::calls::{only_one_reads, read_spec, run_to_the_end};
use super::run::{folder, given_model};
use crate::args::{Ab, AbCommand, Display, Merge, Spec};
use crate::failure::{FAILED, Failure, Outcome, PROBLEMS};
use crate::output::{say, say_each};
use crate::progress::RunBar;
use crate::{live, report};
use arms::Side;
use declared::Wanted;
use output::finish;

pub(super) fn run(args: &Ab, display: Display) -> Outcome {
    match (&args.command, &args.spec) {
        (Some(AbCommand::Merge(merge)), _) => merged(merge, display),
        (None, Some(spec)) => compared(args, spec, display),
        // The arguments demand one of them.
        (None, None) => Err(Failure::new("missing specification")),
    }
}

fn compared(args: &Ab, spec: &Path, display: Display) -> Outcome {
    let spec = Spec {
        path: spec.to_owned(),
        stdin_filename: args.stdin_filename.clone(),
        ..Spec::default()
    };
    let Some(read) = read_spec(&spec, display)? else { return Ok(PROBLEMS) };
    let read = Rc::new(read);
    let wanted = Wanted::new(args, &read)?;
    only_one_reads(&[&spec.path, &wanted.cases])?;
    let sides = arms::sides(&wanted, (&read, &spec.path), display)?;
    let Some(sides) = sides else { return Ok(PROBLEMS) };
    let close = async {
        for side in &sides {
            side.library.close().await;
        }
    };
    let work = on(args, display, &spec.path, &wanted, &sides);
    run_to_the_end(Builder::new_multi_thread(), work, close)
}

/// Binds, plans, runs and reports.
async fn on(args: &Ab, display: Display, spec: &Path, wanted: &Wanted, sides: &[Side]) -> Outcome {
    let Some(bounds) = arms::bound(sides).await? else { return Ok(PROBLEMS) };
    let arms = sides.iter().zip(&bounds).map(|(side, bound)| side.arm(bound, args, wanted));
    let mut arms = arms.collect::<Result<Vec<_>, _>>()?;
    let (cases, identity) = cases(&wanted.cases, &args.bounds.only)?;
    let modules: Vec<&Module> = sides.iter().map(|side| &*side.spec.module).collect();
    let wrong = case_faults(&cases, &modules);
    if !wrong.is_empty() {
        say_each("error: ", &wrong);
        say("nothing was run");
        return Ok(PROBLEMS);
    }
    let baseline = baseline(args, &arms)?;
    let recorded = baseline.as_ref().map(Baseline::repeats);
    let recorded = recorded.filter(|_| args.repeats.is_none() && !wanted.is_declared);
    let repeats = recorded.unwrap_or(wanted.repeats);
    let mut about = about(args, (wanted, repeats), sides, (&arms, &cases, identity));
    let judges = (args.judge.as_deref(), wanted.judge.as_deref());
    let evaluators = evaluators(&cases, judges, spec)?;
    about.evaluators = evaluators.identity(folder(spec));
    if args.against.is_some() && cases.iter().any(Case::is_pairwise) {
        let message =
            "--against does not support `pairwise`: runs of a baseline are not judged again";
        return Err(Failure::new(message));
    }
    if let (Some(baseline), Some(first)) = (&baseline, arms.first()) {
        baseline.put_first(&mut about)?;
        // Scripts are models, and named as such.
        let settings = |text: &str| text.split(", script ").next().map(str::to_owned);
        if settings(baseline.settings()) != settings(&about.settings) {
            say("warning: the baseline had other limits or sampling parameters");
        }
        // It has run already.
        arms.insert(0, Arm { name: about.arms[0].name.clone(), team: Arc::clone(&first.team) });
    }
    if display.format == crate::args::Format::Human && about.method.judges_success() {
        say(output::power(&about, &cases));
    }
    if let Some(fault) = about.sequential_fault(&cases) {
        return Err(Failure::new(format!("--sequential {fault}")));
    }
    if args.plan {
        output::plan(&about, display)?;
        return Ok(crate::failure::CLEAN);
    }
    let labels = output::labels(&args.reporting, &about)?;
    let running = running(args, spec, display, &arms, evaluators)?;
    let (mut journal, mut tally) = Journal::open_in(args.reporting.report.as_deref(), &about)?;
    if let Some(baseline) = baseline {
        let arm = (about.plan, about.shard, &*about.arms[0].name);
        baseline.add_runs(&cases, arm, (&mut journal, &mut tally))?;
    }
    let looks = SequentialMonitor::of_manifest(&about);
    let work = Work { about, arms, cases, running, journal, tally, looks, labels };
    work.run(args, display).await
}

/// The models that evaluate runs of the cases. `judge` is the one of `--judge`, `declared` that of the
/// experiment.
fn evaluators(
    cases: &[Case],
    (judge, declared): (Option<&str>, Option<&str>),
    spec: &Path,
) -> Result<Evaluators, Failure> {
    let mut models = Models::new(|name| std::env::var(name).ok(), folder(spec));
    let judge = judge.map(|name| given_model(name, &mut models)).transpose()?;
    let found = find_evaluators(cases, judge.as_deref().or(declared), &mut models);
    found.map_err(|error| match error {
        ExperimentError::NoEvaluator { .. } => Failure::new(format!("{error}: use --judge")),
        error => error.into(),
    })
}

/// The baseline of `--against`.
fn baseline(args: &Ab, arms: &[Arm]) -> Result<Option<Baseline>, ExperimentError> {
    let Some(named) = &args.against else { return Ok(None) };
    let (folder, arm) = match named.rsplit_once(':') {
        Some((folder, arm)) if !Path::new(named).exists() => (folder, Some(arm)),
        _ => (&**named, None),
    };
    let like = arms.first().map_or("", |arm| &arm.name);
    Baseline::read(Path::new(folder), arm, like).map(Some)
}

/// What is to run.
struct Work {
    about: ExperimentManifest,
    arms: Vec<Arm>,
    cases: Vec<Case>,
    running: RunConfig,
    journal: Journal,
    tally: RunStats,
    looks: Option<SequentialMonitor>,
    labels: Option<Vec<Label>>,
}

impl Work {
    async fn run(self, args: &Ab, display: Display) -> Outcome {
        let Self { about, arms, cases, running, journal, tally, looks, labels } = self;
        let bar = Arc::new(RunBar::new());
        let cancelled = CancellationToken::new();
        let (mut signals, mut signal) = (live::Signals::new(), None);
        let (state, cases) = ((journal, tally), Arc::new(cases));
        let (mut journal, tally, looks, stop) = {
            let progress: Arc<dyn gramc_experiment::Progress> = bar.clone();
            let run =
                gramc_experiment::run(arms, cases, running, state, looks, progress, &cancelled);
            let mut run = std::pin::pin!(run);
            loop {
                tokio::select! {
                    ended = &mut run => break ended?,
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
        if let Some(signal) = signal {
            if journal.keeps() {
                say(format_args!(
                    "{} runs are saved; run the same command again to continue",
                    tally.finished()
                ));
            }
            return Err(Failure::Interrupted(signal));
        }
        if let StopReason::NoAnswer(runs, why) = &stop {
            let s = if *runs == 1 { "" } else { "s" };
            let kept =
                if journal.keeps() { "; run the same command again to retry them" } else { "" };
            say(format_args!("gramc: {runs} run{s} could not be counted: {why}{kept}"));
            if tally.finished() == 0 {
                return Ok(FAILED);
            }
        }
        let mut report = Report::new(about, &tally, looks.as_ref(), &stop);
        if let Some(labels) = labels {
            report.compare_labels(&tally, &labels);
        }
        let code = finish(report, &mut journal, &args.reporting, display)?;
        Ok(if matches!(stop, StopReason::NoAnswer(..)) { FAILED } else { code })
    }
}

/// The most bytes of all cases.
const MAX_CASES: u64 = 1 << 30;

/// The cases, or those of these ids if there are any, and a hash of their file and images.
fn cases(path: &Path, only: &[String]) -> Result<(Vec<Case>, String), Failure> {
    let text = files::read_bytes(path, MAX_CASES)?;
    let shown = path.display().to_string();
    let name = if shown == "-" { "<stdin>" } else { &shown };
    let mut cases = Case::read(&text[..], name)?;
    let mut identity = Case::hash_all(&text, &cases)?;
    for id in only {
        let known = || cases.iter().map(|case| case.id.as_str());
        if !known().any(|it| it == id) {
            return Err(Failure::unknown(
                &format!("{shown} has no case `{id}`"),
                id,
                known(),
                None,
            ));
        }
    }
    if !only.is_empty() {
        cases.retain(|case| only.contains(&case.id));
        // Other cases are another experiment.
        let ids: Vec<_> = cases.iter().map(|case| case.id.as_str()).collect();
        identity = format!("{identity} {}", ids.join(","));
    }
    Ok((cases, identity))
}

fn about(
    args: &Ab,
    (wanted, repeats): (&Wanted, u32),
    sides: &[Side],
    (arms, cases, identity): (&[Arm], &[Case], String),
) -> ExperimentManifest {
    let parts: Vec<_> = sides.iter().zip(arms).map(|(side, arm)| side.parts(arm)).collect();
    // There are at least two.
    let first = &parts[0];
    let bounds = &args.bounds;
    let default = Method::default();
    let mut scripts: Vec<_> =
        parts.iter().filter_map(|part| part.model.strip_prefix("scripted/")).collect();
    scripts.dedup();
    let scripts = scripts.iter().filter_map(|path| std::fs::read(path).ok()).map(hash);
    let scripts = scripts.collect::<Vec<_>>().join(", ");
    ExperimentManifest {
        name: args.experiment.clone(),
        description: wanted.description.clone(),
        agent: first.agent.to_owned(),
        agent_version: None,
        model: first.model.to_owned(),
        specification: first.specification(),
        arms: parts.iter().map(|part| part.manifest(first)).collect(),
        differences: differences(&parts),
        cases: identity,
        plan: Plan { cases: cases.len(), arms: arms.len(), repeats, seed: wanted.seed },
        method: Method {
            margin: args.reporting.margin.unwrap_or(default.margin),
            sequential: args.sequential,
            primary: args.reporting.primary.or(wanted.primary),
            ..default
        },
        evaluators: String::new(),
        settings: format!(
            "temperature {:?}, iterations {:?}, time {:?}, guidance {}, sequential {}, script {scripts}",
            bounds.temperature,
            bounds.max_iterations,
            bounds.time_limit,
            !bounds.no_guidance,
            args.sequential
        ),
        attributes: Case::attributes(cases),
        baseline: None,
        concurrency: bounds.concurrency,
        shard: bounds.shard,
    }
}

fn running(
    args: &Ab,
    spec: &Path,
    display: Display,
    arms: &[Arm],
    evaluators: Evaluators,
) -> Result<RunConfig, Failure> {
    let bounds = &args.bounds;
    let inputs = Inputs::of_paths(vec![spec.to_owned()]);
    let ProjectSettings { project, found } = ProjectSettings::read(&inputs)?;
    report::show(display, &found)?;
    let prices: BTreeMap<_, _> = project.prices.into_iter().collect();
    if bounds.max_cost.is_some()
        && let Some(model) = unpriced_model(arms, &evaluators, &prices)
    {
        return Err(Failure::new(format!(
            "--max-cost needs the price of `{model}`: say it in gram.toml, as \
             [prices] \"{model}\" = {{ input = 0.15, output = 0.6 }} for a million tokens each"
        )));
    }
    let replies = match &bounds.replies {
        Some(path) => Some(Arc::new(ReplyCache::open(path, bounds.offline)?)),
        None => None,
    };
    Ok(RunConfig {
        concurrency: bounds.concurrency as usize,
        rate: bounds.rate,
        limits: Limits {
            iterations: bounds.max_iterations,
            time: bounds.time_limit.map(Duration::from_secs_f64),
            ..Limits::default()
        },
        prices,
        max_cost: bounds.max_cost,
        max_tokens: bounds.max_tokens,
        max_time: bounds.max_time.map(Duration::from_secs_f64),
        shard: bounds.shard,
        replies,
        evaluators,
    })
}

/// Puts parts together.
fn merged(args: &Merge, display: Display) -> Outcome {
    let parts = Parts::read(&args.parts, args.partial).map_err(|error| match error {
        ExperimentError::MissingParts(_) => {
            Failure::new(format!("{error}; --partial reports the others"))
        }
        error => error.into(),
    })?;
    let mut about = parts.manifest.clone();
    let method = &mut about.method;
    method.margin = args.reporting.margin.unwrap_or(method.margin);
    method.primary = args.reporting.primary.or(method.primary);
    let labels = output::labels(&args.reporting, &about)?;
    let (mut journal, mut tally) = Journal::open_in(args.reporting.report.as_deref(), &about)?;
    let stop = parts.merge(&mut journal, &mut tally)?;
    let mut looks = SequentialMonitor::of_manifest(&about);
    if let Some(looks) = &mut looks {
        looks.update(&tally);
    }
    let mut report = Report::new(about, &tally, looks.as_ref(), &stop);
    if let Some(labels) = labels {
        report.compare_labels(&tally, &labels);
    }
    finish(report, &mut journal, &args.reporting, display)
}
