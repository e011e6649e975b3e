//! What holds for any text at all: the tokens add up to it, parsing ends without a panic, and an
//! error is reported exactly where the reference rejects.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use gramc_language_tests::campaign::{self, Tally};
use gramc_language_tests::generate::{document, fragment};
use gramc_language_tests::mutate::{PIECES, mutate};
use gramc_language_tests::rng::Rng;
use gramc_syntax::Extension;

/// All extensions: what each of them may be is the conformance test's business.
const EXTENSIONS: &[Extension] = &[
    Extension::NestedValue,
    Extension::AngleRecord,
    Extension::UnicodeEscape,
    Extension::SlashString,
    Extension::BareType,
    Extension::OptionalMark,
];

/// Runs one campaign; the comparison checks the tokens, the panics and the verdicts.
fn check(text_of: impl Fn(&mut Rng) -> String + Sync) -> Tally {
    let seed = campaign::seed().wrapping_add(2);
    let cases = campaign::cases() / 4;
    let tally = campaign::run(cases, EXTENSIONS, |case| text_of(&mut Rng::for_case(seed, case)));
    tally.assert_no_mismatches(seed);
    tally
}

#[test]
fn random_bytes() {
    let tally = check(|rng| {
        let bytes: Vec<u8> = (0..rng.below(60))
            .map(|_| {
                // Bytes of all values are nearly never gram, so most come from its own characters.
                if rng.chance(15) { rng.byte() } else { rng.pick(PIECES).as_bytes()[0] }
            })
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    assert!(tally.rejected > 0);
}

#[test]
fn soups_of_tokens() {
    let tally = check(|rng| {
        let mut text = String::new();
        for _ in 0..rng.below(14) {
            text.push_str(rng.pick(PIECES));
            if rng.chance(30) {
                text.push(' ');
            }
        }
        text
    });
    assert!(tally.rejected > 0 && tally.accepted > 0);
}

#[test]
fn soups_of_fragments() {
    let tally = check(|rng| (0..rng.below(5)).map(|_| fragment(rng)).collect());
    assert!(tally.rejected > 0 && tally.accepted > 0);
}

#[test]
fn documents_cut_and_edited() {
    let tally = check(|rng| {
        let mut text = document(rng);
        for _ in 0..rng.below(4) {
            text = mutate(rng, &text);
        }
        if rng.chance(30) {
            // A file that is being written ends anywhere.
            let end = rng.below(text.chars().count() + 1);
            text = text.chars().take(end).collect();
        }
        text
    });
    assert!(tally.rejected > 0 && tally.accepted > 0);
}
