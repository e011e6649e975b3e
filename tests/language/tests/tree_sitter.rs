//! The tree-sitter grammars of `grammar/tree-sitter`: what is generated from them is up to date,
//! they read what gramc reads, and their queries fit them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod corpus;
mod files;
mod packages;
mod queries;
mod real;
mod types;
mod verdicts;

use gramc_language_tests::root;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tree_sitter::{Language, Parser};
use tree_sitter_loader::Loader;

/// One of the two grammars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grammar {
    Gram,
    Type,
}

impl Grammar {
    const ALL: [Self; 2] = [Self::Gram, Self::Type];

    fn folder(self) -> PathBuf {
        root().join("grammar/tree-sitter").join(match self {
            Self::Gram => "gram",
            Self::Type => "gram-type",
        })
    }

    /// The name of the language.
    fn name(self) -> &'static str {
        match self {
            Self::Gram => "gram",
            Self::Type => "gram_type",
        }
    }

    /// The language, compiled from the committed parser once a process.
    fn language(self) -> Language {
        static LANGUAGES: [OnceLock<Language>; 2] = [OnceLock::new(), OnceLock::new()];
        LANGUAGES[self as usize].get_or_init(|| self.compile()).clone()
    }

    fn compile(self) -> Language {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("language.so");
        self.compile_to(&library);
        // What is loaded stays loaded when the file is gone.
        Loader::load_language(&library, &format!("tree_sitter_{}", self.name()))
            .expect("it is a language")
    }

    /// Makes a library of the committed parser, as editors do.
    fn compile_to(self, library: &Path) {
        let source = self.folder().join("src");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-std=c11", "-I"])
            .arg(&source)
            .arg(source.join("parser.c"))
            .arg("-o")
            .arg(library)
            .output()
            .expect("there is a C compiler");
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{errors}");
    }

    fn parser(self) -> Parser {
        let mut parser = Parser::new();
        parser.set_language(&self.language()).expect("the language fits the library");
        parser
    }
}

/// Whether a parser accepts a text, and its tree as an S-expression.
fn parse(parser: &mut Parser, text: &str) -> (bool, String) {
    let tree = parser.parse(text, None).expect("no limit is set");
    let root = tree.root_node();
    (!root.has_error(), root.to_sexp())
}
