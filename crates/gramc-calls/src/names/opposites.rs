//! Names with opposite meanings.

use std::sync::LazyLock;

use gramc_model::words::singular;

use super::identifier_words::split;

/// Words and prefixes of words with opposite meanings.
static OPPOSITES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    include_str!("opposites.txt").lines().filter_map(|line| line.split_once(' ')).collect()
});

/// Words and prefixes that negate a name.
const NOT: [&str; 7] = ["un", "de", "dis", "non", "no", "not", "without"];

/// The maximum length of compared names in bytes. Longer strings are not names.
pub(crate) const MAX_LENGTH: usize = 100;

/// Whether two names have opposite meanings.
pub(crate) fn are_opposite(sent: &str, declared: &str) -> bool {
    if sent.len() > MAX_LENGTH || declared.len() > MAX_LENGTH {
        return false;
    }
    let (sent_words, declared_words) = (words(sent), words(declared));
    let only = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter().filter(|word| !other.contains(word)).cloned().collect()
    };
    let (sent_only, declared_only) =
        (only(&sent_words, &declared_words), only(&declared_words, &sent_words));
    let has = |words: &[String], word: &str| words.iter().any(|it| it == word);
    if NOT.iter().any(|not| has(&sent_only, not) != has(&declared_only, not)) {
        return true;
    }
    let (sent, declared) = (plain(sent), plain(declared));
    let negates = |one: &str, other: &str| {
        NOT.iter().any(|not| one.strip_prefix(not).is_some_and(|rest| rest == other))
    };
    let negate = |one: &[String], other: &[String]| {
        one.iter().any(|one| other.iter().any(|other| negates(one, other)))
    };
    if negates(&sent, &declared)
        || negates(&declared, &sent)
        || negate(&sent_only, &declared_only)
        || negate(&declared_only, &sent_only)
    {
        return true;
    }
    OPPOSITES.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).any(|(a, b)| {
        let swaps = |at: usize| {
            let (before, behind) = (&sent[..at], &sent[at + a.len()..]);
            declared.strip_prefix(before).and_then(|rest| rest.strip_prefix(b)) == Some(behind)
        };
        (has(&sent_only, a) && has(&declared_only, b))
            || sent.match_indices(a).any(|(at, _)| swaps(at))
    })
}

/// The words of a name, in the singular.
pub(crate) fn words(name: &str) -> Vec<String> {
    split(name).iter().map(|word| singular(word).into_owned()).collect()
}

/// A name without case and separators.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
