//! A project at one moment: what requests read. It never changes, so that any thread may read it
//! while the world goes on.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gram_check::names::{Declaration, Found, Names, Use};
use gram_check::{ImportGraph, PartialModule};
use gram_lint::{Cache, Settings};
#[cfg(feature = "budget")]
use gram_project::Budget;
use gram_project::follow_imports;
use gram_syntax::{Diagnostic, Parse, SourceFile, Span};
use lsp_types::Location;
use smol_str::SmolStr;

use crate::evidence::Evidence;
use crate::file::File;
use crate::position::{Encoding, Positions};

/// What a project file says, and what is wrong in it.
#[derive(Debug, Default)]
pub(crate) struct ProjectFile {
    pub(crate) project: gram_project::Project,
    /// What was found in it, with the text, where there is one.
    pub(crate) found: Vec<Diagnostic>,
    /// The file's address and text, where there is one.
    pub(crate) file: Option<Arc<File>>,
}

/// Files that imports brought, which stay as long as nothing on the disk changes.
pub(crate) type Shelf = Mutex<HashMap<PathBuf, Option<Arc<File>>>>;

/// A project at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The folder that names of files are relative to.
    pub(crate) root: Arc<Path>,
    pub(crate) file: Arc<ProjectFile>,
    pub(crate) encoding: Encoding,
    /// What runs tell of the tools.
    pub(crate) evidence: Arc<Evidence>,
    /// The texts of the project, in the order of their paths.
    pub(crate) named: Vec<Arc<File>>,
    /// Texts by the one path of each.
    pub(crate) places: Arc<HashMap<PathBuf, usize>>,
    pub(crate) shelf: Arc<Shelf>,
    /// Texts that are open, by their one path: they count more than what is on the disk.
    pub(crate) open: Arc<HashMap<PathBuf, Arc<File>>>,
    linked: OnceLock<Linked>,
    names: OnceLock<Names>,
    uses: OnceLock<Vec<Arc<Vec<Use>>>>,
    /// The analyses of the project's last check.
    cache: Arc<Mutex<Cache>>,
    shared: OnceLock<Arc<PartialModule>>,
    /// The partial modules near places, by file and place.
    partial: Mutex<HashMap<(usize, Span), Arc<PartialModule>>>,
    findings: OnceLock<Vec<Vec<Diagnostic>>>,
}

/// The texts of a project and those that they import.
#[derive(Debug)]
struct Linked {
    files: Vec<Arc<File>>,
    imports: ImportGraph,
}

/// The parts of a snapshot that are given; all else is made of them.
pub(crate) struct Parts {
    pub(crate) root: Arc<Path>,
    pub(crate) file: Arc<ProjectFile>,
    pub(crate) encoding: Encoding,
    pub(crate) evidence: Arc<Evidence>,
    pub(crate) named: Vec<Arc<File>>,
    pub(crate) places: Arc<HashMap<PathBuf, usize>>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) cache: Arc<Mutex<Cache>>,
    pub(crate) open: Arc<HashMap<PathBuf, Arc<File>>>,
}

