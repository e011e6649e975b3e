//! Grammars of calls.

use std::io::{self, Write as _};
use std::path::Path;

use gramc_grammar::{Grammar, GrammarError, Syntax, ToolSchema};
use gramc_schema::emit::{Compilation, Entry};

use super::{file_name, is_folder, losses};
use crate::args::{Compile, Display, Format};
use crate::failure::{CLEAN, Failure, Outcome};
use crate::output;

/// Prints the grammar of the arguments of the tool that is asked for, or of a call of any tool.
pub(super) fn run<'m>(
    args: &Compile,
    display: Display,
    syntax: Syntax,
    compilation: &Compilation<'m>,
    entries: &[Entry<'m>],
) -> Outcome {
    let tools: Vec<_> = entries.iter().map(|entry| ToolSchema::new(compilation, *entry)).collect();
    let folder = args.output.as_deref().filter(|path| is_folder(path));
    let grammars = match (folder, &tools[..]) {
        (None, [tool]) if args.tool.is_some() => vec![derived(Grammar::of_arguments(tool))?],
        (None, tools) => vec![derived(Grammar::of_calls(tools))?],
        (Some(_), tools) => tools
            .iter()
            .map(|tool| derived(Grammar::of_arguments(tool)))
            .collect::<Result<_, _>>()?,
    };
    let mut out = io::stderr().lock();
    for tool in grammars.iter().flat_map(Grammar::left_out) {
        writeln!(out, "warning: {}: no call of `{tool}` can be derived", syntax.name())
            .map_err(|error| Failure::output(&error))?;
    }
    drop(out);
    if args.losses {
        losses(display, grammars.iter().flat_map(Grammar::losses))?;
        if display.format == Format::Json && args.output.is_none() {
            return Ok(CLEAN);
        }
    }
    let Some(folder) = folder else {
        let text: String = grammars.iter().map(|grammar| grammar.print(syntax)).collect();
        match args.output.as_deref() {
            Some(path) => save(path, &text)?,
            None => output::print(&text)?,
        }
        return Ok(CLEAN);
    };
    std::fs::create_dir_all(folder).map_err(|error| Failure::path("make", folder, &error))?;
    for (tool, grammar) in tools.iter().zip(&grammars) {
        let path = folder.join(format!("{}.{}", file_name(tool.name), syntax.name()));
        save(&path, &grammar.print(syntax))?;
    }
    Ok(CLEAN)
}

fn derived(grammar: Result<Grammar, GrammarError>) -> Result<Grammar, Failure> {
    grammar.map_err(|error| Failure::new(error.to_string()))
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::path("write", path, &error))
}
