//! Suggests known names for unknown names in tool calls.
//!
//! Models rarely invent a name. They write a variant of a known name (`file_read` for `ReadFile`),
//! add a prefix (`functions.ReadFile`), or make a typo. Names are therefore compared word by word
//! in any order, and letter by letter as a whole. The higher score counts.

mod identifier_words;
pub(crate) mod opposites;
mod similarity;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::ops::Bound;

use gramc_model::words::singular;
use smol_str::SmolStr;

pub use self::identifier_words::split;
use self::identifier_words::{
    NameReading, is_destructive, letters, readings, synonyms, verbs, weight,
};
use self::similarity::{ComparisonBudget, LetterProfile};

/// The minimum score of a suggestion. Two names that only share a verb score 0.29; two-word names
/// that share one word score 0.5.
const MIN_SCORE: f32 = 0.35;

/// The score of a synonym relative to the word itself.
const SYNONYM: f32 = 0.9;

/// The score of an abbreviated or extended word: `dir` for `directory`, `searching` for `search`.
const SHORTENED: f32 = 0.8;

/// The number of candidates for each suggestion.
const CANDIDATES: usize = 8;

/// The score of the same noun with another verb, relative to the same verb.
const OTHER_VERB: f32 = 0.6;

/// The maximum number of longer words that an abbreviation may match.
const MAX_LONGER_WORDS: usize = 8;

/// A name that can be suggested.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct KnownName<'a> {
    /// The name of a tool or a container.
    pub name: &'a str,
    /// The container of the tool. `None` for containers and for tools without one.
    pub container: Option<&'a str>,
    /// Whether the tool is destructive. Such a tool, and one whose name tells that it deletes
    /// something, is suggested only for names that contain all words of its own name.
    pub destructive: bool,
}

/// A known name that is similar to an unknown one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The name of a tool or a container.
    pub name: SmolStr,
    /// The container of the tool, if it has one.
    pub container: Option<SmolStr>,
    /// The similarity in percent, from 35 to 100.
    pub nearness: u8,
}

/// An index of known names, built once and queried often.
///
/// Building it takes about a microsecond per name. A query takes well under a millisecond for ten
/// thousand names.
#[derive(Debug, Default)]
pub struct NameIndex {
    entries: Vec<NameEntry>,
    shapes: Vec<LetterProfile>,
    containers: Vec<SmolStr>,
    words: Vec<WordEntry>,
    word_shapes: Vec<LetterProfile>,
    by_word: BTreeMap<SmolStr, u32>,
}

#[derive(Debug)]
struct NameEntry {
    name: SmolStr,
    /// Its letters and digits, in lowercase.
    letters: SmolStr,
    container: Option<u32>,
    /// The total weight of its words.
    weight: f32,
    /// A bit set of its verbs.
    verbs: u8,
    destructive: bool,
}

/// A word of known names, in the singular.
#[derive(Debug)]
struct WordEntry {
    text: SmolStr,
    weight: f32,
    /// The entries whose names contain it.
    entries: Vec<u32>,
    /// The containers whose names contain it.
    containers: Vec<u32>,
}

/// The overlap of a reading and an entry.
#[derive(Debug, Clone, Copy, Default)]
struct NameMatch {
    /// The weight of the reading's words that the entry contains.
    read: f32,
    /// The weight of the entry's words that the reading contains.
    own: f32,
    /// A bit set of the reading's words that the entry contains.
    words: u16,
}

