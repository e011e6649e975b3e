//! Experiments: comparisons of arms, each of which runs an agent on a library.

use gramc_model::attributes::{AttributeOwner, find};
use gramc_model::nearest::nearest;
use gramc_model::print::{identifier, string};
use gramc_model::{Experiment, ExperimentArm};
use gramc_syntax::{Node, NodeKind as N, Span};
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::{Checker, First};
use crate::codes;
use crate::declared::only_node;
use crate::foreign_words::{Meaning, meaning};
use crate::index::DeclarationSyntax;
use crate::kind::Kind;
use crate::seen::Seen;

/// The label of an arm.
const ARM: &str = "Arm";

impl<'t> Checker<'t> {
    pub(crate) fn read_experiment(&mut self, declaration: &DeclarationSyntax<'t>) {
        let mut experiment = Experiment {
            name: declaration.name.clone(),
            description: None,
            arms: self.arms(declaration),
            attributes: Vec::new(),
        };
        for attribute in &self.declaration_attributes(declaration, AttributeOwner::Experiment) {
            // The title and the version are kept as they are.
            let spec = find(AttributeOwner::Experiment, &attribute.key)
                .filter(|spec| !matches!(spec.name, "title" | "version"));
            if attribute.key == "description" {
                experiment.description = attribute.text(self);
            } else if let Some(value) = self.typed_attribute(attribute, spec) {
                if attribute.key == "agent" {
                    self.check_compared_agent(attribute, value.as_str().unwrap_or_default());
                }
                experiment.attributes.push((SmolStr::new(&attribute.key), value));
            }
        }
        self.module.experiments.push(experiment);
        self.module.spans.experiments.push(declaration.place());
    }

    /// Checks that an experiment or an arm names an agent. Where the files declare none, the agents are
    /// in a specification that is read apart from the library.
    fn check_compared_agent(&mut self, attribute: &Attribute<'t>, name: &str) {
        let agent = |first: &&First| first.kind == Kind::Agent;
        if let Some(first) = self.names.get(name).filter(agent) {
            return self.note_use(first.file);
        }
        if self.is_full() || !self.names.iter().any(|(_, first)| agent(&first)) {
            return;
        }
        let known = self.names.iter().filter(|(_, first)| agent(first));
        let near = nearest(name, known.map(|(name, _)| name.as_str()));
        let message = format!("unknown agent `{name}`");
        let error = self.error(&codes::UNKNOWN_NAME, attribute.span(), message);
        let help = format!("declare it: [{name}:Agent | …]");
        self.report(Self::suggest(error, &near, string, help));
    }

    fn arms(&mut self, declaration: &DeclarationSyntax<'t>) -> Vec<ExperimentArm> {
        let node = declaration.node;
        let (mut arms, mut seen) = (Vec::new(), Seen::default());
        let mut misplaced = false;
        for element in node.elements() {
            let name = match element.kind() {
                N::PatternReference => element.children().next(),
                _ => arm_node(element).and_then(|node| node.subject().identifier),
            };
            let Some(name) = name else {
                let is_first = !std::mem::replace(&mut misplaced, true);
                if is_first && !self.odd_arm(element) {
                    let words = "names of libraries, and arms";
                    self.misplaced_member(declaration, element, words);
                }
                continue;
            };
            if seen.insert(name.content(), name.span()).is_some() {
                let message = format!("duplicate arm `{}`", name.content());
                let help = format!(
                    "remove one of them, or give the other one a name: (again:Arm {{library: \"{}\"}})",
                    name.content()
                );
                self.reject(&codes::DUPLICATE_NAME, name.span(), message, help);
                continue;
            }
            arms.extend(match arm_node(element) {
                Some(node) => self.arm(node, name),
                None => Some(self.library_arm(name)),
            });
        }
        let listed = node.subject().entries().any(|entry| {
            meaning(&entry.key.content(), AttributeOwner::Experiment) == Some(Meaning::Members)
        });
        if !misplaced && !listed && node.elements().nth(1).is_none() {
            let message = format!("`{}` compares fewer than two libraries", declaration.name);
            let span = declaration.name_node.span();
            let error = self.error(&codes::MISSING_LIBRARY, span, message);
            let name = &declaration.name;
            let help = format!("name two or more: [{name}:Experiment | one, another]");
            self.report(error.help(help));
        }
        arms
    }

