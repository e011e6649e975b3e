//! A text that is parsed again after an edit is parsed as if nobody had seen it before.

use gram_syntax::{Node, Parse, SourceFile, Token, parse};
use gramc_tests::campaign;
use gramc_tests::generate::{document, fragment};
use gramc_tests::mutate::{PIECES, mutate};
use gramc_tests::rng::Rng;

/// All that a parse tells.
fn told(parse: &Parse) -> String {
    let tree = parse.tree();
    let tokens: Vec<_> = tree.tokens().collect();
    let node = |node: Node<'_>| {
        (
            node.kind(),
            node.span(),
            node.tokens().count(),
            node.children().count(),
            node.doc().map(Token::span),
        )
    };
    let nodes: Vec<_> = tree.root().descendants().map(node).collect();
    let (found, extensions) = (parse.diagnostics(), parse.extensions());
    format!("{tokens:?}\n{nodes:?}\n{found:#?}\n{extensions:?}\n{}", parse.sexp())
}

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

/// The first line that differs, from a little before the difference on.
fn differ(one: &str, other: &str) -> String {
    let mut lines = one.lines().zip(other.lines());
    let Some((one, other)) = lines.find(|(one, other)| one != other) else {
        return "one goes on".to_owned();
    };
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let cut = |line: &str| line.chars().skip(same.saturating_sub(60)).take(160).collect::<String>();
    format!("- {}\n+ {}", cut(one), cut(other))
}

#[test]
fn a_text_that_is_edited_is_parsed_as_if_it_were_new() {
    let seed = campaign::seed().wrapping_add(41);
    let failures = campaign::each_thread(|first, step| {
        let mut failures = Vec::new();
        for case in (first..campaign::cases()).step_by(step) {
            let rng = &mut Rng::for_case(seed, case);
            let mut own = text(rng);
            let mut known = parse(SourceFile::new("a.gram", own.as_str()));
            for round in 0..8 {
                let before = own.clone();
                edit(rng, &mut own);
                // Whether somebody else holds the tree makes no difference.
                let _held = rng.chance(50).then(|| known.clone());
                known = known.again(SourceFile::new("a.gram", own.as_str()));
                let (again, new) =
                    (told(&known), told(&parse(SourceFile::new("a.gram", own.as_str()))));
                if again != new {
                    failures.push(format!(
                        "case {case}, round {round}:\n{before:?}\n{own:?}\n{}",
                        differ(&again, &new)
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
