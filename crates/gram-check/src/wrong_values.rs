//! Values of attributes that are not of the expected type.

use gram_model::RequestLocation;
use gram_model::attributes::ValueType;
use gram_syntax::Applicability::NeedsLook;
use gram_syntax::Fix;

use crate::attributes::Attribute;
use crate::checker::Checker;
use crate::codes;
use crate::foreign_values::{Likely, likely_values, several};

impl Attribute<'_> {
    /// Reports that the value is not of the expected type.
    pub(crate) fn wrong(&self, checker: &mut Checker<'_>, file: usize, expected: ValueType) {
        self.wrong_as(checker, file, expected, &expected.expected());
    }

    /// Reports that the value is not of the expected type, which `words` describe.
    pub(crate) fn wrong_as(
        &self,
        checker: &mut Checker<'_>,
        file: usize,
        expected: ValueType,
        words: &str,
    ) {
        let message = format!("`{}` expects {words}", self.key);
        let found = checker.source(file).slice(self.span());
        let mut help = format!("write {words}");
        if found.len() < 40 {
            let comma = if words.contains(',') { "," } else { "" };
            help = format!("{help}{comma} instead of {found}");
        }
        // An example may be a text with commas.
        let several = self.node().filter(|_| self.key == "enum").and_then(several);
        let likely = match (several, self.node()) {
            (Some(text), _) => vec![Likely { text, meaning: String::new() }],
            (None, Some(node)) => likely_values(node, expected),
            (None, None) => Vec::new(),
        };
        let choices: Vec<_> = likely.iter().map(|likely| choice(likely, found)).collect();
        if let Some((last, before)) = choices.split_last() {
            let comma = if before.len() > 1 { "," } else { "" };
            help = match before {
                [] => format!("write {last}"),
                _ => format!("write {}{comma} or {last}", before.join(", ")),
            };
        }
        if expected == ValueType::Places {
            let [places @ .., last] = RequestLocation::ALL.map(RequestLocation::name);
            help = format!("{help}; the places are {} and {last}", places.join(", "));
        }
        let mut error =
            checker.error(&codes::ATTRIBUTE_VALUE, file, self.span(), message).help(help);
        for likely in likely {
            let message = format!("write {}", choice(&likely, found));
            error = error.fix(Fix::replace(NeedsLook, message, self.span(), &*likely.text));
        }
        checker.report(file, error);
    }
}

/// A value that may be meant instead of one, for messages.
fn choice(likely: &Likely, found: &str) -> String {
    let Likely { text, meaning } = likely;
    match meaning.as_str() {
        "" => format!("`{text}`"),
        "seconds" | "milliseconds" => format!("`{text}` for {meaning}"),
        _ => format!("`{text}` for {meaning} {found}"),
    }
}
