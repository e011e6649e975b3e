//! Tools that have another name.

use std::collections::HashSet;

use gramc_calls::names::split;
use gramc_model::Tool;
use serde_json::{Map, Value};

use crate::schemas::ToolSchemas;

/// The similarity from which names are taken for those of one tool or parameter.
pub(crate) const MIN_SIMILARITY: f64 = 0.6;

/// The similarity from which descriptions are taken for those of one tool. Those of opposites are
/// alike, too.
const MIN_TEXT_SIMILARITY: f64 = 0.8;

/// The most pairs of tools whose names and descriptions are compared.
const MAX_PAIRS: usize = 200_000;

/// The most pairs of tools whose schemas are compared.
const MAX_DECISIONS: usize = 500;

/// A tool of a version that the other version has not.
#[derive(Debug)]
pub(crate) struct Candidate<'m> {
    pub(crate) tool: &'m Tool,
    pub(crate) schemas: &'m ToolSchemas,
}

/// The pairs of removed and added tools that take and return the same and have similar names or
/// descriptions, or whose names differ in spelling alone, as indices. The most similar ones come first.
pub(crate) fn find(removed: &[Candidate<'_>], added: &[Candidate<'_>]) -> Vec<(usize, usize)> {
    let old: Vec<_> = removed.iter().map(Profile::of).collect();
    let new: Vec<_> = added.iter().map(Profile::of).collect();
    let mut pairs = Vec::new();
    let mut compared = 0;
    for (from, old) in old.iter().enumerate() {
        for (to, new) in new.iter().enumerate() {
            if old.name.concat() == new.name.concat() {
                // Spelling says enough.
                pairs.push((from, to, f64::INFINITY));
            } else if compared < MAX_PAIRS && old.shape == new.shape {
                compared += 1;
                pairs.extend(old.similarity(new).map(|similarity| (from, to, similarity)));
            }
        }
    }
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    let (mut from, mut to) = (HashSet::new(), HashSet::new());
    let mut decisions = 0;
    pairs.retain(|pair| {
        if from.contains(&pair.0) || to.contains(&pair.1) {
            return false;
        }
        let is_same = pair.2.is_infinite() || {
            decisions += 1;
            let (old, new) = (removed[pair.0].schemas, added[pair.1].schemas);
            decisions <= MAX_DECISIONS && old.allows_the_same(new)
        };
        is_same && from.insert(pair.0) && to.insert(pair.1)
    });
    pairs.into_iter().map(|(from, to, _)| (from, to)).collect()
}

/// What is compared of each pair of tools.
struct Profile<'m> {
    name: Vec<String>,
    /// The words of its description, in alphabetical order.
    description: Vec<String>,
    /// The names of its parameters and of the required ones, in alphabetical order.
    shape: [Vec<&'m str>; 2],
}

impl<'m> Profile<'m> {
    fn of(candidate: &Candidate<'m>) -> Self {
        /// The characters of a description that are compared.
        const MAX_COMPARED: usize = 300;
        let text = candidate.tool.description.as_deref().unwrap_or_default();
        let text: String = text.chars().take(MAX_COMPARED).collect::<String>().to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut description: Vec<_> = words.map(str::to_owned).collect();
        description.sort_unstable();
        let parameters = &candidate.schemas.parameters;
        let properties = parameters.get("properties").and_then(Value::as_object);
        let required = parameters.get("required").and_then(Value::as_array);
        let mut shape = [
            properties.into_iter().flat_map(Map::keys).map(String::as_str).collect(),
            required.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>(),
        ];
        for names in &mut shape {
            names.sort_unstable();
        }
        Self { name: split(&candidate.tool.name), description, shape }
    }

    /// The similarity to another tool, if it is high enough.
    fn similarity(&self, other: &Self) -> Option<f64> {
        let names = similarity_of_words(&self.name, &other.name);
        let texts = text_similarity(&self.description, &other.description);
        let names = Some(names).filter(|it| *it >= MIN_SIMILARITY);
        let texts = Some(texts).filter(|it| *it >= MIN_TEXT_SIMILARITY);
        names.into_iter().chain(texts).max_by(f64::total_cmp)
    }
}

/// The similarity of two names, from 0 to 1. That of names in which a word is replaced is 0:
/// `createUser` and `deleteUser` are opposites.
pub(crate) fn name_similarity(old: &str, new: &str) -> f64 {
    similarity_of_words(&split(old), &split(new))
}

fn similarity_of_words(old: &[String], new: &[String]) -> f64 {
    if old.concat() == new.concat() {
        return 1.0;
    }
    let mut left: Vec<&String> = new.iter().collect();
    let mut shared = 0;
    for word in old {
        if let Some(at) = left.iter().position(|other| is_variant(word, other)) {
            left.swap_remove(at);
            shared += 1;
        }
    }
    if shared < old.len() && !left.is_empty() { 0.0 } else { share(shared, old, new) }
}

/// Whether two words are forms or spellings of one. Prefixes often make opposites: `lock`, `unlock`.
fn is_variant(word: &str, other: &str) -> bool {
    word.chars().next() == other.chars().next()
        && strsim::normalized_levenshtein(word, other) >= MIN_SIMILARITY
}

/// The similarity of two texts by their sorted words, from 0 to 1. That of texts in which one word is
/// replaced is 0.
fn text_similarity(old: &[String], new: &[String]) -> f64 {
    let (mut shared, mut at) = (0, 0);
    for word in old {
        at += new[at..].iter().take_while(|other| *other < word).count();
        if new.get(at) == Some(word) {
            shared += 1;
            at += 1;
        }
    }
    let is_replacement = old.len() == shared + 1 && new.len() == shared + 1;
    if is_replacement { 0.0 } else { share(shared, old, new) }
}

/// The part of all words that are shared.
fn share(shared: usize, old: &[String], new: &[String]) -> f64 {
    // Below a thousand, so nothing is lost.
    #[expect(clippy::cast_precision_loss, reason = "names and texts are short")]
    let (shared, all) = (shared as f64, (old.len() + new.len()).max(1) as f64);
    2.0 * shared / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_are_not_similar() {
        for (old, new) in [
            ("createUser", "deleteUser"),
            ("enableUser", "disableUser"),
            ("getUser", "setUser"),
            ("lockDoor", "unlockDoor"),
            ("increaseVolume", "decreaseVolume"),
            ("importUserList", "exportUserLists"),
            ("start_date", "end_date"),
        ] {
            assert!(name_similarity(old, new) < MIN_SIMILARITY, "{old} {new}");
        }
    }

    #[test]
    fn forms_and_spellings_are_similar() {
        for (old, new) in [
            ("getHTTPUrl", "get_http_url"),
            ("filename", "fileName"),
            ("listItem", "list_items"),
            ("setColor", "setColour"),
            ("listItems", "listAllItems"),
            ("getUserByEmail", "get-user"),
        ] {
            assert!(name_similarity(old, new) >= MIN_SIMILARITY, "{old} {new}");
        }
    }

    #[test]
    fn texts_are_compared_by_words() {
        let words = |text: &str| {
            let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            words.sort_unstable();
            words
        };
        let is_near =
            |old: &str, new: &str| text_similarity(&words(old), &words(new)) >= MIN_TEXT_SIMILARITY;
        assert!(is_near("cancels a booking at a hotel", "cancels a guest booking at a hotel"));
        assert!(!is_near(
            "enables the user with this number",
            "disables the user with this number"
        ));
        assert!(!is_near("creates a user", "lists all bookings"));
        assert!(!is_near(
            "creates a user and returns the created user",
            "deletes a user and returns the deleted user"
        ));
    }
}
