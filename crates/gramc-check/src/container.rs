//! Containers: groups of tools that a model expands before it uses one.

use gramc_syntax::{Node, NodeKind as N};

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::index::DeclarationSyntax;
use crate::kind::Kind;
use gramc_model::attributes::{AttributeOwner, ValueType, find};
use gramc_model::{Container, Source};

impl<'t> Checker<'t> {
    pub(crate) fn read_container(&mut self, declaration: &DeclarationSyntax<'t>) {
        let node = declaration.node;
        let mut container = Container {
            name: declaration.name.clone(),
            description: None,
            source: Source::Plugin,
            members: self.members(declaration),
            attributes: Vec::new(),
        };
        let before = self.found();
        for attribute in &self.declaration_attributes(declaration, AttributeOwner::Container) {
            self.container_attribute(&mut container, attribute);
        }
        let name = declaration.name_node.span();
        // Tools in the place of an attribute are reported as such.
        if node.elements().next().is_none() && self.found() == before {
            let message = format!("the container `{}` has no tools", container.name);
            let help = format!("name its tools: [{}:Container | first, second]", container.name);
            self.warn(&codes::EMPTY_CONSTRAINT, name, message, help);
        }
        self.module.containers.push(container);
        self.module.spans.containers.push(declaration.place());
    }

    fn container_attribute(&mut self, container: &mut Container, attribute: &Attribute<'_>) {
        match &*attribute.key {
            "description" => container.description = attribute.text(self),
            "source" => {
                let Some(source) = attribute.text(self) else { return };
                let known = Source::ALL.into_iter().find(|known| known.name() == source);
                if let Some(known) = known {
                    container.source = known;
                } else {
                    let expected = find(AttributeOwner::Container, "source");
                    let expected = expected.map_or(ValueType::Text, |spec| spec.value);
                    let words = "plugin, mcp, frontend or skill";
                    attribute.wrong_as(self, expected, words);
                }
            }
            key => {
                let spec = find(AttributeOwner::Container, key).filter(|_| key == "defer");
                container.attributes.extend(self.kept_attribute(attribute, spec));
            }
        }
    }

    /// What kind of thing an element of an agent or container declares or names.
    pub(crate) fn kind_of(&self, element: Node<'t>, name: &str) -> Option<Kind> {
        match element.kind() {
            N::SubjectPattern => element.subject().labels().find_map(|label| {
                [Kind::Tool, Kind::Container, Kind::Agent]
                    .into_iter()
                    .find(|kind| kind.label() == label.text())
            }),
            _ => self.names.get(name).map(|first| first.kind),
        }
    }
}
