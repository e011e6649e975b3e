//! What an editor can run from a lens: calls and tests of tools, agents, experiments.

use std::collections::HashSet;
use std::path::PathBuf;

use gramc_check::names::{Declaration, Kind, Space};
use gramc_schema::example_arguments;
use lsp_types::Command;
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::client::RUN_COMMAND;
use crate::lookup::tool_of;
use crate::request::RequestContext;
use crate::test_groups::specification_of_experiment;

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

    /// The name in the data of a lens.
    pub(crate) const fn name(self) -> &'static str {
        self.names().0
    }

    const fn title(self) -> &'static str {
        self.names().1
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Call => ("call", "▶ Call"),
            Self::Test => ("test", "Test"),
            Self::Run => ("run", "▶ Run"),
            Self::Compare => ("compare", "▶ Run experiment"),
            Self::Plan => ("plan", "Plan"),
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

/// The command of a lens. `None` if the declaration was removed.
pub(crate) fn command(cx: &RequestContext, action: Action, name: &str) -> Option<Command> {
    let (title, command) = (action.title().to_owned(), RUN_COMMAND.to_owned());
    Some(Command { title, command, arguments: Some(vec![runnable(cx, action, name)?]) })
}

/// The arguments of gramc, the kind of its output (`json`, `text`, or `report` for an experiment), and
/// the questions of the editor, whose answers replace arguments.
fn runnable(cx: &RequestContext, action: Action, name: &str) -> Option<Value> {
    let spec = cx.file.path.as_deref()?;
    let path = spec.display().to_string();
    let experiment = || specification_of_experiment(&cx.snapshot, cx.find(Kind::Experiment, name)?);
    let (label, output, arguments, asks) = match action {
        Action::Call => {
            let title = format!("Arguments of {name}, as JSON");
            let asks = json!([
                {"placeholder": "{arguments}", "title": title, "value": arguments_of(cx, name)?},
                ask_library(&libraries_with(cx, &[name]), true),
            ]);
            ("call", "json", json!(["call", path, name, "{arguments}", "{library}"]), asks)
        }
        Action::Test => {
            let asks = json!([ask_library(&libraries_with(cx, &[name]), false)]);
            ("test", "text", json!(["test", path, "--tool", name, "{library}"]), asks)
        }
        Action::Run => {
            let tools = tools_of(cx, name);
            let tools: Vec<_> = tools.iter().map(String::as_str).collect();
            let title = format!("Message for {name}");
            let asks = json!([
                {"placeholder": "{message}", "title": title, "value": ""},
                ask_library(&libraries_with(cx, &tools), true),
            ]);
            let arguments = json!(["run", path, "--agent", name, "{library}", "--", "{message}"]);
            ("run", "text", arguments, asks)
        }
        Action::Compare => {
            let arguments =
                json!(["ab", experiment()?, "--experiment", name, "--report", "{report}"]);
            ("run", "report", arguments, json!([]))
        }
        Action::Plan => {
            let arguments = json!(["ab", experiment()?, "--experiment", name, "--plan"]);
            ("plan", "text", arguments, json!([]))
        }
    };
    Some(json!({
        "label": format!("{label} {name}"),
        "output": output,
        "arguments": arguments,
        "folder": spec.parent()?.display().to_string(),
        "asks": asks,
    }))
}

/// The question for a library. If `fakes`, made-up answers can be chosen, too.
fn ask_library(libraries: &[LibraryRef], fakes: bool) -> Value {
    let choice = |library: &LibraryRef| {
        let name = format!("{}:{}", library.file.as_deref()?.display(), library.name);
        Some(json!({"label": library.name, "arguments": ["--library", name]}))
    };
    let made_up = json!({"label": "made-up answers", "arguments": ["--fake"]});
    let choices = libraries.iter().filter_map(choice).chain(fakes.then_some(made_up));
    let mut ask = json!({"placeholder": "{library}", "title": "Library"});
    // A question without choices is for a text.
    let choices: Vec<_> = choices.collect();
    if !choices.is_empty() {
        ask["choices"] = choices.into();
    }
    ask
}

/// Arguments that a tool accepts, as JSON. `None` if there is no such tool.
fn arguments_of(cx: &RequestContext, name: &str) -> Option<String> {
    let tool = tool_of(&cx.snapshot, cx.find(Kind::Tool, name)?)?;
    let arguments = example_arguments(&tool.module.module().types, tool.get()?);
    Some(Value::Object(arguments.unwrap_or_default()).to_string())
}

fn tools_of(cx: &RequestContext, agent: &str) -> Vec<String> {
    let own = cx.declarations();
    let is_agent = |at: usize| own[at].kind == Kind::Agent && own[at].name == agent;
    let uses = cx.snapshot.uses_of(cx.number);
    let of_agent =
        uses.iter().filter(|used| used.space == Space::Tools && used.holder.is_some_and(is_agent));
    of_agent.map(|used| used.name.to_string()).collect()
}

/// The tools that libraries of the project implement.
pub(crate) fn implemented_tools(cx: &RequestContext) -> HashSet<SmolStr> {
    implementations(cx).map(|(_, name, _)| name).collect()
}

/// The libraries of the project that implement one of these tools, in source order.
pub(crate) fn libraries_with(cx: &RequestContext, tools: &[&str]) -> Vec<LibraryRef> {
    let mut found = Vec::new();
    for (file, _, library) in implementations(cx).filter(|(_, name, _)| tools.contains(&&**name)) {
        let path = cx.snapshot.text(file).and_then(|text| text.path.clone());
        let library = LibraryRef { name: library.name.to_string(), file: path };
        if !found.contains(&library) {
            found.push(library);
        }
    }
    found
}

/// The file, the tool and the library of each implementation.
fn implementations(cx: &RequestContext) -> impl Iterator<Item = (usize, SmolStr, &Declaration)> {
    cx.snapshot.uses().iter().enumerate().flat_map(|(file, uses)| {
        let own = cx.snapshot.names().of(file);
        uses.iter().filter(|used| used.space == Space::Tools).filter_map(move |used| {
            let holder = own.get(used.holder?).filter(|it| it.kind == Kind::Library)?;
            Some((file, used.name.clone(), holder))
        })
    })
}
