//! Words in names and in descriptions.

use super::settings::Case;

/// The words of a name, in lower case: `read`, `file` of `readFile`, `read_file` and `ReadFile`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = match before {
            None => true,
            // `readFile` has a break before F, `HTTPServer` one before S.
            Some(before) => c.is_uppercase() && (!char::is_uppercase(before) || next_is_lower),
        };
        before = c.is_alphanumeric().then_some(c);
        if before.is_none() {
            continue;
        }
        match words.last_mut() {
            Some(word) if !begins => word.extend(c.to_lowercase()),
            _ => words.push(c.to_lowercase().collect()),
        }
    }
    words
}

/// Whether nothing but space stands in a text.
pub(super) fn is_blank(text: &str) -> bool {
    // Most begin with a letter.
    !text.starts_with(|c: char| c.is_ascii_graphic()) && text.trim().is_empty()
}

/// What stands in a name.
#[expect(clippy::struct_excessive_bools, reason = "each is about other characters")]
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    underscore: bool,
    hyphen: bool,
    upper: bool,
    lower: bool,
    /// Whether there is an upper or lower letter of English, or something else than letters and
    /// digits of English, `_` and `-`.
    ascii_upper: bool,
    ascii_lower: bool,
    other: bool,
}

impl Shape {
    fn of(name: &str) -> Self {
        let mut shape = Self::default();
        for c in name.chars() {
            match c {
                'a'..='z' => shape.ascii_lower = true,
                'A'..='Z' => shape.ascii_upper = true,
                '0'..='9' => {}
                '_' => shape.underscore = true,
                '-' => shape.hyphen = true,
                _ => {
                    shape.other = true;
                    shape.upper |= c.is_uppercase();
                    shape.lower |= c.is_lowercase();
                }
            }
        }
        shape.upper |= shape.ascii_upper;
        shape.lower |= shape.ascii_lower;
        shape
    }
}

/// The way in which a name of several words is written; `None` for one word, and for mixtures.
pub(super) fn case_of(name: &str) -> Option<Case> {
    let shape = Shape::of(name);
    match (shape.underscore, shape.hyphen, shape.upper) {
        (true, false, false) => Some(Case::Snake),
        (false, true, false) => Some(Case::Kebab),
        (false, false, true) if !starts_upper(name) => Some(Case::Camel),
        (false, false, true) if shape.lower => Some(Case::Pascal),
        _ => None,
    }
}

/// Whether a name is one that could be written in another case: letters, digits, `_` and `-`.
/// Others, such as `Content-Type` and `$filter`, come from elsewhere.
pub(super) fn is_plain(name: &str) -> bool {
    let shape = Shape::of(name);
    let header = shape.hyphen && shape.ascii_upper;
    !shape.other && !header && !name.starts_with('_') && shape.ascii_lower
}

/// Whether a name can stand among names of a case. A single word in lower case fits all but one.
pub(super) fn fits(name: &str, case: Case) -> bool {
    match case_of(name) {
        Some(own) => own == case,
        None => !name.contains(['_', '-']) && case != Case::Pascal && !starts_upper(name),
    }
}

fn starts_upper(name: &str) -> bool {
    name.starts_with(|c: char| c.is_uppercase())
}

/// A name in a case.
pub(super) fn written_in(name: &str, case: Case) -> String {
    let capital = |word: &String| {
        let mut chars = word.chars();
        let first = chars.next().into_iter().flat_map(char::to_uppercase);
        first.chain(chars).collect::<String>()
    };
    let words = words(name);
    match case {
        Case::Snake => words.join("_"),
        Case::Kebab => words.join("-"),
        Case::Pascal => words.iter().map(capital).collect(),
        Case::Camel => {
            let (first, rest) =
                words.split_first().map_or((String::new(), &[][..]), |(f, r)| (f.clone(), r));
            rest.iter().map(capital).fold(first, |name, word| name + &word)
        }
    }
}

/// The words of a sentence, in lower case, without an `s` at the end.
pub(super) fn stems(sentence: &str) -> impl Iterator<Item = String> {
    let parts = sentence.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.flat_map(words).map(|word| stem(&word))
}

/// A word without an `s` at the end.
pub(super) fn stem(word: &str) -> String {
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
    stem.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("readFile"), ["read", "file"]);
        assert_eq!(words("HTTPServer2_get-it"), ["http", "server2", "get", "it"]);
        assert_eq!(words("éCole"), ["é", "cole"]);
        assert!(words("__").is_empty());
    }

    #[test]
    fn names_are_written_in_each_case() {
        for name in ["readTextFile", "read_text_file", "read-text-file", "ReadTextFile"] {
            for case in Case::ALL {
                assert!(fits(&written_in(name, case), case), "{name} {case:?}");
                assert_eq!(case_of(&written_in(name, case)), Some(case));
            }
        }
        assert!(fits("read", Case::Snake) && !fits("read", Case::Pascal));
        assert!(!fits("read_File", Case::Snake) && !fits("Read", Case::Camel));
    }

    #[test]
    fn what_comes_from_elsewhere_is_not_plain() {
        for name in ["Content-Type", "$filter", "a.b", "_id", "URL", "año"] {
            assert!(!is_plain(name), "{name}");
        }
        assert!(is_plain("readFile") && is_plain("read_file2"));
    }
}
