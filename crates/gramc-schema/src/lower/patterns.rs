//! The regular expressions that targets support in `pattern`, and equivalent ones for the others.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

/// The regular expressions that a target supports, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternRule {
    /// All of them.
    Any,
    /// Those without lookaround and backreferences.
    NoLookaround,
    /// Those that also have no word boundaries, no classes of Unicode properties, and anchors at
    /// the ends alone.
    Regular,
    /// Those that also match the whole text, from `^` to `$`, have no class escapes such as `\d`,
    /// repeat nothing more than 2,000 times, and nothing that would take as many rules.
    Anchored,
}

/// The repetitions, and the rules in a repeated part, that the parser of llama.cpp's grammars accepts.
const MAX_REPETITIONS: u64 = 2_000;

/// What becomes of a regular expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PatternFate {
    /// It is supported.
    Kept,
    /// It is supported in this equivalent form.
    Rewritten(String),
    /// It is not supported.
    Refused,
}

impl PatternRule {
    /// What becomes of a regular expression.
    pub(super) fn fate(self, pattern: &str) -> PatternFate {
        if self == Self::Any {
            return PatternFate::Kept;
        }
        let Some(tokens) = tokens(pattern) else { return PatternFate::Refused };
        let supported = match self {
            Self::Any => true,
            Self::NoLookaround => !tokens
                .iter()
                .any(|token| matches!(token, Token::Lookaround | Token::Backreference)),
            Self::Regular => is_regular(&tokens) && !tokens.contains(&Token::Brace),
            Self::Anchored => is_regular(&tokens) && is_anchored(&tokens),
        };
        if !supported {
            return PatternFate::Refused;
        }
        if self != Self::Anchored {
            return PatternFate::Kept;
        }
        match written(&tokens) {
            Some(text) if text == pattern => PatternFate::Kept,
            Some(text) => PatternFate::Rewritten(text),
            None => PatternFate::Refused,
        }
    }
}

/// A part of a regular expression of ECMAScript.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Character(char),
    /// `{` that is not escaped and begins no quantifier.
    Brace,
    Dot,
    /// `\d`, `\w` or `\s`, or one of their complements.
    Class(Shorthand),
    /// A class in brackets.
    Set {
        negated: bool,
        items: Vec<SetItem>,
    },
    /// `(`, also of a group that is named or does not capture.
    Open,
    /// `(` of an assertion about the text before or after it.
    Lookaround,
    Close,
    Or,
    Start,
    End,
    /// A quantifier, without the `?` of a lazy one.
    Quantifier(String),
    Backreference,
    /// `\b` or `\B`.
    Boundary,
    /// `\p{…}`, or flags of a group.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SetItem {
    One(char),
    Range(char, char),
    Class(Shorthand),
    /// `\p{…}`
    Other,
}

/// `\d`, `\w` or `\s`, or one of their complements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shorthand {
    kind: char,
    negated: bool,
}

impl Shorthand {
    /// The same characters as items of a class.
    const fn items(self) -> &'static str {
        match self.kind {
            'd' => "0-9",
            'w' => "A-Za-z0-9_",
            _ => "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff",
        }
    }
}

/// Whether a finite automaton without assertions recognizes the language, and anchors are at the
/// ends alone.
fn is_regular(tokens: &[Token]) -> bool {
    let last = tokens.len().saturating_sub(1);
    tokens.iter().enumerate().all(|(at, token)| match token {
        Token::Lookaround | Token::Backreference | Token::Boundary | Token::Other => false,
        Token::Start => at == 0,
        Token::End => at == last,
        Token::Set { items, .. } => !items.is_empty() && !items.contains(&SetItem::Other),
        _ => true,
    }) && !is_split_between_anchors(tokens)
}

