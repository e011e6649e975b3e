//! A module as gram text, formatted as a person would write it.
//!
//! Read back, the text declares the same. Where a type or value can be written in several ways,
//! the choice follows from the model alone, so printing what was read back changes nothing.

mod declared;
mod expression;
mod field;
mod layout;
mod library;
mod text;
mod value;

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::model::{
    Agent, Api, Container, Field, Implementation, Module, Source, Term, Tool, Type, Types,
};
use field::Node;
use layout::{Entry, INDENT, Layout, WIDTH};

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
    page.out
}

/// The same without libraries and experiments: what callers of the tools can rely on.
pub fn print_specification(module: &Module) -> String {
    specification(module).out
}

fn specification(module: &Module) -> Page<'_> {
    let terms: HashMap<_, _> =
        module.terms.iter().map(|term| (&*term.field.name, &term.field)).collect();
    let terms = Arc::new(terms);
    let out = String::with_capacity(module.tools.len() * A_TOOL);
    let mut page = Page { out, types: &module.types, terms, after_short_term: false };
    for (_, declared) in module.types.iter().filter(|(_, declared)| !declared.local) {
        page.declared(declared);
    }
    for term in &module.terms {
        page.term(term);
    }
    page.tools(&module.tools);
    for container in &module.containers {
        page.container(container);
    }
    for agent in &module.agents {
        page.agent(agent);
    }
    page
}

/// An implementation as gram text, as in a library: `(now:Builtin)`.
pub fn print_implementation(implementation: &Implementation) -> String {
    let mut out = String::new();
    library::node(implementation).write(&mut out, 0, 0, 0);
    out
}

/// A type as a type expression, for people: what it says of objects' fields is left out where an
/// expression has no word for it.
pub fn shape(types: &Types, ty: &Type) -> String {
    expression::of(types, ty).text
}

/// A parameter, field or term as gram text, without its description.
pub fn print_field(types: &Types, field: &Field) -> String {
    let mut plain = field.clone();
    plain.type_use.description = None;
    let mut out = String::new();
    Node::of_field(types, &plain, "").layout().write(&mut out, 0, 0, 0);
    out
}

/// A name of a declaration, parameter or field as gram text: in backticks where it has to be.
pub fn identifier(name: &str) -> String {
    text::identifier(name)
}

/// A type expression as a label, in backticks.
pub fn quoted_label(expression: &str) -> String {
    text::quoted(expression, '`')
}

/// A text as a string of gram on one line.
pub fn string(text: &str) -> String {
    text::string(text)
}

/// From how many tools on they are printed in parallel: below, starting threads costs more.
const PARALLEL_FROM: usize = 100;

/// About as many bytes as a tool takes.
const A_TOOL: usize = 1000;

/// The text so far.
struct Page<'m> {
    out: String,
    types: &'m Types,
    /// The vocabulary by name.
    terms: Arc<HashMap<&'m str, &'m Field>>,
    /// Whether the last declaration is a vocabulary term on one line; such terms form a block
    /// without empty lines.
    after_short_term: bool,
}

