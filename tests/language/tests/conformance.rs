//! Our parser against the reference: the same verdict and the same tree on every text.
//!
//! The corpus states both parsers' verdicts by hand. The campaigns let the reference be the
//! judge of thousands of generated and edited documents. `GRAMC_SEED` and `GRAMC_CASES` change
//! the documents and their number.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use gramc_language_tests::campaign;
use gramc_language_tests::compare::{Outcome, compare, report, smallest};
use gramc_language_tests::corpus::{self, Expected};
use gramc_language_tests::generate::document;
use gramc_language_tests::mutate::mutate;
use gramc_language_tests::reference;
use gramc_language_tests::rng::Rng;
use gramc_syntax::Extension;

/// Where we knowingly accept what the reference rejects, and why.
///
/// A text that needs one of these must be rejected by the reference: an extension that changed
/// the reading of plain gram would be a bug. Everything that is not listed is a mismatch.
const DEVIATIONS: &[(Extension, &str)] = &[
    // Parameters and schemas have nested default values and empty lists; plain gram has neither
    // maps in maps nor `[]`, and a tagged string hides the value from the reader.
    (Extension::NestedValue, "arrays and maps inside arrays and maps, and the empty array"),
    // The notation's own examples for tools write attributes in angle brackets.
    (Extension::AngleRecord, "a record written `<k: v>` after a subject's identifier or labels"),
    // Text that comes from JSON has these escapes; the reference knows only one-letter ones.
    (Extension::UnicodeEscape, "`\\uXXXX` in a quoted string"),
    // A protocol-relative URL is a string, not a comment. The reference loses the closing quote.
    (Extension::SlashString, "a quoted string that begins with `//`"),
    // Backticks around every list, union and record are what authors stumble over first.
    (Extension::BareType, "a type expression as the label of a node"),
    // Every language that its users know writes optional parameters in this way.
    (Extension::OptionalMark, "`?` behind the identifier of a node"),
];

fn allowed() -> Vec<Extension> {
    DEVIATIONS.iter().map(|&(extension, _)| extension).collect()
}

#[test]
fn corpus_texts_get_the_verdict_they_state() {
    let allowed = allowed();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for case in corpus::load() {
        let found = match compare(&case.text, &allowed) {
            Ok(Outcome::Accepted(_)) => Expected::Ok,
            Ok(Outcome::Rejected) => Expected::Err,
            Ok(Outcome::Extended(_)) => Expected::Extension,
            Err(mismatch) => {
                let small = smallest(&case.text, &mismatch, &allowed);
                failures.push(report(&case.name, &case.text, &small, &mismatch));
                continue;
            }
        };
        *seen.entry(format!("{found:?}")).or_default() += 1;
        if found != case.expected {
            failures.push(format!(
                "{}: expected {:?}, found {found:?}\n  text: {:?}\n",
                case.name, case.expected, case.text
            ));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    // A corpus that was not found would pass everything above.
    assert!(seen["Ok"] > 200 && seen["Err"] > 200 && seen["Extension"] > 20, "{seen:?}");
}

#[test]
fn the_reference_gives_the_verdicts_that_the_corpus_states() {
    // This holds without any code of ours, so it tells a wrong corpus from a wrong parser.
    let wrong: Vec<String> = corpus::load()
        .into_iter()
        .filter(|case| reference::accepts(&case.text) != (case.expected == Expected::Ok))
        .map(|case| format!("{}: {:?} {:?}", case.name, case.expected, case.text))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn generated_documents_get_the_same_tree() {
    let (seed, cases) = (campaign::seed(), campaign::cases());
    let tally = campaign::run(cases, &allowed(), |case| document(&mut Rng::for_case(seed, case)));
    tally.assert_no_mismatches(seed);

    // A generator that made only broken texts, or only simple ones, would prove nothing.
    assert_share("accepted", tally.accepted, tally.total(), 60);
    assert_share("rejected", tally.rejected, tally.total(), 3);
    if cases >= 20_000 {
        for kind in node_types() {
            let count = tally.kinds.get(kind.as_str()).copied().unwrap_or_default();
            assert!(count >= 50, "the node {kind} appeared {count} times only");
        }
        for (extension, meaning) in DEVIATIONS {
            let count = tally.extended.get(&format!("{extension:?}")).copied().unwrap_or_default();
            assert!(count >= 50, "{extension:?} ({meaning}) was read {count} times only");
        }
    }
}

#[test]
fn edited_documents_get_the_same_tree() {
    let (seed, cases) = (campaign::seed().wrapping_add(1), campaign::cases());
    let corpus: Vec<String> = corpus::load().into_iter().map(|case| case.text).collect();
    let tally = campaign::run(cases, &allowed(), |case| {
        let mut rng = Rng::for_case(seed, case);
        if rng.chance(50) {
            let text = &corpus[rng.below(corpus.len())];
            mutate(&mut rng, text)
        } else {
            let text = document(&mut rng);
            mutate(&mut rng, &text)
        }
    });
    tally.assert_no_mismatches(seed);
    assert_share("accepted", tally.accepted, tally.total(), 20);
    assert_share("rejected", tally.rejected, tally.total(), 25);
}

#[test]
fn deep_and_long_documents_get_the_same_tree() {
    // The stack of a test's thread is small, so a parser that recurses fails here.
    let nested = |open: &str, close: &str| open.repeat(10_000) + &close.repeat(10_000);
    let texts = [
        nested("[|", "]").replace("[|]", "[]"),
        nested("[a|b,", "]").replace(",]", "]"),
        "()-->".repeat(10_000) + "()",
        "(a {k: 1})\n".repeat(10_000),
        format!("(a{})", ":L".repeat(10_000)),
        format!("(a {{{}k: 1}})", "k: [1, 2], ".repeat(10_000)),
        format!("(a {{k: [{}1]}})", "1, ".repeat(10_000)),
        format!("[a|{}b]", "b, ".repeat(10_000)),
        format!("{}(a)", "@k(1)".repeat(10_000)),
        "/** d */ // c\n".repeat(10_000),
    ];
    for text in texts {
        let start: String = text.chars().take(40).collect();
        match compare(&text, &[]) {
            Ok(Outcome::Accepted(_)) => {}
            other => panic!("{start:?}…: {:?}", other.map(|_| "an unexpected verdict")),
        }
    }
    // Nested values are an extension, so here the reference has no tree to compare with.
    let values = format!("(a {{k: {}}})", nested("[", "]"));
    assert!(matches!(compare(&values, &allowed()), Ok(Outcome::Extended(_))));
    // The same texts without their ends are wrong, and may not take more stack either.
    for open in ["[|", "[a|b,", "()-->", "(a {k: [", "(a {k: {k: ", "@k(", "((", "[[", "()-["] {
        let text = open.repeat(10_000);
        assert!(matches!(compare(&text, &allowed()), Ok(Outcome::Rejected)), "{open:?}");
    }
}

#[test]
fn the_node_names_are_those_of_the_published_list() {
    // The campaign counts the names of `node-types.json`; the parser itself must have the same.
    assert_eq!(node_types(), reference::named_kinds());
}

/// The named nodes of the reference's `node-types.json`.
fn node_types() -> Vec<String> {
    let list: serde_json::Value = serde_json::from_str(tree_sitter_gram::NODE_TYPES).unwrap();
    let mut names: Vec<String> = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["named"] == true)
        .map(|node| node["type"].as_str().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    names
}

fn assert_share(what: &str, part: usize, total: usize, percent: usize) {
    assert!(part * 100 >= total * percent, "{what}: {part} of {total}, wanted {percent} %");
}
