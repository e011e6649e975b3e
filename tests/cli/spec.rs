//! The language's page: each of its fenced examples is a test. Those of the README are, too.
//!
//! - ```` ```gram ```` is accepted without findings,
//! - ```` ```gram bad CODE ```` has findings of that code, and of no other,
//! - a `json` block right behind a `gram` block is what it compiles to: one tool to the schema of
//!   its parameters, several to an object of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gram_schema::emit::{Compilation, Options};
use gram_schema::{Target, check, codes};
use gram_syntax::{SourceFile, parse};
use serde_json::Value;

use crate::markdown::{Block, blocks};
use crate::support::root;

fn page(name: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(root().join(name));
    blocks(&text.unwrap_or_else(|e| panic!("{name}: {e}")))
}

fn spec() -> Vec<Block> {
    let blocks = page("grammar/spec.md");
    assert!(blocks.len() > 50, "only {} blocks were found", blocks.len());
    blocks
}

/// What a text compiles to, or its findings on a line each.
fn compile(text: &str) -> Result<String, String> {
    let texts = [parse(SourceFile::new("spec.md", text))];
    let checked = check(&texts);
    let lines = checked.diagnostics.iter().map(|found| found.concise() + "\n");
    let found: String = lines.collect();
    let Some(module) = checked.module.filter(|_| found.is_empty()) else { return Err(found) };
    let compilation = Compilation::new(&module, &Options::new(Target::JsonSchema, 1));
    let json = match compilation.entries() {
        [entry] => serde_json::to_string(&compilation.compile(*entry)),
        _ => serde_json::to_string(&compilation.request()),
    };
    Ok(json.expect("a schema serializes"))
}

/// The codes of a text's findings.
fn found_codes(text: &str) -> BTreeSet<&'static str> {
    let found = check(&[parse(SourceFile::new("spec.md", text))]);
    found.diagnostics.iter().map(|found| found.code.name).collect()
}

#[test]
fn every_block_is_a_test() {
    let known: BTreeSet<_> = codes::all().map(|code| code.name).collect();
    for Block { info, line, .. } in spec() {
        let words: Vec<_> = info.split_whitespace().collect();
        match words.as_slice() {
            ["gram" | "json" | "text"] => {}
            ["gram", "bad", code] => {
                assert!(known.contains(code), "line {line}: there is no code `{code}`");
            }
            _ => panic!("line {line}: a block of kind {info:?} would not be tested"),
        }
    }
}

#[test]
fn examples_are_accepted() {
    let mut wrong = String::new();
    for block in spec().iter().filter(|block| block.info == "gram") {
        if let Err(found) = compile(&block.text) {
            let _ = writeln!(wrong, "line {}:\n{}{found}", block.line, block.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn bad_examples_have_the_finding_that_they_name() {
    let mut wrong = String::new();
    for block in spec() {
        let Some(code) = block.info.strip_prefix("gram bad ") else { continue };
        let found = found_codes(&block.text);
        if found != BTreeSet::from([code]) {
            let _ =
                writeln!(wrong, "line {}: {found:?} instead of {code}\n{}", block.line, block.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn examples_compile_to_what_stands_behind_them() {
    let mut blocks = spec();
    blocks.extend(page("README.md"));
    let mut wrong = String::new();
    let mut compared = 0;
    for pair in blocks.windows(2) {
        let [gram, json] = pair else { continue };
        if json.info != "json" {
            continue;
        }
        assert!(gram.info == "gram" && json.directly_follows, "line {}: JSON of what?", json.line);
        // The order of keys counts, and how numbers are written.
        let expected = json.text.parse::<Value>().map(|json| json.to_string());
        let expected = expected.unwrap_or_else(|e| panic!("line {}: {e}", json.line));
        let found = compile(&gram.text).unwrap_or_else(|found| found);
        compared += 1;
        if found != expected {
            let _ = writeln!(
                wrong,
                "line {}:\n{}{found}\ninstead of\n{expected}",
                gram.line, gram.text
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 20, "only {compared} examples have their JSON");
}
