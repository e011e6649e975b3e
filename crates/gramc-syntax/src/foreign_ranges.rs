//! Ranges as prose and other languages write them, and how gram does.

use crate::words::Words;

/// Maximum length of a translated range in bytes.
const MAX_TRANSLATED: usize = 60;

/// Words between the parts of a range that mean nothing by themselves.
const FILLERS: Words =
    Words("x n v value len the f % chars characters items elements entries letters");

/// Words before a range with two bounds.
const INTRODUCTIONS: Words = Words("from between in");

/// Words and symbols between two bounds.
const SEPARATORS: Words = Words(".. ... ..= - – — − … ~ : , ; to and until through bis");

/// Symbols before or after a single bound.
const OPEN_ENDS: Words = Words(".. ... ..= - – — − …");

/// Words for the absence of a bound.
const UNBOUNDED: Words = Words("inf infinity ∞ none null nil undefined any * max min _");

/// Words before or after a lower bound.
const LEAST: &[&[&str]] = &[&[">="], &["≥"], &["at", "least"], &["min"], &["minimum"], &["from"]];
const OR_MORE: &[&[&str]] =
    &[&["+"], &["<="], &["≤"], &["or", "more"], &["or", "above"], &["and", "up"]];

/// Words before or after an upper bound.
const MOST: &[&[&str]] =
    &[&["<="], &["≤"], &["at", "most"], &["up", "to"], &["max"], &["maximum"], &["to"], &["until"]];
const OR_LESS: &[&[&str]] = &[&[">="], &["≥"], &["or", "less"], &["or", "fewer"], &["or", "below"]];

/// The range of gram that a text means: `1..5` of `1 <= x <= 5`, `1...` of `1+`.
pub fn translate_range(text: &str) -> Option<String> {
    if text.len() > MAX_TRANSLATED {
        return None;
    }
    let text = text.to_lowercase();
    let words = words(&text)?;
    let all = words.len();
    let words: Vec<&str> = words.into_iter().filter(|word| !FILLERS.contains(word)).collect();
    let words = match words.as_slice() {
        [first, rest @ ..] if rest.len() > 2 && INTRODUCTIONS.contains(first) => rest,
        all => all,
    };
    let is_bound = |word: &str| is_number(word) || is_unbounded(word);
    match words {
        [least, separator, most] | [least, separator, "=", most]
            if is_bound(least) && is_bound(most) && SEPARATORS.contains(separator) =>
        {
            bounds(least, most)
        }
        [least, "<=" | "≤", "<=" | "≤", most] | [most, ">=" | "≥", ">=" | "≥", least] => {
            bounds(least, most)
        }
        [least, most] if is_number(least) && is_number(most) => bounds(least, most),
        [only] if is_number(only) && all > 1 => Some(format!("{only}..{only}")),
        _ => one_bound(words).or_else(|| two_phrases(words)),
    }
}

/// The range of words about one bound: `1..`, `at least 1`.
fn one_bound(words: &[&str]) -> Option<String> {
    match words {
        [least, mark] if is_number(least) && OPEN_ENDS.contains(mark) => {
            Some(format!("{least}..."))
        }
        [mark, most] if is_number(most) && OPEN_ENDS.contains(mark) => Some(format!("...{most}")),
        [before @ .., bound] if is_number(bound) && LEAST.contains(&before) => {
            Some(format!("{bound}..."))
        }
        [before @ .., bound] if is_number(bound) && MOST.contains(&before) => {
            Some(format!("...{bound}"))
        }
        [bound, after @ ..] if is_number(bound) && OR_MORE.contains(&after) => {
            Some(format!("{bound}..."))
        }
        [bound, after @ ..] if is_number(bound) && OR_LESS.contains(&after) => {
            Some(format!("...{bound}"))
        }
        _ => None,
    }
}

/// The range of words about its bounds one after the other: `min 1, max 5`.
fn two_phrases(words: &[&str]) -> Option<String> {
    let least = words.iter().position(|word| is_number(word))?;
    let (least, most) = words.split_at_checked(least + 1)?;
    let most = most.strip_prefix(&[","]).or_else(|| most.strip_prefix(&["and"])).unwrap_or(most);
    let (least, most) = (one_bound(least)?, one_bound(most)?);
    Some(format!("{}..{}", least.strip_suffix("...")?, most.strip_prefix("...")?))
}

