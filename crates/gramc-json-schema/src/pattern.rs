//! The syntax of ECMAScript patterns, as `pattern` and `patternProperties` use them.

use std::iter::Peekable;
use std::str::Chars;

use crate::text::MAX_DEPTH;

/// A pattern, or the content of a group: sequences, one of which matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The sequences. There is at least one.
    pub alternatives: Vec<Vec<Node>>,
}

/// A part of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A character, also one that is escaped.
    Character(char),
    /// An escape that engines read differently: `\cA`, `\0`, and letters without a meaning.
    Rare(char),
    /// `{`, `}` or `]` without a backslash.
    Bracket(char),
    /// Any character that does not end a line.
    Dot,
    /// `\d`, `\w`, `\s` or one of their complements.
    Shorthand(Shorthand),
    /// `\p{…}` or `\P{…}`.
    Property(Property),
    /// A class in brackets.
    Class(Class),
    /// `^`
    Start,
    /// `$`
    End,
    /// `\b` or `\B`
    Boundary,
    /// `\1` or `\k<name>`
    Backreference,
    /// A group, with or without a name.
    Group(Pattern),
    /// A group with flags, or in the notation of another language.
    ForeignGroup(Pattern),
    /// An assertion about the text behind it, or before it.
    Lookaround {
        /// Whether it is about the text before it.
        behind: bool,
        /// Whether that text must not match.
        negated: bool,
        /// The pattern of the text.
        pattern: Pattern,
    },
    /// A repeated part.
    Repeat(Box<Repetition>),
}

/// A repeated part. A lazy quantifier matches the same texts as a greedy one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// The part.
    pub part: Node,
    /// How often it is repeated.
    pub quantifier: Quantifier,
}

/// A number of repetitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantifier {
    /// The minimum.
    pub least: u64,
    /// The maximum.
    pub most: Option<u64>,
    /// The notation, without the `?` of a lazy quantifier.
    pub text: String,
}

/// A class in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Whether it matches all other characters.
    pub negated: bool,
    /// The members.
    pub items: Vec<ClassItem>,
    /// Whether an escape in it is one that engines read differently.
    pub has_rare: bool,
    /// Whether it has a `[` without a backslash, which begins a class within the class for some
    /// engines.
    pub has_bracket: bool,
}

/// A member of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClassItem {
    /// The characters from the first to the last one.
    Range(char, char),
    /// `\d`, `\w`, `\s` or one of their complements.
    Shorthand(Shorthand),
    /// `\p{…}` or `\P{…}`.
    Property(Property),
}

/// `\d`, `\w`, `\s` or one of their complements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shorthand {
    /// `d`, `w` or `s`.
    pub letter: char,
    /// Whether it matches all other characters.
    pub negated: bool,
}

/// A class of Unicode characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// The name between the braces.
    pub name: String,
    /// Whether it matches all other characters.
    pub negated: bool,
}

impl Pattern {
    /// Reads a pattern. `None` if it is malformed or its groups nest too deep.
    pub fn parse(pattern: &str) -> Option<Self> {
        let mut parser = Parser { rest: pattern.chars().peekable(), depth: 0 };
        parser.pattern().filter(|_| parser.rest.next().is_none())
    }

    /// Whether a predicate is true for a part at any depth.
    pub fn any(&self, is_match: &dyn Fn(&Node) -> bool) -> bool {
        self.alternatives.iter().flatten().any(|node| node.any(is_match))
    }
}

impl Node {
    /// Whether a predicate is true for it or a part of it.
    pub fn any(&self, is_match: &dyn Fn(&Self) -> bool) -> bool {
        is_match(self)
            || match self {
                Self::Group(pattern)
                | Self::ForeignGroup(pattern)
                | Self::Lookaround { pattern, .. } => pattern.any(is_match),
                Self::Repeat(repetition) => repetition.part.any(is_match),
                _ => false,
            }
    }
}

impl Shorthand {
    const fn of(letter: char) -> Option<Self> {
        match letter {
            'd' | 'w' | 's' => Some(Self { letter, negated: false }),
            'D' | 'W' | 'S' => Some(Self { letter: letter.to_ascii_lowercase(), negated: true }),
            _ => None,
        }
    }

