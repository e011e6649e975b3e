//! The types of a query, as the sources declare them.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use crate::index::Index;
use crate::query::{Query, QueryTerm};
use crate::relation::TypeRef;
use crate::schema::take_defs;
use crate::summary::Summary;
use crate::words::Analyzer;

/// A query whose types are those of a source.
#[derive(Debug)]
pub(crate) struct ResolvedQuery {
    pub(crate) parameters: Option<Vec<ResolvedTerm>>,
    pub(crate) result: Option<ResolvedTerm>,
}

/// A parameter or the result of a query.
#[derive(Debug)]
pub(crate) struct ResolvedTerm {
    pub(crate) label: String,
    /// The stems of its name.
    pub(crate) name: Vec<String>,
    pub(crate) name_hash: u64,
    pub(crate) summary: Summary,
    schema: Value,
    source: usize,
    /// Whether the query says a type.
    pub(crate) has_type: bool,
    /// Whether the value may be absent.
    pub(crate) is_optional: bool,
    /// Whether no source declares its type.
    pub(crate) is_unknown: bool,
}

impl ResolvedTerm {
    pub(crate) fn type_ref(&self) -> TypeRef<'_> {
        TypeRef { summary: self.summary, schema: &self.schema, source: self.source, defs: None }
    }

    /// How much the term says, by how few tools have such a type or name.
    pub(crate) fn weight(&self) -> f32 {
        let name = if self.name.is_empty() { 0.0 } else { 0.5 };
        let ty = match self.summary {
            _ if !self.has_type || self.is_unknown => 0.3,
            summary if summary.is_anything() => 0.3,
            summary if !summary.is_plain => 1.5,
            _ => 1.0,
        };
        name + ty
    }
}

/// Resolves a query for each source that declares its types.
pub(crate) struct Resolver<'q> {
    index: &'q Index,
    query: &'q Query,
    analyzer: &'q Analyzer,
    /// The sources that declare most types of the query.
    sources: Vec<usize>,
    known: HashMap<usize, Rc<ResolvedQuery>>,
}

impl<'q> Resolver<'q> {
    pub(crate) fn new(index: &'q Index, query: &'q Query, analyzer: &'q Analyzer) -> Self {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for name in &query.type_names {
            for source in index.sources_of_type(name) {
                *counts.entry(source).or_default() += 1;
            }
        }
        let most = counts.values().max().copied().unwrap_or_default();
        let best = counts.into_iter().filter(|(_, count)| *count == most);
        let mut sources: Vec<usize> = best.map(|(source, _)| source).collect();
        sources.sort_unstable();
        Self { index, query, analyzer, sources, known: HashMap::new() }
    }

    /// The query for the tools of a source. Types mean what that source declares or, where it
    /// declares none of them, what the first other source does.
    pub(crate) fn of(&mut self, source: usize) -> Rc<ResolvedQuery> {
        let is_own = self.sources.binary_search(&source).is_ok();
        let chosen = if is_own { source } else { self.sources.first().copied().unwrap_or(0) };
        if let Some(known) = self.known.get(&chosen) {
            return Rc::clone(known);
        }
        let resolve = |term: &QueryTerm| self.term(term, chosen);
        let parameters = self.query.parameters.as_ref();
        let resolved = Rc::new(ResolvedQuery {
            parameters: parameters.map(|terms| terms.iter().map(resolve).collect()),
            result: self.query.result.as_ref().map(resolve),
        });
        self.known.insert(chosen, Rc::clone(&resolved));
        resolved
    }

    fn term(&self, term: &QueryTerm, source: usize) -> ResolvedTerm {
        let has_type = term.schema.is_some();
        let schema = term.schema.clone().unwrap_or(Value::Bool(true));
        let whole = self.index.with_defs(source, &schema, None);
        let is_unknown = whole.is_none();
        let mut whole = whole.unwrap_or(Value::Bool(true));
        let defs: HashMap<String, Value> = take_defs(&mut whole).into_iter().collect();
        let name = term.name.as_deref();
        ResolvedTerm {
            label: term.label(),
            name: name.map(|name| self.analyzer.name_stems(name)).unwrap_or_default(),
            name_hash: name.map_or(0, |name| self.analyzer.name_hash(name)),
            summary: Summary::of(&whole, &|name| defs.get(name)),
            schema: if is_unknown { Value::Bool(true) } else { schema },
            source,
            has_type,
            is_optional: term.is_optional,
            is_unknown,
        }
    }
}
