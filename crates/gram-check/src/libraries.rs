//! Libraries and experiments: implementations to bind at run time, and comparisons of libraries.
//! Here they are data; what binds them gives them meaning.

mod attributes;
mod whole_server;

use gram_syntax::Applicability::NeedsLook;
use gram_syntax::{Fix, Node, NodeKind as N};
use smol_str::SmolStr;

use crate::agent::article;
use crate::attributes::Attribute;
use crate::checker::{Checker, DeclarationKind, First};
use crate::codes;
use crate::declared::only_node;
use crate::index::DeclarationSyntax;
use crate::seen::Seen;
use gram_model::attributes::{AttributeOwner, find, of_owner};
use gram_model::attributes::{ImplementationKind, RequiredAttribute};
use gram_model::nearest::{nearest, question};
use gram_model::print::identifier;
use gram_model::spans::Place;
use gram_model::{Experiment, Implementation, Library, WHOLE_SERVER};

impl<'t> Checker<'t> {
    pub(crate) fn read_library(&mut self, declaration: &DeclarationSyntax<'t>) {
        let DeclarationSyntax { file, node, .. } = *declaration;
        let mut library = Library {
            name: declaration.name.clone(),
            description: None,
            implementations: Vec::new(),
            attributes: Vec::new(),
        };
        for attribute in &self.all_attributes(declaration) {
            if attribute.key == "description" {
                library.description = attribute.text(self, file);
            } else {
                library.attributes.extend(self.bound_attribute(
                    file,
                    attribute,
                    AttributeOwner::Library,
                ));
            }
        }
        let (mut places, mut seen) = (Vec::new(), Seen::default());
        for element in node.elements() {
            let Some(read) = self.implementation(file, element, &mut seen) else { continue };
            library.implementations.push(read.0);
            places.push(read.1);
        }
        let name = declaration.name_node.span();
        self.module.libraries.push(library);
        self.module.spans.libraries.push(Place { file, node: node.id(), name });
        self.module.spans.implementations.push(places);
    }

    /// `(sayHello:Command {run: ["python3", "hello.py"]})`
    fn implementation(
        &mut self,
        file: usize,
        element: Node<'t>,
        seen: &mut Seen<'t>,
    ) -> Option<(Implementation, Place)> {
        if element.kind() == N::PatternReference {
            let name = element.children().next()?;
            self.kindless(file, name);
            return None;
        }
        let Some(node) = only_node(element) else {
            let message = "a library holds implementations";
            let error = self.error(&codes::MISPLACED_ELEMENT, file, element.span(), message);
            self.report(file, error.help(format!("write {EXAMPLE}; a tool is declared outside")));
            return None;
        };
        let subject = node.subject();
        let Some(name) = subject.identifier else {
            let message = "this implementation names no tool";
            let error = self.error(&codes::NAMELESS, file, node.span(), message);
            self.report(file, error.help(format!("write {EXAMPLE}")));
            return None;
        };
        let is_whole_server = name.content() == WHOLE_SERVER;
        if !is_whole_server && let Some(first) = seen.insert(name.content(), name.span()) {
            let message = format!("`{}` has two implementations", name.content());
            let error = self
                .error(&codes::DUPLICATE_NAME, file, name.span(), message)
                .here("the second one")
                .label(first, "the first one")
                .help("remove one of them, or move it to another library");
            self.report(file, error);
            return None;
        }
        let kind = self.implementation_kind(file, node, name)?;
        let tool = SmolStr::new(name.content());
        if let Some(owner) = self.names.get(&tool).map(|first| first.file) {
            self.used(file, owner);
        }
        let mut attributes = self.record_attributes(file, subject.record);
        Self::add_doc(&mut attributes, node);
        let owner = AttributeOwner::Implementation(kind);
        let given = attributes.len();
        self.take_foreign(file, &mut attributes, owner, None);
        if attributes.len() == given && !Self::nearly_needed(kind, &attributes) {
            self.needs(file, node, kind, &attributes);
        }
        self.check_whole_server(file, name, kind, &attributes);
        let mut read = Implementation { tool, kind, attributes: Vec::new(), signature: None };
        for attribute in &attributes {
            if attribute.key == "signature" {
                read.signature = self.bound_signature(file, attribute);
            }
            read.attributes.extend(self.bound_attribute(file, attribute, owner));
        }
        Some((read, Place { file, node: node.id(), name: name.span() }))
    }

