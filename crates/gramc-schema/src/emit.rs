//! Compiles a module to JSON Schema and to the tool formats of providers.
//!
//! A schema is a serializable view of the model. For a provider, it becomes a JSON value, which the
//! provider's rules then change. See [`crate::lower`].

mod defs;
mod draft7;
mod json_schema;
mod keywords;
mod place;
mod target_tools;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

pub use json_schema::{ParameterSchema, ResultSchema};
pub use target_tools::{TargetTool, TargetTools};

use crate::lower::{Loss, Lowered, Names, Restore, Target, ToolJson, limit_tuples, lower};
use gramc_check::Valid;
use gramc_json_schema::keywords::name as k;
use gramc_model::{Agent, Container, Module, Tool, TypeUse};

/// A version of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Draft {
    /// Draft 2020-12.
    #[default]
    Draft2020,
    /// Draft 7.
    Draft7,
}

/// Which tools to compile, and the target.
#[derive(Debug, Clone)]
pub struct Options {
    /// The target.
    pub target: Target,
    /// The JSON Schema draft, for [`Target::JsonSchema`].
    pub draft: Draft,
    /// The indices of the files whose tools are compiled.
    pub files: Range<usize>,
    /// Whether containers are replaced by their tools.
    pub expanded: bool,
}

impl Options {
    /// Options for the tools of the first `texts` files.
    pub fn new(target: Target, texts: usize) -> Self {
        Self { target, draft: Draft::default(), files: 0..texts, expanded: false }
    }
}

/// The tools of a module for one target. Their names are assigned together, because they must not
/// collide. Each tool is compiled separately and on demand, on any thread.
#[derive(Debug)]
pub struct Compilation<'m> {
    module: &'m Module,
    target: Target,
    draft: Draft,
    entries: Vec<Entry<'m>>,
    names: Names,
    /// The tools of containers with `defer: true`.
    deferred: HashSet<&'m str>,
}

/// An entry of a target's tool list.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'m> {
    /// A tool.
    Tool(&'m Tool),
    /// A container: a tool without parameters that the model calls to list the tools inside.
    Container(&'m Container),
    /// An agent that another agent calls: a tool with a `message` parameter.
    Agent(&'m Agent),
}

impl<'m> Entry<'m> {
    /// The name in the specification.
    pub fn name(self) -> &'m str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Container(container) => &container.name,
            Self::Agent(agent) => &agent.name,
        }
    }
}

impl<'m> Compilation<'m> {
    /// A compilation of the tools of some files.
    pub fn new(module: impl Into<Valid<&'m Module>>, options: &Options) -> Self {
        let module = module.into().module();
        let Options { target, draft, .. } = *options;
        Self::of_entries(module, target, draft, entries(module, options))
    }

    /// A compilation of everything that an agent may use: all tools, all containers, and all
    /// agents.
    pub fn whole(module: &'m Valid<Module>, target: Target) -> Self {
        let tools = module.tools.iter().map(Entry::Tool);
        let containers = module.containers.iter().map(Entry::Container);
        let agents = module.agents.iter().map(Entry::Agent);
        let entries: Vec<_> = tools.chain(containers).chain(agents).collect();
        Self::of_entries(module, target, Draft::default(), entries)
    }

    fn of_entries(
        module: &'m Module,
        target: Target,
        draft: Draft,
        entries: Vec<Entry<'m>>,
    ) -> Self {
        let names = Names::new(target.spec(), entries.iter().map(|entry| entry.name()));
        let is_deferred = |it: &&Container| {
            it.attributes.iter().any(|(key, value)| key == "defer" && *value == true)
        };
        let deferred = module.containers.iter().filter(is_deferred).flat_map(|it| &it.members);
        let deferred = deferred.map(|name| &**name).collect();
        Self { module, target, draft, entries, names, deferred }
    }

