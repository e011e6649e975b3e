//! Diagnostics from the cache equal those of a fresh check, for texts that are hardly gram.

use gramc_check::ImportGraph;
use gramc_language_tests::campaign;
use gramc_language_tests::generate::{document, fragment};
use gramc_language_tests::mutate::{PIECES, mutate};
use gramc_language_tests::rng::Rng;
use gramc_lint::{Cache, Settings};
use gramc_syntax::{Diagnostic, SourceFile, parse};

/// A text of several patterns, right or wrong.
fn text(rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..rng.below(8) {
        text += &if rng.chance(20) { fragment(rng) } else { document(rng) };
        text += if rng.chance(80) { "\n" } else { " " };
    }
    if rng.chance(30) { mutate(rng, &text) } else { text }
}

/// Replaces a stretch of a text.
fn edit(rng: &mut Rng, text: &mut String) {
    let mut place = || {
        let mut at = rng.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (one, other) = (place(), place());
    let (from, mut to) = (one.min(other), one.max(other));
    if rng.chance(80) {
        to = to.min(from + rng.below(4));
        while !text.is_char_boundary(to) {
            to += 1;
        }
    }
    let mut new = String::new();
    for _ in 0..rng.below(3) {
        new += rng.pick(PIECES);
    }
    if rng.chance(10) {
        new = document(rng);
    }
    text.replace_range(from..to, &new);
}

fn shown(found: &[Diagnostic]) -> String {
    found.iter().fold(String::new(), |all, diagnostic| format!("{all}{diagnostic:?}\n"))
}

#[test]
fn a_text_that_is_edited_is_checked_as_if_it_were_new() {
    let seed = campaign::seed().wrapping_add(41);
    let (settings, imports) = (Settings::default(), ImportGraph::default());
    let failures = campaign::each_thread(|first, step| {
        let mut failures = Vec::new();
        for case in (first..campaign::cases()).step_by(step) {
            let rng = &mut Rng::for_case(seed, case);
            let mut own = text(rng);
            let mut cache = Cache::default();
            for round in 0..8 {
                let before = own.clone();
                edit(rng, &mut own);
                let texts = [parse(SourceFile::new("a.gram", own.as_str()))];
                let found = shown(&cache.diagnostics(&texts, &imports, &settings));
                let expected = shown(&gramc_lint::check(&texts, &imports, &settings).diagnostics);
                if found != expected {
                    failures.push(format!(
                        "case {case}, round {round}:\n{before:?}\n{own:?}\n{found}\n{expected}"
                    ));
                    break;
                }
            }
            if failures.len() > 2 {
                break;
            }
        }
        failures
    });
    let failures: Vec<_> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n\n"));
}