    /// The kind that a node's one label names.
    fn implementation_kind(
        &mut self,
        file: usize,
        node: Node<'t>,
        name: Node<'t>,
    ) -> Option<ImplementationKind> {
        let subject = node.subject();
        let mut labels = subject.labels();
        let Some(label) = labels.next() else {
            self.kindless(file, name);
            return None;
        };
        if let Some(second) = labels.next() {
            let message = format!("`{}` has two kinds", name.content());
            let error = self.error(&codes::IMPLEMENTATION_KIND, file, second.span(), message);
            self.report(file, error.help("keep one of them"));
            return None;
        }
        let text = label.content();
        let all = ImplementationKind::ALL;
        if let Some(kind) = all.into_iter().find(|kind| kind.name() == text) {
            return Some(kind);
        }
        let near = nearest(&text, all.into_iter().map(ImplementationKind::name));
        let message = format!("unknown implementation kind `{text}`");
        let mut error = self
            .error(&codes::IMPLEMENTATION_KIND, file, label.span(), message)
            .help(question(&near).unwrap_or_else(kinds));
        if let Some(near) = near.first() {
            let fix = Fix::replace(NeedsLook, format!("write `{near}`"), label.span(), *near);
            error = error.fix(fix);
        }
        self.report(file, error);
        None
    }

