//! What a text declares, by its tree alone.

use gramc_syntax::{Node, NodeKind as N, Parse};
use smol_str::SmolStr;

use super::{Declaration, Kind};
use crate::declared::only_node;
use gramc_model::format::built_in;

/// The declarations of a text, in its order, parents before their children.
///
/// A top-level node is taken for a vocabulary term where its only label is a built-in type, a type
/// expression, or a name that `is_type` knows.
pub fn declarations(text: &Parse, is_type: impl Fn(&str) -> bool) -> Vec<Declaration> {
    let mut found = Vec::new();
    for top in text.tree().root().children() {
        let node = match top.kind() {
            N::AnnotatedPattern => top.children().nth(1),
            _ => Some(top),
        };
        let Some(node) = node else { continue };
        match node.kind() {
            N::SubjectPattern => pattern(&mut found, top, node, None),
            N::Path => found.extend(only_node(node).and_then(|node| term(top, node, &is_type))),
            _ => {}
        }
    }
    found
}

/// A declaration and what is declared in it.
fn pattern(found: &mut Vec<Declaration>, whole: Node<'_>, node: Node<'_>, holder: Option<usize>) {
    // Patterns can nest arbitrarily deep, so open ones are kept on an explicit stack.
    let mut stack = vec![(whole, node, holder)];
    while let Some((whole, node, holder)) = stack.pop() {
        let subject = node.subject();
        let kind = subject.labels().find_map(|label| Kind::of_label(&label.content()));
        let Some(kind) = kind else { continue };
        let outer = holder.and_then(|at| found.get(at)).map(|outer| outer.kind);
        let fits = match outer {
            None => true,
            Some(Kind::Tool) => kind.is_type(),
            Some(Kind::Container) => kind == Kind::Tool,
            Some(Kind::Agent) => matches!(kind, Kind::Tool | Kind::Container | Kind::Agent),
            Some(_) => false,
        };
        if !fits {
            continue;
        }
        let own = found.len();
        // A nameless pattern declares nothing, but its elements may.
        let at = subject.identifier.map(|name| {
            found.push(Declaration {
                kind,
                name: SmolStr::new(name.content()),
                place: name.span(),
                span: whole.span(),
                node: node.id(),
                holder,
            });
            own
        });
        if matches!(kind, Kind::Tool | Kind::Container | Kind::Agent) {
            let inner = node.elements().filter(|element| element.kind() == N::SubjectPattern);
            let inner: Vec<_> = inner.collect();
            let inner = inner.into_iter().rev().map(|element| (element, element, at));
            stack.extend(inner.filter(|_| at.is_some() || kind != Kind::Tool));
        }
    }
}

fn term(whole: Node<'_>, node: Node<'_>, is_type: &impl Fn(&str) -> bool) -> Option<Declaration> {
    let subject = node.subject();
    let name = subject.identifier?;
    let mut labels = subject.labels();
    let (label, None) = (labels.next()?, labels.next()) else { return None };
    let types = matches!(label.kind(), N::QuotedName | N::TypeExpression)
        || built_in(label.text()).is_some()
        || (Kind::of_label(label.text()).is_none() && is_type(label.text()));
    types.then(|| Declaration {
        kind: Kind::Term,
        name: SmolStr::new(name.content()),
        place: name.span(),
        span: whole.span(),
        node: node.id(),
        holder: None,
    })
}
