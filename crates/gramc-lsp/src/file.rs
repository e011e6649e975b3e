//! A file of a project and the data derived from its text alone, computed on first use and cached.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use gramc_check::names;
use gramc_check::names::{Declaration, Use};
use gramc_project::{ImportLink, ImportPathError, files, resolve_import};
use gramc_syntax::{Parse, SourceFile};
use lsp_types::Uri;
use parking_lot::Mutex;
use smol_str::SmolStr;

use crate::document_kind::DocumentKind;
use crate::position::{Encoding, Lines, Positions};

#[derive(Debug)]
pub(crate) struct File {
    /// Identifies the content of the file.
    pub(crate) id: u64,
    pub(crate) kind: DocumentKind,
    /// The URI in the client's spelling.
    pub(crate) uri: Uri,
    /// The path, if the document is a file.
    pub(crate) path: Option<PathBuf>,
    /// The client's version of an open document. `None` for a file read from disk.
    pub(crate) version: Option<i32>,
    /// The modification time and length when it was read from disk.
    pub(crate) stamp: Option<(SystemTime, u64)>,
    source: Arc<SourceFile>,
    parse: OnceLock<Parse>,
    lines: OnceLock<Lines>,
    imports: OnceLock<Vec<ImportLink>>,
    types: OnceLock<Vec<SmolStr>>,
    declarations: Mutex<Option<CachedDeclarations>>,
    uses: Mutex<Option<CachedUses>>,
}

/// The uses of names, with the declarations that they were computed from.
type CachedUses = (Arc<Vec<Declaration>>, Arc<Vec<Use>>);

#[derive(Debug, Clone)]
struct CachedDeclarations {
    /// The type names that the declarations depend on, if any.
    types: Option<Arc<Vec<SmolStr>>>,
    declarations: Arc<Vec<Declaration>>,
}

impl File {
    pub(crate) fn open(
        uri: Uri,
        path: Option<PathBuf>,
        kind: DocumentKind,
        version: i32,
        source: SourceFile,
    ) -> Self {
        Self { kind, ..Self::new(uri, path, Some(version), Arc::new(source)) }
    }

    /// Reuses the parse of a file with the same text and name.
    pub(crate) fn reusing_parse(self, known: &Self) -> Self {
        let same = known.source.name() == self.source.name() && known.text() == self.text();
        if !same {
            return self;
        }
        Self { source: Arc::clone(&known.source), parse: known.parse.clone(), ..self }
    }

    /// The document after an edit.
    pub(crate) fn with_text(&self, version: i32, text: String) -> Self {
        let source = SourceFile::new(self.source.name(), text);
        Self::open(self.uri.clone(), self.path.clone(), self.kind, version, source)
    }

    /// A fence of the Markdown document.
    pub(crate) fn fence(&self, text: String) -> Self {
        let source = Arc::new(SourceFile::new(self.source.name(), text));
        let file = Self::new(self.uri.clone(), self.path.clone(), self.version, source);
        Self { kind: DocumentKind::Fence, ..file }
    }

