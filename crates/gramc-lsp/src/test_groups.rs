//! What an editor lists as tests: the tools of libraries, and the cases of experiments.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc_check::names::{Declaration, Found, Kind, Space};
use gramc_model::WHOLE_SERVER;
use lsp_types::{Range, Uri};
use serde::Serialize;

use crate::data_files::cases_of;
use crate::lookup::entry;
use crate::snapshot::Snapshot;

/// The request for them, whose answer is a list of [`TestGroup`].
pub(crate) const METHOD: &str = "gram/tests";

/// A library, whose tools can be tested, or an experiment, whose cases can be run.
#[derive(Debug, Serialize)]
pub(crate) struct TestGroup {
    label: String,
    /// `library` or `experiment`.
    kind: &'static str,
    uri: Uri,
    range: Range,
    /// The arguments of gramc that test all.
    arguments: Vec<String>,
    /// The working folder.
    folder: PathBuf,
    /// The tools of a library.
    tools: Vec<TestedTool>,
    /// The file with the cases of an experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<PathBuf>,
}

/// A tool that a library implements.
#[derive(Debug, Serialize)]
struct TestedTool {
    label: String,
    range: Range,
}

/// The tests of all projects, in source order.
pub(crate) fn test_groups(snapshots: &[Arc<Snapshot>]) -> Vec<TestGroup> {
    let all = snapshots.iter().flat_map(|snapshot| {
        let declared = snapshot.names().all();
        declared.filter_map(|(found, declaration)| group(snapshot, found, declaration))
    });
    all.collect()
}

fn group(snapshot: &Snapshot, found: Found, declaration: &Declaration) -> Option<TestGroup> {
    let file = snapshot.text(found.file)?;
    let path = file.path.as_deref()?;
    let folder = path.parent()?;
    let positions = snapshot.positions(found.file)?;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let shown = path.display().to_string();
    let (kind, arguments, tools, cases) = match declaration.kind {
        Kind::Library => {
            let uses = snapshot.uses_of(found.file);
            let own = uses.iter().filter(|used| {
                let is_tool = used.space == Space::Tools && used.name != WHOLE_SERVER;
                is_tool && used.holder == Some(found.at)
            });
            let tool = |used: &gramc_check::names::Use| TestedTool {
                label: used.name.to_string(),
                range: positions.range(used.place),
            };
            // The tools may be declared anywhere in the project.
            let spec = specification(snapshot, path);
            let library = format!("{shown}:{}", declaration.name);
            let arguments = words(&["test", &spec, "--library", &library, "--format", "json"]);
            ("library", arguments, own.map(tool).collect(), None)
        }
        Kind::Experiment => {
            let cases = cases_of(snapshot, found, declaration)?;
            let spec = specification_of_experiment(snapshot, found)?;
            let arguments =
                words(&["ab", &spec, "--experiment", &declaration.name, "--report", "{report}"]);
            ("experiment", arguments, Vec::new(), Some(cases))
        }
        _ => return None,
    };
    Some(TestGroup {
        label: declaration.name.to_string(),
        kind,
        uri: file.uri.clone(),
        range: positions.range(declaration.place),
        arguments,
        folder: folder.to_owned(),
        tools,
        cases,
    })
}

/// What an experiment runs in: its file, if that or what it imports declares the agent, or else the
/// folder of the file.
pub(crate) fn specification_of_experiment(snapshot: &Snapshot, found: Found) -> Option<String> {
    let file = snapshot.text(found.file)?;
    let path = file.path.as_deref()?;
    let node = file.parse().tree().node(snapshot.declaration(found)?.node);
    let agent = entry(node, "agent").map(|value| value.content().into_owned());
    let files = snapshot.imports().with_imports(found.file);
    let is_meant = |one: &Declaration| {
        one.kind == Kind::Agent && agent.as_ref().is_none_or(|name| one.name == *name)
    };
    let is_here = files.iter().any(|number| snapshot.names().of(*number).iter().any(is_meant));
    let path = if is_here { path } else { path.parent()? };
    Some(path.display().to_string())
}

/// The folder of the project, or a document alone.
fn specification(snapshot: &Snapshot, path: &Path) -> String {
    let root = &snapshot.project.root;
    let is_project = path.starts_with(root) && root.is_dir();
    if is_project { root.display().to_string() } else { path.display().to_string() }
}
