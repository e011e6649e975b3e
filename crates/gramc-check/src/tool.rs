//! Tools.

use gramc_syntax::{Node, NodeKind as N, Span};
use serde_json::Value;
use smol_str::SmolStr;

use crate::attributes::Attribute;
use crate::check_parameters;
use crate::checker::Checker;
use crate::codes;
use crate::index::DeclarationSyntax;
use crate::kind::Kind;
use crate::scopes::Meaning;
use gramc_model::attributes::{AttributeOwner, ValueType, approval_condition, find};
use gramc_model::did_you_mean;
use gramc_model::value_check::{self, Refusal};
use gramc_model::walk::names_of_type_use;
use gramc_model::{Field, Open, Output, Root, Tool, TypeId, TypeUse};

impl<'t> Checker<'t> {
    pub(crate) fn read_tool(&mut self, declaration: &DeclarationSyntax<'t>) {
        let node = declaration.node;
        self.local = Some((self.file, node.id()));
        let signature = self.tool_signature(node);
        let mut tool = Tool {
            name: declaration.name.clone(),
            description: None,
            title: None,
            deprecated: false,
            parameters: Vec::new(),
            result: Output { name: None, type_use: TypeUse::default() },
            open: Open::Unsaid,
            root: None,
            types: self.local_types(node),
            attributes: Vec::new(),
        };
        let attributes = self.declaration_attributes(declaration, AttributeOwner::Tool);
        let described = attributes.iter().any(|attribute| attribute.key == "description");
        tool.attributes.reserve_exact(attributes.len() - usize::from(described));
        for attribute in &attributes {
            self.tool_attribute(&mut tool, attribute);
        }
        if let Some(root) = tool.root.as_deref()
            && let Some(given) = attributes.iter().find(|known| known.key == "fieldPatterns")
        {
            self.one_kind_of_patterns(given.span(), &root.patterns, &root.extensions);
        }
        self.local = None;
        if let Some((parameters, result)) = signature {
            tool.parameters = parameters;
            tool.result = result;
        }
        if let Some(approval) = attributes.iter().find(|known| known.key == "approval") {
            self.approval_condition(&tool, approval);
        }
        if let Some(examples) = attributes.iter().find(|known| known.key == "examples") {
            self.accepts_examples(&tool, examples);
        }
        self.module.tools.push(tool);
        self.module.spans.tools.push(declaration.place());
    }

    /// The signature of a tool: its first element.
    fn tool_signature(&mut self, node: Node<'t>) -> Option<(Vec<Field>, Output)> {
        let mut elements = node.elements();
        let first = elements.next();
        if let (Some(first), Some(second)) = (first, elements.clone().next())
            && [first, second].iter().all(|element| element.kind() == N::Path)
            && first.children().nth(1).is_none()
        {
            let gap = Span::new(first.span().end, second.span().start);
            let error = self
                .error(&codes::MISSING_SIGNATURE, gap, "parameters are not separated by commas")
                .help("join them with `==>`: (a::Int)==>(b::Int)==>(::Int)")
                .replace("write `==>`", gap, "==>");
            self.report(error);
            return None;
        }
        let late = elements.clone().find(|element| element.kind() == N::Path);
        let signature = match first {
            Some(path) if path.kind() == N::Path => self.signature(path),
            Some(first) if late.is_some() => {
                let message = "the first element of a tool is its signature";
                let help = "move the signature before the types of the tool";
                self.reject(&codes::MISSING_SIGNATURE, first.span(), message, help);
                return None;
            }
            _ => {
                let place = first.unwrap_or(node);
                let name = crate::index::name_of(node);
                let message = format!("the tool `{name}` has no signature");
                let help = format!("add a signature: [{name}:Tool | (input::Text)==>(::Text)]");
                self.reject(&codes::MISSING_SIGNATURE, place.span(), message, help);
                None
            }
        };
        for element in elements {
            self.second_element(element);
        }
        signature
    }

    /// The types that a tool declares.
    fn local_types(&mut self, node: Node<'t>) -> Vec<TypeId> {
        let mut types = Vec::new();
        for element in node.elements().filter(|element| element.kind() == N::SubjectPattern) {
            let Some(name) = element.subject().identifier else { continue };
            let meaning = self.type_names.find(usize::MAX, self.local, &name.content());
            if let Meaning::One(_, id) = meaning
                && self.types.get(id).is_some_and(|declared| declared.local)
                && !types.contains(&id)
            {
                types.push(id);
            }
        }
        types
    }

