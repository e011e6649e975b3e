//! Specifications from wherever a command takes them: files, folders, JSON tool lists, git revisions
//! and live servers.

use std::path::Path;

use gram_check::{Checked, Valid};
use gram_model::Module;
use gram_openapi::ApiOptions;
use gram_project::Revision;
use gram_project::files::is_gram;
use gram_schema::import::{ImportOptions, Imported, Origin, import};
use gram_syntax::{Severity, SourceFile, parse};
use serde::de::IgnoredAny;

use crate::args::{Display, Format, Inputs};
use crate::failure::Failure;
use crate::output::{say, say_each};
use crate::{input, report};

/// The most bytes of a JSON document that are read.
const MAX_BYTES: u64 = 64 << 20;

/// A specification without errors.
pub(crate) struct Source {
    pub(crate) module: Valid<Module>,
    /// Whether its texts are files of the working tree in gram, so that positions in them say
    /// something.
    pub(crate) has_positions: bool,
}

/// Reads a specification. Errors in it are shown, and nothing is returned.
pub(crate) fn read(path: &Path, display: Display) -> Result<Option<Source>, Failure> {
    if path.is_dir() || (is_gram(path) && path.exists()) {
        return of_inputs(&files(path), display);
    }
    let is_stdin = path.as_os_str() == "-";
    if !path.exists()
        && !is_stdin
        && let Some((revision, path)) = path.to_str().and_then(|path| path.split_once(':'))
    {
        return of_revision(revision, path, display);
    }
    let bytes = input::read_bytes(path, MAX_BYTES)?;
    if is_document(path, &bytes) {
        let name = if is_stdin { "<stdin>".to_owned() } else { path.display().to_string() };
        return of_document(&name, if is_stdin { Path::new("tool") } else { path }, bytes, display);
    }
    if path.is_file() {
        return of_inputs(&files(path), display);
    }
    // A stream cannot be read twice.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    of_inputs(&Inputs { text: Some(text), ..Inputs::default() }, display)
}

fn files(path: &Path) -> Inputs {
    Inputs { paths: vec![path.to_owned()], ..Inputs::default() }
}

/// The specification of `.gram` files, or of a text.
pub(crate) fn of_inputs(inputs: &Inputs, display: Display) -> Result<Option<Source>, Failure> {
    let has_positions = inputs.text.is_none();
    shown(input::read(inputs)?.check(), has_positions, display)
}

/// The tools of a JSON document. `name` is for messages, and a schema without a name becomes the tool
/// `tool`.
pub(crate) fn of_json(
    json: &str,
    (name, tool): (&str, &str),
    from: Origin,
    display: Display,
) -> Result<Option<Source>, Failure> {
    of_imported(import(json, &ImportOptions { from, name: tool, container: None }), name, display)
}

/// What was imported from another notation.
fn of_imported(
    imported: Result<Imported, impl std::fmt::Display>,
    name: &str,
    display: Display,
) -> Result<Option<Source>, Failure> {
    let imported = match imported {
        Ok(imported) => imported,
        Err(error) => {
            say(format_args!("gramc: {name}: {error}"));
            return Ok(None);
        }
    };
    if !display.errors_only {
        say_each("note: ", imported.notes.iter().map(|note| format!("{name}: {note}")));
    }
    let text = parse(SourceFile::new(name, imported.text));
    shown(gram_check::check(&[text]), false, display)
}

/// Whether a file holds JSON or another document that is imported, and not gram.
fn is_document(path: &Path, bytes: &[u8]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    let is_api = || {
        let text = std::str::from_utf8(bytes).ok();
        matches!(text.and_then(gram_openapi::api_document), Some(Ok(_)))
    };
    extension.is_some_and(|extension| ["json", "jsonl", "yaml", "yml"].contains(&extension))
        || (!is_gram(path) && (matches!(values.next(), Some(Ok(_))) || is_api()))
}

fn of_document(
    name: &str,
    path: &Path,
    bytes: Vec<u8>,
    display: Display,
) -> Result<Option<Source>, Failure> {
    let json = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format!("{name} is not valid UTF-8 at byte {at}"))
    })?;
    if let Some(document) = gram_openapi::api_document(&json) {
        let imported = document.and_then(|it| gram_openapi::import(&it, &ApiOptions::default()));
        return of_imported(imported.map(|imported| imported.specification), name, display);
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("tool");
    of_json(&json, (name, stem), Origin::Auto, display)
}

/// A file or folder as it is at a git revision.
fn of_revision(revision: &str, path: &str, display: Display) -> Result<Option<Source>, Failure> {
    let revision = Revision::open(revision, Path::new(""))
        .map_err(|why| Failure::new(format!("there is no file `{revision}:{path}`, and {why}")))?;
    let named = revision.find(path, |file| is_gram(Path::new(file)));
    if named.is_empty() {
        let shown = revision.shown(path);
        if revision.is_link(path) {
            return Err(Failure::new(format!(
                "{shown} is a symbolic link; name the file that it leads to"
            )));
        }
        return Err(Failure::new(format!(
            "there is no file and no folder with .gram files {shown}"
        )));
    }
    for file in named.iter().filter(|file| !is_gram(Path::new(file))) {
        let bytes = revision.read(file).map_err(Failure::new)?;
        if is_document(Path::new(file), &bytes) {
            return of_document(&revision.shown(file), Path::new(file), bytes, display);
        }
    }
    shown(revision.check(named).map_err(Failure::new)?, false, display)
}

/// Shows the diagnostics of a specification, and returns it if it has no errors.
fn shown(
    mut checked: Checked,
    has_positions: bool,
    display: Display,
) -> Result<Option<Source>, Failure> {
    if display.errors_only {
        checked.diagnostics.retain(|found| found.severity == Severity::Error);
    }
    // Where there is no error, the comparison follows on standard output.
    let display = match display.format {
        Format::Human | Format::Concise => display,
        Format::Markdown | Format::Junit => Display { format: Format::Human, ..display },
        _ if checked.module.is_some() => Display { format: Format::Concise, ..display },
        _ => display,
    };
    report::show(display, &checked.diagnostics)?;
    Ok(checked.module.map(|module| Source { module, has_positions }))
}
