//! Proofs and counterexamples for regular expressions, by running them as automata.

use std::collections::{HashSet, VecDeque};

use super::char_set::CharSet;
use super::regex::Regex;

/// The most states of an automaton. Larger expressions have none.
const MAX_STATES: usize = 4_000;

/// The most steps of single states for one proof.
const MAX_STEPS: usize = 3_000_000;

/// The characters that texts consist of, if several lead to the same states: the plainest first.
const PLAIN: [(char, char); 6] =
    [('a', 'z'), ('A', 'Z'), ('0', '9'), ('!', '~'), (' ', ' '), ('\u{a1}', '\u{10FFFF}')];

/// Whether it is proven that all texts of one expression are texts of another one.
pub fn is_within(narrow: &Regex, wide: &Regex) -> bool {
    let automata = Automaton::of(narrow).zip(Automaton::of(wide));
    automata.is_some_and(|(narrow, wide)| {
        find_text(&[&narrow], &[&wide], &mut { MAX_STEPS }) == Found::Nothing
    })
}

/// Whether it is proven that no text matches both expressions.
pub fn are_disjoint(one: &Regex, other: &Regex) -> bool {
    let automata = Automaton::of(one).zip(Automaton::of(other));
    automata.is_some_and(|(one, other)| one.is_disjoint_from(&other))
}

/// The result of a search for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// One of the shortest texts.
    Text(String),
    /// There is no such text.
    Nothing,
    /// The budget was spent.
    GaveUp,
}

/// Searches a text that all automata of one list match, and none of another one. The budget is a
/// number of steps of single states, and is reduced by those that the search takes.
pub fn find_text(all_of: &[&Automaton], none_of: &[&Automaton], budget: &mut usize) -> Found {
    /// The states of all automata, and the last character that leads there from an earlier place.
    struct Place {
        states: Vec<Vec<usize>>,
        from: Option<(usize, char)>,
    }
    let automata: Vec<&Automaton> = all_of.iter().chain(none_of).copied().collect();
    let states: Vec<_> = automata.iter().map(|it| it.start()).collect();
    let mut seen = HashSet::from([states.clone()]);
    let mut places = vec![Place { states, from: None }];
    let mut open = VecDeque::from([0]);
    while let Some(at) = open.pop_front() {
        let here = places[at].states.clone();
        let matched = |at: usize| automata[at].accepts(&here[at]);
        if (0..all_of.len()).all(matched) && !(all_of.len()..automata.len()).any(matched) {
            let mut text: Vec<char> = Vec::new();
            let mut last = &places[at];
            while let Some((before, c)) = last.from {
                text.push(c);
                last = &places[before];
            }
            return Found::Text(text.iter().rev().collect());
        }
        let cost: usize = 1 + here.iter().map(Vec::len).sum::<usize>();
        for c in distinct_characters(&automata, &here) {
            let Some(left) = budget.checked_sub(cost) else { return Found::GaveUp };
            *budget = left;
            let pairs = automata.iter().zip(&here);
            let next: Vec<_> = pairs.map(|(it, states)| it.step(states, c)).collect();
            if next[..all_of.len()].iter().any(Vec::is_empty) || !seen.insert(next.clone()) {
                continue;
            }
            open.push_back(places.len());
            places.push(Place { states: next, from: Some((at, c)) });
        }
    }
    Found::Nothing
}

/// Characters, one of each set of them that lead to the same states, plain ones first.
fn distinct_characters(automata: &[&Automaton], states: &[Vec<usize>]) -> Vec<char> {
    let ranges = automata.iter().zip(states).flat_map(|(it, states)| it.ranges(states));
    // Between these, all characters lead to the same states.
    let ends = ranges.flat_map(|(first, last)| [first, last.saturating_add(1)]);
    let mut starts: Vec<u32> = ends.chain([0]).collect();
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().skip(1).map(|next| next - 1).chain([u32::MAX]);
    let mut characters: Vec<(usize, char)> = starts
        .iter()
        .zip(ends)
        .filter_map(|(&first, last)| {
            let plain = PLAIN
                .iter()
                .position(|&(low, high)| first <= u32::from(high) && last >= u32::from(low));
            let low = plain.map_or(0, |at| u32::from(PLAIN[at].0));
            Some((plain.unwrap_or(PLAIN.len()), char::from_u32(first.max(low))?))
        })
        .collect();
    characters.sort_unstable();
    characters.into_iter().map(|it| it.1).collect()
}

/// A nondeterministic automaton. A state is an index.
#[derive(Debug)]
pub struct Automaton {
    /// The states that each state leads to without a character.
    free: Vec<Vec<usize>>,
    /// The state that each state leads to with a character.
    steps: Vec<Option<(CharSet, usize)>>,
    last: usize,
}

impl Automaton {
    /// `None` if it would be too large.
    pub fn of(regex: &Regex) -> Option<Self> {
        let mut automaton = Self { free: vec![Vec::new()], steps: vec![None], last: 0 };
        automaton.last = automaton.add(regex, 0)?;
        Some(automaton)
    }

    /// Whether a text matches as a whole.
    pub fn matches(&self, text: &str) -> bool {
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
    pub fn is_disjoint_from(&self, other: &Self) -> bool {
        find_text(&[self, other], &[], &mut { MAX_STEPS }) == Found::Nothing
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
        if let Regex::Leaf(_) = part {
            return self.add(part, from);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regular::Language;

    fn regex(text: &str) -> Regex {
        Language::of_pattern(&format!("^(?:{text})$")).map_or(Regex::NEVER, |it| it.texts)
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

    #[test]
    fn a_shortest_plain_text_is_found() {
        for (all_of, none_of, expected) in [
            (&["[a-z0-9]{1,5}"][..], &["[a-z]{1,5}"][..], Some("0")),
            (&[".*b.*", ".{3,}"], &["a.*", "b.*"], Some("cab")),
            (&["[^a-z]"], &[], Some("A")),
            (&["(ab)*"], &["", "(abab)*"], Some("ab")),
            (&["[\\s\\S]{1,3}"], &["[\\s\\S]{1,2}"], Some("aaa")),
            (&["a+", "b+"], &[], None),
        ] {
            let automata = |texts: &[&str]| -> Vec<Automaton> {
                texts.iter().filter_map(|text| Automaton::of(&regex(text))).collect()
            };
            let (all_of, none_of) = (automata(all_of), automata(none_of));
            let (all_of, none_of): (Vec<_>, Vec<_>) =
                (all_of.iter().collect(), none_of.iter().collect());
            let expected = expected.map_or(Found::Nothing, |text| Found::Text(text.to_owned()));
            assert_eq!(find_text(&all_of, &none_of, &mut { MAX_STEPS }), expected);
            assert_eq!(find_text(&all_of, &none_of, &mut 0), Found::GaveUp);
        }
    }
}
