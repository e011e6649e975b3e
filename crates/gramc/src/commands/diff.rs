//! `gramc diff`

mod adapted;
mod policy;

use std::ffi::OsString;
use std::path::Path;

use gramc_diff::report::{Allowed, changelog, human, markdown, printable};
use gramc_diff::{Adaptation, Breaking, Change, adapt, diff};
use gramc_project::ValidTexts;
use gramc_syntax::SourceFile;
use gramc_syntax::Span;

use super::calls::only_one_reads;
use crate::args::{Diff, Display, Format};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::source;
use crate::{output, report};

pub(super) fn run(args: &Diff, display: Display) -> Outcome {
    if display.format == Format::Sarif {
        return Err(Failure::new(
            "--format sarif is for diagnostics of files: use human, concise, json, github or markdown",
        ));
    }
    if args.changelog && !matches!(display.format, Format::Human | Format::Markdown) {
        return Err(Failure::new(
            "--changelog prints Markdown and cannot be used with another --format",
        ));
    }
    only_one_reads(&[&args.old, args.new.as_deref().unwrap_or(Path::new(""))])?;
    let Some(old) = read_old(args, display)? else { return Ok(PROBLEMS) };
    let Some(new) = read_new(args, display)? else { return Ok(PROBLEMS) };
    if args.policy {
        return policy::check(&old, &new, &Allowed(args.allow.clone()), display);
    }
    let base = match &args.adapt {
        Some(path) => {
            let Some(base) = adapted::base(args, path, &new, display)? else { return Ok(PROBLEMS) };
            Some((path, base))
        }
        None => None,
    };
    let changes = diff(&old.module, &new.module);
    let allowed = Allowed(args.allow.clone());
    output::print(&match display.format {
        _ if args.changelog => changelog(&changes),
        Format::Markdown => markdown(&changes, &allowed),
        Format::Json => lines(&changes, |change| {
            // All keys are strings, so a change can be written.
            serde_json::to_string(change).unwrap_or_default()
        }),
        Format::Github => lines(&changes, |change| annotation(change, &new, &allowed)),
        Format::Concise => lines(&changes, concise),
        Format::Human | Format::Sarif | Format::Junit => human(&changes, &allowed),
    })?;
    let mut adapted = Vec::new();
    if let Some((path, base)) = base {
        adapted = adapt(&old.module, &new.module, &changes);
        adapted::write(base, path, &adapted, display)?;
    }
    let is_adapted = |change: &Change| {
        let is_it = |it: &Adaptation| it.tool == change.tool && it.outcome.is_ok();
        adapted.iter().any(is_it)
    };
    let breaks = changes.iter().any(|change| allowed.forbids(change) && !is_adapted(change));
    Ok(if breaks { PROBLEMS } else { CLEAN })
}

/// The old version: a file, or the last commit of the only file.
fn read_old(args: &Diff, display: Display) -> Result<Option<ValidTexts>, Failure> {
    if args.new.is_some() || args.live.server().is_named() {
        return source::read(&args.old, display);
    }
    if !args.old.exists() {
        let old = args.old.display();
        return Err(Failure::new(format!(
            "{old} does not exist; to compare two versions, name both"
        )));
    }
    let mut revision = OsString::from("HEAD:");
    revision.push(&args.old);
    source::read(Path::new(&revision), display).map_err(|error| {
        Failure::new(format!("cannot compare {} with its last commit: {error}", args.old.display()))
    })
}

/// The new version: a file, or the tools of a live server.
fn read_new(args: &Diff, display: Display) -> Result<Option<ValidTexts>, Failure> {
    let server = args.live.server();
    if server.is_named() {
        return source::read_server(&server, display);
    }
    source::read(args.new.as_ref().unwrap_or(&args.old), display)
}

fn lines(changes: &[Change], line: impl Fn(&Change) -> String) -> String {
    changes.iter().map(|change| line(change) + "\n").collect()
}

fn concise(change: &Change) -> String {
    let breaking = match change.breaking {
        Breaking::Yes => "breaking",
        Breaking::Unknown => "undecided",
        Breaking::No => "compatible",
    };
    let Change { tool, kind, message, .. } = change;
    printable(&format!("{tool}: {breaking}[{}] {message}", kind.name()))
}

/// A change as an annotation of the tool in the new version.
fn annotation(change: &Change, new: &ValidTexts, allowed: &Allowed) -> String {
    let level = match change.breaking {
        Breaking::Yes if allowed.forbids(change) => "error",
        Breaking::Yes | Breaking::Unknown => "warning",
        Breaking::No => "notice",
    };
    let mut message = format!("{}: {}", change.tool, change.message);
    if let Some(witness) = &change.witness {
        message = format!("{message}\nfor example {}", witness.value);
    }
    report::command(level, place(change, new), change.kind.name(), &message)
}

/// Where the new version declares the tool of a change.
fn place<'s>(change: &Change, new: &'s ValidTexts) -> Option<(&'s SourceFile, Span)> {
    let name = change.to.as_ref().unwrap_or(&change.tool);
    let at = new.module.tools.iter().position(|tool| tool.name == *name)?;
    let place = new.module.spans().tool(at).filter(|_| new.texts.has_positions)?;
    let source = new.module.spans().sources().get(place.file)?;
    Some((source, place.name))
}
