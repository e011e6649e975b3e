//! `gramc ab`

mod declared;
mod output;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gram_agent::model::{Models, Sampling};
use gram_agent::{AgentTeam, Limits, TeamOptions};
use gram_experiment::{
    Arm, Case, DeclaredLibrary, ExperimentError, ExperimentManifest, Journal, Method, Plan,
    ReplyCache, Report, RunConfig, RunStats, SequentialMonitor, StopReason, differences, hash,
    models_without_price,
};
use gram_model::print::print_specification;
use gram_model::{ImplementationKind, Library, Module};
use gram_tools::{Bound, ToolLibrary};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::calls::{Read, declared_here, only_one_reads, read_declared, read_spec, run_to_the_end};
use super::run::{agent, folder, given_model};
use crate::args::{Ab, AbCommand, Display, Inputs, Merge, Reporting, Spec};
use crate::failure::{FAILED, Failure, Outcome, PROBLEMS};
use crate::output::{say, say_each};
use crate::{input, live, project, report};
use declared::Wanted;
use output::{Bar, finish};

pub(super) fn run(args: &Ab, display: Display) -> Outcome {
    match (&args.command, &args.spec) {
        (Some(AbCommand::Merge(merge)), _) => merged(merge, display),
        (None, Some(spec)) => compared(args, spec, display),
        // The arguments demand one of them.
        (None, None) => Err(Failure::new("missing specification")),
    }
}

/// The library of an arm.
struct Side {
    library: ToolLibrary,
    declared: Library,
    /// What the folder of its file holds that the library plays back.
    recordings: Vec<u8>,
}

fn compared(args: &Ab, spec: &Path, display: Display) -> Outcome {
    let spec = Spec { path: spec.to_owned(), stdin_filename: args.stdin_filename.clone() };
    let Some(read) = read_spec(&spec, display)? else { return Ok(PROBLEMS) };
    let wanted = Wanted::new(args, &read)?;
    only_one_reads(&[&spec.path, &wanted.cases])?;
    let Some(sides) = sides(&wanted, &read, display)? else { return Ok(PROBLEMS) };
    let close = async {
        for side in &sides {
            side.library.close().await;
        }
    };
    let work = on(args, display, &spec.path, &read, &wanted, &sides);
    run_to_the_end(Builder::new_multi_thread(), work, close)
}

/// The libraries, which have different names.
fn sides(wanted: &Wanted, spec: &Read, display: Display) -> Result<Option<Vec<Side>>, Failure> {
    let mut sides: Vec<Side> = Vec::new();
    for name in &wanted.libraries {
        // What an experiment names, the specification declares; a file of that name is another thing.
        let here = if wanted.is_declared { declared_here(name, spec) } else { None };
        let found = match here {
            Some(found) => Some(found),
            None => read_declared(name, spec, display)?,
        };
        let Some((library, declared, folder)) = found else { return Ok(None) };
        if sides.iter().any(|side| side.declared.name == declared.name) {
            return Err(Failure::new(format!(
                "two arms are named `{}`: rename one of the libraries",
                declared.name
            )));
        }
        let recordings = recordings(&declared, &folder);
        sides.push(Side { library, declared, recordings });
    }
    Ok(Some(sides))
}

/// The recordings that a library replays. Unreadable ones are reported when it is bound.
fn recordings(library: &Library, folder: &Path) -> Vec<u8> {
    let replays = library.implementations.iter();
    let files = replays.filter(|it| it.kind == ImplementationKind::Replay);
    let names = files.filter_map(|it| it.attribute("from")?.as_str().map(str::to_owned));
    names.filter_map(|name| std::fs::read(folder.join(name)).ok()).flatten().collect()
}

/// Binds, plans, runs and reports.
async fn on(
    args: &Ab,
    display: Display,
    spec: &Path,
    read: &Read,
    wanted: &Wanted,
    sides: &[Side],
) -> Outcome {
    let Some(bounds) = bound(read, sides).await? else { return Ok(PROBLEMS) };
    let mut models = Models::new(|name| std::env::var(name).ok(), folder(spec));
    let name = agent(&read.module, wanted.agent.as_deref())?;
    let options = TeamOptions {
        model: args.model.as_ref().map(|name| given_model(name, &mut models)).transpose()?,
        // All runs are of one model.
        fallback: false,
        sampling: Sampling { temperature: args.bounds.temperature, ..Sampling::default() },
        guidance: !args.bounds.no_guidance,
    };
    let mut arms = Vec::new();
    for (side, bound) in sides.iter().zip(&bounds) {
        let crew = AgentTeam::new(&read.module, &name, bound, &mut models, &options);
        let crew = Arc::new(crew.map_err(|error| Failure::new(error.to_string()))?);
        arms.push(Arm { name: side.declared.name.to_string(), team: crew });
    }
    let (cases, text) = cases(&wanted.cases)?;
    let wrong = faults(&cases, &read.module);
    if !wrong.is_empty() {
        say_each("error: ", &wrong);
        say("nothing was run");
        return Ok(PROBLEMS);
    }
    let about = about(args, wanted, read, sides, (&arms, &cases, &text));
    if display.format == crate::args::Format::Human {
        say(output::power(&about, &cases));
    }
    if about.method.sequential && cases.iter().any(|case| case.grader.is_none()) {
        return Err(Failure::new("--sequential requires `expect` in every case"));
    }
    if args.plan {
        output::plan(&about, display)?;
        return Ok(crate::failure::CLEAN);
    }
    let running = running(args, spec, display, &arms)?;
    let (journal, tally) = open(&args.reporting, &about)?;
    let looks = monitor(&about);
    let work = Work { about, arms, cases, running, journal, tally, looks };
    work.run(args, display).await
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
}

