//! A module as gram text, formatted as a person would write it.
//!
//! Read back, the text declares the same. Where a type or value can be written in several ways,
//! the choice follows from the model alone, so printing what was read back changes nothing.

mod expression;
mod field;
mod layout;
mod text;
mod value;

use smol_str::SmolStr;

use crate::model::{Agent, Api, Module, Term, Tool};
use field::Node;
use layout::{Entry, INDENT, Layout, WIDTH};

/// A module as gram text: the vocabulary, then the tools, then the agents, which name their
/// members.
///
/// Every parameter is printed with its own type and attributes, also where these came from the
/// vocabulary, for a module keeps no memory of that. Comments and what is no declaration are not
/// part of a module.
///
/// ```
/// let text = "[greet:Tool {description: 'Says hello'}|(name::String)-->(times::Integer {range:1..3})-->(::String)]";
/// let read = |text: &str| {
///     gram_schema::check(&[gram_syntax::parse(gram_syntax::SourceFile::new("a.gram", text))])
/// };
/// let module = read(text).module.expect("the text has no errors");
/// let printed = gram_schema::print(&module);
/// assert_eq!(
///     printed,
///     r#"[greet:Tool {description: "Says hello"} |
///   (name::Text)==>(times::Int {range: 1..3})==>(::Text)
/// ]
/// "#
/// );
/// assert_eq!(read(&printed).module.expect("what is printed has no errors"), module);
/// ```
pub fn print(module: &Module) -> String {
    let mut page = Page::default();
    for term in &module.terms {
        page.term(term);
    }
    for tool in &module.tools {
        page.tool(tool);
    }
    for agent in &module.agents {
        page.agent(agent);
    }
    page.out
}

/// The text so far.
#[derive(Default)]
struct Page {
    out: String,
    /// Whether the last declaration is a vocabulary term on one line; such terms stand together
    /// without empty lines.
    after_short_term: bool,
}

impl Page {
    /// Begins a declaration.
    fn begin(&mut self, short_term: bool) {
        if !(self.out.is_empty() || (short_term && self.after_short_term)) {
            self.out.push('\n');
        }
        self.after_short_term = short_term;
    }

    fn term(&mut self, term: &Term) {
        let node = Node::of_field(&term.field);
        let layout = node.layout("");
        self.begin(node.doc().is_none() && layout.width().is_some_and(|width| width <= WIDTH));
        self.doc(node.doc(), 0);
        layout.write(&mut self.out, 0, 0, 0);
        self.out.push('\n');
    }

    fn tool(&mut self, tool: &Tool) {
        let (doc, mut entries) = description(tool.description.as_deref());
        entries.extend(tool.title.as_deref().map(|text| Entry::new("title", text::block(text))));
        if tool.deprecated {
            entries.push(Entry::new("deprecated", "true"));
        }
        entries.extend(field::open(&tool.open));
        entries.extend(kept(&tool.attributes));
        self.head(doc.as_deref(), &tool.name, "Tool", entries, " |\n");
        self.signature(tool);
        self.out.push_str("\n]\n");
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
        let result = agent.result.as_ref().map(|ty| text::string(&expression::of(ty).text));
        entries.extend(result.map(|result| Entry::new("result", result)));
        entries.extend(kept(&agent.attributes));
        if agent.members.is_empty() {
            self.head(doc.as_deref(), &agent.name, "Agent", entries, "]\n");
            return;
        }
        self.head(doc.as_deref(), &agent.name, "Agent", entries, " |\n");
        self.members(&agent.members);
        self.out.push_str("\n]\n");
    }

    /// The first lines of a tool or agent, up to its elements.
    fn head(
        &mut self,
        doc: Option<&str>,
        name: &str,
        label: &str,
        entries: Vec<Entry>,
        after: &str,
    ) {
        self.begin(false);
        self.doc(doc, 0);
        let start = format!("[{}:{label}", text::identifier(name));
        let head = if entries.is_empty() {
            Layout::Text(start)
        } else {
            Layout::group(format!("{start} {{"), entries, "}")
        };
        head.write(&mut self.out, 0, 0, after.trim_end().len());
        self.out.push_str(after);
    }

    /// A signature: on one line where it fits, else one node on each.
    fn signature(&mut self, tool: &Tool) {
        let result = Node::of_output(&tool.result);
        let mut nodes: Vec<_> = tool.parameters.iter().map(Node::of_field).collect();
        let documented = nodes.iter().chain([&result]).any(|node| node.doc().is_some());
        let arrow = |at: usize| if at == 0 { "" } else { "==>" };
        let mut layouts: Vec<_> =
            nodes.iter().enumerate().map(|(at, node)| node.layout(arrow(at))).collect();
        // The result's doc comment stands before its arrow, and so behind `()`.
        let unit = nodes.is_empty();
        layouts.push(result.layout(if unit && !documented { "()==>" } else { "==>" }));
        nodes.push(result);
        let width: Option<usize> = layouts.iter().map(Layout::width).sum();
        if !documented && width.is_some_and(|width| INDENT + width <= WIDTH) {
            layout::indent(&mut self.out, INDENT);
            for layout in layouts {
                layout.write_flat(&mut self.out);
            }
            return;
        }
        if unit && documented {
            layout::indent(&mut self.out, INDENT);
            self.out.push_str("()\n");
        }
        for (at, (node, layout)) in nodes.iter().zip(layouts).enumerate() {
            self.out.push_str(if at == 0 { "" } else { "\n" });
            self.doc(node.doc(), INDENT);
            layout::indent(&mut self.out, INDENT);
            layout.write(&mut self.out, INDENT, INDENT, 0);
        }
    }

    /// A doc comment, with the line break behind it.
    fn doc(&mut self, doc: Option<&str>, indent: usize) {
        for line in doc.into_iter().flat_map(|doc| doc.split_inclusive('\n')) {
            layout::indent(&mut self.out, indent);
            self.out.push_str(line);
        }
    }

    /// Names with commas between them, as many on a line as fit.
    fn members(&mut self, members: &[SmolStr]) {
        let mut column = 0;
        for (at, member) in members.iter().enumerate() {
            let name = text::identifier(member);
            let comma = usize::from(at + 1 < members.len());
            let width = name.chars().count() + comma;
            if at == 0 || column + 1 + width > WIDTH {
                if at > 0 {
                    self.out.push('\n');
                }
                layout::indent(&mut self.out, INDENT);
                column = INDENT;
            } else {
                self.out.push(' ');
                column += 1;
            }
            self.out.push_str(&name);
            self.out.push_str(&","[..comma]);
            column += width;
        }
    }
}

/// A description as a doc comment, where it has several lines and one can say it, or as an
/// attribute.
fn description(text: Option<&str>) -> (Option<String>, Vec<Entry>) {
    let doc = text.and_then(text::doc);
    let text = text.filter(|_| doc.is_none());
    (doc, text.map(|text| Entry::new("description", text::block(text))).into_iter().collect())
}

/// The attributes that a declaration only keeps.
fn kept(attributes: &[(SmolStr, serde_json::Value)]) -> impl Iterator<Item = Entry> {
    attributes.iter().map(|(key, value)| Entry::new(key, value::attribute(value)))
}
