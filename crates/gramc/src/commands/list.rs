//! `gramc list`

use gramc_project::ValidTexts;
use gramc_search::signature;
use serde_json::json;

use super::search::{first_sentence, shown};
use crate::args::{Display, Format, List};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::{output, source};

pub(super) fn run(args: &List, display: Display) -> Outcome {
    let (is_json, display) = match display.format {
        // Standard output is for tools.
        Format::Json => (true, Display { format: Format::Concise, ..display }),
        Format::Human | Format::Concise => (false, display),
        _ => return Err(Failure::new("`gramc list` prints --format human or json")),
    };
    let display = Display { errors_only: true, ..display };
    let texts = source::texts(&args.inputs, &args.live, display)?;
    let Some(ValidTexts { module, texts }) = source::check(texts, display)? else {
        return Ok(PROBLEMS);
    };
    let places = module.spans().tools.iter();
    let named = places.zip(&module.tools).filter(|(place, _)| place.file < texts.named);
    let mut lines = Vec::new();
    for (_, tool) in named {
        let signature = signature(&module.types, tool);
        let description = tool.description.as_deref().unwrap_or_default();
        lines.push(if is_json {
            let line = json!({
                "name": tool.name.as_str(), "signature": signature, "description": description
            });
            format!("{line}\n")
        } else {
            shown(&tool.name, [("", &*signature), ("", &first_sentence(description))])
        });
    }
    output::print(&lines.join(if is_json { "" } else { "\n" }))?;
    Ok(CLEAN)
}
