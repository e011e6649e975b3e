//! The errors of reading a project.

use std::io;
use std::path::PathBuf;

use gramc_openapi::ApiError;
use gramc_schema::import::ImportError;
use gramc_syntax::Diagnostic;
use serde_json::Value;

use crate::diagnostic_json;
use crate::files::plain;

/// A file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system failed: the action, the name of the file or folder, and the error.
    #[error("cannot {0} {1}: {error}", error = plain(.2))]
    Io(&'static str, String, io::Error),
    /// The file has more than so many bytes.
    #[error("{0} is larger than {mebibytes} MiB", mebibytes = .1 >> 20)]
    TooLarge(String, u64),
    /// The file is not UTF-8.
    #[error("{0} is not valid UTF-8 at byte {1}")]
    Encoding(String, usize),
}

impl FileError {
    pub(crate) fn read(name: impl Into<String>, error: io::Error) -> Self {
        Self::Io("read", name.into(), error)
    }
}

/// The inputs of a command cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A folder cannot be walked.
    #[error("cannot walk {}: {}", .0.display(), .1)]
    Walk(PathBuf, ignore::Error),
    /// The folders contain no gram file.
    #[error("no .gram files in {0}")]
    NoFiles(String),
    /// A document, by its name, is not a description of tools.
    #[error("{0}: {1}")]
    Document(String, DocumentError),
    /// A path is neither a file nor a file at a revision.
    #[error("there is no file `{0}`, and {1}")]
    NoSuchFile(String, RevisionError),
    /// A file at a revision cannot be read.
    #[error(transparent)]
    Revision(#[from] RevisionError),
}

impl LoadError {
    /// An error of a document.
    pub fn document(name: &str, error: impl Into<DocumentError>) -> Self {
        Self::Document(name.to_owned(), error.into())
    }
}

/// A document is not a description of tools.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// A list of tools or a schema is invalid.
    #[error(transparent)]
    Tools(#[from] ImportError),
    /// A description of an API is invalid.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// A document in YAML is not a description of an API.
    #[error("not a description of an API (OpenAPI 3, Swagger 2.0, Google Discovery)")]
    NotAnApi,
}

/// An import does not lead to a file of the project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportPathError {
    /// The path is a URL.
    #[error("`{0}` is a URL, and imports are files of the project")]
    Url(String),
    /// The file does not exist.
    #[error("there is no file `{0}`")]
    NoSuchFile(String),
    /// The file is not below the root of the project.
    #[error("`{0}` is outside of the project {root}", root = .1.display())]
    Outside(String, PathBuf),
    /// The path is a folder.
    #[error("`{0}` is a folder; an import names a file")]
    Folder(String),
    /// The importing text is not a file.
    #[error("standard input cannot import files")]
    StandardInput,
    /// The importing document is not a file yet.
    #[error("an unsaved document has no folder to import from")]
    Unsaved,
    /// The import was added after the files were read.
    #[error("this import is new")]
    New,
    /// The file does not exist at the revision.
    #[error("there is no file `{0}` at the revision {1}")]
    NotAtRevision(String, String),
    /// The file is a symbolic link at the revision.
    #[error("`{0}` is a symbolic link at the revision {1}, and links are not followed")]
    Link(String, String),
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// A revision, or a file of one, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    #[error("git cannot read a repository here: {0}")]
    Repository(GitError),
    #[error("no git revision `{0}`")]
    NoSuchRevision(String),
    #[error("git cannot list the files of `{0}`: {1}")]
    List(String, GitError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("there is no file and no folder with .gram files {0}")]
    NoFiles(String),
    #[error("{0} is a symbolic link; name the file that it leads to")]
    Link(String),
    #[error("cannot read {0}: {1}")]
    Read(String, GitError),
}

/// git failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("cannot start git: {0}")]
    Start(io::Error),
    #[error("cannot read from git")]
    Pipes,
    /// git printed an error.
    #[error("{0}")]
    Failed(String),
    #[error("git does not find it")]
    NoSuchObject,
    #[error("it is larger than {} MiB", .0 >> 20)]
    TooLarge(u64),
    #[error("git ended early")]
    Ended,
    /// The pipes of the process failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A specification cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SpecificationError {
    /// The files cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The library does not exist.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
    /// The files have errors. These are all diagnostics, as `gramc check` reports them.
    #[error("the specification has {} diagnostics", .0.len())]
    Diagnostics(Vec<Diagnostic>),
}

impl SpecificationError {
    /// The diagnostics as `gramc check --format json` prints them, if there are any.
    pub fn diagnostics_json(&self) -> Option<Value> {
        match self {
            Self::Diagnostics(found) => Some(found.iter().map(diagnostic_json).collect()),
            _ => None,
        }
    }

    /// The kind of error of the operating system, if it is one.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Load(LoadError::File(FileError::Io(_, _, error))) => Some(error.kind()),
            Self::Load(LoadError::Walk(_, error)) => error.io_error().map(io::Error::kind),
            Self::Load(LoadError::NoSuchFile(..)) => Some(io::ErrorKind::NotFound),
            _ => None,
        }
    }
}

impl From<FileError> for SpecificationError {
    fn from(error: FileError) -> Self {
        Self::Load(error.into())
    }
}

/// A file does not declare the library.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The file declares no library.
    #[error("{0} declares no library")]
    None(String),
    /// The file declares several libraries, and none was chosen.
    #[error("{0} declares several libraries ({names}): choose one, such as {0}:{first}",
        names = .1.join(", "), first = .1[0])]
    Several(String, Vec<String>),
    /// The file declares no library of this name.
    #[error("{path} declares no library `{name}`; {help}")]
    #[allow(missing_docs, reason = "the message shows the fields")]
    Unknown { path: String, name: String, help: String },
}
