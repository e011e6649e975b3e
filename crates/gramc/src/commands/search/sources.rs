//! Reads what is searched.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gramc_search::Source;

use crate::args::{Display, Search};
use crate::failure::Failure;
use crate::{live, source};

/// The name of a live server. Its command or address may hold a secret.
const SERVER: &str = "MCP server";

/// What is searched.
pub(super) struct SearchSources {
    pub(super) sources: Vec<Source>,
    /// The files that were read.
    pub(super) files: Vec<PathBuf>,
}

pub(super) fn read(args: &Search, display: Display) -> Result<SearchSources, Failure> {
    let tools = live::tools_of(&args.live.server())?;
    read_with(args, tools.map(|tools| tools.to_string()).as_deref(), display)
}

/// Reads the specifications, with the tools that a live server listed.
pub(super) fn read_with(
    args: &Search,
    listed: Option<&str>,
    display: Display,
) -> Result<SearchSources, Failure> {
    let mut found = SearchSources { sources: Vec::new(), files: Vec::new() };
    if args.specs.is_empty() && listed.is_none() {
        found.add("project", source::read_project(display)?)?;
    }
    let stdins = args.specs.iter().filter(|spec| spec.as_os_str() == "-").count();
    if stdins > 1 {
        return Err(Failure::new("only one argument can be `-`"));
    }
    let mut seen = HashSet::new();
    for spec in &args.specs {
        // The same file may have several names.
        if let Ok(path) = spec.canonicalize()
            && !seen.insert(path)
        {
            continue;
        }
        let name = if spec.as_os_str() == "-" { "<stdin>".into() } else { spec.to_string_lossy() };
        found.add(&name, source::read(spec, display)?)?;
    }
    if let Some(listed) = listed {
        found.add(SERVER, source::read_listed(listed, display)?)?;
    }
    Ok(found)
}

impl SearchSources {
    fn add(&mut self, name: &str, read: Option<source::Source>) -> Result<(), Failure> {
        let Some(read) = read else {
            return Err(Failure::new(format!("cannot search {name}: it has errors")));
        };
        let files = read.module.spans().sources();
        // A folder may have a single file.
        let name = match files {
            [file] if read.has_positions => file.name(),
            _ => name,
        };
        self.sources.push(Source::of_module(name, &read.module));
        if read.has_positions {
            self.files.extend(files.iter().map(|file| Path::new(file.name()).to_owned()));
        }
        Ok(())
    }
}
