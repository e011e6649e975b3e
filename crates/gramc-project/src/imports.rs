//! Resolves imports, including those of imported files.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use gramc_check::{Import, ImportFailure, ImportGraph, ResolvedImport};
use gramc_syntax::{Parse, Span};

use crate::projects::project_of;
use crate::{ImportPathError, TextFile};

/// A file that an import names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its canonical path.
    pub path: PathBuf,
    /// Its path in messages.
    pub shown: PathBuf,
}

/// An import in the header of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportLink {
    /// The place of the path.
    pub span: Span,
    /// The imported file, or the reason for the failure.
    pub target: Result<Imported, ImportPathError>,
}

/// Resolves the path of an import in a file of `folder`. Messages show the folder as `shown`. The
/// imported file must be inside the project root.
pub fn resolve_import(
    folder: &Path,
    shown: &Path,
    import: &str,
    root: impl FnOnce() -> Option<PathBuf>,
) -> Result<Imported, ImportPathError> {
    if import.contains("://") {
        return Err(ImportPathError::Url(import.to_owned()));
    }
    let shown = shown.join(import);
    let path = folder.join(import).canonicalize();
    let path = path.map_err(|_| ImportPathError::NoSuchFile(shown.display().to_string()))?;
    if let Some(root) = root().filter(|root| !path.starts_with(root)) {
        return Err(ImportPathError::Outside(import.to_owned(), root));
    }
    if path.is_dir() {
        return Err(ImportPathError::Folder(import.to_owned()));
    }
    Ok(Imported { path, shown })
}

/// Resolves the imports of `files` and adds the imported files, whose imports are resolved as well.
///
/// `imports` returns the imports of a file. `find` returns the index of a given file by canonical
/// path. `read` reads any other file and is called once per file.
pub fn follow_imports<F>(
    files: &mut Vec<F>,
    mut imports: impl FnMut(usize, &F) -> Vec<ImportLink>,
    mut find: impl FnMut(&Path) -> Option<usize>,
    mut read: impl FnMut(&Imported) -> Result<F, ImportPathError>,
) -> ImportGraph {
    let mut added: HashMap<PathBuf, usize> = HashMap::new();
    let mut graph = ImportGraph { of: Vec::with_capacity(files.len()) };
    let mut at = 0;
    while let Some(file) = files.get(at) {
        let mut resolved = Vec::new();
        for ImportLink { span, target } in imports(at, file) {
            let index = target.and_then(|import| {
                let known = find(&import.path).or_else(|| added.get(&import.path).copied());
                if let Some(known) = known {
                    return Ok(known);
                }
                files.push(read(&import)?);
                added.insert(import.path, files.len() - 1);
                Ok(files.len() - 1)
            });
            let text = index.map_err(|error| ImportFailure(error.to_string()));
            resolved.push(ResolvedImport { span, text });
        }
        graph.of.push(resolved);
        at += 1;
    }
    graph
}

/// The paths of texts, to resolve the imports between them.
#[derive(Debug)]
pub(crate) struct ImportPaths {
    paths: Vec<Option<PathBuf>>,
    /// The index of each text by its canonical path. Most projects import nothing, so the paths
    /// are looked up when an import asks.
    known: OnceCell<HashMap<PathBuf, usize>>,
}

impl ImportPaths {
    /// Resolves the imports of files, and adds the imported files.
    pub(crate) fn follow(
        files: &mut Vec<TextFile>,
        read: impl Fn(&Path) -> Result<Parse, ImportPathError>,
    ) -> (Self, ImportGraph) {
        let named = Self::new(files);
        let graph = follow_imports(
            files,
            |_, file| imports_of(file.path.as_deref(), &file.text),
            |path| named.index_of(path),
            |import| Ok(TextFile { path: Some(import.shown.clone()), text: read(&import.shown)? }),
        );
        (Self::new(files), graph)
    }

    pub(crate) fn new(files: &[TextFile]) -> Self {
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Self { paths, known: OnceCell::new() }
    }

    /// The file of a text.
    pub(crate) fn path(&self, at: usize) -> Option<&Path> {
        self.paths.get(at)?.as_deref()
    }

    /// Resolves the imports of edited texts. They lead to known files: a fix moves and removes
    /// imports, and adds none.
    pub(crate) fn resolve_all(&self, texts: &[Parse]) -> ImportGraph {
        let of = texts.iter().enumerate().map(|(at, text)| self.resolve(at, text));
        ImportGraph { of: of.collect() }
    }

    /// Resolves the imports of an edited text.
    pub(crate) fn resolve(&self, at: usize, text: &Parse) -> Vec<ResolvedImport> {
        let resolve = |link: ImportLink| {
            let index = link
                .target
                .and_then(|import| self.index_of(&import.path).ok_or(ImportPathError::New));
            ResolvedImport {
                span: link.span,
                text: index.map_err(|error| ImportFailure(error.to_string())),
            }
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

/// Resolves the imports between texts by their names.
pub(crate) fn link_by_name(files: &[TextFile]) -> ImportGraph {
    let names = || files.iter().map(|file| Path::new(file.text.source().name()));
    let of = files.iter().zip(names()).map(|(file, name)| {
        let folder = name.parent().unwrap_or(Path::new(""));
        let resolve = |import: Import| {
            let path = without_dots(&folder.join(&import.path));
            let missing = || {
                let error = ImportPathError::NoSuchFile(path.display().to_string());
                ImportFailure(error.to_string())
            };
            let text = names().position(|name| without_dots(name) == path).ok_or_else(missing);
            ResolvedImport { span: import.span, text }
        };
        gramc_check::imports(&file.text).into_iter().map(resolve).collect()
    });
    ImportGraph { of: of.collect() }
}

/// A path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

fn imports_of(path: Option<&Path>, text: &Parse) -> Vec<ImportLink> {
    let imports = gramc_check::imports(text);
    if imports.is_empty() {
        return Vec::new();
    }
    let folder = match path {
        Some(path) => Some(path.parent().unwrap_or(Path::new("")).to_owned()),
        None => std::env::current_dir().ok(),
    };
    let resolve = |import: Import| {
        let target = match &folder {
            Some(folder) => resolve_import(folder, folder, &import.path, || project_of(folder)),
            None => Err(ImportPathError::StandardInput),
        };
        ImportLink { span: import.span, target }
    };
    imports.into_iter().map(resolve).collect()
}
