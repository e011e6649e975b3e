//! Tools.

use gram_syntax::Applicability::NeedsLook;
use gram_syntax::{Fix, Node, NodeKind as N, Span};
use serde_json::Value;
use smol_str::SmolStr;

use super::Checker;
use super::attributes::Attribute;
use super::declarations::Declaration;
use crate::codes;
use crate::model::{Open, Tool};
use crate::spans::Place;

/// The attributes that a tool defines, beside those that it only keeps.
const KNOWN: [&str; 14] = [
    "description",
    "title",
    "deprecated",
    "open",
    "readOnly",
    "destructive",
    "idempotent",
    "openWorld",
    "version",
    "timeout",
    "schemaTitle",
    "defs",
    "schema",
    "unsound",
];

/// Those of them that are true or false.
const FLAGS: [&str; 4] = ["readOnly", "destructive", "idempotent", "openWorld"];

impl<'t> Checker<'t> {
    pub(super) fn read_tool(&mut self, declaration: &Declaration<'t>) {
        let Declaration { file, node, .. } = *declaration;
        let signature = self.tool_signature(file, node);
        let mut tool = Tool {
            name: declaration.name.clone(),
            description: None,
            title: None,
            deprecated: false,
            parameters: Vec::new(),
            result: crate::model::Output { name: None, slot: crate::model::Slot::default() },
            open: Open::Unsaid,
            attributes: Vec::new(),
        };
        let attributes = self.declaration_attributes(declaration, &KNOWN);
        let described = attributes.iter().any(|attribute| attribute.key == "description");
        tool.attributes.reserve_exact(attributes.len() - usize::from(described));
        for attribute in &attributes {
            self.tool_attribute(file, &mut tool, attribute);
        }
        if let Some((parameters, result)) = signature {
            tool.parameters = parameters;
            tool.result = result;
        }
        let name = declaration.name_node.span();
        self.module.tools.push(tool);
        self.module.spans.tools.push(Place { file, node: node.id(), name });
    }

    /// The signature of a tool: its first element.
    fn tool_signature(
        &mut self,
        file: usize,
        node: Node<'t>,
    ) -> Option<(Vec<crate::model::Field>, crate::model::Output)> {
        let mut elements = node.elements();
        let first = elements.next();
        if let (Some(first), Some(second)) = (first, elements.clone().next())
            && [first, second].iter().all(|element| element.kind() == N::Path)
            && first.children().nth(1).is_none()
        {
            let gap = Span::new(first.span().end, second.span().start);
            let error = self
                .error(
                    &codes::MISSING_SIGNATURE,
                    file,
                    gap,
                    "parameters are not separated by commas",
                )
                .help("join them with `==>`: (a::Int)==>(b::Int)==>(::Int)")
                .fix(Fix::replace(NeedsLook, "write `==>`", gap, "==>"));
            self.report(file, error);
            return None;
        }
        let signature = match first {
            Some(path) if path.kind() == N::Path => self.signature(file, path),
            _ => {
                let place = first.unwrap_or(node);
                let name = super::declarations::name_of(node);
                let error = self
                    .error(
                        &codes::MISSING_SIGNATURE,
                        file,
                        place.span(),
                        format!("the tool `{name}` has no signature"),
                    )
                    .help(format!(
                        "say what it takes and gives: [{name}:Tool | (input::Text)==>(::Text)]"
                    ));
                self.report(file, error);
                None
            }
        };
        for element in elements {
            self.second_element(file, element);
        }
        signature
    }

    fn second_element(&mut self, file: usize, element: Node<'t>) {
        let labelled = element.kind() == N::SubjectPattern
            && element
                .subject()
                .labels()
                .any(|label| matches!(label.text(), "Record" | "Enum" | "Union" | "Alias"));
        let error = if labelled {
            self.error(
                &codes::UNSUPPORTED,
                file,
                element.span(),
                "this version does not read type declarations",
            )
            .help("it reads built-in types and type expressions in backticks")
        } else {
            self.error(&codes::MISPLACED_ELEMENT, file, element.span(), "a tool has one signature")
                .help("join its nodes with `==>`, or declare another tool")
        };
        self.report(file, error);
    }

    fn tool_attribute(&mut self, file: usize, tool: &mut Tool, attribute: &Attribute<'_>) {
        let key = &*attribute.key;
        match key {
            "description" => tool.description = attribute.text(self, file),
            "title" => tool.title = attribute.text(self, file),
            "deprecated" => tool.deprecated = attribute.flag(self, file).unwrap_or_default(),
            "open" => {
                if let Some(open) = attribute.open(self, file) {
                    tool.open = open;
                }
            }
            "schemaTitle" => {
                if let Some(title) = attribute.text(self, file) {
                    tool.attributes.push((SmolStr::new(key), Value::String(title.into())));
                }
            }
            _ if FLAGS.contains(&key) => {
                if let Some(flag) = attribute.flag(self, file) {
                    tool.attributes.push((SmolStr::new(key), Value::Bool(flag)));
                }
            }
            _ => {
                if let Some(value) = attribute.kept(self, file) {
                    tool.attributes.push((SmolStr::new(key), value));
                }
            }
        }
    }
}
