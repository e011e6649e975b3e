//! Specifications as commands name them: files, documents, git revisions and live MCP servers.

use std::path::Path;

use gramc_project::{Texts, ValidTexts};
use gramc_syntax::Severity;

use crate::args::{Display, Format, Inputs, LiveServer};
use crate::failure::Failure;
use crate::output::say_each;
use crate::server_library::server_library;
use crate::{live, report};

/// Reads a specification. Errors in it are shown, and nothing is returned.
pub(crate) fn read(path: &Path, display: Display) -> Result<Option<ValidTexts>, Failure> {
    let texts = Texts::load(&gramc_project::Inputs::of_paths(vec![path.to_owned()]))?;
    check(with_notes(texts, display), display)
}

/// Reads the project around the current folder. Errors in it are shown, and nothing is returned.
pub(crate) fn read_project(display: Display) -> Result<Option<ValidTexts>, Failure> {
    check(Texts::read(&gramc_project::Inputs::of_paths(Vec::new()))?, display)
}

/// Reads the tools of a live server.
pub(crate) fn read_server(
    server: &LiveServer,
    display: Display,
) -> Result<Option<ValidTexts>, Failure> {
    check(texts_of_server(server, display)?, display)
}

/// Reads the tools that a live server has listed.
pub(crate) fn read_listed(listed: &str, display: Display) -> Result<Option<ValidTexts>, Failure> {
    check(texts_of_listed(listed, display)?, display)
}

/// Reads the texts of a specification: of the named server, or of the inputs.
pub(crate) fn texts(
    inputs: &Inputs,
    server: &LiveServer,
    display: Display,
) -> Result<Texts, Failure> {
    if server.is_named() {
        if !inputs.paths.is_empty() || inputs.text.is_some() {
            return Err(Failure::new("name files or an MCP server, not both"));
        }
        return texts_of_server(server, display);
    }
    let texts = with_notes(Texts::load(&inputs.into())?, display);
    if !server.env.is_empty() && texts.library.is_none() {
        return Err(Failure::new(live::ENV_ALONE));
    }
    Ok(texts)
}

/// Reads gram files, at a git revision if one is named.
pub(crate) fn gram_texts(inputs: &Inputs, display: Display) -> Result<Texts, Failure> {
    Ok(with_notes(Texts::load_gram(&inputs.into())?, display))
}

/// The tools of a live server, and the library that calls them.
fn texts_of_server(server: &LiveServer, display: Display) -> Result<Texts, Failure> {
    let listed = live::tools_of(server)?.ok_or_else(|| Failure::new("no MCP server is named"))?;
    let mut texts = texts_of_listed(&listed.to_string(), display)?;
    texts.library = Some(server_library(server, Path::new(""))?);
    Ok(texts)
}

fn texts_of_listed(listed: &str, display: Display) -> Result<Texts, Failure> {
    Ok(with_notes(Texts::import_listed(listed, live::SERVER)?, display))
}

/// Prints the notes of an import.
fn with_notes(texts: Texts, display: Display) -> Texts {
    if !display.errors_only {
        say_each("note: ", &texts.notes);
    }
    texts
}

/// Shows the diagnostics of a specification, and returns it if it has no errors.
pub(crate) fn check(texts: Texts, display: Display) -> Result<Option<ValidTexts>, Failure> {
    let mut checked = texts.check();
    if display.errors_only {
        checked.diagnostics.retain(|found| found.severity == Severity::Error);
    }
    // Where there is no error, the output of the command follows on standard output.
    let display = match display.format {
        Format::Json | Format::Sarif | Format::Github if checked.module.is_some() => {
            Display { format: Format::Concise, ..display }
        }
        _ => display,
    };
    report::show(display, &checked.diagnostics)?;
    Ok(checked.module.map(|module| ValidTexts { module, texts }))
}

/// Shows the errors and warnings of texts, and returns them if they have no errors. `gramc check` also
/// shows notes.
pub(crate) fn check_without_notes(
    texts: Texts,
    display: Display,
) -> Result<Option<ValidTexts>, Failure> {
    let mut checked = texts.check();
    checked.diagnostics.retain(|found| found.severity > Severity::Note);
    report::show(display, &checked.diagnostics)?;
    Ok(checked.module.map(|module| ValidTexts { module, texts }))
}
