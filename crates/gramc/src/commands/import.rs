//! `gramc import`

use std::io::{self, Write};
use std::path::Path;

use gramc_openapi::{ApiError, ApiOptions};
use gramc_project::files::{decode, is_yaml, read_bytes};
use gramc_project::{DocumentError, LoadError, MAX_DOCUMENT_BYTES};
use gramc_schema::import::{ImportOptions, Imported, Origin, import};
use gramc_tools::http_client::{address, without_secrets};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::args::{Import, InputFormat};
use crate::failure::{CLEAN, Failure, Outcome, PROBLEMS};
use crate::output::{count, say};
use crate::{live, output, server_library};

/// What is wrong with a library for tools that nothing calls.
const NO_CALLS: &str = "--library-out needs an MCP server or the description of an API: add --command or \
                        --url, or name an OpenAPI document";

/// What is wrong with options about operations of an API for other tools.
const ONLY_API: &str = "--include, --exclude, --tag and --server need the description of an API";

/// How many places are named one by one.
const MAX_NAMED: usize = 20;

pub(super) fn run(mut args: Import) -> Outcome {
    let mut fetched = None;
    if let Some(url) = args.url() {
        fetched = live::document(&url)?;
        if fetched.is_none() {
            args = args.of_server(url);
        }
    }
    import_input(&args, fetched)
}

/// Imports a file, a `fetched` document, or the tools of a server.
fn import_input(args: &Import, fetched: Option<String>) -> Outcome {
    let (server, prefix) = (args.live.server(), args.prefix.as_deref());
    let (json, called, library) = match &args.file {
        Some(file) => {
            let text = fetched.map_or_else(|| read(file), Ok)?;
            let called = args.url().map_or(file.display().to_string(), |url| shown_url(&url));
            let document = match args.from {
                InputFormat::Api => Some(gramc_openapi::parse(&text)),
                InputFormat::Tools(Origin::Auto) => gramc_openapi::api_document(&text),
                InputFormat::Tools(_) => None,
            };
            if let Some(document) = document {
                return api(args, document, &called);
            }
            let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            if !is_json && is_yaml(file) {
                return Err(LoadError::document(&called, DocumentError::NotAnApi).into());
            }
            // What is no JSON at all is reported as such.
            if args.library_out.is_some() && !args.is_library_optional && is_json {
                return Err(Failure::new(NO_CALLS));
            }
            (text, called, None)
        }
        None if !server.is_named() && args.library_out.is_some() => {
            return Err(Failure::new(NO_CALLS));
        }
        None => {
            // Better now than after the server was started.
            let library = args.library_out.as_deref().filter(|_| server.is_named());
            let library =
                library.map(|path| server_library::text(&server, path, prefix)).transpose()?;
            let missing =
                "missing input: name a file, a URL, - for standard input, --command or --url";
            let mut tools = live::tools_of(&server)?.ok_or_else(|| Failure::new(missing))?;
            for tool in tools["tools"].as_array_mut().into_iter().flatten() {
                if let (Some(prefix), Some(name)) = (prefix, tool["name"].as_str()) {
                    tool["name"] = format!("{prefix}{name}").into();
                }
            }
            (tools.to_string(), live::SERVER.to_owned(), library)
        }
    };
    let is_for_api = args.server.is_some()
        || [&args.include, &args.exclude, &args.tag].iter().any(|patterns| !patterns.is_empty());
    if is_for_api {
        return Err(Failure::new(ONLY_API));
    }
    let stem = args.file.as_deref().and_then(Path::file_stem).and_then(|stem| stem.to_str());
    let name = args.name.as_deref().or(stem.filter(|stem| *stem != "-")).unwrap_or("tool");
    let from = match args.from {
        InputFormat::Tools(origin) if args.file.is_some() => origin,
        _ => Origin::Mcp,
    };
    let options = ImportOptions { from, name, container: args.container.as_deref() };
    match import(&json, &options) {
        Ok(imported) => write(args, &imported, library.as_deref()),
        Err(error) => {
            say(format_args!("gramc: {called}: {error}"));
            Ok(PROBLEMS)
        }
    }
}

/// A URL without its password and query.
fn shown_url(url: &str) -> String {
    address(url).map_or_else(|| "the URL".to_owned(), |url| without_secrets(&url))
}

/// Imports the description of an API.
fn api(args: &Import, document: Result<Value, ApiError>, called: &str) -> Outcome {
    let options = ApiOptions {
        name: args.name.as_deref().unwrap_or_default(),
        server: args.server.as_deref(),
        include: &args.include,
        exclude: &args.exclude,
        tags: &args.tag,
        container: args.container.as_deref(),
    };
    match document.and_then(|document| gramc_openapi::import(&document, &options)) {
        Ok(imported) => write(args, &imported.specification, Some(&imported.library)),
        Err(error) => {
            say(format_args!("gramc: {called}: {error}"));
            Ok(PROBLEMS)
        }
    }
}

/// Writes the specification, the library if it is wanted, and the notes.
fn write(args: &Import, imported: &Imported, library: Option<&str>) -> Outcome {
    output::write_to(args.output(), |out| out.write_all(imported.text.as_bytes()))?;
    if let (Some(path), Some(library)) = (&args.library_out, library) {
        output::write_to(Some(path), |out| out.write_all(library.as_bytes()))?;
    }
    print_notes(imported).map_err(|error| Failure::output(&error))?;
    Ok(CLEAN)
}

fn read(path: &Path) -> Result<String, Failure> {
    let bytes = read_bytes(path, MAX_DOCUMENT_BYTES)?;
    Ok(decode(&path.display().to_string(), bytes)?)
}

/// Says what stays JSON, and what is unsound.
fn print_notes(imported: &Imported) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stderr().lock());
    let places = &imported.verbatim;
    // Equal ones are counted already.
    for note in &imported.notes {
        writeln!(out, "note: {note}")?;
    }
    if !places.is_empty() {
        let stay = if places.len() == 1 { "stays" } else { "stay" };
        writeln!(out, "note: {} {stay} JSON:", count(places.len(), "place"))?;
        for place in places.iter().take(MAX_NAMED) {
            writeln!(out, "  {place}")?;
        }
        if places.len() > MAX_NAMED {
            writeln!(out, "  … and {} more", places.len() - MAX_NAMED)?;
        }
    }
    if imported.unsound > 0 {
        let one = imported.unsound == 1;
        let (contradict, each) = if one {
            ("contradicts itself", "it is")
        } else {
            ("contradict themselves", "they are")
        };
        writeln!(
            out,
            "note: {} {contradict}; {each} marked `unsound: true`, and `gramc check` says why",
            count(imported.unsound, "schema"),
        )?;
    }
    out.flush()
}
