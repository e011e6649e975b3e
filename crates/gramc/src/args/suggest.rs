//! Suggestions for unknown commands.

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use gramc_model::nearest::nearest;

use super::Args;

/// Names that other tools use for commands of gramc.
const SYNONYMS: [Synonym; 8] = [
    Synonym { name: "build", command: "compile" },
    Synonym { name: "chat", command: "run" },
    Synonym { name: "codegen", command: "generate" },
    Synonym { name: "docs", command: "doc" },
    Synonym { name: "experiment", command: "ab" },
    Synonym { name: "format", command: "fmt" },
    Synonym { name: "lint", command: "check" },
    Synonym { name: "serve", command: "mcp" },
];

struct Synonym {
    name: &'static str,
    command: &'static str,
}

/// Replaces the suggestions for an unknown command by visible commands that are similar.
pub(crate) fn suggest_command(mut error: Error) -> Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let synonym = SYNONYMS.iter().find(|synonym| synonym.name == name);
    let suggested: Vec<String> = if let Some(synonym) = synonym {
        vec![synonym.command.to_owned()]
    } else {
        let args = Args::command();
        let visible = args.get_subcommands().filter(|command| !command.is_hide_set());
        let near = nearest(name, visible.map(clap::Command::get_name));
        near.into_iter().map(str::to_owned).collect()
    };
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedSubcommand);
    if !suggested.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(suggested));
    }
    error
}
