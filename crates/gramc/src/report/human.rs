//! Findings for people at a terminal.

use std::io::{self, IsTerminal, Write};

use gram_syntax::{Diagnostic, RenderOptions};

use super::Counts;
use crate::args::Color;

/// How many findings of a file are shown to people.
const MOST_SHOWN: usize = 50;

/// Writes findings with their lines of source, and how many there are.
pub(super) fn write(color: Color, found: &[Diagnostic], counts: Counts) -> io::Result<()> {
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