/// Whether one alternative is anchored and another one is not, as in `^a|b`.
fn is_split_between_anchors(tokens: &[Token]) -> bool {
    let anchored = tokens.contains(&Token::Start) || tokens.contains(&Token::End);
    let mut depth = 0_usize;
    anchored
        && tokens.iter().any(|token| {
            match token {
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && *token == Token::Or
        })
}

fn is_anchored(tokens: &[Token]) -> bool {
    tokens.len() > 1
        && tokens.first() == Some(&Token::Start)
        && tokens.last() == Some(&Token::End)
        && repetitions_are_short(tokens)
}

/// Whether llama.cpp accepts the repetitions: a counted one of at most so many times, which makes a
/// rule for each optional time, and any other one of a part that makes fewer rules.
fn repetitions_are_short(tokens: &[Token]) -> bool {
    // The rules of each open group, and of the last part.
    let mut groups = vec![0_u64];
    let mut part = 0;
    for token in tokens {
        let before = part;
        part = 0;
        match token {
            Token::Open => groups.push(0),
            Token::Close => part = 1 + groups.pop().unwrap_or_default(),
            Token::Quantifier(text) => match bounds(text) {
                Some((least, _)) if least > MAX_REPETITIONS => return false,
                Some((least, most)) => {
                    // What is counted becomes a rule that is made elsewhere.
                    part = most.map_or(1, |most| most.saturating_sub(least));
                    if let Some(rules) = groups.last_mut() {
                        *rules = rules.saturating_sub(before);
                    }
                }
                None if before >= MAX_REPETITIONS => return false,
                None => part = 1,
            },
            _ => {}
        }
        if let Some(rules) = groups.last_mut() {
            *rules = rules.saturating_add(part);
        }
    }
    true
}

/// The bounds of a counted quantifier: of `{n}`, `{n,}` or `{n,m}`.
fn bounds(quantifier: &str) -> Option<(u64, Option<u64>)> {
    let inner = quantifier.strip_prefix('{')?.strip_suffix('}')?;
    let number = |text: &str| text.parse().unwrap_or(u64::MAX);
    Some(match inner.split_once(',') {
        None => (number(inner), Some(number(inner))),
        Some((least, "")) => (number(least), None),
        Some((least, most)) => (number(least), Some(number(most))),
    })
}

/// The parts of a regular expression. `None` if it is malformed.
fn tokens(pattern: &str) -> Option<Vec<Token>> {
    let mut rest = pattern.chars().peekable();
    let mut tokens = Vec::new();
    let mut depth = 0_usize;
    while let Some(char) = rest.next() {
        let token = match char {
            '\\' => escape(&mut rest)?,
            '[' => set(&mut rest)?,
            '(' => {
                depth += 1;
                group(&mut rest)?
            }
            ')' => {
                depth = depth.checked_sub(1)?;
                Token::Close
            }
            '|' => Token::Or,
            '^' => Token::Start,
            '$' => Token::End,
            '.' => Token::Dot,
            '*' | '+' | '?' => quantifier(char.to_string(), &mut rest, &tokens)?,
            '{' => match counts(&mut rest) {
                Some(counts) => quantifier(counts, &mut rest, &tokens)?,
                None => Token::Brace,
            },
            char => Token::Character(char),
        };
        tokens.push(token);
    }
    (depth == 0).then_some(tokens)
}

/// A quantifier. `None` if there is nothing to repeat.
fn quantifier(text: String, rest: &mut Peekable<Chars<'_>>, before: &[Token]) -> Option<Token> {
    // A lazy quantifier matches the same texts.
    rest.next_if_eq(&'?');
    let nothing = matches!(
        before.last(),
        None | Some(Token::Open | Token::Or | Token::Start | Token::End | Token::Quantifier(_))
    );
    (!nothing).then_some(Token::Quantifier(text))
}

/// `{n}`, `{n,}` or `{n,m}`, whose `{` was read. Reads nothing if there is no such quantifier.
fn counts(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut ahead = rest.clone();
    let mut text = "{".to_owned();
    let digits = |ahead: &mut Peekable<Chars<'_>>, text: &mut String| {
        text.extend(std::iter::from_fn(|| ahead.next_if(char::is_ascii_digit)));
    };
    digits(&mut ahead, &mut text);
    if text.len() == 1 {
        return None;
    }
    if let Some(comma) = ahead.next_if_eq(&',') {
        text.push(comma);
        digits(&mut ahead, &mut text);
    }
    text.push(ahead.next_if_eq(&'}')?);
    *rest = ahead;
    Some(text)
}

