//! Words in names and in descriptions.

use std::borrow::Cow;

use crate::settings::Case;

/// The words of a name, in lower case: `read`, `file` of `readFile`, `read_file` and `ReadFile`.
pub(crate) fn words(name: &str) -> impl Iterator<Item = Cow<'_, str>> {
    gramc_model::words::words(name).map(gramc_model::words::lower)
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
    let mut written = String::new();
    for word in words(name) {
        let joint = match case {
            Case::Snake => "_",
            Case::Kebab => "-",
            Case::Pascal | Case::Camel => "",
        };
        if !written.is_empty() {
            written += joint;
        }
        if case == Case::Pascal || (case == Case::Camel && !written.is_empty()) {
            let mut chars = word.chars();
            written.extend(chars.next().into_iter().flat_map(char::to_uppercase));
            written += chars.as_str();
        } else {
            written += &word;
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

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
