//! Libraries: implementations to bind at run time. Here they are data; what binds them gives them
//! meaning.

mod attributes;
mod whole_server;

use gramc_syntax::{Node, NodeKind as N, Words};
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::declared::only_node;
use crate::index::DeclarationSyntax;
use crate::seen::Seen;
use gramc_model::attributes::{AttributeOwner, find, of_owner};
use gramc_model::attributes::{ImplementationKind, RequiredAttribute};
use gramc_model::nearest::nearest;
use gramc_model::spans::Place;
use gramc_model::{Implementation, Library, WHOLE_SERVER};

/// Words of other programs for kinds of implementations.
const FOREIGN_KINDS: [(Words, &str); 6] = [
    (Words("Shell Bash Exec Script Program Python Node Cli CLI"), "Command"),
    (Words("REST Rest Api API Web Url OpenApi OpenAPI HTTP Https"), "Http"),
    (Words("Mock Stub Dummy"), "Fake"),
    (Words("Recording Record Cassette"), "Replay"),
    (Words("MCP Server McpServer"), "Mcp"),
    (Words("Host Callback Local Function"), "Client"),
];

impl<'t> Checker<'t> {
    pub(crate) fn read_library(&mut self, declaration: &DeclarationSyntax<'t>) {
        let node = declaration.node;
        let mut library = Library {
            name: declaration.name.clone(),
            description: None,
            implementations: Vec::new(),
            attributes: Vec::new(),
        };
        let attributes = self.all_attributes(declaration);
        self.retries_without_requests(declaration, &attributes);
        for attribute in &attributes {
            if attribute.key == "description" {
                library.description = attribute.text(self);
            } else {
                library.attributes.extend(self.bound_attribute(attribute, AttributeOwner::Library));
            }
        }
        let (mut places, mut seen) = (Vec::new(), Seen::default());
        for element in node.elements() {
            let Some(read) = self.implementation(element, &mut seen) else { continue };
            library.implementations.push(read.0);
            places.push(read.1);
        }
        self.module.libraries.push(library);
        self.module.spans.libraries.push(declaration.place());
        self.module.spans.implementations.push(places);
    }

    /// `(sayHello:Command {run: ["python3", "hello.py"]})`
    fn implementation(
        &mut self,
        element: Node<'t>,
        seen: &mut Seen<'t>,
    ) -> Option<(Implementation, Place)> {
        if element.kind() == N::PatternReference {
            let name = element.children().next()?;
            self.kindless(name);
            return None;
        }
        let Some(node) = only_node(element) else {
            let message = "a library contains implementations";
            let help = format!("write {EXAMPLE}; a tool is declared outside");
            self.reject(&codes::MISPLACED_ELEMENT, element.span(), message, help);
            return None;
        };
        let subject = node.subject();
        let Some(name) = subject.identifier else {
            let message = "this implementation names no tool";
            self.reject(&codes::NAMELESS, node.span(), message, format!("write {EXAMPLE}"));
            return None;
        };
        let is_whole_server = name.content() == WHOLE_SERVER;
        if !is_whole_server && let Some(first) = seen.insert(name.content(), name.span()) {
            let message = format!("`{}` has two implementations", name.content());
            self.reject_second(
                &codes::DUPLICATE_NAME,
                [first, name.span()],
                message,
                "remove one of them, or move it to another library",
            );
            return None;
        }
        let kind = self.implementation_kind(node, name)?;
        let tool = SmolStr::new(name.content());
        if let Some(owner) = self.names.get(&tool).map(|first| first.file) {
            self.note_use(owner);
        }
        let mut attributes = self.record_attributes(subject.record);
        Self::add_doc(&mut attributes, node);
        let owner = AttributeOwner::Implementation(kind);
        let given = attributes.len();
        self.take_foreign(&mut attributes, owner);
        if attributes.len() == given && !Self::nearly_needed(kind, &attributes) {
            self.needs(node, kind, &attributes);
        }
        self.check_whole_server(name, kind, &attributes);
        let mut read = Implementation { tool, kind, attributes: Vec::new(), signature: None };
        for attribute in &attributes {
            if attribute.key == "signature" {
                read.signature = self.bound_signature(attribute);
            }
            read.attributes.extend(self.bound_attribute(attribute, owner));
        }
        Some((read, Place { file: self.file, node: node.id(), name: name.span() }))
    }

