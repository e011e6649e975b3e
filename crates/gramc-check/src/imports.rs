//! The files that a header imports, and where these imports lead.

use std::collections::BTreeSet;

use gramc_syntax::{Node, NodeKind as N, Parse, Span};

/// A file that a header imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The path as written, relative to the importing file.
    pub path: String,
    /// The place of the path.
    pub span: Span,
}

/// The files that a file imports: `{imports: ["types.gram"]}` in its header.
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

/// The resolved imports of files. The caller that reads the files resolves them.
#[derive(Debug, Clone, Default)]
pub struct ImportGraph {
    /// The imports of each file, in order.
    pub of: Vec<Vec<ResolvedImport>>,
}

/// Where an import leads.
#[derive(Debug, Clone)]
pub struct ResolvedImport {
    /// The place of the path in the header.
    pub span: Span,
    /// The index of the imported file among those that are checked together, or the reason for the failure.
    pub text: Result<usize, ImportFailure>,
}

/// Why an import leads nowhere, as a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFailure(pub String);

impl ImportGraph {
    /// A file and all that it imports, directly or by other files.
    pub fn with_imports(&self, file: usize) -> BTreeSet<usize> {
        let (mut seen, mut todo) = (BTreeSet::from([file]), vec![file]);
        while let Some(file) = todo.pop() {
            let links = self.of.get(file).into_iter().flatten();
            let next = links.filter_map(|link| link.text.as_ref().ok().copied());
            todo.extend(next.filter(|file| seen.insert(*file)));
        }
        seen
    }

    /// For each of `count` files, the indices of the files that it imports.
    pub(crate) fn edges(&self, count: usize) -> Vec<Vec<usize>> {
        let mut edges = vec![Vec::new(); count];
        for (imports, edges) in self.of.iter().zip(&mut edges) {
            edges.extend(imports.iter().filter_map(|import| import.text.as_ref().ok()));
        }
        edges
    }
}
