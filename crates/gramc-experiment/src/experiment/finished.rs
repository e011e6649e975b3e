//! Finished experiments and their reports.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use gramc_project::files::plain;

use super::ExperimentOptions;
use crate::analysis::gate::Gate;
use crate::analysis::labels::Label;
use crate::error::ExperimentError;
use crate::report::Report;
use crate::running::journal::Journal;
use crate::running::manifest::ExperimentManifest;
use crate::running::parts::Parts;
use crate::running::runner::{RunState, StopReason};

/// Reads the labels of people, if there are any.
pub(super) fn read_labels(
    path: Option<&Path>,
    manifest: &ExperimentManifest,
) -> Result<Option<Vec<Label>>, ExperimentError> {
    let Some(path) = path else { return Ok(None) };
    let file = File::open(path);
    let file = file.map_err(|error| ExperimentError::io("read", path)(plain(&error)))?;
    let name = path.display().to_string();
    let labels = Label::read(BufReader::new(file), &name)?;
    let is_unknown = |label: &&Label| !manifest.arm_names().any(|arm| arm == label.arm());
    match labels.iter().find(is_unknown).map(Label::arm) {
        None => Ok(Some(labels)),
        Some(arm) => {
            let message = format!("{name}: unknown arm `{arm}`");
            Err(ExperimentError::unknown_name(message, arm, manifest.arm_names()))
        }
    }
}

/// An experiment of which no more runs start, and its report.
#[derive(Debug)]
pub struct FinishedExperiment {
    /// The report.
    pub report: Report,
    /// Why no more runs start.
    pub stop: StopReason,
    journal: Journal,
    folder: Option<PathBuf>,
}

impl FinishedExperiment {
    pub(super) fn new(
        manifest: ExperimentManifest,
        state: RunState,
        stop: StopReason,
        labels: Option<&[Label]>,
        folder: Option<PathBuf>,
    ) -> Self {
        let RunState { mut journal, stats, monitor } = state;
        journal.sort();
        let mut report = Report::new(manifest, &stats, monitor.as_ref(), &stop);
        if let Some(labels) = labels {
            report.compare_labels(&stats, labels);
        }
        Self { report, stop, journal, folder }
    }

    /// Whether finished runs are kept.
    pub fn is_saved(&self) -> bool {
        self.journal.keeps()
    }

    /// Writes the report into its folder, if there is one, and closes the journal.
    pub fn write(&mut self) -> Result<(), ExperimentError> {
        // The journal locks its folder.
        let journal = std::mem::replace(&mut self.journal, Journal::none());
        match &self.folder {
            Some(folder) => self.report.write(folder, &journal),
            None => Ok(()),
        }
    }

    /// Why a gate, such as `success >= -1pp`, fails. Empty if it passes. It also fails if runs could
    /// not be counted or are missing.
    pub fn gate_failures(&self, gate: &str) -> Result<Vec<String>, ExperimentError> {
        let parsed: Gate = gate.parse()?;
        let mut failures = parsed.failures(&self.report.comparisons, &self.report.unanswered);
        if let StopReason::NoAnswer(..) | StopReason::Missing(_) = self.stop {
            let reason = self.stop.sentence().unwrap_or_default();
            failures.push(format!("gate `{gate}` failed: {reason}"));
        }
        Ok(failures)
    }
}

/// Merges the parts of an experiment, with the options for its report. `partial` allows that parts are
/// missing.
pub fn merge_parts(
    folders: &[PathBuf],
    partial: bool,
    options: ExperimentOptions,
) -> Result<FinishedExperiment, ExperimentError> {
    let parts = Parts::read(folders, partial)?;
    let mut manifest = parts.manifest.clone();
    let method = &mut manifest.method;
    method.margin = options.margin.map_or(method.margin, |points| points / 100.0);
    method.primary = options.primary.or(method.primary);
    let labels = read_labels(options.labels.as_deref(), &manifest)?;
    let mut state = RunState::open(options.report.as_deref(), &manifest)?;
    let stop = parts.merge(&mut state)?;
    Ok(FinishedExperiment::new(manifest, state, stop, labels.as_deref(), options.report))
}
