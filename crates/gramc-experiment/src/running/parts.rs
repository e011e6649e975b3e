//! Merging of the parts of an experiment.

use std::path::{Path, PathBuf};

use crate::error::ExperimentError;
use crate::running::journal::Journal;
use crate::running::manifest::ExperimentManifest;
use crate::running::plan::Shard;
use crate::running::runner::{RunState, StopReason};

/// The parts of one experiment, each in a folder of its own.
#[derive(Debug)]
pub(crate) struct Parts {
    parts: Vec<(PathBuf, Journal, ExperimentManifest)>,
    /// The manifest of the whole experiment.
    pub manifest: ExperimentManifest,
}

impl Parts {
    /// Reads the folders of parts. `partial` allows that some are missing.
    pub(crate) fn read(folders: &[PathBuf], partial: bool) -> Result<Self, ExperimentError> {
        let mut parts: Vec<(PathBuf, Journal, ExperimentManifest)> = Vec::new();
        for path in folders {
            let (journal, manifest, _) = Journal::read(path)?;
            if let Some((first, _, known)) = parts.first()
                && let Some(what) = manifest.difference_from(known)
            {
                return Err(ExperimentError::Parts(format!(
                    "{} and {} are not parts of one experiment: in the second, {what}",
                    first.display(),
                    path.display()
                )));
            }
            parts.push((path.clone(), journal, manifest));
        }
        let missing = find_missing(&parts)?;
        if !partial && !missing.is_empty() {
            return Err(ExperimentError::MissingParts(missing.join(", ")));
        }
        let Some((_, _, manifest)) = parts.first() else {
            return Err(ExperimentError::Parts("expected the folder of a part".to_owned()));
        };
        let manifest = ExperimentManifest { shard: None, ..manifest.clone() };
        Ok(Self { parts, manifest })
    }

    /// Adds the runs of all parts to the whole experiment. Returns whether all runs are finished.
    pub(crate) fn merge(&self, state: &mut RunState) -> Result<StopReason, ExperimentError> {
        let RunState { journal, stats, monitor } = state;
        for (_, part, _) in &self.parts {
            journal.merge(part)?;
            for run in part.all() {
                stats.add(&run?);
            }
        }
        if let Some(monitor) = monitor {
            monitor.update(stats);
        }
        let runs = stats.plan.runs();
        Ok(match runs - stats.finished {
            0 => StopReason::Done,
            missing => StopReason::Missing(format!("{missing} of {runs} runs are missing")),
        })
    }
}

/// The parts that are missing. Fails if one is recorded twice.
fn find_missing(
    parts: &[(PathBuf, Journal, ExperimentManifest)],
) -> Result<Vec<String>, ExperimentError> {
    let whole = Shard { part: 1, of: 1 };
    let mut known: Vec<(Shard, &Path)> = Vec::new();
    for (path, _, manifest) in parts {
        let shard = manifest.shard.unwrap_or(whole);
        if let Some((first, other)) = known.first().filter(|(first, _)| first.of != shard.of) {
            return Err(ExperimentError::Parts(format!(
                "{} is one of {} parts, and {} one of {}",
                other.display(),
                first.of,
                path.display(),
                shard.of
            )));
        }
        if let Some((_, other)) = known.iter().find(|(other, _)| *other == shard) {
            return Err(ExperimentError::Parts(format!(
                "{} and {} are recordings of the same part, {shard}",
                other.display(),
                path.display()
            )));
        }
        known.push((shard, path));
    }
    let of = known.first().map_or(1, |it| it.0.of);
    let is_missing = |part: &u32| !known.iter().any(|(shard, _)| shard.part == *part);
    Ok((1..=of).filter(is_missing).map(|part| format!("{part}/{of}")).collect())
}
