//! Values: records, maps, arrays, numbers, ranges and their placeholders.

use super::Writer;

const INTEGERS: &[&str] = &["0", "1", "-1", "-0", "42", "18446744073709551616", "-90", "10"];
const DECIMALS: &[&str] = &["0.0", "1.5", "-0.25", "3.14159265358979323846", "10.00", "-7.0"];
const HEXADECIMALS: &[&str] = &["0x0", "0xff", "0xFF", "0x1e5", "0xdeadBEEF", "0x00", "0xa"];
const OCTALS: &[&str] = &["00", "07", "007", "0755", "01234567"];
const MEASUREMENTS: &[&str] =
    &["1s", "10ms", "-5C", "0x", "0xg", "0xfg", "0X", "0b", "1e", "100kb", "-0x", "0Xf", "0s"];

/// Texts that look like a number but are none, or is two tokens.
#[rustfmt::skip] // Words to choose from, which read better in rows.
const ODD_NUMBERS: &[&str] = &[
    "-007", "08", "078", "00.0", "1.", ".5", "1.5s", "1e5", "10ms2", "10_000", "0xff1g", "-0x1",
    "0b1", "- 1", "+1", "--1", "1 2", "1..", "..2", "1...2", "1....", "...1...", "1..2..3", "0x1.5",
    "1.5.5", "5µs", "1%", "1..a", "...-07", "1-2", "1. .2", "-", "...", "..", "Infinity",
];

impl Writer<'_> {
    /// `{k: v, …}` as a record.
    pub(super) fn record(&mut self) {
        if self.extended() {
            return self.angle_record();
        }
        self.token("{");
        self.comma_separated(0, 3, |writer| {
            writer.key();
            let colon = if writer.rng.chance(85) { ":" } else { "::" };
            writer.token(colon);
            writer.value();
        });
        self.token("}");
    }

    /// The record's other spelling, an extension.
    fn angle_record(&mut self) {
        self.token("<");
        self.comma_separated(0, 3, |writer| {
            writer.key();
            writer.token(":");
            writer.value();
        });
        self.token(">");
    }

    fn key(&mut self) {
        match self.rng.below(10) {
            0..=6 => self.symbol(),
            7 => self.quoted('`'),
            _ if self.odd() => {
                let key = self.rng.pick(&["'k'", "1", "-k", "", "k k", "k`t`"]);
                self.token(key);
            }
            _ => self.quoted('"'),
        }
    }

    /// Any value.
    pub(super) fn value(&mut self) {
        if self.burn(1) {
            match self.rng.below(10) {
                0 => return self.array(),
                1 => return self.map(),
                _ => {}
            }
        }
        self.scalar();
    }

    fn array(&mut self) {
        self.token("[");
        let low = usize::from(!self.extended());
        self.comma_separated(low, 3, |writer| {
            if writer.extended() {
                writer.value();
            } else {
                writer.scalar();
            }
        });
        self.token("]");
    }

    fn map(&mut self) {
        self.token("{");
        self.comma_separated(0, 3, |writer| {
            writer.key();
            let colon = if writer.odd() { "::" } else { ":" };
            writer.token(colon);
            if writer.extended() {
                writer.value();
            } else if writer.rng.chance(15) {
                writer.array();
            } else {
                writer.scalar();
            }
        });
        self.token("}");
    }

    /// A value without parts.
    fn scalar(&mut self) {
        match self.rng.below(20) {
            0..=4 => self.number(),
            5..=7 => self.range(),
            8..=9 => {
                let word = self.rng.pick(&["true", "false"]);
                self.token(word);
            }
            10..=12 => self.symbol(),
            13..=15 => self.tagged_string(),
            _ => self.string_literal(),
        }
    }

    /// Any of the five kinds of number.
    fn number(&mut self) {
        if self.odd() {
            let odd = self.rng.pick(ODD_NUMBERS);
            return self.token(odd);
        }
        let kind = [INTEGERS, DECIMALS, HEXADECIMALS, OCTALS, MEASUREMENTS][self.rng.below(5)];
        let number = self.rng.pick(kind);
        self.token(number);
    }

    fn range(&mut self) {
        match self.rng.below(3) {
            0 => {
                self.number();
                self.token("..");
                self.number();
            }
            1 => {
                self.number();
                self.token("...");
            }
            _ => {
                self.token("...");
                self.number();
            }
        }
    }
}
