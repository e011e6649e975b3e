//! Plans chains from their last step to their first one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::index::{Index, NamedSummary, Record};
use crate::producers::{Need, Producers};
use crate::query::Query;
use crate::relation::{Comparer, Relation, TypeRef};
use crate::resolved::{ResolvedTerm, Resolver};
use crate::summary::Estimate;
use crate::type_match::similarity;
use crate::words::Analyzer;

/// The most tools that may end a chain.
const MAX_GOALS: usize = 60;

/// The most plans that are kept after each step.
const MAX_PLANS: usize = 200;

/// Where the value of a parameter comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    /// A term of the query.
    Query(usize),
    /// A part of the result of another step of the plan.
    Step { step: usize, output: usize },
    /// Nothing supplies it.
    Missing,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(crate) struct PlanStep {
    pub(crate) tool: usize,
    /// The required parameters, and others that are supplied.
    pub(crate) arguments: Vec<(usize, Argument)>,
}

/// A chain, the last step first.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<PlanStep>,
    /// How well the last step does what is wanted.
    goal: f32,
    pub(crate) score: f32,
}

/// What is known of a tool.
pub(crate) struct PlannedTool {
    pub(crate) record: Record,
    pub(crate) source: String,
    parameters: Vec<NamedSummary>,
    outputs: Vec<NamedSummary>,
    needs: Vec<Need>,
    /// For each parameter, the term of the query that supplies it, and how well.
    terms: Vec<Option<(usize, f32)>>,
}

/// Plans chains for a query.
pub(crate) struct Planner<'i> {
    index: &'i Index,
    query: &'i Query,
    max_steps: usize,
    analyzer: &'i Analyzer,
    /// For each word of the query, the tools that it finds, with scores from 0 to 1.
    words: Vec<(f32, HashMap<usize, f32>)>,
    resolver: RefCell<Resolver<'i>>,
    tools: RefCell<HashMap<usize, Rc<PlannedTool>>>,
    /// The score of each tool by words.
    scores: Vec<f32>,
    producers: Producers<'i>,
}

impl<'i> Planner<'i> {
    #[expect(clippy::cast_precision_loss, reason = "scores need no precision")]
    pub(crate) fn new(
        index: &'i Index,
        query: &'i Query,
        analyzer: &'i Analyzer,
        max_steps: usize,
    ) -> Self {
        let mut words = Vec::new();
        for stem in index.stems(query, analyzer) {
            let mut found: HashMap<usize, f32> = index.postings(&stem).collect();
            let most = found.values().copied().fold(0.0, f32::max);
            if most > 0.0 {
                // Having a word counts for more than having it often.
                for score in found.values_mut() {
                    *score = (*score / most).sqrt();
                }
                let rarity = (1.0 + index.tools() as f32 / found.len() as f32).ln();
                words.push((rarity, found));
            }
        }
        let scores = index.word_scores(query, analyzer);
        let merits = scores.iter().map(|score| score * 0.6).collect();
        let producers = Producers::new(index, analyzer, merits);
        let resolver = RefCell::new(Resolver::new(index, query, analyzer));
        let tools = RefCell::default();
        Self { index, query, max_steps, analyzer, words, resolver, tools, scores, producers }
    }

    /// Plans of at least two steps, best first.
    pub(crate) fn plans(&mut self, limit: usize) -> Vec<Plan> {
        let mut open = self.goals();
        let mut found: Vec<Plan> = Vec::new();
        for _ in 1..self.max_steps {
            let mut next = Vec::new();
            for plan in &open {
                self.extend(plan, &mut next);
            }
            sort(&mut next);
            next.truncate(MAX_PLANS.max(limit));
            found.extend(next.iter().cloned());
            open = next;
        }
        sort(&mut found);
        found
    }

    pub(crate) fn label(&self, term: usize) -> String {
        let term = self.query.parameters.iter().flatten().nth(term);
        term.map(crate::query::QueryTerm::label).unwrap_or_default()
    }

