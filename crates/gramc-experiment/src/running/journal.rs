//! The journal of an experiment, from which an interrupted experiment resumes.
//!
//! The folder contains `experiment.json`, the manifest, and `runs.jsonl`, with a line for each
//! finished run. An incomplete last line is removed when the folder is opened.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::ExperimentError;
use crate::run::Run;
use crate::running::manifest::ExperimentManifest;
use crate::running::run_stats::RunStats;

const MANIFEST: &str = "experiment.json";
const RUNS: &str = "runs.jsonl";

const MAX_RUN_BYTES: u64 = 1 << 30;

/// The position of a run in `runs.jsonl`.
#[derive(Debug, Clone, Copy)]
struct JournalLine {
    place: usize,
    start: u64,
    length: u64,
}

/// The journal of an experiment: a folder, or nothing if runs are not kept.
#[derive(Debug)]
pub struct Journal {
    folder: Option<JournalFolder>,
}

#[derive(Debug)]
struct JournalFolder {
    path: PathBuf,
    runs: File,
    /// The end of the last complete line.
    end: u64,
    lines: Vec<JournalLine>,
}

impl Journal {
    /// A journal that keeps no runs.
    pub fn none() -> Self {
        Self { folder: None }
    }

    /// Opens or creates the journal of an experiment and reads the finished runs.
    pub fn open(
        path: &Path,
        manifest: &ExperimentManifest,
    ) -> Result<(Self, RunStats), ExperimentError> {
        fs::create_dir_all(path).map_err(ExperimentError::io("create folder", path))?;
        let file = path.join(RUNS);
        let runs = OpenOptions::new().read(true).append(true).create(true).open(&file);
        let runs = runs.map_err(ExperimentError::io("write", &file))?;
        // Some file systems do not support locks.
        if let Err(TryLockError::WouldBlock) = runs.try_lock() {
            return Err(ExperimentError::lock_error(path));
        }
        let known = read_manifest(path)?;
        let mut folder = JournalFolder { path: path.to_owned(), runs, end: 0, lines: Vec::new() };
        if let Some(known) = &known {
            known.ensure_matches(manifest, path)?;
        } else if folder.length()? > 0 {
            let message = format!("found {RUNS} without {MANIFEST}; use another folder");
            return Err(ExperimentError::content(path.display(), message));
        }
        if known.as_ref() != Some(manifest) {
            write_manifest(path, manifest)?;
        }
        let mut stats = RunStats::new(manifest);
        folder.read(&mut stats)?;
        if folder.length()? > folder.end {
            let cut = folder.runs.set_len(folder.end);
            cut.map_err(ExperimentError::io("write", &file))?;
        }
        Ok((Self { folder: Some(folder) }, stats))
    }

    /// Reads the journal and the manifest of a folder. A run that is being written is skipped.
    pub fn read(path: &Path) -> Result<(Self, ExperimentManifest, RunStats), ExperimentError> {
        let manifest = read_manifest(path)?.ok_or_else(|| {
            let message = format!("expected an experiment, found no {MANIFEST}");
            ExperimentError::content(path.display(), message)
        })?;
        let file = path.join(RUNS);
        let runs = File::open(&file).map_err(ExperimentError::io("read", &file))?;
        let mut folder = JournalFolder { path: path.to_owned(), runs, end: 0, lines: Vec::new() };
        let mut stats = RunStats::new(&manifest);
        folder.read(&mut stats)?;
        Ok((Self { folder: Some(folder) }, manifest, stats))
    }

    /// Writes a finished run. If it cannot be written, earlier runs stay intact.
    pub fn write(&mut self, run: &Run) -> Result<(), ExperimentError> {
        let Some(folder) = &mut self.folder else { return Ok(()) };
        let mut line = serde_json::to_vec(run).map_err(|error| {
            ExperimentError::Internal(format!("cannot serialize a run: {error}"))
        })?;
        line.push(b'\n');
        folder.append(run.place, &line)
    }

    /// Adds the runs of another journal that this one lacks.
    pub fn merge(&mut self, other: &Self) -> Result<(), ExperimentError> {
        let (Some(folder), Some(from)) = (&mut self.folder, &other.folder) else { return Ok(()) };
        let known: std::collections::HashSet<_> =
            folder.lines.iter().map(|line| line.place).collect();
        for line in from.lines.iter().filter(|line| !known.contains(&line.place)) {
            folder.append(line.place, &from.bytes(*line)?)?;
        }
        Ok(())
    }

