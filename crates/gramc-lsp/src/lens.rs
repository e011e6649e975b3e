//! Code lenses: what can be run, and for tools losses of targets, libraries that bind the tool, rejected
//! calls in traces, breaking changes since the last commit.

use std::collections::HashMap;

use gramc_check::names::{Declaration, Kind};
use gramc_diff::{Breaking, Change, diff_tools};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Entry, Options};
use lsp_types::{CodeLens, Command};
use serde_json::json;

use crate::lookup::{ToolRef, tool_of};
use crate::request::RequestContext;
use crate::runnables::{self, Action, libraries_with};
use crate::snapshot::Snapshot;
use crate::trace_stats::{ParameterErrorKey, RejectedValues, ToolStats};

/// The command of a lens without an action.
const NO_COMMAND: &str = "";

/// The losses of a tool for each target of the project. Empty if the tool's file has errors.
pub(crate) fn losses(snapshot: &Snapshot, tool: &ToolRef) -> Vec<(Target, Vec<String>)> {
    let targets = snapshot.settings().targets.iter().filter(|it| **it != Target::JsonSchema);
    let lost = |target: &Target| {
        let place = tool.module.module().spans.tool(tool.at)?;
        let files = place.file..place.file + 1;
        let options = Options { files, expanded: true, ..Options::new(*target, 0) };
        let compilation = Compilation::new(tool.module.valid(place.file)?, &options);
        let compiled = compilation.compile(Entry::Tool(tool.get()?));
        Some((*target, compiled.losses().iter().map(ToString::to_string).collect()))
    };
    targets.filter_map(lost).collect()
}

/// `textDocument/codeLens`: the lenses without their titles.
pub(crate) fn lenses(cx: &RequestContext) -> Vec<CodeLens> {
    if !cx.client.settings.code_lens {
        return Vec::new();
    }
    let own = cx.declarations();
    let targets = cx.snapshot.settings().targets.iter().any(|it| *it != Target::JsonSchema);
    let mut found = Vec::new();
    let breaking = breaking(cx, own);
    let implemented = runnables::implemented_tools(cx);
    for one in own {
        let range = cx.range(one.place);
        let mut add = |what: &str| {
            let data = json!({"uri": cx.file.uri, "name": one.name.as_str(), "what": what});
            found.push(CodeLens { range, command: None, data: Some(data) });
        };
        let is_implemented = implemented.contains(&one.name);
        for action in runnables::actions(cx, one, is_implemented) {
            add(action.name());
        }
        if one.kind != Kind::Tool {
            continue;
        }
        if targets {
            add("losses");
        }
        if is_implemented {
            add("libraries");
        }
        if cx.snapshot.project.trace_stats.tools.contains_key(&one.name) {
            add("runs");
        }
        if let Some(title) = breaking.get(one.name.as_str()) {
            // Whether there is such a lens is as much work as its title.
            let command = Some(command(title.clone()));
            found.push(CodeLens { range, command, data: Some(json!({"uri": cx.file.uri})) });
        }
    }
    found
}

/// `codeLens/resolve`
pub(crate) fn resolve(cx: &RequestContext, mut lens: CodeLens) -> CodeLens {
    if lens.command.is_some() {
        return lens;
    }
    let data = lens.data.clone().unwrap_or_default();
    let name = data["name"].as_str().unwrap_or_default();
    let what = data["what"].as_str();
    let action = Action::ALL.into_iter().find(|action| Some(action.name()) == what);
    if let Some(runnable) = action.and_then(|action| runnables::command(cx, action, name)) {
        lens.command = Some(runnable);
        return lens;
    }
    let title = match what {
        Some("losses") => losses_title(cx, name),
        Some("libraries") => {
            let names = libraries_with(cx, &[name]).into_iter().map(|library| library.name);
            Some(format!("bound by {}", names.collect::<Vec<_>>().join(", ")))
        }
        Some("runs") => cx.snapshot.project.trace_stats.tools.get(name).map(trace_title),
        _ => None,
    };
    // Editors show a lens without a title as still loading.
    let title = title.unwrap_or_else(|| "does not compile: the file has errors".to_owned());
    lens.command = Some(command(title));
    lens
}

/// A title without an action.
fn command(title: String) -> Command {
    Command::new(title, NO_COMMAND.to_owned(), None)
}

/// What breaks callers of tools since the last commit, for people, by tool.
fn breaking<'d>(cx: &RequestContext, own: &'d [Declaration]) -> HashMap<&'d str, String> {
    let project = &cx.snapshot.project;
    let Some(committed) = project.committed.lock().module(&project.root) else {
        return HashMap::new();
    };
    let tools = own.iter().filter(|one| one.kind == Kind::Tool).map(|one| one.name.as_str());
    let changes = diff_tools(&committed, cx.snapshot.whole_module().module(), tools);
    let titles = changes.into_iter().filter_map(|(name, changes)| {
        let mut breaking = changes.iter().filter(|change| change.breaking == Breaking::Yes);
        let Change { message, .. } = breaking.next()?;
        let more = match breaking.count() {
            0 => String::new(),
            1 => ", and 1 more change".to_owned(),
            more => format!(", and {more} more changes"),
        };
        Some((name, format!("breaking since HEAD: {message}{more}")))
    });
    titles.collect()
}

fn losses_title(cx: &RequestContext, name: &str) -> Option<String> {
    let tool = tool_of(&cx.snapshot, cx.find(Kind::Tool, name)?)?;
    let lost = losses(&cx.snapshot, &tool);
    if lost.is_empty() {
        return None;
    }
    let (whole, less): (Vec<_>, Vec<_>) = lost.iter().partition(|(_, lost)| lost.is_empty());
    let whole: Vec<_> = whole.iter().map(|(target, _)| target.name()).collect();
    let whole = Some(whole.join(", ")).filter(|whole| !whole.is_empty());
    let whole = whole.map(|whole| format!("compiles for {whole} without losses"));
    let less = less.iter().map(|(target, lost)| {
        let s = if lost.len() == 1 { "" } else { "es" };
        format!("compiles for {} with {} loss{s}", target.name(), lost.len())
    });
    Some(whole.into_iter().chain(less).collect::<Vec<_>>().join("; "))
}

fn trace_title(calls: &ToolStats) -> String {
    let worst = calls.errors.iter().max_by_key(|(_, rejected)| rejected.count);
    match worst {
        Some((key, rejected)) => rejection_summary(calls, key, rejected),
        None if calls.rejected > 0 => rejection_rate(calls.rejected, calls.total),
        None => format!("{}, none rejected", call_count(calls.total)),
    }
}

/// `` `unit` rejected in 12 % of 340 calls, the model sends `celsius` ``
pub(crate) fn rejection_summary(
    calls: &ToolStats,
    key: &ParameterErrorKey,
    rejected: &RejectedValues,
) -> String {
    let often = rejection_rate(rejected.count, calls.total);
    let what = match (&*key.code, rejected.most_frequent()) {
        ("REQUIRED_FIELD", _) => ", the model omits it".to_owned(),
        (_, Some(value)) => format!(", the model sends `{}`", value.trim_matches('"')),
        (_, None) => String::new(),
    };
    format!("`{}` {often}{what}", key.parameter)
}

fn call_count(calls: u64) -> String {
    if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") }
}

fn rejection_rate(rejected: u64, calls: u64) -> String {
    let percent = (rejected * 100 + calls / 2).checked_div(calls).unwrap_or(0);
    // At least 1 %.
    format!("rejected in {} % of {}", percent.max(1), call_count(calls))
}