    fn kindless(&mut self, file: usize, name: Node<'t>) {
        let message = format!("the implementation of `{}` has no kind", name.content());
        let error = self.error(&codes::IMPLEMENTATION_KIND, file, name.span(), message);
        self.report(file, error.help(kinds()));
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
    fn needs(
        &mut self,
        file: usize,
        node: Node<'t>,
        kind: ImplementationKind,
        attributes: &[Attribute<'t>],
    ) {
        let Some(RequiredAttribute { one_of, missing, help }) = kind.required() else { return };
        let mut given = attributes.iter().filter(|attribute| one_of.contains(&&*attribute.key));
        match (given.next(), given.next()) {
            (None, _) => {}
            (Some(first), Some(second)) => return self.exclusive(file, first, second),
            (Some(first), None) => {
                let excluded: &[&str] = match &*first.key {
                    "url" => &["env", "cwd"],
                    "command" => &["headers"],
                    _ => &[],
                };
                let other = |attribute: &&Attribute<'_>| excluded.contains(&&*attribute.key);
                if let Some(other) = attributes.iter().find(other) {
                    self.exclusive(file, first, other);
                }
                return;
            }
        }
        let subject = node.subject();
        let tool = subject.identifier.map(Node::content).unwrap_or_default();
        let span = subject.labels_node().unwrap_or(node).span();
        let message = format!("the implementation of `{tool}` has no {missing}");
        let error = self.error(&codes::INCOMPLETE_IMPLEMENTATION, file, span, message);
        self.report(file, error.help(help));
    }

    /// Reports two attributes that configure the same.
    pub(crate) fn exclusive(&mut self, file: usize, first: &Attribute<'_>, second: &Attribute<'_>) {
        let message = format!("`{}` and `{}` exclude each other", first.key, second.key);
        let error = self
            .error(&codes::CONFLICTING_ATTRIBUTES, file, second.key_span, message)
            .label(first.key_span, "the other one")
            .help("keep one of them");
        self.report(file, error);
    }

    pub(crate) fn read_experiment(&mut self, declaration: &DeclarationSyntax<'t>) {
        let DeclarationSyntax { file, node, .. } = *declaration;
        let mut experiment = Experiment {
            name: declaration.name.clone(),
            description: None,
            libraries: self.compared(declaration),
            attributes: Vec::new(),
        };
        for attribute in &self.declaration_attributes(declaration, AttributeOwner::Experiment) {
            // The title and the version are kept as they are.
            let spec = find(AttributeOwner::Experiment, &attribute.key)
                .filter(|spec| !matches!(spec.name, "title" | "version"));
            if attribute.key == "description" {
                experiment.description = attribute.text(self, file);
            } else if let Some(value) = self.typed_attribute(file, attribute, spec) {
                if attribute.key == "agent" {
                    self.compared_agent(file, attribute, value.as_str().unwrap_or_default());
                }
                experiment.attributes.push((SmolStr::new(&attribute.key), value));
            }
        }
        let name = declaration.name_node.span();
        self.module.experiments.push(experiment);
        self.module.spans.experiments.push(Place { file, node: node.id(), name });
    }

    /// Checks that an experiment names an agent. Where the files declare none, the agents are in a
    /// specification that is read apart from the library.
    fn compared_agent(&mut self, file: usize, attribute: &Attribute<'t>, name: &str) {
        let agent = |first: &&First| first.kind == DeclarationKind::Agent;
        if let Some(first) = self.names.get(name).filter(agent) {
            return self.used(file, first.file);
        }
        if self.is_full(file) || !self.names.iter().any(|(_, first)| agent(&first)) {
            return;
        }
        let known = self.names.iter().filter(|(_, first)| agent(first));
        let near = nearest(name, known.map(|(name, _)| name.as_str()));
        let message = format!("unknown agent `{name}`");
        let mut error = self
            .error(&codes::UNKNOWN_NAME, file, attribute.span(), message)
            .help(question(&near).unwrap_or_else(|| format!("declare it: [{name}:Agent | …]")));
        if let Some(near) = near.first() {
            let with = format!("\"{near}\"");
            error =
                error.fix(Fix::replace(NeedsLook, format!("write {with}"), attribute.span(), with));
        }
        self.report(file, error);
    }

    /// The libraries that an experiment names.
    fn compared(&mut self, declaration: &DeclarationSyntax<'t>) -> Vec<SmolStr> {
        let DeclarationSyntax { file, node, .. } = *declaration;
        let (mut libraries, mut seen) = (Vec::new(), Seen::default());
        let mut misplaced = false;
        for element in node.elements() {
            let name = match element.kind() {
                N::PatternReference => element.children().next(),
                _ => None,
            };
            let Some(name) = name else {
                if !std::mem::replace(&mut misplaced, true) {
                    self.misplaced_member(declaration, element, "experiment", "names of libraries");
                }
                continue;
            };
            if seen.insert(name.content(), name.span()).is_some() {
                let message = format!("`{}` is given twice", name.content());
                let error = self.error(&codes::DUPLICATE_NAME, file, name.span(), message);
                self.report(file, error.help("remove one of them"));
                continue;
            }
            let library = SmolStr::new(name.content());
            match self.libraries.get(&library).map(|first| (first.kind, first.file)) {
                Some((DeclarationKind::Library, owner)) => self.used(file, owner),
                found => self.unknown_library(file, name, found.is_some()),
            }
            libraries.push(library);
        }
        if !misplaced && node.elements().nth(1).is_none() {
            let message = format!("`{}` compares fewer than two libraries", declaration.name);
            let span = declaration.name_node.span();
            let error = self.error(&codes::MISSING_LIBRARY, file, span, message);
            let name = &declaration.name;
            let help = format!("name two or more: [{name}:Experiment | one, another]");
            self.report(file, error.help(help));
        }
        libraries
    }

    fn unknown_library(&mut self, file: usize, name: Node<'t>, declared: bool) {
        if self.is_full(file) {
            return;
        }
        let text = name.content();
        let known =
            self.libraries.iter().filter(|(_, first)| first.kind == DeclarationKind::Library);
        let near = nearest(&text, known.map(|(name, _)| name.as_str()));
        let other = self.names.get(&*text).map(|first| first.kind.label().to_lowercase());
        let message = if let Some(kind) = &other {
            format!("`{text}` is {} {kind}, and an experiment compares libraries", article(kind))
        } else if declared {
            format!("`{text}` is not a library")
        } else {
            format!("unknown library `{text}`")
        };
        let help = match other {
            Some(_) => "name a library, which holds the implementations of tools".to_owned(),
            None => format!("declare it: [{text}:Library | …]"),
        };
        let mut error = self
            .error(&codes::UNKNOWN_LIBRARY, file, name.span(), message)
            .about(&*text)
            .help(question(&near).unwrap_or(help));
        if let Some(near) = near.first() {
            let fix =
                Fix::replace(NeedsLook, format!("write `{near}`"), name.span(), identifier(near));
            error = error.fix(fix);
        }
        self.report(file, error);
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
