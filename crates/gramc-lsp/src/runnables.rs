//! What an editor can run from a lens: calls and tests of tools, agents, experiments.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gramc_check::names::{Declaration, Found, Kind, Space};
use gramc_schema::example_arguments;
use lsp_types::Command;
use serde::Serialize;
use smol_str::SmolStr;

use crate::client::RUN_COMMAND;
use crate::lookup::tool_of;
use crate::request::RequestContext;
use crate::test_groups::specification_of_experiment;

/// Arguments of gramc, and what the editor asks for before it runs them.
#[derive(Debug, Serialize)]
pub(crate) struct Runnable {
    /// What it does, for titles.
    label: String,
    /// What the output is: `json`, `text`, or `report` for an experiment.
    output: &'static str,
    arguments: Vec<String>,
    /// The working folder.
    folder: PathBuf,
    asks: Vec<Ask>,
}

/// Something that the editor asks for. The answer takes the place of an argument.
#[derive(Debug, Serialize)]
struct Ask {
    /// The argument.
    placeholder: &'static str,
    title: String,
    /// A text that is offered. `None` for a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// What there is to choose from. Empty for a text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Choice>,
}

#[derive(Debug, Serialize)]
struct Choice {
    label: String,
    /// The arguments that take the place of the placeholder.
    arguments: Vec<String>,
}

/// A library of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LibraryRef {
    pub(crate) name: String,
    file: Option<PathBuf>,
}

/// A kind of lens that runs something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Call,
    Test,
    Run,
    Compare,
    Plan,
}

impl Action {
    pub(crate) const ALL: [Self; 5] =
        [Self::Call, Self::Test, Self::Run, Self::Compare, Self::Plan];

    /// Its name in the data of a lens.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Test => "test",
            Self::Run => "run",
            Self::Compare => "compare",
            Self::Plan => "plan",
        }
    }

    /// The title of the lens.
    const fn title(self) -> &'static str {
        match self {
            Self::Call => "▶ Call",
            Self::Test => "Test",
            Self::Run => "▶ Run",
            Self::Compare => "▶ Run experiment",
            Self::Plan => "Plan",
        }
    }
}

/// What can be done with a declaration of the document. `is_implemented` says whether a library implements
/// it.
pub(crate) fn actions(
    cx: &RequestContext,
    one: &Declaration,
    is_implemented: bool,
) -> &'static [Action] {
    match one.kind {
        _ if !cx.client.runs || cx.file.path.is_none() => &[],
        Kind::Tool if is_implemented => &[Action::Call, Action::Test],
        Kind::Tool => &[Action::Call],
        Kind::Agent => &[Action::Run],
        Kind::Experiment => &[Action::Compare, Action::Plan],
        _ => &[],
    }
}

/// The command of a lens. `None` if the declaration is gone.
pub(crate) fn command(cx: &RequestContext, action: Action, name: &str) -> Option<Command> {
    let runnable = serde_json::to_value(runnable(cx, action, name)?).ok()?;
    let (title, command) = (action.title().to_owned(), RUN_COMMAND.to_owned());
    Some(Command { title, command, arguments: Some(vec![runnable]) })
}

fn runnable(cx: &RequestContext, action: Action, name: &str) -> Option<Runnable> {
    let spec = cx.file.path.as_deref()?;
    let path = spec.display().to_string();
    let made = |label: &str, output, arguments: &[&str], asks| Runnable {
        label: format!("{label} {name}"),
        output,
        arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
        folder: spec.parent().map(Path::to_owned).unwrap_or_default(),
        asks,
    };
    Some(match action {
        Action::Call => {
            let asks = vec![
                ask(
                    "{arguments}",
                    format!("Arguments of {name}, as JSON"),
                    arguments_of(cx, name)?,
                ),
                library(&libraries_with(cx, &[name]), true),
            ];
            made("call", "json", &["call", &path, name, "{arguments}", "{library}"], asks)
        }
        Action::Test => {
            let asks = vec![library(&libraries_with(cx, &[name]), false)];
            made("test", "text", &["test", &path, "--tool", name, "{library}"], asks)
        }
        Action::Run => {
            let tools = tools_of(cx, name);
            let tools: Vec<_> = tools.iter().map(String::as_str).collect();
            let asks = vec![
                ask("{message}", format!("Message for {name}"), String::new()),
                library(&libraries_with(cx, &tools), true),
            ];
            let words = ["run", &path, "--agent", name, "{library}", "--", "{message}"];
            made("run", "text", &words, asks)
        }
        Action::Compare => {
            let spec = specification_of(cx, name)?;
            let words = ["ab", &spec, "--experiment", name, "--report", "{report}"];
            made("run", "report", &words, Vec::new())
        }
        Action::Plan => {
            let spec = specification_of(cx, name)?;
            made("plan", "text", &["ab", &spec, "--experiment", name, "--plan"], Vec::new())
        }
    })
}

