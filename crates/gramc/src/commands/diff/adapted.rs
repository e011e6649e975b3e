//! The library with which callers of the old version use the tools of the new one.

use std::path::Path;

use gramc_calls::ArgumentMapping;
use gramc_diff::{Adaptation, AdaptedTool, NotAdapted};
use gramc_model::{
    Implementation, ImplementationKind, Library, Module, WHOLE_SERVER, print::print,
};
use gramc_project::ValidTexts;
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::args::{Diff, Display, Format};
use crate::failure::Failure;
use crate::output::{self, say};
use crate::server_library::{refuse_secrets, server_library};
use crate::source;

/// The name of the library.
const NAME: &str = "adapted";

/// Attributes of a whole server that single tools do not have.
const OF_WHOLE_SERVER: [&str; 3] = ["only", "except", "prefix"];

/// Writes the library to a file, and says what is not adapted. Nothing is written if nothing is adapted.
/// `base` is the library of the new tools.
pub(super) fn write(
    base: Library,
    path: &Path,
    adapted: &[Adaptation],
    display: Display,
) -> Result<(), Failure> {
    let mut implementations = Vec::new();
    for Adaptation { tool, outcome } in adapted {
        match outcome {
            Ok(adapted) => match entry(&base, tool, adapted) {
                Some(entry) => {
                    implementations.push(entry);
                    report_mapping(tool, adapted, display)?;
                }
                None => {
                    say(format_args!("gramc: the library does not implement `{}`", adapted.name));
                }
            },
            Err(failure) => report(tool, failure, display)?,
        }
    }
    if implementations.is_empty() {
        say(format_args!("gramc: no tool is adapted, so that {} is not written", path.display()));
        return Ok(());
    }
    let library = Library { name: NAME.into(), description: None, implementations, ..base };
    let text = print(&Module { libraries: vec![library], ..Module::default() });
    output::write_to(Some(path), |out| out.write_all(text.as_bytes()))
}

/// Says what becomes of the arguments of a tool, for names of the same type are only guessed.
fn report_mapping(tool: &str, adapted: &AdaptedTool, display: Display) -> Result<(), Failure> {
    let AdaptedTool { name, arguments } = adapted;
    let arguments = arguments.as_ref().map(ArgumentMapping::to_json);
    if display.format == Format::Json {
        let line =
            json!({"tool": tool, "adapted": true, "to": name.as_str(), "arguments": arguments});
        return output::print(&format!("{line}\n"));
    }
    if let Some(arguments) = arguments {
        say(format_args!("`{tool}` is adapted to `{name}`: {arguments}"));
    }
    Ok(())
}

/// Says why a tool is not adapted, and which call shows it.
fn report(tool: &str, failure: &NotAdapted, display: Display) -> Result<(), Failure> {
    let NotAdapted { reason, example } = failure;
    if display.format == Format::Json {
        let line = json!({"tool": tool, "adapted": false, "reason": reason, "example": example});
        return output::print(&format!("{line}\n"));
    }
    match example {
        Some(example) => say(format_args!("`{tool}` is not adapted: {reason}: {example}")),
        None => say(format_args!("`{tool}` is not adapted: {reason}")),
    }
    Ok(())
}

/// The library of the new tools: that of a server, the one that is named, or the only one of the version.
pub(super) fn base(
    args: &Diff,
    path: &Path,
    new: &ValidTexts,
    display: Display,
) -> Result<Option<Library>, Failure> {
    let Some(named) = &args.library else {
        let server = args.live.server();
        if server.is_named() {
            refuse_secrets(&server)?;
            return server_library(&server, path).map(Some);
        }
        return one(&new.module, None, args.new.as_deref(), path).map(Some);
    };
    let (file, name) = match named.rsplit_once(':') {
        Some((file, name)) if !Path::new(named).exists() => (file, Some(name)),
        _ => (named.as_str(), None),
    };
    let file = Path::new(file);
    let Some(read) = source::read(file, display)? else { return Ok(None) };
    one(&read.module, name, Some(file), path).map(Some)
}

/// The library of a name, or the only one. Its paths are relative to its file.
fn one(
    module: &Module,
    name: Option<&str>,
    file: Option<&Path>,
    path: &Path,
) -> Result<Library, Failure> {
    let found = match (name, module.libraries.as_slice()) {
        (Some(name), _) => module.library(name).ok_or_else(|| {
            let known = module.libraries.iter().map(|library| library.name.as_str());
            Failure::unknown_name(&format!("there is no library `{name}`"), name, known, None)
        })?,
        (None, [library]) => library,
        (None, _) => {
            return Err(Failure::new(
                "--adapt needs the library of the new tools: name it with --library FILE:NAME",
            ));
        }
    };
    let folder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let same =
        |a: &Path, b: &Path| a.join(".").canonicalize().ok() == b.join(".").canonicalize().ok();
    match file.map(folder) {
        Some(of_library) if !same(&of_library, &folder(path)) => Err(Failure::new(format!(
            "paths in a library are relative to its file: write {} in the folder of the library",
            path.display()
        ))),
        _ => Ok(found.clone()),
    }
}

/// A tool of a server whose tools are all in the library.
fn of_whole_server(base: &Library, name: &str) -> Option<Implementation> {
    let mut whole = base.implementation(WHOLE_SERVER)?.clone();
    let prefix = whole.attribute("prefix").and_then(Value::as_str).unwrap_or_default();
    let tool = name.strip_prefix(prefix)?.into();
    whole.attributes.retain(|(key, _)| !OF_WHOLE_SERVER.contains(&key.as_str()));
    Some(Implementation { tool, ..whole })
}

/// The implementation of a tool of the old version.
fn entry(base: &Library, tool: &SmolStr, adapted: &AdaptedTool) -> Option<Implementation> {
    let AdaptedTool { name, arguments } = adapted;
    let mut entry = base.implementation(name).cloned().or_else(|| of_whole_server(base, name))?;
    let key = match entry.kind {
        ImplementationKind::Mcp | ImplementationKind::Replay => Some("tool"),
        ImplementationKind::Builtin => Some("name"),
        ImplementationKind::Command
        | ImplementationKind::Http
        | ImplementationKind::Client
        | ImplementationKind::Fake => None,
    };
    // These find their tool by its name.
    if let Some(key) = key.filter(|key| entry.attribute(key).is_none() && entry.tool != *tool) {
        entry.attributes.push((key.into(), entry.tool.as_str().into()));
    }
    if let Some(arguments) = arguments {
        entry.attributes.retain(|(key, _)| key != "signature");
        entry.signature = None;
        entry.attributes.push(("arguments".into(), arguments.to_json()));
    }
    Some(Implementation { tool: tool.clone(), ..entry })
}