    fn second_element(&mut self, element: Node<'t>) {
        let mut labels = element.subject().labels();
        if element.kind() == N::SubjectPattern
            && labels.any(|label| Kind::of_type_label(&label.content()).is_some())
        {
            return;
        }
        let help = "join its nodes with `==>`, or declare another tool; types may follow, such as [Unit::Enum | celsius]";
        self.reject(&codes::MISPLACED_ELEMENT, element.span(), "a tool has one signature", help);
    }

    /// Checks the parameters under which calls need no approval.
    fn approval_condition(&mut self, tool: &Tool, attribute: &Attribute<'t>) {
        let value = tool.attributes.iter().find(|(key, _)| key == "approval");
        let condition = value.and_then(|(_, value)| approval_condition(value.as_str()?));
        let Some(condition) = condition else { return };
        let span = attribute.span();
        match check_parameters(condition) {
            Err(found) => {
                let reason = found.first().map(|it| it.message.clone()).unwrap_or_default();
                let message = format!("the condition of `approval` is invalid: {reason}");
                let help = "write parameters, such as \"unless (amount::Int {range: 0..100})\"";
                self.reject(&codes::ATTRIBUTE_TYPE, span, message, help);
            }
            Ok(fields) => {
                let unknown = fields.iter().map(|field| &field.name);
                let known = || tool.parameters.iter().map(|field| &*field.name);
                for name in unknown.filter(|name| known().all(|it| it != **name)) {
                    let message = format!("there is no parameter `{name}`");
                    let help = did_you_mean(name, known());
                    let help = help.unwrap_or_else(|| "name a parameter of the tool".to_owned());
                    self.reject(&codes::ATTRIBUTE_TYPE, span, message, help);
                }
            }
        }
    }

    /// Checks that sample arguments match the parameters.
    fn accepts_examples(&mut self, tool: &Tool, attribute: &Attribute<'t>) {
        let expected = tool.arguments_type();
        for parameter in &tool.parameters {
            names_of_type_use(&parameter.type_use, &mut |_| self.reads_fields = true);
        }
        let examples = tool.attributes.iter().find(|(key, _)| key == "examples");
        let examples = examples.and_then(|(_, value)| value.as_array()).into_iter().flatten();
        for (number, example) in (1..).zip(examples) {
            let Err(Refusal { path, message }) = value_check::ty(&self.types, &expected, example)
            else {
                continue;
            };
            let place = if path.is_empty() { path } else { format!(" at `{path}`") };
            let message =
                format!("example {number} does not match the parameters{place}: {message}");
            let help = "change the example or the parameters";
            self.reject(&codes::REJECTED_VALUE, attribute.span(), message, help);
        }
    }

    fn tool_attribute(&mut self, tool: &mut Tool, attribute: &Attribute<'t>) {
        let key = &*attribute.key;
        match key {
            "description" => tool.description = attribute.text(self),
            "title" => tool.title = attribute.text(self),
            "deprecated" => tool.deprecated = attribute.flag(self).unwrap_or_default(),
            "open" => {
                if let Some(open) = attribute.open(self) {
                    tool.open = open;
                }
            }
            "schemaTitle" => root(tool).title = attribute.text(self),
            "schemaDescription" => root(tool).description = attribute.text(self),
            "schemaExtensions" => {
                root(tool).extensions = attribute.extensions(self).unwrap_or_default();
            }
            "fieldPatterns" => {
                root(tool).patterns = attribute.types_by_pattern(self).unwrap_or_default();
            }
            "requires" => root(tool).requires = attribute.names(self).unwrap_or_default(),
            "schema" => root(tool).verbatim = attribute.schema(self),
            "defs" => {
                if let Some(defs) = attribute.type_names(self) {
                    root(tool).defs = defs;
                }
            }
            _ if find(AttributeOwner::Tool, key).is_some_and(|it| it.value == ValueType::Flag) => {
                if let Some(flag) = attribute.flag(self) {
                    tool.attributes.push((SmolStr::new(key), Value::Bool(flag)));
                }
            }
            "approval" | "examples" => {
                let spec = find(AttributeOwner::Tool, key);
                tool.attributes.extend(self.kept_attribute(attribute, spec));
            }
            _ => tool.attributes.extend(self.kept_attribute(attribute, None)),
        }
    }
}

fn root(tool: &mut Tool) -> &mut Root {
    tool.root.get_or_insert_with(Box::default)
}
