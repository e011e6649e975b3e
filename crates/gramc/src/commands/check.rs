//! `gramc check`

use crate::args::{Check, Deny, Display};
use crate::failure::Outcome;
use crate::{input, report};

pub(super) fn run(args: &Check, display: Display) -> Outcome {
    let texts = input::read(&args.inputs)?;
    let checked: &'static gram_schema::Checked = Box::leak(Box::new(texts.check()));
    let counts = report::show(display, &checked.diagnostics)?;
    Ok(counts.exit_code(args.deny == Some(Deny::Warnings)))
}
