//! Prints grammars in GBNF, the notation of llama.cpp.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use gramc_json_schema::regular::{CharSet, Leaf, Regex, Tree};

use crate::grammar::Grammar;
use crate::json_text;
use crate::rules::{Atom, Rules};
use crate::syntax::{Level, print_class, times};

/// The most repetitions of a part: llama.cpp writes each one out.
const MAX_REPEATED: u32 = 500;

/// What is repeated makes fewer rules than that, taken as often as it is repeated: llama.cpp refuses
/// more. A reference to a rule counts as one.
const MAX_WEIGHT: u64 = 2_000;

pub(crate) fn print(grammar: &Grammar) -> String {
    let Rules { rules, tokens, .. } = &grammar.rules;
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
    all += &rule("root", &printer.print(&grammar.start));
    let used = grammar.rules.used_rules(&grammar.start);
    for &id in &used {
        all += &rule(&rules[id].name, &printer.print(&rules[id].body));
    }
    for id in grammar.rules.used_tokens(&grammar.start, &used) {
        all += &rule(&tokens[id].name, &printer.print(&tokens[id].body));
    }
    if printer.uses_char {
        printer.body(&json_text::any_char(), Level::Alternatives);
        all += &rule("char", &printer.text);
    }
    for (name, body) in &printer.more {
        all += &rule(name, body);
    }
    all
}

/// A leaf, as GBNF writes it.
trait Symbol: Leaf {
    /// The rules that llama.cpp makes of one that is not literal.
    const WEIGHT: u64;

    /// The only text that it stands for.
    fn literal(&self) -> Option<Cow<'_, str>>;

    /// Prints one that is not literal.
    fn print(&self, out: &mut String, rules: &Rules);

    /// Whether a tree is any character of a string, which has the rule `char`.
    fn is_any_char(_: &Tree<Self>, _any_char: &Regex) -> bool {
        false
    }
}

impl Symbol for Atom {
    const WEIGHT: u64 = 1;

    fn literal(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(text.into()),
            Self::Token(_) | Self::Rule(_) => None,
        }
    }

    fn print(&self, out: &mut String, rules: &Rules) {
        *out += match self {
            Self::Text(text) => text,
            Self::Token(id) => &rules.tokens[*id].name,
            Self::Rule(id) => &rules.rules[*id].name,
        };
    }
}

impl Symbol for CharSet {
    const WEIGHT: u64 = 0;

    fn literal(&self) -> Option<Cow<'_, str>> {
        self.single().map(|c| c.to_string().into())
    }

    fn print(&self, out: &mut String, _: &Rules) {
        let complement = self.complement();
        let is_shorter = complement.ranges().len() < self.ranges().len();
        let is_negated = !complement.is_empty() && (is_shorter || self.contains('\u{10FFFF}'));
        print_class(out, self, is_negated, |out, c| escape(out, c, &['[', ']', '^', '-', '"']));
    }

    fn is_any_char(tree: &Regex, any_char: &Regex) -> bool {
        tree == any_char
    }
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
    fn print<S: Symbol>(&mut self, tree: &Tree<S>) -> String {
        self.tree(tree, Level::Alternatives);
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

    fn tree<S: Symbol>(&mut self, tree: &Tree<S>, level: Level) {
        if S::is_any_char(tree, &self.any_char) {
            self.uses_char = true;
            self.text += "char";
        } else {
            self.body(tree, level);
        }
    }

    fn body<S: Symbol>(&mut self, tree: &Tree<S>, level: Level) {
        let is_grouped = level.needs_group(tree);
        match tree {
            Tree::Leaf(leaf) => match leaf.literal() {
                Some(text) => print_literal(&mut self.text, &text),
                None => leaf.print(&mut self.text, &self.grammar.rules),
            },
            Tree::Seq(parts) => self.group(is_grouped, |printer| {
                printer.list(&words(parts), " ", |it, word| match word {
                    Word::Text(text) => print_literal(&mut it.text, text),
                    Word::Part(part) => it.tree(part, Level::Item),
                });
            }),
            Tree::Alt(parts) => self.group(is_grouped, |printer| {
                printer.list(parts, " | ", |it, part| it.tree(part, Level::Sequence));
            }),
            Tree::Repeat(part, least, most) => {
                let weight = self.weight(part);
                let repetition = Repetition { least: *least, most: *most, weight };
                self.repetition(part, repetition, level);
            }
        }
    }

    fn list<T>(&mut self, parts: &[T], separator: &str, mut print: impl FnMut(&mut Self, &T)) {
        if parts.is_empty() {
            self.text += "\"\"";
        }
        for (at, part) in parts.iter().enumerate() {
            self.text += if at > 0 { separator } else { "" };
            print(self, part);
        }
    }

    /// A repetition. One of many is divided into chunks, and a part that is too large to be repeated
    /// becomes a rule.
    fn repetition<S: Symbol>(&mut self, part: &Tree<S>, repetition: Repetition, level: Level) {
        let Repetition { least, most, .. } = repetition;
        let is_divided = repetition.is_divided();
        // Whether the part is as short as the name of a rule.
        let is_short = matches!(part, Tree::Leaf(_)) || S::is_any_char(part, &self.any_char);
        let before = std::mem::take(&mut self.text);
        if repetition.is_too_heavy() || (is_divided && !is_short) {
            let body = self.print(part);
            self.text = self.own_rule("part", body);
        } else {
            self.tree(part, Level::Repeated);
        }
        let part = std::mem::replace(&mut self.text, before);
        if is_divided {
            let divided = self.divide(&part, least, most);
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

    /// The rules that llama.cpp makes of a tree.
    fn weight<S: Symbol>(&self, tree: &Tree<S>) -> u64 {
        match tree {
            any if S::is_any_char(any, &self.any_char) => 1,
            Tree::Leaf(leaf) => leaf.literal().map_or(S::WEIGHT, |_| 0),
            Tree::Seq(parts) | Tree::Alt(parts) => {
                1 + parts.iter().map(|part| self.weight(part)).sum::<u64>()
            }
            Tree::Repeat(part, least, most) => {
                Repetition { least: *least, most: *most, weight: self.weight(part) }.rules()
            }
        }
    }

    /// A part that is repeated many times.
    fn divide(&mut self, part: &str, least: u32, most: Option<u32>) -> String {
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

/// Two parts of a sequence, each of which may be empty.
fn join(one: &str, other: &str) -> String {
    let space = if one.is_empty() || other.is_empty() { "" } else { " " };
    format!("{one}{space}{other}")
}

/// A part of a sequence: literal text, or something else.
enum Word<'t, S> {
    Text(String),
    Part(&'t Tree<S>),
}

/// The parts of a sequence, with literal texts joined.
fn words<S: Symbol>(parts: &[Tree<S>]) -> Vec<Word<'_, S>> {
    let mut words = Vec::with_capacity(parts.len());
    for part in parts {
        let literal = if let Tree::Leaf(leaf) = part { leaf.literal() } else { None };
        match (words.last_mut(), literal) {
            (Some(Word::Text(text)), Some(more)) => text.push_str(&more),
            (_, Some(text)) => words.push(Word::Text(text.into_owned())),
            (_, None) => words.push(Word::Part(part)),
        }
    }
    words
}

fn print_literal(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        if c == '"' { out.push_str("\\\"") } else { escape(out, c, &[]) }
    }
    out.push('"');
}

/// A character, or its escape sequence.
fn escape(out: &mut String, c: char, special: &[char]) {
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
