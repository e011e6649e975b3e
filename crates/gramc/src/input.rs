//! Files, folders and standard input to parsed texts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use gram_schema::lint::{self, Alone, Fixed, Settings};
use gram_schema::{Checked, Links};
use gram_syntax::{Diagnostic, Parse};
use gram_tools::files;

use crate::args::Inputs;
use crate::failure::Failure;
use crate::imports::Linker;
use crate::project::project_folder;

/// The bytes of a thread's stack: types nest, and who looks at them goes along.
const STACK: usize = 8 << 20;

/// Where a text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    Stdin,
    File(PathBuf),
}

/// Texts that belong together.
pub(crate) struct Texts {
    /// Those that were named, then those that they import.
    pub(crate) all: Vec<Parse>,
    /// How many of them were named.
    pub(crate) named: usize,
    /// What was found in those that others make no difference to, where somebody wanted findings.
    alone: Vec<Option<Alone>>,
    linker: Linker,
    links: Links,
}

impl Texts {
    /// Checks them together.
    pub(crate) fn check(&self) -> Checked {
        gram_schema::check_linked(&self.all, &self.links)
    }

    /// What is found in them, lints included, by the settings that they were read for.
    pub(crate) fn findings(&self, settings: &Settings) -> Vec<Diagnostic> {
        lint::findings(&self.all, &self.alone, &self.links, settings)
    }

    /// Applies safe fixes to those that were named, until there are none.
    pub(crate) fn fix(&mut self, settings: &Settings) -> Fixed {
        let linker = &mut self.linker;
        let mut all = settings.clone();
        all.max_findings = usize::MAX;
        let mut fixed = lint::fix(&mut self.all, self.named, |texts| {
            lint::check(texts, &linker.again(texts), &all)
        });
        // What is left is shown as ever.
        self.links = self.linker.again(&self.all);
        fixed.checked = lint::check(&self.all, &self.links, settings);
        fixed
    }

    /// The file that a text comes from; `None` for standard input.
    pub(crate) fn path(&self, at: usize) -> Option<&Path> {
        self.linker.path(at)
    }

    /// Reads a text's file again. Gives false, and changes nothing, where that takes reading all
    /// others again, too, because it imports other files than before.
    pub(crate) fn read_again(&mut self, at: usize, settings: &Settings) -> Result<bool, Failure> {
        let (Some(path), Some(old)) = (self.linker.path(at), self.all.get_mut(at)) else {
            return Ok(false);
        };
        let new = read_one(&Origin::File(path.to_owned()), "")?;
        let paths = |text: &Parse| gram_schema::imports(text).into_iter().map(|import| import.path);
        if !paths(old).eq(paths(&new)) {
            return Ok(false);
        }
        let mut read = |_: &Path| Err("this import is new".to_owned());
        if let Some(links) = self.links.of.get_mut(at) {
            *links = self.linker.link(at, &new, &mut read);
        }
        *old = new;
        if let Some(alone) = self.alone.get_mut(at) {
            *alone = look_alone(old, settings);
        }
        Ok(true)
    }
}

/// Reads and parses all inputs, in order, in parallel, and what they import. Where somebody wants
/// findings by these `settings`, looks at each text while it is at hand.
pub(crate) fn read(inputs: &Inputs, settings: Option<&Settings>) -> Result<Texts, Failure> {
    let origins = origins(inputs)?;
    let read = for_all(&origins, |origin| {
        let mut text = read_one(origin, &inputs.stdin_filename)?;
        let alone = settings.and_then(|settings| look_alone(&mut text, settings));
        Ok((text, alone))
    })?;
    let read: Result<Vec<_>, Failure> = read.into_iter().collect();
    let (mut all, mut alone): (Vec<_>, Vec<_>) = read?.into_iter().unzip();
    let named = all.len();
    let paths = origins.into_iter().map(|origin| match origin {
        Origin::File(path) => Some(path),
        Origin::Stdin => None,
    });
    let mut linker = Linker::new(paths.collect());
    // Pieces of a large text say nothing of its header.
    let whole = |alone: &Option<Alone>| alone.as_ref().is_some_and(Alone::is_whole);
    let without_header = |at: usize| alone.get(at).is_some_and(whole);
    let links = linker.follow(&mut all, without_header, &mut |path| {
        read_one(&Origin::File(path.to_owned()), "").map_err(|failure| failure.to_string())
    });
    alone.resize_with(all.len(), || None);
    Ok(Texts { all, named, alone, linker, links })
}

/// Looks at a text alone. Where that says all of it, its tree is hardly wanted any more.
fn look_alone(text: &mut Parse, settings: &Settings) -> Option<Alone> {
    let alone = Alone::again(text, None, settings)?;
    if alone.is_whole() {
        text.free_tree();
    }
    Some(alone)
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
        // Where a thread cannot be had, this one does its share, too.
        let spawn =
            |_| std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        let workers: Vec<_> = (1..threads.min(origins.len())).filter_map(spawn).collect();
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
    if let [folder] = paths
        && folder.is_dir()
    {
        // A walk meets each file once, so that the paths need not be told apart.
        let files = walk(folder)?;
        if !files.is_empty() {
            return Ok(files.into_iter().map(Origin::File).collect());
        }
    }
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

/// All `.gram` files below a folder that are not ignored, in the order of their paths.
fn walk(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (found, errors) = files::walk(folder, files::is_gram);
    if let Some(error) = errors.first() {
        return Err(Failure::new(format!("cannot walk {}: {error}", folder.display())));
    }
    let plain = |path: PathBuf| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
    Ok(found.into_iter().map(plain).collect())
}

fn read_one(origin: &Origin, stdin_filename: &str) -> Result<Parse, Failure> {
    match origin {
        Origin::Stdin => files::parse_from(io::stdin().lock(), stdin_filename, 0)
            .map_err(|error| Failure::path("read", Path::new("standard input"), &error)),
        Origin::File(path) => files::read(path, &path.display().to_string())
            .map_err(|error| Failure::path("read", path, &error)),
    }
}
