//! Resolves imports, including those of imported files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gramc_check::{ImportGraph, ResolvedImport};
use gramc_syntax::Span;

/// A file that an import names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its canonical path.
    pub path: PathBuf,
    /// Its path in messages.
    pub shown: PathBuf,
}

/// Resolves the path of an import in a file of `folder`. Messages show the folder as `shown`. The
/// imported file must be inside the project root.
///
/// # Errors
///
/// The file does not exist, is a folder or is outside of the project.
pub fn resolve_import(
    folder: &Path,
    shown: &Path,
    import: &str,
    root: impl FnOnce() -> Option<PathBuf>,
) -> Result<Imported, String> {
    if import.contains("://") {
        return Err(format!("`{import}` is a URL, and imports are files of the project"));
    }
    let shown = shown.join(import);
    let path = folder.join(import).canonicalize();
    let path = path.map_err(|_| format!("there is no file `{}`", shown.display()))?;
    if let Some(root) = root().filter(|root| !path.starts_with(root)) {
        return Err(format!("`{import}` lies outside of the project {}", root.display()));
    }
    if path.is_dir() {
        return Err(format!("`{import}` is a folder; an import names a file"));
    }
    Ok(Imported { path, shown })
}

/// Resolves the imports of `files` and adds the imported files, whose imports are resolved as well.
///
/// `imports` returns the imports of a file and their spans. `find` returns the index of a given file
/// by canonical path. `read` reads any other file and is called once per file.
pub fn follow_imports<F>(
    files: &mut Vec<F>,
    mut imports: impl FnMut(usize, &F) -> Vec<(Span, Result<Imported, String>)>,
    mut find: impl FnMut(&Path) -> Option<usize>,
    mut read: impl FnMut(&Imported) -> Result<F, String>,
) -> ImportGraph {
    let mut brought: HashMap<PathBuf, usize> = HashMap::new();
    let mut graph = ImportGraph { of: Vec::with_capacity(files.len()) };
    let mut at = 0;
    while let Some(file) = files.get(at) {
        let mut resolved = Vec::new();
        for (span, import) in imports(at, file) {
            let text = import.and_then(|import| {
                let known = find(&import.path).or_else(|| brought.get(&import.path).copied());
                if let Some(known) = known {
                    return Ok(known);
                }
                files.push(read(&import)?);
                brought.insert(import.path, files.len() - 1);
                Ok(files.len() - 1)
            });
            resolved.push(ResolvedImport { span, text });
        }
        graph.of.push(resolved);
        at += 1;
    }
    graph
}