    /// The runs at these places, in order. Runs that are not in the journal are skipped.
    pub fn runs<'j>(
        &'j self,
        places: impl IntoIterator<Item = usize> + 'j,
    ) -> impl Iterator<Item = Result<Run, ExperimentError>> + 'j {
        let folder = self.folder.as_ref();
        places.into_iter().filter_map(move |place| {
            let folder = folder?;
            // `sort` has sorted the lines by place.
            let at = folder.lines.binary_search_by_key(&place, |line| line.place).ok()?;
            Some(folder.run(folder.lines[at]))
        })
    }

    /// Sorts the journal for [`Self::runs`] and [`Self::all`], after the last run was written.
    pub fn sort(&mut self) {
        if let Some(folder) = &mut self.folder {
            folder.lines.sort_by_key(|line| line.place);
        }
    }

    /// All runs, in order of their places.
    pub fn all(&self) -> impl Iterator<Item = Result<Run, ExperimentError>> + '_ {
        self.all_as()
    }

    /// All runs, in order of their places, with only the fields that `T` has.
    pub(crate) fn all_as<T: DeserializeOwned>(
        &self,
    ) -> impl Iterator<Item = Result<T, ExperimentError>> + '_ {
        let folder = self.folder.as_ref();
        folder.into_iter().flat_map(|folder| folder.lines.iter().map(|line| folder.run(*line)))
    }

    /// Whether runs are kept.
    pub fn keeps(&self) -> bool {
        self.folder.is_some()
    }
}

impl JournalFolder {
    fn file(&self) -> PathBuf {
        self.path.join(RUNS)
    }

    fn length(&self) -> Result<u64, ExperimentError> {
        let length = self.runs.metadata().map(|it| it.len());
        length.map_err(ExperimentError::io("read", &self.file()))
    }

    /// Reads all complete lines.
    fn read(&mut self, stats: &mut RunStats) -> Result<(), ExperimentError> {
        let file = self.file();
        let failed = ExperimentError::io("read", &file);
        let mut reader = BufReader::new(&self.runs);
        reader.seek(SeekFrom::Start(0)).map_err(&failed)?;
        let (mut line, mut number) = (Vec::new(), 0_usize);
        loop {
            line.clear();
            number += 1;
            let length = reader.by_ref().take(MAX_RUN_BYTES).read_until(b'\n', &mut line);
            let length = length.map_err(&failed)? as u64;
            if line.last() != Some(&b'\n') {
                return Ok(());
            }
            let run: Run = serde_json::from_slice(&line).map_err(|error| {
                let place = format!("{}:{number}", file.display());
                ExperimentError::content(place, format!("invalid run: {error}"))
            })?;
            if stats.add(&run) {
                self.lines.push(JournalLine { place: run.place, start: self.end, length });
            }
            self.end += length;
        }
    }

    fn append(&mut self, place: usize, line: &[u8]) -> Result<(), ExperimentError> {
        if let Err(error) = self.runs.write_all(line) {
            // If this fails, the incomplete line is removed when the folder is opened.
            let _ = self.runs.set_len(self.end);
            return Err(ExperimentError::io("write", &self.file())(error));
        }
        let length = line.len() as u64;
        self.lines.push(JournalLine { place, start: self.end, length });
        self.end += length;
        Ok(())
    }

    fn bytes(&self, line: JournalLine) -> Result<Vec<u8>, ExperimentError> {
        let mut bytes = Vec::new();
        let mut file = &self.runs;
        file.seek(SeekFrom::Start(line.start))
            .and_then(|_| file.take(line.length).read_to_end(&mut bytes))
            .map_err(ExperimentError::io("read", &self.file()))?;
        Ok(bytes)
    }

    fn run<T: DeserializeOwned>(&self, line: JournalLine) -> Result<T, ExperimentError> {
        serde_json::from_slice(&self.bytes(line)?).map_err(|error| {
            let message = format!("the file has changed: {error}");
            ExperimentError::content(self.file().display(), message)
        })
    }
}

fn read_manifest(folder: &Path) -> Result<Option<ExperimentManifest>, ExperimentError> {
    let path = folder.join(MANIFEST);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ExperimentError::io("read", &path)(error)),
    };
    let manifest = serde_json::from_slice(&text);
    let invalid =
        |error| ExperimentError::content(path.display(), format!("invalid manifest: {error}"));
    manifest.map(Some).map_err(invalid)
}

/// Replaces the manifest atomically.
fn write_manifest(folder: &Path, manifest: &ExperimentManifest) -> Result<(), ExperimentError> {
    let (path, new) = (folder.join(MANIFEST), folder.join(format!("{MANIFEST}.new")));
    let text = serde_json::to_string_pretty(manifest).unwrap_or_default() + "\n";
    fs::write(&new, text)
        .and_then(|()| fs::rename(&new, &path))
        .map_err(ExperimentError::io("write", &path))
}
