//! Prints grammars in GBNF, the notation of llama.cpp.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::char_set::CharSet;
use crate::grammar::Grammar;
use crate::json_text;
use crate::regex::Regex;
use crate::rules::Expr;
use crate::syntax::{Level, times};

/// The most repetitions of a part: llama.cpp writes each one out.
const MAX_REPEATED: u32 = 500;

/// What is repeated makes fewer rules than that, taken as often as it is repeated: llama.cpp refuses
/// more. A reference to a rule counts as one.
const MAX_WEIGHT: u64 = 2_000;

pub(crate) fn print(grammar: &Grammar) -> String {
    let mut printer = Printer {
        grammar,
        text: String::new(),
        any_char: json_text::any_char(),
        uses_char: false,
        more: Vec::new(),
        names: HashMap::new(),
    };
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
    for (name, body) in &printer.more {
        all += &rule(name, body);
    }
    all
}

struct Printer<'g> {
    grammar: &'g Grammar,
    text: String,
    any_char: Regex,
    uses_char: bool,
    /// The names and bodies of rules that only this notation needs.
    more: Vec<(String, String)>,
    /// Their names by their bodies.
    names: HashMap<String, String>,
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
                let is_leaf = matches!(**part, Expr::Text(_) | Expr::Token(_) | Expr::Rule(_));
                let repetition =
                    Repetition { least: *least, most: *most, weight: expr_weight(part), is_leaf };
                self.repeated(repetition, level, |printer, level| printer.expr(part, level));
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
        if *regex == self.any_char {
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
                let is_leaf = matches!(**part, Regex::Chars(_)) || **part == self.any_char;
                let weight = self.regex_weight(part);
                let repetition = Repetition { least: *least, most: *most, weight, is_leaf };
                self.repeated(repetition, level, |printer, level| printer.regex(part, level));
            }
        }
    }

    /// A repetition. One of many is divided into chunks, and what is too large to be repeated where
    /// it is becomes a rule.
    fn repeated(
        &mut self,
        repetition: Repetition,
        level: Level,
        print: impl FnOnce(&mut Self, Level),
    ) {
        let Repetition { least, most, is_leaf, .. } = repetition;
        let is_divided = repetition.is_divided();
        let before = self.taken();
        if repetition.is_too_heavy() || (is_divided && !is_leaf) {
            print(self, Level::Alternatives);
            let body = self.taken();
            self.text = self.own_rule("part", body);
        } else {
            print(self, Level::Repeated);
        }
        let part = std::mem::replace(&mut self.text, before);
        if is_divided {
            let divided = self.divided(&part, least, most);
            // Without a part before it, it is a group.
            let is_sequence = level > Level::Sequence && least > 0;
            self.group(is_sequence, |printer| printer.text += &divided);
        } else {
            self.group(level == Level::Repeated, |printer| {
                printer.text += &part;
                printer.text += &times(least, most);
            });
        }
    }

    /// The rules that llama.cpp makes of an expression.
    fn regex_weight(&self, regex: &Regex) -> u64 {
        match regex {
            Regex::Chars(_) => 0,
            any if *any == self.any_char => 1,
            Regex::Seq(parts) | Regex::Alt(parts) => {
                1 + parts.iter().map(|part| self.regex_weight(part)).sum::<u64>()
            }
            Regex::Repeat(part, least, most) => {
                let weight = self.regex_weight(part);
                Repetition { least: *least, most: *most, weight, is_leaf: false }.rules()
            }
        }
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
        self.own_rule("chunk", format!("{part}{{{MAX_REPEATED}}}"))
    }

    /// The name of a rule that only this notation needs.
    fn own_rule(&mut self, kind: &str, body: String) -> String {
        let name = self.names.entry(body).or_insert_with_key(|body| {
            let name = format!("{kind}--{}", self.more.len() + 1);
            self.more.push((name.clone(), body.clone()));
            name
        });
        name.clone()
    }
}

/// How often a part is repeated.
#[derive(Clone, Copy)]
struct Repetition {
    least: u32,
    most: Option<u32>,
    /// The rules that llama.cpp makes of the part.
    weight: u64,
    /// Whether the part is as short as the name of a rule.
    is_leaf: bool,
}

impl Repetition {
    fn is_divided(&self) -> bool {
        self.least.max(self.most.unwrap_or(0)) > MAX_REPEATED
    }

    fn is_too_heavy(&self) -> bool {
        let times = self.least.max(self.most.unwrap_or(1)).max(1);
        self.weight.saturating_mul(times.into()) >= MAX_WEIGHT
    }

    /// The rules that llama.cpp makes of the whole repetition.
    fn rules(&self) -> u64 {
        if self.is_divided() {
            return MAX_WEIGHT;
        }
        let part = if self.is_too_heavy() { 1 } else { self.weight };
        part + self.most.map_or(1, |most| u64::from(most - self.least))
    }
}

/// The rules that llama.cpp makes of an expression.
fn expr_weight(expr: &Expr) -> u64 {
    match expr {
        Expr::Text(_) => 0,
        Expr::Token(_) | Expr::Rule(_) => 1,
        Expr::Seq(parts) | Expr::Alt(parts) => 1 + parts.iter().map(expr_weight).sum::<u64>(),
        Expr::Repeat(part, least, most) => {
            let weight = expr_weight(part);
            Repetition { least: *least, most: *most, weight, is_leaf: false }.rules()
        }
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
    let is_shorter = complement.ranges().len() < set.ranges().len();
    let negated = !complement.is_empty() && (is_shorter || set.contains('\u{10FFFF}'));
    out.push_str(if negated { "[^" } else { "[" });
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
