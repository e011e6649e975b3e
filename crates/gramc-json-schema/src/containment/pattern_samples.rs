//! Texts that match a regular expression.
//!
//! Only the plain parts of expressions are understood. Every text is checked by a validator before it
//! is used, so a wrong one is lost effort and no wrong answer.

/// The most repetitions of a part.
const MAX_REPEATS: usize = 2_000;

/// The depth of nested groups that is read.
const MAX_DEPTH: usize = 32;

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
    let part = parse(pattern)?;
    let (least, most) = part.lengths();
    let is_whole = matches!(&part, Part::Choice(parts) if parts.len() == 1)
        && pattern.starts_with('^')
        && pattern.ends_with('$')
        && !pattern.ends_with("\\$");
    Some((least as u64, most.filter(|_| is_whole).map(|most| most as u64)))
}

/// How often the innermost part of an expression is repeated at least. Programs that match texts do
/// that many steps, even where the part matches nothing.
pub(super) fn repetitions(pattern: &str) -> u64 {
    // The greatest number in each open group, and that of the last part.
    let (mut open, mut last) = (vec![1_u64], 1_u64);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        last = match c {
            '(' => {
                open.push(1);
                1
            }
            ')' if open.len() > 1 => open.pop().unwrap_or(1),
            '{' => match count_of(rest.as_str()) {
                Some((least, after)) => {
                    rest = after.chars();
                    last.saturating_mul(least.max(1))
                }
                None => 1,
            },
            '?' | '+' | '*' => last,
            '\\' => {
                rest.next();
                1
            }
            _ => 1,
        };
        if let Some(most) = open.last_mut() {
            *most = last.max(*most);
        }
    }
    open.into_iter().max().unwrap_or(1)
}

/// The least count of `2}`, `2,}` or `2,5}`, and the text behind it.
fn count_of(text: &str) -> Option<(u64, &str)> {
    let (inside, after) = text.split_once('}')?;
    let least = inside.split(',').next()?;
    Some((least.parse().ok()?, after))
}

fn parse(pattern: &str) -> Option<Part> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut reader = Reader { characters: &characters, at: 0 };
    reader.choice(0).filter(|_| reader.at == characters.len())
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
    let Some(part) = parse(pattern) else { return Vec::new() };
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

