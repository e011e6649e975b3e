//! The library that forwards calls to a running MCP server.

use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf, is_separator};

use gramc_model::{
    Implementation, ImplementationKind, Library, Module, WHOLE_SERVER, print::print,
};
use serde_json::{Value, json};

use crate::args::{LiveServer, Tls};
use crate::failure::Failure;
use crate::live;

const NAME: &str = "upstream";

/// The text of a library at `path` for the server that the arguments name, whose tools are called
/// with a prefix if there is one.
pub(crate) fn text(
    server: &LiveServer,
    path: &Path,
    prefix: Option<&str>,
) -> Result<String, Failure> {
    refuse_secrets(server)?;
    let mut library = server_library(server, path)?;
    for implementation in &mut library.implementations {
        implementation.attributes.extend(prefix.map(|prefix| ("prefix".into(), prefix.into())));
    }
    Ok(print(&Module { libraries: vec![library], ..Module::default() }))
}

/// A library at `path` for the server that the arguments name.
pub(crate) fn server_library(server: &LiveServer, path: &Path) -> Result<Library, Failure> {
    let attributes = match (&server.command, &server.url) {
        (Some(command), _) => of_command(command, &server.env, path)?,
        (None, Some(url)) => of_url(url, server, path)?,
        (None, None) => {
            return Err(Failure::new("--library-out needs an MCP server: add --command or --url"));
        }
    };
    let attributes = attributes.into_iter().map(|(key, value)| (key.into(), value));
    let implementation = Implementation {
        tool: WHOLE_SERVER.into(),
        kind: ImplementationKind::Mcp,
        attributes: attributes.collect(),
        signature: None,
    };
    Ok(Library {
        name: NAME.into(),
        description: None,
        implementations: vec![implementation],
        attributes: Vec::new(),
    })
}

type Attributes = Vec<(&'static str, Value)>;

/// The attributes of a server that is a program. It runs in the current folder, and paths in a
/// library are relative to the library's.
fn of_command(command: &str, variables: &[String], path: &Path) -> Result<Attributes, Failure> {
    let mut words = live::words_of(command)?;
    let mut attributes = Vec::new();
    if let Some(back) = way_back(path)? {
        if let Some(program) = words.first_mut()
            && program.contains(is_separator)
        {
            *program = back.join(&*program).to_string_lossy().into_owned();
        }
        attributes.push(("cwd", Value::from(back.to_string_lossy())));
    }
    attributes.insert(0, ("command", Value::from(words)));
    if !variables.is_empty() {
        let names = variables.iter().map(|name| (name.clone(), json!(format!("env:{name}"))));
        attributes.push(("env", Value::Object(names.collect())));
    }
    Ok(attributes)
}

/// The way from the folder of a file to the current folder, unless they are the same.
fn way_back(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let names: Vec<_> = folder.components().filter(|it| *it != Component::CurDir).collect();
    if names.is_empty() {
        return Ok(None);
    }
    if names.iter().all(|it| matches!(it, Component::Normal(_))) {
        return Ok(Some(vec![".."; names.len()].join(MAIN_SEPARATOR_STR).into()));
    }
    let here = std::env::current_dir()
        .map_err(|error| Failure::new(format!("cannot find the current folder: {error}")))?;
    let is_same = folder.canonicalize().is_ok_and(|it| here.canonicalize().is_ok_and(|h| h == it));
    Ok((!is_same).then_some(here))
}

/// Refuses to write secrets of the command line into a library.
pub(crate) fn refuse_secrets(server: &LiveServer) -> Result<(), Failure> {
    let url = server.url.as_deref().unwrap_or_default();
    let authority = url.split("://").nth(1).unwrap_or_default();
    if authority.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@')) {
        return Err(Failure::new(
            "--library-out would write the password of the URL into the library: use --token-env \
             or --header",
        ));
    }
    for (name, value) in headers_of(server) {
        if !value.starts_with("env:") {
            return Err(Failure::new(format!(
                "--library-out would write the value of the header `{name}` into the library: \
                 write `{name}: env:VARIABLE`"
            )));
        }
    }
    Ok(())
}

/// The headers of the command line. One of another form is reported when the server is asked.
fn headers_of(server: &LiveServer) -> impl Iterator<Item = (&str, &str)> {
    let headers = server.header.iter().filter_map(|header| header.split_once(':'));
    headers.map(|(name, value)| (name.trim(), value.trim()))
}

/// The attributes of a server at a URL. Files are paths from the folder of the library.
fn of_url(url: &str, server: &LiveServer, path: &Path) -> Result<Attributes, Failure> {
    let headers = headers_of(server).map(|(name, value)| (name.to_owned(), value.into()));
    let headers: serde_json::Map<_, Value> = headers.collect();
    let mut attributes = vec![("url", Value::from(url))];
    if !headers.is_empty() {
        attributes.push(("headers", Value::Object(headers)));
    }
    let Tls { ca, cert, key } = &server.tls;
    let files = [("ca", ca), ("cert", cert), ("key", key)];
    let files = files.into_iter().filter_map(|(name, file)| Some((name, file.as_ref()?)));
    let back = way_back(path)?.unwrap_or_default();
    let files: serde_json::Map<_, _> = files
        .map(|(name, file)| (name.to_owned(), json!(back.join(file).to_string_lossy())))
        .collect();
    if !files.is_empty() {
        attributes.push(("tls", Value::Object(files)));
    }
    Ok(attributes)
}
