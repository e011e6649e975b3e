//! The grammar of gram accepts what gramc accepts, with the same tree.

use gramc_language_tests::campaign;
use gramc_language_tests::compare::{Ours, parse_ours};
use gramc_language_tests::corpus;
use gramc_language_tests::generate::document;
use gramc_language_tests::mutate::mutate;
use gramc_language_tests::rng::Rng;
use gramc_language_tests::shrink::shrink;
use gramc_syntax::Extension;
use tree_sitter::Parser;

use crate::tree_sitter::{Grammar, parse};

/// Where the grammar knowingly reads a text in another way. Both are about comments that are text
/// and texts that are comments, which tree-sitter decides token by token, while gramc looks at what
/// is on later lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deviation {
    /// A quoted string begins with `//` and its closing quote is on that line, and yet it is a
    /// comment to the reference grammar, for there is another quote on a later line. The grammar
    /// reads the string.
    CommentInQuotes,
    /// A fenced text's first line begins with `//` and holds the closing fence (extension E4). The
    /// grammar reads a comment, as the reference grammar does.
    SlashesInFence,
}

/// The deviation that a text might show. Nothing else may differ.
fn known(text: &str, ours: &Ours) -> Option<Deviation> {
    let slashes = ours.extensions.contains(&Extension::SlashString);
    if slashes && text.contains("```") {
        return Some(Deviation::SlashesInFence);
    }
    // The quote, blanks or doc comments, and slashes.
    let begins = |rest: &str| rest.trim_start().starts_with("//") || rest.starts_with("/**");
    let quoted = text.match_indices(['"', '\'', '`']).any(|(at, _)| begins(&text[at + 1..]));
    let comment = ["(comment) content", "(comment) (doc_comment) content"];
    let hidden = comment.iter().any(|inside| ours.sexp.contains(inside));
    (quoted && (slashes || hidden || !ours.accepted)).then_some(Deviation::CommentInQuotes)
}

/// What a text that the two read differently is: known, or not.
fn difference(parser: &mut Parser, text: &str) -> Option<Result<Deviation, String>> {
    let ours = parse_ours(text).expect("it does not panic");
    let (accepted, sexp) = parse(parser, text);
    if accepted == ours.accepted && (!accepted || sexp == ours.sexp) {
        return None;
    }
    Some(known(text, &ours).ok_or_else(|| {
        let show = |accepted| if accepted { "accepts" } else { "rejects" };
        format!(
            "{text:?}\n  gramc {}: {}\n  tree-sitter {}: {sexp}\n",
            show(ours.accepted),
            ours.sexp,
            show(accepted)
        )
    }))
}

/// What was found in many texts.
#[derive(Debug, Default)]
struct Tally {
    same: usize,
    in_quotes: usize,
    in_fences: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, parser: &mut Parser, text: &str) {
        match difference(parser, text) {
            None => self.same += 1,
            Some(Ok(Deviation::CommentInQuotes)) => self.in_quotes += 1,
            Some(Ok(Deviation::SlashesInFence)) => self.in_fences += 1,
            Some(Err(_)) => {
                let small = shrink(text, |candidate| {
                    matches!(difference(&mut Grammar::Gram.parser(), candidate), Some(Err(_)))
                });
                self.wrong.extend(difference(parser, &small).and_then(Result::err));
            }
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.same += other.same;
        self.in_quotes += other.in_quotes;
        self.in_fences += other.in_fences;
        self.wrong.extend(other.wrong);
        self
    }

    fn assert_nothing_is_wrong(&self) {
        assert!(self.wrong.is_empty(), "{} wrong\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

#[test]
fn the_corpus_gets_our_verdicts_and_our_trees() {
    let mut parser = Grammar::Gram.parser();
    let mut tally = Tally::default();
    for case in corpus::load() {
        tally.add(&mut parser, &case.text);
    }
    tally.assert_nothing_is_wrong();
    // What is excused was written to show just that.
    assert!(tally.same > 850 && tally.in_quotes <= 12 && tally.in_fences <= 2, "{tally:?}");
}

#[test]
fn generated_and_edited_documents_get_our_verdicts_and_our_trees() {
    let (seed, cases) = (campaign::seed().wrapping_add(11), campaign::cases() / 2);
    let corpus: Vec<String> = corpus::load().into_iter().map(|case| case.text).collect();
    let tally = campaign::each_thread(|first, step| {
        let mut parser = Grammar::Gram.parser();
        let mut tally = Tally::default();
        for case in (first..cases).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let mut text = match rng.below(4) {
                0 => corpus[rng.below(corpus.len())].clone(),
                _ => document(&mut rng),
            };
            if rng.chance(60) {
                text = mutate(&mut rng, &text);
            }
            tally.add(&mut parser, &text);
            if tally.wrong.len() > 4 {
                break;
            }
        }
        tally
    });
    let tally = tally.into_iter().fold(Tally::default(), Tally::merge);
    tally.assert_nothing_is_wrong();
    // An excuse that fitted everything would hide mistakes.
    assert!(tally.same * 100 > cases * 97, "{tally:?}");
}

#[test]
fn the_known_deviations_are_what_they_are_said_to_be() {
    let mut parser = Grammar::Gram.parser();
    for (text, deviation) in [
        ("({k:\"//a\"\n\"})", Deviation::CommentInQuotes),
        ("(`//a`\n`)", Deviation::CommentInQuotes),
        ("({k:```\n//a```})", Deviation::SlashesInFence),
    ] {
        let found = difference(&mut parser, text);
        assert_eq!(found, Some(Ok(deviation)), "{text:?} is read as gramc reads it");
    }
    // What people write is read alike.
    for text in ["({k:\"//a\"})", "({k:\" //a\"}) // b\n", "({k:```\n//a\n```})", "({k:t`//a`})"] {
        assert_eq!(difference(&mut parser, text), None);
    }
}

#[test]
fn deep_documents_are_read() {
    let mut parser = Grammar::Gram.parser();
    let nested = |open: &str, close: &str| open.repeat(10_000) + &close.repeat(10_000);
    for text in [
        nested("[|", "]").replace("[|]", "[]"),
        format!("(a {{k: {}}})", nested("[", "]")),
        format!("(a {{k: {}}})", nested("{k:", "}").replace("k:}", "}")),
        "()-->".repeat(10_000) + "()",
    ] {
        assert!(!parser.parse(&text, None).unwrap().root_node().has_error(), "{text:.40}");
    }
}
