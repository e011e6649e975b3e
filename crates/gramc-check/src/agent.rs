//! Agents.

use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::{Edit, Fix, Node, NodeKind as N};
use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::{Checker, DeclarationKind};
use crate::codes;
use crate::declared::only_node;
use crate::index::{DeclarationSyntax, is_label};
use crate::scopes::Meaning;
use crate::seen::Seen;
use gramc_model::attributes::{AttributeOwner, ValueType, find};
use gramc_model::nearest::{nearest, question};
use gramc_model::spans::Place;
use gramc_model::{Agent, Api};

impl<'t> Checker<'t> {
    pub(crate) fn read_agent(&mut self, declaration: &DeclarationSyntax<'t>) {
        let DeclarationSyntax { file, node, .. } = *declaration;
        let mut agent = Agent {
            name: declaration.name.clone(),
            description: None,
            instruction: None,
            models: Vec::new(),
            max_iterations: 10,
            api: Api::Tools,
            result: None,
            members: self.members(
                declaration,
                "agent",
                "tools, containers and agents",
                &[DeclarationKind::Tool, DeclarationKind::Container, DeclarationKind::Agent],
            ),
            attributes: Vec::new(),
        };
        let attributes = self.declaration_attributes(declaration, AttributeOwner::Agent);
        let given = |key: &str| attributes.iter().find(|attribute| attribute.key == key);
        if let (Some(model), Some(models)) = (given("model"), given("models")) {
            self.exclusive(file, model, models);
        }
        for attribute in &attributes {
            self.agent_attribute(file, &mut agent, attribute);
        }
        let name = declaration.name_node.span();
        self.module.agents.push(agent);
        self.module.spans.agents.push(Place { file, node: node.id(), name });
    }

    /// The names of what an agent or container holds: things of the kinds `holds`.
    pub(crate) fn members(
        &mut self,
        declaration: &DeclarationSyntax<'t>,
        holder: &str,
        words: &str,
        holds: &[DeclarationKind],
    ) -> Vec<SmolStr> {
        let file = declaration.file;
        let mut members: Vec<SmolStr> = Vec::new();
        let mut misplaced = false;
        let mut seen = Seen::default();
        for element in declaration.node.elements() {
            if element.kind() == N::SubjectPattern && !self.declares_member(file, element) {
                continue;
            }
            let name = match element.kind() {
                N::PatternReference => element.children().next(),
                N::SubjectPattern => element.subject().identifier,
                _ => {
                    if !std::mem::replace(&mut misplaced, true) {
                        self.misplaced_member(declaration, element, holder, words);
                    }
                    continue;
                }
            };
            let Some(node) = name else { continue };
            let name = SmolStr::new(node.content());
            let declared = self.names.get(&name).map(|first| first.file);
            if let Some(owner) = declared {
                self.used(file, owner);
            }
            if element.kind() == N::PatternReference && declared.is_none() {
                if !self.other_member(file, node.span(), &name, holder, words) {
                    self.unknown_member(file, node.span(), &name);
                }
            } else if name == declaration.name {
                let message = format!("the {holder} `{name}` holds itself");
                let error = self.error(&codes::MISPLACED_ELEMENT, file, node.span(), message);
                self.report(file, error.help("remove the name"));
            } else if self.kind_of(element, &name).is_some_and(|kind| !holds.contains(&kind)) {
                let message = format!("`{name}` is not allowed here: expected {words}");
                let error = self.error(&codes::MISPLACED_ELEMENT, file, node.span(), message);
                self.report(file, error.help("remove or move it"));
                continue;
            } else if seen.insert(node.content(), node.span()).is_some() {
                let message = format!("`{name}` is given twice");
                let error = self.error(&codes::DUPLICATE_NAME, file, node.span(), message);
                self.report(file, error.help("remove one of them"));
            }
            members.push(name);
        }
        members
    }