fn ask(placeholder: &'static str, title: String, value: String) -> Ask {
    Ask { placeholder, title, value: Some(value), choices: Vec::new() }
}

/// The question for a library. If `fakes`, made-up answers can be chosen, too.
fn library(libraries: &[LibraryRef], fakes: bool) -> Ask {
    let choice = |library: &LibraryRef| {
        let file = library.file.as_deref()?.display();
        let arguments = vec!["--library".to_owned(), format!("{file}:{}", library.name)];
        Some(Choice { label: library.name.clone(), arguments })
    };
    let mut choices: Vec<_> = libraries.iter().filter_map(choice).collect();
    if fakes {
        let arguments = vec!["--fake".to_owned()];
        choices.push(Choice { label: "made-up answers".to_owned(), arguments });
    }
    Ask { placeholder: "{library}", title: "Library".to_owned(), value: None, choices }
}

/// What an experiment of the document runs in.
fn specification_of(cx: &RequestContext, experiment: &str) -> Option<String> {
    let own = cx.snapshot.names().of(cx.number);
    let is_meant = |one: &Declaration| one.kind == Kind::Experiment && one.name == experiment;
    let at = own.iter().position(is_meant)?;
    specification_of_experiment(&cx.snapshot, Found { file: cx.number, at })
}

/// Arguments that a tool accepts, as JSON. `None` if there is no such tool.
fn arguments_of(cx: &RequestContext, name: &str) -> Option<String> {
    let own = cx.snapshot.names().of(cx.number);
    let at = own.iter().position(|one| one.kind == Kind::Tool && one.name == name)?;
    let tool = tool_of(&cx.snapshot, Found { file: cx.number, at })?;
    let arguments = example_arguments(&tool.module.module().types, tool.get()?);
    Some(serde_json::Value::Object(arguments.unwrap_or_default()).to_string())
}

/// The tools that an agent of the document names.
fn tools_of(cx: &RequestContext, agent: &str) -> Vec<String> {
    let own = cx.snapshot.names().of(cx.number);
    let is_agent = |at: usize| own[at].kind == Kind::Agent && own[at].name == agent;
    let uses = cx.snapshot.uses_of(cx.number);
    let of_agent =
        uses.iter().filter(|used| used.space == Space::Tools && used.holder.is_some_and(is_agent));
    of_agent.map(|used| used.name.to_string()).collect()
}

/// The tools that libraries of the project implement.
pub(crate) fn implemented(cx: &RequestContext) -> HashSet<SmolStr> {
    let mut found = HashSet::new();
    for (file, uses) in cx.snapshot.uses().iter().enumerate() {
        let own = cx.snapshot.names().of(file);
        let in_library = uses.iter().filter(|used| {
            let holder = used.holder.and_then(|at| own.get(at));
            used.space == Space::Tools && holder.is_some_and(|it| it.kind == Kind::Library)
        });
        found.extend(in_library.map(|used| used.name.clone()));
    }
    found
}

/// The libraries of the project that implement one of these tools, in source order.
pub(crate) fn libraries_with(cx: &RequestContext, tools: &[&str]) -> Vec<LibraryRef> {
    let mut found = Vec::new();
    for (file, uses) in cx.snapshot.uses().iter().enumerate() {
        let own = cx.snapshot.names().of(file);
        for used in uses.iter() {
            if used.space != Space::Tools || !tools.iter().any(|name| used.name == **name) {
                continue;
            }
            let holder = used.holder.and_then(|at| own.get(at));
            let Some(library) = holder.filter(|it| it.kind == Kind::Library) else { continue };
            let path = cx.snapshot.text(file).and_then(|text| text.path.clone());
            let library = LibraryRef { name: library.name.to_string(), file: path };
            if !found.contains(&library) {
                found.push(library);
            }
        }
    }
    found
}
