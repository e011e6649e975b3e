//! An index of tools: one buffer, in memory as in a file, of which a search reads a small part.

use std::fmt;
use std::ops::Range;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::references;
use crate::summary::Summary;
use crate::words::hash;

/// The first bytes of an index. The number is the version of the format.
const MAGIC: &[u8; 8] = b"gramix01";

/// The parts of an index, in their order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Section {
    /// [`ToolEntry`], [`TOOL_BYTES`] each. [`Header`] comes first, as JSON.
    Tools = 1,
    /// [`Record`] of each tool, as JSON.
    Records,
    /// [`NamedSummary`] of each parameter, [`NAMED_BYTES`] each.
    Parameters,
    /// [`NamedSummary`] of each part of a result, [`NAMED_BYTES`] each.
    Outputs,
    /// Hashes of words and the ends of their postings, in order, [`WORD_BYTES`] each.
    Words,
    /// Tools and the scores that a word gives them, [`POSTING_BYTES`] each.
    Postings,
    /// Hashes of names, sources and places of the texts of types, in order, [`TYPE_BYTES`] each.
    Types,
    /// The names and schemas of types, as JSON.
    TypeTexts,
}

const SECTIONS: usize = 9;
pub(crate) const TOOL_BYTES: usize = 32;
pub(crate) const NAMED_BYTES: usize = 28;
pub(crate) const WORD_BYTES: usize = 12;
pub(crate) const POSTING_BYTES: usize = 8;
pub(crate) const TYPE_BYTES: usize = 28;

/// The most bytes of the types that a schema refers to.
const MAX_CLOSURE: usize = 200_000;
/// The most types that a schema refers to.
const MAX_CLOSURE_TYPES: usize = 200;

/// An index of the tools of several sources.
#[derive(Clone)]
pub struct Index {
    bytes: Vec<u8>,
    sections: [Range<usize>; SECTIONS],
    header: Header,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of the program that built the index.
    pub(crate) program: String,
    pub(crate) fingerprint: String,
    pub(crate) sources: Vec<String>,
}

/// What a search reads of a tool only if it may be a hit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) read_only: bool,
    pub(crate) signature: String,
    /// The names and schemas of the parameters.
    pub(crate) parameters: Vec<(String, Value)>,
    pub(crate) result: Value,
    /// Definitions that only this tool has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) defs: Option<Value>,
    /// The paths of the parts of the result, `lat` or `0.id`.
    pub(crate) outputs: Vec<String>,
}

impl Record {
    /// The record of a tool that cannot be read.
    pub(crate) fn empty() -> Self {
        Self {
            name: String::new(),
            file: None,
            description: String::new(),
            read_only: false,
            signature: String::new(),
            parameters: Vec::new(),
            result: Value::Bool(true),
            defs: None,
            outputs: Vec::new(),
        }
    }
}

/// Where the parts of a tool are.
#[derive(Debug, Clone)]
pub(crate) struct ToolEntry {
    pub(crate) source: u32,
    pub(crate) record: Range<usize>,
    pub(crate) parameters: Range<usize>,
    pub(crate) outputs: Range<usize>,
    pub(crate) result: Summary,
}

/// The type of a parameter or of a part of a result, with its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedSummary {
    pub(crate) name: u64,
    /// For a part of a result: its name after that of what it belongs to.
    pub(crate) qualified: u64,
    /// For a part of a result: whether `qualified` is the likeliest name.
    pub(crate) is_required: bool,
    pub(crate) summary: Summary,
}

/// Why an index cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexError {
    /// The bytes are not an index.
    NotAnIndex,
    /// Another version of gramc built it.
    OtherVersion,
    /// Parts of it are missing.
    Damaged,
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnIndex => "not an index of gramc",
            Self::OtherVersion => "built by another version of gramc",
            Self::Damaged => "the index is damaged",
        })
    }
}

impl std::error::Error for IndexError {}

/// The version that an index of this program has.
pub(crate) const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Whether an index begins so, in any version: `gramix` and two digits.
fn is_magic(start: &[u8]) -> bool {
    start.strip_prefix(b"gramix").is_some_and(|version| version.iter().all(u8::is_ascii_digit))
}

impl Index {
    /// An index of the given sections.
    pub(crate) fn of_sections(header: Header, sections: &[Vec<u8>; SECTIONS - 1]) -> Self {
        // All keys are strings, so the header can be written.
        let first = serde_json::to_vec(&header).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        for section in std::iter::once(&first).chain(sections) {
            bytes.extend((section.len() as u64).to_le_bytes());
        }
        for section in std::iter::once(&first).chain(sections) {
            bytes.extend(section);
        }
        let sections = section_ranges(&bytes).unwrap_or_default();
        Self { bytes, sections, header }
    }

