//! Reports of experiments.

use std::path::{Path, PathBuf};

use gramc_experiment::{Gate, Journal, Parts, Report, SequentialMonitor, StopReason};
use serde_json::Value;

use super::ExperimentFailure;

/// The report of an experiment.
#[derive(Debug)]
pub struct ExperimentReport {
    report: Report,
    /// Why runs are missing that should have been counted.
    incomplete: Option<String>,
}

impl ExperimentReport {
    /// Writes a report into the folder of its journal, if there is one.
    pub(super) fn written(
        report: Report,
        stop: &StopReason,
        journal: &mut Journal,
        folder: Option<&Path>,
    ) -> Result<Self, ExperimentFailure> {
        journal.sort();
        if let Some(folder) = folder {
            report.write(folder, journal)?;
        }
        let is_incomplete = matches!(stop, StopReason::NoAnswer(..) | StopReason::Missing(_));
        let incomplete = report.stopped.clone().filter(|_| is_incomplete);
        Ok(Self { report, incomplete })
    }

    /// The content of `report.json`.
    pub fn json(&self) -> Value {
        self.report.json()
    }

    /// The verdict.
    pub fn verdict(&self) -> &str {
        &self.report.verdict
    }

    /// The report for people.
    pub fn text(&self) -> String {
        self.report.text()
    }

    /// The report for pull requests and notebooks.
    pub fn markdown(&self) -> String {
        self.report.markdown()
    }

    /// Why a gate, such as `success >= -1pp`, fails. Empty if it passes.
    ///
    /// # Errors
    ///
    /// If the gate is invalid.
    pub fn gate_failures(&self, gate: &str) -> Result<Vec<String>, ExperimentFailure> {
        let parsed: Gate = gate.parse()?;
        let mut failures = parsed.failures(&self.report.comparisons, &self.report.unanswered);
        failures.extend(self.incomplete.iter().map(|why| format!("gate `{gate}` failed: {why}")));
        Ok(failures)
    }
}

/// Merges the parts of an experiment, and writes the report into a folder, if one is given.
///
/// # Errors
///
/// If a folder cannot be read or written, or if the parts are not those of one experiment.
pub fn merge_parts(
    folders: &[PathBuf],
    folder: Option<&Path>,
) -> Result<ExperimentReport, ExperimentFailure> {
    let parts = Parts::read(folders, false)?;
    let (mut journal, mut stats) = Journal::open_in(folder, &parts.manifest)?;
    let stop = parts.merge(&mut journal, &mut stats)?;
    let mut monitor = SequentialMonitor::of_manifest(&parts.manifest);
    if let Some(monitor) = &mut monitor {
        monitor.update(&stats);
    }
    let report = Report::new(parts.manifest, &stats, monitor.as_ref(), &stop);
    ExperimentReport::written(report, &stop, &mut journal, folder)
}