    pub(crate) fn tool(&self, tool: usize) -> Rc<PlannedTool> {
        if let Some(known) = self.tools.borrow().get(&tool) {
            return Rc::clone(known);
        }
        let planned = Rc::new(self.read(tool));
        self.tools.borrow_mut().insert(tool, Rc::clone(&planned));
        planned
    }

    fn read(&self, tool: usize) -> PlannedTool {
        let entry = self.index.entry(tool);
        let record = self.index.record(&entry).unwrap_or_else(Record::empty);
        let parameters: Vec<_> =
            entry.parameters.clone().map(|at| self.index.parameter(at)).collect();
        let resolved = self.resolver.borrow_mut().of(entry.source);
        let terms = resolved.parameters.as_deref().unwrap_or_default();
        let mut needs = Vec::new();
        let mut supplies = Vec::new();
        for (at, (parameter, (name, _))) in parameters.iter().zip(&record.parameters).enumerate() {
            needs.push(Need::new(self.analyzer, &record.name, name, *parameter));
            let stems = self.analyzer.name_stems(name);
            for (term, resolved) in terms.iter().enumerate() {
                supplies.push((at, term, supply(resolved, *parameter, &stems)));
            }
        }
        let source = record.file.clone();
        PlannedTool {
            source: source.unwrap_or_else(|| self.index.source_name(entry.source).to_owned()),
            outputs: entry.outputs.clone().map(|at| self.index.output(at)).collect(),
            parameters,
            needs,
            terms: assigned(supplies, record.parameters.len()),
            record,
        }
    }

    /// Plans of one step: tools that give what is wanted, or whose words match.
    fn goals(&self) -> Vec<Plan> {
        let mut goals: Vec<(f32, usize)> =
            (0..self.index.tools()).filter_map(|tool| Some((self.goal(tool)?, tool))).collect();
        goals.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        goals.truncate(MAX_GOALS);
        let mut comparer = Comparer::new(self.index);
        let mut plans = Vec::new();
        for (goal, tool) in goals {
            let goal = goal * self.result_share(tool, &mut comparer);
            let steps = vec![first_arguments(tool, &self.tool(tool))];
            let mut plan = Plan { steps, goal, score: 0.0 };
            plan.score = self.score(&plan);
            plans.push(plan);
        }
        sort(&mut plans);
        plans
    }

    /// How well a tool does what is wanted, by a guess. `None` if it does not.
    fn goal(&self, tool: usize) -> Option<f32> {
        let words = self.scores[tool];
        let entry = self.index.entry(tool);
        let query = self.resolver.borrow_mut().of(entry.source);
        let result = match &query.result {
            Some(wanted) if !wanted.is_unknown && !wanted.summary.is_anything() => {
                match entry.result.within(wanted.summary) {
                    Estimate::Same => 1.0,
                    Estimate::Contained => 0.9,
                    Estimate::Unknown => 0.6,
                    Estimate::Overlapping | Estimate::Disjoint => return None,
                }
            }
            _ => words,
        };
        let goal = if self.words.is_empty() { result } else { result * 0.6 + words * 0.4 };
        (goal > 0.0).then_some(goal)
    }

    /// How much of a goal is left once the result of a tool is compared with the one that is wanted.
    fn result_share(&self, tool: usize, comparer: &mut Comparer<'_>) -> f32 {
        let entry = self.index.entry(tool);
        let query = self.resolver.borrow_mut().of(entry.source);
        let planned = self.tool(tool);
        let Some(wanted) = query.result.as_ref().filter(|wanted| !wanted.is_unknown) else {
            return 1.0;
        };
        let result = TypeRef {
            summary: entry.result,
            schema: &planned.record.result,
            source: entry.source,
            defs: planned.record.defs.as_ref(),
        };
        match comparer.relation(result, wanted.type_ref()) {
            Relation::Same | Relation::Within => 1.0,
            Relation::Wider => 0.6,
            Relation::Crossing | Relation::Disjoint => 0.3,
        }
    }

