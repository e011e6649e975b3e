//! How the types of a tool match those of a query.

use serde_json::Value;

use crate::assignment::assign;
use crate::hit::MatchKind;
use crate::index::IndexedTool;
use crate::relation::{Comparer, Relation, TypeRef};
use crate::resolved::{ResolvedQuery, ResolvedTerm};
use crate::summary::Summary;
use crate::words::Analyzer;

/// How much the name of a parameter counts, and not its type.
const NAME_SHARE: f32 = 0.5;
/// What a missing parameter costs.
const MISSING_COST: f32 = 0.5;
/// What an optional parameter costs that the query does not supply.
const OPTIONAL_COST: f32 = 0.03;
/// How the types of a tool match.
#[derive(Default)]
pub(crate) struct TypeMatch {
    pub(crate) score: f32,
    pub(crate) kind: MatchKind,
    pub(crate) missing: Vec<String>,
    pub(crate) unused: Vec<String>,
}

/// The sum of what matches, and the most that it could be.
#[derive(Default)]
pub(crate) struct TypeTotal {
    sum: f32,
    most: f32,
}

impl TypeTotal {
    pub(crate) fn add(&mut self, score: f32, weight: f32) {
        self.sum += score * weight;
        self.most += weight;
    }

    #[expect(clippy::cast_precision_loss, reason = "tools have few parameters")]
    pub(crate) fn add_missing(&mut self, count: usize) {
        self.most += count as f32 * MISSING_COST;
    }

    pub(crate) fn add_result(
        &mut self,
        wanted: &ResolvedTerm,
        relation: Relation,
        result: Summary,
    ) {
        let score = match relation {
            // A tool may return what is wanted without declaring it.
            Relation::Wider if result.is_anything() => 0.2,
            // Any result is wanted.
            Relation::Within if wanted.summary.is_anything() => 1.0,
            relation => relation.score(wanted.summary),
        };
        self.add(score, wanted.weight() * 1.5);
    }

    pub(crate) fn score(&self) -> f32 {
        if self.most > 0.0 { self.sum / self.most } else { 0.0 }
    }
}

/// How well a parameter takes a term of a query. `name` is the similarity of their names.
pub(crate) fn pair_score(
    term: &ResolvedTerm,
    relation: Relation,
    parameter: Summary,
    name: f32,
) -> f32 {
    if !term.has_type || term.is_unknown {
        return name;
    }
    let types = relation.score(parameter);
    if relation == Relation::Disjoint || (relation == Relation::Crossing && name == 0.0) {
        return 0.0;
    }
    if term.name.is_empty() { types } else { types * (1.0 - NAME_SHARE) + name * NAME_SHARE }
}

/// How the values of one type relate to another one, by a guess.
pub(crate) fn guess(narrow: Summary, wide: Summary) -> Relation {
    let relation = narrow.within(wide).unwrap_or(Relation::Wider);
    if relation == Relation::Crossing { Relation::Wider } else { relation }
}

/// Matches the types of tools with those of queries.
pub(crate) struct TypeMatcher<'i> {
    pub(crate) comparer: Comparer<'i>,
    pub(crate) analyzer: &'i Analyzer,
}

