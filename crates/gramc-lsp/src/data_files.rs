//! Diagnostics of open files of cases, which experiments of the project name, and of calls.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc_check::names::{Declaration, Found, Kind};

use crate::checked_cases::DataFile;
use crate::lookup::entry;
use crate::snapshot::Snapshot;
use crate::uri::real;

/// The open files of cases and calls with their diagnostics.
pub(crate) fn data_files(snapshot: &Snapshot) -> &[DataFile] {
    snapshot.data_files.get_or_init(|| check_open_files(snapshot))
}

fn check_open_files(snapshot: &Snapshot) -> Vec<DataFile> {
    if snapshot.project.open_data.is_empty() {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for (experiment, path) in named_cases(snapshot) {
        let Some(file) = snapshot.project.open_data.get(&path) else { continue };
        // A file that several experiments name is checked for the first one.
        if seen.insert(path) {
            let diagnostics = check::diagnostics(snapshot, file, &experiment);
            found.push(DataFile { file: Arc::clone(file), found: diagnostics });
        }
    }
    for (_, file) in snapshot.project.open_data.iter().filter(|(path, _)| !seen.contains(*path)) {
        if let Some(diagnostics) = check::calls(snapshot, file) {
            found.push(DataFile { file: Arc::clone(file), found: diagnostics });
        }
    }
    found
}

/// The experiments of the project and the canonical paths of their cases.
fn named_cases(snapshot: &Snapshot) -> Vec<(String, PathBuf)> {
    let all = snapshot.names().all().filter(|(_, one)| one.kind == Kind::Experiment);
    let named = all.filter_map(|(found, declaration)| {
        Some((declaration.name.to_string(), cases_of(snapshot, found, declaration)?))
    });
    named.collect()
}

/// The canonical path of the cases that an experiment names.
pub(crate) fn cases_of(
    snapshot: &Snapshot,
    found: Found,
    experiment: &Declaration,
) -> Option<PathBuf> {
    let file = snapshot.text(found.file)?;
    let node = file.parse().tree().node(experiment.node);
    let cases = entry(node, "cases")?.content();
    let folder = file.path.as_deref().and_then(Path::parent)?;
    Some(real(&folder.join(&*cases)))
}

#[cfg(not(feature = "agents"))]
mod check {
    use std::sync::Arc;

    use gramc_syntax::Diagnostic;

    use crate::file::File;
    use crate::snapshot::Snapshot;

    pub(super) fn diagnostics(_: &Snapshot, _: &Arc<File>, _: &str) -> Vec<Diagnostic> {
        Vec::new()
    }

    pub(super) fn calls(_: &Snapshot, _: &Arc<File>) -> Option<Vec<Diagnostic>> {
        None
    }
}

#[cfg(feature = "agents")]
mod check;
