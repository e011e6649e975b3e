//! `gramc trace`

use std::collections::HashSet;
use std::path::Path;

use gramc_agent::{TraceError, TraceSummary, case_of_trace};

use crate::args::{Display, Format, Trace};
use crate::failure::{CLEAN, Failure, Outcome};
use crate::output;

pub(super) fn run(args: &Trace, display: Display) -> Outcome {
    if args.cases {
        return cases(args);
    }
    let [path] = &args.paths[..] else {
        return Err(Failure::new("expected one trace: only --cases takes several"));
    };
    let summary = TraceSummary::read(&read(path)?).map_err(|error| invalid(path, &error))?;
    output::print(&match display.format {
        Format::Json => format!("{}\n", summary.json()),
        _ => summary.to_string(),
    })?;
    Ok(CLEAN)
}

/// Prints a case for each trace, whose id is the name of the file.
fn cases(args: &Trace) -> Outcome {
    let mut known = HashSet::new();
    for path in &args.paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let id = std::iter::once(name.clone()).chain(numbered).find(|id| known.insert(id.clone()));
        let case = case_of_trace(&read(path)?, &id.unwrap_or(name));
        output::print(&format!("{}\n", case.map_err(|error| invalid(path, &error))?))?;
    }
    Ok(CLEAN)
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::path("read", path, &error))
}

fn invalid(path: &Path, error: &TraceError) -> Failure {
    Failure::new(format!("{}:{}: invalid trace: {}", path.display(), error.line, error.message))
}
