//! Schemas of texts and numbers.

use serde_json::{Map, Value};

use super::nodes::typed;
use super::{Schemas, Style, put};

/// Formats, those that the language has types for and those that it has not.
const FORMATS: [&str; 14] = [
    "date-time",
    "date-time",
    "date",
    "time",
    "uri",
    "uri",
    "uuid",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "duration",
    "json",
    "byte",
];

/// Patterns, with what has to be escaped in one notation or another.
const PATTERNS: [&str; 9] = [
    "^[a-z]+$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^[A-Z]{2,}\\/[a-z\"']+$",
    "^(?:a|b)*$",
    "\\.(png|jpe?g)$",
    "^`[^`]+`$",
    "^[\\p{L}\\s]+$",
    "",
    "^#[0-9a-fA-F]{6}$",
];

impl Schemas<'_> {
    /// A text, and the words of one style or another around it.
    pub(super) fn string(&mut self) -> Map<String, Value> {
        let mut node = typed("string");
        match self.rng.below(20) {
            0 => put(&mut node, "minLength", self.rng.between(0, 3)),
            1 => {
                put(&mut node, "minLength", 1);
                put(&mut node, "maxLength", self.rng.between(1, 4096));
            }
            2 => put(&mut node, "maxLength", self.rng.between(1, 255)),
            3 => put(&mut node, "pattern", self.rng.pick(&PATTERNS)),
            4 | 5 => put(&mut node, "format", self.rng.pick(&FORMATS)),
            _ => {}
        }
        if self.rng.chance(1) {
            put(&mut node, "contentEncoding", "base64");
        }
        if self.rng.chance(3) {
            self.or_null(&mut node);
        }
        node
    }

    /// An integer or a number, with bounds in half of the cases.
    pub(super) fn numeric(&mut self, kind: &str) -> Map<String, Value> {
        let mut node = typed(kind);
        let whole = kind == "integer";
        let bound = |own: &mut Self| if whole { own.integer() } else { own.number() };
        match self.rng.below(20) {
            0..3 => {
                let low = bound(self);
                put(&mut node, "minimum", low);
            }
            3..7 => {
                put(&mut node, "minimum", self.rng.between(0, 1));
                let high = bound(self);
                put(&mut node, "maximum", high);
            }
            7 => {
                let high = bound(self);
                put(&mut node, "maximum", high);
            }
            8 => put(&mut node, "exclusiveMinimum", 0),
            9 => {
                let high = bound(self);
                put(&mut node, "exclusiveMaximum", high);
            }
            _ => {}
        }
        if whole && self.style == Style::Zod && self.rng.chance(25) {
            put(&mut node, "minimum", Self::number_of("-9007199254740991"));
            put(&mut node, "maximum", Self::number_of("9007199254740991"));
        }
        if self.rng.chance(2) {
            put(&mut node, "multipleOf", Self::number_of(if whole { "5" } else { "0.01" }));
        }
        if self.rng.chance(6) {
            let format =
                self.rng.pick(if whole { &["int32", "int64"] } else { &["float", "double"] });
            put(&mut node, "format", format);
        }
        if self.rng.chance(3) {
            self.or_null(&mut node);
        }
        node
    }

    /// Either an odd text or `usual`.
    pub(super) fn text_or(&mut self, usual: &str) -> String {
        if self.rng.chance(20) { self.text() } else { usual.to_owned() }
    }
}
