//! What is generated from the grammars is committed, and it is what they generate.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tree_sitter_generate::{OptLevel, generate_parser_in_directory};

use crate::tree_sitter::{Grammar, root};

/// The oldest version of tree-sitter's tables that its libraries still read: Neovim 0.7 knows no
/// newer one.
const TABLES: usize = 14;

/// The texts of a folder's files, by their paths.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("it can be read");
        let name = entry.file_name().into_string().expect("a plain name");
        if entry.file_type().expect("it has a type").is_dir() {
            let inner = texts(&entry.path()).into_iter();
            found.extend(inner.map(|(path, text)| (format!("{name}/{path}"), text)));
        } else {
            found.insert(name, std::fs::read_to_string(entry.path()).expect("a text"));
        }
    }
    found
}

#[test]
fn the_committed_parsers_are_what_the_grammars_generate() {
    let update = std::env::var_os("UPDATE_GRAMMARS").is_some();
    for grammar in Grammar::ALL {
        let scratch = tempfile::tempdir().expect("a folder");
        let committed = grammar.folder().join("src");
        let out = if update { committed.clone() } else { scratch.path().join("src") };
        let mut remarks = Vec::new();
        generate_parser_in_directory(
            grammar.folder(),
            Some(out.clone()),
            None::<&Path>,
            TABLES,
            None,
            Some("node"),
            true,
            OptLevel::default(),
            &mut remarks,
        )
        .unwrap_or_else(|error| panic!("{grammar:?}: {error}"));
        assert!(remarks.is_empty(), "{grammar:?}: {remarks:?}");
        let (found, wanted) = (texts(&committed), texts(&out));
        assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
        for (path, text) in &wanted {
            assert!(
                found[path] == *text,
                "{grammar:?}: {path} is not what the grammar generates; \
                 UPDATE_GRAMMARS=1 cargo test -p gramc-tests --test tree_sitter writes it anew"
            );
        }
    }
}

#[test]
fn all_packages_have_the_version_of_the_program() {
    let json = |path: &str| -> Value {
        let text = std::fs::read_to_string(root().join(path)).expect("a file");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(json("grammar/tree-sitter/tree-sitter.json")["metadata"]["version"], version);
    assert_eq!(json("grammar/tree-sitter/package.json")["version"], version);
    assert_eq!(json("editors/vscode/package.json")["version"], version);
    for manifest in ["extension.toml", "Cargo.toml"] {
        let path = root().join("editors/zed").join(manifest);
        let text = std::fs::read_to_string(path).expect("a file");
        assert!(text.contains(&format!("\nversion = \"{version}\"\n")), "{manifest}");
    }
}

#[test]
fn the_list_of_grammars_names_files_that_are_there() {
    let folder = root().join("grammar/tree-sitter");
    let text = std::fs::read_to_string(folder.join("tree-sitter.json")).expect("a file");
    let list: Value = serde_json::from_str(&text).expect("JSON");
    let grammars = list["grammars"].as_array().expect("a list");
    let names: Vec<&str> = grammars.iter().filter_map(|grammar| grammar["name"].as_str()).collect();
    assert_eq!(names, Grammar::ALL.map(Grammar::name));
    for (grammar, listed) in Grammar::ALL.into_iter().zip(grammars) {
        let path = listed["path"].as_str().expect("a path");
        assert_eq!(folder.join(path), grammar.folder());
        for query in ["highlights", "injections", "locals", "tags"] {
            if let Some(path) = listed[query].as_str() {
                assert!(folder.join(path).is_file(), "{path} is missing");
            }
        }
    }
}
