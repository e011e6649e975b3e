//! Types, fields and members that are written as attributes.

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Diagnostic, Edit, Fix, Node, NodeKind as N, Span};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::foreign_attributes::without_comma;
use crate::index::DeclarationSyntax;
use crate::kind::Kind;
use gramc_model::attributes::{AttributeOwner, find};
use gramc_model::print::identifier;
use gramc_syntax::{foreign_type_name as type_name, is_type, translate_type as translate};

/// Words for the members of an enum.
const MEMBERS: [&str; 7] = ["values", "members", "enum", "options", "cases", "choices", "variants"];

impl<'t> Checker<'t> {
    /// The error about a type that is an attribute: `(limit {type: "integer"})`.
    pub(crate) fn type_in_record(&self, node: Node<'t>, name: &str) -> Option<Diagnostic> {
        let source = self.source();
        let subject = node.subject();
        let entry = subject.entries().find(|entry| entry.key.content() == "type")?;
        let message = format!("the type of `{name}` is not an attribute");
        let error = self.error(&codes::MISSING_TYPE, entry.key.span(), message);
        let ty = label(&entry.value.content()).filter(|_| entry.value.kind() != N::Map);
        let Some(ty) = ty else {
            return Some(error.help(format!("write it after `::`: ({name}::Text)")));
        };
        let end = Span::empty(subject.identifier?.span().end);
        let whole = Span::new(entry.key.span().start, entry.value.span().end);
        let edits =
            vec![Edit::new(end, format!("::{ty}")), Edit::remove(without_comma(source, whole))];
        let message = format!("write `::{ty}`");
        Some(
            error
                .help(format!("write it after `::`: ({name}::{ty})"))
                .fix(Fix::edits(message, edits)),
        )
    }