impl Work {
    async fn run(self, args: &Ab, display: Display) -> Outcome {
        let Self { about, arms, cases, running, journal, tally, looks } = self;
        let bar = Arc::new(Bar::new());
        let cancelled = CancellationToken::new();
        let (mut signals, mut signal) = (live::Signals::new(), None);
        let (state, cases) = ((journal, tally), Arc::new(cases));
        let (mut journal, tally, looks, stop) = {
            let progress: Arc<dyn gram_experiment::Progress> = bar.clone();
            let run =
                gram_experiment::run(arms, cases, running, state, looks, progress, &cancelled);
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
            say(format_args!("gramc: the model gave no answer in {runs} run{s}: {why}{kept}"));
            if tally.finished() == 0 {
                return Ok(FAILED);
            }
        }
        let report = Report::new(about, &tally, looks.as_ref(), &stop);
        let code = finish(report, &mut journal, &args.reporting, display)?;
        Ok(if matches!(stop, StopReason::NoAnswer(..)) { FAILED } else { code })
    }
}

/// Binds all arms before anything runs. What does not fit is said, arm by arm.
async fn bound(read: &Read, sides: &[Side]) -> Result<Option<Vec<Bound>>, Failure> {
    let (mut bounds, mut wrong) = (Vec::new(), false);
    for side in sides {
        let unreachable = tokio::select! {
            biased;
            signal = live::signalled() => return Err(Failure::Interrupted(signal)),
            unreachable = side.library.connect() => unreachable,
        };
        if let Some((tool, error)) = unreachable.first() {
            return Err(Failure::new(format!(
                "{}: cannot connect to the implementation of `{tool}`: {error}",
                side.declared.name
            )));
        }
        let (bound, problems) = side.library.bind_partly(&read.module);
        let name = &side.declared.name;
        say_each(&format!("error: {name}: "), &problems);
        say_each(&format!("warning: {name}: "), bound.warnings());
        wrong |= !problems.is_empty();
        bounds.push(bound);
    }
    if wrong {
        say("nothing was run: the library of each arm must implement the specification");
        return Ok(None);
    }
    Ok(Some(bounds))
}

/// The most bytes of all cases.
const MAX_CASES: u64 = 1 << 30;

/// The cases and their source text.
fn cases(path: &Path) -> Result<(Vec<Case>, Vec<u8>), Failure> {
    let text = input::read_bytes(path, MAX_CASES)?;
    let shown = path.display().to_string();
    let name = if shown == "-" { "<stdin>" } else { &shown };
    let cases = Case::read(&text[..], name)?;
    Ok((cases, text))
}

/// Expectations that no run can meet, and graders that cannot run.
fn faults(cases: &[Case], module: &Module) -> Vec<String> {
    let names = || module.tools.iter().map(|tool| &tool.name);
    let names = || names().chain(module.agents.iter().map(|agent| &agent.name));
    let names = || names().chain(module.containers.iter().map(|container| &container.name));
    let known: HashSet<&str> = names().map(|name| &**name).collect();
    let (mut faults, mut judged) = (Vec::new(), HashMap::new());
    for (case, grader) in cases.iter().filter_map(|case| Some((case, case.grader.as_ref()?))) {
        for name in grader.expected_tools().filter(|name| !known.contains(name)) {
            let near = gram_model::did_you_mean(name, names().map(|name| &**name));
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            faults.push(format!(
                "case `{}` expects a call of an unknown tool `{name}`{near}",
                case.id
            ));
        }
        // Most cases have the same program.
        let fault = judged.entry(grader.program()).or_insert_with(|| grader.fault());
        if let Some(fault) = fault {
            faults.push(format!("case `{}` cannot be graded: {fault}", case.id));
        }
    }
    let all = faults.len();
    if all > MAX_FAULTS {
        faults.truncate(MAX_FAULTS);
        faults.push(format!("and {} more", all - MAX_FAULTS));
    }
    faults
}

/// The most faults of cases that are listed.
const MAX_FAULTS: usize = 20;

