//! ECMAScript patterns as regular expressions of whole texts.

use crate::pattern::{self as syntax, Class, ClassItem, Node, Property, Repetition, Shorthand};

use super::char_set::CharSet;
use super::regex::{MAX_GROWTH, Regex};

/// The texts that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language {
    /// A regular expression of whole texts that match, apart from what `all_of` and `none_of` say.
    pub texts: Regex,
    /// Whether `texts` holds all of them.
    pub exact: bool,
    /// Lookaheads at the start: the texts that match are in each of these,
    pub all_of: Vec<Regex>,
    /// and in none of these.
    pub none_of: Vec<Regex>,
}

/// The most alternatives with different anchors.
const MAX_PIECES: usize = 64;

/// The most lookaheads, each of which is compared with all others.
const MAX_LOOKAHEADS: usize = 32;

/// The largest number of a quantifier.
const MAX_COUNT: u64 = 100_000;

impl Language {
    /// Reads a pattern for a generator of texts, so that all engines accept each of the texts, however
    /// they read a `.` that a negative lookahead contains. `None` if the pattern is too large or uses
    /// constructs that have no translation: lookaround elsewhere than at the start, backreferences,
    /// word boundaries, anchors within the text.
    pub fn of_pattern(pattern: &str) -> Option<Self> {
        Self::read(pattern, false)
    }

    /// Reads a pattern as ECMAScript does, for proofs about it. `None` as for [`Self::of_pattern`].
    pub fn of_ecma_pattern(pattern: &str) -> Option<Self> {
        Self::read(pattern, true)
    }

    fn read(pattern: &str, is_ecma: bool) -> Option<Self> {
        let mut reader = Reader {
            exact: true,
            is_ecma,
            refuses: false,
            budget: MAX_GROWTH,
            all_of: Vec::new(),
            none_of: Vec::new(),
        };
        let pieces = reader.alternatives(&syntax::Pattern::parse(pattern)?, true)?;
        let Reader { exact, all_of, none_of, .. } = reader;
        Some(Self { texts: whole(pieces), exact, all_of, none_of })
    }
}

