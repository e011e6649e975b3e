//! Builds an index.

use std::collections::{BTreeMap, HashMap, HashSet};

use gramc_json_schema::keywords::Keyword;
use serde_json::Value;

use crate::document::{Document, Source};
use crate::index::{Header, Index, NamedSummary, PROGRAM, Record, put_named, put_summary};
use crate::outputs::outputs;
use crate::schema::{MAX_DEPTH, properties, requires};
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
type Counts = HashMap<u64, [f32; FIELDS]>;

impl Index {
    /// An index of the tools of all sources. `fingerprint` is what the caller knows them by, to tell
    /// later whether they have changed.
    pub fn build(sources: &[Source], fingerprint: &str) -> Self {
        let mut builder = Builder::default();
        let all = sources.iter().flat_map(|source| &source.tools);
        let declared: HashSet<&str> =
            all.filter(|tool| !tool.is_implementation).map(|tool| &*tool.name).collect();
        // The implementation of a tool is no other tool.
        let counts =
            |tool: &&Document| !tool.is_implementation || !declared.contains(tool.name.as_str());
        for (at, source) in (0..).zip(sources) {
            for tool in source.tools.iter().filter(counts) {
                builder.add(at, source, tool);
            }
        }
        builder.finish(sources, fingerprint)
    }
}

struct Builder {
    analyzer: Analyzer,
    tools: Vec<u8>,
    records: Vec<u8>,
    parameters: Vec<u8>,
    parameter_count: u32,
    outputs: Vec<u8>,
    output_count: u32,
    counts: Vec<Counts>,
    lengths: Vec<[f32; FIELDS]>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            analyzer: Analyzer::new(),
            tools: Vec::new(),
            records: Vec::new(),
            parameters: Vec::new(),
            parameter_count: 0,
            outputs: Vec::new(),
            output_count: 0,
            counts: Vec::new(),
            lengths: Vec::new(),
        }
    }
}

impl Builder {
    fn add(&mut self, at: u32, source: &Source, tool: &Document) {
        let own = tool.parameters.get("$defs");
        let of_result = tool.result.get("$defs");
        let resolve = |name: &str| {
            let own = own.or(of_result).and_then(|own| own.get(name));
            own.or_else(|| source.types.get(name))
        };
        let mut record = Record {
            name: tool.name.clone(),
            file: tool.file.clone(),
            description: tool.description.clone(),
            read_only: tool.read_only,
            signature: tool.signature.clone(),
            parameters: Vec::new(),
            result: without_defs(&tool.result),
            defs: own.or(of_result).cloned(),
            outputs: Vec::new(),
        };
        for (name, schema) in properties(&tool.parameters) {
            let hash = self.analyzer.name_hash(name);
            let named = NamedSummary {
                name: hash,
                qualified: hash,
                is_required: requires(&tool.parameters, name),
                summary: Summary::of(schema, &resolve),
            };
            put_named(&mut self.parameters, named);
            self.parameter_count += 1;
            record.parameters.push((name.clone(), schema.clone()));
        }
        for (path, named) in outputs(&self.analyzer, tool, &resolve) {
            put_named(&mut self.outputs, named);
            self.output_count += 1;
            record.outputs.push(path);
        }
        // All keys are strings, so a record can be written.
        self.records.extend(serde_json::to_vec(&record).unwrap_or_default());
        self.tools.extend((self.records.len() as u64).to_le_bytes());
        for number in [self.parameter_count, self.output_count, at] {
            self.tools.extend(number.to_le_bytes());
        }
        put_summary(&mut self.tools, Summary::of(&tool.result, &resolve), false);
        self.count_words(source, tool);
    }

    fn count_words(&mut self, source: &Source, tool: &Document) {
        let mut words = WordCounter {
            analyzer: &self.analyzer,
            counts: HashMap::new(),
            lengths: [0.0; FIELDS],
            left: MAX_WORDS,
        };
        words.add(WordField::Name, &tool.name);
        words.add(WordField::Name, &tool.title);
        words.add(WordField::Description, &tool.description);
        words.add(WordField::Context, &tool.context);
        words.add(WordField::Context, &source.name);
        for (name, schema) in properties(&tool.parameters) {
            words.add(WordField::Parameters, name);
            words.schema(schema, 0);
        }
        words.schema(&tool.result, 0);
        self.counts.push(words.counts);
        self.lengths.push(words.lengths);
    }