    /// Reports fields of a record and members of an enum that are written in its attributes.
    pub(crate) fn elements_as_attributes(
        &mut self,
        declaration: &DeclarationSyntax<'t>,
        form: Kind,
        attributes: &[Attribute<'t>],
    ) -> bool {
        let node = declaration.node;
        if node.elements().next().is_some() {
            return false;
        }
        let (found, message): (Vec<_>, _) = match form {
            Kind::Record => (fields(attributes), "the fields of a record are its elements"),
            Kind::Enum => (members(attributes), "the members of an enum are its elements"),
            _ => return false,
        };
        let (Some((first, _)), Some(record)) = (found.first(), node.subject().record) else {
            return false;
        };
        let elements: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        let elements = format!("| {}", elements.join(", "));
        let all = attributes.iter().all(|one| found.iter().any(|(at, _)| *at == one.key_span));
        let mut error = self
            .error(&codes::MISPLACED_ELEMENT, *first, message)
            .help(format!("write {}", form.example()));
        if all {
            let fix = Fix::replace(NeedsLook, format!("write {elements}"), record.span(), elements);
            error = error.fix(fix);
        }
        self.report(error);
        true
    }
}

impl<'t> Checker<'t> {
    /// Warns about members of an enum that look like other values: they mean texts.
    pub(crate) fn values_as_members(
        &mut self,
        declaration: &DeclarationSyntax<'t>,
        values: &[Node<'t>],
    ) {
        let node = declaration.node;
        let Some(first) = values.first() else { return };
        let texts: Vec<_> = values.iter().map(|value| value.text()).collect();
        let ty = texts.join(" | ");
        let message = format!("the member `{}` of this enum is a text", first.text());
        let mut warning = self
            .warning(&codes::MISPLACED_ELEMENT, first.span(), message)
            .help(format!("write other values as a type, `{ty}`, and such texts in backticks"));
        let elements = node.child(N::Elements);
        let label = node.subject().labels().next();
        if let (Some(elements), Some(label), true) =
            (elements, label, node.elements().count() == values.len())
        {
            let edits = vec![
                Edit::new(label.span(), "Alias"),
                Edit::new(elements.span(), format!("(::`{ty}`)")),
            ];
            let message = format!("write the type `{ty}`");
            warning = warning.fix(Fix::edits(message, edits));
        }
        let quoted = |value: &Node<'_>| Edit::new(value.span(), format!("`{}`", value.text()));
        let edits = values.iter().map(quoted).collect();
        let message = "make them texts".to_owned();
        self.report(warning.fix(Fix::edits(message, edits)));
    }
}

/// The fix for an element of another form: the type of an alias without `::`, and the fields of a
/// record between arrows.
pub(crate) fn misplaced_fix(element: Node<'_>, form: Kind) -> Option<Fix> {
    match (form, element.kind()) {
        (Kind::Alias, N::PatternReference) => {
            let node = format!("(::{})", label(&element.text().replace('`', ""))?);
            Some(Fix::replace(NeedsLook, format!("write {node}"), element.span(), node))
        }
        (Kind::Alias, N::Path) => {
            let mut nodes = element.children();
            let subject = nodes.next().filter(|_| nodes.next().is_none())?.subject();
            let name = subject.identifier?;
            let text = match subject.labels_node() {
                Some(_) => String::new(),
                None => format!("::{}", label(name.text())?),
            };
            Some(Fix::replace(NeedsLook, "write the type alone", name.span(), text))
        }
        (Kind::Record, N::Path) => {
            let is_node = |node: &Node<'_>| node.kind() == N::NodePattern;
            let named = |node: &Node<'_>| node.subject().identifier.is_some();
            let nodes: Vec<_> = element.children().filter(is_node).collect();
            let pairs = nodes.iter().zip(nodes.iter().skip(1));
            let gap = |(one, next): (&Node<'_>, &Node<'_>)| {
                Edit::new(Span::new(one.span().end, next.span().start), ", ")
            };
            let edits: Vec<_> = pairs.map(gap).collect();
            let fields = !edits.is_empty() && nodes.iter().all(named);
            let message = "separate the fields with commas".to_owned();
            fields.then_some(Fix::edits(message, edits))
        }
        _ => None,
    }
}

/// A type as a label.
fn label(ty: &str) -> Option<String> {
    Some(match type_name(ty) {
        Some(name) => name.to_owned(),
        None if is_type(ty) => ty.to_owned(),
        None => translate(ty)?,
    })
}

/// Attributes of a record that are types, as fields.
fn fields(attributes: &[Attribute<'_>]) -> Vec<(Span, String)> {
    let field = |attribute: &Attribute<'_>| {
        let node = attribute.node().filter(|node| matches!(node.kind(), N::String | N::Symbol))?;
        // A kept attribute may be null.
        if node.text() == "null" {
            return None;
        }
        let unknown = [AttributeOwner::Record, AttributeOwner::Field]
            .into_iter()
            .all(|owner| find(owner, &attribute.key).is_none());
        let ty = node.content();
        let is_type = ty.starts_with(char::is_uppercase) || type_name(&ty).is_some();
        let ty = label(&ty).filter(|_| unknown && is_type)?;
        Some((attribute.key_span, format!("({}::{ty})", identifier(&attribute.key))))
    };
    attributes.iter().filter_map(field).collect()
}

/// The members of an enum in a list, or each with a value of its own.
fn members(attributes: &[Attribute<'_>]) -> Vec<(Span, String)> {
    let valued = |attribute: &Attribute<'_>| {
        let kind = attribute.node().map(Node::kind);
        matches!(kind, Some(N::Integer | N::String | N::Symbol))
            && find(AttributeOwner::Enum, &attribute.key).is_none()
            && find(AttributeOwner::Field, &attribute.key).is_none()
    };
    if !attributes.is_empty() && attributes.iter().all(valued) {
        let name = |it: &Attribute<'_>| (it.key_span, identifier(&it.key));
        return attributes.iter().map(name).collect();
    }
    let list = |attribute: &Attribute<'_>| {
        let node = attribute.node().filter(|node| node.kind() == N::Array)?;
        let names: Vec<_> = node.children().map(|item| identifier(&item.content())).collect();
        let known = MEMBERS.contains(&&*attribute.key) && !names.is_empty();
        known.then(|| (attribute.key_span, names.join(", ")))
    };
    attributes.iter().filter_map(list).collect()
}
