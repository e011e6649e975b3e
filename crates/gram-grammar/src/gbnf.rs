//! Prints grammars in GBNF, the notation of llama.cpp.

use std::fmt::Write as _;

use crate::char_set::CharSet;
use crate::grammar::Grammar;
use crate::json_text;
use crate::regex::Regex;
use crate::rules::Expr;

/// The most repetitions of a part: llama.cpp writes each one out.
const MAX_REPEATED: u32 = 500;

/// How tightly the printed text has to hold together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Alternatives,
    Sequence,
    Item,
    /// A part that is repeated.
    Repeated,
}

pub(crate) fn print(grammar: &Grammar) -> String {
    let mut printer = Printer { grammar, text: String::new(), more: Vec::new(), uses_char: false };
    let mut all = String::new();
    let rule = |name: &str, body: &str| format!("{name} ::= {body}\n");
    printer.expr(&grammar.start, Level::Alternatives);
    all += &rule("root", &printer.taken());
    let used = grammar.rules.used(&grammar.start);
    for &id in &used {
        let named = &grammar.rules.rules[id];
        printer.expr(&named.body, Level::Alternatives);
        all += &rule(&named.name, &printer.taken());
    }
    for id in grammar.rules.used_tokens(&grammar.start, &used) {
        let named = &grammar.rules.tokens[id];
        printer.regex(&named.body, Level::Alternatives);
        all += &rule(&named.name, &printer.taken());
    }
    if printer.uses_char {
        printer.regex_body(&json_text::any_char(), Level::Alternatives);
        all += &rule("char", &printer.taken());
    }
    for (at, body) in printer.more.iter().enumerate() {
        all += &rule(&chunk_name(at), body);
    }
    all
}

fn chunk_name(at: usize) -> String {
    format!("chunk--{}", at + 1)
}

struct Printer<'g> {
    grammar: &'g Grammar,
    text: String,
    /// The bodies of rules that only this notation needs.
    more: Vec<String>,
    uses_char: bool,
}

impl Printer<'_> {
    fn taken(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    fn group(&mut self, needed: bool, print: impl FnOnce(&mut Self)) {
        if needed {
            self.text.push('(');
        }
        print(self);
        if needed {
            self.text.push(')');
        }
    }

    fn expr(&mut self, expr: &Expr, level: Level) {
        match expr {
            Expr::Text(text) => literal(&mut self.text, text),
            Expr::Token(id) => self.text += &self.grammar.rules.tokens[*id].name,
            Expr::Rule(id) => self.text += &self.grammar.rules.rules[*id].name,
            Expr::Seq(parts) => {
                let joined = joined(parts);
                self.group(level > Level::Sequence, |printer| {
                    printer.separated(&joined, " ", |it, part| it.expr(part, Level::Item));
                });
            }
            Expr::Alt(parts) => self.group(level > Level::Alternatives, |printer| {
                printer.separated(parts, " | ", |it, part| it.expr(part, Level::Sequence));
            }),
            Expr::Repeat(part, least, most) => {
                self.repeated(*least, *most, level, |printer, level| printer.expr(part, level));
            }
        }
    }

    fn separated<T>(&mut self, parts: &[T], by: &str, mut print: impl FnMut(&mut Self, &T)) {
        if parts.is_empty() {
            self.text += "\"\"";
        }
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.text += by;
            }
            print(self, part);
        }
    }

    fn regex(&mut self, regex: &Regex, level: Level) {
        if *regex == json_text::any_char() {
            self.uses_char = true;
            self.text += "char";
        } else {
            self.regex_body(regex, level);
        }
    }

    fn regex_body(&mut self, regex: &Regex, level: Level) {
        match regex {
            Regex::Chars(set) => match set.single() {
                Some(c) => literal(&mut self.text, c.encode_utf8(&mut [0; 4])),
                None => class(&mut self.text, set),
            },
            Regex::Seq(parts) => {
                let joined = words(parts);
                self.group(level > Level::Sequence, |printer| {
                    printer.separated(&joined, " ", |it, part| match part {
                        Word::Text(text) => literal(&mut it.text, text),
                        Word::Part(part) => it.regex(part, Level::Item),
                    });
                });
            }
            Regex::Alt(parts) => self.group(level > Level::Alternatives, |printer| {
                printer.separated(parts, " | ", |it, part| it.regex(part, Level::Sequence));
            }),
            Regex::Repeat(part, least, most) => {
                self.repeated(*least, *most, level, |printer, level| printer.regex(part, level));
            }
        }
    }

    /// A repetition. One of many is divided into chunks.
    fn repeated(
        &mut self,
        least: u32,
        most: Option<u32>,
        level: Level,
        print: impl FnOnce(&mut Self, Level),
    ) {
        if least.max(most.unwrap_or(0)) <= MAX_REPEATED {
            self.group(level == Level::Repeated, |printer| {
                print(printer, Level::Repeated);
                printer.text += &times(least, most);
            });
            return;
        }
        let before = self.taken();
        print(self, Level::Repeated);
        let part = self.taken();
        self.text = before;
        let divided = self.divided(&part, least, most);
        self.group(level > Level::Sequence, |printer| printer.text += &divided);
    }

    /// A part that is repeated many times.
    fn divided(&mut self, part: &str, least: u32, most: Option<u32>) -> String {
        let fixed = self.exactly(part, least);
        let free = match most {
            None => format!("{part}*"),
            Some(most) => self.up_to(part, most - least),
        };
        join(&fixed, &free)
    }

    fn exactly(&mut self, part: &str, count: u32) -> String {
        match count {
            0 => String::new(),
            1..=MAX_REPEATED => format!("{part}{}", times(count, Some(count))),
            _ => {
                let chunk = self.chunk(part);
                let chunks = self.exactly(&chunk, count / MAX_REPEATED);
                join(&chunks, &self.exactly(part, count % MAX_REPEATED))
            }
        }
    }

    /// At most so many parts. Only the last chunk is not full, so that no text has two readings.
    fn up_to(&mut self, part: &str, count: u32) -> String {
        match count {
            0 => String::new(),
            1..=MAX_REPEATED => format!("{part}{}", times(0, Some(count))),
            _ => {
                let chunk = self.chunk(part);
                let (chunks, rest) = (count / MAX_REPEATED, count % MAX_REPEATED);
                let fewer = self.up_to(&chunk, chunks - 1);
                let fewer = join(&fewer, &self.up_to(part, MAX_REPEATED - 1));
                let all = self.exactly(&chunk, chunks);
                format!("({fewer} | {})", join(&all, &self.up_to(part, rest)))
            }
        }
    }

    /// The rule of a full chunk of parts.
    fn chunk(&mut self, part: &str) -> String {
        let body = format!("{part}{{{MAX_REPEATED}}}");
        let known = self.more.iter().position(|it| *it == body);
        let at = known.unwrap_or_else(|| {
            self.more.push(body);
            self.more.len() - 1
        });
        chunk_name(at)
    }
}