impl TypeMatcher<'_> {
    /// How the types of a tool match those of a query.
    pub(crate) fn type_match(&mut self, tool: &IndexedTool, query: &ResolvedQuery) -> TypeMatch {
        let parameters = &tool.parameters;
        let terms = query.parameters.as_deref().unwrap_or_default();
        let relations = self.relations(terms, tool);
        let value = |(at, (relation, score)): (usize, &(Relation, f32))| {
            let fits = if relation.is_contained() { 0.5 } else { 0.0 };
            let required = if parameters[at].is_required { 0.3 } else { 0.0 };
            if *score > 0.0 { score + fits + required } else { 0.0 }
        };
        let values: Vec<Vec<f32>> =
            relations.iter().map(|row| row.iter().enumerate().map(value).collect()).collect();
        let assigned = assign(&values);
        let mut outcome =
            Outcome { is_same: true, is_fit: true, is_certain: true, ..Outcome::default() };
        for ((term, row), assigned) in terms.iter().zip(&relations).zip(&assigned) {
            outcome.term(term, assigned.and_then(|at| row.get(at)).copied());
            outcome.is_certain &= !term.is_optional
                || assigned.is_none_or(|at| parameters.get(at).is_some_and(|it| !it.is_required));
        }
        for (at, parameter) in parameters.iter().enumerate() {
            if !assigned.contains(&Some(at)) {
                outcome.add_unassigned(parameter.is_required, &parameter.name);
            }
        }
        if let Some(wanted) = &query.result {
            let relation = if wanted.is_unknown {
                Relation::Crossing
            } else {
                let own = type_ref(tool, tool.result_summary, &tool.document.result);
                self.comparer.relation(own, wanted.type_ref())
            };
            outcome.result(wanted, relation, tool.result_summary);
        }
        let is_whole = query.parameters.is_some() && query.result.is_some();
        outcome.finish(is_whole, !tool.document.signature.is_empty())
    }

    /// How each term of a query relates to each parameter of a tool, and how well it matches.
    fn relations(
        &mut self,
        terms: &[ResolvedTerm],
        tool: &IndexedTool,
    ) -> Vec<Vec<(Relation, f32)>> {
        let names: Vec<Vec<String>> =
            tool.parameters.iter().map(|it| self.analyzer.name_stems(&it.name)).collect();
        let mut relations = Vec::with_capacity(terms.len());
        for term in terms {
            let mut row = Vec::with_capacity(names.len());
            for (parameter, name) in tool.parameters.iter().zip(&names) {
                let relation = if term.is_unknown {
                    Relation::Crossing
                } else {
                    let own = type_ref(tool, parameter.summary, &parameter.schema);
                    self.comparer.relation(term.type_ref(), own)
                };
                let name = similarity(&term.name, name);
                row.push((relation, pair_score(term, relation, parameter.summary, name)));
            }
            relations.push(row);
        }
        relations
    }
}

fn type_ref<'t>(tool: &'t IndexedTool, summary: Summary, schema: &'t Value) -> TypeRef<'t> {
    TypeRef { summary, schema, source: tool.source, defs: tool.defs.as_ref() }
}

/// The outcome of matching the parts of a tool.
#[derive(Default)]
struct Outcome {
    total: TypeTotal,
    is_same: bool,
    is_fit: bool,
    /// Whether what a parameter requires is always there.
    is_certain: bool,
    matches: usize,
    missing: Vec<String>,
    unused: Vec<String>,
}

impl Outcome {
    /// Adds a term of the query and, if a parameter takes it, how well.
    fn term(&mut self, term: &ResolvedTerm, pair: Option<(Relation, f32)>) {
        if let Some((relation, score)) = pair {
            self.matches += 1;
            self.is_same &= relation == Relation::Same && !term.is_unknown;
            self.is_fit &= relation.is_contained() || !term.has_type;
            self.total.add(score, term.weight());
        } else {
            self.is_same = false;
            self.unused.push(term.label.clone());
            self.total.add(0.0, term.weight());
        }
    }

    /// Adds a parameter that takes no term.
    fn add_unassigned(&mut self, is_required: bool, name: &str) {
        self.is_same = false;
        if is_required {
            self.missing.push(name.to_owned());
        } else {
            self.total.most += OPTIONAL_COST;
        }
    }

    fn result(&mut self, wanted: &ResolvedTerm, relation: Relation, result: Summary) {
        self.total.add_result(wanted, relation, result);
        self.is_same &= relation == Relation::Same;
        self.is_fit &= relation.is_contained();
        self.matches += usize::from(!matches!(relation, Relation::Crossing | Relation::Disjoint));
    }

    /// `is_whole` is whether the query has parameters and a result, and `is_known` whether the
    /// signature of the tool is known.
    fn finish(mut self, is_whole: bool, is_known: bool) -> TypeMatch {
        self.total.add_missing(self.missing.len());
        let is_certain = self.is_certain && is_known;
        let kind = if self.is_same && is_certain && is_whole {
            MatchKind::Exact
        } else if self.is_fit && is_certain && self.missing.is_empty() {
            MatchKind::Fits
        } else if self.matches > 0 {
            MatchKind::Partial
        } else {
            MatchKind::Words
        };
        let score = if kind == MatchKind::Words { 0.0 } else { self.total.score() };
        TypeMatch { score, kind, missing: self.missing, unused: self.unused }
    }
}

/// How similar two names are, from 0 to 1, by their words.
#[expect(clippy::cast_precision_loss, reason = "names have few words")]
fn similarity(a: &[String], b: &[String]) -> f32 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let common = a.iter().filter(|word| b.contains(word)).count() as f32;
    2.0 * common / (a.len() + b.len()) as f32
}
