//! The errors of reading a project.

use std::fmt::{self, Display, Formatter};
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
    /// The operating system failed.
    #[error("cannot {action} {name}: {}", plain(error))]
    Io {
        /// The verb in the message.
        action: &'static str,
        /// The name of the file or folder.
        name: String,
        /// The error.
        error: io::Error,
    },
    /// The file is too large.
    #[error("{name} is larger than {}", Size(*max))]
    TooLarge {
        /// The name of the file.
        name: String,
        /// The maximum number of bytes.
        max: u64,
    },
    /// The file is not UTF-8.
    #[error("{name} is not valid UTF-8 at byte {offset}")]
    Encoding {
        /// The name of the file.
        name: String,
        /// The offset of the first invalid byte.
        offset: usize,
    },
}

impl FileError {
    pub(crate) fn read(name: impl Into<String>, error: io::Error) -> Self {
        Self::Io { action: "read", name: name.into(), error }
    }

    pub(crate) fn current_folder(error: io::Error) -> Self {
        Self::Io { action: "use", name: "the current folder".to_owned(), error }
    }
}

/// A number of bytes in a message.
struct Size(u64);

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.0 >> 20)
    }
}

/// The inputs of a command cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A folder cannot be walked.
    #[error("cannot walk {}: {error}", folder.display())]
    Walk {
        /// The folder.
        folder: PathBuf,
        /// The first error.
        error: ignore::Error,
    },
    /// The folders contain no gram file.
    #[error("no .gram files in {0}")]
    NoFiles(String),
    /// A document is not a description of tools.
    #[error("{name}: {error}")]
    Document {
        /// The name of the document.
        name: String,
        /// The error.
        error: DocumentError,
    },
    /// A path is neither a file nor a file at a revision.
    #[error("there is no file `{path}`, and {error}")]
    NoSuchFile {
        /// The path.
        path: String,
        /// Why it is not a file at a revision.
        error: RevisionError,
    },
    /// A file at a revision cannot be read.
    #[error(transparent)]
    Revision(#[from] RevisionError),
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
    /// The file is not in the project.
    #[error("`{path}` is outside of the project {}", root.display())]
    Outside {
        /// The path.
        path: String,
        /// The root of the project.
        root: PathBuf,
    },
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
    #[error("there is no file `{path}` at the revision {revision}")]
    NotAtRevision {
        /// The path.
        path: String,
        /// The name of the revision.
        revision: String,
    },
    /// The file is a symbolic link at the revision.
    #[error("`{path}` is a symbolic link at the revision {revision}, and links are not followed")]
    Link {
        /// The path.
        path: String,
        /// The name of the revision.
        revision: String,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// A revision, or a file of one, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// The folder is not in a repository that git can read.
    #[error("git cannot read a repository here: {0}")]
    Repository(GitError),
    /// The revision does not exist.
    #[error("no git revision `{0}`")]
    NoSuchRevision(String),
    /// git cannot list the files.
    #[error("git cannot list the files of `{name}`: {error}")]
    List {
        /// The name of the revision.
        name: String,
        /// The error.
        error: GitError,
    },
    /// git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The revision has no such file.
    #[error("there is no file and no folder with .gram files {0}")]
    NoFiles(String),
    /// The file is a symbolic link.
    #[error("{0} is a symbolic link; name the file that it leads to")]
    Link(String),
    /// The file cannot be read.
    #[error("cannot read {name}: {error}")]
    Read {
        /// The name of the file.
        name: String,
        /// The error.
        error: GitError,
    },
}

/// git failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// git cannot be started.
    #[error("cannot start git: {0}")]
    Start(io::Error),
    /// The pipes of the process are missing.
    #[error("cannot read from git")]
    Pipes,
    /// git printed an error.
    #[error("{0}")]
    Failed(String),
    /// The object does not exist.
    #[error("git does not find it")]
    NoSuchObject,
    /// The object is too large.
    #[error("it is larger than {}", Size(*.0))]
    TooLarge(u64),
    /// The output of git ended too early.
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
    #[error("{path} declares several libraries ({}): choose one, such as {path}:{}", .names.join(", "), .names[0])]
    Several {
        /// The path of the file.
        path: String,
        /// The names of the libraries.
        names: Vec<String>,
    },
    /// The file declares no library of this name.
    #[error("{path} declares no library `{name}`; {help}")]
    Unknown {
        /// The path of the file.
        path: String,
        /// The name.
        name: String,
        /// A similar name, or all names.
        help: String,
    },
}
