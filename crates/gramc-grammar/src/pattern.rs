//! ECMAScript patterns as regular expressions of whole texts.

use std::iter::Peekable;
use std::str::Chars;

use crate::char_set::CharSet;
use crate::regex::{MAX_GROWTH, Regex};

/// The texts that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// A regular expression of whole texts that match, apart from what `all_of` and `none_of` say.
    pub(crate) texts: Regex,
    /// Whether `texts` holds all of them.
    pub(crate) exact: bool,
    /// Lookaheads at the start: the texts that match are in each of these,
    pub(crate) all_of: Vec<Regex>,
    /// and in none of these.
    pub(crate) none_of: Vec<Regex>,
}

/// The most alternatives with different anchors.
const MAX_PIECES: usize = 64;

/// The most levels of groups.
const MAX_DEPTH: usize = 50;

/// The most lookaheads, each of which is compared with all others.
const MAX_LOOKAHEADS: usize = 32;

/// The largest number of a quantifier.
const MAX_COUNT: u32 = 100_000;

/// Reads a pattern. `None` if it is too large or uses constructs that have no translation: lookaround
/// elsewhere than at the start, backreferences, word boundaries, anchors within the text.
pub(crate) fn read(pattern: &str) -> Option<Pattern> {
    let mut reader = Reader {
        chars: pattern.chars().peekable(),
        exact: true,
        refuses: false,
        depth: 0,
        budget: MAX_GROWTH,
        all_of: Vec::new(),
        none_of: Vec::new(),
    };
    let pieces = reader.alternatives(true)?;
    if reader.chars.next().is_some() {
        return None;
    }
    let Reader { exact, all_of, none_of, .. } = reader;
    Some(Pattern { texts: whole(pieces), exact, all_of, none_of })
}

/// Any text.
pub(crate) fn anything() -> Regex {
    Regex::chars(CharSet::all()).repeat(0, None)
}

/// Part of a pattern, and whether it has to be at the start or the end of the text.
#[derive(Debug, Clone, Default)]
struct Piece {
    start: bool,
    /// One after the other.
    body: Vec<Regex>,
    end: bool,
}

impl Piece {
    fn new(start: bool, body: Regex, end: bool) -> Self {
        let body = if let Regex::Seq(parts) = body { parts } else { vec![body] };
        Self { start, body, end }
    }

    fn plain(body: Regex) -> Self {
        Self::new(false, body, false)
    }

    /// A copy, or `None` if it has more nodes than the budget.
    fn copied(&self, budget: &mut usize) -> Option<Self> {
        let body: Option<Vec<Regex>> = self.body.iter().map(|it| it.copied(budget)).collect();
        Some(Self { body: body?, ..*self })
    }

    /// This piece, then another one.
    fn then(mut self, next: Self) -> Option<Self> {
        let inner_start = next.start && !self.body.is_empty();
        let inner_end = self.end && !next.body.is_empty();
        if inner_start || inner_end {
            return None;
        }
        self.start |= next.start;
        self.end |= next.end;
        self.body.extend(next.body);
        Some(self)
    }
}

/// The whole texts in which one of the pieces is found.
fn whole(pieces: Vec<Piece>) -> Regex {
    let around = |anchored: bool| if anchored { Regex::EMPTY } else { anything() };
    Regex::alt(pieces.into_iter().map(|Piece { start, body, end }| {
        Regex::seq([around(start)].into_iter().chain(body).chain([around(end)]))
    }))
}

/// What a group is.
enum Group {
    Pieces(Vec<Piece>),
    Lookahead,
}

struct Reader<'p> {
    chars: Peekable<Chars<'p>>,
    exact: bool,
    /// Whether a negative lookahead is read.
    refuses: bool,
    depth: usize,
    /// How many more nodes copies may have.
    budget: usize,
    all_of: Vec<Regex>,
    none_of: Vec<Regex>,
}

