//! Documents made from the grammar.
//!
//! The generator follows the productions of the reference's `grammar.js` one by one, so each of
//! them turns up often, and writes what may come between any two tokens: spaces, line breaks
//! and both kinds of comment. It does not try to be right all the time. Where a text is read
//! depends on what follows it (a string that begins with `//` or `/**`), the generator writes it
//! anyway and leaves the verdict to the reference.

mod patterns;
mod strings;
mod tools;
mod trivia;
mod values;

use crate::rng::Rng;
use trivia::Trivia;

/// A document made from the grammar.
pub fn document(rng: &mut Rng) -> String {
    let profile = Profile::choose(rng);
    let mut text = if rng.chance(15) {
        tools::specification(rng)
    } else {
        let mut writer = Writer::new(rng, profile);
        writer.gram_pattern();
        writer.out
    };
    if rng.chance(8) {
        text = text.replace('\n', "\r\n");
    }
    if rng.chance(1) {
        text.insert(0, '\u{feff}');
    }
    text
}

/// A short piece of gram: a token, a value or a pattern, not a document.
///
/// The property tests make soups of them.
pub fn fragment(rng: &mut Rng) -> String {
    let profile = Profile { trivia: Trivia::Wild, odd: 20, extended: 20, fuel: 6 };
    let mut writer = Writer::new(rng, profile);
    match writer.rng.below(8) {
        0 => writer.subject(),
        1 => writer.record(),
        2 => writer.annotations(),
        3 => writer.arrow(),
        4 => writer.value(),
        5 => writer.path(),
        6 => writer.subject_pattern(),
        _ => {
            let token = writer.rng.pick(crate::mutate::PIECES);
            writer.raw(token);
        }
    }
    writer.out
}

/// What kind of document to write.
#[derive(Debug, Clone, Copy)]
struct Profile {
    /// What to write between the tokens.
    trivia: Trivia,
    /// The percentage of places that get a form of which the reading is hard to foresee.
    odd: usize,
    /// The percentage of places that use an extension where one is possible.
    extended: usize,
    /// How many nodes to write before only the simplest forms are chosen.
    fuel: usize,
}

impl Profile {
    fn choose(rng: &mut Rng) -> Self {
        let trivia = match rng.below(10) {
            0..=1 => Trivia::None,
            2..=6 => Trivia::Plain,
            7..=8 => Trivia::Wild,
            _ => Trivia::Mad,
        };
        Self {
            trivia,
            odd: if rng.chance(35) { 6 } else { 0 },
            extended: if rng.chance(10) { 30 } else { 0 },
            fuel: rng.between(2, 30),
        }
    }
}

/// Writes one document.
struct Writer<'r> {
    rng: &'r mut Rng,
    out: String,
    profile: Profile,
    /// How many nodes may still be written.
    fuel: usize,
}

impl<'r> Writer<'r> {
    fn new(rng: &'r mut Rng, profile: Profile) -> Self {
        Self { rng, out: String::new(), fuel: profile.fuel, profile }
    }

    /// Writes one token, after what may come before it.
    fn token(&mut self, text: &str) {
        self.trivia();
        self.out.push_str(text);
    }

    /// Writes text that belongs to the token before.
    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Whether to write an odd form here.
    fn odd(&mut self) -> bool {
        self.profile.odd > 0 && self.rng.chance(self.profile.odd)
    }

    /// Whether to use an extension here.
    fn extended(&mut self) -> bool {
        self.profile.extended > 0 && self.rng.chance(self.profile.extended)
    }

    /// Takes `cost` of the fuel; false when it is used up and the simplest form is due.
    fn burn(&mut self, cost: usize) -> bool {
        let enough = self.fuel >= cost;
        self.fuel = self.fuel.saturating_sub(cost);
        enough
    }

    /// Writes `item` between `low` and `high` times with commas between.
    fn comma_separated(&mut self, low: usize, high: usize, item: impl Fn(&mut Self)) {
        let count = self.rng.between(low, high);
        for index in 0..count {
            if index > 0 {
                self.token(",");
            }
            item(self);
        }
        // Neither a trailing comma nor a leading one is part of the language.
        if self.odd() && self.rng.chance(20) {
            self.token(",");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rng, document};

    #[test]
    fn the_same_seed_gives_the_same_document() {
        for case in 0..50 {
            let first = document(&mut Rng::for_case(7, case));
            assert_eq!(first, document(&mut Rng::for_case(7, case)));
        }
    }
}
