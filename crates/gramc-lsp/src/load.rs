//! Loading a project from disk.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc_project::files::{self, PROJECT_FILE};
use lsp_types::Uri;
use rayon::prelude::*;

use crate::file::{File, stamp};
use crate::snapshot::ProjectFile;
use crate::trace_stats::TraceStats;

/// Stack size of worker threads, for nested types.
pub(crate) const THREAD_STACK_SIZE: usize = 8 << 20;

#[derive(Debug)]
pub(crate) struct LoadRequest {
    pub(crate) root: PathBuf,
    /// The workspace folders: canonical path and the client's spelling.
    pub(crate) folders: Vec<(PathBuf, PathBuf)>,
    /// The files loaded before, by path. Unchanged files are reused.
    pub(crate) known: HashMap<PathBuf, Arc<File>>,
}

#[derive(Debug)]
pub(crate) struct LoadedProject {
    pub(crate) root: PathBuf,
    pub(crate) file: ProjectFile,
    /// The files, sorted by path.
    pub(crate) files: Vec<Arc<File>>,
    /// Folders of nested projects.
    pub(crate) nested: Vec<PathBuf>,
    pub(crate) trace_stats: TraceStats,
    /// The JSON Lines files.
    pub(crate) data_files: Vec<PathBuf>,
    /// The errors of files that could not be read.
    pub(crate) errors: Vec<String>,
}

/// The URI of a file in the client's spelling.
pub(crate) fn address(folders: &[(PathBuf, PathBuf)], path: &Path) -> Option<Uri> {
    let given =
        folders.iter().find_map(|(real, given)| Some(given.join(path.strip_prefix(real).ok()?)));
    crate::uri::of_path(given.as_deref().unwrap_or(path))
}

pub(crate) fn load(request: &LoadRequest) -> LoadedProject {
    let LoadRequest { root, folders, known } = request;
    let wanted = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        files::is_gram(path)
            || name == PROJECT_FILE
            || path.extension().is_some_and(|extension| extension == "jsonl")
    };
    let (all, errors) = files::walk(root, wanted);
    let mut errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let is_project = |path: &&PathBuf| path.file_name().is_some_and(|name| name == PROJECT_FILE);
    let nested = all.iter().filter(is_project).filter_map(|path| path.parent());
    let nested: HashSet<_> = nested.filter(|folder| *folder != root).map(Path::to_owned).collect();
    let inner = |path: &Path| {
        let above = path.ancestors().skip(1).take_while(|folder| *folder != root);
        above.into_iter().any(|folder| nested.contains(folder))
    };
    let own: Vec<_> = all.iter().filter(|path| !inner(path)).collect();
    let file = project_file(root, folders, None);
    let read = |path: &Path| {
        let before = known.get(path).filter(|known| known.stamp.is_some());
        if let Some(before) = before.filter(|known| known.stamp == stamp(path)) {
            return Some(Arc::new(before.with_unresolved_imports()));
        }
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let uri = address(folders, path)?;
        File::read(path, &name, uri).map(Arc::new)
    };
    let gram: Vec<_> = own.iter().filter(|path| files::is_gram(path)).copied().collect();
    let files: Vec<_> = gram.par_iter().map(|path| read(path)).collect();
    for (path, file) in gram.iter().zip(&files) {
        if file.is_none() {
            errors.push(format!("cannot read {}", path.display()));
        }
    }
    let data_files = own.iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    let data_files: Vec<_> = data_files.map(|path| (*path).clone()).collect();
    let trace_stats = TraceStats::read(data_files.iter().map(PathBuf::as_path));
    LoadedProject {
        root: root.clone(),
        file,
        files: files.into_iter().flatten().collect(),
        nested: nested.into_iter().collect(),
        trace_stats,
        data_files,
        errors,
    }
}

/// Reads the project file of a folder. An open document takes precedence over the file on disk.
pub(crate) fn project_file(
    root: &Path,
    folders: &[(PathBuf, PathBuf)],
    open: Option<&Arc<File>>,
) -> ProjectFile {
    let path = root.join(PROJECT_FILE);
    if let Some(file) = open {
        let (project, found) = gramc_project::Project::read(file.source());
        return ProjectFile { project, found, file: Some(Arc::clone(file)) };
    }
    if !path.is_file() {
        return ProjectFile::default();
    }
    let uri = address(folders, &path);
    let read = files::read_project(&path, PROJECT_FILE);
    let (Some(uri), Ok((project, found))) = (uri, read) else { return ProjectFile::default() };
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let source = gramc_syntax::SourceFile::new(PROJECT_FILE, text);
    let source = found.first().map_or_else(|| Arc::new(source), |found| Arc::clone(&found.source));
    let file = Some(Arc::new(File::plain(uri, path, source)));
    ProjectFile { project, found, file }
}