    fn new(uri: Uri, path: Option<PathBuf>, version: Option<i32>, source: Arc<SourceFile>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            kind: DocumentKind::Gram,
            uri,
            path,
            version,
            stamp: None,
            source,
            parse: OnceLock::new(),
            lines: OnceLock::new(),
            imports: OnceLock::new(),
            types: OnceLock::new(),
            declarations: Mutex::default(),
            uses: Mutex::default(),
        }
    }

    /// A file that is not gram, read from disk.
    pub(crate) fn plain(uri: Uri, path: PathBuf, source: Arc<SourceFile>) -> Self {
        let kind = DocumentKind::of("", Some(&path));
        Self { kind, ..Self::new(uri, Some(path), None, source) }
    }

    /// Reads a file from disk. `None` if it cannot be read.
    pub(crate) fn read(path: &Path, name: &str, uri: Uri) -> Option<Self> {
        let stamp = stamp(path);
        let parse = files::read(path, name).ok()?;
        let file = Self::new(uri, Some(path.to_owned()), None, Arc::clone(parse.source()));
        Some(Self { stamp, parse: OnceLock::from(parse), ..file })
    }

    pub(crate) fn with_unresolved_imports(&self) -> Self {
        let (uri, path) = (self.uri.clone(), self.path.clone());
        Self {
            id: self.id,
            kind: self.kind,
            stamp: self.stamp,
            parse: self.parse.clone(),
            types: self.types.clone(),
            declarations: Mutex::new(self.declarations.lock().clone()),
            uses: Mutex::new(self.uses.lock().clone()),
            ..Self::new(uri, path, self.version, Arc::clone(&self.source))
        }
    }

    pub(crate) fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    pub(crate) fn text(&self) -> &str {
        self.source.text()
    }

    /// The tree and its syntax errors.
    pub(crate) fn parse(&self) -> &Parse {
        self.parse.get_or_init(|| gramc_syntax::parse(Arc::clone(&self.source)))
    }

    pub(crate) fn positions(&self, encoding: Encoding) -> Positions<'_> {
        let lines = self.lines.get_or_init(|| Lines::new(self.text()));
        Positions::new(self.text(), lines, encoding)
    }

    /// The files that the header imports, which are inside `root`.
    pub(crate) fn imports(&self, root: &Path) -> &[ImportLink] {
        self.imports.get_or_init(|| {
            let imports = gramc_check::imports(self.parse());
            let link = |import: gramc_check::Import| {
                let target = match self.path.as_deref().and_then(Path::parent) {
                    Some(folder) => {
                        let shown = folder.strip_prefix(root).unwrap_or(folder);
                        let root = || root.canonicalize().ok();
                        resolve_import(folder, shown, &import.path, root)
                    }
                    None => Err(ImportPathError::Unsaved),
                };
                ImportLink { span: import.span, target }
            };
            imports.into_iter().map(link).collect()
        })
    }

    /// The types declared at the top level.
    pub(crate) fn own_types(&self) -> &[SmolStr] {
        self.types.get_or_init(|| {
            let asked = Cell::new(false);
            let found = names::declarations(self.parse(), |_| {
                asked.set(true);
                false
            });
            let own = found.iter().filter(|one| one.kind.is_type() && one.holder.is_none());
            let own = own.map(|one| one.name.clone()).collect();
            if !asked.get() {
                // The declarations do not depend on type names.
                *self.declarations.lock() =
                    Some(CachedDeclarations { types: None, declarations: Arc::new(found) });
            }
            own
        })
    }

    /// The declarations in source order, given the type names of the project.
    pub(crate) fn declarations(&self, types: &Arc<Vec<SmolStr>>) -> Arc<Vec<Declaration>> {
        let mut known = self.declarations.lock();
        if let Some(known) = &*known
            && known.types.as_ref().is_none_or(|of| Arc::ptr_eq(of, types) || of == types)
        {
            return Arc::clone(&known.declarations);
        }
        let asked = Cell::new(false);
        let is_type = |name: &str| {
            asked.set(true);
            types.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
        };
        let found = Arc::new(names::declarations(self.parse(), is_type));
        let types = asked.get().then(|| Arc::clone(types));
        *known = Some(CachedDeclarations { types, declarations: Arc::clone(&found) });
        found
    }

    pub(crate) fn uses(&self, declarations: &Arc<Vec<Declaration>>) -> Arc<Vec<Use>> {
        let mut known = self.uses.lock();
        if let Some((of, found)) = &*known
            && Arc::ptr_eq(of, declarations)
        {
            return Arc::clone(found);
        }
        let found = Arc::new(names::uses(self.parse(), declarations));
        *known = Some((Arc::clone(declarations), Arc::clone(&found)));
        found
    }
}

/// The modification time and length of a file.
pub(crate) fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