    /// Adds plans with one more step before those of a plan.
    fn extend(&mut self, plan: &Plan, next: &mut Vec<Plan>) {
        let mut tried: Vec<usize> = plan.steps.iter().map(|step| step.tool).collect();
        for step in &plan.steps {
            let consumer = self.tool(step.tool);
            for (parameter, argument) in &step.arguments {
                let is_weak = match argument {
                    Argument::Missing => true,
                    // A term without the name of the parameter may be for an earlier step.
                    Argument::Query(_) => {
                        consumer.terms[*parameter].is_some_and(|(_, score)| score < 0.7)
                    }
                    Argument::Step { .. } => false,
                };
                if !is_weak {
                    continue;
                }
                for producer in self.producers.of(&consumer.needs[*parameter]) {
                    if !tried.contains(&producer.tool) {
                        tried.push(producer.tool);
                        let extended = self.with_step(plan, producer.tool);
                        next.extend(extended);
                    }
                }
            }
        }
    }

    /// A plan with a tool before its steps, which supplies what it can.
    fn with_step(&self, plan: &Plan, tool: usize) -> Option<Plan> {
        let producer = self.tool(tool);
        let mut extended = plan.clone();
        let at = extended.steps.len();
        let mut feeds = 0;
        for step in &mut extended.steps {
            let consumer = self.tool(step.tool);
            for (parameter, argument) in &mut step.arguments {
                let least = match argument {
                    Argument::Missing => 0.35,
                    Argument::Query(_) => {
                        consumer.terms[*parameter].map_or(1.0, |(_, score)| score.max(0.35))
                    }
                    Argument::Step { .. } => continue,
                };
                let need = &consumer.needs[*parameter];
                let links = producer.outputs.iter().enumerate();
                let links =
                    links.map(|(at, output)| (at, need.link(*output, &self.producers.generic)));
                // Of equal links the first one is nearest to the root.
                let best = links.rev().max_by(|a, b| a.1.total_cmp(&b.1));
                if let Some((output, link)) = best
                    && link >= least
                {
                    *argument = Argument::Step { step: at, output };
                    feeds += 1;
                }
            }
        }
        if feeds == 0 {
            return None;
        }
        extended.steps.push(first_arguments(tool, &producer));
        extended.score = self.score(&extended);
        Some(extended)
    }

    #[expect(clippy::cast_precision_loss, reason = "plans are small")]
    fn score(&self, plan: &Plan) -> f32 {
        let (mut required, mut missing) = (0_usize, 0_usize);
        let mut quality = 0.0;
        let mut used = Vec::new();
        for step in &plan.steps {
            let tool = self.tool(step.tool);
            for (parameter, argument) in &step.arguments {
                required += 1;
                match argument {
                    Argument::Missing => missing += 1,
                    Argument::Query(term) => {
                        used.push(*term);
                        quality += tool.terms[*parameter].map_or(0.0, |(_, score)| score);
                    }
                    Argument::Step { step, output } => {
                        let from = self.tool(plan.steps[*step].tool);
                        let output = from.outputs.get(*output);
                        quality += output.map_or(0.0, |output| {
                            tool.needs[*parameter].link(*output, &self.producers.generic)
                        });
                    }
                }
            }
        }
        used.sort_unstable();
        used.dedup();
        let coverage = if required == 0 { 1.0 } else { quality / required as f32 };
        let terms = self.query.parameters.as_ref().map_or(0, Vec::len);
        let unused = (terms - used.len().min(terms)) as f32 / terms.max(1) as f32;
        let words = self.word_coverage(plan);
        let long = plan.steps.len().saturating_sub(2) as f32;
        let score = if self.words.is_empty() {
            0.5 * plan.goal + 0.5 * coverage
        } else {
            let merit = plan.steps.iter().map(|step| self.scores[step.tool]).sum::<f32>();
            let merit = merit / plan.steps.len() as f32;
            0.15 * plan.goal + 0.3 * coverage + 0.35 * words + 0.2 * merit
        };
        let costs = 0.1 * long + 0.03 * missing as f32 + 0.2 * unused + self.risk(plan);
        (score - costs).clamp(0.0, 1.0)
    }

