//! Tests for editors: the tools of libraries, and the cases of experiments.

use std::path::Path;
use std::sync::Arc;

use gramc_check::names::{Declaration, Found, Kind, Space, Use};
use gramc_model::WHOLE_SERVER;
use serde_json::{Value, json};

use crate::data_files::cases_of;
use crate::lookup::entry;
use crate::snapshot::Snapshot;

/// The request for the tests, whose answer is a list of groups.
pub(crate) const METHOD: &str = "gram/tests";

/// The tests of all projects, in source order: a group for each library, whose tools can be tested, and
/// each experiment, whose cases can be run.
pub(crate) fn test_groups(snapshots: &[Arc<Snapshot>]) -> Vec<Value> {
    let all = snapshots.iter().flat_map(|snapshot| {
        let declared = snapshot.names().all();
        declared.filter_map(|(found, declaration)| group(snapshot, found, declaration))
    });
    all.collect()
}

fn group(snapshot: &Snapshot, found: Found, declaration: &Declaration) -> Option<Value> {
    let file = snapshot.text(found.file)?;
    let path = file.path.as_deref()?;
    let positions = snapshot.positions(found.file)?;
    let (label, folder) = (&*declaration.name, path.parent()?.display().to_string());
    let mut group = json!({
        "label": label,
        "kind": declaration.kind.word(),
        "uri": file.uri,
        "range": positions.range(declaration.place),
        "arguments": [],
        "folder": folder,
        "tools": [],
    });
    match declaration.kind {
        Kind::Library => {
            let uses = snapshot.uses_of(found.file);
            let own = uses.iter().filter(|used| {
                let is_tool = used.space == Space::Tools && used.name != WHOLE_SERVER;
                is_tool && used.holder == Some(found.at)
            });
            let tool =
                |used: &Use| json!({"label": &*used.name, "range": positions.range(used.place)});
            // The tools may be declared anywhere in the project.
            let spec = specification(snapshot, path);
            let library = format!("{}:{label}", path.display());
            group["arguments"] = json!(["test", spec, "--library", library, "--format", "json"]);
            group["tools"] = own.map(tool).collect();
        }
        Kind::Experiment => {
            let cases = cases_of(snapshot, found, declaration)?;
            let spec = specification_of_experiment(snapshot, found)?;
            group["arguments"] = json!(["ab", spec, "--experiment", label, "--report", "{report}"]);
            group["cases"] = cases.display().to_string().into();
        }
        _ => return None,
    }
    Some(group)
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
