//! Specifications from wherever a command takes one: files, folders, documents that are imported, git
//! revisions and live MCP servers.

use std::path::{Path, PathBuf};

use gramc_check::{Valid, check};
use gramc_model::{Library, Module};
use gramc_openapi::ApiOptions;
use gramc_project::Revision;
use gramc_project::files::is_gram;
use gramc_schema::import::{ImportOptions, Imported, Origin, import};
use gramc_syntax::{Limits, Parse, Severity, SourceFile, parse, parse_bytes};
use serde::de::IgnoredAny;

use crate::args::{Display, Format, Inputs, LiveServer};
use crate::failure::Failure;
use crate::imports::ImportPaths;
use crate::input::{self, Texts};
use crate::output::say_each;
use crate::server_library::server_library;
use crate::{live, report};

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
    let (paths, stdin_filename) = (vec![path.to_owned()], "<stdin>".to_owned());
    let inputs = Inputs { paths, stdin_filename, ..Inputs::default() };
    shown(&texts(&inputs, &LiveServer::default(), display)?, display)
}

/// Reads the project around the current folder. Errors in it are shown, and nothing is returned.
pub(crate) fn read_project(display: Display) -> Result<Option<Source>, Failure> {
    shown(&input::read(&Inputs::default())?, display)
}

/// Reads the tools of a live server.
pub(crate) fn read_server(
    server: &LiveServer,
    display: Display,
) -> Result<Option<Source>, Failure> {
    shown(&of_server(server, display)?, display)
}

/// Reads the tools that a live server has listed.
pub(crate) fn read_listed(listed: &str, display: Display) -> Result<Option<Source>, Failure> {
    shown(&of_listed(listed, display)?, display)
}

/// Reads the texts of a specification: of the server that is named, or of the inputs.
pub(crate) fn texts(
    inputs: &Inputs,
    server: &LiveServer,
    display: Display,
) -> Result<Texts, Failure> {
    if server.is_named() {
        if !inputs.paths.is_empty() || inputs.text.is_some() {
            return Err(Failure::new("name files or an MCP server, not both"));
        }
        return of_server(server, display);
    }
    let texts = of_inputs(inputs, display)?;
    if !server.env.is_empty() && texts.library.is_none() {
        return Err(Failure::new(live::ENV_ALONE));
    }
    Ok(texts)
}

fn of_inputs(inputs: &Inputs, display: Display) -> Result<Texts, Failure> {
    let [path] = &inputs.paths[..] else { return input::read(inputs) };
    if path.is_dir() || (is_gram(path) && path.exists()) {
        return input::read(inputs);
    }
    if let Some((revision, path)) = revision_path(path) {
        return of_revision(revision, path, display);
    }
    let bytes = input::read_bytes(path, MAX_BYTES)?;
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { inputs.stdin_filename.clone() } else { path.display().to_string() };
    if is_document(path, &bytes) {
        return of_document(&name, if is_stdin { Path::new("tool") } else { path }, bytes, display);
    }
    // A stream cannot be read twice.
    let path = (!is_stdin).then(|| path.clone());
    let texts = Texts::new(vec![(path, parse_bytes(name, bytes, &Limits::default()))]);
    Ok(Texts { has_positions: !is_stdin, ..texts })
}

/// Reads texts in gram, at a git revision if that is named.
pub(crate) fn gram_texts(inputs: &Inputs, display: Display) -> Result<Texts, Failure> {
    match &inputs.paths[..] {
        [path] => match revision_path(path) {
            Some((revision, path)) => of_revision(revision, path, display),
            None => input::read(inputs),
        },
        _ => input::read(inputs),
    }
}

/// The revision and the path of `REV:PATH`, if there is no file of that name.
fn revision_path(path: &Path) -> Option<(&str, &str)> {
    let named = if path.exists() { None } else { path.to_str() };
    named?.split_once(':')
}

/// The tools of a live server, and the library that calls them.
fn of_server(server: &LiveServer, display: Display) -> Result<Texts, Failure> {
    let listed = live::tools_of(server)?.ok_or_else(|| Failure::new("no MCP server is named"))?;
    let texts = of_listed(&listed.to_string(), display)?;
    Ok(Texts { library: Some(server_library(server, Path::new(""))?), ..texts })
}

