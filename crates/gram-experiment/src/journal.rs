//! What is written down while an experiment runs, so that it can go on where it was broken off.
//!
//! A folder holds two files. `experiment.json` says what the experiment is. `runs.jsonl` holds a
//! line for each finished run, which is written as soon as the run ends. A line that was broken off is
//! cut away when the folder is opened again.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::ExperimentError;
use crate::about::About;
use crate::record::Run;
use crate::tally::Tally;

const ABOUT: &str = "experiment.json";
const RUNS: &str = "runs.jsonl";

/// The most bytes of one run.
const LARGEST: u64 = 1 << 30;

/// Where a run stands in its file.
#[derive(Debug, Clone, Copy)]
struct Line {
    place: usize,
    start: u64,
    length: u64,
}

/// The journal of an experiment: a folder, or nothing where nobody wants it kept.
#[derive(Debug)]
pub struct Journal {
    folder: Option<Folder>,
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    runs: File,
    /// Up to where all lines are whole.
    end: u64,
    lines: Vec<Line>,
}

impl Journal {
    /// A journal that keeps nothing.
    pub fn none() -> Self {
        Self { folder: None }
    }

    /// Opens the journal of an experiment in a folder, which is made where there is none, and
    /// reads which runs are finished.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written, holds another experiment, or somebody else works in it.
    pub fn open(path: &Path, about: &About) -> Result<(Self, Tally), ExperimentError> {
        fs::create_dir_all(path).map_err(|error| cannot("make the folder", path, &error))?;
        let file = path.join(RUNS);
        let runs = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&file)
            .map_err(|error| cannot("write", &file, &error))?;
        match runs.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let shown = path.display();
                return Err(ExperimentError::new(format!(
                    "another gramc works in {shown}: let it end, or name another folder"
                )));
            }
            // Where files cannot be locked, nothing tells.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let known = read_about(path)?;
        let mut folder = Folder { path: path.to_owned(), runs, end: 0, lines: Vec::new() };
        if let Some(known) = &known {
            known.must_be(about, path)?;
        } else if folder.length()? > 0 {
            let shown = path.display();
            return Err(ExperimentError::new(format!(
                "{shown} holds {RUNS}, but no {ABOUT}, which says what they are of: name another \
                 folder"
            )));
        }
        if known.as_ref() != Some(about) {
            write_about(path, about)?;
        }
        let mut tally = Tally::new(about);
        folder.read(&mut tally)?;
        if folder.length()? > folder.end {
            let cut = folder.runs.set_len(folder.end);
            cut.map_err(|error| cannot("write", &file, &error))?;
        }
        Ok((Self { folder: Some(folder) }, tally))
    }

    /// Opens the journal of a folder only to read it, with what it is about. A run that is being
    /// written is left out.
    ///
    /// # Errors
    ///
    /// When the folder holds no experiment, or cannot be read.
    pub fn read(path: &Path) -> Result<(Self, About, Tally), ExperimentError> {
        let about = read_about(path)?.ok_or_else(|| {
            ExperimentError::new(format!("{} holds no experiment", path.display()))
        })?;
        let file = path.join(RUNS);
        let runs = File::open(&file).map_err(|error| cannot("read", &file, &error))?;
        let mut folder = Folder { path: path.to_owned(), runs, end: 0, lines: Vec::new() };
        let mut tally = Tally::new(&about);
        folder.read(&mut tally)?;
        Ok((Self { folder: Some(folder) }, about, tally))
    }

    /// Writes a finished run down.
    ///
    /// # Errors
    ///
    /// When it cannot be written. What was written before stays whole.
    pub fn write(&mut self, run: &Run) -> Result<(), ExperimentError> {
        let Some(folder) = &mut self.folder else { return Ok(()) };
        let mut line = serde_json::to_vec(run)
            .map_err(|error| ExperimentError::new(format!("a run cannot be written: {error}")))?;
        line.push(b'\n');
        folder.append(run.place, &line)
    }

    /// Adds the lines of another journal that this one lacks.
    ///
    /// # Errors
    ///
    /// When a line cannot be read or written.
    pub fn take(&mut self, other: &Self) -> Result<(), ExperimentError> {
        let (Some(folder), Some(from)) = (&mut self.folder, &other.folder) else { return Ok(()) };
        let known: std::collections::HashSet<_> =
            folder.lines.iter().map(|line| line.place).collect();
        for line in from.lines.iter().filter(|line| !known.contains(&line.place)) {
            folder.append(line.place, &from.bytes(*line)?)?;
        }
        Ok(())
    }

    /// The runs at these places, in their order; those that are not kept are left out.
    pub fn runs<'j>(
        &'j self,
        places: impl IntoIterator<Item = usize> + 'j,
    ) -> impl Iterator<Item = Result<Run, ExperimentError>> + 'j {
        let folder = self.folder.as_ref();
        places.into_iter().filter_map(move |place| {
            let folder = folder?;
            // Lines are in the order of their places: see `sort`.
            let at = folder.lines.binary_search_by_key(&place, |line| line.place).ok()?;
            Some(folder.run(folder.lines[at]))
        })
    }

    /// Readies it to be asked for runs, when no more are written.
    pub fn sort(&mut self) {
        if let Some(folder) = &mut self.folder {
            folder.lines.sort_by_key(|line| line.place);
        }
    }

    /// All runs, by their places.
    pub fn all(&self) -> impl Iterator<Item = Result<Run, ExperimentError>> + '_ {
        let folder = self.folder.as_ref();
        let lines = folder.map(|folder| folder.lines.as_slice()).unwrap_or_default();
        lines.iter().filter_map(move |line| Some(folder?.run(*line)))
    }

    /// Whether runs are kept.
    pub fn keeps(&self) -> bool {
        self.folder.is_some()
    }
}

