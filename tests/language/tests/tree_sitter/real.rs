//! The grammar and its queries in a real editor.

use std::process::Command;

use gramc_language_tests::corpus;
use serde_json::Value;

use crate::tree_sitter::{Grammar, parse, root};

#[test]
fn neovim_reads_the_corpus_and_highlights_an_example() {
    let neovim = root().join(".tools/neovim/nvim");
    assert!(neovim.exists(), "Neovim is not installed; `tests/real/install` installs it");
    let folder = tempfile::tempdir().expect("a folder");
    let language = folder.path().join("gram.so");
    Grammar::Gram.compile_to(&language);
    let texts: Vec<String> = corpus::load().into_iter().map(|case| case.text).collect();
    let listed = folder.path().join("texts.json");
    std::fs::write(&listed, serde_json::to_string(&texts).expect("JSON")).expect("a file");
    let found = folder.path().join("found.json");
    let ran = Command::new(neovim)
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"])
        .arg("luafile tests/real/editors/highlight.lua")
        .current_dir(root())
        .env("HOME", folder.path())
        .env("GRAM_LANGUAGE", &language)
        .env("GRAM_TEXTS", &listed)
        .env("GRAM_HIGHLIGHTS", Grammar::Gram.folder().join("queries/highlights.scm"))
        .env("GRAM_SHOWN", root().join("examples/hello-world.gram"))
        .env("GRAM_FOUND", &found)
        .output()
        .expect("Neovim runs");
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    let found = std::fs::read_to_string(found).unwrap_or_else(|_| panic!("{errors}"));
    let found: Value = serde_json::from_str(&found).expect("JSON");
    // Neovim brings a library of its own, which is much older than the one of the other tests.
    let mut parser = Grammar::Gram.parser();
    let accepted = found["accepted"].as_array().expect("a list");
    assert_eq!(accepted.len(), texts.len());
    for (text, accepted) in texts.iter().zip(accepted) {
        assert_eq!(*accepted, parse(&mut parser, text).0, "{text:?}");
    }
    let highlights = found["highlights"].as_array().expect("a list");
    let highlights: Vec<&str> = highlights.iter().filter_map(Value::as_str).collect();
    insta::assert_snapshot!(highlights.join("\n"));
}
