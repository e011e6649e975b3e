//! Replacing a file's text so that nothing is lost, whatever happens meanwhile.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::Failure;

/// Replaces the text of an existing file atomically.
///
/// The new text is written to a temporary file in the same folder, which is then renamed: readers
/// see the old text or the new one, and a full disk or a crash leaves the old one. The file keeps
/// its permissions. If the path is a link, its target is replaced and the link stays.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    replace_with(path, text, |_| Ok(())).map(drop)
}

/// Does the same, and returns the new file, which `prepare` receives before it takes the place of
/// the existing one.
pub(crate) fn replace_with(
    path: &Path,
    text: &str,
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> Result<File, Failure> {
    replace_file(path, text, prepare).map_err(|error| Failure::path("write", path, &error))
}

fn replace_file(
    path: &Path,
    text: &str,
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<File> {
    let target = path.canonicalize()?;
    // Renaming asks for the folder's permission alone; a file that is read-only shall stay as it
    // is. This opens it without changing it.
    let metadata = OpenOptions::new().write(true).open(&target)?.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    // Root may write it all the same, and still hardly wants to.
    if metadata.permissions().readonly() {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    let (temporary, mut file) = create_temporary(&target)?;
    let done = fill(&mut file, text, &metadata)
        .and_then(|()| prepare(&file))
        .and_then(|()| fs::rename(&temporary, &target));
    if done.is_err() {
        // What cannot be removed does no harm: no command reads it.
        let _ = fs::remove_file(&temporary);
    }
    done.map(|()| file)
}

/// Creates an empty file with an unused name in the folder of `target`.
fn create_temporary(target: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // A file name may have 255 bytes, four to a character at most.
    let name: String = name.chars().take(40).collect();
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary =
            target.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Writes the text to the disk, for the same people as the file that it replaces.
fn fill(file: &mut File, text: &str, metadata: &Metadata) -> io::Result<()> {
    keep_owner(file, metadata);
    file.set_permissions(metadata.permissions())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives the file the owner of the one that it replaces, as far as the system lets us.
#[cfg(unix)]
fn keep_owner(file: &File, metadata: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let ours =
        file.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (metadata.uid(), metadata.gid()));
    if !ours {
        // Only root may give files away; for others the file becomes theirs.
        let _ = fchown(file, Some(metadata.uid()), Some(metadata.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gram");
        fs::write(&path, "before").unwrap();
        replace(&path, "after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gram");
        let failure = replace(&path, "text").unwrap_err().to_string();
        assert!(failure.contains("a.gram: no such file"), "{failure}");
        assert!(!path.exists());
    }

    #[test]
    #[cfg(unix)]
    fn links_stay_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.gram"), folder.path().join("link.gram"));
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        replace(&link, "after").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
