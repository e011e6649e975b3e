//! Ranks tools.

use crate::assignment::assign;
use crate::hit::{Hit, MatchKind, rounded};
use crate::index::{Index, Record, ToolEntry};
use crate::query::Query;
use crate::relation::{Comparer, Relation, TypeRef};
use crate::resolved::{ResolvedQuery, ResolvedTerm, Resolver};
use crate::summary::{Estimate, Summary};
use crate::words::Analyzer;

/// How many tools are compared in full, for each hit that is wanted.
const CANDIDATES_PER_HIT: usize = 6;
/// The least number of tools that are compared in full.
const MIN_CANDIDATES: usize = 60;
/// The most.
const MAX_CANDIDATES: usize = 600;

/// How much the name of a parameter counts, and not its type.
const NAME_SHARE: f32 = 0.5;
/// What a missing parameter costs.
const MISSING_COST: f32 = 0.5;
/// What an optional parameter costs that the query does not supply.
const OPTIONAL_COST: f32 = 0.03;
/// How much words count where a query has types, too.
const WORDS_SHARE: f32 = 0.5;
/// The least score of a tool of which only some types match.
const MIN_PARTIAL: f32 = 0.2;

/// How the types of a tool match.
struct TypeMatch {
    score: f32,
    kind: MatchKind,
    missing: Vec<String>,
    unused: Vec<String>,
}

impl Index {
    /// The tools that match a query, best first, at most `limit`.
    pub fn search(&self, query: &Query, limit: usize) -> Vec<Hit> {
        let analyzer = Analyzer::new();
        let words = self.word_scores(query, &analyzer);
        let mut resolver = Resolver::new(self, query, &analyzer);
        let mut ranked: Vec<(f32, usize)> = (0..self.tools())
            .map(|tool| {
                let types = if query.has_signature() {
                    let entry = self.entry(tool);
                    self.estimate(&entry, &resolver.of(entry.source))
                } else {
                    0.0
                };
                (combined(query, words[tool], types), tool)
            })
            .filter(|(score, _)| *score > 0.0)
            .collect();
        let candidates = if query.has_signature() {
            (limit.saturating_mul(CANDIDATES_PER_HIT)).clamp(MIN_CANDIDATES, MAX_CANDIDATES)
        } else {
            limit
        };
        best(&mut ranked, candidates.max(limit));
        let mut comparer = Comparer::new(self);
        let mut hits: Vec<Hit> = ranked
            .into_iter()
            .filter_map(|(_, tool)| {
                let entry = self.entry(tool);
                let record = self.record(&entry)?;
                let resolved = resolver.of(entry.source);
                let types = query.has_signature().then(|| {
                    type_match(self, &mut comparer, &entry, &record, &resolved, &analyzer)
                });
                self.hit(query, words[tool], &entry, record, types)
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
        let unknown = self.unknown_types(query);
        if unknown.is_empty() {
            return Vec::new();
        }
        let known = self.type_names();
        let note = |name: &str| {
            let near = gram_model::did_you_mean(name, known.iter().map(String::as_str));
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            format!("no source declares the type `{name}`; searching for the word{near}")
        };
        unknown.into_iter().map(note).collect()
    }

    /// The types of a query that no source declares.
    fn unknown_types<'q>(&self, query: &'q Query) -> Vec<&'q str> {
        let unknown = query.type_names.iter().filter(|name| self.sources_of_type(name).is_empty());
        unknown.map(String::as_str).collect()
    }

    /// The stems of the words of a query, each once.
    pub(crate) fn stems(&self, query: &Query, analyzer: &Analyzer) -> Vec<String> {
        let mut stems = analyzer.stems(&query.words);
        for name in self.unknown_types(query) {
            stems.extend(analyzer.stems(name));
        }
        stems.sort_unstable();
        stems.dedup();
        stems
    }

