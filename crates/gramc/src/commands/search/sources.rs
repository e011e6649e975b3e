//! Reads what is searched.

use std::collections::HashSet;

use gramc_search::Source;

use crate::args::{Display, Search};
use crate::failure::Failure;
use crate::{live, source};

/// The name of a live server. Its command or address may hold a secret.
const SERVER: &str = "MCP server";

/// Reads the specifications, with the tools that a live server lists.
pub(super) fn read(args: &Search, display: Display) -> Result<Vec<Source>, Failure> {
    let listed = live::tools_of(&args.live.server())?.map(|tools| tools.to_string());
    let mut found = Vec::new();
    if args.specs.is_empty() && listed.is_none() {
        found.push(searchable("project", source::read_project(display)?)?);
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
        found.push(searchable(&name, source::read(spec, display)?)?);
    }
    if let Some(listed) = listed {
        found.push(searchable(SERVER, source::read_listed(&listed, display)?)?);
    }
    Ok(found)
}

fn searchable(name: &str, read: Option<source::Source>) -> Result<Source, Failure> {
    let Some(read) = read else {
        return Err(Failure::new(format!("cannot search {name}: it has errors")));
    };
    // A folder may have a single file.
    let name = match read.module.spans().sources() {
        [file] if read.has_positions => file.name(),
        _ => name,
    };
    Ok(Source::of_module(name, &read.module))
}