impl Reader<'_> {
    fn take(&mut self, c: char) -> bool {
        self.chars.next_if_eq(&c).is_some()
    }

    /// Alternatives up to a `)` or the end. Pieces without anchors are joined.
    fn alternatives(&mut self, top: bool) -> Option<Vec<Piece>> {
        self.depth += 1;
        let (lookaheads, mut count) = (self.lookaheads(), 0);
        // What follows each other with the same anchors.
        let mut runs: Vec<(bool, Vec<Regex>, bool)> = Vec::new();
        loop {
            count += 1;
            for Piece { start, body, end } in self.sequence(top)? {
                let body = Regex::seq(body);
                match runs.last_mut() {
                    Some(run) if (run.0, run.2) == (start, end) => run.1.push(body),
                    _ => runs.push((start, vec![body], end)),
                }
            }
            if !self.take('|') {
                break;
            }
        }
        self.depth -= 1;
        // A lookahead of one alternative says nothing of the others.
        let looks = self.lookaheads() > lookaheads;
        (runs.len() <= MAX_PIECES && !(looks && count > 1)).then(|| {
            let runs = runs.into_iter();
            runs.map(|(start, bodies, end)| Piece::new(start, Regex::alt(bodies), end)).collect()
        })
    }

    const fn lookaheads(&self) -> usize {
        self.all_of.len() + self.none_of.len()
    }

    fn sequence(&mut self, top: bool) -> Option<Vec<Piece>> {
        let mut pieces = vec![Piece::default()];
        loop {
            let next = match self.chars.peek() {
                None | Some('|' | ')') => return Some(pieces),
                Some('^') => {
                    self.chars.next();
                    vec![Piece::new(true, Regex::EMPTY, false)]
                }
                Some('$') => {
                    self.chars.next();
                    vec![Piece::new(false, Regex::EMPTY, true)]
                }
                Some(_) => {
                    let begins = pieces.iter().all(|it| it.start && it.body.is_empty());
                    self.term(top && begins)?
                }
            };
            pieces = self.joined(pieces, next)?;
        }
    }

    /// Each of some pieces, then each of those that follow.
    fn joined(&mut self, pieces: Vec<Piece>, mut next: Vec<Piece>) -> Option<Vec<Piece>> {
        if pieces.len() * next.len() > MAX_PIECES {
            return None;
        }
        let last = next.pop()?;
        let mut joined = Vec::with_capacity(pieces.len() * (next.len() + 1));
        let mut pieces = pieces.into_iter().peekable();
        while let Some(piece) = pieces.next() {
            for next in &next {
                let next = next.copied(&mut self.budget)?;
                joined.push(piece.copied(&mut self.budget)?.then(next)?);
            }
            if pieces.peek().is_none() {
                joined.push(piece.then(last)?);
                break;
            }
            joined.push(piece.then(last.copied(&mut self.budget)?)?);
        }
        Some(joined)
    }

    /// An atom and its quantifier. Lookaheads may come first.
    fn term(&mut self, first: bool) -> Option<Vec<Piece>> {
        let pieces = match self.chars.next()? {
            '(' => match self.group(first)? {
                Group::Pieces(pieces) => pieces,
                Group::Lookahead => return Some(vec![Piece::plain(Regex::EMPTY)]),
            },
            '[' => vec![Piece::plain(Regex::chars(self.class()?))],
            '\\' => vec![Piece::plain(Regex::chars(self.escape()?))],
            '.' => {
                // Engines differ in what ends a line.
                let ends = if self.refuses { "\n" } else { "\n\r\u{2028}\u{2029}" };
                let ends = CharSet::chars(ends);
                vec![Piece::plain(Regex::chars(ends.complement()))]
            }
            '*' | '+' | '?' | '{' | '}' | ']' => return None,
            c => vec![Piece::plain(Regex::chars(CharSet::one(c)))],
        };
        let (least, most) = self.quantifier()?;
        if (least, most) == (1, Some(1)) {
            return Some(pieces);
        }
        match &pieces[..] {
            [Piece { start: false, end: false, .. }] => {
                let bodies = pieces.into_iter().flat_map(|piece| piece.body);
                let body = Regex::seq(bodies).try_repeat(least, most, &mut self.budget)?;
                Some(vec![Piece::plain(body)])
            }
            _ => None,
        }
    }

    /// A group after its `(`.
    fn group(&mut self, first: bool) -> Option<Group> {
        if self.depth > MAX_DEPTH || self.lookaheads() >= MAX_LOOKAHEADS {
            return None;
        }
        let mut ahead = None;
        if self.take('?') {
            match self.chars.next()? {
                ':' => {}
                '=' if first => ahead = Some(true),
                '!' if first => ahead = Some(false),
                '<' if !matches!(self.chars.peek()?, '=' | '!') => {
                    while self.chars.next()? != '>' {}
                }
                _ => return None,
            }
        }
        let before = self.exact;
        self.refuses |= ahead == Some(false);
        let pieces = self.alternatives(false)?;
        self.refuses &= ahead != Some(false);
        if !self.take(')') {
            return None;
        }
        let Some(positive) = ahead else { return Some(Group::Pieces(pieces)) };
        if self.exact != before {
            return None;
        }
        // A lookahead is anchored where the text begins.
        let pieces = pieces.into_iter().map(|piece| Piece { start: true, ..piece }).collect();
        if positive { &mut self.all_of } else { &mut self.none_of }.push(whole(pieces));
        Some(Group::Lookahead)
    }

    /// How often an atom is repeated.
    fn quantifier(&mut self) -> Option<(u32, Option<u32>)> {
        let bounds = match self.chars.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.chars.next();
                let least = self.number()?;
                let most = if self.take(',') {
                    if self.chars.peek() == Some(&'}') { None } else { Some(self.number()?) }
                } else {
                    Some(least)
                };
                if self.chars.peek() != Some(&'}') || most.is_some_and(|most| most < least) {
                    return None;
                }
                (least, most)
            }
            _ => return Some((1, Some(1))),
        };
        self.chars.next();
        // A lazy quantifier matches the same texts.
        self.take('?');
        Some(bounds)
    }

    fn number(&mut self) -> Option<u32> {
        let mut text = String::new();
        while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
            text.push(digit);
        }
        text.parse().ok().filter(|&number| number <= MAX_COUNT)
    }

    /// A class after its `[`.
    fn class(&mut self) -> Option<CharSet> {
        let negated = self.take('^');
        let exact = self.exact;
        let mut sets = Vec::new();
        if self.chars.peek() == Some(&']') {
            return None;
        }
        while !self.take(']') {
            let first = self.class_atom()?;
            let mut rest = self.chars.clone();
            let is_range = rest.next() == Some('-') && rest.peek().is_some_and(|&c| c != ']');
            match (first.single(), is_range) {
                (Some(first), true) => {
                    self.chars.next();
                    let last = self.class_atom()?.single().filter(|&last| first <= last)?;
                    sets.push(CharSet::of(&[(first, last)]));
                }
                _ => sets.push(first),
            }
        }
        let set = CharSet::union_of(&sets);
        match negated {
            true if self.exact != exact => None,
            true => Some(set.complement()),
            false => Some(set),
        }
    }

    fn class_atom(&mut self) -> Option<CharSet> {
        match self.chars.next()? {
            '\\' => self.escape(),
            c => Some(CharSet::one(c)),
        }
    }

    /// An escape after its backslash.
    fn escape(&mut self) -> Option<CharSet> {
        let one = |c: char| Some(CharSet::one(c));
        match self.chars.next()? {
            'd' => Some(digits()),
            'D' => Some(digits().complement()),
            'w' => Some(words()),
            'W' => Some(words().complement()),
            's' => Some(spaces()),
            'S' => Some(spaces().complement()),
            't' => one('\t'),
            'n' => one('\n'),
            'r' => one('\r'),
            'v' => one('\u{b}'),
            'f' => one('\u{c}'),
            'x' => one(char::from_u32(self.hex(2)?)?),
            'u' => one(self.code_point()?),
            'p' => self.property(),
            c if c.is_ascii_alphanumeric() => None,
            c => one(c),
        }
    }

    fn hex(&mut self, count: usize) -> Option<u32> {
        (0..count).try_fold(0, |value, _| Some(value * 16 + self.chars.next()?.to_digit(16)?))
    }

    /// The code point of a `\u`, which may be two halves of a surrogate pair.
    fn code_point(&mut self) -> Option<char> {
        if self.take('{') {
            let mut value: u32 = 0;
            while let Some(digit) = self.chars.next_if(char::is_ascii_hexdigit) {
                value = value.checked_mul(16)?.checked_add(digit.to_digit(16)?)?;
            }
            return if self.take('}') { char::from_u32(value) } else { None };
        }
        let first = self.hex(4)?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        if !(self.take('\\') && self.take('u')) {
            return None;
        }
        let second = self.hex(4)?.checked_sub(0xDC00).filter(|&second| second < 0x400)?;
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + second)
    }

    /// A Unicode property after its `\p`, of which only some characters are known.
    fn property(&mut self) -> Option<CharSet> {
        if !self.take('{') {
            return None;
        }
        let mut name = String::new();
        loop {
            match self.chars.next()? {
                '}' => break,
                c => name.push(c),
            }
        }
        let upper = [('A', 'Z'), ('À', 'Ö'), ('Ø', 'Þ')];
        let lower = [('a', 'z'), ('ß', 'ö'), ('ø', 'ÿ')];
        self.exact = false;
        match name.as_str() {
            "L" | "Letter" | "Alphabetic" => Some(CharSet::of(&upper).union(&CharSet::of(&lower))),
            "Lu" | "Uppercase_Letter" | "Uppercase" => Some(CharSet::of(&upper)),
            "Ll" | "Lowercase_Letter" | "Lowercase" => Some(CharSet::of(&lower)),
            "N" | "Number" | "Nd" | "Decimal_Number" => Some(digits()),
            _ => None,
        }
    }
}