    /// What it costs that steps before the last one may change something, and that steps are of
    /// different sources.
    fn risk(&self, plan: &Plan) -> f32 {
        let Some((last, before)) = plan.steps.split_first() else { return 0.0 };
        let last = self.index.entry(last.tool).source;
        let of = |step: &PlanStep| {
            let changes = if self.tool(step.tool).record.read_only { 0.0 } else { 0.05 };
            let foreign = if self.index.entry(step.tool).source == last { 0.0 } else { 0.05 };
            changes + foreign
        };
        before.iter().map(of).sum()
    }

    /// How much of the words of the query the tools of a plan have together, from 0 to 1.
    fn word_coverage(&self, plan: &Plan) -> f32 {
        let (mut sum, mut most) = (0.0, 0.0);
        for (weight, found) in &self.words {
            let scores = plan.steps.iter().filter_map(|step| found.get(&step.tool)).copied();
            sum += weight * scores.fold(0.0, f32::max);
            most += weight;
        }
        if most > 0.0 { sum / most } else { 0.0 }
    }
}

/// The term that supplies each parameter, and how well. A term is the value of one parameter: the one
/// that it supplies best. `supplies` are parameters, terms and scores.
fn assigned(
    mut supplies: Vec<(usize, usize, f32)>,
    parameters: usize,
) -> Vec<Option<(usize, f32)>> {
    supplies.retain(|(.., score)| *score > 0.0);
    supplies.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    let mut found = vec![None; parameters];
    let mut used = Vec::new();
    for (parameter, term, score) in supplies {
        if found[parameter].is_none() && !used.contains(&term) {
            found[parameter] = Some((term, score));
            used.push(term);
        }
    }
    found
}

fn sort(plans: &mut [Plan]) {
    let tools = |plan: &Plan| plan.steps.iter().map(|step| step.tool).collect::<Vec<_>>();
    plans.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| tools(a).cmp(&tools(b))));
}

/// A call whose arguments come from the query alone.
fn first_arguments(tool: usize, planned: &PlannedTool) -> PlanStep {
    let mut arguments = Vec::new();
    for (at, (parameter, term)) in planned.parameters.iter().zip(&planned.terms).enumerate() {
        match term {
            Some((term, score)) if parameter.is_required || *score > 0.9 => {
                arguments.push((at, Argument::Query(*term)));
            }
            _ if parameter.is_required => arguments.push((at, Argument::Missing)),
            _ => {}
        }
    }
    PlanStep { tool, arguments }
}

/// Whether different names have only such words in common that many names have.
fn is_generic(a: &[String], b: &[String]) -> bool {
    const WORDS: [&str; 5] = ["id", "name", "key", "number", "code"];
    a != b && a.iter().filter(|word| b.contains(word)).all(|word| WORDS.contains(&word.as_str()))
}

/// How well a term of the query supplies a parameter, from 0 to 1.
fn supply(term: &ResolvedTerm, parameter: NamedSummary, stems: &[String]) -> f32 {
    let name = if is_generic(&term.name, stems) { 0.0 } else { similarity(&term.name, stems) };
    if !term.has_type || term.is_unknown {
        return name;
    }
    let types = match term.summary.within(parameter.summary) {
        Estimate::Same => 1.0,
        Estimate::Contained if parameter.summary.is_anything() => 0.5,
        Estimate::Contained => 0.9,
        Estimate::Unknown => 0.6,
        Estimate::Overlapping => 0.5,
        Estimate::Disjoint => return 0.0,
    };
    if !term.name.is_empty() {
        // Names that have nothing in common are of different things.
        let other = if parameter.summary.is_specific() { 0.4 } else { 0.0 };
        return types * if name > 0.0 { 0.6 + 0.4 * name } else { other };
    }
    if parameter.summary.is_specific() { types * 0.9 } else { types * 0.6 }
}
