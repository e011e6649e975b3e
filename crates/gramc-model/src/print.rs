//! A module as gram text, formatted as a person would write it.
//!
//! Read back, the text declares the same. Where a type or value can be written in several ways,
//! the choice follows from the model alone, so printing what was read back changes nothing.

mod declared;
mod expression;
mod field;
mod library;
mod text;
mod value;

use std::collections::HashMap;

use smol_str::SmolStr;

use crate::model::{
    Agent, Api, Container, Field, Implementation, Module, Source, Term, Tool, Type, Types,
};
pub use expression::shape;
use field::Node;
use gramc_syntax::{FormatOptions, SourceFile, format, parse};
use text::entry;
pub use text::{identifier, string};
pub use value::value as value_text;

/// A module as gram text: types, the vocabulary, then the tools, then containers and agents, which
/// name their members, at last libraries and experiments.
///
/// A parameter or field that is as the vocabulary says is printed as its name alone; every other
/// one with its own type and attributes, also where some of them came from the vocabulary, for a
/// module keeps no memory of that. Comments and what is no declaration are not part of a module.
pub fn print(module: &Module) -> String {
    let mut page = specification(module);
    for library in &module.libraries {
        page.library(library);
    }
    for experiment in &module.experiments {
        page.experiment(experiment);
    }
    format_text(page.out)
}

/// The same without libraries and experiments: what callers of the tools can rely on.
pub fn print_specification(module: &Module) -> String {
    format_text(specification(module).out)
}

/// The declarations of [`print_specification`], each as `kind name` and its text.
pub fn print_declarations(module: &Module) -> Vec<(String, String)> {
    let mut all = Vec::new();
    Page::new(module).specification(module, |page, kind, name| {
        all.push((format!("{kind} {name}"), format_text(std::mem::take(&mut page.out))));
    });
    all
}

/// A text in the layout of the formatter.
fn format_text(text: String) -> String {
    let parse = parse(SourceFile::new("printed", text));
    format(&parse, FormatOptions::default()).unwrap_or_else(|_| parse.source().text().to_owned())
}

fn specification(module: &Module) -> Page<'_> {
    let mut page = Page::new(module);
    page.out.reserve(module.tools.len() * TOOL_BYTES);
    page.specification(module, |_, _, _| {});
    page
}

/// An implementation as gram text, as in a library: `(now:Builtin)`.
pub fn print_implementation(implementation: &Implementation) -> String {
    format_text(library::node(implementation)).trim_end().to_owned()
}

/// A type as a type expression, with the attributes of fields. `None` if an expression cannot say all
/// of it.
pub fn type_expression(types: &Types, ty: &Type) -> Option<String> {
    let printed = expression::of(types, ty);
    printed.exact.then_some(printed.text)
}

/// A parameter, field or term as gram text, without its description.
pub fn print_field(types: &Types, field: &Field) -> String {
    let mut plain = field.clone();
    plain.type_use.description = None;
    format_text(Node::of_field(types, &plain).text).trim_end().to_owned()
}

/// About as many bytes as a tool takes.
const TOOL_BYTES: usize = 1000;

/// The text so far, each declaration on a line.
struct Page<'m> {
    out: String,
    types: &'m Types,
    /// The vocabulary by name.
    terms: HashMap<&'m str, &'m Field>,
    /// Whether the last declaration is a vocabulary term on one line; such terms form a block
    /// without empty lines.
    after_short_term: bool,
}

impl<'m> Page<'m> {
    fn new(module: &'m Module) -> Self {
        let terms = module.terms.iter().map(|term| (&*term.field.name, &term.field)).collect();
        Self { out: String::new(), types: &module.types, terms, after_short_term: false }
    }
}

