//! Patterns: the productions from the document down to the subject.

use super::Writer;
use crate::type_expressions;

/// Names with everything that a symbol may hold, and words that are keywords elsewhere.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const SYMBOLS: &[&str] = &[
    "a", "b", "x1", "_", "_9", "name", "personName", "Text", "Tool", "Person", "KNOWS", "true",
    "false", "truth", "null", "e", "x", "s", "a.b", "a-b", "a--b", "a@b", "user@example.com",
    "v1.2.3", "a.", "a-", "a@", "T_-.@9", "Z", "f", "t", "fals", "tru", "trueX", "true.x", "0",
];

impl Writer<'_> {
    /// A whole document.
    pub(super) fn gram_pattern(&mut self) {
        if self.rng.chance(25) {
            self.record();
        }
        let count = match self.rng.below(20) {
            0 => 0,
            1..=10 => 1,
            11..=15 => 2,
            _ => self.rng.between(3, 6),
        };
        for _ in 0..count {
            self.top_level_pattern();
        }
        // A comment may be the last thing of a file, with or without its line break.
        self.trivia();
        if self.rng.chance(5) {
            self.comment();
            if self.rng.chance(50) {
                self.out.pop();
            }
        }
    }

    fn top_level_pattern(&mut self) {
        if self.rng.chance(25) {
            self.annotated_pattern();
        } else {
            self.subject_pattern_or_path();
        }
    }

    fn annotated_pattern(&mut self) {
        self.annotations();
        self.subject_pattern_or_path();
    }

    fn subject_pattern_or_path(&mut self) {
        if self.rng.chance(45) {
            self.subject_pattern();
        } else {
            self.path();
        }
    }

    /// `@@id:Label @key(value) …`
    pub(super) fn annotations(&mut self) {
        let identified = self.rng.chance(40);
        if identified {
            self.token("@@");
            match self.rng.below(3) {
                0 => self.identifier(),
                1 => self.labels(),
                _ => {
                    self.identifier();
                    self.labels();
                }
            }
        }
        let low = usize::from(!identified);
        let count = self.rng.between(low, 3);
        for index in 0..count {
            // `@@id@key` would be one symbol, so a space has to come between.
            if index == 0 && identified && !self.odd() {
                self.raw(" ");
            }
            self.property_annotation();
        }
    }

    fn property_annotation(&mut self) {
        self.token("@");
        self.symbol();
        self.token("(");
        self.value();
        self.token(")");
    }

    /// `[subject | elements]`
    pub(super) fn subject_pattern(&mut self) {
        self.token("[");
        self.optional_subject();
        if self.burn(1) && self.rng.chance(70) {
            self.token("|");
            self.comma_separated(1, 4, Self::subject_pattern_element);
        }
        self.token("]");
    }

    fn subject_pattern_element(&mut self) {
        match self.rng.below(10) {
            0..=2 if self.burn(3) => self.subject_pattern(),
            0..=6 => self.path(),
            _ => self.identifier(),
        }
    }

    /// A node, or a path of nodes.
    pub(super) fn path(&mut self) {
        self.node_pattern();
        while self.burn(1) && self.rng.chance(45) {
            self.arrow();
            self.node_pattern();
        }
    }

    fn node_pattern(&mut self) {
        self.token("(");
        if self.extended() {
            self.typed_subject();
        } else {
            self.optional_subject();
        }
        self.token(")");
    }

    /// A subject with an optional mark, a type expression, or both.
    fn typed_subject(&mut self) {
        let mark = self.rng.chance(50);
        if mark || self.rng.chance(50) {
            self.symbol();
        }
        if mark {
            self.token("?");
        }
        if !mark || self.rng.chance(50) {
            self.token("::");
            let ty = type_expressions::expression(self.rng, 2);
            // `<-` is the start of an arrow.
            self.token(&ty.replace("<-", "< -"));
        }
        if self.rng.chance(30) {
            self.record();
        }
    }

    /// One of the twelve arrows, with or without a subject inside.
    pub(super) fn arrow(&mut self) {
        let (stem, mut from_left, mut to_right) = match self.rng.below(3) {
            0 => ("-", "<-", "->"),
            1 => ("=", "<=", "=>"),
            _ => ("~", "<~", "~>"),
        };
        let family = stem;
        if self.rng.chance(50) {
            from_left = stem;
        }
        if self.rng.chance(50) {
            to_right = stem;
        }
        if self.odd() {
            // An arrow of two families, or one with a part too many or too few.
            to_right = self.rng.pick(&["=>", "-", "--", ">", "", "<-", "->", "~"]);
        }
        self.token(from_left);
        if self.rng.chance(35) {
            self.token("[");
            self.optional_subject();
            self.token("]");
        }
        if to_right == family && self.odd() {
            self.raw(" ");
        }
        self.token(to_right);
    }

    fn optional_subject(&mut self) {
        if self.rng.chance(80) {
            self.subject();
        }
    }

    /// One of the seven combinations of identifier, labels and record.
    pub(super) fn subject(&mut self) {
        let parts = self.rng.between(1, 7);
        if parts & 1 != 0 {
            self.identifier();
        }
        if parts & 2 != 0 {
            self.labels();
        }
        if parts & 4 != 0 {
            self.record();
        }
    }

    fn labels(&mut self) {
        for _ in 0..self.rng.between(1, 3) {
            let colon = self.rng.pick(&[":", "::"]);
            self.token(colon);
            if self.rng.chance(80) {
                self.symbol();
            } else {
                self.quoted_name();
            }
        }
    }

    pub(super) fn identifier(&mut self) {
        match self.rng.below(10) {
            0..=6 => self.symbol(),
            7..=8 => self.quoted_name(),
            _ if self.odd() => {
                let number = self.rng.pick(&["007", "1.5", "0x1", "1a", "-01", "--1", "\"a\""]);
                self.token(number);
            }
            _ => {
                let number = self.rng.pick(&["0", "1", "42", "-1", "-0", "-17", "99999999999999"]);
                self.token(number);
            }
        }
    }

    pub(super) fn symbol(&mut self) {
        // The last entry is no symbol.
        let choices = if self.odd() { SYMBOLS } else { &SYMBOLS[..SYMBOLS.len() - 1] };
        let symbol = self.rng.pick(choices);
        self.token(symbol);
    }

    fn quoted_name(&mut self) {
        self.quoted('`');
    }
}