impl Folder {
    fn file(&self) -> PathBuf {
        self.path.join(RUNS)
    }

    fn length(&self) -> Result<u64, ExperimentError> {
        let metadata = self.runs.metadata();
        metadata.map(|it| it.len()).map_err(|error| cannot("read", &self.file(), &error))
    }

    /// Reads all whole lines.
    fn read(&mut self, tally: &mut Tally) -> Result<(), ExperimentError> {
        let file = self.file();
        let failed = |error: io::Error| cannot("read", &file, &error);
        let mut reader = BufReader::new(&self.runs);
        reader.seek(SeekFrom::Start(0)).map_err(failed)?;
        let (mut line, mut number) = (Vec::new(), 0_usize);
        loop {
            line.clear();
            number += 1;
            let length =
                reader.by_ref().take(LARGEST).read_until(b'\n', &mut line).map_err(failed)?;
            if line.last() != Some(&b'\n') {
                return Ok(());
            }
            let run: Run = serde_json::from_slice(&line).map_err(|error| {
                ExperimentError::new(format!(
                    "{}:{number}: this is no run: {error}",
                    file.display()
                ))
            })?;
            if tally.add(&run) {
                let length = length as u64;
                self.lines.push(Line { place: run.place, start: self.end, length });
            }
            self.end += length as u64;
        }
    }

    fn append(&mut self, place: usize, line: &[u8]) -> Result<(), ExperimentError> {
        if let Err(error) = self.runs.write_all(line) {
            // Half a line would be cut away when the folder is opened again, too.
            let _ = self.runs.set_len(self.end);
            return Err(cannot("write", &self.file(), &error));
        }
        let length = line.len() as u64;
        self.lines.push(Line { place, start: self.end, length });
        self.end += length;
        Ok(())
    }

    fn bytes(&self, line: Line) -> Result<Vec<u8>, ExperimentError> {
        let mut bytes = Vec::new();
        let mut file = &self.runs;
        file.seek(SeekFrom::Start(line.start))
            .and_then(|_| file.take(line.length).read_to_end(&mut bytes))
            .map_err(|error| cannot("read", &self.file(), &error))?;
        Ok(bytes)
    }

    fn run(&self, line: Line) -> Result<Run, ExperimentError> {
        serde_json::from_slice(&self.bytes(line)?).map_err(|error| {
            let shown = self.file().display().to_string();
            ExperimentError::new(format!("{shown} was changed meanwhile: {error}"))
        })
    }
}

fn read_about(folder: &Path) -> Result<Option<About>, ExperimentError> {
    let path = folder.join(ABOUT);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot("read", &path, &error)),
    };
    let about = serde_json::from_slice(&text).map_err(|error| {
        ExperimentError::new(format!("{} describes no experiment: {error}", path.display()))
    })?;
    Ok(Some(about))
}

/// Writes what an experiment is, whole or not at all.
fn write_about(folder: &Path, about: &About) -> Result<(), ExperimentError> {
    let (path, new) = (folder.join(ABOUT), folder.join(format!("{ABOUT}.new")));
    let text = serde_json::to_string_pretty(about).unwrap_or_default() + "\n";
    fs::write(&new, text)
        .and_then(|()| fs::rename(&new, &path))
        .map_err(|error| cannot("write", &path, &error))
}

/// An error that names a path.
pub(crate) fn cannot(what: &str, path: &Path, error: &io::Error) -> ExperimentError {
    ExperimentError::new(format!("cannot {what} {}: {error}", path.display()))
}
