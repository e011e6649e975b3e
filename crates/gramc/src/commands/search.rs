//! `gramc search`

mod index_file;
mod sources;

use std::fmt::Write as _;

use gramc_diff::report::printable;
use gramc_search::{Chain, Hit, Index, Query};

use crate::args::{Display, Format, Search};
use crate::failure::{CLEAN, FAILED, Failure, Outcome, PROBLEMS};
use crate::output::{self, say_each};
use crate::report;

/// The default of `--steps`.
const DEFAULT_STEPS: u8 = 3;

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
    let index = match &args.index {
        Some(file) => index_file::load_or_build(file, args, display)?,
        None => Index::build(&sources::read(args, display)?.sources, ""),
    };
    if index.tools() == 0 {
        return Err(Failure::new("there are no tools to search"));
    }
    say_each("note: ", index.notes(&query));
    let limit = usize::from(args.limit);
    let hits = index.search(&query, limit);
    let steps = usize::from(args.steps.unwrap_or(DEFAULT_STEPS));
    let chains = if args.compose { index.compose(&query, steps, limit) } else { Vec::new() };
    output::print(&if is_json { lines(&hits, &chains) } else { human(&hits, &chains) })?;
    Ok(if hits.is_empty() && chains.is_empty() { PROBLEMS } else { CLEAN })
}

/// One JSON object per hit and chain.
fn lines(hits: &[Hit], chains: &[Chain]) -> String {
    // All keys are strings, so both can be written.
    let hits = hits.iter().map(|hit| serde_json::to_string(hit).unwrap_or_default());
    let chains = chains.iter().map(|chain| serde_json::to_string(chain).unwrap_or_default());
    hits.chain(chains).map(|line| line + "\n").collect()
}

fn human(hits: &[Hit], chains: &[Chain]) -> String {
    let mut text = if hits.is_empty() && chains.is_empty() {
        "no tools found\n".to_owned()
    } else {
        hits.iter().map(hit).collect::<Vec<_>>().join("\n")
    };
    for chain in chains {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&shown_chain(chain));
    }
    text
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

fn shown_chain(chain: &Chain) -> String {
    let mut text = format!("chain  {:.2}\n", chain.score);
    for (at, step) in chain.steps.iter().enumerate() {
        let arguments: Vec<_> =
            step.arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let call = format!("{}({})", step.tool, arguments.join(", "));
        let _ = writeln!(text, "  ${at} = {}", printable(&call));
    }
    if !chain.missing.is_empty() {
        let _ = writeln!(text, "  missing: {}", printable(&chain.missing.join(", ")));
    }
    text
}

/// The first sentence or line of a description, shortened.
fn first_sentence(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    match sentence.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}
