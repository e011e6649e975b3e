//! Agents.

use gramc_syntax::{Edit, Fix, Node, NodeKind as N};
use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::declared::only_node;
use crate::index::{DeclarationSyntax, is_label};
use crate::kind::Kind;
use crate::scopes::Meaning;
use crate::seen::Seen;
use gramc_model::attributes::{AttributeOwner, ValueType, find};
use gramc_model::nearest::nearest;
use gramc_model::print::identifier;
use gramc_model::{Agent, Api};

impl<'t> Checker<'t> {
    pub(crate) fn read_agent(&mut self, declaration: &DeclarationSyntax<'t>) {
        let mut agent = Agent {
            name: declaration.name.clone(),
            description: None,
            instruction: None,
            models: Vec::new(),
            max_iterations: 10,
            api: Api::Tools,
            result: None,
            members: self.members(declaration),
            attributes: Vec::new(),
        };
        let attributes = self.declaration_attributes(declaration, AttributeOwner::Agent);
        let given = |key: &str| attributes.iter().find(|attribute| attribute.key == key);
        if let (Some(model), Some(models)) = (given("model"), given("models")) {
            self.exclusive(model, models);
        }
        for attribute in &attributes {
            self.agent_attribute(&mut agent, attribute);
        }
        self.module.agents.push(agent);
        self.module.spans.agents.push(declaration.place());
    }

