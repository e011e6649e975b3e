//! Each fenced example of the specification and of the manual is a test.
//!
//! - ```` ```gram ```` is accepted without diagnostics,
//! - ```` ```gram bad CODE ```` has diagnostics with that code only,
//! - a `json` block directly after a `gram` block is its output: the schema of one tool's
//!   parameters, or an object with the schemas of several.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gramc_check::check;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use gramc_syntax::{SourceFile, parse};
use serde_json::Value;

use crate::markdown::{Block, SKILL, blocks, manual, name, read};
use crate::support::root;

fn spec() -> Vec<Block> {
    let blocks = blocks(&read(&root().join("grammar/spec.md")));
    assert!(blocks.len() > 50, "only {} blocks were found", blocks.len());
    blocks
}

/// The output for a text, or its diagnostics, one per line.
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

/// The codes of a text's diagnostics.
fn found_codes(text: &str) -> BTreeSet<&'static str> {
    let found = check(&[parse(SourceFile::new("spec.md", text))]);
    found.diagnostics.iter().map(|found| found.code.name).collect()
}

#[test]
fn every_block_is_a_test() {
    let known: BTreeSet<_> = gramc_lint::all_codes().map(|code| code.name).collect();
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
    let manual = manual().into_iter().flat_map(|path| blocks(&read(&path)));
    for block in spec().into_iter().chain(manual).filter(|block| block.info == "gram") {
        if let Err(found) = compile(&block.text) {
            let _ = writeln!(wrong, "line {}:\n{}{found}", block.line, block.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn bad_examples_have_the_diagnostic_that_they_name() {
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

/// The rows of the table of mistakes in the skill: wrong code, correct code, the code of the error.
#[test]
fn mistakes_in_the_skill_have_the_code_that_they_name() {
    let page = read(&root().join(SKILL)).replace("\\|", "¦");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut count = 0;
    for row in rows {
        let cells: Vec<_> = row.trim_end_matches(" |").split(" | ").collect();
        let [wrong, correct, code] = cells[..] else { panic!("{row}") };
        let found = |fragment: &str| {
            let fragment = fragment.trim_matches('`').replace('¦', "|");
            let text = if !fragment.starts_with('(') {
                format!("{fragment}\n[tool:Tool | (a::Int)==>(::Null)]")
            } else if fragment.contains(">(::") {
                format!("[tool:Tool | {fragment}]")
            } else {
                format!("[tool:Tool | {fragment}==>(::Null)]")
            };
            found_codes(&text)
        };
        for wrong in wrong.split(", `") {
            count += 1;
            assert_eq!(found(wrong), BTreeSet::from([code.trim_matches('`')]), "{wrong}");
        }
        assert_eq!(found(correct), BTreeSet::new(), "{correct}");
    }
    assert!(count >= 10, "only {count} mistakes were found");
}

#[test]
fn examples_compile_to_the_json_that_follows() {
    let pages = manual().into_iter().map(|path| (path.clone(), blocks(&read(&path))));
    let pages = pages.chain([(root().join("grammar/spec.md"), spec())]);
    let mut wrong = String::new();
    let mut compared = 0;
    for (path, blocks) in pages {
        let is_spec = path.ends_with("spec.md");
        for pair in blocks.windows(2) {
            let [gram, json] = pair else { continue };
            let place = format!("{}:{}", name(&path), json.line);
            if json.info != "json" || !(is_spec || gram.info == "gram") {
                continue;
            }
            let follows = gram.info == "gram" && (json.directly_follows || !is_spec);
            assert!(follows, "{place}: JSON without an example");
            // The order of keys and the notation of numbers are compared.
            let expected = json.text.parse::<Value>().map(|json| json.to_string());
            let expected = expected.unwrap_or_else(|e| panic!("{place}: {e}"));
            let found = compile(&gram.text).unwrap_or_else(|found| found);
            compared += 1;
            if found != expected {
                let _ = writeln!(wrong, "{place}:\n{}{found}\ninstead of\n{expected}", gram.text);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 20, "only {compared} examples have their JSON");
}
