//! `gramc trace`

use gram_agent::TraceSummary;

use crate::args::{Display, Format, Trace};
use crate::failure::{CLEAN, Failure, Outcome};
use crate::output;

pub(super) fn run(args: &Trace, display: Display) -> Outcome {
    let path = &args.path;
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::path("read", path, &error))?;
    let summary = TraceSummary::read(&text).map_err(|error| {
        Failure::new(format!("{}:{}: invalid trace: {}", path.display(), error.line, error.message))
    })?;
    output::print(&match display.format {
        Format::Json => format!("{}\n", summary.json()),
        _ => summary.to_string(),
    })?;
    Ok(CLEAN)
}
