//! Places for descriptions.

use gramc_check::names::Kind;
use gramc_syntax::{Edit, Node, Span};

use crate::lookup::{description, enclosing_declaration, field_nodes, node_of};
use crate::request::RequestContext;
use gramc_check::names::Found;

/// The comment that is added. The lints on descriptions report it until it is written.
const PLACE: &str = "/** … */";

/// Adds a comment for each description that the tool or record at an offset lacks. A title, and the edits.
pub(super) fn add_descriptions(cx: &RequestContext, at: u32) -> Option<(String, Vec<Edit>)> {
    let own = cx.snapshot.names().of(cx.number);
    let index = enclosing_declaration(own, at)?;
    let one = own.get(index).filter(|one| matches!(one.kind, Kind::Tool | Kind::Record))?;
    let node = node_of(&cx.snapshot, Found { file: cx.number, at: index })?;
    let text = cx.file.text();
    let mut edits = Vec::new();
    if description(node).is_none() {
        let start = node.span().start;
        edits.push(insert(start, format!("{PLACE}\n{}", indent(text, start))));
    }
    let fields = field_nodes(node).into_iter();
    // Of a field without a type, the vocabulary has the description.
    let lacking =
        fields.filter(|it| it.subject().labels_node().is_some() && description(*it).is_none());
    edits.extend(lacking.map(|field| insert(start_of(field), format!("{PLACE} "))));
    let what = match edits.len() {
        0 => return None,
        1 => "1 place for a description".to_owned(),
        count => format!("{count} places for descriptions"),
    };
    Some((format!("add {what} to `{}`", one.name), edits))
}

fn start_of(node: Node<'_>) -> u32 {
    node.span().start
}

fn insert(at: u32, text: String) -> Edit {
    Edit { span: Span::empty(at), text }
}

/// The white space at the start of the line of an offset.
fn indent(text: &str, at: u32) -> &str {
    let before = text.get(..at as usize).unwrap_or_default();
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    if line.trim().is_empty() { line } else { "" }
}
