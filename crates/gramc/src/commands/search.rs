//! `gramc search`

mod sources;

use std::fmt::Write as _;

use gramc_diff::report::printable;
use gramc_json_schema::shorten::shorten;
use gramc_search::{Hit, Index, Query};

use crate::args::{Display, Format, Search};
use crate::failure::{CLEAN, FAILED, Failure, Outcome, PROBLEMS};
use crate::output::{self, say_each};
use crate::report;

/// The most characters of a description in a list.
const MAX_DESCRIPTION: usize = 100;

pub(super) fn run(args: &Search, display: Display) -> Outcome {
    let display = Display { errors_only: true, ..display };
    let (is_json, display) = match display.format {
        // Standard output is for hits.
        Format::Json => (true, Display { format: Format::Concise, ..display }),
        Format::Human | Format::Concise => (false, display),
        Format::Sarif | Format::Github | Format::Markdown | Format::Junit => {
            return Err(Failure::new(
                "this format is only for diagnostics of files: use --format json or human",
            ));
        }
    };
    let query = match Query::parse(&args.query) {
        Ok(query) => query,
        Err(found) => {
            report::show(display, &found)?;
            return Ok(FAILED);
        }
    };
    let index = Index::build(sources::read(args, display)?);
    if index.tools() == 0 {
        return Err(Failure::new("there are no tools to search"));
    }
    say_each("note: ", index.notes(&query));
    let hits = index.search(&query, usize::from(args.limit));
    output::print(&if is_json { lines(&hits) } else { human(&hits) })?;
    Ok(if hits.is_empty() { PROBLEMS } else { CLEAN })
}

/// One JSON object per hit.
fn lines(hits: &[Hit]) -> String {
    // All keys are strings, so hits can be written.
    hits.iter().map(|hit| serde_json::to_string(hit).unwrap_or_default() + "\n").collect()
}

fn human(hits: &[Hit]) -> String {
    if hits.is_empty() {
        return "no tools found\n".to_owned();
    }
    hits.iter().map(hit).collect::<Vec<_>>().join("\n")
}

fn hit(hit: &Hit) -> String {
    let mut text = format!(
        "{}  {} {:.2}  {}\n",
        printable(&hit.tool),
        hit.kind.name(),
        hit.score,
        printable(&hit.source)
    );
    let mut line = |label: &str, line: &str| {
        if !line.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {label}{}", printable(line));
        }
    };
    line("", &hit.signature);
    line("", &first_sentence(&hit.description));
    line("missing: ", &hit.missing.join(", "));
    line("unused: ", &hit.unused.join(", "));
    text
}

/// The first sentence or line of a description, shortened.
fn first_sentence(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    shorten(sentence, MAX_DESCRIPTION)
}