    /// The kind that a node's one label names.
    fn implementation_kind(
        &mut self,
        node: Node<'t>,
        name: Node<'t>,
    ) -> Option<ImplementationKind> {
        let subject = node.subject();
        let mut labels = subject.labels();
        let Some(label) = labels.next() else {
            self.kindless(name);
            return None;
        };
        if let Some(second) = labels.next() {
            let message = format!("`{}` has two kinds", name.content());
            self.reject(&codes::IMPLEMENTATION_KIND, second.span(), message, "keep one of them");
            return None;
        }
        let text = label.content();
        let all = ImplementationKind::ALL;
        if let Some(kind) = all.into_iter().find(|kind| kind.name() == text) {
            return Some(kind);
        }
        let foreign = FOREIGN_KINDS.iter().find(|(words, _)| words.contains(&text));
        let near = match foreign {
            Some((_, ours)) => vec![*ours],
            None => nearest(&text, all.into_iter().map(ImplementationKind::name)),
        };
        let message = format!("unknown implementation kind `{text}`");
        let error = self.error(&codes::IMPLEMENTATION_KIND, label.span(), message);
        self.report(Self::suggest(error, &near, str::to_owned, kinds()));
        None
    }

    fn kindless(&mut self, name: Node<'t>) {
        let message = format!("the implementation of `{}` has no kind", name.content());
        self.reject(&codes::IMPLEMENTATION_KIND, name.span(), message, kinds());
    }

    /// Whether an unknown attribute is nearly one that the kind needs, and is reported as that.
    fn nearly_needed(kind: ImplementationKind, attributes: &[Attribute<'t>]) -> bool {
        let owner = AttributeOwner::Implementation(kind);
        let needed = kind.required().map(|required| required.one_of).unwrap_or_default();
        let unknown = attributes.iter().filter(|attribute| find(owner, &attribute.key).is_none());
        unknown.into_iter().any(|attribute| {
            nearest(&attribute.key, of_owner(owner).map(|spec| spec.name))
                .first()
                .is_some_and(|near| needed.contains(near))
        })
    }

    /// Reports what the kind needs and is not there.
    fn needs(&mut self, node: Node<'t>, kind: ImplementationKind, attributes: &[Attribute<'t>]) {
        let Some(RequiredAttribute { one_of, missing, help }) = kind.required() else { return };
        let mut given = attributes.iter().filter(|attribute| one_of.contains(&&*attribute.key));
        match (given.next(), given.next()) {
            (None, _) => {}
            (Some(first), Some(second)) => return self.exclusive(first, second),
            (Some(first), None) => {
                let excluded: &[&str] = match &*first.key {
                    "url" => &["env", "cwd"],
                    "command" => &["headers"],
                    _ => &[],
                };
                let other = |attribute: &&Attribute<'_>| excluded.contains(&&*attribute.key);
                if let Some(other) = attributes.iter().find(other) {
                    self.exclusive(first, other);
                }
                return;
            }
        }
        let subject = node.subject();
        let tool = subject.identifier.map(Node::content).unwrap_or_default();
        let span = subject.labels_node().unwrap_or(node).span();
        let message = format!("the implementation of `{tool}` has no {missing}");
        self.reject(&codes::INCOMPLETE_IMPLEMENTATION, span, message, help);
    }

    /// Reports two attributes that configure the same.
    pub(crate) fn exclusive(&mut self, first: &Attribute<'_>, second: &Attribute<'_>) {
        let message = format!("`{}` and `{}` exclude each other", first.key, second.key);
        let error = self
            .error(&codes::CONFLICTING_ATTRIBUTES, second.key_span, message)
            .label(first.key_span, "the other one")
            .help("keep one of them");
        self.report(error);
    }
}

/// An implementation, for help.
const EXAMPLE: &str = "(sayHello:Command {run: [\"python3\", \"hello.py\"]})";

/// What kinds there are, for help.
fn kinds() -> String {
    let [before @ .., last] = ImplementationKind::ALL.map(ImplementationKind::name);
    format!("the kinds are {} and {last}: {EXAMPLE}", before.join(", "))
}

#[cfg(test)]
mod tests;
