//! Files, folders and standard input to parsed texts.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gram_syntax::{Limits, Parse, SourceFile};

use crate::args::Inputs;
use crate::failure::Failure;

/// The name of the file that marks a project's root.
const PROJECT_FILE: &str = "gram.toml";

/// Where a text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    Stdin,
    File(PathBuf),
}

/// Reads and parses all inputs, in order, in parallel. They live as long as the process.
pub(crate) fn read(inputs: &Inputs) -> Result<&'static [Parse], Failure> {
    let origins = origins(inputs)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if origins.len() < 2 || threads < 2 {
        let texts = origins.iter().map(|origin| read_one(origin, &inputs.stdin_filename));
        return Ok(texts.collect::<Result<Vec<_>, _>>()?.leak());
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, origin)) = take(&origins, &next) {
            done.push((at, read_one(origin, &inputs.stdin_filename)));
        }
        done
    };
    let mut texts = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(origins.len())).map(|_| scope.spawn(work)).collect();
        let mut texts = work();
        for worker in workers {
            // A worker that panicked took its texts with it; the count below then tells.
            texts.extend(worker.join().unwrap_or_default());
        }
        texts
    });
    if texts.len() != origins.len() {
        return Err(Failure::new("reading the files failed for a reason inside of gramc"));
    }
    texts.sort_by_key(|(at, _)| *at);
    let texts: Result<Vec<_>, _> = texts.into_iter().map(|(_, text)| text).collect();
    Ok(texts?.leak())
}

fn take<'o>(origins: &'o [Origin], next: &AtomicUsize) -> Option<(usize, &'o Origin)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    origins.get(at).map(|origin| (at, origin))
}

/// Reads and parses one file, or standard input for `-`.
pub(crate) fn read_path(path: &Path, stdin_filename: &str) -> Result<Parse, Failure> {
    read_one(&origin(path), stdin_filename)
}

fn origin(path: &Path) -> Origin {
    if path.as_os_str() == "-" { Origin::Stdin } else { Origin::File(path.to_owned()) }
}

/// The texts that the inputs name, each once.
fn origins(inputs: &Inputs) -> Result<Vec<Origin>, Failure> {
    let project;
    let paths = if inputs.paths.is_empty() {
        project = [project_folder()?];
        &project[..]
    } else {
        &inputs.paths[..]
    };
    let mut origins: Vec<Origin> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for path in paths {
        let origin = origin(path);
        if origin != Origin::Stdin && path.is_dir() {
            for file in walk(path)? {
                if known.insert(file.clone()) {
                    origins.push(Origin::File(file));
                }
            }
        } else if known.insert(path.clone()) {
            origins.push(origin);
        }
    }
    if origins.is_empty() {
        let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::new(format!("there is no .gram file in {}", names.join(", "))));
    }
    Ok(origins)
}

/// The nearest folder upwards that holds a project file; without one, the current folder.
fn project_folder() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::path("use", Path::new("the current folder"), &error))?;
    let project = here.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file());
    Ok(match project {
        Some(project) if project != here => project.to_owned(),
        _ => PathBuf::from("."),
    })
}

/// All `.gram` files below a folder that are not ignored, in the order of their paths.
fn walk(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let walk = ignore::WalkBuilder::new(folder).require_git(false).build();
    for entry in walk {
        let entry = entry
            .map_err(|error| Failure::new(format!("cannot walk {}: {error}", folder.display())))?;
        let file = entry.file_type().is_some_and(|kind| kind.is_file());
        if file && entry.path().extension().is_some_and(|extension| extension == "gram") {
            let path = entry.into_path();
            files.push(path.strip_prefix(".").map(Path::to_owned).unwrap_or(path));
        }
    }
    files.sort();
    Ok(files)
}

fn read_one(origin: &Origin, stdin_filename: &str) -> Result<Parse, Failure> {
    match origin {
        Origin::Stdin => parse_from(io::stdin().lock(), stdin_filename, 0)
            .map_err(|error| Failure::path("read", Path::new("standard input"), &error)),
        Origin::File(path) => {
            let failed = |error: io::Error| Failure::path("read", path, &error);
            let file = File::open(path).map_err(failed)?;
            let size = file.metadata().map_err(failed)?.len();
            let name = path.display().to_string();
            parse_from(file, &name, usize::try_from(size).unwrap_or(usize::MAX)).map_err(failed)
        }
    }
}

/// Reads at most as much as the limits allow, and parses it.
fn parse_from(mut input: impl Read, name: &str, size: usize) -> io::Result<Parse> {
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
