//! Patterns as regular languages: what all texts of a branch match, and texts that tell two schemas
//! apart.

use std::rc::Rc;

use serde_json::Value;

use super::branch::{Branch, KeywordMap, Term, types};
use super::prover::Prover;
use crate::keywords::name as k;
use crate::regular::{Automaton, CharSet, Found, Language, Regex, find_text};
use crate::type_set::TypeSet;

/// The most steps of the automata of one search.
const MAX_STEPS: usize = 200_000;

/// The number of steps of automata that cost as much as a look at a schema.
const STEPS_PER_SCHEMA: usize = 2;

/// The automata of a pattern.
#[derive(Debug)]
pub(super) struct PatternAutomata {
    /// Whether these are exactly the texts that match. Otherwise some are missing.
    exact: bool,
    /// A text that matches is matched by all of these,
    all_of: Vec<Automaton>,
    /// and by none of these.
    none_of: Vec<Automaton>,
}

impl PatternAutomata {
    /// `None` if the pattern is not regular or too large.
    fn of(pattern: &str) -> Option<Self> {
        let Language { texts, exact, all_of, none_of } = Language::of_ecma_pattern(pattern)?;
        let automata = |all: &[Regex]| all.iter().map(Automaton::of).collect::<Option<Vec<_>>>();
        let mut wanted = vec![Automaton::of(&texts)?];
        wanted.extend(automata(&all_of)?);
        Some(Self { exact, all_of: wanted, none_of: automata(&none_of)? })
    }
}

/// Conditions on texts.
#[derive(Debug, Default)]
struct Conditions {
    patterns: Vec<Rc<PatternAutomata>>,
    /// Other automata that match.
    more: Vec<Automaton>,
    /// Automata that do not match.
    others: Vec<Rc<PatternAutomata>>,
}

impl<'s> Prover<'s> {
    fn pattern_automata(&mut self, pattern: &str) -> Option<Rc<PatternAutomata>> {
        if let Some(known) = self.automata.get(pattern) {
            return known.clone();
        }
        let automata = PatternAutomata::of(pattern).map(Rc::new);
        self.automata.insert(pattern.to_owned(), automata.clone());
        automata
    }

    /// Conditions that all texts of a branch fulfil.
    fn conditions(&mut self, branch: &Branch<'s>) -> Conditions {
        let mut conditions = Conditions::default();
        let exact = |automata: &Rc<PatternAutomata>| automata.exact;
        for pattern in &branch.patterns {
            conditions.patterns.extend(self.pattern_automata(pattern).filter(exact));
        }
        for pattern in excluded(branch).filter_map(pattern_alone) {
            // A text is outside of a conjunction if it is outside of one part.
            let automata = self.pattern_automata(pattern);
            conditions
                .others
                .extend(automata.filter(|it| it.all_of.len() == 1 && it.none_of.is_empty()));
        }
        conditions
    }

    /// Searches a text that fulfils conditions, and matches some automata or does not.
    fn search(
        &mut self,
        conditions: &Conditions,
        matched: &[&Automaton],
        unmatched: &[&Automaton],
    ) -> Found {
        let mut all_of: Vec<&Automaton> =
            conditions.more.iter().chain(matched.iter().copied()).collect();
        all_of.extend(conditions.patterns.iter().flat_map(|it| &it.all_of));
        let mut none_of = unmatched.to_vec();
        none_of.extend(conditions.patterns.iter().flat_map(|it| &it.none_of));
        none_of.extend(conditions.others.iter().flat_map(|it| &it.all_of));
        let mut budget = MAX_STEPS;
        let found = find_text(&all_of, &none_of, &mut budget);
        if self.spend((MAX_STEPS - budget) / STEPS_PER_SCHEMA) { found } else { Found::GaveUp }
    }

    /// Searches a text of a branch that does not match a pattern.
    fn text_outside(&mut self, conditions: &Conditions, pattern: &PatternAutomata) -> Found {
        for wide in &pattern.all_of {
            match self.search(conditions, &[], &[wide]) {
                Found::Nothing => {}
                found => return found,
            }
        }
        for refused in &pattern.none_of {
            match self.search(conditions, &[refused], &[]) {
                Found::Nothing => {}
                found => return found,
            }
        }
        Found::Nothing
    }

    /// Whether it is proven that all texts of a branch match a pattern.
    pub(super) fn implies_pattern(&mut self, branch: &Branch<'s>, pattern: &str) -> bool {
        let Some(wide) = self.pattern_automata(pattern) else { return false };
        let mut conditions = self.conditions(branch);
        if self.text_outside(&conditions, &wide) == Found::Nothing {
            return true;
        }
        let Some(lengths) = lengths(branch) else { return false };
        conditions.more.push(lengths);
        self.text_outside(&conditions, &wide) == Found::Nothing
    }

    /// Whether it is proven that a branch has no texts, because its patterns exclude each other.
    pub(super) fn has_no_text(&mut self, branch: &Branch<'s>) -> bool {
        let mut conditions = self.conditions(branch);
        if conditions.patterns.is_empty() {
            return false;
        }
        conditions.more.extend(lengths(branch));
        self.search(&conditions, &[], &[]) == Found::Nothing
    }

    /// Texts of a branch that another one refuses because of a pattern.
    pub(super) fn distinguishing_texts(
        &mut self,
        branch: &Branch<'s>,
        other: &Branch<'s>,
    ) -> Vec<String> {
        let mut conditions = self.conditions(branch);
        conditions.more.extend(lengths(branch));
        let mut texts = Vec::new();
        for pattern in &other.patterns {
            let Some(wide) = self.pattern_automata(pattern) else { continue };
            if let Found::Text(text) = self.text_outside(&conditions, &wide) {
                texts.push(text);
            }
        }
        for pattern in excluded(other).filter_map(pattern_alone) {
            let Some(refused) = self.pattern_automata(pattern) else { continue };
            let refused: Vec<_> = refused.all_of.iter().collect();
            if let Found::Text(text) = self.search(&conditions, &refused, &[]) {
                texts.push(text);
            }
        }
        texts
    }
}

/// The schemas that no value of a branch fits.
pub(super) fn excluded<'b, 's>(
    branch: &'b Branch<'s>,
) -> impl Iterator<Item = &'s KeywordMap> + use<'b, 's> {
    branch.terms.iter().filter_map(|term| match term {
        Term::Ground(_, keywords) => keywords.get(k::NOT)?.as_object(),
        _ => None,
    })
}

/// The pattern of a schema that all texts fit which match the pattern.
fn pattern_alone(keywords: &KeywordMap) -> Option<&str> {
    let is_other = |(key, value): (&String, &Value)| match key.as_str() {
        k::PATTERN => false,
        k::TYPE => types(value).is_none_or(|types| !types.meets(TypeSet::STRING)),
        _ => true,
    };
    if keywords.iter().any(is_other) {
        return None;
    }
    keywords.get(k::PATTERN)?.as_str()
}

/// The automaton of the texts whose lengths a branch allows. `None` if it allows all, or has too many
/// states.
fn lengths(branch: &Branch<'_>) -> Option<Automaton> {
    let least = u32::try_from(branch.least).ok()?;
    // A bound that is out of reach is left out.
    let most = branch.most.and_then(|most| u32::try_from(most).ok());
    if least == 0 && most.is_none() {
        return None;
    }
    Automaton::of(&Regex::chars(CharSet::all()).repeat(least, most))
}
