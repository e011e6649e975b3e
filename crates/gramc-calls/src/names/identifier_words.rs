//! The words of an identifier.

use gramc_model::words::{singular, words};

/// The maximum number of words of a name that are compared: the number of bits of a `u16`.
pub(super) const MAX_WORDS: usize = 16;

/// The maximum length of a compared name in bytes. Providers allow at most 128 characters; longer
/// strings are not names.
const MAX_LENGTH: usize = 256;

/// Verbs that are synonyms in the names of tools. Models often keep the noun and change the verb.
/// Synonyms of nouns are not listed, because they differ between libraries. The table is small on
/// purpose: each pair of inexact synonyms causes wrong suggestions.
const VERBS: [&[&str]; 8] = [
    &["run", "exec", "execute"],
    &["get", "fetch", "read", "load"],
    &["create", "make", "add", "new"],
    &["delete", "remove", "rm"],
    &["list", "ls"],
    &["search", "find", "query"],
    &["write", "save", "put"],
    &["update", "edit", "modify"],
];

/// Verbs of tools that destroy something.
const DESTRUCTIVE: [&str; 16] = [
    "clear",
    "delete",
    "destroy",
    "drop",
    "erase",
    "format",
    "kill",
    "overwrite",
    "purge",
    "remove",
    "reset",
    "revert",
    "rm",
    "terminate",
    "truncate",
    "wipe",
];

/// Whether a word is the verb of a tool that destroys something.
pub(super) fn is_destructive(word: &str) -> bool {
    DESTRUCTIVE.contains(&word)
}

/// One way to read an attempted name.
#[derive(Debug)]
pub(super) struct NameReading {
    pub(super) words: Vec<String>,
    /// Its letters and digits, in lowercase.
    pub(super) letters: String,
    /// The letters of the prefixes that are not part of the name: a server, a namespace, a
    /// container.
    pub(super) before: Vec<String>,
    /// The weight of this reading relative to the others.
    pub(super) share: f32,
}

impl NameReading {
    /// Whether each word of a name is a word of this one, up to synonyms and one typo.
    pub(super) fn contains_words(&self, name: &str) -> bool {
        let is_same = |one: &str, other: &str| {
            let (one, other) = (&*singular(one), &*singular(other));
            one == other
                || synonyms(one).any(|it| it == other)
                || (other.len() > 3 && strsim::osa_distance(one, other) <= 1)
        };
        split(name).iter().all(|word| {
            self.words.iter().any(|it| is_same(it, word)) || self.letters.contains(&**word)
        })
    }
}

/// The readings of a name: the whole name, and its last part.
pub(super) fn readings(attempted: &str) -> Vec<NameReading> {
    let name = cut(attempted).trim();
    // Models continue with the call or with their own markers: `ReadFile({"path": …`,
    // `exec<|channel|>json`.
    let end = name.find(['(', '{', '[', '<']).filter(|end| *end > 0).unwrap_or(name.len());
    let name = &name[..end];
    let parts = name.split(['.', '/', '\\', ':']).flat_map(|part| part.split("__"));
    let mut parts: Vec<_> = parts.filter(|part| part.chars().any(char::is_alphanumeric)).collect();
    // `functions.ReadFile:0`: some models number their calls.
    while parts.len() > 1
        && parts.last().is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit()))
    {
        parts.pop();
    }
    let reading = |name: &str, before: &[&str], share| NameReading {
        words: split(name),
        letters: letters(name),
        before: before.iter().map(|part| letters(part)).collect(),
        share,
    };
    let mut readings = vec![reading(name, &[], 1.0)];
    if let [before @ .., last] = &*parts
        && !before.is_empty()
    {
        readings.push(reading(last, before, 0.95));
    }
    // `functionsexec5`: the separators may be missing.
    if let [only] = &*parts
        && let Some(name) = only.strip_prefix("functions")
    {
        readings.push(reading(name.trim_end_matches(|c: char| c.is_ascii_digit()), &[], 0.95));
    }
    readings
}

/// The beginning of a name, up to the maximum length.
fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_LENGTH)]
}

/// The letters and digits of a name, in lowercase.
pub(super) fn letters(name: &str) -> String {
    let name = cut(name).chars().filter(|c| c.is_alphanumeric());
    name.flat_map(char::to_lowercase).collect()
}

/// Splits a name into lowercase words, and these between letters and digits.
pub fn split(name: &str) -> Vec<String> {
    let parts = words(cut(name)).flat_map(|word| {
        let mut following = word.chars().skip(1);
        word.split_inclusive(move |c: char| {
            following.next().is_some_and(|next| next.is_numeric() != c.is_numeric())
        })
    });
    parts.take(MAX_WORDS).map(str::to_lowercase).collect()
}

/// A bit set of the groups of verbs that occur in a name.
pub(super) fn verbs<'w>(words: impl Iterator<Item = &'w str>) -> u8 {
    let group = |word: &str| VERBS.iter().position(|group| group.contains(&word));
    words.filter_map(group).fold(0, |verbs, group| verbs | 1 << group)
}

/// The synonyms of a verb, including itself. Empty for other words.
pub(super) fn synonyms(word: &str) -> impl Iterator<Item = &'static str> {
    let group = VERBS.iter().find(|group| group.contains(&word));
    group.into_iter().flat_map(|group| group.iter().copied())
}

/// The weight of a word. Verbs and numbers weigh less: tools that only share a verb are not
/// similar.
pub(super) fn weight(word: &str) -> f32 {
    let little = word.bytes().all(|byte| byte.is_ascii_digit())
        || VERBS.iter().any(|verbs| verbs.contains(&word));
    if little { 0.4 } else { 1.0 }
}