impl NameIndex {
    /// Builds the index of tools and containers. Equally similar names are suggested in this order.
    pub fn new<'a>(known: impl Iterator<Item = KnownName<'a>>) -> Self {
        let mut names = Self::default();
        let mut containers: BTreeMap<SmolStr, u32> = BTreeMap::new();
        for known in known {
            let container = known.container.map(|name| match containers.entry(name.into()) {
                MapEntry::Occupied(slot) => *slot.get(),
                MapEntry::Vacant(slot) => *slot.insert(names.add_container(name)),
            });
            names.add_entry(&known, container);
        }
        names
    }

    fn add_container(&mut self, name: &str) -> u32 {
        let container = index(self.containers.len());
        self.containers.push(name.into());
        for word in split(name) {
            let word = self.add_word(&word);
            self.words[word as usize].containers.push(container);
        }
        container
    }

    fn add_entry(&mut self, known: &KnownName<'_>, container: Option<u32>) {
        let &KnownName { name, destructive, .. } = known;
        let words = split(name);
        let destructive = destructive || words.iter().any(|word| is_destructive(word));
        let entry = index(self.entries.len());
        let mut sum = 0.0;
        for word in &words {
            let word = self.add_word(word);
            let word = &mut self.words[word as usize];
            // A repeated word counts once.
            if word.entries.last() != Some(&entry) {
                word.entries.push(entry);
                sum += word.weight;
            }
        }
        let letters = letters(name);
        self.shapes.push(LetterProfile::of(&letters));
        let letters = SmolStr::from(letters);
        let verbs = verbs(words.iter().map(String::as_str));
        let name = name.into();
        self.entries.push(NameEntry { name, letters, container, weight: sum, verbs, destructive });
    }

    fn add_word(&mut self, word: &str) -> u32 {
        let text = singular(word);
        if let Some(known) = self.by_word.get(&*text) {
            return *known;
        }
        let known = index(self.words.len());
        let text = SmolStr::from(text);
        self.by_word.insert(text.clone(), known);
        self.word_shapes.push(LetterProfile::of(&text));
        let weight = weight(&text);
        self.words.push(WordEntry { text, weight, entries: Vec::new(), containers: Vec::new() });
        known
    }

    /// Returns at most `most` known names that are similar to `attempted`, best first.
    pub fn suggest(&self, attempted: &str, most: usize) -> Vec<Suggestion> {
        if most == 0 || self.entries.is_empty() {
            return Vec::new();
        }
        let mut scores = vec![0.0_f32; self.entries.len()];
        let mut found = Vec::new();
        let mut budget = ComparisonBudget::default();
        let readings = readings(attempted);
        for reading in &readings {
            let mut note = |entry: u32, score: f32| {
                let best = &mut scores[entry as usize];
                if *best < MIN_SCORE && score >= MIN_SCORE {
                    found.push(entry);
                }
                *best = best.max(score);
            };
            self.compare_letters(reading, &mut budget, &mut note);
            self.compare_words(reading, &mut budget, &mut note);
        }
        let order = |a: &u32, b: &u32| {
            scores[*b as usize].total_cmp(&scores[*a as usize]).then_with(|| a.cmp(b))
        };
        // Sorting and judging all candidates to keep a few of them would dominate the cost.
        let candidates = most.saturating_mul(CANDIDATES);
        if found.len() > candidates {
            found.select_nth_unstable_by(candidates, order);
            found.truncate(candidates);
        }
        found.sort_unstable_by(order);
        let found = found.iter().filter(|entry| self.may_be_meant(**entry, &readings)).take(most);
        found.map(|entry| self.suggestion(*entry, scores[*entry as usize])).collect()
    }

    /// Whether a tool does not do the opposite, and destroys nothing unless its name was written.
    fn may_be_meant(&self, entry: u32, readings: &[NameReading]) -> bool {
        let NameEntry { name, destructive, .. } = &self.entries[entry as usize];
        let is_opposite = |it: &NameReading| opposites::are_opposite(&it.words.join("_"), name);
        !readings.iter().any(is_opposite)
            && (!destructive || readings.iter().any(|it| it.contains_words(name)))
    }

    fn suggestion(&self, entry: u32, score: f32) -> Suggestion {
        let NameEntry { name, container, .. } = &self.entries[entry as usize];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a score is between 0 and 1"
        )]
        let nearness = (score * 100.0).round() as u8;
        let container = container.map(|container| self.containers[container as usize].clone());
        Suggestion { name: name.clone(), container, nearness }
    }

    fn compare_letters(
        &self,
        reading: &NameReading,
        budget: &mut ComparisonBudget,
        note: &mut impl FnMut(u32, f32),
    ) {
        let letters = reading.letters.as_str();
        if letters.is_empty() {
            return;
        }
        for (_, entry) in self.entries.iter().zip(0..).filter(|(known, _)| known.letters == letters)
        {
            note(entry, self.share(entry, reading));
        }
        let text = |entry: u32| self.entries[entry as usize].letters.as_str();
        for (entry, likeness) in similarity::near(letters, &self.shapes, text, budget) {
            note(entry, likeness * self.share(entry, reading));
        }
    }

    /// The score of a perfect match. It is slightly lower if the reading names a container and the
    /// entry is not in it.
    fn share(&self, entry: u32, reading: &NameReading) -> f32 {
        let container = self.entries[entry as usize].container;
        let meant = |container: u32| {
            let container = letters(&self.containers[container as usize]);
            reading.before.contains(&container)
        };
        let within = reading.before.is_empty() || container.is_some_and(meant);
        if within { reading.share } else { 0.98 * reading.share }
    }

    fn compare_words(
        &self,
        reading: &NameReading,
        budget: &mut ComparisonBudget,
        note: &mut impl FnMut(u32, f32),
    ) {
        let words = self.apart(&reading.words);
        let total: f32 = words.iter().map(|word| weight(word)).sum();
        let verbs = verbs(words.iter().copied());
        let mut matches = vec![NameMatch::default(); self.entries.len()];
        let mut touched = Vec::new();
        // The weights of the reading's words in the name of each container.
        let mut containers: BTreeMap<u32, [f32; identifier_words::MAX_WORDS]> = BTreeMap::new();
        for (nth, word) in words.iter().enumerate() {
            let bit = 1 << nth;
            for (known, credit) in self.meanings(word, budget) {
                let WordEntry { weight: own, entries, containers: within, .. } =
                    &self.words[known as usize];
                for entry in entries {
                    let found = &mut matches[*entry as usize];
                    if found.words == 0 {
                        touched.push(*entry);
                    }
                    // The best match of a word comes first, and only that one counts.
                    if found.words & bit == 0 {
                        found.words |= bit;
                        found.read += weight(word) * credit;
                        found.own += own * credit;
                    }
                }
                for container in within {
                    let weights = containers.entry(*container).or_default();
                    weights[nth] = weights[nth].max(weight(word) * credit);
                }
            }
        }
        for entry in touched {
            let found = matches[entry as usize];
            let NameEntry { weight: own, container, verbs: own_verbs, .. } =
                &self.entries[entry as usize];
            let around = container.and_then(|container| containers.get(&container));
            // Words that only the container's name contains: `Math.Add` for `Add` in `Math`.
            let around: f32 = around.map_or(0.0, |weights| {
                let weights = weights.iter().enumerate();
                weights.filter(|(nth, _)| found.words & (1 << nth) == 0).map(|(_, w)| w).sum()
            });
            // Two words of the reading may match the same word of the entry.
            let score = (found.read + found.own.min(*own) + around) / (total + own);
            let is_other_verb = verbs != 0 && *own_verbs != 0 && verbs & own_verbs == 0;
            let score = if is_other_verb { OTHER_VERB * score } else { score };
            note(entry, score * self.share(entry, reading));
        }
    }

    /// Removes duplicate words and splits words that join two known words: `readfile`.
    fn apart<'w>(&self, words: &'w [String]) -> Vec<&'w str> {
        let known = |text: &str| text.len() > 1 && self.by_word.contains_key(&*singular(text));
        let mut apart = Vec::with_capacity(words.len());
        for word in words {
            let mut cuts = word.char_indices().skip(2).map(|(at, _)| word.split_at(at));
            let halves = if known(word) { None } else { cuts.find(|(a, b)| known(a) && known(b)) };
            let parts = halves.map_or([Some(word.as_str()), None], |(a, b)| [Some(a), Some(b)]);
            for part in parts.into_iter().flatten() {
                if apart.len() < identifier_words::MAX_WORDS && !apart.contains(&part) {
                    apart.push(part);
                }
            }
        }
        apart
    }

    /// The known words that a word matches, with their scores, best first.
    fn meanings(&self, word: &str, budget: &mut ComparisonBudget) -> Vec<(u32, f32)> {
        let text = singular(word);
        let known = |text: &str| self.by_word.get(text).copied();
        let mut found: Vec<_> = known(&text).map(|word| (word, 1.0)).into_iter().collect();
        let alike = synonyms(&text).filter(|other| *other != &*text).filter_map(known);
        found.extend(alike.map(|word| (word, SYNONYM)));
        if !found.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit()) {
            return found;
        }
        let length = text.chars().count();
        if length >= 2 {
            // Of a word of three letters, one may be missing: `ad` for `add`.
            let longest = if length == 2 { 3 } else { usize::MAX };
            let longer = self.by_word.range::<str, _>((Bound::Included(&*text), Bound::Unbounded));
            let longer = longer.take_while(|(other, _)| other.starts_with(&*text));
            let longer = longer.filter(|(other, _)| other.chars().nth(longest).is_none());
            found.extend(longer.take(MAX_LONGER_WORDS).map(|(_, word)| (*word, SHORTENED)));
        }
        // Known words that are at most three letters shorter: `search` for `searching`.
        let shorter = text.char_indices().skip(4).map(|(at, _)| &text[..at]);
        let shorter = shorter.skip(length.saturating_sub(7)).filter_map(known);
        found.extend(shorter.map(|word| (word, SHORTENED)));
        let of = |word: u32| self.words[word as usize].text.as_str();
        found.extend(similarity::near(&text, &self.word_shapes, of, budget));
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }
}

/// Converts an index to 32 bits. Memory runs out long before the number of names overflows.
fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
