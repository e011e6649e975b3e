//! Places for descriptions.

use gramc_check::names::Kind;
use gramc_syntax::{Edit, Node, Span};

use crate::lookup::{description, field_nodes, node_of};
use crate::position::line_start;
use crate::request::RequestContext;

/// The comment that is added. The lints on descriptions report it until it is written.
const PLACE: &str = "/** … */";

/// Adds a comment for each description that the tool or record at an offset lacks. A title, and the edits.
pub(super) fn add_descriptions(cx: &RequestContext, at: u32) -> Option<(String, Vec<Edit>)> {
    let (found, one) = cx.declaration_at(at)?;
    if !matches!(one.kind, Kind::Tool | Kind::Record) {
        return None;
    }
    let node = node_of(&cx.snapshot, found)?;
    let insert = |at: Node<'_>, text: String| Edit { span: Span::empty(at.span().start), text };
    let mut edits = Vec::new();
    if description(node).is_none() {
        let indent = indent(cx.file.text(), node.span().start);
        edits.push(insert(node, format!("{PLACE}\n{indent}")));
    }
    let fields = field_nodes(node).into_iter();
    // Of a field without a type, the vocabulary has the description.
    let lacking =
        fields.filter(|it| it.subject().labels_node().is_some() && description(*it).is_none());
    edits.extend(lacking.map(|field| insert(field, format!("{PLACE} "))));
    let what = match edits.len() {
        0 => return None,
        1 => "1 place for a description".to_owned(),
        count => format!("{count} places for descriptions"),
    };
    Some((format!("add {what} to `{}`", one.name), edits))
}

/// The white space at the start of the line of an offset.
fn indent(text: &str, at: u32) -> &str {
    let line = text.get(line_start(text, at)..at as usize).unwrap_or_default();
    if line.trim().is_empty() { line } else { "" }
}
