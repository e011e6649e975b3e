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

/// How a name is out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// The case of a name of several words; `None` for one word, and for mixtures.
    pub(crate) case: Option<Case>,
    /// Whether it could be out in another case: letters, digits, `_` and `-`. Others, such as
    /// `Content-Type` and `$filter`, come from elsewhere.
    pub(crate) is_plain: bool,
    /// Whether it may be a single word that begins with a small letter.
    is_word: bool,
}

impl Shape {
    pub(crate) fn of(name: &str) -> Self {
        let (has_underscore, has_hyphen) = (name.contains('_'), name.contains('-'));
        let has_upper = name.contains(char::is_uppercase);
        let is_capital = name.starts_with(char::is_uppercase);
        let case = match (has_underscore, has_hyphen, has_upper) {
            (true, false, false) => Some(Case::Snake),
            (false, true, false) => Some(Case::Kebab),
            (false, false, true) if !is_capital => Some(Case::Camel),
            (false, false, true) if name.contains(char::is_lowercase) => Some(Case::Pascal),
            _ => None,
        };
        let is_foreign = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
        let is_header = has_hyphen && name.contains(|c: char| c.is_ascii_uppercase());
        let is_plain = !(is_header || name.starts_with('_') || name.contains(is_foreign))
            && name.contains(|c: char| c.is_ascii_lowercase());
        Self { case, is_plain, is_word: !(has_underscore || has_hyphen || is_capital) }
    }

    /// Whether a name fits a case. A single word in lower case fits all but one.
    pub(crate) fn fits(self, case: Case) -> bool {
        self.case.map_or(self.is_word && case != Case::Pascal, |own| own == case)
    }
}

/// A name in another case.
pub(crate) fn convert_case(name: &str, case: Case) -> String {
    let mut out = String::new();
    for word in words(name) {
        let joint = match case {
            Case::Snake => "_",
            Case::Kebab => "-",
            Case::Pascal | Case::Camel => "",
        };
        if !out.is_empty() {
            out += joint;
        }
        if case == Case::Pascal || (case == Case::Camel && !out.is_empty()) {
            let mut chars = word.chars();
            out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
            out += chars.as_str();
        } else {
            out += &word;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_each_case() {
        for name in ["readTextFile", "read_text_file", "read-text-file", "ReadTextFile"] {
            for case in Case::ALL {
                let shape = Shape::of(&convert_case(name, case));
                assert!(shape.fits(case), "{name} {case:?}");
                assert_eq!(shape.case, Some(case));
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
            assert!(!Shape::of(name).is_plain, "{name}");
        }
        assert!(Shape::of("readFile").is_plain && Shape::of("read_file2").is_plain);
    }
}
