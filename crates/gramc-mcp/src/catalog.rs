//! The tools that the server lists.

use std::collections::{HashMap, HashSet};

use gramc_check::{Valid, check};
use gramc_json_schema::strings::unsupported_patterns;
use gramc_model::Module;
use gramc_schema::Target;
use gramc_schema::emit::{
    Compilation, Compiled, Entry, Options, ResultSchema, TargetTool, TargetTools,
};
use gramc_schema::import::{ImportOptions, import_value};
use gramc_syntax::{SourceFile, parse};
use gramc_tools::Bound;
use gramc_tools::sanitize::sanitize_line;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::client::{LibraryServer, library_servers};

/// The tools and containers in source order. The functions of a container follow it.
#[derive(Debug)]
pub(crate) struct Catalog {
    entries: Vec<CatalogEntry>,
    /// The index of each entry, by its MCP name and by its name in the specification.
    indices: HashMap<SmolStr, usize>,
    /// Number of visible entries before any container is expanded.
    pub(crate) initial_count: usize,
    /// What the only server of the library says with the list of its tools.
    others: Map<String, Value>,
}

/// A tool or a container.
#[derive(Debug)]
pub(crate) struct CatalogEntry {
    pub(crate) name: SmolStr,
    pub(crate) result_kind: ResultKind,
    pub(crate) tool: Value,
}

/// The declared kind of a tool's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultKind {
    /// No result type.
    Untyped,
    /// A result type without an output schema, because MCP output schemas describe objects only.
    Text,
    /// An object with an output schema.
    Structured,
}

/// The keys of a tool that a specification has words for.
const DESCRIBED: [&str; 6] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
/// A server continues calls as tasks for us, not for the client.
const TASKS: &str = "execution";
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A tool as clients see it: as its server lists it, where the specification says the same.
fn merge(compiled: Value, listed: Value) -> Value {
    let Value::Object(mut listed) = listed else { return compiled };
    let is_known = |key: &str| DESCRIBED.contains(&key) || ["_meta", "icons"].contains(&key);
    listed.retain(|key, value| key != TASKS && !(value.is_null() && is_known(key)));
    listed.insert("name".to_owned(), compiled["name"].clone());
    if compile_listed(&listed).is_some_and(|it| is_same(&it, &compiled)) {
        return listed.into();
    }
    let mut tool = compiled;
    for key in ["inputSchema", "outputSchema"] {
        if listed.get(key).is_some_and(|schema| schema["$schema"] == DIALECT)
            && let Some(Value::Object(schema)) = tool.get_mut(key)
        {
            schema.shift_insert(0, "$schema".to_owned(), DIALECT.into());
        }
    }
    listed.retain(|key, _| !DESCRIBED.contains(&key.as_str()));
    if let Value::Object(tool) = &mut tool {
        tool.extend(listed);
    }
    tool
}

/// Writes the name, the description and the schema of a target.
fn adapt(tool: &mut Map<String, Value>, found: &TargetTool) {
    tool.insert("name".to_owned(), found.name.as_str().into());
    let empty = || json!({"type": "object", "properties": {}});
    let schema = found.parameters().cloned().unwrap_or_else(empty);
    tool.insert("inputSchema".to_owned(), schema);
    if let Some(description) = found.description() {
        tool.insert("description".to_owned(), description.into());
    }
}

/// What an import of the tool compiles to.
fn compile_listed(tool: &Map<String, Value>) -> Option<Value> {
    let document = json!({"tools": [tool]});
    let imported = import_value(document, &ImportOptions::default()).ok()?;
    let module = check(&[parse(SourceFile::new("listed", imported.text))]).module?;
    let options = Options::new(Target::Mcp, usize::MAX);
    let compilation = Compilation::new(&module, &options);
    let entry = compilation.entries().first()?;
    Some(compilation.compile(*entry).into_json())
}

fn is_same(one: &Value, other: &Value) -> bool {
    DESCRIBED.iter().all(|key| one.get(key) == other.get(key))
}

