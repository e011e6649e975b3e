//! The file that stores a conversation.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use gramc_agent::SavedConversation;

use crate::failure::Failure;
use crate::save;

/// A file that stores a conversation. Other runs cannot use it at the same time.
pub(super) struct ConversationFile {
    path: PathBuf,
    /// The file at `path`, which is locked as long as it is open.
    file: File,
}

impl ConversationFile {
    /// Opens and locks a file, and creates it if it does not exist.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        loop {
            // Better now than when there is something to lose.
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            let file = options.open(path).map_err(|error| Failure::path("write", path, &error))?;
            lock(&file).map_err(|error| Failure::path("write", path, &error))?;
            // Another run may have replaced the file before this one locked it.
            if is_at(&file, path).map_err(|error| Failure::path("read", path, &error))? {
                return Ok(Self { path: path.to_owned(), file });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The conversation in the file, if it is not empty.
    pub(super) fn read(&mut self, agent: &str) -> Result<Option<SavedConversation>, Failure> {
        let mut text = String::new();
        self.file
            .read_to_string(&mut text)
            .map_err(|error| Failure::path("read", &self.path, &error))?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        let shown = self.path.display();
        let saved: SavedConversation = serde_json::from_str(&text)
            .map_err(|error| Failure::new(format!("{shown} is not a conversation: {error}")))?;
        if saved.agent != agent {
            return Err(Failure::new(format!(
                "{shown} is a conversation with the agent `{}`, not with `{agent}`",
                saved.agent
            )));
        }
        Ok(Some(saved))
    }

    /// Replaces the conversation in the file.
    pub(super) fn keep(&mut self, saved: &SavedConversation) -> Result<(), Failure> {
        // Messages serialize as objects with keys that are strings.
        let text = serde_json::to_string_pretty(saved).unwrap_or_default();
        self.file = save::replace_with(&self.path, &(text + "\n"), lock)?;
        Ok(())
    }
}

/// Locks a file. A file system without locks is used without.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another run of gramc uses it")),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Whether a path still leads to an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(is_same(&file.metadata()?, &found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Without the identity of files, a file that is replaced right now is not noticed.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
