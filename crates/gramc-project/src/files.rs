//! Finds the root and the files of a project and reads them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc_syntax::{Diagnostic, Limits, Parse, SourceFile};

use crate::Project;

/// The name of the file that marks a project's root.
pub const PROJECT_FILE: &str = "gram.toml";

/// Maximum size of a project file in bytes.
const MAX_PROJECT_SIZE: u64 = 1 << 20;

/// The nearest ancestor of a folder, or the folder itself, that contains a project file.
pub fn project_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file())
}

/// Reads the settings and diagnostics of a project file. Diagnostics show it as `name`.
///
/// # Errors
///
/// The file cannot be read: `cannot read gram.toml: …`.
pub fn read_project(path: &Path, name: &str) -> Result<(Project, Vec<Diagnostic>), String> {
    let failed = |error: io::Error| format!("cannot read {name}: {}", plain(&error));
    let mut text = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_PROJECT_SIZE + 1).read_to_end(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_PROJECT_SIZE {
        return Err(format!("{name} is larger than {MAX_PROJECT_SIZE} bytes"));
    }
    let text = String::from_utf8(text).map_err(|_| format!("{name} is not valid UTF-8"))?;
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

/// All files below a folder that are not ignored by Git and that `wanted` accepts, sorted by path,
/// with the errors of the walk.
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
    // The order of `Path`, component by component, without splitting at each comparison.
    files.sort_by_cached_key(|file| {
        let parts = file.as_os_str().as_encoded_bytes().split(|byte| *byte == b'/');
        parts.collect::<Vec<_>>().join(&0)
    });
    (files, errors)
}

/// Whether a file is a gram file, by its name.
pub fn is_gram(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gram")
}

/// Reads and parses a file, up to the size limit.
///
/// # Errors
///
/// The error of the operating system.
pub fn read(path: &Path, name: &str) -> io::Result<Parse> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    parse_from(file, name, usize::try_from(size).unwrap_or(usize::MAX))
}

/// Reads and parses an input, up to the size limit. `size` is the expected number of bytes.
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
        return Ok(gramc_syntax::parse_bytes(name, bytes, &limits));
    }
    bytes.truncate(200);
    let start = String::from_utf8_lossy(&bytes).into_owned();
    let size = size.max(limits.max_bytes + 1);
    let source = Arc::new(SourceFile::new(name, start));
    Ok(gramc_syntax::too_large(&source, &format!("at least {size} bytes"), &limits))
}
