//! `gramc run`

mod conversation_file;
mod show;
mod turns;

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gramc_agent::model::{Model, Models, ScriptedModel};
use gramc_agent::{
    AgentTeam, Conversation, ImageError, Limits, Observer, Observers, SpanRecorder, Streaming,
    Telemetry, TraceWriter, read_image,
};
use gramc_tools::approval::ApprovalPolicy;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::agents;
use super::approval::{approvals, terminal};
use super::calls::{Both, only_one_reads, read, run_to_the_end};
use crate::args::{Display, Format, Run};
use crate::failure::{CLEAN, FAILED, Failure, Outcome, PROBLEMS};
use crate::live;
use crate::output::{say, say_each};
use conversation_file::ConversationFile;
use show::Show;
use turns::Turns;

pub(super) fn run(args: &Run, display: Display) -> Outcome {
    only_one_reads(&[args.path(), args.bind.path()])?;
    let Some(read) = read(&args.spec(), &args.bind, display)? else { return Ok(PROBLEMS) };
    let read = read.with_journal(&args.journal)?;
    let telemetry = telemetry();
    let work = start(args, display, &read, telemetry.as_ref());
    let code = run_to_the_end(Builder::new_current_thread(), work, read.library.close());
    if let Some(telemetry) = telemetry {
        send_the_rest(telemetry, matches!(code, Err(Failure::Interrupted(_))));
    }
    code
}

/// Binds the library and holds the conversation.
async fn start(
    args: &Run,
    display: Display,
    read: &Both,
    telemetry: Option<&Telemetry>,
) -> Outcome {
    let spec = &read.spec;
    let (bound, problems) = read.bind_connected().await?;
    if !args.partial && !problems.is_empty() {
        say_each("error: ", &problems);
        say("nothing was run; --partial allows missing implementations");
        return Ok(PROBLEMS);
    }
    let mut options = agents::team_options(&args.agents)?;
    let agent = args.agents.agent.as_deref();
    let agent = agents::choose(&spec.module, agent, options.command.is_some())?;
    let mut models = Models::of_environment(folder(args.path()));
    options.model = model(args, &mut models)?;
    let crew = AgentTeam::new(&spec.module, &agent, &bound, &mut models, &options)?;
    let approvals = approvals(ApprovalPolicy::Destructive, &args.approve, terminal())?;
    let crew = Arc::new(crew.with_approvals(approvals));
    // What has to be of a type is shown when it is.
    let is_text = spec.module.agent(&agent).is_some_and(|agent| agent.result.is_none());
    let streams =
        is_text && !args.stream && display.format == Format::Human && io::stdout().is_terminal();
    let mut file = args.conversation.as_deref().map(ConversationFile::open).transpose()?;
    let saved = file.as_mut().map(|file| file.read(crew.agent())).transpose()?.flatten();
    let conversation = match saved {
        Some(saved) => Conversation::resume(&crew, limits(args), saved),
        None => Conversation::new(&crew, limits(args)),
    };
    let trace = match &args.trace {
        Some(path) => {
            let file = File::create(path).map_err(|error| Failure::path("write", path, &error))?;
            Some(TraceWriter::new(file, crew.agent(), crew.model()))
        }
        None => None,
    };
    let show = Show::new(args, streams && !args.no_stream, crew.agent());
    let stream = || TraceWriter::new(io::stdout(), crew.agent(), crew.model()).with_growth();
    let stream = args.stream.then(stream);
    let mut watch = Observers::default().with(&show);
    if let Some(trace) = &trace {
        watch = watch.with(trace);
    }
    if let Some(stream) = &stream {
        watch = watch.with(stream);
    }
    if let Some(telemetry) = telemetry {
        watch = watch.with(SpanRecorder::new(telemetry, &crew));
    }
    let code = converse(args, display, conversation, file, &show, &watch).await?;
    if let (Some(path), Some(error)) = (&args.trace, trace.as_ref().and_then(TraceWriter::error)) {
        return Err(Failure::path("write", path, &error));
    }
    match stream.as_ref().and_then(TraceWriter::error) {
        Some(error) => Err(Failure::output(&error)),
        None => Ok(code),
    }
}

fn image_failure(error: ImageError) -> Failure {
    match error {
        ImageError::Read(path, error) => Failure::path("read the image", &path, &error),
        other => other.into(),
    }
}

