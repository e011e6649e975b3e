//! `gramc check --watch`

use std::collections::{HashMap, HashSet};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecursiveMode, Watcher as _};

use super::check::{Plan, say};
use crate::args::{Check, Display, Format};
use crate::failure::{Failure, Outcome};
use crate::input::{self, Texts};
use crate::project::PROJECT_FILE;

/// How long nothing has to change before the files are checked: editors write in several steps.
const QUIET: Duration = Duration::from_millis(20);

/// After how long the files are checked though they go on changing.
const LONGEST: Duration = Duration::from_millis(500);

type Events = Receiver<notify::Result<Event>>;

/// Checks, and checks again whenever a file changes, until the process is ended.
pub(super) fn run(args: &Check, display: Display) -> Outcome {
    if args.inputs.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("--watch is about files; standard input does not change"));
    }
    let (sender, events) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(sender).map_err(|error| failed(&error))?;
    let mut watched = HashSet::new();
    let mut state = State::read(args)?;
    loop {
        // New files may lie in new folders.
        for (folder, mode) in state.folders(args) {
            if watched.insert(folder.clone()) {
                watcher.watch(&folder, mode).map_err(|error| failed(&error))?;
            }
        }
        state.check(display)?;
        state = wait(args, state, &events)?;
    }
}

fn failed(error: &notify::Error) -> Failure {
    Failure::new(format!("cannot watch the files: {error}"))
}

/// The texts as they were last read, and what they are checked by.
struct State {
    plan: Plan,
    texts: Texts,
    /// For each file its text.
    known: HashMap<PathBuf, usize>,
    /// When something changed.
    since: Instant,
    /// How many files were read then.
    read: usize,
}

impl State {
    fn read(args: &Check) -> Result<Self, Failure> {
        let since = Instant::now();
        let plan = Plan::new(args)?;
        let texts = input::read(&args.inputs)?;
        let paths = (0..texts.all.len()).filter_map(|at| Some((texts.path(at)?, at)));
        let known = paths.filter_map(|(path, at)| Some((path.canonicalize().ok()?, at))).collect();
        let read = texts.all.len();
        Ok(Self { plan, texts, known, since, read })
    }

    fn check(&self, display: Display) -> Result<(), Failure> {
        if io::stderr().is_terminal() && display.format == Format::Human {
            // A clean screen, with the cursor at its start.
            let _ = write!(io::stderr(), "\x1b[2J\x1b[H");
        }
        let checked = self.texts.lint(&self.plan.settings);
        let took = self.since.elapsed();
        self.plan.show(display, &self.texts, &checked)?;
        if !display.format.is_data() {
            let s = if self.read == 1 { "" } else { "s" };
            say(&format!(
                "read {} file{s} and checked all in {} ms; waiting for changes",
                self.read,
                took.as_millis()
            ));
        }
        Ok(())
    }

    /// The folders in which files may change.
    fn folders(&self, args: &Check) -> Vec<(PathBuf, RecursiveMode)> {
        let mut folders = Vec::new();
        let named = args.inputs.paths.iter().filter(|path| path.is_dir());
        let mut roots: Vec<PathBuf> = named.cloned().collect();
        if args.inputs.paths.is_empty() {
            roots.extend(crate::project::project_folder());
        }
        folders.extend(roots.into_iter().map(|root| (root, RecursiveMode::Recursive)));
        let covered = |path: &Path, folders: &[(PathBuf, RecursiveMode)]| {
            folders.iter().any(|(folder, _)| path.starts_with(folder) || folder == Path::new("."))
        };
        for path in (0..self.texts.all.len()).filter_map(|at| self.texts.path(at)) {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            if !covered(folder, &folders) {
                folders.push((folder.to_owned(), RecursiveMode::NonRecursive));
            }
        }
        folders
    }
}

/// Waits until something changes, and reads that.
fn wait(args: &Check, mut state: State, events: &Events) -> Result<State, Failure> {
    loop {
        let changed = match next_changes(events)? {
            changed if changed.is_empty() => continue,
            changed => changed,
        };
        let since = Instant::now();
        let mut again = Vec::new();
        for path in &changed {
            // A file that is known and still there is all that has to be read again.
            let known = path.canonicalize().ok().and_then(|path| state.known.get(&path).copied());
            match known {
                Some(at) => again.push(at),
                None => return read_all(args, state, since),
            }
        }
        again.sort_unstable();
        again.dedup();
        for at in &again {
            if !matches!(state.texts.read_again(*at), Ok(true)) {
                return read_all(args, state, since);
            }
        }
        state.since = since;
        state.read = again.len();
        return Ok(state);
    }
}

/// Reads everything anew. While there is nothing that could be read, the state stays.
fn read_all(args: &Check, state: State, since: Instant) -> Result<State, Failure> {
    match State::read(args) {
        Ok(new) => Ok(State { since, ..new }),
        Err(Failure::Message(message)) => {
            say(&format!("gramc: {message}"));
            Ok(State { since, read: 0, ..state })
        }
        Err(failure) => Err(failure),
    }
}

/// The paths of all files of gram that change until nothing changes for a while.
fn next_changes(events: &Events) -> Result<HashSet<PathBuf>, Failure> {
    let mut changed = HashSet::new();
    let gone = || Failure::new("cannot watch the files any longer");
    take(&mut changed, events.recv().map_err(|_| gone())?);
    let first = Instant::now();
    while !changed.is_empty() && first.elapsed() < LONGEST {
        match events.recv_timeout(QUIET) {
            Ok(event) => take(&mut changed, event),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    }
    Ok(changed)
}

fn take(changed: &mut HashSet<PathBuf>, event: notify::Result<Event>) {
    // What went wrong with one event is made good by the next.
    let Ok(event) = event else { return };
    let content = match event.kind {
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => return,
        _ => event.paths,
    };
    let concerns = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        let gram = path.extension().is_some_and(|extension| extension == "gram");
        (gram && !name.to_string_lossy().starts_with('.'))
            || name == PROJECT_FILE
            || name == ".gitignore"
    };
    changed.extend(content.into_iter().filter(concerns));
}