    /// The names of the members of an agent or container.
    pub(crate) fn members(&mut self, declaration: &DeclarationSyntax<'t>) -> Vec<SmolStr> {
        let holder = declaration.kind;
        let (words, kinds): (_, &[Kind]) = match holder {
            Kind::Agent => {
                ("tools, containers and agents", &[Kind::Tool, Kind::Container, Kind::Agent])
            }
            _ => ("tools", &[Kind::Tool]),
        };
        let mut members: Vec<SmolStr> = Vec::new();
        let mut misplaced = false;
        let mut seen = Seen::default();
        for element in declaration.node.elements() {
            if element.kind() == N::SubjectPattern && !self.declares_member(element) {
                continue;
            }
            let name = match element.kind() {
                N::PatternReference => element.children().next(),
                N::SubjectPattern => element.subject().identifier,
                _ => {
                    if !std::mem::replace(&mut misplaced, true) {
                        self.misplaced_member(declaration, element, words);
                    }
                    continue;
                }
            };
            let Some(node) = name else { continue };
            let name = SmolStr::new(node.content());
            let declared = self.names.get(&name).map(|first| first.file);
            if let Some(owner) = declared {
                self.note_use(owner);
            }
            if element.kind() == N::PatternReference && declared.is_none() {
                if !self.other_member(node.span(), &name, holder, words) {
                    self.unknown_member(node.span(), &name);
                }
            } else if name == declaration.name {
                let message = format!("the {} `{name}` contains itself", holder.word());
                self.reject(&codes::MISPLACED_ELEMENT, node.span(), message, "remove the name");
            } else if self.kind_of(element, &name).is_some_and(|kind| !kinds.contains(&kind)) {
                let message = format!("`{name}` is not allowed here: expected {words}");
                self.reject(&codes::MISPLACED_ELEMENT, node.span(), message, "remove or move it");
                continue;
            } else if let Some(first) = seen.insert(node.content(), node.span()) {
                let message = format!("duplicate member `{name}`");
                let spans = [first, node.span()];
                self.reject_second(&codes::DUPLICATE_NAME, spans, message, "remove one of them");
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
        words: &str,
    ) {
        let message = format!("{} contains {words}", declaration.kind.noun());
        let mut error = self.error(&codes::MISPLACED_ELEMENT, element.span(), message);
        let name = |element: Node<'t>| {
            let subject = only_node(element)?.subject();
            let labelled = subject.labels().all(|label| is_label(label.text()));
            let bare = labelled && subject.record.is_none();
            subject.identifier.filter(|_| bare)
        };
        error = if name(element).is_some() {
            let named = declaration.node.elements().filter_map(|it| Some((it.span(), name(it)?)));
            let edits = named.map(|(span, name)| Edit::new(span, name.text().to_owned()));
            let fix = Fix::edits("remove the parentheses", edits.collect());
            let names: Vec<_> = fix.edits.iter().map(|edit| edit.text.as_str()).collect();
            error.help(format!("write {}, without parentheses", names.join(", "))).fix(fix)
        } else if declaration.kind == Kind::Experiment {
            error.help("declare the library elsewhere, and name it here")
        } else {
            error.help(
                "declare a tool here, [name:Tool | …], or name one that is declared elsewhere",
            )
        };
        self.report(error);
    }

    /// Whether a pattern among an agent's elements declares a tool or an agent. One without any
    /// label is data, but hardly meant to be.
    fn declares_member(&mut self, element: Node<'t>) -> bool {
        let subject = element.subject();
        if subject.labels_node().is_none() {
            let message = "this declares nothing";
            let help = "name a tool or agent without brackets, or declare one: [name:Tool | …]";
            self.warn(&codes::UNKNOWN_LABEL, element.span(), message, help);
        }
        if let Some(label) =
            subject.labels().find(|it| matches!(it.text(), "Library" | "Experiment"))
        {
            let message = format!("a {} must be at the top level", label.text().to_lowercase());
            let help = "move it out of here; libraries are bound at run time";
            self.reject(&codes::MISPLACED_ELEMENT, label.span(), message, help);
        }
        subject.labels().any(|label| matches!(label.text(), "Tool" | "Agent" | "Container"))
    }

    /// Reports a member that is not a tool or an agent, but a type, a term or a library.
    fn other_member(
        &mut self,
        span: gramc_syntax::Span,
        name: &str,
        holder: Kind,
        words: &str,
    ) -> bool {
        let (what, help) = if let Some(first) = self.libraries.get(name) {
            (first.kind.noun(), "remove it; libraries are bound at run time")
        } else if self.find_type(name) != Meaning::Unknown {
            ("a type".to_owned(), "remove it; the signature of a tool names its types")
        } else if self.find_term(name) != Meaning::Unknown {
            ("a vocabulary term".to_owned(), "remove it; the signature of a tool names it")
        } else {
            return false;
        };
        let message = format!("`{name}` is {what}; {} contains {words}", holder.noun());
        self.reject(&codes::MISPLACED_ELEMENT, span, message, help);
        true
    }

    fn unknown_member(&mut self, span: gramc_syntax::Span, name: &str) {
        if self.is_full() {
            return;
        }
        let near = nearest(name, self.names.keys().map(SmolStr::as_str));
        // `tools.now` is the tool of a module in other languages.
        let last =
            name.rsplit(['.', '/', ':']).next().filter(|last| self.names.contains_key(*last));
        let near = last.map_or(near, |last| vec![last]);
        let message = format!("unknown tool or agent `{name}`");
        let error = self.error(&codes::UNKNOWN_NAME, span, message).about(name);
        let help = format!("declare it: [{name}:Tool | (input::Text)==>(::Text)]");
        self.report(Self::suggest(error, &near, identifier, help));
    }

    fn agent_attribute(&mut self, agent: &mut Agent, attribute: &Attribute<'t>) {
        match &*attribute.key {
            "description" => agent.description = attribute.text(self),
            "instruction" => agent.instruction = attribute.text(self),
            "model" => agent.models.extend(attribute.text(self)),
            "models" => {
                let words = "a list of models, such as [\"openai/gpt-4o-mini\"]";
                match attribute.json(self) {
                    Some(Value::Array(models))
                        if !models.is_empty() && models.iter().all(Value::is_string) =>
                    {
                        agent
                            .models
                            .extend(models.iter().filter_map(Value::as_str).map(SmolStr::new));
                    }
                    Some(_) => attribute.wrong_as(self, ValueType::List, words),
                    None => {}
                }
            }
            "maxIterations" => {
                if let Some(count) = attribute.count(self) {
                    agent.max_iterations = count;
                }
            }
            "api" => match attribute.text(self).as_deref() {
                Some("tools") | None => {}
                Some("functions") => agent.api = Api::Functions,
                Some(_) => attribute.wrong(self, ValueType::OneOf(&["tools", "functions"])),
            },
            "result" => agent.result = attribute.type_expression(self),
            "command" | "images" | "validate" | "temperature" | "topP" | "maxTokens" | "seed" => {
                let spec = find(AttributeOwner::Agent, &attribute.key);
                agent.attributes.extend(self.kept_attribute(attribute, spec));
            }
            _ => agent.attributes.extend(self.kept_attribute(attribute, None)),
        }
    }

    /// Reads a tool or an agent.
    pub(crate) fn read(&mut self, declaration: &DeclarationSyntax<'t>) {
        self.file = declaration.file;
        if self.is_broken(declaration.node) {
            return;
        }
        match declaration.kind {
            Kind::Tool => self.read_tool(declaration),
            Kind::Agent => self.read_agent(declaration),
            Kind::Container => self.read_container(declaration),
            Kind::Library => self.read_library(declaration),
            Kind::Experiment => self.read_experiment(declaration),
            _ => {}
        }
    }
}