/// Two parts of a sequence, each of which may be empty.
fn join(one: &str, other: &str) -> String {
    if one.is_empty() || other.is_empty() {
        format!("{one}{other}")
    } else {
        format!("{one} {other}")
    }
}

/// A part of a sequence of characters: literal text, or something else.
enum Word<'r> {
    Text(String),
    Part(&'r Regex),
}

/// The parts of a sequence, with single characters joined.
fn words(parts: &[Regex]) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for part in parts {
        let single = if let Regex::Chars(set) = part { set.single() } else { None };
        match (words.last_mut(), single) {
            (Some(Word::Text(text)), Some(c)) => text.push(c),
            (_, Some(c)) => words.push(Word::Text(c.to_string())),
            _ => words.push(Word::Part(part)),
        }
    }
    words
}

/// The parts of a sequence, with literal texts joined.
fn joined(parts: &[Expr]) -> Vec<Expr> {
    let mut joined: Vec<Expr> = Vec::with_capacity(parts.len());
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Expr::Text(before)), Expr::Text(text)) => before.push_str(text),
            _ => joined.push(part.clone()),
        }
    }
    joined
}

fn times(least: u32, most: Option<u32>) -> String {
    match (least, most) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (1, Some(1)) => String::new(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) if least == most => format!("{{{least}}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    }
}

fn literal(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if c == '"' { out.push_str("\\\"") } else { escaped(out, c, &[]) }
    }
    out.push('"');
}

/// A character, or its escape sequence.
fn escaped(out: &mut String, c: char, special: &[char]) {
    // Writing to a string does not fail.
    let _ = match c {
        '\\' => write!(out, "\\\\"),
        '\n' => write!(out, "\\n"),
        '\r' => write!(out, "\\r"),
        '\t' => write!(out, "\\t"),
        c if special.contains(&c) => write!(out, "\\x{:02X}", u32::from(c)),
        ' '..='~' => write!(out, "{c}"),
        c => match u32::from(c) {
            code @ 0..=0xFF => write!(out, "\\x{code:02X}"),
            code @ 0..=0xFFFF => write!(out, "\\u{code:04X}"),
            code => write!(out, "\\U{code:08X}"),
        },
    };
}

fn class(out: &mut String, set: &CharSet) {
    let complement = set.complement();
    let negated = complement.ranges().len() < set.ranges().len()
        || set.contains('\u{10FFFF}') && !complement.is_empty();
    out.push_str(if negated { "[^" } else { "[" });
    if set.is_empty() || (negated && complement.is_empty()) {
        out.push_str("\\x00-\\U0010FFFF");
    }
    for &(first, last) in if negated { complement.ranges() } else { set.ranges() } {
        for (at, code) in [first, last].into_iter().enumerate() {
            if at == 1 && first == last {
                continue;
            }
            if at == 1 && first + 1 < last {
                out.push('-');
            }
            if let Some(c) = char::from_u32(code) {
                escaped(out, c, &['[', ']', '^', '-', '"']);
            }
        }
    }
    out.push(']');
}
