//! Ranks tools.

use crate::hit::{Hit, MatchKind};
use crate::index::{Index, IndexedTool, Posting};
use crate::query::Query;
use crate::relation::{Comparer, Relation};
use crate::resolved::{ResolvedQuery, Resolver};
use crate::type_match::{TypeMatch, TypeMatcher, TypeTotal, guess, pair_score};
use crate::words::Analyzer;

/// How many tools are compared in full, for each hit that is wanted.
const CANDIDATES_PER_HIT: usize = 6;
/// The least number of tools that are compared in full.
const MIN_CANDIDATES: usize = 200;
/// The most.
const MAX_CANDIDATES: usize = 600;

/// How much words count where a query has types, too.
const WORDS_SHARE: f32 = 0.5;
/// The least score of a tool of which only some types match.
const MIN_PARTIAL: f32 = 0.2;

impl Index {
    /// The tools that match a query, best first, at most `limit`.
    pub fn search(&self, query: &Query, limit: usize) -> Vec<Hit> {
        let analyzer = Analyzer::default();
        let words = self.word_scores(query, &analyzer);
        let mut resolver = Resolver::new(self, query, &analyzer);
        let mut ranked: Vec<(f32, usize)> = self
            .tools
            .iter()
            .enumerate()
            .map(|(at, tool)| {
                let types = if query.has_signature() {
                    estimate(tool, &resolver.of(tool.source))
                } else {
                    0.0
                };
                (combine_scores(query, words[at], types), at)
            })
            .filter(|(score, _)| *score > 0.0)
            .collect();
        let candidates = if query.has_signature() {
            (limit.saturating_mul(CANDIDATES_PER_HIT)).clamp(MIN_CANDIDATES, MAX_CANDIDATES)
        } else {
            limit
        };
        best(&mut ranked, candidates.max(limit));
        let mut matcher = TypeMatcher { comparer: Comparer::new(self), analyzer: &analyzer };
        let mut hits: Vec<Hit> = ranked
            .into_iter()
            .filter_map(|(_, at)| {
                let tool = &self.tools[at];
                let resolved = resolver.of(tool.source);
                let types = query.has_signature().then(|| matcher.type_match(tool, &resolved));
                self.hit(query, words[at], tool, types)
            })
            .collect();
        hits.sort_by(|a, b| {
            let order = b.score.total_cmp(&a.score).then(a.kind.cmp(&b.kind));
            order.then_with(|| a.tool.cmp(&b.tool)).then_with(|| a.source.cmp(&b.source))
        });
        hits.truncate(limit);
        hits
    }

    /// The notes about the types of a query that no source declares. These count as words.
    pub fn notes(&self, query: &Query) -> Vec<String> {
        let note = |name: &str| {
            let near = gramc_model::did_you_mean(name, self.type_names());
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            format!("no source declares the type `{name}`; searching for the word{near}")
        };
        self.unknown_types(query).map(note).collect()
    }

    /// The types of a query that no source declares.
    fn unknown_types<'q>(&self, query: &'q Query) -> impl Iterator<Item = &'q str> {
        let names = query.type_names.iter().map(String::as_str);
        names.filter(|name| self.sources_of_type(name).next().is_none())
    }

    /// The stems of the words of a query, each once.
    fn stems(&self, query: &Query, analyzer: &Analyzer) -> Vec<String> {
        let mut stems = analyzer.stems(&query.words);
        for name in self.unknown_types(query) {
            stems.extend(analyzer.stems(name));
        }
        stems.sort_unstable();
        stems.dedup();
        stems
    }

    /// The score of each tool by the words of a query, from 0 to 1.
    fn word_scores(&self, query: &Query, analyzer: &Analyzer) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.tools()];
        for stem in &self.stems(query, analyzer) {
            for Posting { tool, score } in self.postings(stem) {
                scores[*tool] += score;
            }
        }
        let most = scores.iter().copied().fold(0.0, f32::max);
        if most > 0.0 {
            for score in &mut scores {
                *score /= most;
            }
        }
        scores
    }

    fn hit(
        &self,
        query: &Query,
        words: f32,
        tool: &IndexedTool,
        types: Option<TypeMatch>,
    ) -> Option<Hit> {
        let types = types.unwrap_or_default();
        if types.kind == MatchKind::Partial && words == 0.0 && types.score < MIN_PARTIAL {
            return None;
        }
        let score = combine_scores(query, words, types.score);
        (score > 0.0).then(|| Hit {
            tool: tool.document.name.clone(),
            source: self.origin(tool),
            score: (score * 1000.0).round() / 1000.0,
            kind: types.kind,
            signature: tool.document.signature.clone(),
            missing: types.missing,
            unused: types.unused,
            description: tool.document.description.clone(),
        })
    }
}

/// A guess of how the types of a tool match, by their summaries.
fn estimate(tool: &IndexedTool, query: &ResolvedQuery) -> f32 {
    let mut total = TypeTotal::default();
    let mut found = 0_usize;
    for term in query.parameters.iter().flatten() {
        let mut most = 0.0_f32;
        for parameter in &tool.parameters {
            let name = if term.name_hash == parameter.name_hash { 1.0 } else { 0.0 };
            let relation = guess(term.summary, parameter.summary);
            most = most.max(pair_score(term, relation, parameter.summary, name));
        }
        found += usize::from(most > 0.0);
        total.add(most, term.weight());
    }
    let required = tool.parameters.iter().filter(|parameter| parameter.is_required).count();
    total.add_missing(required.saturating_sub(found));
    if let Some(wanted) = &query.result {
        let relation = if wanted.is_unknown {
            Relation::Disjoint
        } else {
            guess(tool.result_summary, wanted.summary)
        };
        total.add_result(wanted, relation, tool.result_summary);
    }
    total.score()
}

/// The score of a tool by words and types.
fn combine_scores(query: &Query, words: f32, types: f32) -> f32 {
    match (query.words.is_empty(), query.has_signature()) {
        (_, false) => words,
        // A type that is not declared is a word.
        (true, true) => types + (1.0 - types) * words * 0.3,
        (false, true) => words * WORDS_SHARE + types * (1.0 - WORDS_SHARE),
    }
}

/// Keeps the best `count` of the ranked tools, in order.
fn best(ranked: &mut Vec<(f32, usize)>, count: usize) {
    let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count < ranked.len() {
        ranked.select_nth_unstable_by(count, order);
        ranked.truncate(count);
    }
    ranked.sort_unstable_by(order);
}
