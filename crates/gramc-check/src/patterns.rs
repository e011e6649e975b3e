//! Regular expressions: malformed ones, and those that mean something else in JavaScript.

use gramc_syntax::Span;

use crate::checker::Checker;
use crate::codes;
use gramc_model::print::string;
use gramc_model::value_check;
use gramc_model::{Constraint, TypeUse};

/// What other regular expressions have and those of JavaScript refuse, with what to write instead.
const REFUSED: &[(&str, &str)] = &[
    ("(?P<", "write a named group as (?<name>…)"),
    ("(?P=", "write a reference to a named group as \\\\k<name>"),
    ("(?i", "a pattern has no flags; write both cases, such as [aA]"),
    ("(?s", "a pattern has no flags; write [^] for any character"),
    ("(?m", "a pattern has no flags; ^ and $ are the start and the end of the text"),
    ("(?x", "a pattern has no flags; write it without spaces and comments"),
    ("(?#", "a pattern has no comments"),
];

/// Anchors of other regular expressions, which are letters in those of JavaScript.
const ANCHORS: [(char, &str); 3] = [('A', "^"), ('Z', "$"), ('z', "$")];

impl Checker<'_> {
    /// Reports a pattern that is no regular expression, or hardly the one that is meant.
    pub(crate) fn check_pattern(&mut self, span: Span, type_use: &TypeUse) {
        let mut patterns = type_use.constraints.iter().filter_map(|constraint| match constraint {
            Constraint::Pattern(pattern) => Some(pattern.as_str()),
            _ => None,
        });
        let Some(pattern) = patterns.next_back() else { return };
        match value_check::malformed_pattern(pattern) {
            Some(reason) => {
                let unsound = type_use.details.as_ref().is_some_and(|details| details.unsound);
                let message = format!("invalid regular expression: {reason}");
                let diagnostic = if unsound {
                    self.warning(&codes::UNSOUND_IMPORT, span, message)
                } else {
                    self.error(&codes::MALFORMED_PATTERN, span, message)
                };
                let known = REFUSED.iter().find(|(text, _)| pattern.contains(text));
                let help = known.map_or("use JavaScript regular expression syntax", |(_, it)| it);
                self.report(diagnostic.help(help));
            }
            None => self.foreign_pattern(span, pattern),
        }
    }

    /// Warns about a pattern that means something else in another language.
    fn foreign_pattern(&mut self, span: Span, pattern: &str) {
        let (message, right, hint) = if let Some((inner, flags)) = split_slashes(pattern) {
            let hint = match flags {
                "" => String::new(),
                flags => format!(", and a pattern has no flags such as `{flags}`"),
            };
            ("the slashes are part of this pattern".to_owned(), inner.to_owned(), hint)
        } else if let Some((anchor, right)) = strip_anchor(pattern) {
            (format!("`\\{anchor}` is the letter {anchor} in this pattern"), right, String::new())
        } else {
            return;
        };
        let text = string(&right);
        let warning = self
            .warning(&codes::FOREIGN_VALUE, span, message)
            .help(format!("write {text}{hint}"))
            .replace(format!("write {text}"), span, text);
        self.report(warning);
    }
}

/// What is between the slashes of a literal of JavaScript, and its flags; `None` where slashes may
/// be meant.
fn split_slashes(pattern: &str) -> Option<(&str, &str)> {
    let (inner, flags) = pattern.strip_prefix('/')?.rsplit_once('/')?;
    let anchored = inner.starts_with('^') || (inner.ends_with('$') && !inner.ends_with("\\$"));
    let flagged = !flags.is_empty() && inner.contains(['[', '(', '+', '*', '\\']);
    let all_flags = flags.chars().all(|flag| "dgimsuvy".contains(flag));
    (all_flags && !inner.is_empty() && (anchored || flagged)).then_some((inner, flags))
}

/// The first anchor of another language in a pattern, and the pattern with those of JavaScript.
fn strip_anchor(pattern: &str) -> Option<(char, String)> {
    let (mut first, mut right) = (None, String::with_capacity(pattern.len()));
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next() } else { None };
        let anchor = ANCHORS.iter().find(|(anchor, _)| Some(*anchor) == escaped);
        if let Some((anchor, ours)) = anchor {
            first.get_or_insert(*anchor);
            right.push_str(ours);
        } else {
            right.push(c);
            right.extend(escaped);
        }
    }
    first.map(|first| (first, right))
}