impl Snapshot {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { root, file, encoding, evidence, named, places, shelf, cache, open } = parts;
        Self {
            root,
            file,
            encoding,
            evidence,
            named,
            places,
            shelf,
            open,
            linked: OnceLock::new(),
            names: OnceLock::new(),
            uses: OnceLock::new(),
            cache,
            shared: OnceLock::new(),
            partial: Mutex::default(),
            findings: OnceLock::new(),
        }
    }

    /// How the project is linted.
    pub(crate) fn settings(&self) -> &Settings {
        &self.file.project.lints
    }

    fn linked(&self) -> &Linked {
        self.linked.get_or_init(|| {
            let mut files = self.named.clone();
            let imports = follow_imports(
                &mut files,
                |_, file| file.imports(&self.root).to_vec(),
                |path| self.places.get(path).copied(),
                |import| {
                    let name = import.shown.display().to_string();
                    self.bring(&import.path, &name).ok_or_else(|| format!("cannot read {name}"))
                },
            );
            Linked { files, imports }
        })
    }

    /// A file that is none of the project's own.
    fn bring(&self, path: &Path, name: &str) -> Option<Arc<File>> {
        if let Some(open) = self.open.get(path) {
            return Some(Arc::clone(open));
        }
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let uri = crate::uri::of_path(path)?;
            File::read(path, name, uri).map(Arc::new)
        };
        shelf.entry(path.to_owned()).or_insert_with(read).clone()
    }

    /// Whether it brings a file from elsewhere, as far as it is known.
    pub(crate) fn brings(&self, path: &Path) -> bool {
        let files = self.linked.get().map(|linked| linked.files.as_slice()).unwrap_or_default();
        files.iter().skip(self.named.len()).any(|file| file.path.as_deref() == Some(path))
    }

    /// All texts: those of the project, then those that they import from elsewhere.
    pub(crate) fn files(&self) -> &[Arc<File>] {
        &self.linked().files
    }

    /// The text of a number.
    pub(crate) fn text(&self, file: usize) -> Option<&File> {
        self.files().get(file).map(|file| &**file)
    }

    /// Which texts import which.
    pub(crate) fn imports(&self) -> &ImportGraph {
        &self.linked().imports
    }

    /// The number of a text.
    pub(crate) fn number_of_source(&self, source: &Arc<SourceFile>) -> Option<usize> {
        self.files().iter().position(|file| Arc::ptr_eq(file.source(), source))
    }

    /// The positions in a text.
    pub(crate) fn positions(&self, file: usize) -> Option<Positions<'_>> {
        Some(self.text(file)?.positions(self.encoding))
    }

    /// A place in a text, for the client.
    pub(crate) fn location(&self, file: usize, span: Span) -> Option<Location> {
        let text = self.text(file)?;
        Some(Location::new(text.uri.clone(), text.positions(self.encoding).range(span)))
    }

    fn parses(&self) -> Vec<Parse> {
        self.files().iter().map(|file| file.parse().clone()).collect()
    }

    /// What is found in each text.
    pub(crate) fn findings(&self) -> &[Vec<Diagnostic>] {
        self.findings.get_or_init(|| {
            let texts = self.parses();
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            let found = cache.diagnostics(&texts, self.imports(), self.settings());
            drop(cache);
            // They come in the order of the texts.
            let mut all: Vec<Vec<Diagnostic>> = texts.iter().map(|_| Vec::new()).collect();
            let mut at = 0;
            for finding in found {
                let own = |at: usize| {
                    texts.get(at).is_some_and(|text| Arc::ptr_eq(text.source(), &finding.source))
                };
                while at < texts.len() && !own(at) {
                    at += 1;
                }
                if let Some(all) = all.get_mut(at) {
                    all.push(finding);
                }
            }
            for finding in self.over_budget(&texts) {
                let own = |text: &Parse| Arc::ptr_eq(text.source(), &finding.source);
                if let Some(all) = texts.iter().position(own).and_then(|at| all.get_mut(at)) {
                    all.push(finding);
                }
            }
            all
        })
    }

    #[cfg(not(feature = "budget"))]
    fn over_budget(&self, _: &[Parse]) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The agents that exceed the project's budget, if it has one and no file has an error.
    #[cfg(feature = "budget")]
    fn over_budget(&self, texts: &[Parse]) -> Vec<Diagnostic> {
        let budget = &self.file.project.budget;
        if *budget == Budget::default() {
            return Vec::new();
        }
        let module = gram_check::check_linked(texts, self.imports()).module;
        module.map(|module| gram_agent::over_budget(&module, budget)).unwrap_or_default()
    }

    /// All types, terms, agents and libraries, and the tools near a span of a file.
    pub(crate) fn partial_module(&self, file: usize, span: Span) -> Arc<PartialModule> {
        let mut known = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            let near = (file, span);
            Arc::new(cache.partial_module(&self.parses(), self.imports(), near))
        };
        Arc::clone(known.entry((file, span)).or_insert_with(read))
    }

    /// All types, terms, agents and libraries.
    pub(crate) fn shared_module(&self) -> &Arc<PartialModule> {
        self.shared.get_or_init(|| self.partial_module(usize::MAX, Span::default()))
    }

    /// The names of all texts.
    pub(crate) fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut types: Vec<SmolStr> =
                self.files().iter().flat_map(|file| file.own_types()).cloned().collect();
            types.sort_unstable();
            types.dedup();
            let types = Arc::new(types);
            let texts = self.files().iter().map(|file| file.declarations(&types)).collect();
            Names::new(texts, self.imports())
        })
    }

    /// Where each text uses names.
    pub(crate) fn uses(&self) -> &[Arc<Vec<Use>>] {
        self.uses.get_or_init(|| {
            let files = self.files().iter().enumerate();
            files.map(|(at, file)| file.uses(&self.names().list(at))).collect()
        })
    }

    /// Where one text uses names.
    pub(crate) fn uses_of(&self, file: usize) -> Arc<Vec<Use>> {
        match (self.uses.get(), self.text(file)) {
            (Some(all), _) => all.get(file).cloned().unwrap_or_default(),
            (None, Some(text)) => text.uses(&self.names().list(file)),
            (None, None) => Arc::default(),
        }
    }

    /// A declaration, with the text that it stands in.
    pub(crate) fn declaration(&self, found: Found) -> Option<&Declaration> {
        self.names().declaration(found)
    }
}
