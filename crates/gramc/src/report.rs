//! The output of diagnostics, with one file per format.

mod github;
mod human;
mod sarif;

use std::borrow::Cow;
use std::io::{self, Write};

use gramc_project::diagnostic_json;
use gramc_syntax::{Diagnostic, Severity};

use crate::args::{Display, Format};
use crate::failure::{CLEAN, Failure, PROBLEMS};

pub(crate) use github::command;

/// The number of diagnostics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
}

impl Counts {
    /// The exit code that they make.
    pub(crate) fn exit_code(self, deny_warnings: bool) -> i32 {
        let denied = deny_warnings && self.warnings > 0;
        if self.errors > 0 || denied { PROBLEMS } else { CLEAN }
    }
}

/// Prints diagnostics, grouped by file, and counts them.
pub(crate) fn show(display: Display, found: &[Diagnostic]) -> Result<Counts, Failure> {
    let counts = found.iter().fold(Counts::default(), |mut counts, diagnostic| {
        match diagnostic.severity {
            Severity::Error => counts.errors += 1,
            Severity::Warning => counts.warnings += 1,
            Severity::Note => {}
        }
        counts
    });
    let stdout = || io::stdout().lock();
    let written = match display.format {
        Format::Human | Format::Markdown | Format::Junit => {
            human::write(display.color, found, counts)
        }
        Format::Concise => lines(io::stderr().lock(), found, Diagnostic::concise),
        Format::Json => lines(stdout(), found, |found| diagnostic_json(found).to_string()),
        Format::Github => lines(stdout(), found, github::annotation),
        // A document without results says that the files were checked.
        Format::Sarif => lines(stdout(), &[found], |found| sarif::document(found).to_string()),
    };
    written.map_err(|error| Failure::output(&error))?;
    Ok(counts)
}

/// Fails if diagnostics would go to standard output and mix with the output of the command.
/// `instead` is the help text.
pub(crate) fn reserve_stdout(display: Display, instead: &str) -> Result<(), Failure> {
    let format = match display.format {
        Format::Human | Format::Concise | Format::Markdown | Format::Junit => return Ok(()),
        Format::Json => "json",
        Format::Sarif => "sarif",
        Format::Github => "github",
    };
    let why = format!("--format {format} writes diagnostics to standard output; {instead}");
    Err(Failure::new(why))
}

fn lines<T>(out: impl Write, items: &[T], line: impl Fn(&T) -> String) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    for item in items {
        writeln!(out, "{}", line(item))?;
    }
    out.flush()
}

/// The message and the help as one text, for formats without a separate field for the help.
fn message_and_help(diagnostic: &Diagnostic) -> Cow<'_, str> {
    match &diagnostic.help {
        Some(help) => Cow::Owned(format!("{}\n{help}", diagnostic.message)),
        None => Cow::Borrowed(&diagnostic.message),
    }
}

/// The name of a text as a path with forward slashes, as CI services have them everywhere.
fn forward_slashes(name: &str) -> Cow<'_, str> {
    // Elsewhere a backslash is part of a file's name.
    if cfg!(windows) { Cow::Owned(name.replace('\\', "/")) } else { Cow::Borrowed(name) }
}
