//! Builds an index.

use std::collections::{BTreeMap, HashMap, HashSet};

use gramc_json_schema::keywords::Keyword;
use serde_json::Value;

use crate::document::{Document, Source};
use crate::index::{Index, IndexedParameter, IndexedTool, Posting};
use crate::schema::{properties, requires};
use crate::summary::Summary;
use crate::words::{Analyzer, hash};

/// A part of a tool whose words count.
#[derive(Debug, Clone, Copy)]
enum WordField {
    Name,
    Description,
    Parameters,
    Details,
    Context,
}

const FIELDS: usize = 5;

/// How much a word counts by its field.
const WEIGHTS: [f32; FIELDS] = [2.0, 1.5, 1.0, 0.7, 0.5];

/// How much the length of a field lowers the weight of its words, from 0 to 1.
const LENGTHS: [f32; FIELDS] = [0.3, 0.5, 0.5, 0.5, 0.5];

/// How soon more of a word stops counting, the `k1` of BM25.
const SATURATION: f32 = 1.2;

/// The most words of a tool.
const MAX_WORDS: usize = 4_000;

/// How often words are in the fields of a tool.
#[derive(Default)]
struct WordCounts {
    /// By the hash of the stem.
    words: HashMap<u64, [f32; FIELDS]>,
    lengths: [f32; FIELDS],
}

impl Index {
    /// Builds an index of the tools of all sources.
    pub fn build(sources: Vec<Source>) -> Self {
        let declared: HashSet<String> = sources
            .iter()
            .flat_map(|source| &source.tools)
            .filter(|tool| !tool.is_implementation)
            .map(|tool| tool.name.clone())
            .collect();
        let mut builder = Builder::default();
        for (at, source) in sources.into_iter().enumerate() {
            let Source { name, types, tools } = source;
            for mut tool in tools {
                // The implementation of a tool is no other tool.
                if !tool.is_implementation || !declared.contains(&tool.name) {
                    let own = take_own_defs(&mut tool);
                    builder.count_words(&name, &tool);
                    builder.add(at, &types, tool, own);
                }
            }
            builder.index.sources.push(Source { name, types, tools: Vec::new() });
        }
        builder.index.postings = postings(&builder.counts);
        builder.index
    }
}

/// Removes the definitions that belong to a tool alone, and returns them.
fn take_own_defs(tool: &mut Document) -> Option<Value> {
    let take = |schema: &mut Value| schema.as_object_mut()?.shift_remove("$defs");
    let of_result = take(&mut tool.result);
    take(&mut tool.parameters).or(of_result)
}

#[derive(Default)]
struct Builder {
    analyzer: Analyzer,
    index: Index,
    counts: Vec<WordCounts>,
}

impl Builder {
    fn add(
        &mut self,
        source: usize,
        types: &BTreeMap<String, Value>,
        tool: Document,
        defs: Option<Value>,
    ) {
        let own = defs.as_ref();
        let resolve = |name: &str| own.and_then(|own| own.get(name)).or_else(|| types.get(name));
        let parameters = properties(&tool.parameters).map(|(name, schema)| IndexedParameter {
            name: name.clone(),
            name_hash: self.analyzer.name_hash(name),
            is_required: requires(&tool.parameters, name),
            summary: Summary::of(schema, &resolve),
            schema: schema.clone(),
        });
        let parameters = parameters.collect();
        let result_summary = Summary::of(&tool.result, &resolve);
        self.index.tools.push(IndexedTool {
            document: tool,
            source,
            parameters,
            result_summary,
            defs,
        });
    }

    fn count_words(&mut self, source: &str, tool: &Document) {
        let mut words = WordCounter {
            analyzer: &self.analyzer,
            counts: WordCounts::default(),
            left: MAX_WORDS,
        };
        words.add(WordField::Name, &tool.name);
        words.add(WordField::Name, &tool.title);
        words.add(WordField::Description, &tool.description);
        words.add(WordField::Context, &tool.context);
        words.add(WordField::Context, source);
        for (name, schema) in properties(&tool.parameters) {
            words.add(WordField::Parameters, name);
            words.schema(schema);
        }
        words.schema(&tool.result);
        self.counts.push(words.counts);
    }
}

struct WordCounter<'a> {
    analyzer: &'a Analyzer,
    counts: WordCounts,
    left: usize,
}

impl WordCounter<'_> {
    fn add(&mut self, field: WordField, text: &str) {
        let Self { analyzer, counts, left } = self;
        analyzer.each(text, |stem| {
            if *left > 0 {
                *left -= 1;
                counts.lengths[field as usize] += 1.0;
                counts.words.entry(hash(stem)).or_default()[field as usize] += 1.0;
            }
        });
    }

    /// Adds the names, descriptions and listed values in a schema. References are not followed.
    fn schema(&mut self, schema: &Value) {
        let Value::Object(keywords) = schema else { return };
        if self.left == 0 {
            return;
        }
        for (key, value) in keywords {
            let keyword = Keyword::of(key);
            match (keyword, value) {
                (Keyword::Description | Keyword::Title | Keyword::Format, Value::String(text)) => {
                    self.add(WordField::Details, text);
                }
                (Keyword::Enum, Value::Array(values)) => {
                    for text in values.iter().filter_map(Value::as_str) {
                        self.add(WordField::Details, text);
                    }
                }
                (Keyword::Ref, Value::String(reference)) => {
                    let name = reference.rsplit('/').next().unwrap_or_default();
                    self.add(WordField::Details, name);
                }
                (Keyword::Properties, Value::Object(properties)) => {
                    for name in properties.keys() {
                        self.add(WordField::Details, name);
                    }
                }
                _ => {}
            }
            for part in keyword.subschemas(value) {
                self.schema(part);
            }
        }
    }
}

/// The tools of each word with the scores that it adds, by BM25 with fields (Robertson, Zaragoza and
/// Taylor 2004).
#[expect(clippy::cast_precision_loss, reason = "scores need no precision")]
fn postings(counts: &[WordCounts]) -> HashMap<u64, Vec<Posting>> {
    let tools = counts.len() as f32;
    let mut averages = [0.0; FIELDS];
    for (field, average) in averages.iter_mut().enumerate() {
        let sum: f32 = counts.iter().map(|counts| counts.lengths[field]).sum();
        *average = (sum / tools.max(1.0)).max(1.0);
    }
    let mut postings: HashMap<u64, Vec<Posting>> = HashMap::new();
    for (tool, WordCounts { words, lengths }) in counts.iter().enumerate() {
        for (word, fields) in words {
            let mut weight = 0.0;
            for field in 0..FIELDS {
                let long = lengths[field] / averages[field];
                let normal = 1.0 - LENGTHS[field] + LENGTHS[field] * long;
                weight += WEIGHTS[field] * fields[field] / normal;
            }
            postings.entry(*word).or_default().push(Posting { tool, score: weight });
        }
    }
    for found in postings.values_mut() {
        let holders = found.len() as f32;
        let rarity = (1.0 + (tools - holders + 0.5) / (holders + 0.5)).ln();
        for Posting { score, .. } in found {
            *score = rarity * *score * (SATURATION + 1.0) / (SATURATION + *score);
        }
    }
    postings
}