    /// Reports the first element that is a node or path: names in parentheses, or a signature.
    pub(crate) fn misplaced_member(
        &mut self,
        declaration: &DeclarationSyntax<'t>,
        element: Node<'t>,
        holder: &str,
        words: &str,
    ) {
        let file = declaration.file;
        let message = format!("{} {holder} holds {words}", article(holder));
        let mut error = self.error(&codes::MISPLACED_ELEMENT, file, element.span(), message);
        let name = |element: Node<'t>| {
            let subject = only_node(element)?.subject();
            let labelled = subject.labels().all(|label| is_label(label.text()));
            let bare = labelled && subject.record.is_none();
            subject.identifier.filter(|_| bare)
        };
        error = if name(element).is_some() {
            let named = declaration.node.elements().filter_map(|it| Some((it.span(), name(it)?)));
            let edits = named.map(|(span, name)| Edit { span, text: name.text().to_owned() });
            let fix = Fix {
                message: "remove the parentheses".to_owned(),
                applicability: NeedsLook,
                edits: edits.collect(),
            };
            let names: Vec<_> = fix.edits.iter().map(|edit| edit.text.as_str()).collect();
            error.help(format!("write {}, without parentheses", names.join(", "))).fix(fix)
        } else if holder == "experiment" {
            error.help("declare the library elsewhere, and name it here")
        } else {
            error.help(
                "declare a tool here, [name:Tool | …], or name one that is declared elsewhere",
            )
        };
        self.report(file, error);
    }

    /// Whether a pattern among an agent's elements declares a tool or an agent. One without any
    /// label is data, but hardly meant to be.
    fn declares_member(&mut self, file: usize, element: Node<'t>) -> bool {
        let subject = element.subject();
        if subject.labels_node().is_none() {
            let message = "this declares nothing";
            let warning = self
                .warning(&codes::UNKNOWN_LABEL, file, element.span(), message)
                .help("name a tool or agent without brackets, or declare one: [name:Tool | …]");
            self.report(file, warning);
        }
        if let Some(label) =
            subject.labels().find(|it| matches!(it.text(), "Library" | "Experiment"))
        {
            let message = format!("a {} must be at the top level", label.text().to_lowercase());
            let error = self.error(&codes::MISPLACED_ELEMENT, file, label.span(), message);
            self.report(file, error.help("move it out of here; libraries are bound at run time"));
        }
        subject.labels().any(|label| matches!(label.text(), "Tool" | "Agent" | "Container"))
    }

    /// Reports a member that is not a tool or an agent, but a type, a term or a library.
    fn other_member(
        &mut self,
        file: usize,
        span: gramc_syntax::Span,
        name: &str,
        holder: &str,
        words: &str,
    ) -> bool {
        let (what, help) = if let Some(first) = self.libraries.get(name) {
            let label = first.kind.label().to_lowercase();
            let article = if label.starts_with('e') { "an" } else { "a" };
            (format!("{article} {label}"), "remove it; libraries are bound at run time")
        } else if self.type_names.find(file, None, name) != Meaning::Unknown {
            ("a type".to_owned(), "remove it; the signature of a tool names its types")
        } else if self.terms.find(file, None, name) != Meaning::Unknown {
            ("a vocabulary term".to_owned(), "remove it; the signature of a tool names it")
        } else {
            return false;
        };
        let article = article(holder);
        let message = format!("`{name}` is {what}; {article} {holder} holds {words}");
        let error = self.error(&codes::MISPLACED_ELEMENT, file, span, message);
        self.report(file, error.help(help));
        true
    }

    fn unknown_member(&mut self, file: usize, span: gramc_syntax::Span, name: &str) {
        if self.is_full(file) {
            return;
        }
        let near = nearest(name, self.names.keys().map(SmolStr::as_str));
        // `tools.now` is the tool of a module in other languages.
        let last =
            name.rsplit(['.', '/', ':']).next().filter(|last| self.names.contains_key(*last));
        let near = last.map_or(near, |last| vec![last]);
        let help = question(&near)
            .unwrap_or_else(|| format!("declare it: [{name}:Tool | (input::Text)==>(::Text)]"));
        let message = format!("unknown tool or agent `{name}`");
        let mut error =
            self.error(&codes::UNKNOWN_NAME, file, span, message).about(name).help(help);
        if let Some(near) = near.first() {
            let with = gramc_model::print::identifier(near);
            error = error.fix(Fix::replace(NeedsLook, format!("write `{near}`"), span, with));
        }
        self.report(file, error);
    }

    fn agent_attribute(&mut self, file: usize, agent: &mut Agent, attribute: &Attribute<'t>) {
        match &*attribute.key {
            "description" => agent.description = attribute.text(self, file),
            "instruction" => agent.instruction = attribute.text(self, file),
            "model" => agent.models.extend(attribute.text(self, file)),
            "models" => {
                let words = "a list of models, such as [\"openai/gpt-4o-mini\"]";
                match attribute.json(self, file) {
                    Some(Value::Array(models))
                        if !models.is_empty() && models.iter().all(Value::is_string) =>
                    {
                        agent
                            .models
                            .extend(models.iter().filter_map(Value::as_str).map(SmolStr::new));
                    }
                    Some(_) => attribute.wrong_as(self, file, ValueType::List, words),
                    None => {}
                }
            }
            "maxIterations" => {
                if let Some(count) = attribute.count(self, file) {
                    agent.max_iterations = count;
                }
            }
            "api" => match attribute.text(self, file).as_deref() {
                Some("tools") | None => {}
                Some("functions") => agent.api = Api::Functions,
                Some(_) => attribute.wrong(self, file, ValueType::OneOf(&["tools", "functions"])),
            },
            "result" => agent.result = attribute.type_expression(self, file),
            key @ ("command" | "images" | "validate" | "temperature" | "topP" | "maxTokens"
            | "seed") => {
                let spec = find(AttributeOwner::Agent, key);
                if let Some(value) = self.typed_attribute(file, attribute, spec) {
                    agent.attributes.push((SmolStr::new(key), value));
                }
            }
            key => {
                if let Some(value) = attribute.keep_value(self, file) {
                    agent.attributes.push((SmolStr::new(key), value));
                }
            }
        }
    }

    /// Reads a tool or an agent.
    pub(crate) fn read(&mut self, declaration: &DeclarationSyntax<'t>) {
        if self.is_broken(declaration.file, declaration.node) {
            return;
        }
        match declaration.kind {
            DeclarationKind::Tool => self.read_tool(declaration),
            DeclarationKind::Agent => self.read_agent(declaration),
            DeclarationKind::Container => self.read_container(declaration),
            DeclarationKind::Library => self.read_library(declaration),
            DeclarationKind::Experiment => self.read_experiment(declaration),
            DeclarationKind::Type(_) => {}
        }
    }
}

/// The article of what holds members.
pub(crate) fn article(holder: &str) -> &'static str {
    if holder.starts_with(['a', 'e']) { "an" } else { "a" }
}
