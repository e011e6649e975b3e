//! `gramc fmt`

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use gramc_diff::report::printable;
use gramc_project::{Inputs, Projects};
use gramc_syntax::{Diagnostic, FormatError, FormatOptions, Parse, Position, Span};

use crate::args::{Display, Fmt, Format};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output::say;
use crate::{output, report, save};

/// How long to look for the shortest difference of a file.
const DIFF_TIME: Duration = Duration::from_secs(2);

/// The outcome for a file.
enum Done {
    /// It is formatted already.
    Same,
    /// It was formatted, or would be. The diagnostic is for `--check`.
    Changed(Option<Box<Diagnostic>>),
    /// It has syntax errors, and was left alone.
    Wrong(Vec<Diagnostic>),
    /// It could not be read, formatted or written.
    Failed(Failure),
}

/// A file, its outcome, and the text for standard output.
struct File {
    name: String,
    done: Done,
    shown: String,
}

/// Formats files, as wide as the project wants them unless an argument says otherwise.
pub(super) fn run(args: &Fmt, display: Display) -> Outcome {
    let one_file = args.inputs.is_one();
    if args.range.is_some() && !one_file {
        return Err(Failure::new("--range requires a single file"));
    }
    let projects = Projects::default();
    let named =
        Some(Path::new(&args.inputs.stdin_filename)).filter(|name| name.extension().is_some());
    let files = Inputs::from(&args.inputs).map_files(|path, parse| {
        let width = match args.width {
            Some(width) => Ok(width),
            // Each file belongs to a project of its own, whatever it is named together with.
            None => projects.settings_of(path.or(named)).map(|project| project.width),
        };
        let parse = width.and_then(|width| Ok((FormatOptions { width }, parse?)));
        file(args, display.format, path, parse.map_err(Failure::from))
    })?;
    let mistakes = projects.into_diagnostics();
    for file in &files {
        output::print(&file.shown)?;
    }
    report_files(args, files, mistakes, display)
}

/// Formats one file, and writes it unless `--check` or `--diff` is given.
fn file(
    args: &Fmt,
    format: Format,
    path: Option<&Path>,
    parse: Result<(FormatOptions, Parse), Failure>,
) -> File {
    let path_name = || path.map_or_else(String::new, |path| path.display().to_string());
    let (options, parse) = match parse {
        Ok(parse) => parse,
        Err(failure) => {
            return File { name: path_name(), done: Done::Failed(failure), shown: String::new() };
        }
    };
    let name = parse.source().name().to_owned();
    let looks = args.check || args.diff;
    let mut shown = String::new();
    let done = match format_text(args, options, &parse) {
        Err(FormatError::Syntax) => Done::Wrong(parse.diagnostics().to_vec()),
        Err(FormatError::Changed(span)) => Done::Failed(unsafe_to_format(&parse, span)),
        Ok(text) => {
            let same = text == parse.source().text();
            if args.diff {
                shown = difference(&name, parse.source().text(), &text);
            }
            match path {
                Some(path) if !same && !looks => match save::replace(path, &text) {
                    Ok(()) => Done::Changed(None),
                    Err(failure) => Done::Failed(failure),
                },
                None if !looks => {
                    shown = text;
                    Done::Changed(None)
                }
                _ if same => Done::Same,
                // For people, the names are enough. The place of a change takes formatting the text
                // again.
                _ if !args.check || format == Format::Human => Done::Changed(None),
                _ => {
                    let diagnostic = gramc_syntax::diagnose_format(&parse, options).ok().flatten();
                    Done::Changed(diagnostic.map(Box::new))
                }
            }
        }
    };
    File { name, done, shown }
}

/// The formatted text of a file, or of some of its lines.
fn format_text(args: &Fmt, options: FormatOptions, parse: &Parse) -> Result<String, FormatError> {
    let Some((first, last)) = args.range else {
        return gramc_syntax::format(parse, options);
    };
    let source = parse.source();
    let at = |line: u32, column| source.offset_utf8(Position { line, column });
    let span = Span::new(at(first - 1, 0), at(last - 1, u32::MAX));
    let mut text = source.text().to_owned();
    for edit in gramc_syntax::format_range(parse, options, span)?.iter().rev() {
        text.replace_range(edit.span.range(), &edit.text);
    }
    Ok(text)
}

fn unsafe_to_format(parse: &Parse, span: Span) -> Failure {
    let place = parse.source().position(span.start);
    let (name, error) = (printable(parse.source().name()), FormatError::Changed(span));
    let place = format!("{name}:{}:{}", place.line + 1, place.column + 1);
    Failure::new(format!("{place}: the file is not changed: {error}"))
}

/// A unified diff; nothing where both texts are the same.
fn difference(name: &str, before: &str, after: &str) -> String {
    let mut config = similar::TextDiff::configure();
    let diff = config.timeout(DIFF_TIME).diff_lines(before, after);
    let name = printable(name);
    diff.unified_diff().header(&name, &name).to_string()
}

/// Reports the outcomes of the files, and returns the exit code.
fn report_files(
    args: &Fmt,
    files: Vec<File>,
    mut found_diagnostics: Vec<Diagnostic>,
    display: Display,
) -> Outcome {
    let looks = args.check || args.diff;
    let stdin_alone = files.len() == 1 && args.inputs.is_stream();
    let (mut code, mut changed) = (CLEAN, Vec::new());
    let (mut changed_count, mut same, mut wrong, mut failed) = (0, 0, 0, 0);
    let mistaken = !found_diagnostics.is_empty();
    for File { name, done, .. } in files {
        match done {
            Done::Same => same += 1,
            Done::Changed(diagnostic) => {
                changed_count += 1;
                match diagnostic {
                    Some(diagnostic) if display.format != Format::Human => {
                        found_diagnostics.push(*diagnostic);
                    }
                    _ => changed.push(name),
                }
            }
            Done::Wrong(diagnostics) => {
                wrong += 1;
                found_diagnostics.extend(diagnostics);
            }
            Done::Failed(failure) => {
                failed += 1;
                code = failure.report();
            }
        }
    }
    report::show(display, &found_diagnostics)?;
    if args.check && display.format == Format::Human {
        for name in &changed {
            say(format_args!("{}: not formatted", printable(name)));
        }
    }
    if display.format == Format::Human && (looks || !stdin_alone) {
        let formatted = if looks { "would be formatted" } else { "formatted" };
        say(summarize(&[
            (changed_count, formatted),
            (same, "unchanged"),
            (wrong, "with errors"),
            (failed, "failed"),
        ]));
    }
    let found = mistaken || wrong > 0 || (looks && changed_count > 0);
    Ok(if code == CLEAN && found { PROBLEMS } else { code })
}

/// `3 files formatted, 10 unchanged`
fn summarize(counts: &[(usize, &str)]) -> String {
    let mut summary = String::new();
    for (count, state) in counts.iter().filter(|(count, _)| *count > 0) {
        let files = if *count == 1 { " file" } else { " files" };
        let (comma, files) = if summary.is_empty() { ("", files) } else { (", ", "") };
        // Writing to a string does not fail.
        let _ = write!(summary, "{comma}{count}{files} {state}");
    }
    summary
}