/// The kind of a group, whose `(` was read.
fn group(rest: &mut Peekable<Chars<'_>>) -> Option<Token> {
    if rest.next_if_eq(&'?').is_none() {
        return Some(Token::Open);
    }
    match rest.next()? {
        ':' => Some(Token::Open),
        '=' | '!' => Some(Token::Lookaround),
        '<' => match rest.peek()? {
            '=' | '!' => {
                rest.next();
                Some(Token::Lookaround)
            }
            _ => rest.any(|char| char == '>').then_some(Token::Open),
        },
        _ => Some(Token::Other),
    }
}

/// An escape outside of a class, whose backslash was read.
fn escape(rest: &mut Peekable<Chars<'_>>) -> Option<Token> {
    let char = rest.next()?;
    Some(match char {
        'b' | 'B' => Token::Boundary,
        '1'..='9' => Token::Backreference,
        'k' if rest.peek() == Some(&'<') => Token::Backreference,
        'p' | 'P' if rest.peek() == Some(&'{') => {
            rest.find(|char| *char == '}')?;
            Token::Other
        }
        _ => match shorthand(char) {
            Some(class) => Token::Class(class),
            None => Token::Character(character(char, rest)?),
        },
    })
}

const fn shorthand(char: char) -> Option<Shorthand> {
    match char {
        'd' | 'w' | 's' => Some(Shorthand { kind: char, negated: false }),
        'D' | 'W' | 'S' => Some(Shorthand { kind: char.to_ascii_lowercase(), negated: true }),
        _ => None,
    }
}

/// The character of an escape, whose backslash and letter were read.
fn character(letter: char, rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let hexadecimal = |rest: &mut Peekable<Chars<'_>>, digits: usize| {
        let text: String = rest.clone().take(digits).collect();
        let code =
            u32::from_str_radix(&text, 16).ok().filter(|_| text.chars().count() == digits)?;
        rest.nth(digits - 1);
        char::from_u32(code)
    };
    Some(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        'f' => '\u{c}',
        '0' => '\0',
        'c' => char::from_u32(u32::from(rest.next()?) % 32)?,
        'x' => hexadecimal(rest, 2)?,
        'u' if rest.peek() == Some(&'{') => {
            let text: String = rest.by_ref().skip(1).take_while(|char| *char != '}').collect();
            char::from_u32(u32::from_str_radix(&text, 16).ok()?)?
        }
        'u' => hexadecimal(rest, 4)?,
        other => other,
    })
}

/// A class in brackets, whose `[` was read.
fn set(rest: &mut Peekable<Chars<'_>>) -> Option<Token> {
    let negated = rest.next_if_eq(&'^').is_some();
    let mut items = Vec::new();
    loop {
        let item = match rest.next()? {
            ']' => return Some(Token::Set { negated, items }),
            char => set_item(char, rest)?,
        };
        let is_range = rest.peek() == Some(&'-') && rest.clone().nth(1).is_some_and(|c| c != ']');
        let SetItem::One(from) = item else {
            items.push(item);
            continue;
        };
        if !is_range {
            items.push(item);
            continue;
        }
        rest.next();
        let next = rest.next()?;
        match set_item(next, rest)? {
            SetItem::One(to) if from <= to => items.push(SetItem::Range(from, to)),
            SetItem::One(_) => return None,
            class => items.extend([item, SetItem::One('-'), class]),
        }
    }
}

fn set_item(char: char, rest: &mut Peekable<Chars<'_>>) -> Option<SetItem> {
    if char != '\\' {
        return Some(SetItem::One(char));
    }
    let letter = rest.next()?;
    Some(match letter {
        'b' => SetItem::One('\u{8}'),
        'p' | 'P' if rest.peek() == Some(&'{') => {
            rest.find(|char| *char == '}')?;
            SetItem::Other
        }
        _ => match shorthand(letter) {
            Some(class) => SetItem::Class(class),
            None => SetItem::One(character(letter, rest)?),
        },
    })
}

