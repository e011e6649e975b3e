//! The proof that one schema allows all that another one allows.
//!
//! The narrow side is read generously: as unions are decided one by one, what remains are
//! branches, one JSON type each, and a keyword that is not understood is left out, so that a
//! branch allows no less than the schema. The wide side is read strictly: each of its keywords has
//! to be proven. So a yes is a proof, and everything else is not known yet.
//!
//! Recursive schemas are compared by induction over the size of values: a pair that is met again
//! further down, inside of a value, may be taken for proven.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::branch::{Branch, JSON_TYPES, JsonType, KeywordMap, Term, key, types};
use super::document::{Dialect, Document, Side, leads_outside};
use super::languages::PatternAutomata;
use super::string_validators::StringValidators;
use crate::decimal::Decimal;
use crate::keywords::name as k;
use crate::pointer::escape_token;
use crate::type_set::TypeSet;

/// How many schemas are looked at before a question is given up. A tool of five parameters takes
/// about fifty, a list of 100,000 values as many.
const MAX_STEPS: usize = 1_000_000;

/// The most goals within each other. One level of a value takes two or three.
const MAX_OPEN_GOALS: usize = 192;

/// The maximum number of branches of a schema.
pub(super) const MAX_BRANCHES: usize = 1_024;

/// What is asked: terms, and the schema that should allow them, or none where the question is
/// whether any value fits.
type Question = (Vec<usize>, usize);

/// A query in progress.
#[derive(Debug)]
struct OpenQuestion {
    /// How far inside of the value it was asked.
    level: usize,
    at: usize,
}

/// Where a proof failed.
#[derive(Debug, Clone)]
pub(super) struct Doubt {
    /// The names on the way into the value.
    pub(super) path: Vec<String>,
    keyword: String,
}

/// The answer to a query. Its doubt is relative to where it was asked.
#[derive(Debug)]
struct Answer {
    proven: bool,
    doubt: Option<Doubt>,
}

/// A search for a proof.
#[derive(Debug)]
pub(super) struct Prover<'s> {
    documents: [Document<'s>; 2],
    pub(super) texts: StringValidators,
    /// The automata of patterns, as far as these are regular.
    pub(super) automata: HashMap<String, Option<Rc<PatternAutomata>>>,
    pub(super) indices: HashMap<usize, HashSet<String>>,
    steps: usize,
    depth: usize,
    level: usize,
    open: HashMap<Question, OpenQuestion>,
    answered: HashMap<Question, Answer>,
    /// The outermost open question that answers since then rely on.
    relied: usize,
    pub(super) path: Vec<String>,
    /// Where the proof failed first, and on what.
    doubt: Option<Doubt>,
    /// The reason why the search stopped.
    stopped: Option<String>,
}

impl<'s> Prover<'s> {
    pub(super) fn new(wide: Document<'s>, narrow: Document<'s>) -> Self {
        Self {
            documents: [wide, narrow],
            texts: StringValidators::default(),
            automata: HashMap::new(),
            indices: HashMap::new(),
            steps: 0,
            depth: 0,
            level: 0,
            open: HashMap::new(),
            answered: HashMap::new(),
            relied: usize::MAX,
            path: Vec::new(),
            doubt: None,
            stopped: None,
        }
    }