fn digits() -> CharSet {
    CharSet::of(&[('0', '9')])
}

fn words() -> CharSet {
    CharSet::of(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')])
}

/// ECMAScript's `\s`.
fn spaces() -> CharSet {
    CharSet::of(&[
        ('\t', '\r'),
        (' ', ' '),
        ('\u{a0}', '\u{a0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{2000}', '\u{200a}'),
        ('\u{2028}', '\u{2029}'),
        ('\u{202f}', '\u{202f}'),
        ('\u{205f}', '\u{205f}'),
        ('\u{3000}', '\u{3000}'),
        ('\u{feff}', '\u{feff}'),
    ])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;
    use crate::automaton::matches;

    fn agree(pattern: &str, texts: &[&str]) {
        let read = read(pattern).unwrap_or_else(|| panic!("{pattern} is not read"));
        let engine = regress::Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"));
        for text in texts {
            let expected = engine.find(text).is_some();
            let ours = matches(&read.texts, text)
                && read.all_of.iter().all(|it| matches(it, text))
                && !read.none_of.iter().any(|it| matches(it, text));
            assert_eq!(ours, expected, "{pattern} {text:?}");
        }
    }

    #[test]
    fn patterns_mean_what_an_engine_of_ecmascript_says() {
        let texts = [
            "",
            "a",
            "b",
            "ab",
            "aab",
            "abc",
            "cab",
            "0",
            "42",
            "a-b",
            "a_b",
            "A1",
            " ",
            "\n",
            "é",
            "x.y",
            "2024-01-31",
            "😀",
            "ab\nab",
            "foo",
            "xfoox",
            "bar",
            "\\",
            "\"",
            "]",
            "[",
        ];
        for pattern in [
            "",
            "a",
            "^a",
            "a$",
            "^a$",
            "^$",
            "^(a|b)c?$",
            "^a|b$",
            "(^a|b$)",
            "a*b+",
            "^a{2}b$",
            "^[a-c]+$",
            "^[^a-c]+$",
            r"^\d{1,2}$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"\w-\w",
            r"^\S+$",
            r"^[\w.]+$",
            r"^.$",
            r"\.",
            r"^\u00e9$",
            r"^[\u{e9}x]$",
            "^(?:foo|bar)$",
            "^(?<name>foo)$",
            "^a{1,}?b$",
            "^(a*)*b$",
            r"^\\$",
            "^[\\]]$",
            "^[[]$",
            "^[a-]+$",
            "^(?!foo)[a-z]+$",
            "^(?=.*b)[a-z]+$",
            "^((a|b)|c)+$",
            "(?:)",
            r"\x41",
            "^(?:^a)$",
        ] {
            agree(pattern, &texts);
        }
    }

    #[test]
    fn what_has_no_translation_is_not_read() {
        for pattern in [
            r"\bfoo\b",
            r"(a)\1",
            "a(?=b)",
            "(?<=a)b",
            "(?<!a)b",
            "a^b",
            "a$b",
            "(?i)a",
            "a{2",
            "(",
            "a)",
            "[a",
            "*",
            "[]",
            "[^]",
            r"\k<a>",
            r"\cA",
            "(?!a)b",
            "^(?!a)b|c",
            r"\P{L}",
            r"[^\p{L}]",
            "a{3,2}",
            "^(?:(?!a).)*$",
        ] {
            assert_eq!(read(pattern), None, "{pattern}");
        }
    }
}
