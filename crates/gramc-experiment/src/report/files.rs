//! The files of a report.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use gramc_project::files::plain;

use crate::error::ExperimentError;
use crate::report::Report;
use crate::running::journal::Journal;

impl Report {
    /// Writes `report.json`, `report.md` and `report.html` into the folder of the
    /// journal, which has to be sorted.
    pub fn write(&self, folder: &Path, journal: &Journal) -> Result<(), ExperimentError> {
        let pretty = serde_json::to_string_pretty(&self.json()).unwrap_or_default() + "\n";
        write(&folder.join("report.json"), &pretty)?;
        write(&folder.join("report.md"), &self.markdown())?;
        write(&folder.join("report.html"), &self.html(journal)?)
    }
}

/// Writes a file atomically.
fn write(path: &Path, text: &str) -> Result<(), ExperimentError> {
    let new = path.with_extension("new");
    let written = File::create(&new)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // A full disk leaves an incomplete file.
        let _ = fs::remove_file(&new);
    }
    written.map_err(|error: io::Error| ExperimentError::io("write", path)(plain(&error)))
}