    /// Reads an index.
    ///
    /// # Errors
    ///
    /// The bytes are not an index, another version built it, or a part is missing. Anything else that
    /// is wrong in an index leads to fewer hits.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, IndexError> {
        match bytes.get(..MAGIC.len()) {
            Some(start) if start == MAGIC => {}
            Some(start) if is_magic(start) => return Err(IndexError::OtherVersion),
            _ => return Err(IndexError::NotAnIndex),
        }
        let sections = section_ranges(&bytes).ok_or(IndexError::Damaged)?;
        let header = bytes.get(sections[0].clone()).ok_or(IndexError::Damaged)?;
        let header: Header = serde_json::from_slice(header).map_err(|_| IndexError::Damaged)?;
        if header.program != PROGRAM {
            return Err(IndexError::OtherVersion);
        }
        Ok(Self { bytes, sections, header })
    }

    /// The index as [`Self::from_bytes`] reads it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the index was built from, as [`Self::build`] got it.
    pub fn fingerprint(&self) -> &str {
        &self.header.fingerprint
    }

    /// The number of tools.
    pub fn tools(&self) -> usize {
        self.section(Section::Tools).len() / TOOL_BYTES
    }

    fn section(&self, section: Section) -> &[u8] {
        self.bytes.get(self.sections[section as usize].clone()).unwrap_or_default()
    }

    pub(crate) fn source_name(&self, source: u32) -> &str {
        self.header.sources.get(source as usize).map_or("", String::as_str)
    }

    pub(crate) fn entry(&self, tool: usize) -> ToolEntry {
        let tools = self.section(Section::Tools);
        let at = tool * TOOL_BYTES;
        // Ends are stored. A part begins where that of the tool before ends.
        let before = (tool > 0).then(|| at - TOOL_BYTES);
        let end = |field: usize| u32_at(tools, at + field) as usize;
        let start = |field: usize| before.map_or(0, |at| u32_at(tools, at + field) as usize);
        let record = before.map_or(0, |at| number(tools, at))..number(tools, at);
        ToolEntry {
            source: end(16).try_into().unwrap_or(u32::MAX),
            record,
            // A damaged index must not lead to long loops.
            parameters: start(8)..end(8).min(self.section(Section::Parameters).len() / NAMED_BYTES),
            outputs: start(12)..end(12).min(self.section(Section::Outputs).len() / NAMED_BYTES),
            result: summary_at(tools, at + 20),
        }
    }

    pub(crate) fn record(&self, entry: &ToolEntry) -> Option<Record> {
        let text = self.section(Section::Records).get(entry.record.clone())?;
        serde_json::from_slice(text).ok()
    }

    pub(crate) fn parameter(&self, at: usize) -> NamedSummary {
        named_at(self.section(Section::Parameters), at * NAMED_BYTES)
    }

    pub(crate) fn output(&self, at: usize) -> NamedSummary {
        named_at(self.section(Section::Outputs), at * NAMED_BYTES)
    }

    /// The tools that a word finds, with the scores that it gives them.
    pub(crate) fn postings(&self, word: &str) -> impl Iterator<Item = (usize, f32)> {
        let words = self.section(Section::Words);
        let wanted = hash(word);
        let count = words.len() / WORD_BYTES;
        let at = lower_bound(count, |at| u64_at(words, at * WORD_BYTES) < wanted);
        let is_known = at < count && u64_at(words, at * WORD_BYTES) == wanted;
        let end = |at: usize| u32_at(words, at * WORD_BYTES + 8) as usize;
        let range = match (is_known, at) {
            (false, _) => 0..0,
            (true, 0) => 0..end(0),
            (true, at) => end(at - 1)..end(at),
        };
        let range = range.start * POSTING_BYTES..range.end * POSTING_BYTES;
        let postings = self.section(Section::Postings).get(range).unwrap_or_default();
        let tools = self.tools();
        postings.chunks_exact(POSTING_BYTES).filter_map(move |posting| {
            let tool = u32_at(posting, 0) as usize;
            (tool < tools).then(|| (tool, f32::from_bits(u32_at(posting, 4))))
        })
    }

    /// The sources that declare a type, each once.
    pub(crate) fn sources_of_type(&self, name: &str) -> Vec<u32> {
        let types = self.section(Section::Types);
        let wanted = hash(name);
        let count = types.len() / TYPE_BYTES;
        let start = lower_bound(count, |at| u64_at(types, at * TYPE_BYTES) < wanted);
        let same = (start..count).take_while(|at| u64_at(types, at * TYPE_BYTES) == wanted);
        same.map(|at| u32_at(types, at * TYPE_BYTES + 8)).collect()
    }

    fn type_bytes(&self, source: u32, name: &str) -> Option<&[u8]> {
        let types = self.section(Section::Types);
        let wanted = (hash(name), source);
        let key = |at: usize| (u64_at(types, at * TYPE_BYTES), u32_at(types, at * TYPE_BYTES + 8));
        let count = types.len() / TYPE_BYTES;
        let at = lower_bound(count, |at| key(at) < wanted);
        if at >= count || key(at) != wanted {
            return None;
        }
        let range = number(types, at * TYPE_BYTES + 12)..number(types, at * TYPE_BYTES + 20);
        self.section(Section::TypeTexts).get(range)
    }

    /// The schema of a type that a source declares.
    pub(crate) fn type_schema(&self, source: u32, name: &str) -> Option<Value> {
        let text = self.type_bytes(source, name)?;
        let (known, schema): (String, Value) = serde_json::from_slice(text).ok()?;
        (known == name).then_some(schema)
    }

    /// The names of all types.
    pub(crate) fn type_names(&self) -> Vec<String> {
        let types = self.section(Section::Types);
        let texts = self.section(Section::TypeTexts);
        let name = |entry: &[u8]| {
            let text = texts.get(number(entry, 12)..number(entry, 20))?;
            let read = serde_json::from_slice::<(String, IgnoredAny)>(text);
            read.ok().map(|(name, _)| name)
        };
        types.chunks_exact(TYPE_BYTES).filter_map(name).collect()
    }

    /// A schema of a source with the definitions that it refers to. `None` if these are too many.
    pub(crate) fn with_defs(
        &self,
        source: u32,
        schema: &Value,
        own: Option<&Value>,
    ) -> Option<Value> {
        let mut names = Vec::new();
        let mut defs = serde_json::Map::new();
        let mut size = 0;
        if !references(schema, 0, &mut names) {
            return None;
        }
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            let own = own.and_then(|own| own.get(&name)).cloned();
            if own.is_none() {
                size += self.type_bytes(source, &name).map_or(0, <[u8]>::len);
            }
            if size > MAX_CLOSURE || names.len() > MAX_CLOSURE_TYPES {
                return None;
            }
            let definition = own.or_else(|| self.type_schema(source, &name))?;
            if !references(&definition, 0, &mut names) {
                return None;
            }
            defs.insert(name, definition);
        }
        let mut whole = schema.clone();
        if let (false, Value::Object(keywords)) = (defs.is_empty(), &mut whole) {
            keywords.insert("$defs".to_owned(), Value::Object(defs));
        }
        Some(whole)
    }
}