fn about(
    args: &Ab,
    wanted: &Wanted,
    read: &Read,
    sides: &[Side],
    (arms, cases, text): (&[Arm], &[Case], &[u8]),
) -> ExperimentManifest {
    let declared: Vec<_> =
        sides.iter().map(|side| DeclaredLibrary::new(&side.declared, &side.recordings)).collect();
    let first = arms.first().map(|arm| &arm.team);
    let bounds = &args.bounds;
    let default = Method::default();
    let script = first.and_then(|crew| crew.model().strip_prefix("scripted/"));
    let script = script.and_then(|path| std::fs::read(path).ok()).map(hash).unwrap_or_default();
    ExperimentManifest {
        name: args.experiment.clone(),
        description: wanted.description.clone(),
        agent: first.map(|crew| crew.agent().to_owned()).unwrap_or_default(),
        model: first.map(|crew| crew.model().to_owned()).unwrap_or_default(),
        specification: hash(print_specification(&read.module)),
        arms: declared.iter().map(DeclaredLibrary::manifest).collect(),
        differences: differences(&read.module, &declared),
        cases: hash(text),
        plan: Plan {
            cases: cases.len(),
            arms: arms.len(),
            repeats: wanted.repeats,
            seed: wanted.seed,
        },
        method: Method {
            margin: args.reporting.margin.unwrap_or(default.margin),
            resamples: args.reporting.resamples.map_or(default.resamples, |count| count as usize),
            seed: wanted.seed,
            sequential: args.sequential,
            ..default
        },
        settings: format!(
            "temperature {:?}, iterations {:?}, time {:?}, guidance {}, sequential {}, script {script}",
            bounds.temperature,
            bounds.max_iterations,
            bounds.time_limit,
            !bounds.no_guidance,
            args.sequential
        ),
        shard: bounds.shard,
    }
}

fn running(args: &Ab, spec: &Path, display: Display, arms: &[Arm]) -> Result<RunConfig, Failure> {
    let bounds = &args.bounds;
    let inputs = Inputs { paths: vec![spec.to_owned()], stdin_filename: String::new() };
    let (project, mistakes) = project::read(&inputs)?;
    report::show(display, &mistakes)?;
    let prices: BTreeMap<_, _> = project.prices.into_iter().collect();
    if bounds.max_cost.is_some() {
        let unknown: Vec<_> =
            arms.iter().flat_map(|arm| models_without_price(&arm.team, &prices)).collect();
        if let Some(model) = unknown.first() {
            return Err(Failure::new(format!(
                "--max-cost needs the price of `{model}`: say it in gram.toml, as \
                 [prices] \"{model}\" = {{ input = 0.15, output = 0.6 }} for a million tokens each"
            )));
        }
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
    })
}

/// Puts parts together.
fn merged(args: &Merge, display: Display) -> Outcome {
    let mut parts: Vec<(PathBuf, Journal, ExperimentManifest)> = Vec::new();
    for path in &args.parts {
        let (journal, about, _) = Journal::read(path)?;
        if let Some((first, _, known)) = parts.first()
            && let Some(what) = about.difference_from(known)
        {
            return Err(Failure::new(format!(
                "{} and {} are not parts of one experiment: in the second, {what}",
                first.display(),
                path.display()
            )));
        }
        parts.push((path.clone(), journal, about));
    }
    // The arguments demand one at least.
    let Some((_, _, about)) = parts.first() else { return Err(Failure::new("name a folder")) };
    let mut about = ExperimentManifest { shard: None, ..about.clone() };
    let method = &mut about.method;
    method.margin = args.reporting.margin.unwrap_or(method.margin);
    method.resamples = args.reporting.resamples.map_or(method.resamples, |count| count as usize);
    let (mut journal, mut tally) = open(&args.reporting, &about)?;
    for (_, part, _) in &parts {
        journal.merge(part)?;
        for run in part.all() {
            tally.add(&run?);
        }
    }
    let stop = match about.plan.runs() - tally.finished() {
        0 => StopReason::Done,
        missing => {
            StopReason::Missing(format!("{missing} of {} runs are missing", about.plan.runs()))
        }
    };
    let mut looks = monitor(&about);
    if let Some(looks) = &mut looks {
        looks.update(&tally);
    }
    let report = Report::new(about, &tally, looks.as_ref(), &stop);
    finish(report, &mut journal, &args.reporting, display)
}

/// The journal of an experiment and the statistics of its finished runs.
fn open(
    reporting: &Reporting,
    about: &ExperimentManifest,
) -> Result<(Journal, RunStats), ExperimentError> {
    match &reporting.report {
        Some(folder) => Journal::open(folder, about),
        None => Ok((Journal::none(), RunStats::new(about))),
    }
}

fn monitor(about: &ExperimentManifest) -> Option<SequentialMonitor> {
    let Method { sequential, level, margin, .. } = about.method;
    sequential.then(|| SequentialMonitor::new(about.arm_names(), level, margin))
}

/// Writes a file, whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let new = path.with_extension("new");
    let written = File::create(&new).and_then(|mut file| file.write_all(text.as_bytes()));
    written
        .and_then(|()| std::fs::rename(&new, path))
        .map_err(|error| Failure::path("write", path, &error))
}
