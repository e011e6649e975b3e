//! Finds tools by their types.

use std::collections::HashMap;

use gramc_check::PartialModule;
use gramc_model::Place;
use gramc_search::{Index, Query, Source};

/// The most tools that a search finds.
const MAX_HITS: usize = 50;

/// An index of the tools of a project, and where they are.
#[derive(Debug)]
pub(crate) struct ToolIndex {
    index: Index,
    places: HashMap<String, Place>,
}

impl ToolIndex {
    pub(crate) fn new(module: &PartialModule) -> Self {
        let module = module.module();
        let index = Index::build(vec![Source::of_module("", module)]);
        let mut places = HashMap::new();
        for (at, tool) in module.tools.iter().enumerate() {
            if let Some(place) = module.spans().tool(at) {
                places.entry(tool.name.to_string()).or_insert(place);
            }
        }
        Self { index, places }
    }

    /// The names and places of the tools that a query finds, best first.
    pub(crate) fn find(&self, query: &Query) -> Vec<(String, Place)> {
        let hits = self.index.search(query, MAX_HITS).into_iter();
        hits.filter_map(|hit| self.places.get(&hit.tool).map(|place| (hit.tool, *place))).collect()
    }
}
