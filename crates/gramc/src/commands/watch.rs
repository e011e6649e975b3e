//! `gramc check --watch`, and `--watch` of other commands

use std::collections::{HashMap, HashSet};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use gramc_lint::Cache;
use gramc_project::files::PROJECT_FILE;
use gramc_project::{Texts, project_file, project_folder};
use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::check::Plan;
use crate::args::{Check, Display, Format, Inputs};
use crate::failure::{Failure, Outcome};
use crate::output::{count, say};
use crate::report;

/// How long nothing has to change before the files are checked: editors write in several steps.
const QUIET: Duration = Duration::from_millis(20);

/// After how long the files are checked though they go on changing.
const MAX_WAIT: Duration = Duration::from_millis(500);

type Events = Receiver<notify::Result<Event>>;

/// Checks, and checks again whenever a file changes, until the process is ended.
pub(super) fn run(args: &Check, display: Display) -> Outcome {
    refuse_streams(&args.inputs)?;
    // In data there would be no telling where one round ends and the next one begins.
    report::reserve_stdout(display, "and --watch says where a round ends; leave one of them out")?;
    let (sender, events) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(sender).map_err(|error| cannot_watch(&error))?;
    let mut watched = HashSet::new();
    // What changes while the files are read for the first time shall be seen.
    watch(&mut watcher, &mut watched, roots(&args.inputs))?;
    let recursive =
        roots(&args.inputs).into_iter().filter(|(_, mode)| *mode == RecursiveMode::Recursive);
    let inside: Vec<_> = recursive.map(|(folder, _)| real(&folder)).collect();
    let mut state = State::read(args)?;
    loop {
        // New files may lie in new folders.
        watch(&mut watcher, &mut watched, folders(&args.inputs, &state.texts))?;
        state.check(display)?;
        state = wait(args, state, &events, &inside)?;
    }
}

/// Runs a command, and runs it again whenever an input changes, until the process is ended.
pub(super) fn repeat(inputs: &Inputs, run: impl Fn() -> Outcome) -> Outcome {
    refuse_streams(inputs)?;
    let (sender, events) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(sender).map_err(|error| cannot_watch(&error))?;
    let mut watched = HashSet::new();
    loop {
        let folders = match Texts::load(&inputs.into()) {
            Ok(texts) => folders(inputs, &texts),
            Err(_) => roots(inputs),
        };
        watch(&mut watcher, &mut watched, folders)?;
        match run() {
            Err(Failure::Message(message) | Failure::InvalidInput(message)) => {
                say(format_args!("gramc: {message}"));
            }
            outcome => drop(outcome?),
        }
        say("waiting for changes");
        // Documents of other formats count if they are named.
        let named: Vec<_> = inputs.paths.iter().map(|path| real(path)).collect();
        while next_changes(&events, &named)?.is_empty() {}
    }
}

fn refuse_streams(inputs: &Inputs) -> Result<(), Failure> {
    let reads_stdin = inputs.paths.iter().any(|path| path.as_os_str() == "-");
    if reads_stdin || inputs.text.is_some() {
        return Err(Failure::new("--watch cannot be used with standard input or --text"));
    }
    Ok(())
}

/// The one path of a file or folder, though it may be gone.
fn real(path: &Path) -> PathBuf {
    let in_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let found = path.canonicalize().ok().or_else(in_folder);
    found.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

/// Watches folders that are not watched yet. One that is gone, and comes again, is another one.
fn watch(
    watcher: &mut RecommendedWatcher,
    watched: &mut HashSet<PathBuf>,
    folders: Vec<(PathBuf, RecursiveMode)>,
) -> Result<(), Failure> {
    watched.retain(|folder| folder.is_dir());
    for (folder, mode) in folders.into_iter().filter(|(folder, _)| folder.is_dir()) {
        if watched.insert(folder.clone()) {
            watcher.watch(&folder, mode).map_err(|error| cannot_watch(&error))?;
        }
    }
    Ok(())
}

/// The folders given as arguments, or the folder of the project, and their parents: they may be
/// removed and created again, and a parent may contain a project file.
fn roots(inputs: &Inputs) -> Vec<(PathBuf, RecursiveMode)> {
    let named = inputs.paths.iter().filter(|path| !path.is_file());
    let mut folders: Vec<PathBuf> = named.cloned().collect();
    if inputs.paths.is_empty() {
        folders.extend(project_folder());
    }
    let around = folders
        .iter()
        .filter_map(|folder| folder.canonicalize().ok()?.parent().map(Path::to_owned));
    let project = project_file(&inputs.paths);
    let project = project.and_then(|file| file.canonicalize().ok()?.parent().map(Path::to_owned));
    let around: Vec<_> = around.chain(project).collect();
    let folders = folders.into_iter().map(|folder| (folder, RecursiveMode::Recursive));
    folders.chain(around.into_iter().map(|folder| (folder, RecursiveMode::NonRecursive))).collect()
}

fn cannot_watch(error: &notify::Error) -> Failure {
    Failure::new(format!("cannot watch the files: {error}"))
}

/// The texts as they were last read, and what they are checked by.
struct State {
    plan: Plan,
    texts: Texts,
    /// The analyses of the last check.
    cache: Cache,
    /// For each file its text.
    known: HashMap<PathBuf, usize>,
    /// When something changed.
    since: Instant,
    /// How many files were read then.
    read: usize,
    /// Why nothing could be read then, where that is so.
    failure: Option<String>,
}

impl State {
    fn read(args: &Check) -> Result<Self, Failure> {
        let since = Instant::now();
        let plan = Plan::new(args)?;
        let texts = Texts::read(&(&args.inputs).into())?;
        let paths = (0..texts.all.len()).filter_map(|at| Some((texts.path(at)?, at)));
        let known = paths.filter_map(|(path, at)| Some((path.canonicalize().ok()?, at))).collect();
        let read = texts.all.len();
        Ok(Self { plan, texts, cache: Cache::default(), known, since, read, failure: None })
    }

    fn check(&mut self, display: Display) -> Result<(), Failure> {
        if io::stderr().is_terminal() && display.format == Format::Human {
            // A clean screen, with the cursor at its start.
            let _ = write!(io::stderr(), "\x1b[2J\x1b[H");
        }
        if let Some(message) = &self.failure {
            say(format_args!("gramc: {message}\nwaiting for changes"));
            return Ok(());
        }
        let found = self.texts.cached_diagnostics(&self.plan.settings, &mut self.cache);
        let took = self.since.elapsed();
        self.plan.show(display, &self.texts, &found)?;
        let (files, took) = (count(self.read, "file"), took.as_millis());
        say(format_args!("read {files} and checked all in {took} ms; waiting for changes"));
        Ok(())
    }
}

/// The folders in which files may change.
fn folders(inputs: &Inputs, texts: &Texts) -> Vec<(PathBuf, RecursiveMode)> {
    let mut folders = roots(inputs);
    let covered = |path: &Path, folders: &[(PathBuf, RecursiveMode)]| {
        folders.iter().any(|(folder, mode)| {
            *mode == RecursiveMode::Recursive
                && (path.starts_with(folder) || folder == Path::new("."))
        })
    };
    for path in (0..texts.all.len()).filter_map(|at| texts.path(at)) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if !covered(folder, &folders) {
            folders.push((folder.to_owned(), RecursiveMode::NonRecursive));
        }
    }
    folders
}

