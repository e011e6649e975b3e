//! The projects that files belong to.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use gramc_syntax::Diagnostic;
use parking_lot::Mutex;

use crate::files::{self, PROJECT_FILE, project_root};
use crate::{FileError, Inputs, Project};

/// The settings and diagnostics of a project file.
#[derive(Debug, Clone, Default)]
pub struct ProjectSettings {
    /// The settings.
    pub project: Project,
    /// The diagnostics.
    pub found: Vec<Diagnostic>,
}

impl ProjectSettings {
    /// Reads the project file of the first input.
    pub fn read(inputs: &Inputs) -> Result<Self, FileError> {
        Self::read_file(project_file(&inputs.paths).as_deref())
    }

    fn read_file(path: Option<&Path>) -> Result<Self, FileError> {
        let Some(path) = path else { return Ok(Self::default()) };
        let (project, found) = files::read_project(path, &path.display().to_string())?;
        Ok(Self { project, found })
    }
}

/// The projects of files, each read once.
#[derive(Debug, Default)]
pub struct Projects(Mutex<KnownProjects>);

#[derive(Debug, Default)]
struct KnownProjects {
    /// The project file of each folder.
    folders: HashMap<PathBuf, Option<PathBuf>>,
    files: BTreeMap<Option<PathBuf>, ProjectSettings>,
}

impl Projects {
    /// Reads the settings of a file's project; without a file, those of the current folder.
    pub fn settings_of(&self, path: Option<&Path>) -> Result<Project, FileError> {
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
        let mut known = self.0.lock();
        let KnownProjects { folders, files } = &mut *known;
        if !folders.contains_key(folder) {
            let paths: Vec<_> = path.map(Path::to_owned).into_iter().collect();
            folders.insert(folder.to_owned(), project_file(&paths));
        }
        let file = folders.get(folder).cloned().flatten();
        if let Some(settings) = files.get(&file) {
            return Ok(settings.project.clone());
        }
        let settings = ProjectSettings::read_file(file.as_deref())?;
        Ok(files.entry(file).or_insert(settings).project.clone())
    }

    /// The diagnostics of all project files.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.0.into_inner().files.into_values().flat_map(|settings| settings.found).collect()
    }
}

/// Finds the project file of the first path, or of the current folder.
pub fn project_file(paths: &[PathBuf]) -> Option<PathBuf> {
    let first = paths.first().filter(|path| path.as_os_str() != "-");
    let Some(first) = first else {
        let file = project_folder().ok()?.join(PROJECT_FILE);
        let file = file.strip_prefix(".").map(Path::to_owned).unwrap_or(file);
        return file.is_file().then_some(file);
    };
    let folder = if first.is_dir() { Some(first.as_path()) } else { first.parent() };
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(display_path(&project_root(&folder.canonicalize().ok()?)?.join(PROJECT_FILE)))
}

/// The canonical path of the current folder.
fn current_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()?.canonicalize().ok()
}

/// A path for messages, relative to the current folder if it is below it.
fn display_path(path: &Path) -> PathBuf {
    let below = current_folder().and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok());
    below.unwrap_or_else(|| path.to_owned())
}

/// The nearest ancestor of the current folder with a project file; without one, the current folder.
pub fn project_folder() -> Result<PathBuf, FileError> {
    let here = std::env::current_dir()
        .map_err(|error| FileError::Io("use", "the current folder".to_owned(), error))?;
    Ok(match project_root(&here) {
        Some(project) if project != here => project.to_owned(),
        _ => PathBuf::from("."),
    })
}

/// The root of a folder's project: the nearest ancestor with a project file, else the current folder
/// if it contains the folder, else the folder itself.
pub(crate) fn project_of(folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = folder.canonicalize().ok()?;
    if let Some(marked) = project_root(&folder) {
        return Some(marked.to_owned());
    }
    Some(current_folder().filter(|here| folder.starts_with(here)).unwrap_or(folder))
}
