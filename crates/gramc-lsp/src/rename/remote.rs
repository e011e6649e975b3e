//! Names outside of the project that are those of tools: of built-in implementations, on MCP servers
//! and in recordings. A library names them where a tool has another name.

use std::collections::BTreeSet;

use gramc_check::names::{Found, Kind};
use gramc_model::print::{identifier, string};
use gramc_syntax::{Node, Span};

use super::fields::declarations_of;
use super::library_entries;
use crate::lookup::entry;
use crate::snapshot::Snapshot;
use crate::workspace_edit::Edits;

/// Keeps the names that implementations of a tool have outside of the project.
pub(super) fn keep_names(
    edits: &mut Edits,
    snapshot: &Snapshot,
    tools: &BTreeSet<Found>,
    old: &str,
    new: &str,
) {
    for (file, library) in declarations_of(snapshot, Kind::Library) {
        let entries = library_entries(snapshot, file, library);
        let own = |found: &Option<Found>| found.is_some_and(|found| tools.contains(&found));
        let mut is_named = false;
        for (node, _) in entries.iter().filter(|(_, found)| own(found)) {
            is_named = true;
            let key = match label(*node).as_deref() {
                Some("Builtin") => "name",
                Some("Mcp" | "Replay") => "tool",
                _ => continue,
            };
            if entry(*node, key).is_none() {
                edits.add_attribute(file, *node, key, &string(old));
            }
        }
        if is_named {
            continue;
        }
        let offered =
            entries.iter().find_map(|(node, _)| Some((*node, name_on_server(*node, old)?)));
        let Some((server, name)) = offered else { continue };
        let own = entry_of_server(server, name, new);
        if let Some(only) = entry(server, "only") {
            let others = only.children().filter(|item| item.content() != name);
            let others: Vec<_> = others.map(Node::text).collect();
            if others.is_empty() {
                edits.add(file, server.span(), own);
                continue;
            }
            edits.add(file, only.span(), format!("[{}]", others.join(", ")));
        }
        let text = snapshot.text(file).map_or("", |file| file.text());
        let before = &text[..server.span().start as usize];
        let indent = &before[before.trim_end_matches([' ', '\t']).len()..];
        let is_first = before.ends_with(&format!("\n{indent}"));
        let gap = if is_first { format!("\n{indent}") } else { " ".to_owned() };
        edits.add(file, Span::empty(server.span().end), format!(",{gap}{own}"));
    }
}

fn label(node: Node<'_>) -> Option<String> {
    node.subject().labels().next().map(|label| label.content().into_owned())
}

/// The name on the server of a tool, if `node` implements all tools of a server, this one included.
fn name_on_server<'n>(node: Node<'_>, tool: &'n str) -> Option<&'n str> {
    let is_server = node.subject().identifier.is_some_and(|name| name.content() == "*");
    if !is_server {
        return None;
    }
    let prefix = entry(node, "prefix").map(|prefix| prefix.content().into_owned());
    let name = tool.strip_prefix(prefix.as_deref().unwrap_or_default())?;
    let names = |key| entry(node, key).map(Node::children);
    let is_in = |mut names: gramc_syntax::Children<'_>| names.any(|item| item.content() == name);
    let is_meant = match names("only") {
        Some(only) => is_in(only),
        None => !names("except").is_some_and(is_in),
    };
    is_meant.then_some(name)
}

fn entry_of_server(server: Node<'_>, name: &str, tool: &str) -> String {
    let entries = server.subject().entries();
    let own = entries.filter(|it| !matches!(&*it.key.content(), "only" | "except" | "prefix"));
    let own = own.map(|it| format!("{}: {}", it.key.text(), it.value.text()));
    let all: Vec<_> = std::iter::once(format!("tool: {}", string(name))).chain(own).collect();
    format!("({}:Mcp {{{}}})", identifier(tool), all.join(", "))
}