impl Page<'_> {
    /// Prints the declarations that callers of the tools can rely on. `after` is called after each one
    /// with its kind and its name.
    fn specification(&mut self, module: &Module, mut after: impl FnMut(&mut Self, &str, &str)) {
        for (_, declared) in module.types.iter().filter(|(_, declared)| !declared.local) {
            self.type_at_top(declared);
            after(self, "type", &declared.name);
        }
        for term in &module.terms {
            self.term(term);
            after(self, "term", &term.field.name);
        }
        for tool in &module.tools {
            self.tool(tool);
            after(self, "tool", &tool.name);
        }
        for container in &module.containers {
            self.container(container);
            after(self, "container", &container.name);
        }
        for agent in &module.agents {
            self.agent(agent);
            after(self, "agent", &agent.name);
        }
    }

    /// Begins a declaration.
    fn begin(&mut self, short_term: bool) {
        if !(self.out.is_empty() || (short_term && self.after_short_term)) {
            self.out.push('\n');
        }
        self.after_short_term = short_term;
    }

    fn term(&mut self, term: &Term) {
        let node = Node::of_field(self.types, &term.field);
        self.begin(node.doc.is_none() && !node.text.contains('\n'));
        self.out.push_str(node.doc.as_deref().unwrap_or_default());
        self.out.push_str(&node.text);
        self.out.push('\n');
    }

    /// A parameter or field: the name of its vocabulary term where that says it all.
    fn field(&self, field: &Field) -> Node {
        match self.terms.get(&*field.name) {
            Some(term) if *term == field => Node::of_term(field),
            _ => Node::of_field(self.types, field),
        }
    }

    fn tool(&mut self, tool: &Tool) {
        let (doc, mut entries) = description(tool.description.as_deref());
        entries.extend(tool.title.as_deref().map(|text| entry("title", text::block(text))));
        if tool.deprecated {
            entries.push(entry("deprecated", "true"));
        }
        entries.extend(field::open(self.types, &tool.open));
        entries.extend(tool.root.iter().flat_map(|root| declared::root(self.types, root)));
        entries.extend(print_attributes(&tool.attributes));
        let mut elements = vec![self.signature(tool)];
        let types = tool.types.iter().filter_map(|id| self.types.get(*id));
        elements.extend(types.map(|declared| self.type_declaration(declared)));
        self.declaration(doc.as_deref(), (&tool.name, ":Tool"), &entries, &elements);
    }

    fn container(&mut self, container: &Container) {
        let (doc, mut entries) = description(container.description.as_deref());
        if container.source != Source::default() {
            entries.push(entry("source", text::string(container.source.name())));
        }
        entries.extend(print_attributes(&container.attributes));
        let members = identifiers(&container.members);
        self.declaration(doc.as_deref(), (&container.name, ":Container"), &entries, &members);
    }

    fn agent(&mut self, agent: &Agent) {
        let (doc, mut entries) = description(agent.description.as_deref());
        match &agent.models[..] {
            [] => {}
            [model] => entries.push(entry("model", text::block(model))),
            models => {
                let models: Vec<_> = models.iter().map(|model| text::string(model)).collect();
                entries.push(entry("models", format!("[{}]", models.join(", "))));
            }
        }
        let instruction = agent.instruction.as_deref();
        entries.extend(instruction.map(|text| entry("instruction", text::block(text))));
        if agent.max_iterations != 10 {
            entries.push(entry("maxIterations", agent.max_iterations.to_string()));
        }
        if agent.api == Api::Functions {
            entries.push(entry("api", "\"functions\""));
        }
        let result = agent.result.as_ref();
        let result = result.map(|ty| text::string(&expression::of(self.types, ty).text));
        entries.extend(result.map(|result| entry("result", result)));
        entries.extend(print_attributes(&agent.attributes));
        let members = identifiers(&agent.members);
        self.declaration(doc.as_deref(), (&agent.name, ":Agent"), &entries, &members);
    }

    /// A declaration at the top level.
    fn declaration(
        &mut self,
        doc: Option<&str>,
        name: (&str, &str),
        entries: &[String],
        elements: &[String],
    ) {
        self.begin(false);
        self.out.push_str(&pattern(doc, name, entries, elements));
        self.out.push('\n');
    }

    fn signature(&self, tool: &Tool) -> String {
        let nodes = tool.parameters.iter().map(|field| self.field(field));
        let nodes = nodes.chain([Node::of_output(self.types, &tool.result)]);
        let mut signature = String::new();
        let mut arrow = "";
        if tool.parameters.is_empty() {
            signature.push_str("()");
            arrow = "==>";
        }
        for node in nodes {
            // A doc comment precedes the arrow.
            if let Some(doc) = &node.doc {
                signature.push('\n');
                signature.push_str(doc);
            }
            signature.push_str(arrow);
            signature.push_str(&node.text);
            arrow = "==>";
        }
        signature
    }
}

fn identifiers(names: &[SmolStr]) -> Vec<String> {
    names.iter().map(|name| text::identifier(name)).collect()
}

/// A pattern on one line, except for doc comments and texts in fences.
fn pattern(
    doc: Option<&str>,
    head: (&str, &str),
    entries: &[String],
    elements: &[String],
) -> String {
    let (name, label) = head;
    let (doc, record) = (doc.unwrap_or_default(), text::record(entries));
    let elements =
        if elements.is_empty() { String::new() } else { format!(" | {}", elements.join(", ")) };
    format!("{doc}[{}{label}{record}{elements}]", text::identifier(name))
}

/// A description as a doc comment, where one can say it, or as an attribute.
fn description(text: Option<&str>) -> (Option<String>, Vec<String>) {
    let doc = text.and_then(text::doc);
    let text = text.filter(|_| doc.is_none());
    (doc, text.map(|text| entry("description", text::block(text))).into_iter().collect())
}

/// The attributes that a declaration only keeps.
fn print_attributes(attributes: &[(SmolStr, serde_json::Value)]) -> impl Iterator<Item = String> {
    attributes.iter().map(|(key, value)| entry(key, value::attribute(value)))
}

/// A text between backticks.
pub fn in_backticks(text: &str) -> String {
    text::quote(text, '`')
}
