//! Lenses over declarations: what targets lose, which libraries bind a tool, what runs tell of it.

use gram_check::names::{Found, Kind, Space};
use gram_schema::Target;
use gram_schema::emit::{Compilation, Entry, Options};
use lsp_types as lsp;
use lsp_types::{CodeLens, Command};
use serde_json::json;

use crate::dispatch::{Answer, Cx};
use crate::evidence::{Calls, Reason, Sent};
use crate::place::{ReadTool, tool_of};
use crate::snapshot::Snapshot;

/// The command of a lens that only says something.
const NOTHING: &str = "";

/// What each target of the project loses of a tool, in sentences. Nothing where the tool's text has
/// errors.
pub(crate) fn losses(snapshot: &Snapshot, tool: &ReadTool) -> Vec<(Target, Vec<String>)> {
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

/// `textDocument/codeLens`: where lenses are; what each says is told when it is shown.
pub(crate) fn lenses(cx: &Cx, _: lsp::CodeLensParams) -> Answer<Vec<CodeLens>> {
    if !cx.client.wishes.code_lens {
        return Ok(Vec::new());
    }
    let own = cx.snapshot.names().of(cx.number);
    let tools = own.iter().filter(|one| one.kind == Kind::Tool);
    let targets = cx.snapshot.settings().targets.iter().any(|it| *it != Target::JsonSchema);
    let mut found = Vec::new();
    for one in tools {
        let range = cx.positions().range(one.place);
        let mut add = |what: &str| {
            let data = json!({"uri": cx.file.uri, "tool": one.name.as_str(), "what": what});
            found.push(CodeLens { range, command: None, data: Some(data) });
        };
        if targets {
            add("losses");
        }
        if !binding(cx, &one.name).is_empty() {
            add("libraries");
        }
        if cx.snapshot.evidence.tools.contains_key(&one.name) {
            add("runs");
        }
    }
    Ok(found)
}

/// `codeLens/resolve`
pub(crate) fn resolve(cx: &Cx, mut lens: CodeLens) -> Answer<CodeLens> {
    let data = lens.data.clone().unwrap_or_default();
    let name = data["tool"].as_str().unwrap_or_default();
    let title = match data["what"].as_str() {
        Some("losses") => lost(cx, name),
        Some("libraries") => Some(format!("bound by {}", binding(cx, name).join(", "))),
        Some("runs") => cx.snapshot.evidence.tools.get(name).map(told),
        _ => None,
    };
    // A lens without a title is one that is still looked for, so this one says that it cannot tell.
    let title = title.unwrap_or_else(|| "compiles when its errors are mended".to_owned());
    lens.command = Some(Command { title, command: NOTHING.to_owned(), arguments: None });
    Ok(lens)
}

/// What targets lose of a tool.
fn lost(cx: &Cx, name: &str) -> Option<String> {
    let names = cx.snapshot.names();
    let own = names.of(cx.number);
    let at = own.iter().position(|one| one.kind == Kind::Tool && one.name == name)?;
    let tool = tool_of(&cx.snapshot, Found { file: cx.number, at })?;
    let lost = losses(&cx.snapshot, &tool);
    if lost.is_empty() {
        return None;
    }
    let (whole, less): (Vec<_>, Vec<_>) = lost.iter().partition(|(_, lost)| lost.is_empty());
    let whole: Vec<_> = whole.iter().map(|(target, _)| target.name()).collect();
    let mut parts = Vec::new();
    if !whole.is_empty() {
        parts.push(format!("compiles for {} without losses", whole.join(", ")));
    }
    for (target, lost) in less {
        let s = if lost.len() == 1 { "" } else { "es" };
        parts.push(format!("compiles for {} with {} loss{s}", target.name(), lost.len()));
    }
    Some(parts.join("; "))
}

/// The libraries that have an implementation for a tool, in the order of the texts.
fn binding(cx: &Cx, tool: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (file, uses) in cx.snapshot.uses().iter().enumerate() {
        let own = cx.snapshot.names().of(file);
        for used in uses.iter().filter(|used| used.space == Space::Tools && used.name == tool) {
            let holder = used.holder.and_then(|at| own.get(at));
            found
                .extend(holder.filter(|it| it.kind == Kind::Library).map(|it| it.name.to_string()));
        }
    }
    found.dedup();
    found
}

/// What runs tell of a tool, in a line.
fn told(calls: &Calls) -> String {
    let worst = calls.reasons.iter().max_by_key(|(_, sent)| sent.count);
    match worst {
        Some((reason, sent)) => because(calls, reason, sent),
        None if calls.refused > 0 => {
            format!("refused in {} of {}", percent(calls.refused, calls.all), many(calls.all))
        }
        None => format!("{}, none refused", many(calls.all)),
    }
}

/// `` `unit` refused in 12 % of 340 calls, the model sends `celsius` ``
pub(crate) fn because(calls: &Calls, reason: &Reason, sent: &Sent) -> String {
    let often = format!("refused in {} of {}", percent(sent.count, calls.all), many(calls.all));
    let what = match (&*reason.code, sent.likeliest()) {
        ("REQUIRED_FIELD", _) => ", the model leaves it out".to_owned(),
        (_, Some(value)) => format!(", the model sends `{}`", value.trim_matches('"')),
        (_, None) => String::new(),
    };
    format!("`{}` {often}{what}", reason.parameter)
}

fn many(calls: u64) -> String {
    if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") }
}

fn percent(part: u64, whole: u64) -> String {
    // Rounded to the nearest, and never to none.
    let percent = (part * 100 + whole / 2).checked_div(whole).unwrap_or(0);
    format!("{} %", percent.max(1))
}
