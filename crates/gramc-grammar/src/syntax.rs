//! The notations of grammars, by name.

use gramc_json_schema::regular::{CharSet, Tree};

/// The notation that a grammar is printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// GBNF, the notation of llama.cpp.
    Gbnf,
    /// Lark, as llguidance and `OpenAI`'s custom tools read it.
    Lark,
}

impl Syntax {
    /// All notations, in the order in which help and pages list them.
    pub const ALL: [Self; 2] = [Self::Gbnf, Self::Lark];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gbnf => "gbnf",
            Self::Lark => "lark",
        }
    }

    /// A noun phrase that introduces the target, without a final period.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Gbnf => "a grammar for llama.cpp (GBNF) that derives calls of the tools",
            Self::Lark => {
                "a Lark grammar for llguidance and OpenAI's custom tools that derives calls of the tools"
            }
        }
    }
}

/// How tightly the printed text has to hold together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Alternatives,
    Sequence,
    Item,
    /// A part that is repeated.
    Repeated,
}

impl Level {
    /// Whether a tree needs brackets in this place.
    pub(crate) fn needs_group<L>(self, tree: &Tree<L>) -> bool {
        match tree {
            Tree::Leaf(_) => false,
            Tree::Seq(_) => self > Self::Sequence,
            Tree::Alt(_) => self > Self::Alternatives,
            Tree::Repeat(..) => self == Self::Repeated,
        }
    }
}

/// Prints a set as a class of characters, whose ranges may be those that it excludes.
pub(crate) fn print_class(
    out: &mut String,
    set: &CharSet,
    is_negated: bool,
    print_char: impl Fn(&mut String, char),
) {
    out.push_str(if is_negated { "[^" } else { "[" });
    let listed = if is_negated { &set.complement() } else { set };
    for &(first, last) in listed.ranges() {
        if let Some(c) = char::from_u32(first) {
            print_char(out, c);
        }
        if first + 1 < last {
            out.push('-');
        }
        if let Some(c) = char::from_u32(last).filter(|_| first < last) {
            print_char(out, c);
        }
    }
    out.push(']');
}

/// How often a part is repeated, behind it.
pub(crate) fn times(least: u32, most: Option<u32>) -> String {
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
