//! Replacing files without losing anything.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Replaces what a file holds. The new text is written to a file of its own beside it, which then
/// takes its place: whatever goes wrong, the old text or the new one is there whole.
///
/// A link stays a link: what it leads to is replaced. Permissions stay as they are.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::path("write", path, &error);
    let target = path.canonicalize().map_err(failed)?;
    let metadata = fs::metadata(&target).map_err(failed)?;
    if metadata.permissions().readonly() {
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        return Err(failed(error));
    }
    let beside = beside(&target);
    let written = || -> io::Result<()> {
        let mut file = fs::File::create_new(&beside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(metadata.permissions())?;
        file.sync_all()?;
        fs::rename(&beside, &target)
    };
    written().map_err(|error| {
        // What could not be written whole is of no use to anybody.
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

/// A name for the new text that no other file has.
fn beside(target: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    target.with_file_name(name)
}