    /// The score of each tool by the words of a query, from 0 to 1.
    pub(crate) fn word_scores(&self, query: &Query, analyzer: &Analyzer) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.tools()];
        for stem in &self.stems(query, analyzer) {
            for (tool, score) in self.postings(stem) {
                scores[tool] += score;
            }
        }
        let most = scores.iter().copied().fold(0.0, f32::max);
        if most > 0.0 {
            scores.iter_mut().for_each(|score| *score /= most);
        }
        scores
    }

    /// A guess of how the types of a tool match, by their summaries.
    fn estimate(&self, entry: &ToolEntry, query: &ResolvedQuery) -> f32 {
        let mut total = TypeTotal::default();
        let mut required = 0_usize;
        let mut found = 0_usize;
        for term in query.parameters.iter().flatten() {
            let mut most = 0.0_f32;
            for at in entry.parameters.clone() {
                let parameter = self.parameter(at);
                let name = if term.name_hash == parameter.name { 1.0 } else { 0.0 };
                let relation = guess(term, parameter.summary);
                most = most.max(pair_score(term, relation, parameter.summary, name));
            }
            found += usize::from(most > 0.0);
            total.add(most, term.weight());
        }
        for at in entry.parameters.clone() {
            required += usize::from(self.parameter(at).is_required);
        }
        total.missing(required.saturating_sub(found));
        if let Some(wanted) = &query.result {
            let relation = guess_result(wanted, entry.result);
            total.add_result(wanted, relation, entry.result);
        }
        total.score()
    }

    fn hit(
        &self,
        query: &Query,
        words: f32,
        entry: &ToolEntry,
        record: Record,
        types: Option<TypeMatch>,
    ) -> Option<Hit> {
        let types = types.unwrap_or_else(|| TypeMatch {
            score: 0.0,
            kind: MatchKind::Words,
            missing: Vec::new(),
            unused: Vec::new(),
        });
        if types.kind == MatchKind::Partial && words == 0.0 && types.score < MIN_PARTIAL {
            return None;
        }
        let score = combined(query, words, types.score);
        (score > 0.0).then(|| Hit {
            tool: record.name,
            source: record.file.unwrap_or_else(|| self.source_name(entry.source).to_owned()),
            score: rounded(score),
            kind: types.kind,
            signature: record.signature,
            missing: types.missing,
            unused: types.unused,
            description: record.description,
        })
    }
}

/// The score of a tool by words and types.
fn combined(query: &Query, words: f32, types: f32) -> f32 {
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

/// The sum of what matches, and the most that it could be.
#[derive(Default)]
struct TypeTotal {
    sum: f32,
    most: f32,
}

impl TypeTotal {
    fn add(&mut self, score: f32, weight: f32) {
        self.sum += score * weight;
        self.most += weight;
    }

    #[expect(clippy::cast_precision_loss, reason = "tools have few parameters")]
    fn missing(&mut self, count: usize) {
        self.most += count as f32 * MISSING_COST;
    }

    fn add_result(&mut self, wanted: &ResolvedTerm, relation: Relation, result: Summary) {
        let score = match relation {
            // A tool may return what is wanted without declaring it.
            Relation::Wider if result.is_anything() => 0.2,
            // Any result is wanted.
            Relation::Within if wanted.summary.is_anything() => 1.0,
            relation => relation.score(wanted.summary),
        };
        self.add(score, wanted.weight() * 1.5);
    }

    fn score(&self) -> f32 {
        if self.most > 0.0 { self.sum / self.most } else { 0.0 }
    }
}

/// How well a parameter takes a term of a query. `name` is the similarity of their names.
fn pair_score(term: &ResolvedTerm, relation: Relation, parameter: Summary, name: f32) -> f32 {
    if !term.has_type || term.is_unknown {
        return name;
    }
    let types = relation.score(parameter);
    if relation == Relation::Disjoint || (relation == Relation::Crossing && name == 0.0) {
        return 0.0;
    }
    if term.name.is_empty() { types } else { types * (1.0 - NAME_SHARE) + name * NAME_SHARE }
}

fn guess(term: &ResolvedTerm, parameter: Summary) -> Relation {
    match term.summary.within(parameter) {
        Estimate::Same => Relation::Same,
        Estimate::Contained => Relation::Within,
        Estimate::Overlapping | Estimate::Unknown => Relation::Wider,
        Estimate::Disjoint => Relation::Disjoint,
    }
}

fn guess_result(wanted: &ResolvedTerm, result: Summary) -> Relation {
    if wanted.is_unknown {
        return Relation::Disjoint;
    }
    match result.within(wanted.summary) {
        Estimate::Same => Relation::Same,
        Estimate::Contained => Relation::Within,
        Estimate::Overlapping | Estimate::Unknown => Relation::Wider,
        Estimate::Disjoint => Relation::Disjoint,
    }
}

/// How the types of a tool match those of a query.
fn type_match(
    index: &Index,
    comparer: &mut Comparer<'_>,
    entry: &ToolEntry,
    record: &Record,
    query: &ResolvedQuery,
    analyzer: &Analyzer,
) -> TypeMatch {
    let type_ref = |summary, schema| TypeRef {
        summary,
        schema,
        source: entry.source,
        defs: record.defs.as_ref(),
    };
    let parameters: Vec<_> = entry.parameters.clone().map(|at| index.parameter(at)).collect();
    let names: Vec<Vec<String>> =
        record.parameters.iter().map(|(name, _)| analyzer.name_stems(name)).collect();
    let terms = query.parameters.as_deref().unwrap_or_default();
    let mut relations = Vec::with_capacity(terms.len());
    for term in terms {
        let mut row = Vec::with_capacity(parameters.len());
        for ((parameter, (_, schema)), name) in
            parameters.iter().zip(&record.parameters).zip(&names)
        {
            let relation = match term.is_unknown {
                true => Relation::Crossing,
                false => comparer.relation(term.type_ref(), type_ref(parameter.summary, schema)),
            };
            let name = similarity(&term.name, name);
            row.push((relation, pair_score(term, relation, parameter.summary, name)));
        }
        relations.push(row);
    }
    let value = |(at, (relation, score)): (usize, &(Relation, f32))| {
        let fits = if relation.is_contained() { 0.5 } else { 0.0 };
        let required = if parameters[at].is_required { 0.3 } else { 0.0 };
        if *score > 0.0 { score + fits + required } else { 0.0 }
    };
    let values: Vec<Vec<f32>> =
        relations.iter().map(|row| row.iter().enumerate().map(value).collect()).collect();
    let assigned = assign(&values);
    let result = query.result.as_ref().map(|wanted| match wanted.is_unknown {
        true => Relation::Crossing,
        false => comparer.relation(type_ref(entry.result, &record.result), wanted.type_ref()),
    });
    let pairs = Pairs { terms, relations, assigned };
    outcome(&pairs, &parameters, entry, record, query, result)
}

/// The terms of a query and the parameters that take them.
struct Pairs<'q> {
    terms: &'q [ResolvedTerm],
    relations: Vec<Vec<(Relation, f32)>>,
    assigned: Vec<Option<usize>>,
}