struct Reader<'p> {
    characters: &'p [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn takes(&mut self, text: &str) -> bool {
        let all =
            text.chars().enumerate().all(|(nth, c)| self.characters.get(self.at + nth) == Some(&c));
        self.at += if all { text.chars().count() } else { 0 };
        all
    }

    /// Alternatives.
    fn choice(&mut self, depth: usize) -> Option<Part> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut parts = vec![self.sequence(depth)?];
        while self.takes("|") {
            parts.push(self.sequence(depth)?);
        }
        Some(Part::Choice(parts))
    }

    fn sequence(&mut self, depth: usize) -> Option<Part> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek().filter(|c| !matches!(c, '|' | ')')) {
            self.at += 1;
            let part = match c {
                '^' | '$' => continue,
                '.' => Part::Class(ANY.to_vec()),
                '(' => self.group(depth)?,
                '[' => self.class()?,
                // A second repetition, or one of nothing.
                '*' | '+' | '?' | '{' => return None,
                '\\' => match self.escape()? {
                    // An assertion.
                    characters if characters.is_empty() => continue,
                    characters => Part::Class(characters),
                },
                c => Part::Class(vec![c]),
            };
            parts.push(self.repeated(part)?);
        }
        Some(Part::Sequence(parts))
    }

    /// The rest of a group. What looks around is left out.
    fn group(&mut self, depth: usize) -> Option<Part> {
        let looks = ["?=", "?!", "?<=", "?<!"].into_iter().any(|start| self.takes(start));
        if !looks && !self.takes("?:") && self.takes("?<") {
            while self.next()? != '>' {}
        }
        // Flags, comments and conditions.
        if self.peek() == Some('?') {
            return None;
        }
        let part = self.choice(depth + 1)?;
        let part = if looks { Part::Sequence(Vec::new()) } else { part };
        self.takes(")").then_some(part)
    }

    fn repeated(&mut self, part: Part) -> Option<Part> {
        let (least, most) = match self.peek() {
            Some('*') => (0, MAX_REPEATS),
            Some('+') => (1, MAX_REPEATS),
            Some('?') => (0, 1),
            Some('{') => return self.counted(part),
            _ => return Some(part),
        };
        self.at += 1;
        self.takes("?");
        Some(Part::Repeat(part.into(), least, most))
    }

    /// `{2}`, `{2,}` or `{2,5}`.
    fn counted(&mut self, part: Part) -> Option<Part> {
        let rest = &self.characters[self.at..];
        let end = rest.iter().position(|c| *c == '}')?;
        let inside: String = rest[1..end].iter().collect();
        self.at += end + 1;
        self.takes("?");
        let (least, most) = inside.split_once(',').unwrap_or((&inside, &inside));
        let least: usize = least.parse().ok()?;
        let most = if most.is_empty() { MAX_REPEATS } else { most.parse().ok()? };
        (least <= MAX_REPEATS && least <= most)
            .then(|| Part::Repeat(part.into(), least, most.min(MAX_REPEATS)))
    }

    /// The characters of an escape. Empty for an assertion.
    fn escape(&mut self) -> Option<Vec<char>> {
        Some(match self.next()? {
            'd' => ('0'..='9').collect(),
            'w' => vec!['a', 'A', '0', '_', 'z', '9'],
            's' => vec![' '],
            'D' => vec!['a', '-', ' ', '/'],
            'W' => vec!['-', ' ', '.', '/'],
            'S' => vec!['a', 'A', '0', '-', '.'],
            'b' | 'B' => Vec::new(),
            'n' => vec!['\n'],
            't' => vec!['\t'],
            'r' => vec!['\r'],
            'u' => {
                let code: String = (0..4).map_while(|_| self.next()).collect();
                vec![char::from_u32(u32::from_str_radix(&code, 16).ok()?)?]
            }
            'f' => vec!['\u{c}'],
            'v' => vec!['\u{b}'],
            // References to groups, classes of Unicode, and what only some dialects know.
            c if c.is_ascii_alphanumeric() => return None,
            c => vec![c],
        })
    }

    /// The rest of a class.
    fn class(&mut self) -> Option<Part> {
        let is_negated = self.takes("^");
        let mut ranges: Vec<(char, char)> = Vec::new();
        // Some dialects read this bracket as a character.
        if self.peek() == Some(']') {
            return None;
        }
        while !self.takes("]") {
            let low = match self.next()? {
                // Some dialects read a class in the class.
                '[' => return None,
                '\\' => match &self.escape()?[..] {
                    [only] => *only,
                    several => {
                        ranges.extend(several.iter().map(|c| (*c, *c)));
                        continue;
                    }
                },
                c => c,
            };
            let is_range = self.peek() == Some('-')
                && self.characters.get(self.at + 1).is_some_and(|end| *end != ']');
            let high = if is_range {
                self.at += 1;
                match self.next()? {
                    '\\' => *self.escape()?.first()?,
                    c => c,
                }
            } else {
                low
            };
            ranges.push((low, high));
        }
        let is_in = |c: &char| ranges.iter().any(|(low, high)| (low..=high).contains(&c));
        let characters: Vec<char> = if is_negated {
            ANY.into_iter().filter(|c| !is_in(c)).collect()
        } else {
            let ends = ranges.iter().flat_map(|(low, high)| [*low, *high]);
            ends.collect()
        };
        (!characters.is_empty()).then_some(Part::Class(characters))
    }
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
            ("((a{99999999999}){99999999999}", u64::MAX),
            (r"(a\){9})", 9),
            (")){2}", 2),
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
