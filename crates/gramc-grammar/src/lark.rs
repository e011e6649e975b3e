//! Prints grammars in Lark, as llguidance reads it.

use std::fmt::Write as _;

use gramc_json_schema::regular::{CharSet, Tree};
use serde_json::Value;

use crate::grammar::Grammar;
use crate::rules::{Atom, Rules};
use crate::syntax::{Level, print_class, times};

/// Every terminal is a whole token of JSON: lexers take the longest one that they find.
pub(crate) fn print(grammar: &Grammar) -> String {
    let Rules { rules, tokens, .. } = &grammar.rules;
    let atom = |out: &mut String, atom: &Atom| match atom {
        Atom::Text(text) => print_text(out, text),
        Atom::Token(id) => *out += &terminal_name(&tokens[*id].name),
        Atom::Rule(id) => *out += &rule_name(&rules[*id].name),
    };
    let expressions = Style { open: "(", space: " ", or: " | ", leaf: &atom };
    let patterns = Style { open: "(?:", space: "", or: "|", leaf: &print_set };
    let mut text = "start: ".to_owned();
    print_tree(&mut text, &grammar.start, Level::Alternatives, &expressions);
    text.push('\n');
    let used = grammar.rules.used_rules(&grammar.start);
    for &id in &used {
        text = text + &rule_name(&rules[id].name) + ": ";
        print_tree(&mut text, &rules[id].body, Level::Alternatives, &expressions);
        text.push('\n');
    }
    for id in grammar.rules.used_tokens(&grammar.start, &used) {
        text = text + &terminal_name(&tokens[id].name) + ": /";
        print_tree(&mut text, &tokens[id].body, Level::Alternatives, &patterns);
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

/// A literal text. Other control characters than those of JSON are escaped, too.
fn print_text(out: &mut String, text: &str) {
    for c in Value::from(text).to_string().chars() {
        if c.is_control() {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{:04X}", u32::from(c));
        } else {
            out.push(c);
        }
    }
}

/// How trees of one kind are printed.
struct Style<'s, L> {
    open: &'static str,
    space: &'static str,
    or: &'static str,
    leaf: &'s dyn Fn(&mut String, &L),
}

fn print_tree<L>(out: &mut String, tree: &Tree<L>, level: Level, style: &Style<'_, L>) {
    let is_grouped = level.needs_group(tree);
    if is_grouped {
        *out += style.open;
    }
    let mut list = |parts: &[Tree<L>], separator: &str, level: Level| {
        for (at, part) in parts.iter().enumerate() {
            *out += if at > 0 { separator } else { "" };
            print_tree(out, part, level, style);
        }
    };
    match tree {
        Tree::Leaf(leaf) => (style.leaf)(out, leaf),
        Tree::Seq(parts) => list(parts, style.space, Level::Item),
        Tree::Alt(parts) => list(parts, style.or, Level::Sequence),
        Tree::Repeat(part, least, most) => {
            print_tree(out, part, Level::Repeated, style);
            *out += &times(*least, *most);
        }
    }
    if is_grouped {
        out.push(')');
    }
}

fn print_set(out: &mut String, set: &CharSet) {
    if let Some(c) = set.single() {
        escape(out, c);
    } else {
        let is_negated = set.contains('\u{10FFFF}') && !set.complement().is_empty();
        print_class(out, set, is_negated, escape);
    }
}

/// A character in a regular expression, or its escape sequence.
fn escape(out: &mut String, c: char) {
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