    /// The target's name for an entry.
    pub fn name_of<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.get(name)
    }

    /// The compiled entries, in source order.
    pub fn entries(&self) -> &[Entry<'m>] {
        &self.entries
    }

    /// One tool in the target's form.
    pub fn compile(&self, entry: Entry<'m>) -> Compiled<'m> {
        let lower = |json| lower(self.target.spec(), &self.names, json);
        Compiled::Lowered(match (self.target, entry) {
            (Target::JsonSchema, Entry::Tool(tool)) => {
                let schema = ParameterSchema::new(&self.module.types, tool);
                if self.draft == Draft::Draft2020 {
                    return Compiled::Schema(schema);
                }
                draft7::lower(&tool.name, &json(&schema))
            }
            (target, Entry::Tool(tool)) => {
                let mut json = self.tool_json(tool);
                if target.spec().output.is_some() {
                    json.output = result_json(self.module, tool);
                }
                if target == Target::Mcp {
                    let schemas = std::iter::once(&mut json.parameters).chain(&mut json.output);
                    schemas.for_each(limit_tuples);
                }
                lower(json)
            }
            (_, Entry::Container(container)) => {
                let text = container_text(self.module, container);
                lower(ToolJson::new(&container.name, Some(&text), empty_object()))
            }
            (_, Entry::Agent(_)) => lower(self.source(entry)),
        })
    }

    /// An entry before the rules of a target are applied, with the schema of its result.
    pub fn source(&self, entry: Entry<'m>) -> ToolJson<'m> {
        match entry {
            Entry::Tool(tool) => {
                let output = result_json(self.module, tool);
                ToolJson { output, ..self.tool_json(tool) }
            }
            Entry::Container(container) => {
                ToolJson::new(&container.name, container.description.as_deref(), empty_object())
            }
            Entry::Agent(agent) => {
                ToolJson::new(&agent.name, agent.description.as_deref(), message_object())
            }
        }
    }

    /// A tool before the target's rules are applied.
    fn tool_json(&self, tool: &'m Tool) -> ToolJson<'m> {
        let parameters = json(&ParameterSchema::new(&self.module.types, tool));
        let mut annotations = Map::new();
        let mut attributes = Vec::new();
        for (key, value) in &tool.attributes {
            if let Some((_, hint)) = HINTS.iter().find(|(own, _)| key == own) {
                annotations.insert((*hint).to_owned(), value.clone());
            } else if let ("annotations", Value::Object(more)) = (key.as_str(), value) {
                annotations.extend(more.clone());
            } else {
                attributes.push((key.as_str(), value.clone()));
            }
        }
        if self.deferred.contains(&*tool.name) && !tool.is_set("defer") {
            attributes.push(("defer", true.into()));
        }
        ToolJson {
            name: &tool.name,
            title: tool.title.as_deref(),
            description: tool.description.as_deref(),
            parameters,
            output: None,
            annotations,
            attributes,
        }
    }

    /// All tools together, in the form of the target's request.
    pub fn request(&self) -> impl Serialize {
        Request(self)
    }

    /// The text before and after the tools of a request.
    pub fn brackets(&self) -> (&'static str, &'static str) {
        match self.target {
            Target::JsonSchema => ("{", "}"),
            Target::Gemini | Target::GeminiJson => ("[{\"functionDeclarations\":[", "]}]"),
            Target::Mcp => ("{\"tools\":[", "]}"),
            _ => ("[", "]"),
        }
    }

    /// Whether the request is an object with tools by name, instead of a list.
    pub fn is_keyed(&self) -> bool {
        self.target == Target::JsonSchema
    }
}

/// The entries to compile. A container hides its tools unless `expanded` is set.
fn entries<'m>(module: &'m Module, options: &Options) -> Vec<Entry<'m>> {
    let spans = module.spans();
    let within = |file: usize| options.files.contains(&file);
    let containers = module.containers.iter().filter(|_| !options.expanded);
    let hidden: HashSet<&str> =
        containers.flat_map(|container| &container.members).map(|name| &**name).collect();
    let places = spans.tools.iter().zip(&module.tools);
    let mut found: Vec<_> = places
        .filter(|(place, tool)| within(place.file) && !hidden.contains(tool.name.as_str()))
        .map(|(place, tool)| ((place.file, place.name.start), Entry::Tool(tool)))
        .collect();
    if !options.expanded && !module.containers.is_empty() {
        let places = spans.containers.iter().zip(&module.containers);
        found.extend(places.filter(|(place, _)| within(place.file)).map(|(place, container)| {
            ((place.file, place.name.start), Entry::Container(container))
        }));
        found.sort_by_key(|(place, _)| *place);
    }
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// MCP's names for the attributes that describe a tool's behavior.
const HINTS: [(&str, &str); 4] = [
    (k::READ_ONLY, "readOnlyHint"),
    ("destructive", "destructiveHint"),
    ("idempotent", "idempotentHint"),
    ("openWorld", "openWorldHint"),
];

fn json(view: &impl Serialize) -> Value {
    // All keys of a view are strings, so serialization cannot fail.
    serde_json::to_value(view).unwrap_or_default()
}

fn empty_object() -> Value {
    serde_json::json!({"type": "object", "properties": {}, "required": []})
}

/// The schema of a tool's result.
fn result_json(module: &Module, tool: &Tool) -> Option<Value> {
    ResultSchema::new(&module.types, tool).map(|schema| json(&schema))
}

/// The JSON Schema of a parameter, field, result, term or declared type.
pub fn type_use_schema(module: Valid<&Module>, type_use: &TypeUse) -> Value {
    json(&ResultSchema::of_type_use(&module.types, type_use))
}

/// The parameters of an agent that another agent calls.
pub fn message_object() -> Value {
    serde_json::json!({
        "type": "object",
        "properties": {"message": {
            "type": "string",
            "description": "What is asked, with all that the answer needs",
        }},
        "required": ["message"],
    })
}

/// The description of a container for the model: its own, and the first line of each tool's.
pub fn container_text(module: &Module, container: &Container) -> String {
    let mut text = match &container.description {
        Some(description) => format!("{description}\n\n"),
        None => String::new(),
    };
    text.push_str("Call this without arguments to be given its functions:");
    for name in &container.members {
        let description = module.tool(name).and_then(|tool| tool.description.as_deref());
        let line = description.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        // Writing to a string does not fail.
        let _ = match line {
            Some(line) => write!(text, "\n- {name}: {}", line.trim()),
            None => write!(text, "\n- {name}"),
        };
    }
    text
}

/// A tool in a target's form. See [`Compilation::compile`].
#[derive(Debug)]
pub enum Compiled<'m> {
    /// A plain schema, which is serialized without an intermediate value.
    Schema(ParameterSchema<'m>),
    /// A tool that was lowered.
    Lowered(Lowered),
}

impl Compiled<'_> {
    /// The constraints that the target does not support.
    pub fn losses(&self) -> &[Loss] {
        match self {
            Self::Schema(_) => &[],
            Self::Lowered(lowered) => &lowered.losses,
        }
    }

    /// Converts the arguments of a model's call to the tool's declared form.
    pub fn restore(&self) -> Cow<'_, Restore> {
        match self {
            Self::Schema(_) => Cow::Owned(Restore::default()),
            Self::Lowered(lowered) => Cow::Borrowed(&lowered.restore),
        }
    }

    /// The tool as JSON. `None` for a plain schema.
    pub fn json(&self) -> Option<&Value> {
        match self {
            Self::Schema(_) => None,
            Self::Lowered(lowered) => Some(&lowered.value),
        }
    }

    /// The tool as JSON.
    pub fn into_json(self) -> Value {
        match self {
            Self::Schema(schema) => json(&schema),
            Self::Lowered(lowered) => lowered.value,
        }
    }
}

impl Serialize for Compiled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Schema(schema) => schema.serialize(serializer),
            Self::Lowered(lowered) => lowered.value.serialize(serializer),
        }
    }
}

struct Request<'c, 'm>(&'c Compilation<'m>);

impl Serialize for Request<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let compilation = self.0;
        let entries = compilation.entries.iter();
        if compilation.is_keyed() {
            return serializer
                .collect_map(entries.map(|entry| (entry.name(), compilation.compile(*entry))));
        }
        let tools: Vec<Value> =
            entries.map(|entry| compilation.compile(*entry).into_json()).collect();
        crate::lower::request(compilation.target.spec(), tools).serialize(serializer)
    }
}