    /// Reports an arm with another label or in brackets, and a library with its label.
    fn odd_arm(&mut self, element: Node<'t>) -> bool {
        let node = only_node(element).unwrap_or(element);
        let subject = node.subject();
        let mut labels = subject.labels();
        let (label, None) = (labels.next().map(Node::text), labels.next()) else { return false };
        let Some(name) = subject.identifier else { return false };
        let written = match (label, subject.record) {
            (Some("Library" | "library"), None) => name.text().to_owned(),
            (Some("Arm" | "arm" | "Variant" | "Candidate" | "Treatment") | None, Some(record)) => {
                format!("({}:{ARM} {})", name.text(), record.text())
            }
            _ => return false,
        };
        let message = "an experiment contains names of libraries, and arms";
        let error = self.error(&codes::MISPLACED_ELEMENT, element.span(), message).advise(
            format!("write {written}"),
            element.span(),
            written,
        );
        self.report(error);
        true
    }

    /// An arm that is written as the name of its library.
    fn library_arm(&mut self, name: Node<'t>) -> ExperimentArm {
        let library = SmolStr::new(name.content());
        self.check_compared_library(&library, name.span());
        ExperimentArm { name: library.clone(), library, is_library: true, attributes: Vec::new() }
    }

    /// `(a:Arm {library: "stable", model: "openai/gpt-4o-mini"})`
    fn arm(&mut self, node: Node<'t>, name: Node<'t>) -> Option<ExperimentArm> {
        let mut attributes = self.record_attributes(node.subject().record);
        Self::add_doc(&mut attributes, node);
        let is_library = |attribute: &Attribute<'_>| {
            !nearest(&attribute.key, std::iter::once("library")).is_empty()
                || attribute.key == "library"
                || meaning(&attribute.key, AttributeOwner::Arm) == Some(Meaning::Is("library"))
        };
        let names_library = attributes.iter().any(is_library);
        self.take_foreign(&mut attributes, AttributeOwner::Arm);
        let mut arm = ExperimentArm {
            name: SmolStr::new(name.content()),
            library: SmolStr::default(),
            is_library: false,
            attributes: Vec::new(),
        };
        for attribute in &attributes {
            // An agent may have any attribute, so an arm may.
            let spec = find(AttributeOwner::Arm, &attribute.key)
                .or_else(|| find(AttributeOwner::Agent, &attribute.key));
            if spec.is_none() {
                self.near_attribute(attribute, AttributeOwner::Arm);
            }
            let Some(value) = self.typed_attribute(attribute, spec) else { continue };
            let text = value.as_str().unwrap_or_default();
            match &*attribute.key {
                "library" => {
                    arm.library = text.into();
                    self.check_compared_library(&arm.library, attribute.span());
                    continue;
                }
                "agent" => self.check_compared_agent(attribute, text),
                _ => {}
            }
            arm.attributes.push((SmolStr::new(&attribute.key), value));
        }
        if arm.library.is_empty() && !names_library {
            let message = format!("the arm `{}` names no library", arm.name);
            let help = format!("add one: ({}:Arm {{library: \"stable\"}})", name.text());
            self.reject(&codes::MISSING_LIBRARY, name.span(), message, help);
            return None;
        }
        Some(arm)
    }

    /// Checks that an arm names a library, in a string or as a name.
    fn check_compared_library(&mut self, text: &SmolStr, span: Span) {
        let found = self.libraries.get(text).map(|first| (first.kind, first.file));
        if let Some((Kind::Library, owner)) = found {
            return self.note_use(owner);
        }
        if self.is_full() {
            return;
        }
        let known = self.libraries.iter().filter(|(_, first)| first.kind == Kind::Library);
        let near = nearest(text, known.map(|(name, _)| name.as_str()));
        let other = self.names.get(&**text).map(|first| first.kind.noun());
        let message = if let Some(noun) = &other {
            format!("`{text}` is {noun}, and an experiment compares libraries")
        } else if found.is_some() {
            format!("`{text}` is not a library")
        } else {
            format!("unknown library `{text}`")
        };
        let help = match other {
            Some(_) => "name a library, which contains the implementations of tools".to_owned(),
            None => format!("declare it: [{text}:Library | …]"),
        };
        let error = self.error(&codes::UNKNOWN_LIBRARY, span, message).about(&**text);
        let is_quoted = self.source().slice(span).starts_with('"');
        let write = if is_quoted { string } else { identifier };
        self.report(Self::suggest(error, &near, write, help));
    }
}

/// The node of an element that is labelled as an arm.
fn arm_node(element: Node<'_>) -> Option<Node<'_>> {
    only_node(element).filter(|node| node.subject().labels().any(|label| label.text() == ARM))
}
