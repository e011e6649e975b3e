//! The files, folders and texts that a command reads.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use gramc_syntax::{Parse, SourceFile, parse};
use rayon::prelude::*;

use crate::files::{self, is_gram};
use crate::projects::project_folder;
use crate::{FileError, LoadError};

/// The files, folders or text to read. Without paths, the project around the current folder.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// Files and folders, or `-` for standard input.
    pub paths: Vec<PathBuf>,
    /// A text to read instead of files.
    pub text: Option<String>,
    /// The name of standard input in diagnostics.
    pub stdin_name: String,
}

/// A text and the file that it comes from.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// The path; `None` for standard input and for a text of the arguments.
    pub path: Option<PathBuf>,
    /// The text.
    pub text: Parse,
}

/// The number of files that a thread takes at once. Larger tasks leave threads idle at the end.
const FILES_PER_TASK: usize = 16;

impl Inputs {
    /// Files and folders.
    pub fn of_paths(paths: Vec<PathBuf>) -> Self {
        Self { paths, text: None, stdin_name: "<stdin>".to_owned() }
    }

    /// Reads all files in parallel, and maps each as soon as it is parsed. The order is the order
    /// of the inputs. The path is `None` for standard input.
    pub fn map_files<R: Send>(
        &self,
        map: impl Fn(Option<&Path>, Result<Parse, FileError>) -> R + Sync + Send,
    ) -> Result<Vec<R>, LoadError> {
        let files = self.list_files()?;
        let map = |path: &Option<PathBuf>| map(path.as_deref(), self.read_file(path.as_deref()));
        Ok(if files.len() > 1 {
            files.par_iter().with_max_len(FILES_PER_TASK).map(map).collect()
        } else {
            files.iter().map(map).collect()
        })
    }

    /// Reads and parses all files.
    pub(crate) fn read_files(&self) -> Result<Vec<TextFile>, LoadError> {
        let files = self.map_files(|path, text| {
            text.map(|text| TextFile { path: path.map(Path::to_owned), text })
        })?;
        Ok(files.into_iter().collect::<Result<_, _>>()?)
    }

    /// Lists all files, each once. `None` is standard input, or the text of the arguments.
    fn list_files(&self) -> Result<Vec<Option<PathBuf>>, LoadError> {
        if self.text.is_some() {
            return Ok(vec![None]);
        }
        let project;
        let paths = if self.paths.is_empty() {
            project = [project_folder()?];
            &project[..]
        } else {
            &self.paths[..]
        };
        if let [folder] = paths
            && folder.is_dir()
        {
            // A walk meets each file once, so the paths need no comparison.
            let files = walk(folder)?;
            if !files.is_empty() {
                return Ok(files.into_iter().map(Some).collect());
            }
        }
        let mut found = Vec::new();
        let mut known = HashSet::new();
        for path in paths {
            let is_stdin = path.as_os_str() == "-";
            let files = if !is_stdin && path.is_dir() { walk(path)? } else { vec![path.clone()] };
            let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            for file in files.into_iter().filter(|file| known.insert(canonical(file))) {
                found.push((!is_stdin).then_some(file));
            }
        }
        if found.is_empty() {
            let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(LoadError::NoFiles(names.join(", ")));
        }
        Ok(found)
    }

    /// Reads a file or, without a path, the text of the arguments or standard input.
    fn read_file(&self, path: Option<&Path>) -> Result<Parse, FileError> {
        match (path, &self.text) {
            (Some(path), _) => read_file(path),
            (None, Some(text)) => Ok(parse(SourceFile::new("<text>", text.as_str()))),
            (None, None) => files::parse_from(io::stdin().lock(), &self.stdin_name, 0)
                .map_err(|error| FileError::read("standard input", error)),
        }
    }
}

pub(crate) fn read_file(path: &Path) -> Result<Parse, FileError> {
    let name = path.display().to_string();
    files::read(path, &name).map_err(|error| FileError::read(name, error))
}

/// All `.gram` files below a folder that are not ignored, in the order of their paths.
fn walk(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let (found, errors) = files::walk(folder, is_gram);
    if let Some(error) = errors.into_iter().next() {
        return Err(LoadError::Walk(folder.to_owned(), error));
    }
    let shorten = |path: PathBuf| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
    Ok(found.into_iter().map(shorten).collect())
}