    /// The characters that it matches, or does not match if it is negated.
    pub const fn ranges(self) -> &'static [(char, char)] {
        match self.letter {
            'd' => &[('0', '9')],
            'w' => &[('A', 'Z'), ('a', 'z'), ('0', '9'), ('_', '_')],
            _ => &[
                ('\t', '\r'),
                (' ', ' '),
                ('\u{a0}', '\u{a0}'),
                ('\u{1680}', '\u{1680}'),
                ('\u{2000}', '\u{200a}'),
                ('\u{2028}', '\u{2028}'),
                ('\u{2029}', '\u{2029}'),
                ('\u{202f}', '\u{202f}'),
                ('\u{205f}', '\u{205f}'),
                ('\u{3000}', '\u{3000}'),
                ('\u{feff}', '\u{feff}'),
            ],
        }
    }
}

struct Parser<'p> {
    rest: Peekable<Chars<'p>>,
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    /// Alternatives up to a `)` or the end.
    fn pattern(&mut self) -> Option<Pattern> {
        let mut alternatives = vec![self.sequence()?];
        while self.eat('|') {
            alternatives.push(self.sequence()?);
        }
        Some(Pattern { alternatives })
    }

    fn sequence(&mut self) -> Option<Vec<Node>> {
        // Most alternatives of long patterns are single characters.
        let mut nodes = Vec::with_capacity(1);
        while let Some(c) = self.rest.next_if(|c| !matches!(c, '|' | ')')) {
            let node = match c {
                '\\' => self.escape()?,
                '[' => Node::Class(self.class()?),
                '(' => self.group()?,
                '^' => Node::Start,
                '$' => Node::End,
                '.' => Node::Dot,
                '*' | '+' | '?' => return None,
                '{' if self.clone_ahead().counts().is_some() => return None,
                '{' | '}' | ']' => Node::Bracket(c),
                c => Node::Character(c),
            };
            let node = match self.quantifier() {
                None => node,
                Some(_) if matches!(node, Node::Start | Node::End) => return None,
                Some(quantifier) => Node::Repeat(Box::new(Repetition { part: node, quantifier })),
            };
            nodes.push(node);
        }
        Some(nodes)
    }

    fn clone_ahead(&self) -> Self {
        Self { rest: self.rest.clone(), depth: self.depth }
    }

    fn quantifier(&mut self) -> Option<Quantifier> {
        let (least, most, text) = match self.rest.peek()? {
            '*' => (0, None, "*"),
            '+' => (1, None, "+"),
            '?' => (0, Some(1), "?"),
            '{' => {
                let mut ahead = self.clone_ahead();
                ahead.rest.next();
                let quantifier = ahead.counts()?;
                self.rest = ahead.rest;
                self.eat('?');
                return Some(quantifier);
            }
            _ => return None,
        };
        self.rest.next();
        self.eat('?');
        Some(Quantifier { least, most, text: text.to_owned() })
    }

    /// `{n}`, `{n,}` or `{n,m}` after its `{`.
    fn counts(&mut self) -> Option<Quantifier> {
        let least = self.digits();
        if least.is_empty() {
            return None;
        }
        let most = self.eat(',').then(|| self.digits());
        if !self.eat('}') {
            return None;
        }
        let number = |digits: &str| digits.parse().unwrap_or(u64::MAX);
        let (text, limit) = match &most {
            None => (format!("{{{least}}}"), Some(number(&least))),
            Some(most) => {
                let limit = (!most.is_empty()).then(|| number(most));
                (format!("{{{least},{most}}}"), limit)
            }
        };
        Some(Quantifier { least: number(&least), most: limit, text })
    }

    fn digits(&mut self) -> String {
        std::iter::from_fn(|| self.rest.next_if(char::is_ascii_digit)).collect()
    }

    /// A group after its `(`.
    fn group(&mut self) -> Option<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut wrap: fn(Pattern) -> Node = Node::Group;
        let mut look = None;
        if self.eat('?') {
            match self.rest.next()? {
                ':' => {}
                c @ ('=' | '!') => look = Some((false, c == '!')),
                '<' => match self.rest.next()? {
                    c @ ('=' | '!') => look = Some((true, c == '!')),
                    '>' => {}
                    _ => {
                        self.rest.find(|&c| c == '>')?;
                    }
                },
                ')' => return None,
                _ => wrap = Node::ForeignGroup,
            }
        }
        let pattern = self.pattern()?;
        self.depth -= 1;
        self.eat(')').then(|| match look {
            Some((behind, negated)) => Node::Lookaround { behind, negated, pattern },
            None => wrap(pattern),
        })
    }

    /// An escape outside of a class, after its backslash.
    fn escape(&mut self) -> Option<Node> {
        let letter = self.rest.next()?;
        Some(match letter {
            'b' | 'B' => Node::Boundary,
            '1'..='9' => Node::Backreference,
            'k' if self.rest.peek() == Some(&'<') => Node::Backreference,
            'p' | 'P' if self.rest.peek() == Some(&'{') => Node::Property(self.property(letter)?),
            _ => match Shorthand::of(letter) {
                Some(shorthand) => Node::Shorthand(shorthand),
                None => match self.character(letter)? {
                    (c, true) => Node::Rare(c),
                    (c, false) => Node::Character(c),
                },
            },
        })
    }

    /// A class of Unicode characters after its letter.
    fn property(&mut self, letter: char) -> Option<Property> {
        self.rest.next();
        let mut name = String::new();
        loop {
            match self.rest.next()? {
                '}' => return Some(Property { name, negated: letter == 'P' }),
                c => name.push(c),
            }
        }
    }

    /// The character of an escape after its letter, and whether engines read that differently.
    fn character(&mut self, letter: char) -> Option<(char, bool)> {
        let c = match letter {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'x' => char::from_u32(self.hexadecimal(2)?)?,
            'u' => self.code_point()?,
            '0' => return Some(('\0', true)),
            'c' => return Some((char::from_u32(u32::from(self.rest.next()?) % 32)?, true)),
            other => return Some((other, other.is_ascii_alphanumeric())),
        };
        Some((c, false))
    }

    fn hexadecimal(&mut self, count: usize) -> Option<u32> {
        (0..count).try_fold(0, |value, _| Some(value * 16 + self.rest.next()?.to_digit(16)?))
    }

    /// The code point of a `\u`, which may be two halves of a surrogate pair.
    fn code_point(&mut self) -> Option<char> {
        if self.eat('{') {
            let mut value: u32 = 0;
            while let Some(digit) = self.rest.next_if(char::is_ascii_hexdigit) {
                value = value.checked_mul(16)?.checked_add(digit.to_digit(16)?)?;
            }
            return if self.eat('}') { char::from_u32(value) } else { None };
        }
        let first = self.hexadecimal(4)?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        if !(self.eat('\\') && self.eat('u')) {
            return None;
        }
        let second = self.hexadecimal(4)?.checked_sub(0xDC00).filter(|&half| half < 0x400)?;
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + second)
    }

    /// A class after its `[`.
    fn class(&mut self) -> Option<Class> {
        let negated = self.eat('^');
        let mut class = Class { negated, items: Vec::new(), has_rare: false, has_bracket: false };
        while !self.eat(']') {
            class.has_bracket |= self.rest.peek() == Some(&'[');
            let first = self.class_item(&mut class)?;
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
            let ClassItem::Range(from, _) = first else {
                class.items.push(first);
                continue;
            };
            if !is_range {
                class.items.push(first);
                continue;
            }
            self.rest.next();
            match self.class_item(&mut class)? {
                ClassItem::Range(to, _) if from <= to => {
                    class.items.push(ClassItem::Range(from, to));
                }
                ClassItem::Range(..) => return None,
                other => class.items.extend([first, ClassItem::Range('-', '-'), other]),
            }
        }
        Some(class)
    }

    /// A shorthand, a property, or a range of one character.
    fn class_item(&mut self, class: &mut Class) -> Option<ClassItem> {
        let c = self.rest.next()?;
        if c != '\\' {
            return Some(ClassItem::Range(c, c));
        }
        let letter = self.rest.next()?;
        let c = match letter {
            'b' => '\u{8}',
            'p' | 'P' if self.rest.peek() == Some(&'{') => {
                return Some(ClassItem::Property(self.property(letter)?));
            }
            _ => {
                if let Some(shorthand) = Shorthand::of(letter) {
                    return Some(ClassItem::Shorthand(shorthand));
                }
                let (c, is_rare) = self.character(letter)?;
                class.has_rare |= is_rare;
                c
            }
        };
        Some(ClassItem::Range(c, c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_patterns_are_refused() {
        for pattern in [
            "(", "(a", "a)", "[a", "*a", "a**", "^*", "{2}a", "\\", "[b-a]", "(?", "a{2}{3}",
            r"\ud800",
        ] {
            assert_eq!(Pattern::parse(pattern), None, "{pattern}");
        }
        assert_eq!(Pattern::parse(&"(".repeat(100_000)), None);
        let nested = |depth: usize| "(".repeat(depth) + &")".repeat(depth);
        assert!(Pattern::parse(&nested(MAX_DEPTH)).is_some());
        assert_eq!(Pattern::parse(&nested(MAX_DEPTH + 1)), None);
    }
}
