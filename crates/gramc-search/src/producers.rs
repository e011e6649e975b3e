//! Finds the tools whose results supply a parameter.

use std::collections::HashMap;

use crate::index::{Index, NamedSummary};
use crate::summary::{Estimate, Summary};
use crate::words::Analyzer;

/// The most tools that are considered for a parameter.
const MAX_PRODUCERS: usize = 16;

/// The least quality of a link.
const MIN_LINK: f32 = 0.35;

/// A parameter that needs a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Need {
    name: u64,
    /// Its name after each word of its tool: `message id` for the `id` of `messagesGet`.
    qualified: Vec<u64>,
    kinds: u8,
    items: u8,
    flags: u8,
    identity: u64,
}

impl Need {
    pub(crate) fn new(
        analyzer: &Analyzer,
        tool: &str,
        name: &str,
        parameter: NamedSummary,
    ) -> Self {
        let Summary { kinds, items, flags, identity } = parameter.summary;
        let words = analyzer.stems(tool);
        let words = words.iter().map(|word| analyzer.name_hash(&format!("{word} {name}")));
        let qualified = words.collect();
        Self { name: parameter.name, qualified, kinds, items, flags, identity }
    }

    fn summary(&self) -> Summary {
        let Self { kinds, items, flags, identity, .. } = *self;
        Summary { kinds, items, flags, identity }
    }

    /// How well a part of a result supplies the parameter, from 0 to 1.
    pub(crate) fn link(&self, output: NamedSummary, generic: &Generic) -> f32 {
        let wanted = self.summary();
        let is_own = output.qualified == self.name || self.qualified.contains(&output.qualified);
        let name = if is_own {
            if output.is_required { 1.0 } else { 0.75 }
        } else if output.name == self.name {
            // `id` and `name` are in most results.
            if generic.has(self.name) { 0.4 } else { 0.9 }
        } else if wanted.is_specific() && output.summary.identity == wanted.identity {
            0.5
        } else {
            return 0.0;
        };
        let types = match output.summary.without_null().within(wanted) {
            Estimate::Same => 1.0,
            Estimate::Contained => 0.9,
            Estimate::Unknown => 0.7,
            // A text may be a date or an identifier.
            Estimate::Overlapping if !output.summary.is_anything() => 0.5,
            Estimate::Overlapping | Estimate::Disjoint => return 0.0,
        };
        types * name
    }
}

/// Names that many tools use for different things.
pub(crate) struct Generic(Vec<u64>);

impl Generic {
    pub(crate) fn new(analyzer: &Analyzer) -> Self {
        let names = [
            "id",
            "name",
            "type",
            "status",
            "state",
            "value",
            "title",
            "date",
            "url",
            "key",
            "text",
            "body",
            "message",
            "content",
            "query",
            "number",
            "description",
            "label",
            "path",
            "kind",
        ];
        Self(names.into_iter().map(|name| analyzer.name_hash(name)).collect())
    }

    fn has(&self, name: u64) -> bool {
        self.0.contains(&name)
    }
}

/// A tool that supplies a parameter, and how well.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Producer {
    pub(crate) tool: usize,
    pub(crate) score: f32,
}

/// Finds producers and keeps what it found.
pub(crate) struct Producers<'i> {
    index: &'i Index,
    pub(crate) generic: Generic,
    /// The score of each tool apart from its link.
    merits: Vec<f32>,
    /// The parts of results and their tools, by hashes of their names and types, in order.
    outputs: Vec<(u64, u32, u32)>,
    known: HashMap<Need, Vec<Producer>>,
}

impl<'i> Producers<'i> {
    pub(crate) fn new(index: &'i Index, analyzer: &Analyzer, merits: Vec<f32>) -> Self {
        let generic = Generic::new(analyzer);
        Self { index, generic, merits, outputs: outputs(index), known: HashMap::new() }
    }

    /// The best tools that supply a parameter.
    pub(crate) fn of(&mut self, need: &Need) -> Vec<Producer> {
        if let Some(known) = self.known.get(need) {
            return known.clone();
        }
        let mut links: HashMap<usize, f32> = HashMap::new();
        let identity = need.summary().is_specific().then_some(need.identity);
        for key in need.qualified.iter().copied().chain([need.name]).chain(identity) {
            let start = self.outputs.partition_point(|(known, ..)| *known < key);
            let same = self.outputs[start..].iter().take_while(|(known, ..)| *known == key);
            for (_, output, tool) in same {
                let link = need.link(self.index.output(*output as usize), &self.generic);
                let best = links.entry(*tool as usize).or_default();
                *best = best.max(link);
            }
        }
        let links = links.into_iter().filter(|(_, link)| *link >= MIN_LINK);
        let score = |(tool, link)| Producer { tool, score: link + self.merits[tool] };
        let mut found: Vec<Producer> = links.map(score).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool)));
        found.truncate(MAX_PRODUCERS);
        self.known.insert(need.clone(), found.clone());
        found
    }
}

/// The parts of all results, by the hashes of what parameters that take them may have in common with
/// them.
fn outputs(index: &Index) -> Vec<(u64, u32, u32)> {
    let mut found = Vec::new();
    for tool in 0..index.tools() {
        for at in index.entry(tool).outputs {
            let (Ok(output), Ok(tool)) = (u32::try_from(at), u32::try_from(tool)) else { continue };
            let NamedSummary { name, qualified, summary, .. } = index.output(at);
            found.extend([(name, output, tool), (qualified, output, tool)]);
            if summary.is_specific() {
                found.push((summary.identity, output, tool));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
