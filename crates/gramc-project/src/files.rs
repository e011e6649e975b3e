//! Finds the root and the files of a project and reads them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gramc_syntax::{Diagnostic, Limits, Parse, SourceFile};

use crate::{FileError, Project};

/// The name of the file that marks a project's root.
pub const PROJECT_FILE: &str = "gram.toml";

/// Maximum size of a project file in bytes.
const MAX_PROJECT_SIZE: u64 = 1 << 20;

/// The nearest ancestor of a folder, or the folder itself, that contains a project file.
pub fn project_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file())
}

/// Reads the settings and diagnostics of a project file. Diagnostics show it as `name`.
pub fn read_project(path: &Path, name: &str) -> Result<(Project, Vec<Diagnostic>), FileError> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_PROJECT_SIZE + 1).read_to_end(&mut text))
        .map_err(|error| FileError::read(name, error))?;
    if text.len() as u64 > MAX_PROJECT_SIZE {
        return Err(FileError::TooLarge(name.to_owned(), MAX_PROJECT_SIZE));
    }
    let text = decode(name, text)?;
    Ok(Project::read(&Arc::new(SourceFile::new(name, text))))
}

/// Reads a file, or standard input for `-`, of at most `max` bytes.
pub fn read_bytes(path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
    let name = || path.display().to_string();
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().take(max + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(max + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| FileError::read(name(), error))?;
    if bytes.len() as u64 > max {
        return Err(FileError::TooLarge(name(), max));
    }
    Ok(bytes)
}

/// Decodes UTF-8.
pub fn decode(name: &str, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes)
        .map_err(|error| FileError::Encoding(name.to_owned(), error.utf8_error().valid_up_to()))
}

/// An error of the operating system without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

/// Lists the files below a folder that Git does not ignore and that `filter` accepts, sorted by path,
/// with the errors of the walk.
pub fn walk(folder: &Path, filter: impl Fn(&Path) -> bool) -> (Vec<PathBuf>, Vec<ignore::Error>) {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for entry in ignore::WalkBuilder::new(folder).require_git(false).build() {
        match entry {
            Ok(entry) => {
                let file = entry.file_type().is_some_and(|kind| kind.is_file());
                if file && filter(entry.path()) {
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

/// Whether a file has the extension of YAML.
pub fn is_yaml(path: &Path) -> bool {
    has_extension(path, &["yaml", "yml"])
}

/// Whether a file has one of these extensions, in any case.
pub(crate) fn has_extension(path: &Path, known: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|it| known.iter().any(|known| it.eq_ignore_ascii_case(known)))
}

/// Reads and parses a file, up to the size limit.
pub fn read(path: &Path, name: &str) -> io::Result<Parse> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    parse_from(file, name, usize::try_from(size).unwrap_or(usize::MAX))
}

/// Reads and parses an input, up to the size limit. `size` is the expected number of bytes.
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
