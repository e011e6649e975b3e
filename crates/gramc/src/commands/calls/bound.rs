//! Specifications and libraries, as the commands name them.

use std::path::{Path, PathBuf};

use gram_schema::model::{Library, Module, Valid};
use gram_tools::ToolLibrary;

use crate::args::{Bind, Display, Inputs, Spec};
use crate::failure::Failure;
use crate::input::{self, Texts};
use crate::report;

/// Texts without errors.
pub(super) struct Read {
    pub(super) module: Valid<Module>,
    texts: Texts,
}

/// Reads and checks a specification. Where it has errors, they are shown, and nothing is given.
pub(super) fn read_spec(spec: &Spec, display: Display) -> Result<Option<Read>, Failure> {
    read(&spec.path, display)
}

fn read(path: &Path, display: Display) -> Result<Option<Read>, Failure> {
    let inputs = Inputs { paths: vec![path.to_owned()], stdin_filename: "<stdin>".to_owned() };
    let texts = input::read(&inputs, None)?;
    let checked = texts.check();
    report::show(display, &checked.diagnostics)?;
    Ok(checked.module.map(|module| Read { module, texts }))
}

/// Reads a library: that of a file, one of several in a file, or one that the specification
/// declares.
pub(super) fn read_library(
    bind: &Bind,
    spec: &Read,
    display: Display,
) -> Result<Option<ToolLibrary>, Failure> {
    let named = bind.library.as_str();
    if !Path::new(named).exists() {
        if let Some(at) = spec.module.libraries.iter().position(|library| library.name == named) {
            return made(spec, at).map(Some);
        }
        if let Some((path, name)) = named.rsplit_once(':')
            && Path::new(path).exists()
        {
            let Some(read) = read(Path::new(path), display)? else { return Ok(None) };
            return one(&read, path, Some(name)).map(Some);
        }
        return Err(Failure::new(format!(
            "there is no file `{named}`, and the specification declares no library of that name"
        )));
    }
    let Some(read) = read(Path::new(named), display)? else { return Ok(None) };
    one(&read, named, None).map(Some)
}

/// The library of a file.
fn one(read: &Read, path: &str, name: Option<&str>) -> Result<ToolLibrary, Failure> {
    let libraries = &read.module.libraries;
    let names = || libraries.iter().map(|library| library.name.as_str()).collect::<Vec<_>>();
    let at = match (name, &libraries[..]) {
        (_, []) => return Err(Failure::new(format!("{path} declares no library"))),
        (None, [_]) => 0,
        (None, _) => {
            return Err(Failure::new(format!(
                "{path} declares the libraries {}: name one, as {path}:{}",
                names().join(", "),
                libraries[0].name
            )));
        }
        (Some(name), _) => {
            libraries.iter().position(|known| known.name == name).ok_or_else(|| {
                let known = names();
                let help = gram_schema::did_you_mean(name, known.iter().copied());
                let help = help.unwrap_or_else(|| format!("there are {}", known.join(", ")));
                Failure::new(format!("{path} declares no library `{name}`; {help}"))
            })?
        }
    };
    made(read, at)
}

fn made(read: &Read, at: usize) -> Result<ToolLibrary, Failure> {
    let library: &Library = &read.module.libraries[at];
    let folder = folder(read, at);
    ToolLibrary::declared(library, &folder).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        Failure::new(format!(
            "the library `{}` cannot be used: {}",
            library.name,
            errors.join("; ")
        ))
    })
}

/// The folder of the file that declares a library: paths in it are relative to that.
fn folder(read: &Read, at: usize) -> PathBuf {
    let file = read.module.spans().library(at).map(|place| place.file);
    let path = file.and_then(|file| read.texts.path(file)).and_then(Path::parent);
    match path {
        Some(path) if path != Path::new("") => path.to_owned(),
        _ => PathBuf::from("."),
    }
}