fn of_listed(listed: &str, display: Display) -> Result<Texts, Failure> {
    of_json(listed, (live::SERVER, "tool"), Origin::Mcp, display)
}

/// The tools of a JSON document. `name` is for messages, and a schema without a name becomes the tool
/// `tool`.
fn of_json(
    json: &str,
    (name, tool): (&str, &str),
    from: Origin,
    display: Display,
) -> Result<Texts, Failure> {
    let imported = import(json, &ImportOptions { from, name: tool, container: None });
    Ok(of_imported(imported.map_err(|error| invalid(name, &error))?, name, display))
}

/// Why a document cannot be imported.
pub(crate) fn invalid(name: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::InvalidInput(format!("{name}: {error}"))
}

/// What is wrong with other documents in YAML.
pub(crate) const NOT_AN_API: &str =
    "not a description of an API (OpenAPI 3, Swagger 2.0, Google Discovery)";

/// What was imported from another notation.
fn of_imported(imported: Imported, name: &str, display: Display) -> Texts {
    if !display.errors_only {
        say_each("note: ", imported.notes.iter().map(|note| format!("{name}: {note}")));
    }
    let text = parse(SourceFile::new(name, imported.text));
    Texts { has_positions: false, ..Texts::new(vec![(None, text)]) }
}

/// Whether a file holds JSON or another document that is imported, and not gram.
fn is_document(path: &Path, bytes: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    let is_api = || {
        let text = std::str::from_utf8(bytes).ok();
        matches!(text.and_then(gramc_openapi::api_document), Some(Ok(_)))
    };
    has_extension(path, &["json", "jsonl", "yaml", "yml"])
        || (!is_gram(path) && (matches!(values.next(), Some(Ok(_))) || is_api()))
}

/// Whether a file has the extension of YAML.
pub(crate) fn is_yaml(path: &Path) -> bool {
    has_extension(path, &["yaml", "yml"])
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|it| known.iter().any(|known| it.eq_ignore_ascii_case(known)))
}

/// The tools of a document. Those of an API come with the library that calls it.
fn of_document(
    name: &str,
    path: &Path,
    bytes: Vec<u8>,
    display: Display,
) -> Result<Texts, Failure> {
    let json = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format!("{name} is not valid UTF-8 at byte {at}"))
    })?;
    if let Some(document) = gramc_openapi::api_document(&json) {
        let imported = document.and_then(|it| gramc_openapi::import(&it, &ApiOptions::default()));
        let imported = imported.map_err(|error| invalid(name, &error))?;
        let texts = of_imported(imported.specification, name, display);
        return Ok(Texts { library: library_in(&imported.library), ..texts });
    }
    if is_yaml(path) {
        return Err(invalid(name, &NOT_AN_API));
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("tool");
    of_json(&json, (name, stem), Origin::Auto, display)
}

/// The library that a text declares.
fn library_in(text: &str) -> Option<Library> {
    let module = check(&[parse(SourceFile::new("library", text))]).module?;
    module.libraries.first().cloned()
}

/// A file or folder as it is at a git revision.
fn of_revision(revision: &str, path: &str, display: Display) -> Result<Texts, Failure> {
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
    let count = named.len();
    let (texts, imports) = revision.texts(named).map_err(Failure::new)?;
    let path = |file: &str| Some(revision.working_path(file));
    let (paths, all): (Vec<Option<PathBuf>>, Vec<Parse>) =
        texts.into_iter().map(|(file, text)| (path(&file), text)).unzip();
    let paths = ImportPaths::new(paths);
    Ok(Texts { all, named: count, paths, imports, has_positions: false, library: None })
}

/// Shows the diagnostics of a specification, and returns it if it has no errors.
fn shown(texts: &Texts, display: Display) -> Result<Option<Source>, Failure> {
    let mut checked = texts.check();
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
    let has_positions = texts.has_positions;
    Ok(checked.module.map(|module| Source { module, has_positions }))
}
