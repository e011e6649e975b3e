//! Tools that have another name.

use std::collections::HashSet;

use gram_model::Tool;

use crate::schemas::ToolSchemas;

/// The similarity from which names or descriptions are taken for those of one tool.
const MIN_SIMILARITY: f64 = 0.6;

/// A tool of a version that the other version has not.
#[derive(Debug)]
pub(crate) struct Candidate<'m> {
    pub(crate) tool: &'m Tool,
    pub(crate) schemas: &'m ToolSchemas,
}

/// The pairs of removed and added tools that take and return the same and have similar names or
/// descriptions, or whose names differ in spelling alone, as indices. The most similar ones come first.
pub(crate) fn find(removed: &[Candidate<'_>], added: &[Candidate<'_>]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (from, old) in removed.iter().enumerate() {
        for (to, new) in added.iter().enumerate() {
            let similarity = similarity(old.tool, new.tool);
            let is_respelled = words(&old.tool.name) == words(&new.tool.name);
            if is_respelled
                || (similarity >= MIN_SIMILARITY && old.schemas.allows_the_same(new.schemas))
            {
                pairs.push((from, to, similarity));
            }
        }
    }
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    let (mut from, mut to) = (HashSet::new(), HashSet::new());
    pairs.retain(|pair| {
        let is_free = !from.contains(&pair.0) && !to.contains(&pair.1);
        is_free && from.insert(pair.0) && to.insert(pair.1)
    });
    pairs.into_iter().map(|(from, to, _)| (from, to)).collect()
}

fn similarity(old: &Tool, new: &Tool) -> f64 {
    let names = name_similarity(&old.name, &new.name);
    match (&old.description, &new.description) {
        (Some(old), Some(new)) => names.max(text_similarity(old, new)),
        _ => names,
    }
}

/// The similarity of two names, from 0 to 1: of their letters or of their words.
pub(crate) fn name_similarity(old: &str, new: &str) -> f64 {
    let (first, second) = (words(old), words(new));
    let letters = strsim::normalized_levenshtein(&first.join(""), &second.join(""));
    let shared = first.iter().filter(|word| second.contains(word)).count();
    // Below a thousand, so nothing is lost.
    #[expect(clippy::cast_precision_loss, reason = "names are short")]
    let of_words = 2.0 * shared as f64 / (first.len() + second.len()).max(1) as f64;
    letters.max(of_words)
}

fn text_similarity(old: &str, new: &str) -> f64 {
    /// The characters that are compared.
    const MAX_COMPARED: usize = 300;
    let plain = |text: &str| -> String {
        let text: Vec<_> = text.split_whitespace().collect();
        text.join(" ").to_lowercase().chars().take(MAX_COMPARED).collect()
    };
    strsim::normalized_levenshtein(&plain(old), &plain(new))
}

/// The words of a name, in lower case: `readFile`, `read_file` and `read-file` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}
