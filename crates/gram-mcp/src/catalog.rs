//! The tools as clients see them.

use std::collections::{HashMap, HashSet};

use gram_check::Valid;
use gram_model::Module;
use gram_schema::emit::{Compilation, Compiled, Entry, Options, ResultSchema};
use gram_schema::{Draft, Target};
use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, Tool};
use smol_str::SmolStr;

use crate::ServeError;

/// How many tools an answer to `tools/list` holds.
const PAGE: usize = 100;

/// All that can be listed, in the order of the specification: the functions of a container stand
/// behind it.
#[derive(Debug)]
pub(crate) struct Catalog {
    entries: Vec<Listed>,
    /// Where a name stands: that which clients see, and that of the specification.
    places: HashMap<SmolStr, usize>,
    /// How many entries are listed before any container is expanded.
    pub(crate) at_first: usize,
}

/// A tool or a container.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Its name in the specification.
    pub(crate) name: SmolStr,
    pub(crate) promise: Promise,
    tool: Tool,
}

/// What clients are told of a tool's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Nothing: it may be anything.
    Nothing,
    /// Nothing, for the protocol only knows how to promise objects.
    Unsaid,
    /// An output schema.
    Structure,
}

impl Catalog {
    /// The tools of a specification.
    pub(crate) fn new(module: &Valid<Module>) -> Result<Self, ServeError> {
        let options = Options::new(Target::Mcp, usize::MAX);
        let collapsed = Compilation::new(module, &options);
        let expanded = Compilation::new(module, &Options { expanded: true, ..options });
        let functions: HashMap<&str, Entry<'_>> =
            expanded.entries().iter().map(|entry| (entry.name(), *entry)).collect();
        let mut catalog = Self { entries: Vec::new(), places: HashMap::new(), at_first: 0 };
        for entry in collapsed.entries() {
            catalog.add(module, *entry, collapsed.compile(*entry))?;
            catalog.at_first += 1;
            let Entry::Container(container) = entry else { continue };
            for name in &container.members {
                if let Some(function) = functions.get(name.as_str()) {
                    catalog.add(module, *function, expanded.compile(*function))?;
                }
            }
        }
        let own: Vec<_> = catalog.entries.iter().map(|entry| entry.name.clone()).collect();
        for (place, name) in own.into_iter().enumerate() {
            catalog.places.entry(name).or_insert(place);
        }
        Ok(catalog)
    }

    fn add(
        &mut self,
        module: &Module,
        entry: Entry<'_>,
        compiled: Compiled<'_>,
    ) -> Result<(), ServeError> {
        // A function of two containers is listed behind the first one.
        if self.entries.iter().any(|known| known.name == entry.name()) {
            return Ok(());
        }
        let tool: Tool = serde_json::from_value(compiled.into_json()).map_err(|error| {
            ServeError::Tool(format!(
                "the tool `{}` cannot be served over MCP: {error}",
                entry.name()
            ))
        })?;
        let promise = match entry {
            _ if tool.output_schema.is_some() => Promise::Structure,
            Entry::Tool(spec) => match ResultSchema::new(&module.types, spec, Draft::default()) {
                Some(_) => Promise::Unsaid,
                None => Promise::Nothing,
            },
            Entry::Container(_) | Entry::Agent(_) => Promise::Unsaid,
        };
        let name = SmolStr::from(entry.name());
        self.places.insert(SmolStr::from(&*tool.name), self.entries.len());
        self.entries.push(Listed { name, promise, tool });
        Ok(())
    }

    /// What a name stands for.
    pub(crate) fn get(&self, name: &str) -> Option<&Listed> {
        self.places.get(name).map(|place| &self.entries[*place])
    }

    /// Whether there are containers.
    pub(crate) fn has_containers(&self) -> bool {
        self.at_first < self.entries.len()
    }

    /// One page of the entries whose names are visible. A cursor is the place of the first entry
    /// that was not looked at, among all there are, so it stays right when a container is expanded
    /// between two pages.
    pub(crate) fn page(
        &self,
        visible: &HashSet<SmolStr>,
        cursor: Option<&str>,
    ) -> Result<ListToolsResult, ErrorData> {
        let start = match cursor.map(str::parse::<usize>) {
            None => 0,
            Some(Ok(start)) if start < self.entries.len() => start,
            Some(_) => {
                let message = "this cursor is none of this server's: list from the beginning";
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let entries = self.entries.iter().enumerate().skip(start);
        let mut seen = entries.filter(|(_, entry)| visible.contains(&entry.name));
        let tools = seen.by_ref().take(PAGE).map(|(_, entry)| entry.tool.clone()).collect();
        let mut page = ListToolsResult::with_all_items(tools);
        page.next_cursor = seen.next().map(|(place, _)| place.to_string());
        Ok(page)
    }
}
