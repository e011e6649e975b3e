//! What the headers of texts import.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gram_schema::{ImportGraph, ResolvedImport};
use gram_syntax::Parse;
use gram_tools::files::{self, Imported};

use crate::project::project_of;

/// How a text is read that an import names.
type Read<'r> = dyn FnMut(&Path) -> Result<Parse, String> + 'r;

/// Knows where each text comes from, and finds what its imports lead to.
pub(crate) struct Linker {
    /// For each text its file, as messages name it; `None` for standard input.
    paths: Vec<Option<PathBuf>>,
    /// For each file its text. It is made when somebody asks.
    known: HashMap<PathBuf, usize>,
    /// The texts that imports brought and nobody has taken yet.
    brought: Vec<Parse>,
}

impl Linker {
    /// The linker of texts that come from these files.
    pub(crate) fn new(paths: Vec<Option<PathBuf>>) -> Self {
        Self { paths, known: HashMap::new(), brought: Vec::new() }
    }

    /// The file that a text comes from.
    pub(crate) fn path(&self, at: usize) -> Option<&Path> {
        self.paths.get(at)?.as_deref()
    }

    /// Reads what texts import, and what that imports, each file once.
    pub(crate) fn follow(&mut self, texts: &mut Vec<Parse>, read: &mut Read<'_>) -> ImportGraph {
        let mut graph = ImportGraph::default();
        let mut at = 0;
        while let Some(text) = texts.get(at) {
            graph.of.push(self.link(at, text, read));
            texts.append(&mut self.brought);
            at += 1;
        }
        graph
    }

    /// What the imports of texts lead to that are known already, after they were changed: fixes
    /// move imports and remove them, and add none.
    pub(crate) fn again(&mut self, texts: &[Parse]) -> ImportGraph {
        let mut read = |_: &Path| Err("a fix added this import".to_owned());
        let of = texts.iter().enumerate().map(|(at, text)| self.link(at, text, &mut read));
        ImportGraph { of: of.collect() }
    }

    /// What the imports of one text lead to.
    pub(crate) fn link(
        &mut self,
        at: usize,
        text: &Parse,
        read: &mut Read<'_>,
    ) -> Vec<ResolvedImport> {
        let imports = gram_schema::imports(text);
        if imports.is_empty() {
            return Vec::new();
        }
        let from = match self.path(at) {
            Some(path) => Some(path.to_owned()),
            None => std::env::current_dir().ok().map(|folder| folder.join("<stdin>")),
        };
        let link = |import: gram_schema::Import| {
            let path = match &from {
                Some(from) => {
                    let folder = from.parent().unwrap_or(Path::new(""));
                    files::import(folder, folder, &import.path, || project_of(folder))
                }
                None => Err("this text has no folder to import from".to_owned()),
            };
            ResolvedImport { span: import.span, text: path.and_then(|path| self.text(path, read)) }
        };
        imports.into_iter().map(link).collect()
    }

    /// The text of a file, which is read where it is not known yet.
    fn text(&mut self, file: Imported, read: &mut Read<'_>) -> Result<usize, String> {
        let Imported { path, shown } = file;
        if self.known.is_empty() {
            for (at, path) in self.paths.iter().enumerate() {
                if let Some(path) = path.as_ref().and_then(|path| path.canonicalize().ok()) {
                    self.known.entry(path).or_insert(at);
                }
            }
        }
        if let Some(at) = self.known.get(&path) {
            return Ok(*at);
        }
        self.brought.push(read(&shown)?);
        let at = self.paths.len();
        self.known.insert(path, at);
        self.paths.push(Some(shown));
        Ok(at)
    }
}
