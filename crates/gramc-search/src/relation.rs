//! How two types relate.

use std::collections::HashMap;

use gramc_json_schema::containment::{Containment, decide};
use serde_json::Value;

use crate::index::Index;
use crate::summary::Summary;

/// The most comparisons of schemas in a search. One takes about a millisecond.
const MAX_COMPARISONS: usize = 200;

/// The most bytes of two schemas that are compared.
const MAX_SCHEMA: usize = 20_000;

/// A type with what is needed to compare it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypeRef<'a> {
    pub(crate) summary: Summary,
    pub(crate) schema: &'a Value,
    /// The source whose types the schema refers to.
    pub(crate) source: usize,
    /// Definitions that belong to the schema alone.
    pub(crate) defs: Option<&'a Value>,
}

/// How the values of one type relate to those of another one, which takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Both have the same values.
    Same,
    /// All are values of the other type.
    Within,
    /// Some are, and the other type has no more.
    Wider,
    /// Some may be.
    Crossing,
    /// None are.
    Disjoint,
}

impl Relation {
    /// Whether every value is taken.
    pub(crate) fn is_contained(self) -> bool {
        matches!(self, Self::Same | Self::Within)
    }

    /// How good a match it is, from 0 to 1.
    pub(crate) fn score(self, wide: Summary) -> f32 {
        match self {
            Self::Same => 1.0,
            // What takes anything says nothing.
            Self::Within if wide.is_anything() => 0.4,
            Self::Within => 0.85,
            Self::Wider => 0.4,
            Self::Crossing => 0.15,
            Self::Disjoint => 0.0,
        }
    }
}

pub(crate) struct Comparer<'i> {
    index: &'i Index,
    /// By the identities of the types and their sources.
    known: HashMap<[(u64, usize); 2], Relation>,
    left: usize,
}

impl<'i> Comparer<'i> {
    pub(crate) fn new(index: &'i Index) -> Self {
        Self { index, known: HashMap::new(), left: MAX_COMPARISONS }
    }

    /// How the values of a type relate to one that takes them.
    pub(crate) fn relation(&mut self, narrow: TypeRef<'_>, wide: TypeRef<'_>) -> Relation {
        match narrow.summary.within(wide.summary) {
            Some(Relation::Same) if narrow.summary.refers && narrow.source != wide.source => {}
            Some(Relation::Crossing) => {
                let is_wider = wide.summary.within(narrow.summary) == Some(Relation::Within);
                return if is_wider { Relation::Wider } else { Relation::Crossing };
            }
            Some(relation) => return relation,
            None => {}
        }
        let key = [narrow, wide].map(|of| (of.summary.identity, of.source));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = self.compare(narrow, wide);
        self.known.insert(key, found);
        found
    }

    fn compare(&mut self, narrow: TypeRef<'_>, wide: TypeRef<'_>) -> Relation {
        let whole = |of: TypeRef<'_>| self.index.with_defs(of.source, of.schema, of.defs);
        let (Some(narrow), Some(wide)) = (whole(narrow), whole(wide)) else {
            return Relation::Crossing;
        };
        let size = narrow.to_string().len() + wide.to_string().len();
        if self.left == 0 || size > MAX_SCHEMA {
            return Relation::Crossing;
        }
        self.left -= 1;
        let is_within = |narrow: &Value, wide: &Value| decide(wide, narrow) == Containment::Proven;
        match (is_within(&narrow, &wide), is_within(&wide, &narrow)) {
            (true, true) => Relation::Same,
            (true, false) => Relation::Within,
            (false, true) => Relation::Wider,
            (false, false) => Relation::Crossing,
        }
    }
}