/// Writes a regular expression without class escapes and with few other escapes. `None` if that is
/// not possible.
fn written(tokens: &[Token]) -> Option<String> {
    let mut text = String::new();
    for token in tokens {
        match token {
            Token::Character(char) => write_character(&mut text, *char, r".*+?^$()[]{}|\-"),
            Token::Brace => text.push_str("\\{"),
            Token::Dot => text.push('.'),
            Token::Class(class) => {
                let not = if class.negated { "^" } else { "" };
                // Writing to a string does not fail.
                let _ = write!(text, "[{not}{}]", class.items());
            }
            Token::Set { negated, items } => write_set(&mut text, *negated, items)?,
            Token::Open => text.push('('),
            Token::Close => text.push(')'),
            Token::Or => text.push('|'),
            Token::Start => text.push('^'),
            Token::End => text.push('$'),
            Token::Quantifier(quantifier) => text.push_str(quantifier),
            Token::Lookaround | Token::Backreference | Token::Boundary | Token::Other => {
                return None;
            }
        }
    }
    Some(text)
}

fn write_set(text: &mut String, negated: bool, items: &[SetItem]) -> Option<()> {
    let mut negated = negated;
    let mut inner = String::new();
    for item in items {
        match item {
            SetItem::One(char) => write_character(&mut inner, *char, r"^]\-"),
            SetItem::Range(from, to) => {
                write_character(&mut inner, *from, r"^]\-");
                inner.push('-');
                write_character(&mut inner, *to, r"^]\-");
            }
            SetItem::Class(class) if !class.negated => inner.push_str(class.items()),
            // The complement of a class can only be written alone.
            SetItem::Class(class) if items.len() == 1 => {
                negated = !negated;
                inner.push_str(class.items());
            }
            SetItem::Class(_) | SetItem::Other => return None,
        }
    }
    let _ = write!(text, "[{}{inner}]", if negated { "^" } else { "" });
    Some(())
}

