//! Findings to people and programs.

use std::io::{self, IsTerminal, Write};

use gram_syntax::{Applicability, Diagnostic, RenderOptions, Severity, SourceFile, Span};
use serde_json::{Value, json};

use crate::args::{Color, Display, Format};
use crate::failure::{CLEAN, FINDINGS, Failure};

/// How many findings of a file are shown to people.
const MOST_SHOWN: usize = 50;

/// How many findings there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
}

impl Counts {
    /// The exit code that they make.
    pub(crate) fn exit_code(self, deny_warnings: bool) -> i32 {
        let denied = deny_warnings && self.warnings > 0;
        if self.errors > 0 || denied { FINDINGS } else { CLEAN }
    }
}

/// Shows findings, those of a file together, and counts them.
pub(crate) fn show(display: Display, found: &[Diagnostic]) -> Result<Counts, Failure> {
    let counts = found.iter().fold(Counts::default(), |mut counts, diagnostic| {
        match diagnostic.severity {
            Severity::Error => counts.errors += 1,
            Severity::Warning => counts.warnings += 1,
            Severity::Note => {}
        }
        counts
    });
    let written = match display.format {
        Format::Json => {
            lines(io::stdout().lock(), found, |diagnostic| to_json(diagnostic).to_string())
        }
        Format::Concise => lines(io::stderr().lock(), found, Diagnostic::concise),
        Format::Human => human(display.color, found, counts),
    };
    written.map_err(|error| Failure::output(&error))?;
    Ok(counts)
}

fn lines(
    out: impl Write,
    found: &[Diagnostic],
    line: impl Fn(&Diagnostic) -> String,
) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    for diagnostic in found {
        writeln!(out, "{}", line(diagnostic))?;
    }
    out.flush()
}

fn human(color: Color, found: &[Diagnostic], counts: Counts) -> io::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let stderr = io::stderr();
    let width = terminal_size::terminal_size_of(&stderr).map_or(100, |(width, _)| width.0.into());
    let options = RenderOptions { color: use_color(color, stderr.is_terminal()), width };
    let mut out = io::BufWriter::new(stderr.lock());
    for file in found.chunk_by(|a, b| a.source.name() == b.source.name()) {
        for diagnostic in file.iter().take(MOST_SHOWN) {
            writeln!(out, "{}", diagnostic.render(options))?;
        }
        if let (Some(more @ 1..), Some(first)) = (file.len().checked_sub(MOST_SHOWN), file.first())
        {
            writeln!(out, "… and {more} more in {}\n", first.source.name())?;
        }
    }
    let code = found.first().map_or("", |first| first.code.name);
    writeln!(out, "{}; `gramc explain {code}` says more", summary(counts))?;
    out.flush()
}

fn summary(counts: Counts) -> String {
    let count = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(format!("1 {what}")),
        n => Some(format!("{n} {what}s")),
    };
    let parts = [count(counts.errors, "error"), count(counts.warnings, "warning")];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "only notes".to_owned() } else { parts.join(", ") }
}

/// Whether to use colours. A flag beats the environment; `NO_COLOR` beats `FORCE_COLOR`.
fn use_color(color: Color, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto => terminal || set("FORCE_COLOR"),
    }
}

/// A finding as JSON. Lines and columns count from 1, columns in characters; offsets count
/// bytes from 0.
fn to_json(diagnostic: &Diagnostic) -> Value {
    let source = &*diagnostic.source;
    let place = diagnostic.span();
    let labels: Vec<_> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let source = label.source.as_deref().unwrap_or(source);
            json!({
                "path": source.name(),
                "start": position(source, label.span.start),
                "end": position(source, label.span.end),
                "message": label.message,
            })
        })
        .collect();
    let fixes: Vec<_> = diagnostic
        .fixes
        .iter()
        .map(|fix| {
            let safe = fix.applicability == Applicability::Safe;
            let edits = fix.edits.iter().map(|edit| {
                let Span { start, end } = edit.span;
                json!({"start": position(source, start), "end": position(source, end), "text": edit.text})
            });
            json!({
                "message": fix.message,
                "applicability": if safe { "safe" } else { "needs-look" },
                "edits": edits.collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "path": source.name(),
        "start": position(source, place.start),
        "end": position(source, place.end),
        "severity": diagnostic.severity.name(),
        "code": diagnostic.code.name,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "labels": labels,
        "fixes": fixes,
    })
}

fn position(source: &SourceFile, offset: u32) -> Value {
    let position = source.position(offset);
    json!({"line": position.line + 1, "column": position.column + 1, "offset": offset})
}