impl Page<'_> {
    /// Begins a declaration.
    fn begin(&mut self, short_term: bool) {
        if !(self.out.is_empty() || (short_term && self.after_short_term)) {
            self.out.push('\n');
        }
        self.after_short_term = short_term;
    }

    fn term(&mut self, term: &Term) {
        let node = Node::of_field(self.types, &term.field, "");
        let layout = node.layout();
        self.begin(node.doc().is_none() && layout.width().is_some_and(|width| width <= WIDTH));
        self.doc(node.doc(), 0);
        layout.write(&mut self.out, 0, 0, 0);
        self.out.push('\n');
    }

    /// A parameter or field: the name of its vocabulary term where that says it all.
    fn field(&self, field: &Field, before: &str) -> Node {
        match self.terms.get(&*field.name) {
            Some(term) if *term == field => Node::of_term(field, before),
            _ => Node::of_field(self.types, field, before),
        }
    }

    /// Tools, many of them on all processors.
    fn tools(&mut self, tools: &[Tool]) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        if threads == 1 || tools.len() < PARALLEL_FROM {
            return tools.iter().for_each(|tool| self.tool(tool));
        }
        let shares: Vec<_> = tools.chunks(tools.len().div_ceil(threads)).collect();
        let mut pages: Vec<_> = shares.iter().map(|share| self.empty(share.len())).collect();
        std::thread::scope(|scope| {
            for (page, share) in pages.iter_mut().zip(shares) {
                scope.spawn(move || share.iter().for_each(|tool| page.tool(tool)));
            }
        });
        for page in pages {
            self.begin(false);
            self.out.push_str(&page.out);
        }
    }

    /// A page of the same module with nothing on it yet, and room for some tools.
    fn empty(&self, tools: usize) -> Self {
        Self {
            out: String::with_capacity(tools * A_TOOL),
            types: self.types,
            terms: Arc::clone(&self.terms),
            after_short_term: false,
        }
    }

    fn tool(&mut self, tool: &Tool) {
        let (doc, mut entries) = description(tool.description.as_deref());
        entries.extend(tool.title.as_deref().map(|text| Entry::new("title", text::block(text))));
        if tool.deprecated {
            entries.push(Entry::new("deprecated", "true"));
        }
        entries.extend(field::open(self.types, &tool.open));
        entries.extend(tool.root.iter().flat_map(|root| declared::root(self.types, root)));
        entries.extend(kept(&tool.attributes));
        let start = self.out.len();
        self.head(doc.as_deref(), &tool.name, "Tool", entries, " |\n", 0);
        self.signature(tool);
        for (at, id) in tool.types.iter().enumerate() {
            if let Some(declared) = self.types.get(*id) {
                self.out.push_str(",\n");
                self.local(declared, usize::from(at + 1 < tool.types.len()));
            }
        }
        self.out.push_str("\n]");
        self.join(start, 0, 0);
        self.out.push('\n');
    }

    fn container(&mut self, container: &Container) {
        let (doc, mut entries) = description(container.description.as_deref());
        if container.source != Source::default() {
            entries.push(Entry::new("source", text::string(container.source.name())));
        }
        entries.extend(kept(&container.attributes));
        self.print_group(doc.as_deref(), &container.name, "Container", entries, &container.members);
    }

    fn agent(&mut self, agent: &Agent) {
        let (doc, mut entries) = description(agent.description.as_deref());
        for (key, text) in [("model", &agent.model), ("instruction", &agent.instruction)] {
            entries.extend(text.as_deref().map(|text| Entry::new(key, text::block(text))));
        }
        if agent.max_iterations != 10 {
            entries.push(Entry::new("maxIterations", agent.max_iterations.to_string()));
        }
        if agent.api == Api::Functions {
            entries.push(Entry::new("api", "\"functions\""));
        }
        let result = agent.result.as_ref();
        let result = result.map(|ty| text::string(&expression::of(self.types, ty).text));
        entries.extend(result.map(|result| Entry::new("result", result)));
        entries.extend(kept(&agent.attributes));
        self.print_group(doc.as_deref(), &agent.name, "Agent", entries, &agent.members);
    }

    /// Joins the declaration since `start` into one line where the formatter would: if each of its
    /// elements is on one line, and all of them fit with `after` more columns.
    fn join(&mut self, start: usize, indent: usize, after: usize) {
        let Some(text) = self.out.get(start..) else { return };
        let margin = text.lines().position(|line| line.trim_start().starts_with('['));
        let lines: Vec<_> = text.lines().skip(margin.unwrap_or_default()).collect();
        let [head, elements @ .., _] = lines.as_slice() else { return };
        let whole = |line: &&str| {
            let line = line.trim_start().trim_end_matches(',');
            match line.bytes().next() {
                Some(b'(') => line.ends_with(')'),
                Some(b'[') => line.ends_with(']'),
                // The steps of a signature, and doc comments. What is left are names.
                other => !matches!(other, Some(b'=' | b'/' | b'*')),
            }
        };
        let indented = |line: &&str| line.len() - line.trim_start().len() == indent + INDENT;
        // The spaces before the elements, and the bracket.
        let mut width = head.chars().count() + elements.len() + 1 + after;
        width += elements.iter().map(|line| line.trim_start().chars().count()).sum::<usize>();
        let joins = head.ends_with(" |") && width <= WIDTH;
        if !(joins && elements.iter().all(|line| whole(line) && indented(line))) {
            return;
        }
        let elements: Vec<_> = elements.iter().map(|line| line.trim_start()).collect();
        let joined = format!("{head} {}]", elements.join(" "));
        let broken: usize = lines.iter().map(|line| line.len() + 1).sum::<usize>() - 1;
        self.out.truncate(self.out.len() - broken);
        self.out.push_str(&joined);
    }

    /// A container or agent: what holds others by their names.
    fn print_group(
        &mut self,
        doc: Option<&str>,
        name: &str,
        label: &str,
        entries: Vec<Entry>,
        members: &[SmolStr],
    ) {
        if members.is_empty() {
            self.head(doc, name, label, entries, "]\n", 0);
            return;
        }
        let start = self.out.len();
        self.head(doc, name, label, entries, " |\n", 0);
        let members: Vec<_> = members.iter().map(|name| text::identifier(name)).collect();
        self.names(&members, INDENT);
        self.out.push_str("\n]");
        self.join(start, 0, 0);
        self.out.push('\n');
    }

    /// The first lines of a tool or agent, up to its elements.
    fn head(
        &mut self,
        doc: Option<&str>,
        name: &str,
        label: &str,
        entries: Vec<Entry>,
        after: &str,
        indent: usize,
    ) {
        if indent == 0 {
            self.begin(false);
        }
        self.doc(doc, indent);
        layout::indent(&mut self.out, indent);
        let start = format!("[{}:{label}", text::identifier(name));
        let head = if entries.is_empty() {
            Layout::Text(start)
        } else {
            Layout::group(format!("{start} {{"), entries, "}")
        };
        head.write(&mut self.out, indent, indent, after.trim_end().len());
        self.out.push_str(after);
    }

    /// A signature: on one line where it fits, else one node on each.
    fn signature(&mut self, tool: &Tool) {
        let unit = tool.parameters.is_empty();
        let arrow = |at: usize| if at == 0 { "" } else { "==>" };
        let parameters = tool.parameters.iter().enumerate();
        let mut nodes: Vec<_> =
            parameters.map(|(at, field)| self.field(field, arrow(at))).collect();
        // The doc comment of the result precedes its arrow, so it follows `()`.
        let result = Node::of_output(self.types, &tool.result, "==>");
        nodes.push(result);
        let documented = nodes.iter().any(|node| node.doc().is_some());
        let width: Option<usize> = nodes.iter().map(|node| node.layout().width()).sum();
        let start = if unit { "()" } else { "" };
        if !documented && width.is_some_and(|width| INDENT + start.len() + width <= WIDTH) {
            layout::indent(&mut self.out, INDENT);
            self.out.push_str(start);
            for node in &nodes {
                node.layout().write_flat(&mut self.out);
            }
            return;
        }
        if unit {
            layout::indent(&mut self.out, INDENT);
            self.out.push_str(start);
            if documented {
                self.out.push('\n');
            }
        }
        for (at, node) in nodes.iter().enumerate() {
            self.out.push_str(if at == 0 { "" } else { "\n" });
            self.doc(node.doc(), INDENT);
            let column = if unit && !documented { INDENT + start.len() } else { INDENT };
            if column == INDENT {
                layout::indent(&mut self.out, INDENT);
            }
            node.layout().write(&mut self.out, INDENT, column, 0);
        }
    }

    /// A doc comment, with the line break behind it.
    fn doc(&mut self, doc: Option<&str>, indent: usize) {
        for line in doc.into_iter().flat_map(|doc| doc.split_inclusive('\n')) {
            layout::indent(&mut self.out, indent);
            self.out.push_str(line);
        }
    }

    /// Names with commas between them, as many on a line as fit; longer entries are on
    /// a line of its own.
    fn names(&mut self, names: &[String], indent: usize) {
        let mut column = 0;
        for (at, name) in names.iter().enumerate() {
            let comma = usize::from(at + 1 < names.len());
            let width = name.chars().count() + comma;
            let alone = |at: usize| names.get(at).is_some_and(|name| name.starts_with('('));
            let parted = alone(at) || alone(at.saturating_sub(1));
            if at == 0 || parted || column + 1 + width > WIDTH {
                if at > 0 {
                    self.out.push('\n');
                }
                layout::indent(&mut self.out, indent);
                column = indent;
            } else {
                self.out.push(' ');
                column += 1;
            }
            match name.split_once(" {").filter(|_| alone(at) && indent + width > WIDTH) {
                Some((name, record)) => {
                    let record = record.strip_suffix("})").unwrap_or(record);
                    self.out.push_str(name);
                    self.out.push_str(" {\n");
                    layout::indent(&mut self.out, indent + INDENT);
                    self.out.push_str(record);
                    self.out.push('\n');
                    layout::indent(&mut self.out, indent);
                    self.out.push_str("})");
                }
                None => self.out.push_str(name),
            }
            self.out.push_str(&","[..comma]);
            column += width;
        }
    }
}

/// A description as a doc comment, where one can say it, or as an attribute.
fn description(text: Option<&str>) -> (Option<String>, Vec<Entry>) {
    let doc = text.and_then(text::doc);
    let text = text.filter(|_| doc.is_none());
    (doc, text.map(|text| Entry::new("description", text::block(text))).into_iter().collect())
}

/// The attributes that a declaration only keeps.
fn kept(attributes: &[(SmolStr, serde_json::Value)]) -> impl Iterator<Item = Entry> {
    attributes.iter().map(|(key, value)| Entry::new(key, value::attribute(value)))
}

/// A JSON value as plain gram.
pub fn value_text(value: &serde_json::Value) -> String {
    let mut out = String::new();
    value::value(value).write_flat(&mut out);
    out
}

/// A text between backticks.
pub fn in_backticks(text: &str) -> String {
    text::quoted(text, '`')
}
