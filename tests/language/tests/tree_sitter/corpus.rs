//! The corpora of the grammars, in the form that `tree-sitter test` reads.

use std::path::Path;

use crate::tree_sitter::{Grammar, parse};

/// One test of a corpus.
struct Case {
    name: String,
    text: String,
    /// The tree on one line, or nothing where the text has an error.
    tree: Option<String>,
}

fn is_line_of(line: &str, character: char) -> bool {
    line.len() >= 3 && line.chars().all(|c| c == character)
}

fn cases(path: &Path) -> Vec<Case> {
    let whole = std::fs::read_to_string(path).expect("a text");
    let mut lines = whole.lines().peekable();
    let mut cases = Vec::new();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        assert!(is_line_of(line, '='), "{}: a test begins with {line:?}", path.display());
        let heading: Vec<&str> = lines.by_ref().take_while(|line| !is_line_of(line, '=')).collect();
        let text: Vec<&str> = lines.by_ref().take_while(|line| !is_line_of(line, '-')).collect();
        let mut tree = Vec::new();
        while let Some(line) = lines.next_if(|line| !is_line_of(line, '=')) {
            tree.push(line.trim());
        }
        let tree = tree.join(" ").trim().replace(" )", ")");
        let fails = heading.contains(&":error");
        assert_eq!(fails, tree.is_empty(), "{heading:?} has a tree, or an error");
        cases.push(Case {
            name: heading[0].to_owned(),
            text: text.join("\n").trim_matches('\n').to_owned(),
            tree: (!fails).then_some(tree),
        });
    }
    cases
}

#[test]
fn the_corpora_pass() {
    for (grammar, least) in [(Grammar::Gram, 12), (Grammar::Type, 4)] {
        let mut parser = grammar.parser();
        let mut seen = 0;
        for entry in std::fs::read_dir(grammar.folder().join("test/corpus")).expect("a folder") {
            for case in cases(&entry.expect("it can be read").path()) {
                let (accepted, sexp) = parse(&mut parser, &case.text);
                match case.tree {
                    Some(tree) => assert_eq!(sexp, tree, "{}", case.name),
                    None => assert!(!accepted, "{} has no error", case.name),
                }
                seen += 1;
            }
        }
        assert!(seen >= least, "only {seen} tests of {grammar:?}");
    }
}