/// Where the sections are. `None` if one is missing.
fn section_ranges(bytes: &[u8]) -> Option<[Range<usize>; SECTIONS]> {
    let mut start = MAGIC.len() + SECTIONS * 8;
    let mut ranges = [const { 0..0 }; SECTIONS];
    for (at, range) in ranges.iter_mut().enumerate() {
        let length = bytes.get(MAGIC.len() + at * 8..)?.first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let end = start.checked_add(length).filter(|end| *end <= bytes.len())?;
        *range = start..end;
        start = end;
    }
    (start == bytes.len()).then_some(ranges)
}

/// The first of `count` places that does not precede what is looked for.
fn lower_bound(count: usize, precedes: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if precedes(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk::<4>);
    found.map_or(0, |found| u32::from_le_bytes(*found))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>);
    found.map_or(0, |found| u64::from_le_bytes(*found))
}

fn number(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u64_at(bytes, at)).unwrap_or(usize::MAX)
}

fn summary_at(bytes: &[u8], at: usize) -> Summary {
    let [kinds, items, flags, _] = u32_at(bytes, at).to_le_bytes();
    Summary { kinds, items, flags, identity: u64_at(bytes, at + 4) }
}

fn named_at(bytes: &[u8], at: usize) -> NamedSummary {
    let summary = summary_at(bytes, at + 16);
    let [.., required] = u32_at(bytes, at + 16).to_le_bytes();
    NamedSummary {
        name: u64_at(bytes, at),
        qualified: u64_at(bytes, at + 8),
        is_required: required != 0,
        summary,
    }
}

/// Writes a summary as it is read.
pub(crate) fn put_summary(bytes: &mut Vec<u8>, summary: Summary, is_required: bool) {
    let Summary { kinds, items, flags, identity } = summary;
    bytes.extend([kinds, items, flags, u8::from(is_required)]);
    bytes.extend(identity.to_le_bytes());
}

/// Writes a named summary as it is read.
pub(crate) fn put_named(bytes: &mut Vec<u8>, named: NamedSummary) {
    bytes.extend(named.name.to_le_bytes());
    bytes.extend(named.qualified.to_le_bytes());
    put_summary(bytes, named.summary, named.is_required);
}
