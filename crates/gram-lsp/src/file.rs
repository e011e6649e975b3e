//! A text of a project, with all that follows from it alone. What was made once is kept, and what
//! nobody asks for is never made.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use gram_check::names;
use gram_check::names::{Declaration, Use};
use gram_project::{Imported, files, resolve_import};
use gram_syntax::{Parse, SourceFile, Span};
use lsp_types::Uri;
use smol_str::SmolStr;

use crate::position::{Encoding, Lines, Positions};

/// A text.
#[derive(Debug)]
pub(crate) struct File {
    /// Tells it from all texts with another content.
    pub(crate) id: u64,
    /// Its address, as the client writes it.
    pub(crate) uri: Uri,
    /// Its path, where it is a file.
    pub(crate) path: Option<PathBuf>,
    /// The version that the client gave it; nothing where it comes from the disk.
    pub(crate) version: Option<i32>,
    /// What its file was when it was read: when it was changed, and how long it was.
    pub(crate) stamp: Option<(SystemTime, u64)>,
    source: Arc<SourceFile>,
    parse: OnceLock<Parse>,
    lines: OnceLock<Lines>,
    imports: OnceLock<Vec<Import>>,
    types: OnceLock<Vec<SmolStr>>,
    declarations: Mutex<Option<Known>>,
    uses: Mutex<Option<Used>>,
}

/// Where a text of these declarations uses names.
type Used = (Arc<Vec<Declaration>>, Arc<Vec<Use>>);

/// Where an import stands, and which file it names, or why none.
pub(crate) type Import = (Span, Result<Imported, String>);

/// The declarations of a text.
#[derive(Debug, Clone)]
struct Known {
    /// The names that were taken for types, where they make a difference.
    types: Option<Arc<Vec<SmolStr>>>,
    found: Arc<Vec<Declaration>>,
}

impl File {
    /// A text that the client has.
    pub(crate) fn open(uri: Uri, path: Option<PathBuf>, version: i32, source: SourceFile) -> Self {
        Self::new(uri, path, Some(version), Arc::new(source))
    }

    /// The same text, with what is known of a file that has the same text and name.
    pub(crate) fn after(self, known: &Self) -> Self {
        let same = known.source.name() == self.source.name() && known.text() == self.text();
        if !same {
            return self;
        }
        Self { source: Arc::clone(&known.source), parse: known.parse.clone(), ..self }
    }

    /// A text that the client has changed.
    pub(crate) fn edited(&self, version: i32, text: String) -> Self {
        let source = SourceFile::new(self.source.name(), text);
        Self::open(self.uri.clone(), self.path.clone(), version, source)
    }

    fn new(uri: Uri, path: Option<PathBuf>, version: Option<i32>, source: Arc<SourceFile>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
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

    /// A text that is no gram: a project file.
    pub(crate) fn plain(uri: Uri, path: PathBuf, source: Arc<SourceFile>) -> Self {
        Self::new(uri, Some(path), None, source)
    }

    /// A file as it is on the disk; nothing if it cannot be read.
    pub(crate) fn read(path: &Path, name: &str, uri: Uri) -> Option<Self> {
        let stamp = stamp(path);
        let parse = files::read(path, name).ok()?;
        let file = Self::new(uri, Some(path.to_owned()), None, Arc::clone(parse.source()));
        Some(Self { stamp, parse: OnceLock::from(parse), ..file })
    }

    /// The same text, whose imports are resolved again.
    pub(crate) fn again(&self) -> Self {
        let (uri, path) = (self.uri.clone(), self.path.clone());
        Self {
            id: self.id,
            stamp: self.stamp,
            parse: self.parse.clone(),
            types: self.types.clone(),
            declarations: Mutex::new(self.known().clone()),
            uses: Mutex::new(self.used().clone()),
            ..Self::new(uri, path, self.version, Arc::clone(&self.source))
        }
    }

    /// The text.
    pub(crate) fn source(&self) -> &Arc<SourceFile> {
        &self.source
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        self.source.text()
    }

    /// The tree, and what is wrong with it.
    pub(crate) fn parse(&self) -> &Parse {
        self.parse.get_or_init(|| gram_syntax::parse(Arc::clone(&self.source)))
    }

    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.declarations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn used(&self) -> MutexGuard<'_, Option<Used>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The positions in it.
    pub(crate) fn positions(&self, encoding: Encoding) -> Positions<'_> {
        let lines = self.lines.get_or_init(|| Lines::new(self.text()));
        Positions::new(self.text(), lines, encoding)
    }

    /// The files that its header imports; they lie inside of `root`.
    pub(crate) fn imports(&self, root: &Path) -> &[Import] {
        self.imports.get_or_init(|| {
            let imports = gram_check::imports(self.parse());
            let link = |import: gram_check::Import| {
                let found = match self.path.as_deref().and_then(Path::parent) {
                    Some(folder) => {
                        let shown = folder.strip_prefix(root).unwrap_or(folder);
                        let root = || root.canonicalize().ok();
                        resolve_import(folder, shown, &import.path, root)
                    }
                    None => Err("this text has no folder to import from".to_owned()),
                };
                (import.span, found)
            };
            imports.into_iter().map(link).collect()
        })
    }

    /// The types that it declares at its top level, by its tree alone.
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
                // No type makes a difference to them.
                *self.known() = Some(Known { types: None, found: Arc::new(found) });
            }
            own
        })
    }

    /// What it declares, together with others that declare these types, in their order.
    pub(crate) fn declarations(&self, types: &Arc<Vec<SmolStr>>) -> Arc<Vec<Declaration>> {
        let mut known = self.known();
        if let Some(known) = &*known
            && known.types.as_ref().is_none_or(|of| Arc::ptr_eq(of, types) || of == types)
        {
            return Arc::clone(&known.found);
        }
        let asked = Cell::new(false);
        let is_type = |name: &str| {
            asked.set(true);
            types.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
        };
        let found = Arc::new(names::declarations(self.parse(), is_type));
        let types = asked.get().then(|| Arc::clone(types));
        *known = Some(Known { types, found: Arc::clone(&found) });
        found
    }

    /// Where it uses names, by its declarations.
    pub(crate) fn uses(&self, declarations: &Arc<Vec<Declaration>>) -> Arc<Vec<Use>> {
        let mut known = self.used();
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

/// When a file was changed, and how long it is.
pub(crate) fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