    fn finish(self, sources: &[Source], fingerprint: &str) -> Index {
        let (words, postings) = postings(&self.counts, &self.lengths);
        let (types, type_texts) = types(sources);
        let header = Header {
            program: PROGRAM.to_owned(),
            fingerprint: fingerprint.to_owned(),
            sources: sources.iter().map(|source| source.name.clone()).collect(),
        };
        let Self { tools, records, parameters, outputs, .. } = self;
        Index::of_sections(
            header,
            &[tools, records, parameters, outputs, words, postings, types, type_texts],
        )
    }
}

fn without_defs(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(keywords) = &mut schema {
        keywords.shift_remove("$defs");
    }
    schema
}

/// Counts the words of a tool.
struct WordCounter<'a> {
    analyzer: &'a Analyzer,
    counts: Counts,
    lengths: [f32; FIELDS],
    left: usize,
}

impl WordCounter<'_> {
    fn add(&mut self, field: WordField, text: &str) {
        let Self { analyzer, counts, lengths, left } = self;
        analyzer.each(text, |stem| {
            if *left > 0 {
                *left -= 1;
                lengths[field as usize] += 1.0;
                counts.entry(hash(stem)).or_default()[field as usize] += 1.0;
            }
        });
    }

    /// Adds the names, descriptions and listed values in a schema. References are not followed.
    fn schema(&mut self, schema: &Value, depth: usize) {
        let Value::Object(keywords) = schema else { return };
        if depth > MAX_DEPTH || self.left == 0 {
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
                self.schema(part, depth + 1);
            }
        }
    }
}

/// The words of all tools, and the score that each gives to each of its tools, by BM25 with fields
/// (Robertson, Zaragoza and Taylor 2004).
#[expect(clippy::cast_precision_loss, reason = "scores need no precision")]
fn postings(counts: &[Counts], lengths: &[[f32; FIELDS]]) -> (Vec<u8>, Vec<u8>) {
    let tools = counts.len() as f32;
    let mut averages = [0.0; FIELDS];
    for (field, average) in averages.iter_mut().enumerate() {
        let sum: f32 = lengths.iter().map(|lengths| lengths[field]).sum();
        *average = (sum / tools.max(1.0)).max(1.0);
    }
    let mut by_word: BTreeMap<u64, Vec<(u32, f32)>> = BTreeMap::new();
    for ((at, counts), lengths) in (0_u32..).zip(counts).zip(lengths) {
        for (word, fields) in counts {
            let mut weight = 0.0;
            for field in 0..FIELDS {
                let long = lengths[field] / averages[field];
                let normal = 1.0 - LENGTHS[field] + LENGTHS[field] * long;
                weight += WEIGHTS[field] * fields[field] / normal;
            }
            by_word.entry(*word).or_default().push((at, weight));
        }
    }
    let (mut words, mut postings) = (Vec::new(), Vec::new());
    let mut end = 0_u32;
    for (word, found) in by_word {
        let holders = found.len() as f32;
        let rarity = (1.0 + (tools - holders + 0.5) / (holders + 0.5)).ln();
        for (tool, weight) in found {
            let score = rarity * weight * (SATURATION + 1.0) / (SATURATION + weight);
            postings.extend(tool.to_le_bytes());
            postings.extend(score.to_le_bytes());
            end += 1;
        }
        words.extend(word.to_le_bytes());
        words.extend(end.to_le_bytes());
    }
    (words, postings)
}

/// The types of all sources, and where the text of each is.
fn types(sources: &[Source]) -> (Vec<u8>, Vec<u8>) {
    let mut texts = Vec::new();
    let mut places: Vec<(u64, u32, u64, u64)> = Vec::new();
    for (at, source) in (0_u32..).zip(sources) {
        for (name, schema) in &source.types {
            let start = texts.len() as u64;
            // All keys are strings, so a schema can be written.
            texts.extend(serde_json::to_vec(&(name, schema)).unwrap_or_default());
            places.push((hash(name), at, start, texts.len() as u64));
        }
    }
    places.sort_unstable();
    let mut types = Vec::new();
    for (name, source, start, end) in places {
        types.extend(name.to_le_bytes());
        types.extend(source.to_le_bytes());
        types.extend(start.to_le_bytes());
        types.extend(end.to_le_bytes());
    }
    (types, texts)
}
