//! The imports between the files that a command reads.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gramc_check::{ImportGraph, ResolvedImport};
use gramc_project::{Imported, follow_imports, resolve_import};
use gramc_syntax::{Parse, Span};

use crate::project::project_of;

/// A text, and its path in messages; `None` for standard input.
type Named = (Option<PathBuf>, Parse);

/// The files of texts, to resolve the imports between them.
pub(crate) struct ImportPaths {
    paths: Vec<Option<PathBuf>>,
    /// The index of each text by its canonical path. Most projects import nothing, so the paths
    /// are looked up when an import asks.
    known: OnceCell<HashMap<PathBuf, usize>>,
}

impl ImportPaths {
    /// Resolves the imports of files, and reads the files that they bring. Gives the texts of all.
    pub(crate) fn follow(
        mut files: Vec<Named>,
        read: impl Fn(&Path) -> Result<Parse, String>,
    ) -> (Self, Vec<Parse>, ImportGraph) {
        let named = Self::new(files.iter().map(|(path, _)| path.clone()).collect());
        let graph = follow_imports(
            &mut files,
            |_, (path, text)| imports_of(path.as_deref(), text),
            |path| named.index_of(path),
            |import| Ok((Some(import.shown.clone()), read(&import.shown)?)),
        );
        let (paths, texts) = files.into_iter().unzip();
        (Self::new(paths), texts, graph)
    }

    pub(crate) fn new(paths: Vec<Option<PathBuf>>) -> Self {
        Self { paths, known: OnceCell::new() }
    }

    /// The file that a text comes from.
    pub(crate) fn path(&self, at: usize) -> Option<&Path> {
        self.paths.get(at)?.as_deref()
    }

    /// The imports of texts that have changed. They lead to files that are known: a fix moves and
    /// removes imports, and adds none.
    pub(crate) fn resolve_all(&self, texts: &[Parse]) -> ImportGraph {
        let of = texts.iter().enumerate().map(|(at, text)| self.resolve(at, text));
        ImportGraph { of: of.collect() }
    }

    /// The imports of a text that has changed.
    pub(crate) fn resolve(&self, at: usize, text: &Parse) -> Vec<ResolvedImport> {
        let resolve = |(span, import): (Span, Result<Imported, String>)| {
            let index = |import: Imported| self.index_of(&import.path);
            let text = import.and_then(|import| index(import).ok_or_else(|| NEW.to_owned()));
            ResolvedImport { span, text }
        };
        imports_of(self.path(at), text).into_iter().map(resolve).collect()
    }

    fn index_of(&self, path: &Path) -> Option<usize> {
        let known = self.known.get_or_init(|| {
            let mut known = HashMap::new();
            for (at, path) in self.paths.iter().enumerate() {
                if let Some(path) = path.as_ref().and_then(|path| path.canonicalize().ok()) {
                    known.entry(path).or_insert(at);
                }
            }
            known
        });
        known.get(path).copied()
    }
}

/// The error about an import that was not there before.
const NEW: &str = "this import is new";

/// The imports of a text, with their places in its header.
fn imports_of(path: Option<&Path>, text: &Parse) -> Vec<(Span, Result<Imported, String>)> {
    let imports = gramc_check::imports(text);
    if imports.is_empty() {
        return Vec::new();
    }
    let folder = match path {
        Some(path) => Some(path.parent().unwrap_or(Path::new("")).to_owned()),
        None => std::env::current_dir().ok(),
    };
    let resolve = |import: gramc_check::Import| {
        let file = match &folder {
            Some(folder) => resolve_import(folder, folder, &import.path, || project_of(folder)),
            None => Err("standard input cannot import files".to_owned()),
        };
        (import.span, file)
    };
    imports.into_iter().map(resolve).collect()
}
