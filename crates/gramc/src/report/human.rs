//! Diagnostics for a terminal.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};

use gramc_syntax::{Diagnostic, Label, RenderOptions};

use super::Counts;
use crate::args::Color;
use crate::output::count;

/// The maximum number of diagnostics shown per file.
const MAX_SHOWN: usize = 50;

/// How many different helps of grouped diagnostics are shown.
const MAX_HELPS: usize = 3;

/// Writes diagnostics with their source lines, and their number.
pub(super) fn write(color: Color, found: &[Diagnostic], counts: Counts) -> io::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let stderr = io::stderr();
    let width = terminal_size::terminal_size_of(&stderr).map_or(100, |(width, _)| width.0.into());
    let options = RenderOptions { color: use_color(color, stderr.is_terminal()), width };
    let mut out = io::BufWriter::new(stderr.lock());
    for file in found.chunk_by(|a, b| a.source.name() == b.source.name()) {
        let mut left = file.len();
        for group in group_diagnostics(file) {
            let [first, others @ ..] = group.as_slice() else { continue };
            writeln!(out, "{}", together(first, others).render(options))?;
            left -= group.len();
            if file.len() - left >= MAX_SHOWN {
                break;
            }
        }
        if let (1.., Some(first)) = (left, file.first()) {
            writeln!(out, "… and {left} more in {}\n", first.source.name())?;
        }
    }
    let code = found.first().map_or("", |first| first.code.name);
    writeln!(out, "{}; run `gramc explain {code}` for details", summary(counts))?;
    out.flush()
}

/// The diagnostics of a file, with those of the same code and declaration together.
fn group_diagnostics(found: &[Diagnostic]) -> Vec<Vec<&Diagnostic>> {
    let mut groups: Vec<Vec<&Diagnostic>> = Vec::new();
    let mut places = HashMap::new();
    for diagnostic in found {
        let key = |declaration| (diagnostic.code.name, diagnostic.severity, declaration);
        match diagnostic.declaration.map(key) {
            Some(key) => {
                let at = *places.entry(key).or_insert(groups.len());
                match groups.get_mut(at) {
                    Some(group) => group.push(diagnostic),
                    None => groups.push(vec![diagnostic]),
                }
            }
            None => groups.push(vec![diagnostic]),
        }
    }
    groups
}

/// One diagnostic that shows all of a group: each message becomes the label of its place.
fn together<'d>(first: &'d Diagnostic, others: &[&Diagnostic]) -> Cow<'d, Diagnostic> {
    if others.is_empty() {
        return Cow::Borrowed(first);
    }
    let group = || std::iter::once(&first).chain(others);
    let mut all = first.clone();
    all.message = format!("{} (and {} more like it)", first.message, others.len());
    all.labels.clear();
    for diagnostic in group() {
        let mut labels = diagnostic.labels.iter().cloned();
        let own = labels.next().map(|label| Label { message: diagnostic.message.clone(), ..label });
        all.labels.extend(own.into_iter().chain(labels));
    }
    let mut helps: Vec<&str> = Vec::new();
    for help in group().filter_map(|one| one.help.as_deref()) {
        if !helps.contains(&help) && helps.len() < MAX_HELPS {
            helps.push(help);
        }
    }
    all.help = (!helps.is_empty()).then(|| helps.join("\n"));
    Cow::Owned(all)
}

fn summary(counts: Counts) -> String {
    let parts = [(counts.errors, "error"), (counts.warnings, "warning")];
    let parts = parts.into_iter().filter(|(found, _)| *found > 0);
    let parts: Vec<_> = parts.map(|(found, noun)| count(found, noun)).collect();
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
