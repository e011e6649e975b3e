//! Texts that match a regular expression.
//!
//! Only the plain parts of expressions are understood. Every text is checked by a validator before it
//! is used, so a wrong one is lost effort and no wrong answer.

use crate::pattern::{Class, ClassItem, Node, Pattern, Repetition, Shorthand};
use crate::text::MAX_DEPTH;

/// The most repetitions of a part.
const MAX_REPEATS: usize = 2_000;

/// The longest text that is made.
const MAX_TEXT: usize = 20_000;

/// The most parts that are written for one text. Parts may write nothing, such as assertions.
const MAX_STEPS: usize = 100_000;

/// Characters to choose from where a class excludes some.
const ANY: [char; 14] = ['a', 'A', '0', '_', '-', '.', ' ', '/', '@', ':', 'z', '9', '#', 'é'];

/// A part of an expression.
#[derive(Debug)]
enum Part {
    /// One of these characters.
    Class(Vec<char>),
    /// All of these, one after the other.
    Sequence(Vec<Part>),
    /// One of these.
    Choice(Vec<Part>),
    /// A part, repeated.
    Repeat(Box<Part>, usize, usize),
}

/// How the choices in an expression are made.
#[derive(Debug, Clone, Copy)]
struct Choices {
    /// Which alternative and which character.
    nth: usize,
    /// How many repetitions more than needed, over all parts.
    more: usize,
    /// The number of parts that may still be written.
    steps: usize,
}

/// How many characters a text that matches an expression has: at least, and at most where it is bound to
/// match as a whole. `None` if the expression is not understood.
pub(super) fn lengths(pattern: &str) -> Option<(u64, Option<u64>)> {
    let pattern = Pattern::parse(pattern)?;
    let (least, most) = choice_of(&pattern)?.lengths();
    let is_whole = matches!(&pattern.alternatives[..], [only]
        if only.first() == Some(&Node::Start) && only.last() == Some(&Node::End));
    Some((least as u64, most.filter(|_| is_whole).map(|most| most as u64)))
}

/// How often the innermost part of an expression is repeated at least. Programs that match texts do
/// that many steps, even where the part matches nothing. Expressions that nest too deep to be read
/// count as endless.
pub(super) fn repetitions(pattern: &str) -> u64 {
    let unread = if pattern.matches('(').count() > MAX_DEPTH { u64::MAX } else { 1 };
    Pattern::parse(pattern).map_or(unread, |pattern| repetitions_in(&pattern))
}

fn repetitions_in(pattern: &Pattern) -> u64 {
    fn of(node: &Node) -> u64 {
        match node {
            Node::Group(inner)
            | Node::ForeignGroup(inner)
            | Node::Lookaround { pattern: inner, .. } => repetitions_in(inner),
            Node::Repeat(repetition) => {
                of(&repetition.part).saturating_mul(repetition.quantifier.least.max(1))
            }
            _ => 1,
        }
    }
    pattern.alternatives.iter().flatten().map(of).max().unwrap_or(1)
}

impl Part {
    /// The least and the greatest number of characters.
    fn lengths(&self) -> (usize, Option<usize>) {
        match self {
            Self::Class(_) => (1, Some(1)),
            Self::Sequence(parts) => parts.iter().fold((0, Some(0)), |(least, most), part| {
                let (more, limit) = part.lengths();
                let most = most.zip(limit).and_then(|(most, limit)| most.checked_add(limit));
                (least.saturating_add(more), most)
            }),
            Self::Choice(parts) => {
                let all: Vec<_> = parts.iter().map(Self::lengths).collect();
                let least = all.iter().map(|part| part.0).min().unwrap_or(0);
                let most = all.iter().map(|part| part.1).collect::<Option<Vec<_>>>();
                (least, most.and_then(|all| all.into_iter().max()))
            }
            Self::Repeat(part, least, most) => {
                let (one, limit) = part.lengths();
                let limit = limit.filter(|_| *most < MAX_REPEATS);
                (one.saturating_mul(*least), limit.and_then(|limit| limit.checked_mul(*most)))
            }
        }
    }
}

