//! Words in names and in descriptions.

use crate::settings::Case;

/// The words of a name, in lower case: `read`, `file` of `readFile`, `read_file` and `ReadFile`.
pub(crate) fn words(name: &str) -> Vec<String> {
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

/// Whether a text contains only white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The character classes of a name, as bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape(u8);

impl Shape {
    const UNDERSCORE: u8 = 1;
    const HYPHEN: u8 = 1 << 1;
    /// Letters of English, or of any language.
    const ASCII_UPPER: u8 = 1 << 2;
    const ASCII_LOWER: u8 = 1 << 3;
    const UPPER: u8 = 1 << 4;
    const LOWER: u8 = 1 << 5;
    /// Something else than letters and digits of English, `_` and `-`; or `_` at the start.
    const FOREIGN: u8 = 1 << 6;
    /// An upper letter at the start.
    const CAPITAL: u8 = 1 << 7;

    pub(crate) fn of(name: &str) -> Self {
        let class = |c: char| match c {
            'a'..='z' => Self::ASCII_LOWER | Self::LOWER,
            'A'..='Z' => Self::ASCII_UPPER | Self::UPPER,
            '0'..='9' => 0,
            '_' => Self::UNDERSCORE,
            '-' => Self::HYPHEN,
            _ if c.is_uppercase() => Self::FOREIGN | Self::UPPER,
            _ if c.is_lowercase() => Self::FOREIGN | Self::LOWER,
            _ => Self::FOREIGN,
        };
        let found = name.chars().fold(0, |found, c| found | class(c));
        Self(match name.chars().next() {
            Some('_') => found | Self::FOREIGN,
            Some(c) if c.is_uppercase() => found | Self::CAPITAL,
            _ => found,
        })
    }

    fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// The way in which a name of several words is written; `None` for one word, and for mixtures.
    pub(crate) fn case(self) -> Option<Case> {
        match (self.has(Self::UNDERSCORE), self.has(Self::HYPHEN), self.has(Self::UPPER)) {
            (true, false, false) => Some(Case::Snake),
            (false, true, false) => Some(Case::Kebab),
            (false, false, true) if !self.has(Self::CAPITAL) => Some(Case::Camel),
            (false, false, true) if self.has(Self::LOWER) => Some(Case::Pascal),
            _ => None,
        }
    }

    /// Whether a name is one that could be written in another case: letters, digits, `_` and `-`.
    /// Others, such as `Content-Type` and `$filter`, come from elsewhere.
    pub(crate) fn is_plain(self) -> bool {
        let header = self.has(Self::HYPHEN) && self.has(Self::ASCII_UPPER);
        !self.has(Self::FOREIGN) && !header && self.has(Self::ASCII_LOWER)
    }

    /// Whether a name fits a case. A single word in lower case fits all but one.
    pub(crate) fn fits(self, case: Case) -> bool {
        let word = !self.has(Self::UNDERSCORE | Self::HYPHEN | Self::CAPITAL);
        self.case().map_or(word && case != Case::Pascal, |own| own == case)
    }
}

pub(crate) fn written_in(name: &str, case: Case) -> String {
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
pub(crate) fn stems(sentence: &str) -> impl Iterator<Item = String> {
    let parts = sentence.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.flat_map(words).map(|word| stem(&word))
}

/// A word without an `s` at the end.
pub(crate) fn stem(word: &str) -> String {
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
                let shape = Shape::of(&written_in(name, case));
                assert!(shape.fits(case), "{name} {case:?}");
                assert_eq!(shape.case(), Some(case));
            }
        }
        let fits = |name, case| Shape::of(name).fits(case);
        assert!(fits("read", Case::Snake) && !fits("read", Case::Pascal));
        assert!(!fits("read_File", Case::Snake) && !fits("Read", Case::Camel));
        assert!(
            fits("éCole", Case::Camel)
                && fits("École", Case::Pascal)
                && !fits("ÉCOLE", Case::Pascal)
        );
    }

    #[test]
    fn what_comes_from_elsewhere_is_not_plain() {
        for name in ["Content-Type", "$filter", "a.b", "_id", "URL", "año"] {
            assert!(!Shape::of(name).is_plain(), "{name}");
        }
        assert!(Shape::of("readFile").is_plain() && Shape::of("read_file2").is_plain());
    }
}
