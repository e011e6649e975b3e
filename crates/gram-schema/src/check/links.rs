//! Imports: which texts a text's header names.

use gram_syntax::{Node, NodeKind as N, Parse, Span};

use super::Checker;
use super::scopes::Scopes;
use crate::codes;

/// A file that a text's header names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The path as written, relative to the text's own file.
    pub path: String,
    /// Where it stands.
    pub span: Span,
}

/// The files that a text imports: `{imports: ["types.gram"]}` in its header.
pub fn imports(text: &Parse) -> Vec<Import> {
    let header = text.tree().root().children().next().filter(|node| node.kind() == N::Record);
    let mut found = Vec::new();
    for entry in header.into_iter().flat_map(Node::entries) {
        if entry.key.content() == "imports" && entry.value.kind() == N::Array {
            let paths = entry.value.children().filter(|path| path.kind() == N::String);
            found.extend(
                paths.map(|path| Import { path: path.content().into_owned(), span: path.span() }),
            );
        }
    }
    found
}

/// What the imports of texts lead to, found by whoever reads files.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// For each text, its imports in order.
    pub of: Vec<Vec<Link>>,
}

/// What one import leads to.
#[derive(Debug, Clone)]
pub struct Link {
    /// Where it stands.
    pub span: Span,
    /// The text's place among those that are checked together, or why there is none.
    pub text: Result<usize, String>,
}

impl Checker<'_> {
    /// Takes note of which texts import which. Some are known to have no header.
    pub(super) fn link(&mut self, links: &Links, without_header: impl Fn(usize) -> bool) {
        let mut imports = vec![Vec::new(); self.texts.len()];
        for (file, (links, imports)) in links.of.iter().zip(&mut imports).enumerate() {
            for link in links {
                match &link.text {
                    Ok(text) => imports.push(*text),
                    Err(reason) => {
                        let error = self
                            .error(&codes::UNKNOWN_IMPORT, file, link.span, reason.clone())
                            .help("a path is relative to this file, and stays inside the project");
                        self.report(file, error);
                    }
                }
            }
        }
        self.terms = std::sync::Arc::new(Scopes::new(&imports));
        self.type_names = std::sync::Arc::new(Scopes::new(&imports));
        for file in (0..self.texts.len()).filter(|file| !without_header(*file)) {
            self.header(file);
        }
    }

    /// Reports what is wrong in a header.
    fn header(&mut self, file: usize) {
        let header = self.texts[file].tree().root().children().next();
        let Some(header) = header.filter(|node| node.kind() == N::Record) else { return };
        if self.is_broken(file, header) {
            return;
        }
        for entry in header.entries() {
            let (wanted, fits) = match &*entry.key.content() {
                "imports" => (
                    "a list of paths, such as [\"types.gram\"]",
                    entry.value.kind() == N::Array
                        && entry.value.children().all(|path| path.kind() == N::String),
                ),
                "gram" => (
                    "the version of the language, which is 1",
                    entry.value.kind() == N::Integer && entry.value.text() == "1",
                ),
                _ => continue,
            };
            if !fits {
                let message = format!("`{}` wants {wanted}", entry.key.content());
                let error = self.error(&codes::ATTRIBUTE_VALUE, file, entry.value.span(), message);
                self.report(file, error.help(format!("write {wanted}")));
            }
        }
    }
}