/// Holds the conversation, turn by turn.
async fn converse(
    args: &Run,
    display: Display,
    mut conversation: Conversation,
    mut file: Option<ConversationFile>,
    show: &Show,
    watch: &dyn Observer,
) -> Result<i32, Failure> {
    let mut turns = Turns::new(args);
    let images = args.images.iter().map(|path| read_image(path));
    let images = images.collect::<Result<Vec<_>, _>>();
    let mut images = images.map_err(image_failure)?;
    if !images.is_empty() && !conversation.takes_images() {
        say(
            "warning: the model is not sent images; the attribute `images: true` of the agent sends them",
        );
    }
    let mut signals = live::Signals::new();
    let mut code = CLEAN;
    loop {
        let text = tokio::select! {
            text = turns.next() => text?,
            signal = signals.next() => return Err(Failure::Interrupted(signal)),
        };
        let Some(text) = text else { return Ok(code) };
        let images = std::mem::take(&mut images);
        let (cancelled, mut interrupted) = (CancellationToken::new(), None);
        let turn = {
            let turn = conversation.turn_with(&text, images, watch, &cancelled);
            let mut turn = std::pin::pin!(turn);
            loop {
                tokio::select! {
                    turn = &mut turn => break turn,
                    signal = signals.next() => {
                        interrupted = Some(signal);
                        cancelled.cancel();
                    }
                }
            }
        };
        let kept = match &mut file {
            Some(file) => file.keep(&conversation.save()),
            None => Ok(()),
        };
        let own = match &turn.end {
            gramc_agent::TurnEnd::Answered => CLEAN,
            gramc_agent::TurnEnd::Failed(_) => FAILED,
            _ => PROBLEMS,
        };
        code = code.max(own);
        // The answer is printed even if the file cannot be written.
        if !args.stream {
            show.print_answer(&turn, display)?;
        }
        show.print_end(&turn);
        kept?;
        if let (Some(file), true) = (&file, own != CLEAN) {
            say(format_args!("the conversation is saved in {}", file.path().display()));
        }
        if let Some(signal) = interrupted.filter(|_| !turns.is_chat()) {
            return Err(Failure::Interrupted(signal));
        }
        // A user at a terminal can continue; in a script, later turns depend on this one.
        if own != CLEAN && !turns.is_chat() {
            return Ok(code);
        }
    }
}

fn limits(args: &Run) -> Limits {
    Limits {
        iterations: args.agents.max_iterations,
        tokens: args.max_tokens,
        time: args.agents.time_limit.map(Duration::from_secs_f64),
        stream: match (args.stream, args.no_stream) {
            (true, _) => Streaming::Calls,
            (false, true) => Streaming::Off,
            (false, false) => Streaming::Text,
        },
        ..Limits::default()
    }
}

/// What sends spans to a collector, where the environment names one. That it cannot is no reason
/// not to run.
pub(super) fn telemetry() -> Option<Telemetry> {
    Telemetry::from_environment().unwrap_or_else(|error| {
        say(format_args!("warning: telemetry is not exported: {error}"));
        None
    })
}

/// Sends the remaining telemetry, and reports failures. After an interrupt, it does not wait long.
pub(super) fn send_the_rest(telemetry: Telemetry, interrupted: bool) {
    let most = Duration::from_secs(if interrupted { 1 } else { 5 });
    if let Some(lost) = telemetry.shut_down(most) {
        say(format_args!("warning: {lost}"));
    }
}

/// The model that is asked for: by name, or a trace's.
fn model(args: &Run, models: &mut Models) -> Result<Option<String>, Failure> {
    if let Some(name) = &args.agents.model {
        return given_model(name, models).map(Some);
    }
    let Some(path) = &args.replay else { return Ok(None) };
    script(path, models).map(Some)
}

/// The name of a model on the command line. Paths of scripts are relative to the current folder.
pub(super) fn given_model(name: &str, models: &mut Models) -> Result<String, Failure> {
    match name.strip_prefix("scripted/").filter(|file| *file != "echo") {
        Some(file) => script(Path::new(file), models),
        None => Ok(name.to_owned()),
    }
}

/// Lets a script be found, and gives its name.
fn script(path: &Path, models: &mut Models) -> Result<String, Failure> {
    let script = ScriptedModel::file(path)?;
    let name = script.name().to_owned();
    let script: Arc<dyn Model> = Arc::new(script);
    models.add(&script);
    Ok(name)
}

/// The folder that scripts of a specification's agents are relative to.
pub(super) fn folder(spec: &Path) -> &Path {
    if spec.is_dir() {
        return spec;
    }
    spec.parent().unwrap_or(Path::new(""))
}
