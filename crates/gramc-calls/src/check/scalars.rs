//! Validation of numbers and strings.

use gramc_json_schema::strings::StringCheck;
use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use super::number;
use super::problem::{NoteDetail, ProblemCode, RepairRule};
use super::received::Received;
use super::shape::{AllowedValues, Shape, TextRules};
use super::tape::{Node, NodeKind, Tape};
use super::validate::ValidationRun;

impl AllowedValues {
    /// Whether a value is allowed.
    pub(super) fn allow(&self, t: &Tape<'_>, node: Node) -> bool {
        match node.kind {
            NodeKind::Plain => {
                let text = t.raw(node);
                self.list.iter().any(|member| member.as_str() == Some(text))
            }
            _ if self.texts && node.kind != NodeKind::Escaped => false,
            _ => serde_json::from_str::<Value>(t.json(node)).is_ok_and(|value| {
                self.list.iter().any(|member| gramc_json_schema::values::same(member, &value))
            }),
        }
    }

    /// The only member that equals a string except for case and surrounding whitespace. The case of
    /// a single letter may have a meaning: `m` and `M`.
    pub(super) fn in_another_case(&self, text: &str) -> Option<&str> {
        let mut found =
            self.list.iter().filter_map(Value::as_str).filter(|member| same_letters(member, text));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

/// Whether two strings are equal except for case and surrounding whitespace.
fn same_letters(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim(), other.trim());
    if one == other || one.chars().nth(1).is_none() {
        return one == other;
    }
    if one.is_ascii() && other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    one.to_lowercase() == other.to_lowercase()
}

impl ValidationRun<'_> {
    pub(super) fn number(&mut self, received: Received<'_>, shape: &Shape) -> bool {
        let raw = received.raw();
        let mut fits = true;
        if let Some(rules) = &shape.number {
            if number::outside(rules, raw) {
                fits = self.refuse(received, ProblemCode::OutOfRange, NoteDetail::None);
            }
            if rules.step.as_ref().is_some_and(|step| !number::is_multiple(raw, step)) {
                fits = self.refuse(received, ProblemCode::NotMultiple, NoteDetail::None);
            }
        }
        if fits
            && self.rules.repair
            && !shape.kinds.meets(TypeSet::FRACTION)
            && let Some(whole) = number::written_whole(raw)
        {
            self.note_repair(received.path, RepairRule::WholeNumber, raw, Some(&whole));
            self.out.push_str(&whole);
            if self.secret && !self.quiet {
                // The implementation receives this notation.
                self.accepted.secrets.push(whole);
            }
            return true;
        }
        fits && self.copy(received.json())
    }

    pub(super) fn text(&mut self, received: Received<'_>, shape: &Shape) -> bool {
        let mut fits = true;
        if let Some(rules) = &shape.text {
            for code in find_violations(rules, &received.content()) {
                fits = self.refuse(received, code, NoteDetail::None);
            }
        }
        fits && self.copy(received.json())
    }
}

fn find_violations(rules: &TextRules, text: &str) -> impl Iterator<Item = ProblemCode> + use<> {
    let bytes = text.len() as u64;
    // A character has one to four bytes, so most cases need no count of characters.
    let too_long = rules.most.is_some_and(|most| bytes > most && count(text) > most);
    let too_short = bytes < rules.least || (bytes / 4 < rules.least && count(text) < rules.least);
    let length = (too_long || too_short).then_some(ProblemCode::WrongLength);
    let fails = |rule: &Option<(Box<str>, StringCheck)>| {
        rule.as_ref().is_some_and(|(_, check)| !check.accepts(text))
    };
    let pattern = fails(&rules.pattern).then_some(ProblemCode::PatternMismatch);
    let format =
        (fails(&rules.format) || fails(&rules.encoding)).then_some(ProblemCode::FormatMismatch);
    [length, pattern, format].into_iter().flatten()
}

fn count(text: &str) -> u64 {
    text.chars().count() as u64
}