/// Some texts that match an expression, the shortest first, and one of each of these lengths.
pub(super) fn matching(pattern: &str, lengths: &[u64]) -> Vec<String> {
    let Some(part) = Pattern::parse(pattern).as_ref().and_then(choice_of) else {
        return Vec::new();
    };
    let made = |nth, more| {
        let mut out = String::new();
        let mut choices = Choices { nth, more, steps: MAX_STEPS };
        write(&part, &mut choices, &mut out);
        out
    };
    let mut found: Vec<String> =
        (0..4).flat_map(|nth| [0, 1, 3].map(|more| made(nth, more))).collect();
    for length in lengths {
        let Ok(length) = usize::try_from(*length) else { continue };
        for nth in 0..2 {
            let shortest = made(nth, 0).chars().count();
            if let Some(more) = length.checked_sub(shortest).filter(|_| length <= MAX_TEXT) {
                found.push(made(nth, more));
            }
        }
    }
    let mut distinct = Vec::new();
    for text in found {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

fn write(part: &Part, choices: &mut Choices, out: &mut String) {
    if out.len() > MAX_TEXT || choices.steps == 0 {
        return;
    }
    choices.steps -= 1;
    match part {
        Part::Class(characters) => {
            out.extend(characters.get(choices.nth % characters.len().max(1)));
        }
        Part::Sequence(parts) => parts.iter().for_each(|part| write(part, choices, out)),
        Part::Choice(parts) => {
            if let Some(part) = parts.get(choices.nth % parts.len().max(1)) {
                write(part, choices, out);
            }
        }
        Part::Repeat(part, least, most) => {
            let more = choices.more.min(most - least);
            choices.more -= more;
            for _ in 0..least + more {
                let before = out.len();
                write(part, choices, out);
                if out.len() == before {
                    break;
                }
            }
        }
    }
}

fn choice_of(pattern: &Pattern) -> Option<Part> {
    let is_part = |node: &&Node| !matches!(node, Node::Start | Node::End | Node::Boundary);
    let sequence_of = |nodes: &Vec<Node>| {
        let parts = nodes.iter().filter(is_part).map(part_of);
        parts.collect::<Option<_>>().map(Part::Sequence)
    };
    pattern.alternatives.iter().map(sequence_of).collect::<Option<_>>().map(Part::Choice)
}

fn part_of(node: &Node) -> Option<Part> {
    Some(match node {
        Node::Character(c) | Node::Bracket(c @ (']' | '}')) => Part::Class(vec![*c]),
        Node::Dot => Part::Class(ANY.to_vec()),
        Node::Shorthand(shorthand) => Part::Class(characters_of(*shorthand).chars().collect()),
        Node::Class(class) => class_of(class)?,
        Node::Group(pattern) => choice_of(pattern)?,
        // Assertions about the text around are left out.
        Node::Lookaround { pattern, .. } => {
            choice_of(pattern)?;
            Part::Sequence(Vec::new())
        }
        Node::Repeat(repetition) => {
            let Repetition { part, quantifier } = &**repetition;
            let least = usize::try_from(quantifier.least).ok()?;
            let most = quantifier.most.map_or(Some(MAX_REPEATS), |most| most.try_into().ok())?;
            if least > MAX_REPEATS || least > most {
                return None;
            }
            Part::Repeat(part_of(part)?.into(), least, most.min(MAX_REPEATS))
        }
        _ => return None,
    })
}

/// Some characters that a shorthand matches.
const fn characters_of(shorthand: Shorthand) -> &'static str {
    match (shorthand.letter, shorthand.negated) {
        ('d', false) => "0123456789",
        ('w', false) => "aA0_z9",
        ('s', false) => " ",
        ('d', true) => "a- /",
        ('w', true) => "- ./",
        _ => "aA0-.",
    }
}

fn class_of(class: &Class) -> Option<Part> {
    if class.items.is_empty() || class.has_rare || class.has_bracket {
        return None;
    }
    let mut ranges: Vec<(char, char)> = Vec::new();
    for item in &class.items {
        match item {
            ClassItem::Range(low, high) => ranges.push((*low, *high)),
            ClassItem::Shorthand(shorthand) => {
                ranges.extend(characters_of(*shorthand).chars().map(|c| (c, c)));
            }
            ClassItem::Property(_) => return None,
        }
    }
    let is_in = |c: &char| ranges.iter().any(|(low, high)| (low..=high).contains(&c));
    let characters: Vec<char> = if class.negated {
        ANY.into_iter().filter(|c| !is_in(c)).collect()
    } else {
        ranges.iter().flat_map(|(low, high)| [*low, *high]).collect()
    };
    (!characters.is_empty()).then_some(Part::Class(characters))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn texts_match() {
        for (pattern, lengths) in [
            ("^[a-z]{2,40}$", &[2, 7, 40][..]),
            (r"^\d{4}-\d{2}-\d{2}$", &[10]),
            ("^(https?|ftp)://[^/ ]+/?", &[30]),
            (r"^x-", &[9]),
            (r"^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", &[]),
            (r"^[A-Z]{3}$", &[3]),
            (r"^(?=.{1,8}$)[\w.-]+@[\w-]+\.[a-z]{2,}$", &[]),
            ("a|b", &[]),
            ("^[^A-Z]+$", &[5]),
        ] {
            let schema = serde_json::json!({"pattern": pattern});
            let validator = jsonschema::validator_for(&schema).unwrap();
            let texts = matching(pattern, lengths);
            let matched: Vec<_> =
                texts.iter().filter(|text| validator.is_valid(&text.as_str().into())).collect();
            assert!(!matched.is_empty(), "{pattern}: {texts:?}");
            for length in lengths {
                let is_there = matched.iter().any(|text| text.chars().count() as u64 == *length);
                assert!(is_there || !pattern.ends_with('$'), "{pattern} {length}: {texts:?}");
            }
        }
    }

    #[test]
    fn nested_repetitions_are_multiplied() {
        for (pattern, expected) in [
            ("^a$", 1),
            (r"^\d{4}-\d{2}$", 4),
            ("^(a{3}|b){5,9}c{2}$", 15),
            (r"(?:(?:(?i:\b){2000}){2000}?){200}", 800_000_000),
            ("((a{99999999999}){99999999999})", u64::MAX),
            (r"(a\){9})", 9),
            // Malformed.
            (")){2}", 1),
            ("^a{9}1{9}2{9}$", 9),
            ("{a}{2,}", 2),
        ] {
            assert_eq!(repetitions(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn repetitions_of_nothing_end() {
        let pattern = r"^(?:(?:(?:\b){2000}){2000}){200}a$";
        assert_eq!(matching(pattern, &[]), ["a"]);
        let deep = "(?:".repeat(12) + "a?" + &"){2000}".repeat(12);
        assert_eq!(matching(&deep, &[]).len(), 3);
    }

    #[test]
    fn lengths_are_those_of_all_texts() {
        for (pattern, expected) in [
            ("^[a-z]{3}$", Some((3, Some(3)))),
            ("^(ab|c)?d{2,4}$", Some((2, Some(6)))),
            ("^a+$", Some((1, None))),
            ("^a{2}", Some((2, None))),
            ("^a$|b", Some((1, None))),
            (r"^a\$", Some((2, None))),
            (r"^(?=.{9})a$", Some((1, Some(1)))),
            ("(", None),
        ] {
            assert_eq!(lengths(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn what_is_not_understood_gives_nothing() {
        for pattern in [
            "(",
            "[",
            "a{2",
            r"(a)\1",
            "a)",
            r"\p{L}",
            "a{9999}",
            "^(?i:ab)$",
            "(?i)^ab$",
            "(?P<n>ab)",
            "(?>ab)",
            "(?#ab)",
            "ab*+",
            "a**",
            "a{2}{3}",
            "^*a",
            r"\Aab\z",
            r"a\Kb",
            "[[:alpha:]]",
            "[]a]",
            "[^]a]",
        ] {
            assert_eq!(matching(pattern, &[5]), [""; 0], "{pattern}");
            assert_eq!(lengths(pattern), None, "{pattern}");
        }
        assert_eq!(matching(&"(".repeat(1_000), &[]), [""; 0]);
    }
}
