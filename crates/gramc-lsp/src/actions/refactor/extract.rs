//! Declares a record type that is written where it is used.

use gramc_check::names::Space;
use gramc_model::print::identifier;
use gramc_syntax::{Edit, Node, NodeKind as N, Span};

use crate::lookup::{chain, enclosing_declaration};
use crate::request::RequestContext;

/// Declares the innermost record type at an offset. Its name, and the edits.
pub(super) fn extract_record(cx: &RequestContext, at: u32) -> Option<(String, Vec<Edit>)> {
    let chain = chain(cx.tree(), at);
    let inner = chain.iter().rposition(|node| node.kind() == N::TypeRecord)?;
    let record = chain[inner];
    let name = chain[..inner].iter().rev().find_map(|node| match node.kind() {
        N::TypeField => node.children().next(),
        N::NodePattern => node.subject().identifier,
        _ => None,
    });
    let name = name.map_or_else(|| "Result".into(), Node::content);
    let name = type_name(cx, &name);
    let fields = record.children().filter(|node| node.kind() == N::TypeField);
    let fields = fields.map(field).collect::<Option<Vec<_>>>()?;
    let own = cx.declarations();
    let mut declaration = enclosing_declaration(own, at)?;
    // A type in a tool is seen in that tool only; the new one is declared outside.
    while let Some(holder) = own[declaration].holder {
        declaration = holder;
    }
    let text = format!("\n\n[{name}::Record |\n  {}\n]", fields.join(",\n  "));
    let end = Span::empty(own[declaration].span.end);
    let edits = vec![Edit { span: record.span(), text: name.clone() }, Edit { span: end, text }];
    Some((name, edits))
}

fn type_name(cx: &RequestContext, field: &str) -> String {
    let words = field.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let upper = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    let mut name: String = words.map(upper).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "Type");
    }
    let names = cx.snapshot.names();
    let taken = |name: &str| {
        !gramc_check::is_type_name(name)
            || names.all().any(|(_, one)| one.kind.space() == Space::Types && one.name == name)
    };
    let numbered = (2..).map(|n| format!("{name}{n}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name)
}

/// A field of a record type as a field of a declared record.
fn field(node: Node<'_>) -> Option<String> {
    let mut parts = node.children().filter(|part| part.kind() != N::Error);
    let (name, ty) = (parts.next()?, parts.next()?);
    let mut attributes = Vec::new();
    for part in parts {
        if part.kind() == N::Record {
            let entries = part.entries();
            attributes.extend(entries.map(|it| format!("{}: {}", it.key.text(), it.value.text())));
        } else {
            attributes.push(format!("default: {}", part.text()));
        }
    }
    let doc = node.doc().map(|doc| format!("{} ", doc.text())).unwrap_or_default();
    let optional = if name.optional_mark().is_some() { "?" } else { "" };
    let attributes = match attributes.len() {
        0 => String::new(),
        _ => format!(" {{{}}}", attributes.join(", ")),
    };
    let name = identifier(&name.content());
    Some(format!("{doc}({name}{optional}::{}{attributes})", ty.text()))
}
