//! Names, texts and numbers that are hard to write down.

use serde_json::{Number, Value};

use super::{Modules, Numbers};

/// Names that people use, and names that no symbol can be.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const NAMES: &[&str] = &[
    "a", "b", "query", "personName", "x_1", "a.b-c@d", "Content-Type", "$vectorSearch", "MA(5)",
    "año", "true", "false", "null", "Text", "Tool", "Agent", "Object", "Map", "type", "name",
    "default", "fields", "description", "json", "42", "0", "-7", "007", "1a", "-", "with space", "",
    "`", "``", "```", "\"", "'", "\\", "\\n", "\n", "\t", "\0", "\u{1}", "😀", "//", "// x", " //",
    "/** y", "*/", "::", "==>", "[", "{}", "(a)", "a,b", "a|b", "<a>", "\u{feff}", "\u{a0}",
];

/// What texts are made of.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const PIECES: &[&str] = &[
    "a", "word", "Two words.", " ", "  ", "\n", "\n\n", "\n * ", "\n  ", " \n", "\"", "'", "`", "``",
    "```", "\\", "\\n", "\\u0041", "//", "/**", "*/", "/*", "* ", "*", "é", "漢字", "😀", "\u{a0}",
    "\u{feff}", "\u{2028}", "\t", "\r", "\r\n", "\0", "\u{1}", "\u{8}", "\u{b}", "\u{c}", "\u{1b}",
    "\u{7f}", "{", "}", "]", "|", ",", ":", "==>", "true", "1.5", "https://example.com/a?b=c",
    "a sentence that is long enough to be broken over several lines by somebody who is careful",
];

/// Numbers that a double holds.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const DOUBLES: &[&str] = &[
    "0", "1", "2", "3", "5", "10", "64", "-1", "-5", "100", "0.5", "-0.25", "2.50", "1.0", "7.75",
];

/// Numbers that it does not hold, or that are written in some other way. Exponents are written
/// as `serde_json` keeps them.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const EXACT: &[&str] = &[
    "-0", "0.0", "-0.000", "9007199254740993", "-9007199254740993", "18446744073709551616",
    "123456789012345678901234567890", "0.1234567890123456789", "3.14000", "-12.0",
];

/// Numbers with exponents, which gram has none of.
const EXPONENTS: &[&str] = &["1e+5", "-2.5e-7", "1e+40"];

impl Modules<'_> {
    /// A name.
    pub(super) fn name(&mut self) -> String {
        match self.rng.below(10) {
            0 => self.text(),
            1..=4 => format!("n{}", self.rng.below(50)),
            _ => self.rng.pick(NAMES).to_owned(),
        }
    }

    /// Different names.
    pub(super) fn names(&mut self, count: usize) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for _ in 0..count {
            let name = self.name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// A text, most of them tame.
    pub(super) fn text(&mut self) -> String {
        if self.rng.chance(40) {
            return "Says what it is for.".to_owned();
        }
        (0..self.rng.below(6)).map(|_| self.rng.pick(PIECES)).collect()
    }

    /// A number without an exponent.
    pub(super) fn plain_number(&mut self) -> Number {
        let exact = self.numbers == Numbers::Exact && self.rng.chance(30);
        let text = self.rng.pick(if exact { EXACT } else { DOUBLES });
        text.parse().expect("a JSON number")
    }

    /// Any number.
    pub(super) fn number(&mut self) -> Number {
        if self.numbers == Numbers::Exact && self.rng.chance(10) {
            return self.rng.pick(EXPONENTS).parse().expect("a JSON number");
        }
        self.plain_number()
    }

    /// A whole number.
    pub(super) fn integer(&mut self) -> Number {
        loop {
            let number = self.number();
            if !number.to_string().contains(['.', 'e']) {
                return number;
            }
        }
    }

    /// Any value.
    pub(super) fn any_value(&mut self, depth: usize) -> Value {
        match self.rng.below(if depth == 0 { 5 } else { 8 }) {
            0 => Value::Null,
            1 => Value::Bool(self.rng.chance(50)),
            2 => Value::Number(self.number()),
            3 | 4 => Value::String(self.text()),
            5 | 6 => (0..self.rng.below(4)).map(|_| self.any_value(depth - 1)).collect(),
            _ => {
                let count = self.rng.below(4);
                self.names(count).into_iter().map(|key| (key, self.any_value(depth - 1))).collect()
            }
        }
    }
}