fn bounds(least: &str, most: &str) -> Option<String> {
    match (is_number(least), is_number(most)) {
        (true, true) => Some(format!("{least}..{most}")),
        (true, false) => is_unbounded(most).then(|| format!("{least}...")),
        (false, true) => is_unbounded(least).then(|| format!("...{most}")),
        (false, false) => None,
    }
}

fn is_number(word: &str) -> bool {
    word.ends_with(|c: char| c.is_ascii_digit())
}

/// Whether a word means that there is no bound, with a sign or without.
fn is_unbounded(word: &str) -> bool {
    UNBOUNDED.contains(word.trim_start_matches(['-', '+']))
}

/// The numbers, words and symbols of a text; `None` if it has others. A sign belongs to the number
/// after it, unless a number is before it.
fn words(text: &str) -> Option<Vec<&str>> {
    let (mut words, mut rest) = (Vec::<&str>::new(), text.trim());
    while let Some(first) = rest.chars().next() {
        let after_bound = words.last().is_some_and(|last| is_number(last));
        let sign = usize::from(!after_bound && matches!(first, '-' | '+'));
        let body = &rest[sign..];
        let len = if body.starts_with(|c: char| c.is_ascii_digit()) {
            sign + number_length(body)
        } else if body.starts_with(|c: char| c.is_alphabetic() || c == '∞' || c == '_') {
            let end = body.find(|c: char| !c.is_alphabetic() && c != '∞' && c != '_');
            sign + end.unwrap_or(body.len())
        } else {
            symbol_length(rest)?
        };
        let (word, left) = rest.split_at(len);
        words.push(if is_number(word) { word.trim_start_matches('+') } else { word });
        rest = left.trim_start();
    }
    Some(words)
}

/// The length of the number that a text begins with. A point belongs to it if a digit follows.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let whole = digits(text);
    match text[whole..].strip_prefix('.') {
        Some(rest) if digits(rest) > 0 => whole + 1 + digits(rest),
        _ => whole,
    }
}

fn symbol_length(text: &str) -> Option<usize> {
    let known = [
        "...", "..=", "..", "<=", ">=", "≤", "≥", "–", "—", "−", "…", "-", "~", ":", ",", ";", "+",
        "*", "=", "%",
    ];
    known.into_iter().find(|symbol| text.starts_with(symbol)).map(str::len)
}

#[cfg(test)]
mod tests {
    use super::translate_range;

    #[test]
    fn ranges_of_other_languages_are_read() {
        for (text, range) in [
            ("1..5", "1..5"),
            ("1-10", "1..10"),
            ("-1--0.5", "-1..-0.5"),
            ("1 <= x <= 5", "1..5"),
            ("5 >= x >= 1", "1..5"),
            ("between 1 and 5", "1..5"),
            ("from 0 to 1.5", "0..1.5"),
            ("-inf..5", "...5"),
            ("1..Infinity", "1..."),
            ("1..=5", "1..5"),
            ("1 .. = 5", "1..5"),
            ("1+", "1..."),
            (">= 1", "1..."),
            ("≤ 5", "...5"),
            ("at least 3", "3..."),
            ("up to 3", "...3"),
            ("3 or more", "3..."),
            ("1..", "1..."),
            ("..1", "...1"),
            ("+1..+5", "1..5"),
            ("1..80 chars", "1..80"),
            ("3 items", "3..3"),
            ("0..100%", "0..100"),
            ("1−5", "1..5"),
            ("…5", "...5"),
            ("1–", "1..."),
            ("from 1", "1..."),
            ("until 5", "...5"),
            ("1 5", "1..5"),
            ("min 1 max 5", "1..5"),
            ("at least 1 and at most 5", "1..5"),
        ] {
            assert_eq!(translate_range(text).as_deref(), Some(range), "{text}");
        }
        for text in
            ["", "1", "..", "x", "1 < x < 5", "> 5", "none..none", "1..2..3", "a..b", "max 5 min 1"]
        {
            assert_eq!(translate_range(text), None, "{text}");
        }
    }
}
