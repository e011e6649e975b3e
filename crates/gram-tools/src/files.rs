//! Specifications as files: where a project begins, which files it has, and what imports lead to.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gram_schema::project::Project;
use gram_syntax::{Diagnostic, Limits, Parse, SourceFile};

/// The name of the file that marks a project's root.
pub const PROJECT_FILE: &str = "gram.toml";

/// The most bytes of a project file.
const MAX_PROJECT_SIZE: u64 = 1 << 20;

/// The nearest folder upwards that holds a project file.
pub fn project_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file())
}

/// What a project file says, and what is wrong in it. `name` is what findings call it.
///
/// # Errors
///
/// Why it cannot be read: `cannot read gram.toml: …`.
pub fn read_project(path: &Path, name: &str) -> Result<(Project, Vec<Diagnostic>), String> {
    let failed = |error: io::Error| format!("cannot read {name}: {}", plain(&error));
    let mut text = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_PROJECT_SIZE + 1).read_to_end(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_PROJECT_SIZE {
        return Err(format!("{name} has more than {MAX_PROJECT_SIZE} bytes"));
    }
    let text = String::from_utf8(text).map_err(|_| format!("{name} is no UTF-8"))?;
    Ok(Project::read(&Arc::new(SourceFile::new(name, text))))
}

/// An error of the operating system without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

/// All files below a folder that are not ignored, as git does, and whose name `wanted` likes, in
/// the order of their paths; with what could not be looked at.
pub fn walk(folder: &Path, wanted: impl Fn(&Path) -> bool) -> (Vec<PathBuf>, Vec<ignore::Error>) {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for entry in ignore::WalkBuilder::new(folder).require_git(false).build() {
        match entry {
            Ok(entry) => {
                let file = entry.file_type().is_some_and(|kind| kind.is_file());
                if file && wanted(entry.path()) {
                    files.push(entry.into_path());
                }
            }
            Err(error) => errors.push(error),
        }
    }
    // As paths are ordered, part by part, but without taking them apart at each comparison.
    files.sort_by_cached_key(|file| {
        let parts = file.as_os_str().as_encoded_bytes().split(|byte| *byte == b'/');
        parts.collect::<Vec<_>>().join(&0)
    });
    (files, errors)
}

/// Whether a file is one of gram, by its name.
pub fn is_gram(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gram")
}

/// Reads a file, at most as much of it as the limits allow, and parses it.
///
/// # Errors
///
/// The error of the operating system.
pub fn read(path: &Path, name: &str) -> io::Result<Parse> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    parse_from(file, name, usize::try_from(size).unwrap_or(usize::MAX))
}

/// Reads at most as much as the limits allow, and parses it. `size` says how much there likely is.
///
/// # Errors
///
/// The error of the operating system.
pub fn parse_from(mut input: impl Read, name: &str, size: usize) -> io::Result<Parse> {
    let limits = Limits::default();
    let most = limits.max_bytes as u64 + 1;
    let mut bytes = Vec::with_capacity(size.min(limits.max_bytes) + 1);
    input.by_ref().take(most).read_to_end(&mut bytes)?;
    if bytes.len() <= limits.max_bytes {
        return Ok(gram_syntax::parse_bytes(name, bytes, &limits));
    }
    bytes.truncate(200);
    let start = String::from_utf8_lossy(&bytes).into_owned();
    let size = size.max(limits.max_bytes + 1);
    let source = Arc::new(SourceFile::new(name, start));
    Ok(gram_syntax::too_large(&source, &format!("at least {size} bytes"), &limits))
}

/// A file that an import names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its one path.
    pub path: PathBuf,
    /// How messages name it.
    pub shown: PathBuf,
}

/// The file that an import names in a text of a folder, which messages call `shown`. It has to lie
/// inside the project, whose root `root` tells.
///
/// # Errors
///
/// The reason as a sentence.
pub fn import(
    folder: &Path,
    shown: &Path,
    import: &str,
    root: impl FnOnce() -> Option<PathBuf>,
) -> Result<Imported, String> {
    let shown = shown.join(import);
    let path = folder.join(import).canonicalize();
    let path = path.map_err(|_| format!("there is no file `{}`", shown.display()))?;
    if let Some(root) = root().filter(|root| !path.starts_with(root)) {
        return Err(format!("`{import}` lies outside of the project {}", root.display()));
    }
    if path.is_dir() {
        return Err(format!("`{import}` is a folder; an import names a file"));
    }
    Ok(Imported { path, shown })
}