impl Catalog {
    /// The tools of a specification, with what only the servers behind the library say of them.
    /// With a target, clients see the names, descriptions and schemas that it accepts.
    pub(crate) fn new(module: &Valid<Module>, bound: &Bound, target: Option<&TargetTools>) -> Self {
        let options = Options::new(Target::Mcp, usize::MAX);
        let collapsed = Compilation::new(module, &options);
        let expanded = Compilation::new(module, &Options { expanded: true, ..options });
        let functions: HashMap<&str, Entry<'_>> =
            expanded.entries().iter().map(|entry| (entry.name(), *entry)).collect();
        let others = match library_servers(bound) {
            [LibraryServer { server, is_whole: true, .. }] => server.known_others(),
            _ => Map::new(),
        };
        let (entries, indices) = (Vec::new(), HashMap::new());
        let mut catalog = Self { entries, indices, initial_count: 0, others };
        for entry in collapsed.entries() {
            catalog.add(module, bound, target, (*entry, collapsed.compile(*entry)));
            catalog.initial_count += 1;
            let Entry::Container(container) = entry else { continue };
            for name in &container.members {
                if let Some(function) = functions.get(name.as_str()) {
                    catalog.add(module, bound, target, (*function, expanded.compile(*function)));
                }
            }
        }
        let own: Vec<_> = catalog.entries.iter().map(|entry| entry.name.clone()).collect();
        for (index, name) in own.into_iter().enumerate() {
            catalog.indices.entry(name).or_insert(index);
        }
        catalog
    }

    fn add(
        &mut self,
        module: &Module,
        bound: &Bound,
        target: Option<&TargetTools>,
        (entry, compiled): (Entry<'_>, Compiled<'_>),
    ) {
        // A function of two containers is listed after the first one.
        if self.entries.iter().any(|known| known.name == entry.name()) {
            return;
        }
        let mut tool = compiled.into_json();
        if let Some(listed) = bound.listed_tool(entry.name()) {
            tool = merge(tool, listed);
        }
        if let (Value::Object(tool), Some(found)) =
            (&mut tool, target.and_then(|target| target.tool(entry.name())))
        {
            adapt(tool, found);
        }
        let result_kind = match entry {
            _ if tool["outputSchema"]["type"] == "object" => ResultKind::Structured,
            Entry::Tool(spec) => match ResultSchema::new(&module.types, spec) {
                Some(_) => ResultKind::Text,
                None => ResultKind::Untyped,
            },
            Entry::Container(_) | Entry::Agent(_) => ResultKind::Text,
        };
        let name = SmolStr::from(entry.name());
        let own_name = tool["name"].as_str().unwrap_or_default();
        self.indices.insert(own_name.into(), self.entries.len());
        self.entries.push(CatalogEntry { name, result_kind, tool });
    }

    pub(crate) fn get(&self, name: &str) -> Option<&CatalogEntry> {
        self.indices.get(name).map(|index| &self.entries[*index])
    }

    /// The tools as clients see them.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().map(|entry| &entry.tool)
    }

    /// What of the tools is not checked, as warnings.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let of_entry = |entry: &CatalogEntry| {
            let patterns = unsupported_patterns(&entry.tool["inputSchema"]);
            let describe = |pattern: &str| {
                let pattern = sanitize_line(pattern);
                format!(
                    "the pattern `{pattern}` of `{}` is not supported and not checked",
                    entry.name
                )
            };
            patterns.into_iter().map(describe).collect::<Vec<_>>()
        };
        self.entries.iter().flat_map(of_entry).collect()
    }

    pub(crate) fn has_containers(&self) -> bool {
        self.initial_count < self.entries.len()
    }

    /// The visible entries as a result of `tools/list`.
    pub(crate) fn page(&self, visible: &HashSet<SmolStr>) -> Value {
        let entries = self.entries.iter().filter(|entry| visible.contains(&entry.name));
        let mut page = self.others.clone();
        page.insert("tools".to_owned(), entries.map(|entry| entry.tool.clone()).collect());
        page.into()
    }
}