/// Any text.
pub fn anything() -> Regex {
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
    fn copy_within(&self, budget: &mut usize) -> Option<Self> {
        let body: Option<Vec<Regex>> = self.body.iter().map(|it| it.copy_within(budget)).collect();
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

struct Reader {
    exact: bool,
    /// Whether `.` means the same everywhere.
    is_ecma: bool,
    /// Whether a negative lookahead is read.
    refuses: bool,
    /// How many more nodes copies may have.
    budget: usize,
    all_of: Vec<Regex>,
    none_of: Vec<Regex>,
}

impl Reader {
    /// The pieces of all alternatives. Those with the same anchors are joined.
    fn alternatives(&mut self, pattern: &syntax::Pattern, top: bool) -> Option<Vec<Piece>> {
        let lookaheads = self.lookaheads();
        // What follows each other with the same anchors.
        let mut runs: Vec<(bool, Vec<Regex>, bool)> = Vec::new();
        for nodes in &pattern.alternatives {
            for Piece { start, body, end } in self.sequence(nodes, top)? {
                let body = Regex::seq(body);
                match runs.last_mut() {
                    Some(run) if (run.0, run.2) == (start, end) => run.1.push(body),
                    _ => runs.push((start, vec![body], end)),
                }
            }
        }
        // A lookahead of one alternative says nothing of the others.
        let looks = self.lookaheads() > lookaheads;
        (runs.len() <= MAX_PIECES && !(looks && pattern.alternatives.len() > 1)).then(|| {
            let runs = runs.into_iter();
            runs.map(|(start, bodies, end)| Piece::new(start, Regex::alt(bodies), end)).collect()
        })
    }

    const fn lookaheads(&self) -> usize {
        self.all_of.len() + self.none_of.len()
    }

    fn sequence(&mut self, nodes: &[Node], top: bool) -> Option<Vec<Piece>> {
        let mut pieces = vec![Piece::default()];
        for node in nodes {
            let begins = pieces.iter().all(|it| it.start && it.body.is_empty());
            let next = self.node(node, top && begins)?;
            pieces = self.join(pieces, next)?;
        }
        Some(pieces)
    }

    /// Each of some pieces, then each of those that follow.
    fn join(&mut self, pieces: Vec<Piece>, mut next: Vec<Piece>) -> Option<Vec<Piece>> {
        if pieces.len() * next.len() > MAX_PIECES {
            return None;
        }
        let last = next.pop()?;
        let mut joined = Vec::with_capacity(pieces.len() * (next.len() + 1));
        let mut pieces = pieces.into_iter().peekable();
        while let Some(piece) = pieces.next() {
            for next in &next {
                let next = next.copy_within(&mut self.budget)?;
                joined.push(piece.copy_within(&mut self.budget)?.then(next)?);
            }
            if pieces.peek().is_none() {
                joined.push(piece.then(last)?);
                break;
            }
            joined.push(piece.then(last.copy_within(&mut self.budget)?)?);
        }
        Some(joined)
    }

    /// A part of a sequence. Lookaheads may come first.
    fn node(&mut self, node: &Node, first: bool) -> Option<Vec<Piece>> {
        let set = match node {
            Node::Start => return Some(vec![Piece::new(true, Regex::EMPTY, false)]),
            Node::End => return Some(vec![Piece::new(false, Regex::EMPTY, true)]),
            Node::Group(pattern) => return self.alternatives(pattern, false),
            Node::Lookaround { behind: false, negated, pattern } if first => {
                self.lookahead(pattern, *negated)?;
                return Some(vec![Piece::plain(Regex::EMPTY)]);
            }
            Node::Repeat(repetition) => return self.repetition(repetition, first),
            Node::Character(c) => CharSet::one(*c),
            Node::Shorthand(shorthand) => set_of(*shorthand),
            Node::Property(property) => self.property(property)?,
            Node::Class(class) => self.class(class)?,
            // Engines differ in what ends a line.
            Node::Dot if self.refuses && !self.is_ecma => CharSet::one('\n').complement(),
            Node::Dot => CharSet::chars("\n\r\u{2028}\u{2029}").complement(),
            Node::Rare(_)
            | Node::Bracket(_)
            | Node::Boundary
            | Node::Backreference
            | Node::ForeignGroup(_)
            | Node::Lookaround { .. } => return None,
        };
        Some(vec![Piece::plain(Regex::chars(set))])
    }

    fn repetition(&mut self, repetition: &Repetition, first: bool) -> Option<Vec<Piece>> {
        let Repetition { part, quantifier } = repetition;
        let count = |count: u64| u32::try_from(count).ok().filter(|_| count <= MAX_COUNT);
        let least = count(quantifier.least)?;
        let most = match quantifier.most {
            Some(most) => Some(count(most)?),
            None => None,
        };
        if matches!(part, Node::Lookaround { .. }) || most.is_some_and(|most| most < least) {
            return None;
        }
        let pieces = self.node(part, first)?;
        match &pieces[..] {
            _ if (least, most) == (1, Some(1)) => Some(pieces),
            [Piece { start: false, end: false, .. }] => {
                let bodies = pieces.into_iter().flat_map(|piece| piece.body);
                let body = Regex::seq(bodies).try_repeat(least, most, &mut self.budget)?;
                Some(vec![Piece::plain(body)])
            }
            _ => None,
        }
    }

    /// A lookahead where the text begins.
    fn lookahead(&mut self, pattern: &syntax::Pattern, negated: bool) -> Option<()> {
        if self.lookaheads() >= MAX_LOOKAHEADS {
            return None;
        }
        let (exact, refuses) = (self.exact, self.refuses);
        self.refuses |= negated;
        let pieces = self.alternatives(pattern, false)?;
        self.refuses = refuses;
        if self.exact != exact {
            return None;
        }
        let pieces = pieces.into_iter().map(|piece| Piece { start: true, ..piece }).collect();
        if negated { &mut self.none_of } else { &mut self.all_of }.push(whole(pieces));
        Some(())
    }

    fn class(&mut self, class: &Class) -> Option<CharSet> {
        if class.items.is_empty() || class.has_rare {
            return None;
        }
        let exact = self.exact;
        let sets = class.items.iter().map(|item| match item {
            ClassItem::Range(first, last) => Some(CharSet::of(&[(*first, *last)])),
            ClassItem::Shorthand(shorthand) => Some(set_of(*shorthand)),
            ClassItem::Property(property) => self.property(property),
        });
        let set = CharSet::union_of(&sets.collect::<Option<Vec<_>>>()?);
        match class.negated {
            true if self.exact != exact => None,
            true => Some(set.complement()),
            false => Some(set),
        }
    }

    /// Some characters of a Unicode property.
    fn property(&mut self, property: &Property) -> Option<CharSet> {
        let upper = [('A', 'Z'), ('À', 'Ö'), ('Ø', 'Þ')];
        let lower = [('a', 'z'), ('ß', 'ö'), ('ø', 'ÿ')];
        self.exact = false;
        match property.name.as_str() {
            _ if property.negated => None,
            "L" | "Letter" | "Alphabetic" => Some(CharSet::of(&upper).union(&CharSet::of(&lower))),
            "Lu" | "Uppercase_Letter" | "Uppercase" => Some(CharSet::of(&upper)),
            "Ll" | "Lowercase_Letter" | "Lowercase" => Some(CharSet::of(&lower)),
            "N" | "Number" | "Nd" | "Decimal_Number" => Some(CharSet::of(&[('0', '9')])),
            _ => None,
        }
    }
}

fn set_of(shorthand: Shorthand) -> CharSet {
    let set = CharSet::of(shorthand.ranges());
    if shorthand.negated { set.complement() } else { set }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]
mod tests {
    use super::*;
    use crate::regular::Automaton;

    fn agree(pattern: &str, texts: &[&str]) {
        let read = Language::of_pattern(pattern).unwrap_or_else(|| panic!("{pattern} is not read"));
        let engine = regress::Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"));
        let matches = |regex: &Regex, text: &str| Automaton::of(regex).unwrap().matches(text);
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
            assert_eq!(Language::of_pattern(pattern), None, "{pattern}");
        }
    }
}