/// Writes a character, with a backslash if it is one of `special`.
fn write_character(text: &mut String, char: char, special: &str) {
    match char {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        char if char.is_control() || char == '\u{feff}' || char.is_whitespace() && char != ' ' => {
            let _ = write!(text, "\\u{:04x}", u32::from(char));
        }
        char => {
            if special.contains(char) {
                text.push('\\');
            }
            text.push(char);
        }
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn lookaround_and_backreferences_are_told_from_what_only_looks_like_them() {
        for pattern in [
            r"(?=a)b",
            r"a(?!b)",
            r"(?<=a)b",
            r"(?<!a)b",
            r"((?=a))",
            r"(a)\1",
            r"(?<n>a)\k<n>",
            r"[(](?=a)",
            r"\\(?=a)",
        ] {
            let fate = PatternRule::NoLookaround.fate(pattern);
            assert_eq!(fate, PatternFate::Refused, "{pattern}");
        }
        for pattern in [
            r"\(?=a",
            r"[(?=]a",
            r"[(?!]",
            r"(?:a)",
            r"(?<n>a)",
            r"a\\1",
            r"[\1]",
            r"\k",
            r"a(b)?=c",
            r"\(\?=",
            r"\bfoo\b",
            r"^\p{L}+$",
            r"[^\]](b)",
            r"a{1,2}",
            r"x{y",
            r"a{,3}",
            "a]",
            "a}",
        ] {
            assert_eq!(PatternRule::NoLookaround.fate(pattern), PatternFate::Kept, "{pattern}");
        }
        for malformed in ["(a", "a)", "[a", "*a", "a**", "\\", "[b-a]", "(?"] {
            let fate = PatternRule::NoLookaround.fate(malformed);
            assert_eq!(fate, PatternFate::Refused, "{malformed}");
        }
    }

    #[test]
    fn braces_that_begin_no_quantifier_take_linear_time() {
        let time = |size: usize| {
            let pattern = format!("^{}$", "{".repeat(size));
            let start = std::time::Instant::now();
            assert_eq!(PatternRule::NoLookaround.fate(&pattern), PatternFate::Kept);
            start.elapsed()
        };
        let attempts = (0..5).map(|_| (time(4_000), time(64_000)));
        let times: Vec<_> = attempts.take_while(|(base, grown)| *grown >= *base * 80).collect();
        assert!(times.len() < 5, "{times:?}");
    }

    #[test]
    fn regular_expressions_have_anchors_at_the_ends_alone() {
        for pattern in [r"^a$", "a", "^a", "a$", r"^(a|b)$", "a|b", r"^\d+\s\w$", "^[^^$]$", "^$"] {
            assert_eq!(PatternRule::Regular.fate(pattern), PatternFate::Kept, "{pattern}");
        }
        for pattern in [
            "^a$b", "(^a)", "^a|b$", r"\bfoo", r"\p{L}", r"[\p{L}]", "[]", "(?i)a", "(?i:a)",
            "a{,3}",
        ] {
            assert_eq!(PatternRule::Regular.fate(pattern), PatternFate::Refused, "{pattern}");
        }
    }

    #[test]
    fn class_escapes_are_written_out_where_that_is_equivalent() {
        for (pattern, expected) in [
            (r"^\d+$", "^[0-9]+$"),
            (r"^\w\W$", "^[A-Za-z0-9_][^A-Za-z0-9_]$"),
            (r"^\s$", r"^[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]$"),
            (r"^[\w.-]+$", r"^[A-Za-z0-9_.\-]+$"),
            (r"^[^\D]$", "^[0-9]$"),
            (r"^\/a\@[\.\/]$", r"^/a@[./]$"),
            (r"^a+?$", "^a+$"),
            (r"^(?<n>a)(?:b)$", "^(a)(b)$"),
            (r"^]x{y}$", r"^\]x\{y\}$"),
            (r"^[\b\v]\x41\u0042\u{43}\cA$", r"^[\u0008\u000b]ABC\u0001$"),
        ] {
            let fate = PatternRule::Anchored.fate(pattern);
            assert_eq!(fate, PatternFate::Rewritten(expected.to_owned()), "{pattern}");
            assert_eq!(PatternRule::Anchored.fate(expected), PatternFate::Kept, "{expected}");
            let [old, new] = [pattern, expected].map(|text| {
                regress::Regex::with_flags(text, "").map_err(|error| format!("{text}: {error}"))
            });
            let (Ok(old), Ok(new)) = (old, new) else { panic!("{pattern} or {expected}") };
            for code in (0..0x3100).chain([0xfeff]).filter_map(char::from_u32) {
                let texts = [format!("{code}"), format!("{code}{code}"), format!("a{code}")];
                for text in texts {
                    let both = [&old, &new].map(|regex| regex.find(&text).is_some());
                    assert_eq!(both[0], both[1], "{pattern}: {text:?}");
                }
            }
        }
        for pattern in [
            "^a{2001}$",
            // 999 + 1,003 optional times, and the group itself.
            "^([a-z]{1,1000}x[a-z]{1,1004})?$",
            "^((([a-z]{1,1000}))*(([a-z]{1,1004}))*)+$",
            "a",
            "^a",
            r"^[\s\S]$",
            r"^a|b$",
            r"^\bx$",
            "^",
            "$",
        ] {
            assert_eq!(PatternRule::Anchored.fate(pattern), PatternFate::Refused, "{pattern}");
        }
        for pattern in [
            r"^[0-9]{2,3}$",
            r"^a\.b$",
            r"^[a-z\-]$",
            r"^.*$",
            "^a{2000}$",
            // What is counted becomes a rule of its own.
            "^([a-z]{1,100}x){1,100}$",
            "^([a-z]{1,1000}x[a-z]{1,1000})?$",
            "^(([a-z]{1,1000}x[a-z]{1,1004}){2})+$",
        ] {
            assert_eq!(PatternRule::Anchored.fate(pattern), PatternFate::Kept, "{pattern}");
        }
    }
}
