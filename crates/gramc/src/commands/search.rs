//! `gramc search`

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use gramc_diff::report::printable;
use gramc_json_schema::shorten::shorten;
use gramc_project::ValidTexts;
use gramc_search::{Hit, Index, Query, Source};

use super::calls::only_one_reads;
use crate::args::{Display, Format, Search};
use crate::failure::{CLEAN, FAILED, Failure, Outcome, PROBLEMS};
use crate::output::{self, say_each};
use crate::{live, report, source};

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
    let index = Index::build(read_sources(args, display)?);
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
    let Hit { tool, kind, score, source, .. } = hit;
    shown(
        &format!("{tool}  {} {score:.2}  {source}", kind.name()),
        [
            ("", &*hit.signature),
            ("", &first_sentence(&hit.description)),
            ("missing: ", &hit.missing.join(", ")),
            ("unused: ", &hit.unused.join(", ")),
        ],
    )
}

/// A heading, and indented lines with their labels. Empty ones are left out.
pub(super) fn shown<const N: usize>(heading: &str, lines: [(&str, &str); N]) -> String {
    let mut text = format!("{}\n", printable(heading));
    for (label, line) in lines.into_iter().filter(|(_, line)| !line.is_empty()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {label}{}", printable(line));
    }
    text
}

/// The first sentence or line of a description, shortened.
pub(super) fn first_sentence(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(sentence, _)| sentence);
    shorten(sentence, MAX_DESCRIPTION)
}

/// The name of a live server. Its command or address may hold a secret.
const SERVER: &str = "MCP server";

/// Reads the specifications, with the tools that a live server lists.
fn read_sources(args: &Search, display: Display) -> Result<Vec<Source>, Failure> {
    let listed = live::tools_of(&args.live.server())?.map(|tools| tools.to_string());
    let mut found = Vec::new();
    if args.specs.is_empty() && listed.is_none() {
        found.push(searchable("project", source::read_project(display)?)?);
    }
    only_one_reads(&args.specs.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let mut seen = HashSet::new();
    for spec in &args.specs {
        // The same file may have several names.
        if let Ok(path) = spec.canonicalize()
            && !seen.insert(path)
        {
            continue;
        }
        let name = if spec.as_os_str() == "-" { "<stdin>".into() } else { spec.to_string_lossy() };
        found.push(searchable(&name, source::read(spec, display)?)?);
    }
    if let Some(listed) = listed {
        found.push(searchable(SERVER, source::read_listed(&listed, display)?)?);
    }
    Ok(found)
}

fn searchable(name: &str, read: Option<ValidTexts>) -> Result<Source, Failure> {
    let Some(read) = read else {
        return Err(Failure::new(format!("cannot search {name}: it has errors")));
    };
    // A folder may have a single file.
    let name = match read.module.spans().sources() {
        [file] if read.texts.has_positions => file.name(),
        _ => name,
    };
    Ok(Source::of_module(name, &read.module))
}
