//! Files, folders and standard input to parsed texts.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gram_schema::{Checked, Link, Links};
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

/// Texts that belong together.
pub(crate) struct Texts {
    /// Those that were named, then those that they import. They live as long as the process.
    pub(crate) all: &'static [Parse],
    /// How many of them were named.
    pub(crate) named: usize,
    links: Links,
}

impl Texts {
    /// Checks them together.
    pub(crate) fn check(&self) -> Checked {
        gram_schema::check_linked(self.all, &self.links)
    }
}

/// Reads and parses all inputs, in order, in parallel, and what they import.
pub(crate) fn read(inputs: &Inputs) -> Result<Texts, Failure> {
    let origins = origins(inputs)?;
    let mut texts = read_all(&origins, inputs)?;
    let named = texts.len();
    let links = follow_imports(&origins, &mut texts);
    Ok(Texts { all: texts.leak(), named, links })
}

/// Reads what texts import, and what that imports, each file once.
fn follow_imports(origins: &[Origin], texts: &mut Vec<Parse>) -> Links {
    let mut links = Links::default();
    if texts.iter().all(|text| gram_schema::imports(text).is_empty()) {
        return links;
    }
    let mut paths: Vec<Option<PathBuf>> = origins
        .iter()
        .map(|origin| match origin {
            Origin::File(path) => Some(path.clone()),
            Origin::Stdin => std::env::current_dir().ok().map(|folder| folder.join("<stdin>")),
        })
        .collect();
    let mut known: HashMap<PathBuf, usize> = HashMap::new();
    for (at, path) in paths.iter().enumerate() {
        if let Some(path) = path.as_ref().and_then(|path| path.canonicalize().ok()) {
            known.entry(path).or_insert(at);
        }
    }
    let mut at = 0;
    while let Some(text) = texts.get(at) {
        let from = paths.get(at).cloned().flatten();
        let mut found = Vec::new();
        for import in gram_schema::imports(text) {
            let path = match &from {
                Some(from) => import_path(from, &import.path),
                None => Err("this text has no folder to import from".to_owned()),
            };
            let text = path.and_then(|(path, shown)| {
                if let Some(at) = known.get(&path) {
                    return Ok(*at);
                }
                let text = read_one(&Origin::File(shown.clone()), "");
                let text = text.map_err(|failure| failure.to_string())?;
                known.insert(path, texts.len());
                paths.push(Some(shown));
                texts.push(text);
                Ok(texts.len() - 1)
            });
            found.push(Link { span: import.span, text });
        }
        links.of.push(found);
        at += 1;
    }
    links
}

/// The file that an import names: its one path, and how messages name it. It has to lie inside
/// the project.
fn import_path(from: &Path, import: &str) -> Result<(PathBuf, PathBuf), String> {
    let folder = from.parent().unwrap_or(Path::new(""));
    let shown = folder.join(import);
    let path =
        shown.canonicalize().map_err(|_| format!("there is no file `{}`", shown.display()))?;
    let root = project_of(folder);
    if root.as_ref().is_some_and(|root| !path.starts_with(root)) {
        let root = root.unwrap_or_default();
        return Err(format!("`{import}` lies outside of the project {}", root.display()));
    }
    if path.is_dir() {
        return Err(format!("`{import}` is a folder; an import names a file"));
    }
    Ok((path, shown))
}

/// The root of the project that a folder belongs to: where the nearest project file is, else the
/// current folder if that holds it, else the folder itself.
fn project_of(folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = folder.canonicalize().ok()?;
    let marked = folder.ancestors().find(|folder| folder.join(PROJECT_FILE).is_file());
    if let Some(marked) = marked {
        return Some(marked.to_owned());
    }
    let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
    Some(here.filter(|here| folder.starts_with(here)).unwrap_or(folder))
}

fn read_all(origins: &[Origin], inputs: &Inputs) -> Result<Vec<Parse>, Failure> {
    let texts = for_all(origins, |origin| read_one(origin, &inputs.stdin_filename))?;
    texts.into_iter().collect()
}

/// What `work` makes of each file that the inputs name, in their order. It is given the path,
/// which standard input has none of, and the parsed text; files are read and worked on in
/// parallel, and each is forgotten then.
pub(crate) fn each<R: Send>(
    inputs: &Inputs,
    work: impl Fn(Option<&Path>, Result<Parse, Failure>) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    for_all(&origins(inputs)?, |origin| {
        let path = match origin {
            Origin::Stdin => None,
            Origin::File(path) => Some(path.as_path()),
        };
        work(path, read_one(origin, &inputs.stdin_filename))
    })
}

/// What `work` makes of each origin, in their order; many of them in parallel.
fn for_all<R: Send>(
    origins: &[Origin],
    work: impl Fn(&Origin) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if origins.len() < 2 || threads < 2 {
        return Ok(origins.iter().map(work).collect());
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, origin)) = take(origins, &next) {
            done.push((at, work(origin)));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(origins.len())).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for worker in workers {
            // A worker that panicked took its share with it; the count below then tells.
            done.extend(worker.join().unwrap_or_default());
        }
        done
    });
    if done.len() != origins.len() {
        return Err(Failure::new("reading the files failed for a reason inside of gramc"));
    }
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, done)| done).collect())
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
                if known.insert(one_path(&file)) {
                    origins.push(Origin::File(file));
                }
            }
        } else if known.insert(one_path(path)) {
            origins.push(origin);
        }
    }
    if origins.is_empty() {
        let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::new(format!("there is no .gram file in {}", names.join(", "))));
    }
    Ok(origins)
}

/// The same for all spellings of a path, where it leads to something.
fn one_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
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
