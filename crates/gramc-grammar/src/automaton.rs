//! What can be proven of regular expressions by running them as automata.

use std::collections::HashSet;

use crate::char_set::CharSet;
use crate::regex::Regex;

/// The most states of an automaton. What needs more is not proven.
const MAX_STATES: usize = 4_000;

/// The most steps of single states. A proof that needs more is given up.
const MAX_STEPS: usize = 3_000_000;

/// Whether it is proven that all texts of one expression are texts of another one.
pub(crate) fn is_within(narrow: &Regex, wide: &Regex) -> bool {
    let automata = Automaton::of(narrow).zip(Automaton::of(wide));
    automata
        .is_some_and(|(narrow, wide)| narrow.is_proven_with(&wide, |narrow, wide| !narrow || wide))
}

/// Whether it is proven that no text matches both.
pub(crate) fn are_disjoint(one: &Regex, other: &Regex) -> bool {
    let automata = Automaton::of(one).zip(Automaton::of(other));
    automata.is_some_and(|(one, other)| one.is_disjoint_from(&other))
}

/// An automaton without deterministic steps. A state is an index.
pub(crate) struct Automaton {
    /// The states that each state leads to without a character.
    free: Vec<Vec<usize>>,
    /// The states that each state leads to with one.
    steps: Vec<Option<(CharSet, usize)>>,
    last: usize,
}

impl Automaton {
    /// `None` if it would be too large.
    pub(crate) fn of(regex: &Regex) -> Option<Self> {
        let mut automaton = Self { free: vec![Vec::new()], steps: vec![None], last: 0 };
        automaton.last = automaton.add(regex, 0)?;
        Some(automaton)
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut states = self.start();
        for c in text.chars() {
            states = self.step(&states, c);
            if states.is_empty() {
                return false;
            }
        }
        self.accepts(&states)
    }

    /// Whether it is proven that no text matches this one and another one.
    pub(crate) fn is_disjoint_from(&self, other: &Self) -> bool {
        self.is_proven_with(other, |one, other| !one || !other)
    }

    /// Whether a rule holds for each text that the first expression can begin: whether the texts
    /// match the two expressions.
    fn is_proven_with(&self, other: &Self, rule: impl Fn(bool, bool) -> bool) -> bool {
        let first = (self.start(), other.start());
        let mut seen = HashSet::from([first.clone()]);
        let mut open = vec![first];
        let mut steps = 0;
        while let Some((here, there)) = open.pop() {
            if !rule(self.accepts(&here), other.accepts(&there)) {
                return false;
            }
            let ranges = self.ranges(&here).chain(other.ranges(&there));
            // Between these, all characters lead to the same states.
            let mut starts: Vec<u32> =
                ranges.flat_map(|(first, last)| [first, last.saturating_add(1)]).collect();
            starts.sort_unstable();
            starts.dedup();
            for c in starts.into_iter().filter_map(char::from_u32) {
                let next = (self.step(&here, c), other.step(&there, c));
                steps += here.len() + there.len();
                if steps > MAX_STEPS {
                    return false;
                }
                if next.0.is_empty() || seen.contains(&next) {
                    continue;
                }
                seen.insert(next.clone());
                open.push(next);
            }
        }
        true
    }

    fn state(&mut self) -> Option<usize> {
        self.free.push(Vec::new());
        self.steps.push(None);
        (self.free.len() <= MAX_STATES).then_some(self.free.len() - 1)
    }