fn outcome(
    pairs: &Pairs<'_>,
    parameters: &[crate::index::NamedSummary],
    entry: &ToolEntry,
    record: &Record,
    query: &ResolvedQuery,
    result: Option<Relation>,
) -> TypeMatch {
    let mut total = TypeTotal::default();
    let (mut missing, mut unused) = (Vec::new(), Vec::new());
    let (mut is_same, mut is_fit) = (true, true);
    let mut matches = 0;
    for ((term, row), assigned) in pairs.terms.iter().zip(&pairs.relations).zip(&pairs.assigned) {
        let pair = assigned.and_then(|at| row.get(at));
        if let Some((relation, score)) = pair {
            matches += 1;
            is_same &= *relation == Relation::Same && !term.is_unknown;
            is_fit &= relation.is_contained() || !term.has_type;
            total.add(*score, term.weight());
        } else {
            is_same = false;
            unused.push(term.label.clone());
            total.add(0.0, term.weight());
        }
    }
    for (at, parameter) in parameters.iter().enumerate() {
        if pairs.assigned.contains(&Some(at)) {
            continue;
        }
        is_same = false;
        if parameter.is_required {
            missing.extend(record.parameters.get(at).map(|(name, _)| name.clone()));
        } else {
            total.most += OPTIONAL_COST;
        }
    }
    total.missing(missing.len());
    if let (Some(relation), Some(wanted)) = (result, &query.result) {
        total.add_result(wanted, relation, entry.result);
        is_same &= relation == Relation::Same;
        is_fit &= relation.is_contained();
        matches += usize::from(!matches!(relation, Relation::Crossing | Relation::Disjoint));
    }
    let is_whole = query.parameters.is_some() && query.result.is_some();
    let is_known = !record.signature.is_empty();
    let kind = match () {
        () if is_same && is_whole && is_known => MatchKind::Exact,
        () if is_fit && missing.is_empty() && is_known => MatchKind::Fits,
        () if matches > 0 => MatchKind::Partial,
        () => MatchKind::Words,
    };
    let score = match kind {
        MatchKind::Words => 0.0,
        _ => total.score(),
    };
    TypeMatch { score, kind, missing, unused }
}

/// How similar two names are, from 0 to 1, by their words.
#[expect(clippy::cast_precision_loss, reason = "names have few words")]
pub(crate) fn similarity(a: &[String], b: &[String]) -> f32 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let common = a.iter().filter(|word| b.contains(word)).count() as f32;
    2.0 * common / (a.len() + b.len()) as f32
}