/// Waits until files change, and reads them. Outside of the folders `inside`, only changes of known
/// files and of files that affect the project count.
fn wait(
    args: &Check,
    mut state: State,
    events: &Events,
    inside: &[PathBuf],
) -> Result<State, Failure> {
    loop {
        let changed = next_changes(events, &[])?;
        let since = Instant::now();
        let mut again = Vec::new();
        for path in changed.iter().map(|path| real(path)) {
            let known = state.known.get(&path).copied();
            let ours = inside.iter().any(|root| path.starts_with(root) || root.starts_with(&path));
            match known {
                // A file that is known and still there is all that has to be read again, unless
                // nothing could be read the last time.
                Some(at) if path.is_file() && state.failure.is_none() => again.push(at),
                None if !ours && !affects_project(&path) => {}
                _ => return read_all(args, state, since),
            }
        }
        if again.is_empty() {
            continue;
        }
        again.sort_unstable();
        again.dedup();
        for at in &again {
            if !matches!(state.texts.reload(*at), Ok(true)) {
                return read_all(args, state, since);
            }
        }
        state.since = since;
        state.read = again.len();
        return Ok(state);
    }
}

/// Whether a file says which files there are, or how they are checked.
fn affects_project(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        [PROJECT_FILE, ".gitignore", ".ignore"].iter().any(|known| name == *known)
    })
}

/// Reads everything again. If the files cannot be read, the error is reported.
fn read_all(args: &Check, state: State, since: Instant) -> Result<State, Failure> {
    match State::read(args) {
        Ok(new) => Ok(State { since, ..new }),
        Err(Failure::Message(message)) => Ok(State { since, failure: Some(message), ..state }),
        Err(failure) => Err(failure),
    }
}

/// The paths of all gram files and `named` files that change until nothing changes for a while.
fn next_changes(events: &Events, named: &[PathBuf]) -> Result<HashSet<PathBuf>, Failure> {
    let mut changed = HashSet::new();
    let gone = || Failure::new("stopped watching the files");
    take(&mut changed, named, events.recv().map_err(|_| gone())?);
    let first = Instant::now();
    while !changed.is_empty() && first.elapsed() < MAX_WAIT {
        match events.recv_timeout(QUIET) {
            Ok(event) => take(&mut changed, named, event),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
    }
    Ok(changed)
}

fn take(changed: &mut HashSet<PathBuf>, named: &[PathBuf], event: notify::Result<Event>) {
    // What went wrong with one event is made good by the next.
    let Ok(event) = event else { return };
    if event.need_rescan() {
        // Some were lost. No text is known by this name, so that all are read.
        changed.insert(PathBuf::from(PROJECT_FILE));
        return;
    }
    let moved = match event.kind {
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => return,
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) => {
            true
        }
        _ => false,
    };
    let concerns = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        let gram = path.extension().is_some_and(|extension| extension == "gram");
        // A folder that came may hold files, and one that went may have held some.
        let folder = moved && (path.is_dir() || (path.extension().is_none() && !path.exists()));
        let is_gram = gram && !name.to_string_lossy().starts_with('.');
        is_gram || folder || affects_project(path) || named.contains(&real(path))
    };
    changed.extend(event.paths.into_iter().filter(concerns));
}
