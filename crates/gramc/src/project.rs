//! Projects: where one begins, and what its file says.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use gramc_project::Project;
use gramc_project::files::{self, PROJECT_FILE, project_root};
use gramc_syntax::Diagnostic;
use parking_lot::Mutex;

use crate::args::Inputs;
use crate::failure::Failure;

/// What a project says, and what is wrong in its file.
type Reading = (Project, Vec<Diagnostic>);

/// What the project says that the first input belongs to, and what is wrong in its file.
pub(crate) fn read(inputs: &Inputs) -> Result<Reading, Failure> {
    read_file(file_of(inputs))
}

/// The projects of single files, each read once.
#[derive(Default)]
pub(crate) struct Projects(Mutex<Known>);

/// What is known of projects.
#[derive(Default)]
struct Known {
    /// By folder, the project file that is about it.
    folders: HashMap<PathBuf, Option<PathBuf>>,
    /// By project file, what it says, or why it cannot be read.
    files: BTreeMap<Option<PathBuf>, Result<Reading, String>>,
}

impl Projects {
    /// What the project of a file says; without a file, of the current folder.
    pub(crate) fn of(&self, path: Option<&Path>) -> Result<Project, Failure> {
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
        let mut known = self.0.lock();
        let Known { folders, files } = &mut *known;
        if !folders.contains_key(folder) {
            let paths = path.map(Path::to_owned).into_iter().collect();
            let file = file_of(&Inputs { paths, ..Inputs::default() });
            folders.insert(folder.to_owned(), file);
        }
        let file = folders.get(folder).cloned().flatten();
        let reading = files
            .entry(file.clone())
            .or_insert_with(|| read_file(file).map_err(|failure| failure.to_string()));
        match reading {
            Ok((project, _)) => Ok(project.clone()),
            Err(message) => Err(Failure::new(message.clone())),
        }
    }

    /// What is wrong in their files.
    pub(crate) fn mistakes(self) -> Vec<Diagnostic> {
        let known = self.0.into_inner();
        known.files.into_values().flatten().flat_map(|(_, found)| found).collect()
    }
}

fn read_file(path: Option<PathBuf>) -> Result<Reading, Failure> {
    let Some(path) = path else { return Ok((Project::default(), Vec::new())) };
    files::read_project(&path, &path.display().to_string()).map_err(Failure::new)
}

/// The project file of the first input, or of the current folder.
pub(crate) fn file_of(inputs: &Inputs) -> Option<PathBuf> {
    let first = inputs.paths.first().filter(|path| path.as_os_str() != "-");
    let Some(first) = first else {
        let file = project_folder().ok()?.join(PROJECT_FILE);
        let file = file.strip_prefix(".").map(Path::to_owned).unwrap_or(file);
        return file.is_file().then_some(file);
    };
    let folder = if first.is_dir() { Some(first.as_path()) } else { first.parent() };
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(display_path(&project_root(&folder.canonicalize().ok()?)?.join(PROJECT_FILE)))
}

/// The current folder, by its one path.
fn current_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()?.canonicalize().ok()
}

/// A path as messages name it: from the current folder, where it lies below.
fn display_path(path: &Path) -> PathBuf {
    let below = current_folder().and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok());
    below.unwrap_or_else(|| path.to_owned())
}

/// The nearest folder upwards that holds a project file; without one, the current folder.
pub(crate) fn project_folder() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::path("use", Path::new("the current folder"), &error))?;
    Ok(match project_root(&here) {
        Some(project) if project != here => project.to_owned(),
        _ => PathBuf::from("."),
    })
}

/// The root of the project that a folder belongs to: where the nearest project file is, else the
/// current folder if that holds it, else the folder itself.
pub(crate) fn project_of(folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = folder.canonicalize().ok()?;
    if let Some(marked) = project_root(&folder) {
        return Some(marked.to_owned());
    }
    Some(current_folder().filter(|here| folder.starts_with(here)).unwrap_or(folder))
}
