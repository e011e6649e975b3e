//! `gramc test`

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use gramc_diff::report::printable;
use gramc_json_schema::shorten::shorten;
use gramc_tools::contract::{Check, Comparison, Options, ToolReport, compare, junit, test};
use gramc_tools::{Bound, ToolLibrary};
use serde_json::Value;

use super::calls::{
    Read, only_one_reads, own_library, read_declared, read_spec, run_interruptibly,
};
use crate::args::{Display, Format, Test};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output::{self, count, say, say_each};

pub(super) fn run(args: &Test, display: Display) -> Outcome {
    if args.libraries.len() > 2 {
        return Err(Failure::new("at most two libraries can be compared"));
    }
    if let Format::Sarif | Format::Github = display.format {
        return Err(Failure::new("use --format human, json or junit"));
    }
    let spec = args.spec.spec();
    let paths = args.libraries.iter().map(Path::new).chain([spec.path.as_path()]);
    only_one_reads(&paths.collect::<Vec<_>>())?;
    let Some(spec) = read_spec(&spec, display)? else { return Ok(PROBLEMS) };
    for tool in &args.tools {
        let known = || spec.module.tools.iter().map(|tool| tool.name.as_str());
        if !known().any(|name| name == tool) {
            let message = format!("the specification declares no tool `{tool}`");
            return Err(Failure::unknown_name(&message, tool, known(), None));
        }
    }
    let mut libraries = Vec::new();
    for library in &args.libraries {
        let Some(declared) = read_declared(library, &spec, display)? else {
            return Ok(PROBLEMS);
        };
        libraries.push(declared.library);
    }
    if libraries.is_empty() {
        libraries.push(own_library(&spec)?);
    }
    let [one, other] = &libraries[..] else {
        let library = libraries.first().cloned().unwrap_or_default();
        return run_interruptibly(&library, test_all(&library, &spec, args, display));
    };
    if display.format == Format::Junit {
        return Err(Failure::new("--format junit is for one library"));
    }
    run_interruptibly(one, async {
        let compared = compare_all([one, other], &spec, args, display).await;
        other.close().await;
        compared
    })
}

/// The options that the arguments give.
fn options(args: &Test) -> Options {
    let mut allowed: BTreeSet<Check> = args.allow.iter().copied().collect();
    if !args.strict {
        allowed.insert(Check::Accepted);
    }
    Options {
        cases: usize::try_from(args.cases).unwrap_or(usize::MAX),
        seed: args.seed,
        tools: args.tools.clone(),
        include_destructive: args.include_destructive,
        allowed,
    }
}

/// Binds a library as far as possible. What does not fit is said, and tested anyway.
async fn bind(library: &ToolLibrary, spec: &Read) -> Bound {
    for (tool, error) in library.connect().await {
        say(format_args!("warning: cannot connect to the implementation of `{tool}`: {error}"));
    }
    let (bound, problems) = library.bind_partly(&spec.module);
    say_each("warning: ", &problems);
    bound
}

async fn test_all(library: &ToolLibrary, spec: &Read, args: &Test, display: Display) -> Outcome {
    let bound = bind(library, spec).await;
    let mut reports = Vec::new();
    let mut printed = Ok(());
    let width = width(spec, args);
    test(&bound, &spec.module, &options(args), |report| {
        let line = match display.format {
            Format::Json => format!("{}\n", report.json()),
            Format::Junit => String::new(),
            _ => print_report(&report, width),
        };
        if printed.is_ok() {
            printed = output::print(&line);
        }
        reports.push(report);
    })
    .await;
    printed?;
    if display.format == Format::Junit {
        output::print(&junit(library.name(), &reports))?;
    }
    if reports.iter().all(|report| report.status() == "skipped") {
        say("nothing was tested");
    }
    let has_failed = reports.iter().any(|report| report.status() == "failed");
    Ok(if has_failed { PROBLEMS } else { CLEAN })
}

async fn compare_all(
    libraries: [&ToolLibrary; 2],
    spec: &Read,
    args: &Test,
    display: Display,
) -> Outcome {
    let [one, other] = libraries;
    let (one, other) = (bind(one, spec).await, bind(other, spec).await);
    let names = libraries.map(ToolLibrary::name);
    let width = width(spec, args);
    let mut code = CLEAN;
    let mut printed = Ok(());
    compare([&one, &other], &spec.module, &options(args), |comparison| {
        let line = match display.format {
            Format::Json => format!("{}\n", comparison.json()),
            _ => shown_comparison(&comparison, names, width),
        };
        if printed.is_ok() {
            printed = output::print(&line);
        }
        if comparison.difference.is_some() {
            code = PROBLEMS;
        }
    })
    .await;
    printed.map(|()| code)
}

/// The length of the longest name that is shown.
fn width(spec: &Read, args: &Test) -> usize {
    let names = spec.module.tools.iter().map(|tool| tool.name.as_str());
    let shown =
        names.filter(|name| args.tools.is_empty() || args.tools.iter().any(|it| it == name));
    shown.map(|name| name.chars().count()).max().unwrap_or_default()
}

/// A report for people.
fn print_report(report: &ToolReport, width: usize) -> String {
    let counts = report.counts;
    let mut parts = Vec::new();
    if counts.valid > 0 {
        let failed = match counts.failed {
            0 => String::new(),
            failed => format!(" ({failed} failed)"),
        };
        parts.push(count(counts.valid, "valid call") + &failed);
    }
    if counts.repeated > 0 {
        parts.push(count(counts.repeated, "repeated call"));
    }
    if counts.invalid > 0 {
        let accepted = match counts.accepted {
            0 => String::new(),
            accepted => format!(" ({accepted} answered)"),
        };
        parts.push(count(counts.invalid, "invalid call") + &accepted);
    }
    parts.extend(report.skipped.as_deref().map(printable));
    let mut text = format!("{:width$}  {:7}  {}\n", report.tool, report.status(), parts.join(", "));
    for violation in &report.violations {
        let (check, arguments) = (violation.check.name(), shown_arguments(&violation.arguments));
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {check} with {arguments}:");
        push_lines(&mut text, "", &violation.message);
    }
    text
}

/// The most characters of arguments that are shown. `--format json` has them all.
const MAX_ARGUMENTS: usize = 1_000;

/// Arguments for people.
fn shown_arguments(arguments: &Value) -> String {
    printable(&shorten(&arguments.to_string(), MAX_ARGUMENTS))
}

/// Adds the lines of a message, the first one after a label.
fn push_lines(text: &mut String, label: &str, message: &str) {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    for (label, line) in labels.zip(message.lines()) {
        let _ = writeln!(text, "    {label}{}", printable(line));
    }
}

/// A comparison for people.
fn shown_comparison(comparison: &Comparison, names: [&str; 2], width: usize) -> String {
    let calls = match comparison.calls {
        0 => comparison.skipped.clone().unwrap_or_default(),
        calls => count(calls, "call"),
    };
    let mut text = format!("{:width$}  {:9}  {calls}\n", comparison.tool, comparison.status());
    if let Some((arguments, answers)) = &comparison.difference {
        let _ = writeln!(text, "  {}", shown_arguments(arguments));
        for (name, answer) in names.iter().zip(answers) {
            push_lines(&mut text, &format!("{name}: "), answer);
        }
    }
    text
}