    /// Adds an expression after a state without steps, and returns the state after it.
    fn add(&mut self, regex: &Regex, from: usize) -> Option<usize> {
        match regex {
            Regex::Leaf(set) => {
                let to = self.state()?;
                self.steps[from] = Some((set.clone(), to));
                Some(to)
            }
            Regex::Seq(parts) => parts.iter().try_fold(from, |at, part| {
                let to = self.add(part, at)?;
                let next = self.state()?;
                self.free[to].push(next);
                Some(next)
            }),
            Regex::Alt(alternatives) => {
                let end = self.state()?;
                for alternative in alternatives {
                    let start = self.state()?;
                    self.free[from].push(start);
                    let to = self.add(alternative, start)?;
                    self.free[to].push(end);
                }
                Some(end)
            }
            Regex::Repeat(part, least, most) => {
                let mut at = from;
                for _ in 0..*least {
                    at = self.once(part, at)?;
                }
                let Some(most) = most else {
                    let to = self.once(part, at)?;
                    self.free[to].push(at);
                    let end = self.state()?;
                    self.free[at].push(end);
                    return Some(end);
                };
                let end = self.state()?;
                for _ in *least..*most {
                    self.free[at].push(end);
                    at = self.once(part, at)?;
                }
                self.free[at].push(end);
                Some(end)
            }
        }
    }

    fn once(&mut self, part: &Regex, from: usize) -> Option<usize> {
        let start = self.state()?;
        self.free[from].push(start);
        let to = self.add(part, start)?;
        let end = self.state()?;
        self.free[to].push(end);
        Some(end)
    }

    fn start(&self) -> Vec<usize> {
        self.close(vec![0])
    }

    fn accepts(&self, states: &[usize]) -> bool {
        states.contains(&self.last)
    }

    /// The states, and all that they lead to without a character.
    fn close(&self, mut open: Vec<usize>) -> Vec<usize> {
        let mut seen: HashSet<usize> = open.iter().copied().collect();
        while let Some(state) = open.pop() {
            open.extend(self.free[state].iter().copied().filter(|&next| seen.insert(next)));
        }
        let mut states: Vec<usize> = seen.into_iter().collect();
        states.sort_unstable();
        states
    }

    fn step(&self, states: &[usize], c: char) -> Vec<usize> {
        let next = states.iter().filter_map(|&state| {
            let (set, to) = self.steps[state].as_ref()?;
            set.contains(c).then_some(*to)
        });
        self.close(next.collect())
    }

    fn ranges<'a>(&'a self, states: &'a [usize]) -> impl Iterator<Item = (u32, u32)> + 'a {
        let sets = states.iter().filter_map(|&state| self.steps[state].as_ref());
        sets.flat_map(|(set, _)| set.ranges().iter().copied())
    }
}

/// Whether a text matches, which has to be decidable.
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
pub(crate) fn matches(regex: &Regex, text: &str) -> bool {
    Automaton::of(regex).unwrap().matches(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern;

    fn regex(text: &str) -> Regex {
        pattern::read(&format!("^(?:{text})$")).map_or(Regex::NEVER, |it| it.texts)
    }

    #[test]
    fn containment_is_proven_or_not() {
        for (narrow, wide, expected) in [
            ("abc", "[a-z]+", true),
            ("[a-z]{2,5}", "[a-z]+", true),
            ("[a-z]*", "[a-z]+", false),
            (r"\d{4}-\d{2}", ".{7}", true),
            ("a|b|cc", "[abc]{1,2}", true),
            ("é", "[^a-z]", true),
            ("(ab)*", "(a|b)*", true),
            ("(a|b)*", "(ab)*", false),
            ("a{5000}", "a*", false),
        ] {
            assert_eq!(is_within(&regex(narrow), &regex(wide)), expected, "{narrow} {wide}");
        }
        assert!(is_within(&Regex::NEVER, &regex("a")));
    }

    #[test]
    fn disjoint_expressions_share_no_text() {
        for (one, other, expected) in [
            ("a+", "b+", true),
            ("a*", "b*", false),
            ("[a-m]x", "[n-z]x", true),
            (r"\d+", "[0-9a-f]+", false),
            ("ab?", "a", false),
            (r"[^\s]+", " +", true),
        ] {
            assert_eq!(are_disjoint(&regex(one), &regex(other)), expected, "{one} {other}");
        }
    }
}
