//! The table of mistakes: reads `mistakes/*.txt`, which `mistakes/README.md` describes.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::codes::SYNTAX_CODES;
use crate::diagnostic::Code;

/// The mistakes of all places.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for text in FILES {
        table.read(text);
    }
    table
});

const FILES: [&str; 9] = [
    include_str!("mistakes/top.txt"),
    include_str!("mistakes/heads.txt"),
    include_str!("mistakes/nodes.txt"),
    include_str!("mistakes/elements.txt"),
    include_str!("mistakes/values.txt"),
    include_str!("mistakes/types.txt"),
    include_str!("mistakes/arrows.txt"),
    include_str!("mistakes/brackets.txt"),
    include_str!("mistakes/lexical.txt"),
];

#[derive(Default)]
pub(super) struct Table {
    places: HashMap<&'static str, Vec<Item>>,
    lists: HashMap<&'static str, Vec<&'static str>>,
    texts: HashMap<&'static str, &'static str>,
    /// Lines that are not part of the notation.
    malformed: Vec<&'static str>,
}

/// A row, or the name of another place whose rows are tried here under a condition.
pub(super) enum Item {
    Row(Box<Row>),
    Use(&'static str, Option<&'static str>),
}

/// A mistake: its pattern, and the diagnostic. Templates and spans are read when they are used.
#[derive(Default)]
pub(super) struct Row {
    /// The elements before the start, in the order of the text.
    pub(super) before: Vec<Element>,
    pub(super) start: Start,
    pub(super) after: Vec<Element>,
    pub(super) conditions: Vec<&'static str>,
    /// The code, the span and the message; none where the row explains another diagnostic.
    pub(super) error: Option<(&'static Code, &'static str, &'static str)>,
    pub(super) lines: Vec<Line>,
}

/// A further line of a row: `[condition] key argument: text`.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) condition: Option<&'static str>,
    pub(super) key: &'static str,
    pub(super) argument: &'static str,
    pub(super) text: &'static str,
}

/// The token at which the pattern after the mark begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Start {
    /// `^`, the unexpected token.
    #[default]
    At,
    /// `^last`, the token before it.
    Last,
    /// `^open`, the bracket of the group.
    Open,
}

