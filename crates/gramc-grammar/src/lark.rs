//! Prints grammars in Lark, as llguidance reads it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::char_set::CharSet;
use crate::grammar::Grammar;
use crate::regex::Regex;
use crate::rules::Expr;
use crate::syntax::{Level, times};

/// Every terminal is a whole token of JSON: lexers take the longest one that they find.
pub(crate) fn print(grammar: &Grammar) -> String {
    let mut text = "start: ".to_owned();
    expr(&mut text, grammar, &grammar.start, Level::Alternatives);
    text.push('\n');
    let used = grammar.rules.used(&grammar.start);
    for &id in &used {
        let named = &grammar.rules.rules[id];
        text += &rule_name(&named.name);
        text += ": ";
        expr(&mut text, grammar, &named.body, Level::Alternatives);
        text.push('\n');
    }
    for id in grammar.rules.used_tokens(&grammar.start, &used) {
        let named = &grammar.rules.tokens[id];
        text += &terminal_name(&named.name);
        text += ": /";
        regex(&mut text, &named.body, Level::Alternatives);
        text += "/\n";
    }
    text
}

fn rule_name(name: &str) -> String {
    name.replace('-', "_")
}

fn terminal_name(name: &str) -> String {
    rule_name(name).to_ascii_uppercase()
}

fn expr(out: &mut String, grammar: &Grammar, part: &Expr, level: Level) {
    match part {
        Expr::Text(text) => string(out, text),
        Expr::Token(id) => *out += &terminal_name(&grammar.rules.tokens[*id].name),
        Expr::Rule(id) => *out += &rule_name(&grammar.rules.rules[*id].name),
        Expr::Seq(parts) => group(out, ["(", ")"], level > Level::Sequence, |out| {
            separated(out, parts, " ", |out, part| expr(out, grammar, part, Level::Item));
        }),
        Expr::Alt(parts) => group(out, ["(", ")"], level > Level::Alternatives, |out| {
            separated(out, parts, " | ", |out, part| expr(out, grammar, part, Level::Sequence));
        }),
        Expr::Repeat(part, least, most) => {
            group(out, ["(", ")"], level == Level::Repeated, |out| {
                expr(out, grammar, part, Level::Repeated);
                *out += &times(*least, *most);
            });
        }
    }
}

/// A literal text. Other control characters than those of JSON are escaped, too.
fn string(out: &mut String, text: &str) {
    for c in Value::from(text).to_string().chars() {
        if c.is_control() {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{:04X}", u32::from(c));
        } else {
            out.push(c);
        }
    }
}

fn group(out: &mut String, brackets: [&str; 2], needed: bool, print: impl FnOnce(&mut String)) {
    if needed {
        *out += brackets[0];
    }
    print(out);
    if needed {
        *out += brackets[1];
    }
}

fn separated<T>(out: &mut String, parts: &[T], by: &str, print: impl Fn(&mut String, &T)) {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            *out += by;
        }
        print(out, part);
    }
}

fn regex(out: &mut String, part: &Regex, level: Level) {
    match part {
        Regex::Chars(set) => match set.single() {
            Some(c) => escaped(out, c),
            None => class(out, set),
        },
        Regex::Seq(parts) => group(out, ["(?:", ")"], level > Level::Sequence, |out| {
            for part in parts {
                regex(out, part, Level::Sequence);
            }
        }),
        Regex::Alt(parts) => group(out, ["(?:", ")"], level > Level::Alternatives, |out| {
            separated(out, parts, "|", |out, part| regex(out, part, Level::Sequence));
        }),
        Regex::Repeat(part, least, most) => {
            group(out, ["(?:", ")"], level == Level::Repeated, |out| {
                regex(out, part, Level::Repeated);
                *out += &times(*least, *most);
            });
        }
    }
}

/// A character in a regular expression, or its escape sequence.
fn escaped(out: &mut String, c: char) {
    match c {
        ' ' | '"' | '\'' | ',' | ':' | ';' | '<' | '=' | '>' | '@' | '_' | '`' | '!' | '%' => {
            out.push(c);
        }
        c if c.is_ascii_alphanumeric() => out.push(c),
        c if c.is_ascii_punctuation() => {
            out.push('\\');
            out.push(c);
        }
        '\n' => *out += "\\n",
        '\r' => *out += "\\r",
        '\t' => *out += "\\t",
        // Writing to a string does not fail.
        c => {
            let _ = write!(out, "\\u{{{:X}}}", u32::from(c));
        }
    }
}

fn class(out: &mut String, set: &CharSet) {
    let complement = set.complement();
    let negated = set.contains('\u{10FFFF}') && !complement.is_empty();
    *out += if negated { "[^" } else { "[" };
    for &(first, last) in if negated { complement.ranges() } else { set.ranges() } {
        if let Some(c) = char::from_u32(first) {
            escaped(out, c);
        }
        if first + 1 < last {
            out.push('-');
        }
        if let Some(c) = char::from_u32(last).filter(|_| first < last) {
            escaped(out, c);
        }
    }
    out.push(']');
}