    pub(super) fn document(&self, side: Side) -> &Document<'s> {
        &self.documents[side as usize]
    }

    pub(super) fn dialect(&self, side: Side) -> Dialect {
        self.document(side).dialect
    }

    /// The reason why the search stopped, if it did.
    pub(super) fn stop_reason(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// Where the proof failed, and on which keyword.
    pub(super) fn doubt(&self) -> Option<(&[String], &str)> {
        self.doubt.as_ref().map(|doubt| (&*doubt.path, doubt.keyword.as_str()))
    }

    /// Counts work. False if the budget is spent.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS && self.stopped.is_none() {
            self.stopped = Some("there is too much to compare".to_owned());
        }
        self.stopped.is_none()
    }

    /// Enters one level of recursion. False if that is too deep or the budget is spent.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= MAX_OPEN_GOALS && self.stopped.is_none() {
            self.stopped = Some("the schemas nest too deep".to_owned());
        }
        let entered = self.spend(1);
        self.depth += usize::from(entered);
        entered
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Resets the budget.
    pub(super) fn refresh(&mut self) {
        (self.steps, self.depth, self.stopped) = (0, 0, None);
    }

    pub(super) fn fail(&mut self, keyword: &str) -> bool {
        if self.doubt.is_none() {
            self.doubt = Some(Doubt { path: self.path.clone(), keyword: keyword.to_owned() });
        }
        false
    }

    /// Notes where the proof that values fit one of several schemas came furthest.
    pub(super) fn doubt_deepest(
        &mut self,
        members: &'s [Value],
        mut proof: impl FnMut(&mut Self, &'s Value) -> bool,
    ) {
        let outer = self.doubt.take();
        let mut deepest: Option<Doubt> = None;
        for member in members {
            proof(self, member);
            let found = self.doubt.take();
            let depth = |doubt: &Option<Doubt>| doubt.as_ref().map_or(0, |it| it.path.len());
            if depth(&found) > depth(&deepest).max(self.path.len()) {
                deepest = found;
            }
        }
        self.doubt = outer.or(deepest);
    }

    /// Tries what may fail without that being remembered as the place where the proof failed.
    pub(super) fn attempt(&mut self, proof: impl FnOnce(&mut Self) -> bool) -> bool {
        let doubt = self.doubt.take();
        let proven = proof(self);
        self.doubt = doubt;
        proven
    }

    /// Asks about what is inside of the value: a property or an item.
    pub(super) fn inside(&mut self, part: &str, proof: impl FnOnce(&mut Self) -> bool) -> bool {
        self.path.push(escape_token(part).into_owned());
        self.level += 1;
        let proven = proof(self);
        self.level -= 1;
        self.path.pop();
        proven
    }

    /// Answers a question once; on the way to its answer it counts as answered inside of values.
    fn ask(&mut self, question: Question, proof: impl FnOnce(&mut Self) -> bool) -> bool {
        if let Some(OpenQuestion { level, at }) = self.open.get(&question) {
            // A pair that leads to itself without going into a value says nothing.
            let inside = *level < self.level;
            self.relied = self.relied.min(*at);
            return inside;
        }
        if let Some(Answer { proven, doubt }) = self.answered.get(&question) {
            if let (Some(doubt), None) = (doubt, &self.doubt) {
                let path = [&self.path[..], &doubt.path].concat();
                self.doubt = Some(Doubt { path, keyword: doubt.keyword.clone() });
            }
            return *proven;
        }
        if !self.enter() {
            return false;
        }
        let at = self.open.len();
        self.open.insert(question.clone(), OpenQuestion { level: self.level, at });
        let outer = std::mem::replace(&mut self.relied, usize::MAX);
        let outer_doubt = self.doubt.take();
        let proven = proof(self);
        let doubt = self.doubt.take().filter(|_| !proven);
        let relative = doubt.as_ref().map(|doubt| {
            let path = doubt.path.get(self.path.len()..).unwrap_or_default().to_vec();
            Doubt { path, keyword: doubt.keyword.clone() }
        });
        self.doubt = outer_doubt.or(doubt);
        self.open.remove(&question);
        let alone = self.relied >= at;
        self.relied = if alone { outer } else { outer.min(self.relied) };
        if alone && self.stopped.is_none() {
            self.answered.insert(question, Answer { proven, doubt: relative });
        }
        self.leave();
        proven && self.stopped.is_none()
    }

    /// Whether all that fits the terms fits a schema.
    pub(super) fn covers(&mut self, terms: &[Term<'s>], side: Side, wide: &'s Value) -> bool {
        if wide == &Value::Bool(true) {
            return true;
        }
        let question = (key(terms), std::ptr::from_ref(wide).addr());
        self.ask(question, |own| {
            let Some(branches) = own.branches(terms) else { return own.fail(k::ANY_OF) };
            branches.iter().all(|branch| own.covers_branch(branch, side, wide))
        })
    }

    fn covers_branch(&mut self, branch: &Branch<'s>, side: Side, wide: &'s Value) -> bool {
        let doubt = self.doubt.take();
        let proven = self.implies(branch, side, wide)
            || self.attempt(|own| own.is_empty(branch))
            || self.few_integers_implied(branch, side, wide);
        if proven || doubt.is_some() {
            self.doubt = doubt;
        }
        proven
    }

    /// Whether each of a few whole numbers fits.
    fn few_integers_implied(&mut self, branch: &Branch<'s>, side: Side, wide: &'s Value) -> bool {
        const FEW: i128 = 64;
        if branch.kind != JsonType::Number || !branch.integer {
            return false;
        }
        let (Some(low), Some(high)) = branch.whole_range() else { return false };
        high.saturating_sub(low) < FEW
            && (low..=high).all(|number| {
                let value = Decimal::whole(number).to_value();
                let out = |own: &mut Self, term| own.term_accepts(term, &value) == Some(false);
                branch.terms.iter().any(|term| out(self, term))
                    || self.schema_accepts(side, wide, &value) == Some(true)
            })
    }

    /// Whether no value fulfils the terms.
    pub(super) fn is_unsatisfiable(&mut self, terms: &[Term<'s>]) -> bool {
        self.ask((key(terms), 0), |own| {
            let Some(branches) = own.branches(terms) else { return false };
            branches.iter().all(|branch| own.is_empty(branch))
        })
    }

    /// Whether a branch has no values.
    pub(super) fn is_empty(&mut self, branch: &Branch<'s>) -> bool {
        if branch.values.as_ref().is_some_and(Vec::is_empty) {
            return true;
        }
        if branch.most.is_some_and(|most| most < branch.least) {
            return true;
        }
        match branch.kind {
            JsonType::Number => {
                let (Some(low), Some(high)) = (branch.low, branch.high) else { return false };
                let ends = low.at > high.at || (low.at == high.at && (low.open || high.open));
                let whole = match branch.whole_range() {
                    (Some(low), Some(high)) => branch.integer && low > high,
                    _ => false,
                };
                ends || whole
            }
            JsonType::Array => {
                let first = usize::try_from(branch.least).unwrap_or(usize::MAX);
                let first = first.min(branch.prefix.len() + 1);
                (0..first).any(|at| {
                    let item = branch.item(at);
                    !item.is_empty() && self.inside("", |own| own.is_unsatisfiable(item))
                })
            }
            JsonType::Object => branch.required.iter().any(|name| {
                let property = branch.property(name);
                self.is_misnamed(branch, name)
                    || (!property.is_empty()
                        && self.inside("", |own| own.is_unsatisfiable(property)))
            }),
            JsonType::String => self.has_no_text(branch),
            JsonType::Null | JsonType::Boolean => false,
        }
    }

    /// Whether an object cannot have a property because of its name.
    pub(super) fn is_misnamed(&mut self, branch: &Branch<'s>, name: &str) -> bool {
        let name = || Value::from(name);
        branch.names.iter().any(|term| self.term_accepts(term, &name()) == Some(false))
    }

    /// All branches of terms: their unions decided, one type each. `None` where there are too many.
    pub(super) fn branches(&mut self, terms: &[Term<'s>]) -> Option<Vec<Branch<'s>>> {
        let mut found = Vec::new();
        let mut states = vec![BranchState { pending: terms.to_vec(), ..BranchState::default() }];
        while let Some(mut state) = states.pop() {
            if found.len() + states.len() > MAX_BRANCHES || !self.spend(1) {
                return None;
            }
            if !self.flatten(&mut state) {
                continue;
            }
            if let Some((side, members)) = state.choices.pop() {
                for member in members.iter().rev() {
                    let mut chosen = state.clone();
                    chosen.pending.push(Term::Schema(side, member));
                    states.push(chosen);
                }
                continue;
            }
            for kind in JSON_TYPES {
                if state.kinds.meets(kind.types()) {
                    found.extend(self.branch(kind, &state, terms));
                }
            }
        }
        Some(found)
    }

    /// One branch, unless it lists its values and none is left.
    fn branch(
        &mut self,
        kind: JsonType,
        state: &BranchState<'s>,
        whole: &[Term<'s>],
    ) -> Option<Branch<'s>> {
        let documents = &self.documents;
        let dialect = |side| documents[side as usize].dialect;
        let mut branch = Branch::of(kind, state.terms.clone(), dialect);
        let own = branch.values.take();
        let listed = state.values.iter().min_by_key(|values| values.len()).cloned().or(own);
        if let Some(mut values) = listed {
            values.retain(|value| {
                JsonType::of(value) == kind
                    && !whole
                        .iter()
                        .chain(&state.terms)
                        .any(|term| self.term_accepts(term, value) == Some(false))
            });
            if values.is_empty() {
                return None;
            }
            branch.values = Some(values);
        }
        Some(branch)
    }

    /// Reads pending terms until only grounds and choices are left. False where nothing fits.
    fn flatten(&mut self, state: &mut BranchState<'s>) -> bool {
        while let Some(term) = state.pending.pop() {
            match &term {
                Term::Schema(_, Value::Bool(false)) => return false,
                Term::Schema(side, Value::Object(keywords)) => {
                    self.read(state, *side, keywords, false);
                    continue;
                }
                Term::Schema(..) => continue,
                Term::Ground(side, keywords) => {
                    self.read(state, *side, keywords, true);
                    continue;
                }
                Term::Type(kind) => state.kinds = state.kinds.and(kind.types()),
                Term::Literal(value) => {
                    state.kinds = state.kinds.and(JsonType::of(value).types());
                    state.values.push(vec![value]);
                }
                Term::Property(..) | Term::Present(_) => {}
            }
            state.terms.push(term);
        }
        state.kinds != TypeSet::NONE
    }

    /// Reads one schema's keywords into a state.
    fn read(
        &mut self,
        state: &mut BranchState<'s>,
        side: Side,
        keywords: &'s KeywordMap,
        ground: bool,
    ) {
        let document = &self.documents[side as usize];
        let place = (std::ptr::from_ref(keywords).addr(), ground);
        if document.is_foreign(keywords) || !state.seen.insert(place) || !self.spend(1) {
            return;
        }
        let document = &self.documents[side as usize];
        let reference = keywords.get(k::REF).and_then(Value::as_str);
        if let Some(reference) = reference.filter(|_| !ground) {
            match document.resolve(reference) {
                Some(target) => state.pending.push(Term::Schema(side, target)),
                None if leads_outside(reference) => {
                    let reason = "a schema refers to another document, which is not fetched";
                    self.stopped.get_or_insert_with(|| reason.to_owned());
                }
                None if reference.starts_with("#/") => {
                    let reason = format!("a schema refers to `{reference}`, which leads nowhere");
                    self.stopped.get_or_insert(reason);
                }
                // A name of a place, which says something that is not known here.
                None => {}
            }
        }
        if reference.is_some() && self.dialect(side) == Dialect::Draft7 {
            return;
        }
        let list = |key| keywords.get(key).and_then(Value::as_array);
        if !ground {
            let all = list(k::ALL_OF).into_iter().flatten();
            state.pending.extend(all.map(|schema| Term::Schema(side, schema)));
            for members in [list(k::ANY_OF), list(k::ONE_OF)].into_iter().flatten() {
                state.choices.push((side, members));
            }
        }
        if let Some(types) = keywords.get(k::TYPE).and_then(types) {
            state.kinds = state.kinds.and(types);
        }
        state.values.extend(keywords.get(k::CONST).map(|value| vec![value]));
        state.values.extend(list(k::ENUM).map(|values| values.iter().collect()));
        if let Some(values) = state.values.last() {
            let kinds = values.iter().map(|value| JsonType::of(value).types());
            state.kinds = state.kinds.and(kinds.fold(TypeSet::NONE, TypeSet::or));
        }
        state.terms.push(Term::Ground(side, keywords));
    }
}

/// Terms in progress.
#[derive(Debug, Clone)]
struct BranchState<'s> {
    pending: Vec<Term<'s>>,
    terms: Vec<Term<'s>>,
    seen: HashSet<(usize, bool)>,
    kinds: TypeSet,
    values: Vec<Vec<&'s Value>>,
    choices: Vec<(Side, &'s [Value])>,
}

impl Default for BranchState<'_> {
    fn default() -> Self {
        Self {
            pending: Vec::new(),
            terms: Vec::new(),
            seen: HashSet::new(),
            kinds: TypeSet::ALL,
            values: Vec::new(),
            choices: Vec::new(),
        }
    }
}
