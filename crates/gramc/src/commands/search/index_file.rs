//! The file of `--index`.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use gramc_project::files::{is_gram, walk};
use gramc_project::project_folder;
use gramc_search::{Index, IndexError};
use sha2::{Digest as _, Sha256};

use super::sources;
use crate::args::{Display, Search};
use crate::failure::Failure;
use crate::live;
use crate::output::say;

/// Begins the line of a file in a fingerprint.
const FILE: &str = "file ";

/// Loads the index from its file, or builds and writes it if what it was built from has changed.
pub(super) fn load_or_build(
    file: &Path,
    args: &Search,
    display: Display,
) -> Result<Index, Failure> {
    // A link stays one.
    let file = &file.canonicalize().unwrap_or_else(|_| file.to_owned());
    refuse_other_files(file, args)?;
    let listed = live::tools_of(&args.live.server())?.map(|tools| tools.to_string());
    let head = head(args, listed.as_deref())?;
    let found = load(file)?;
    if let (Some(index), Some(head)) = (found, &head)
        && is_fresh(&index, head, args)
    {
        return Ok(index);
    }
    // What changes from now on makes the index stale.
    let before = head.as_ref().map(|head| fingerprint(head, &[], args));
    let read = sources::read_with(args, listed.as_deref(), display)?;
    // Imported files are known only now.
    let after = head.as_ref().map(|head| fingerprint(head, &read.files, args));
    let fingerprint = if has_lines(after.as_deref(), before.as_deref()) { after } else { before };
    let index = Index::build(&read.sources, &fingerprint.clone().unwrap_or_default());
    if fingerprint.is_some() {
        write(file, index.as_bytes()).map_err(|error| Failure::path("write", file, &error))?;
    } else {
        say("note: an index of standard input or of a git revision is not kept: it cannot tell \
             whether they have changed");
    }
    Ok(index)
}

/// Refuses what an index must not replace: what is searched, and what is no regular file.
fn refuse_other_files(file: &Path, args: &Search) -> Result<(), Failure> {
    let shown = file.display();
    if fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(Failure::new(format!("{shown} is not a regular file; choose another file")));
    }
    let is_it = |spec: &PathBuf| spec.canonicalize().is_ok_and(|spec| spec == file);
    if args.specs.iter().any(is_it) {
        return Err(Failure::new(format!(
            "{shown} is searched; choose another file for the index"
        )));
    }
    Ok(())
}

/// The index in a file. `None` if there is none, or one that has to be built again.
fn load(file: &Path) -> Result<Option<Index>, Failure> {
    let bytes = match fs::read(file) {
        Ok(bytes) if bytes.is_empty() => return Ok(None),
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::path("read", file, &error)),
    };
    match Index::from_bytes(bytes) {
        Ok(index) => Ok(Some(index)),
        Err(IndexError::NotAnIndex) => Err(Failure::new(format!(
            "{} is not an index of gramc; choose another file",
            file.display()
        ))),
        Err(_) => Ok(None),
    }
}

/// The first lines of a fingerprint: what is searched. `None` if it cannot be told whether that has
/// changed.
fn head(args: &Search, listed: Option<&str>) -> Result<Option<String>, Failure> {
    let mut head = String::new();
    for spec in folders_and_files(args, listed)? {
        let Ok(path) = spec.canonicalize() else { return Ok(None) };
        // The names of files in the index are relative to the current folder.
        let _ = writeln!(head, "spec {} {}", spec.display(), path.display());
    }
    if let Some(listed) = listed {
        let hash = Sha256::digest(listed.as_bytes());
        let _ = write!(head, "server ");
        for byte in hash {
            let _ = write!(head, "{byte:02x}");
        }
        head.push('\n');
    }
    Ok(Some(head))
}

/// The paths that are searched.
fn folders_and_files(args: &Search, listed: Option<&str>) -> Result<Vec<PathBuf>, Failure> {
    if args.specs.is_empty() && listed.is_none() {
        return Ok(vec![project_folder()?]);
    }
    Ok(args.specs.clone())
}

fn is_fresh(index: &Index, head: &str, args: &Search) -> bool {
    let stored = index.fingerprint();
    let files = stored.lines().filter_map(|line| line.strip_prefix(FILE));
    // A path may hold spaces; the size and the time behind it do not.
    let files = files.filter_map(|line| line.rsplitn(3, ' ').nth(2));
    let files: Vec<PathBuf> = files.map(PathBuf::from).collect();
    fingerprint(head, &files, args) == stored
}

/// Whether a text has all lines of another one.
fn has_lines(text: Option<&str>, other: Option<&str>) -> bool {
    let lines: HashSet<&str> = text.into_iter().flat_map(str::lines).collect();
    other.into_iter().flat_map(str::lines).all(|line| lines.contains(line))
}

/// What is searched, and the sizes and times of all files of it.
fn fingerprint(head: &str, read: &[PathBuf], args: &Search) -> String {
    let mut files: BTreeSet<PathBuf> = read.iter().cloned().collect();
    let project = project_folder().ok().filter(|_| args.specs.is_empty());
    for spec in args.specs.iter().chain(&project) {
        if spec.is_dir() {
            files.extend(walk(spec, is_gram).0.into_iter().map(plain));
        } else {
            files.insert(spec.clone());
        }
    }
    let mut text = head.to_owned();
    for file in files {
        let (size, time) = stamp(&file);
        let _ = writeln!(text, "{FILE}{} {size} {time}", file.display());
    }
    text
}

/// A path without `./`, as the sources of a module are named.
fn plain(path: PathBuf) -> PathBuf {
    path.strip_prefix(".").map(Path::to_owned).unwrap_or(path)
}

/// The size of a file and the time of its last change, both 0 if it cannot be read.
fn stamp(file: &Path) -> (u64, u128) {
    let Ok(metadata) = fs::metadata(file) else { return (0, 0) };
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (metadata.len(), changed.map_or(0, |time| time.as_nanos()))
}

/// Writes a file so that readers see the old one or the new one.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = file.with_file_name(name);
    let written = fs::File::create(&temporary)
        .and_then(|mut out| out.write_all(bytes))
        .and_then(|()| fs::rename(&temporary, file));
    if written.is_err() {
        // No command reads what is left.
        let _ = fs::remove_file(&temporary);
    }
    written
}
