//! Specifications and libraries, as the commands name them.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use gramc_mcp::client::load_options;
use gramc_model::Library;
use gramc_project::{Texts, ValidTexts};
use gramc_tools::{Settings, ToolLibrary};
use serde_json::Value;

use crate::args::{Display, Inputs, Spec};
use crate::failure::Failure;
use crate::source;

/// Texts without errors.
pub(crate) struct Read {
    source: ValidTexts,
    /// The environment variables that the specification's own library may use. `None` for all.
    allowed: Option<Vec<String>>,
}

/// Reads and checks a specification. Where it has errors, they are shown, and nothing is given.
pub(in crate::commands) fn read_spec(
    spec: &Spec,
    display: Display,
) -> Result<Option<Read>, Failure> {
    let paths = if spec.server.is_named() { Vec::new() } else { vec![spec.path.clone()] };
    let inputs = Inputs { paths, stdin_filename: spec.stdin_filename.clone(), ..Inputs::default() };
    let valid = source::check(source::texts(&inputs, &spec.server, display)?, display)?;
    // A server gets what the command line names. The description of an API itself names variables,
    // and the host that they are sent to.
    let allowed = (!spec.server.is_named()).then(|| spec.server.env.clone());
    Ok(valid.map(|source| Read { source, allowed }))
}

/// A library with its declaration.
pub(crate) struct Declared {
    pub(in crate::commands) library: ToolLibrary,
    pub(in crate::commands) declaration: Library,
    /// The folder that paths in the declaration are relative to.
    pub(in crate::commands) folder: PathBuf,
}

/// The library of a name that the specification declares.
pub(in crate::commands) fn declared_here(name: &str, spec: &Read) -> Option<Declared> {
    let at = spec.module.libraries.iter().position(|library| library.name == name);
    at.map(|at| bind_declared(spec, at))
}

/// The library of `--library`: that of a file, one of several in a file, or one that the
/// specification declares.
pub(in crate::commands) fn read_declared(
    named: &str,
    spec: &Read,
    display: Display,
) -> Result<Option<Declared>, Failure> {
    let read = |path: &str| {
        let texts = Texts::read(&gramc_project::Inputs::of_paths(vec![path.into()]))?;
        let valid = source::check(texts, display)?;
        Ok::<_, Failure>(valid.map(|source| Read { source, allowed: Some(Vec::new()) }))
    };
    if named == "-" || Path::new(named).exists() {
        let Some(read) = read(named)? else { return Ok(None) };
        return declared_in(&read, named, None).map(Some);
    }
    if let Some(made) = declared_here(named, spec) {
        return Ok(Some(made));
    }
    if let Some((path, name)) = named.rsplit_once(':')
        && Path::new(path).exists()
    {
        let Some(read) = read(path)? else { return Ok(None) };
        return declared_in(&read, path, Some(name)).map(Some);
    }
    let known = &spec.module.libraries;
    let message = format!("`{named}` is neither a file nor a library of the specification");
    Err(Failure::unknown_name(&message, named, known.iter().map(|library| &*library.name), None))
}

/// The library that a specification comes with: the server or the API that it describes. A library in
/// gram is named, because it may run programs.
pub(in crate::commands) fn own_library(spec: &Read) -> Result<ToolLibrary, Failure> {
    if let Some(library) = &spec.texts.library {
        if let Some(allowed) = &spec.allowed {
            check_variables(library, allowed)?;
        }
        let options = load_options(Path::new("."), &Settings::default());
        return Ok(ToolLibrary::load(&spec.module, library, options));
    }
    let names = spec.module.libraries.iter().map(|library| library.name.as_str());
    Err(Failure::new(match &names.collect::<Vec<_>>()[..] {
        [] => "missing library: name its file with --library".to_owned(),
        names => format!("missing library: name one of SPEC with --library ({})", names.join(", ")),
    }))
}

/// Refuses the library of an API that uses variables or files which the user has not allowed: the
/// description of the API names them, and the host that gets them.
fn check_variables(library: &Library, allowed: &[String]) -> Result<(), Failure> {
    let (mut variables, mut files) = (Vec::new(), Vec::new());
    for text in texts_of(library) {
        let text = text.trim_start();
        variables.extend(text.strip_prefix("env:"));
        files.extend(text.strip_prefix("file:"));
    }
    let urls = library.implementations.iter().filter_map(|it| it.attribute("url")?.as_str());
    let hosts = urls.filter_map(|url| url.split("://").nth(1)?.split(['/', '?', '#']).next());
    let host = hosts.map(str::to_owned).next().unwrap_or_else(|| "the API".to_owned());
    if let Some(file) = files.first() {
        return Err(Failure::new(format!("calls would send the file {file} to {host}")));
    }
    if let Some(name) = variables.iter().find(|name| !allowed.iter().any(|it| it == *name)) {
        return Err(Failure::new(format!(
            "calls send the environment variable {name} to {host}: allow that with --env {name}, or name a \
             library that `gramc import --library-out` writes"
        )));
    }
    match allowed.iter().find(|name| !variables.contains(&name.as_str())) {
        Some(name) => {
            let message = format!("no call sends the environment variable `{name}`");
            Err(Failure::unknown_name(&message, name, variables.into_iter(), None))
        }
        None => Ok(()),
    }
}

/// All texts in the attributes of a library.
fn texts_of(library: &Library) -> Vec<&str> {
    let own = library.attributes.iter();
    let all = own.chain(library.implementations.iter().flat_map(|it| &it.attributes));
    let mut open: Vec<&Value> = all.map(|(_, value)| value).collect();
    let mut found = Vec::new();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

impl Deref for Read {
    type Target = ValidTexts;

    fn deref(&self) -> &ValidTexts {
        &self.source
    }
}

/// The library of a file, by its name if there are several.
fn declared_in(read: &Read, path: &str, name: Option<&str>) -> Result<Declared, Failure> {
    Ok(bind_declared(read, read.find_library(path, name)?))
}

fn bind_declared(read: &Read, at: usize) -> Declared {
    let library: &Library = &read.module.libraries[at];
    // Paths in it are relative to its file.
    let folder = read.folder(read.module.spans().library(at));
    let declared = library.clone();
    // Unusable parts are reported when the library is bound.
    let library =
        ToolLibrary::load(&read.module, library, load_options(&folder, &Settings::default()));
    Declared { library, declaration: declared, folder }
}

impl Read {
    /// The folder of the file that declares an experiment: paths in it are relative to that.
    pub(in crate::commands) fn folder_of_experiment(&self, at: usize) -> PathBuf {
        self.folder(self.module.spans().experiment(at))
    }
}