#[derive(Debug)]
pub(super) enum Element {
    Atom(Option<&'static str>, Atom),
    /// Alternatives, and the least and greatest number of repetitions.
    Group(Option<&'static str>, Vec<Vec<Element>>, u32, u32),
    Not(Box<Element>),
    Ahead(Box<Element>),
    /// `..`: tokens up to the next element.
    Skip,
    /// `~`: no white space.
    Touching,
    /// `/`: the mistake ends here; the rest is its context.
    Slash,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Atom {
    Text(&'static str),
    List(&'static str),
    Class(&'static str),
}

impl Table {
    pub(super) fn place(&self, name: &str) -> &[Item] {
        self.places.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_in(&self, list: &str, word: &str) -> bool {
        self.lists.get(list).is_some_and(|words| words.contains(&word))
    }

    pub(super) fn text(&self, name: &str) -> Option<&'static str> {
        self.texts.get(name).copied()
    }

    fn read(&mut self, text: &'static str) {
        let mut place = "";
        for block in text.split("\n\n") {
            let mut row: Option<Row> = None;
            for line in block.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
                if let Some(name) = line.strip_prefix("== ") {
                    place = name;
                } else if let Some(name) = line.strip_prefix("use ") {
                    let (name, condition) = match name.split_once(" if ") {
                        Some((name, condition)) => (name, Some(condition)),
                        None => (name, None),
                    };
                    self.places.entry(place).or_default().push(Item::Use(name, condition));
                } else if let Some((name, words)) = line.strip_prefix('%').and_then(definition) {
                    self.lists.insert(name, words.split(' ').collect());
                } else if let Some((name, text)) = line.strip_prefix('$').and_then(definition) {
                    self.texts.insert(name, text);
                } else if let Some(row) = &mut row {
                    if !row.read(line) {
                        self.malformed.push(line);
                    }
                } else if !line.is_empty() {
                    row = Row::of_pattern(line);
                    if row.is_none() {
                        self.malformed.push(line);
                    }
                }
            }
            if let Some(row) = row {
                self.places.entry(place).or_default().push(Item::Row(Box::new(row)));
            }
        }
    }
}

/// `name = text`
fn definition(line: &'static str) -> Option<(&'static str, &'static str)> {
    line.split_once(" = ")
}

impl Row {
    fn of_pattern(line: &'static str) -> Option<Self> {
        let mut row = Self::default();
        let words: Vec<_> = line.split_whitespace().collect();
        let mark = words.iter().position(|word| word.starts_with('^'))?;
        row.start = match words[mark] {
            "^" => Start::At,
            "^last" => Start::Last,
            "^open" => Start::Open,
            _ => return None,
        };
        row.before = elements(&mut words[..mark].iter().copied())?.pop()?;
        row.after = elements(&mut words[mark + 1..].iter().copied())?.pop()?;
        Some(row)
    }

    fn read(&mut self, line: &'static str) -> bool {
        if let Some(condition) = line.strip_prefix("if ") {
            self.conditions.push(condition);
            return true;
        }
        let (condition, line) = match line.strip_prefix('[').and_then(|line| line.split_once("] "))
        {
            Some((condition, line)) => (Some(condition), line),
            None => (None, line),
        };
        // A title with a colon is in quotes.
        let quoted = line.split_once(" \"").and_then(|(key, rest)| {
            let (title, text) = rest.split_once("\": ")?;
            (!key.contains(' ') && !key.contains(':')).then_some((key, title, text))
        });
        let plain = || {
            let (head, text) =
                line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")))?;
            let (key, argument) = head.split_once(' ').unwrap_or((head, ""));
            Some((key, argument, text))
        };
        let Some((key, argument, text)) = quoted.or_else(plain) else { return false };
        if let Some(code) = SYNTAX_CODES.iter().find(|code| code.name == key) {
            self.error = Some((code, argument, text));
            return condition.is_none();
        }
        self.lines.push(Line { condition, key, argument, text });
        matches!(
            key,
            "help"
                | "fix"
                | "safe"
                | "write"
                | "write`"
                | "label"
                | "labels"
                | "here"
                | "about"
                | "cover"
        )
    }
}

/// The alternatives of a pattern, up to its closing parenthesis.
fn elements(words: &mut impl Iterator<Item = &'static str>) -> Option<Vec<Vec<Element>>> {
    let mut alternatives = vec![Vec::new()];
    while let Some(word) = words.next() {
        if word == "|" {
            alternatives.push(Vec::new());
            continue;
        }
        let (group, end) = match word {
            word if word.starts_with(')') => {
                // The quantifier of the group, for the caller.
                alternatives.push(vec![Element::Atom(None, Atom::Text(&word[1..]))]);
                return Some(alternatives);
            }
            word => element(word, words)?,
        };
        alternatives.last_mut()?.push(group);
        if end {
            return None;
        }
    }
    Some(alternatives)
}

fn element(
    word: &'static str,
    words: &mut impl Iterator<Item = &'static str>,
) -> Option<(Element, bool)> {
    if let Some(rest) = word.strip_prefix('!').filter(|rest| !rest.is_empty()) {
        return Some((Element::Not(Box::new(element(rest, words)?.0)), false));
    }
    if let Some(rest) = word.strip_prefix('&').filter(|rest| !rest.is_empty()) {
        return Some((Element::Ahead(Box::new(element(rest, words)?.0)), false));
    }
    match word {
        ".." => return Some((Element::Skip, false)),
        "~" => return Some((Element::Touching, false)),
        "/" => return Some((Element::Slash, false)),
        _ => {}
    }
    let (capture, rest) = match word.split_once(':') {
        Some((name, rest)) if name.chars().all(char::is_alphanumeric) => (Some(name), rest),
        _ => (None, word),
    };
    if rest == "(" {
        let mut alternatives = elements(words)?;
        let Some(Element::Atom(_, Atom::Text(times))) = alternatives.pop()?.pop() else {
            return None;
        };
        let (least, most) = times_of(times)?;
        return Some((Element::Group(capture, alternatives, least, most), false));
    }
    let (name, times) = if let Some(text) = rest.strip_prefix('\'') {
        let (text, times) = text.rsplit_once('\'')?;
        (Atom::Text(text), times)
    } else {
        let name = rest.trim_end_matches(['?', '*', '+']);
        let atom = name.strip_prefix('%').map_or(Atom::Class(name), Atom::List);
        (atom, &rest[name.len()..])
    };
    if times.is_empty() {
        return Some((Element::Atom(capture, name), false));
    }
    let (least, most) = times_of(times)?;
    Some((Element::Group(capture, vec![vec![Element::Atom(None, name)]], least, most), false))
}

fn times_of(times: &str) -> Option<(u32, u32)> {
    Some(match times {
        "" => (1, 1),
        "?" => (0, 1),
        "*" => (0, u32::MAX),
        "+" => (1, u32::MAX),
        times => (0, times.strip_prefix('*')?.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::{Item, TABLE};

    #[test]
    fn the_table_is_well_formed() {
        assert_eq!(TABLE.malformed, Vec::<&str>::new());
        for item in TABLE.places.values().flatten() {
            match item {
                Item::Use(name, _) => assert!(TABLE.places.contains_key(name), "no place {name}"),
                Item::Row(row) => assert!(row.error.is_some() || !row.lines.is_empty()),
            }
        }
    }
}
