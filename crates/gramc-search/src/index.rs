//! An index of tools in memory.

use std::collections::HashMap;

use serde_json::Value;

use crate::document::{Document, Source};
use crate::schema::references;
use crate::summary::Summary;
use crate::words::hash;

/// The most types that a schema refers to.
const MAX_CLOSURE_TYPES: usize = 200;

/// An index of the tools of several sources.
#[derive(Debug, Default)]
pub struct Index {
    /// The sources, without their tools.
    pub(crate) sources: Vec<Source>,
    pub(crate) tools: Vec<IndexedTool>,
    /// The tools that a word finds, by the hash of its stem.
    pub(crate) postings: HashMap<u64, Vec<Posting>>,
}

#[derive(Debug)]
pub(crate) struct IndexedTool {
    pub(crate) document: Document,
    /// The position of its source.
    pub(crate) source: usize,
    pub(crate) parameters: Vec<IndexedParameter>,
    pub(crate) result_summary: Summary,
    /// Definitions that only this tool has.
    pub(crate) defs: Option<Value>,
}

#[derive(Debug)]
pub(crate) struct IndexedParameter {
    pub(crate) name: String,
    /// Equal for names with the same words.
    pub(crate) name_hash: u64,
    pub(crate) is_required: bool,
    pub(crate) schema: Value,
    pub(crate) summary: Summary,
}

/// A tool that a word finds, and the score that the word adds.
#[derive(Debug)]
pub(crate) struct Posting {
    pub(crate) tool: usize,
    pub(crate) score: f32,
}

impl Index {
    /// The number of tools.
    pub fn tools(&self) -> usize {
        self.tools.len()
    }

    /// The name of the file or, if that is not known, of the source that declares a tool.
    pub(crate) fn origin(&self, tool: &IndexedTool) -> String {
        let source = || self.sources.get(tool.source).map(|source| source.name.clone());
        tool.document.file.clone().or_else(source).unwrap_or_default()
    }

    /// The tools that a stem finds.
    pub(crate) fn postings(&self, stem: &str) -> &[Posting] {
        self.postings.get(&hash(stem)).map_or(&[], Vec::as_slice)
    }

    /// The positions of the sources that declare a type.
    pub(crate) fn sources_of_type(&self, name: &str) -> impl Iterator<Item = usize> {
        let sources = self.sources.iter().enumerate();
        sources.filter(move |(_, source)| source.types.contains_key(name)).map(|(at, _)| at)
    }

    /// The names of all types.
    pub(crate) fn type_names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().flat_map(|source| source.types.keys()).map(String::as_str)
    }

    /// A schema of a source with the definitions that it refers to. `None` if these are too many.
    pub(crate) fn with_defs(
        &self,
        source: usize,
        schema: &Value,
        own: Option<&Value>,
    ) -> Option<Value> {
        let types = self.sources.get(source).map(|source| &source.types);
        let mut names = Vec::new();
        let mut defs = serde_json::Map::new();
        if !references(schema, &mut names) {
            return None;
        }
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            if names.len() > MAX_CLOSURE_TYPES {
                return None;
            }
            let definition = own.and_then(|own| own.get(&name));
            let definition = definition.or_else(|| types?.get(&name))?;
            if !references(definition, &mut names) {
                return None;
            }
            defs.insert(name, definition.clone());
        }
        let mut whole = schema.clone();
        if let (false, Value::Object(keywords)) = (defs.is_empty(), &mut whole) {
            keywords.insert("$defs".to_owned(), Value::Object(defs));
        }
        Some(whole)
    }
}
