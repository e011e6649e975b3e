//! The words of names, and their singular.

use std::borrow::Cow;

/// The words of a name as written: `HTTP`, `Server2` and `name` of `HTTPServer2_name`.
pub fn words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let word;
        (word, rest) = rest.split_at(end_of_word(rest));
        (!word.is_empty()).then_some(word)
    })
}

/// The end of the word at the start of a name.
fn end_of_word(name: &str) -> usize {
    let mut chars = name.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((at, c)) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        // `readFile` has a break before F, `HTTPServer` one before S.
        let begins = |before: char| c.is_uppercase() && (!before.is_uppercase() || next_is_lower);
        if !c.is_alphanumeric() || before.is_some_and(begins) {
            return at;
        }
        before = Some(c);
    }
    name.len()
}

/// A word in lower case. Most are, and are not copied.
pub fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

/// The singular of an English word, by its spelling alone.
pub fn singular(word: &str) -> Cow<'_, str> {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if word.len() < 4 || ends(&["ss", "us", "is", "news", "series"]) {
        return word.into();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y").into();
    }
    if ends(&["ches", "shes", "sses", "xes"]) {
        return word[..word.len() - 2].into();
    }
    word.strip_suffix('s').unwrap_or(word).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        let words = |name| words(name).collect::<Vec<_>>();
        assert_eq!(words("readFile"), ["read", "File"]);
        assert_eq!(words("HTTPServer2_get-it"), ["HTTP", "Server2", "get", "it"]);
        assert_eq!(words("getV2Users"), ["get", "V2", "Users"]);
        assert_eq!(words("éCole"), ["é", "Cole"]);
        assert!(words("__").is_empty());
    }

    #[test]
    fn singulars_are_found_by_spelling() {
        for (plural, expected) in [
            ("entries", "entry"),
            ("boxes", "box"),
            ("branches", "branch"),
            ("addresses", "address"),
            ("files", "file"),
            ("status", "status"),
            ("analysis", "analysis"),
            ("news", "news"),
            ("its", "its"),
            ("ties", "tie"),
        ] {
            assert_eq!(singular(plural), expected);
        }
    }
}
