//! Reading a project from the disk, on threads of its own.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gram_tools::files::{self, PROJECT_FILE};
use lsp_types::Uri;
use rayon::prelude::*;

use crate::evidence::Evidence;
use crate::file::{File, stamp};
use crate::snapshot::ProjectFile;

/// The bytes of a thread's stack: types nest, and who looks at them goes along.
pub(crate) const STACK: usize = 8 << 20;

/// What is to be read.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) root: PathBuf,
    /// The folders of the workspace: their one paths, and as the client writes them.
    pub(crate) folders: Vec<(PathBuf, PathBuf)>,
    /// What is known already, by path; what has not changed since is not read again.
    pub(crate) known: HashMap<PathBuf, Arc<File>>,
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) root: PathBuf,
    pub(crate) file: ProjectFile,
    /// The files in the order of their paths.
    pub(crate) files: Vec<Arc<File>>,
    /// Folders of other projects inside of this one.
    pub(crate) nested: Vec<PathBuf>,
    pub(crate) evidence: Evidence,
    /// What could not be looked at.
    pub(crate) errors: Vec<String>,
}

/// The address of a file, as the client writes it.
pub(crate) fn address(folders: &[(PathBuf, PathBuf)], path: &Path) -> Option<Uri> {
    let given =
        folders.iter().find_map(|(real, given)| Some(given.join(path.strip_prefix(real).ok()?)));
    crate::uri::of_path(given.as_deref().unwrap_or(path))
}

/// Reads a project.
pub(crate) fn load(order: &Order) -> Loaded {
    let Order { root, folders, known } = order;
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
            return Some(Arc::new(before.again()));
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
    let traces = own.iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    let evidence = Evidence::read(traces.map(|path| path.as_path()));
    Loaded {
        root: root.clone(),
        file,
        files: files.into_iter().flatten().collect(),
        nested: nested.into_iter().collect(),
        evidence,
        errors,
    }
}

/// What the project file of a folder says; an open one counts more than what is on the disk.
pub(crate) fn project_file(
    root: &Path,
    folders: &[(PathBuf, PathBuf)],
    open: Option<&Arc<File>>,
) -> ProjectFile {
    let path = root.join(PROJECT_FILE);
    if let Some(file) = open {
        let (project, found) = gram_schema::project::Project::read(file.source());
        return ProjectFile { project, found, file: Some(Arc::clone(file)) };
    }
    if !path.is_file() {
        return ProjectFile::default();
    }
    let uri = address(folders, &path);
    let read = files::read_project(&path, PROJECT_FILE);
    let (Some(uri), Ok((project, found))) = (uri, read) else { return ProjectFile::default() };
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let source = gram_syntax::SourceFile::new(PROJECT_FILE, text);
    let source = found.first().map_or_else(|| Arc::new(source), |found| Arc::clone(&found.source));
    let file = Some(Arc::new(File::plain(uri, path, source)));
    ProjectFile { project, found, file }
}
