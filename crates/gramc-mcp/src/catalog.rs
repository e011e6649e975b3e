//! The tools that the server lists.

use std::collections::{HashMap, HashSet};

use gramc_check::Valid;
use gramc_model::Module;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Compiled, Entry, Options, ResultSchema};
use gramc_tools::Bound;
use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, Tool};
use serde_json::Value;
use smol_str::SmolStr;

use crate::error::ServeError;

/// Maximum number of tools in a response to `tools/list`.
const MAX_PAGE_SIZE: usize = 100;

/// The tools and containers in source order. The functions of a container follow it.
#[derive(Debug)]
pub(crate) struct Catalog {
    entries: Vec<CatalogEntry>,
    /// The index of each entry, by its MCP name and by its name in the specification.
    indices: HashMap<SmolStr, usize>,
    /// Number of visible entries before any container is expanded.
    pub(crate) initial_count: usize,
}

/// A tool or a container.
#[derive(Debug)]
pub(crate) struct CatalogEntry {
    pub(crate) name: SmolStr,
    pub(crate) result_kind: ResultKind,
    pub(crate) tool: Tool,
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

/// The keys of a tool that a specification has no words for.
const PASSED_ON: [&str; 2] = ["icons", "_meta"];
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Passes on what the server that runs a tool says of it: its icons and metadata, and the dialect of
/// its schemas, if it is that of ours.
fn pass_on(tool: &mut Value, mut listed: Value) {
    for key in PASSED_ON {
        if let Some(value) = listed.get_mut(key).map(Value::take).filter(|it| !it.is_null()) {
            tool[key] = value;
        }
    }
    for key in ["inputSchema", "outputSchema"] {
        if listed[key]["$schema"] == DIALECT
            && let Some(Value::Object(schema)) = tool.get_mut(key)
        {
            schema.shift_insert(0, "$schema".to_owned(), DIALECT.into());
        }
    }
}

impl Catalog {
    /// The tools of a specification, with what only the servers behind the library say of them.
    pub(crate) fn new(module: &Valid<Module>, bound: &Bound) -> Result<Self, ServeError> {
        let options = Options::new(Target::Mcp, usize::MAX);
        let collapsed = Compilation::new(module, &options);
        let expanded = Compilation::new(module, &Options { expanded: true, ..options });
        let functions: HashMap<&str, Entry<'_>> =
            expanded.entries().iter().map(|entry| (entry.name(), *entry)).collect();
        let mut catalog = Self { entries: Vec::new(), indices: HashMap::new(), initial_count: 0 };
        for entry in collapsed.entries() {
            catalog.add(module, bound, *entry, collapsed.compile(*entry))?;
            catalog.initial_count += 1;
            let Entry::Container(container) = entry else { continue };
            for name in &container.members {
                if let Some(function) = functions.get(name.as_str()) {
                    catalog.add(module, bound, *function, expanded.compile(*function))?;
                }
            }
        }
        let own: Vec<_> = catalog.entries.iter().map(|entry| entry.name.clone()).collect();
        for (index, name) in own.into_iter().enumerate() {
            catalog.indices.entry(name).or_insert(index);
        }
        Ok(catalog)
    }

    fn add(
        &mut self,
        module: &Module,
        bound: &Bound,
        entry: Entry<'_>,
        compiled: Compiled<'_>,
    ) -> Result<(), ServeError> {
        // A function of two containers is listed after the first one.
        if self.entries.iter().any(|known| known.name == entry.name()) {
            return Ok(());
        }
        let mut json = compiled.into_json();
        if let Some(listed) = bound.listed_tool(entry.name()) {
            pass_on(&mut json, listed);
        }
        let tool: Tool = serde_json::from_value(json).map_err(|error| {
            ServeError::Tool(format!("cannot serve the tool `{}` over MCP: {error}", entry.name()))
        })?;
        let result_kind = match entry {
            _ if tool.output_schema.is_some() => ResultKind::Structured,
            Entry::Tool(spec) => match ResultSchema::new(&module.types, spec) {
                Some(_) => ResultKind::Text,
                None => ResultKind::Untyped,
            },
            Entry::Container(_) | Entry::Agent(_) => ResultKind::Text,
        };
        let name = SmolStr::from(entry.name());
        self.indices.insert(SmolStr::from(&*tool.name), self.entries.len());
        self.entries.push(CatalogEntry { name, result_kind, tool });
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&CatalogEntry> {
        self.indices.get(name).map(|index| &self.entries[*index])
    }

    /// The tools as clients see them.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.entries.iter().map(|entry| &entry.tool)
    }

    pub(crate) fn has_containers(&self) -> bool {
        self.initial_count < self.entries.len()
    }

    /// One page of the visible entries. A cursor is the index of the next entry among all entries,
    /// so it stays valid when a container is expanded between two pages.
    pub(crate) fn page(
        &self,
        visible: &HashSet<SmolStr>,
        cursor: Option<&str>,
    ) -> Result<ListToolsResult, ErrorData> {
        let start = match cursor.map(str::parse::<usize>) {
            None => 0,
            Some(Ok(start)) if start < self.entries.len() => start,
            Some(_) => {
                let message = "invalid cursor; list from the beginning";
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let entries = self.entries.iter().enumerate().skip(start);
        let mut seen = entries.filter(|(_, entry)| visible.contains(&entry.name));
        let tools =
            seen.by_ref().take(MAX_PAGE_SIZE).map(|(_, entry)| entry.tool.clone()).collect();
        let mut page = ListToolsResult::with_all_items(tools);
        page.next_cursor = seen.next().map(|(index, _)| index.to_string());
        Ok(page)
    }
}
