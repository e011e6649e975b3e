//! An immutable snapshot of a project, which requests read on any thread.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gramc_check::names::{Declaration, Found, Names, Use};
use gramc_check::{ImportGraph, PartialModule};
use gramc_lint::{Cache, Settings};
#[cfg(feature = "agents")]
use gramc_project::Budget;
use gramc_project::{ImportPathError, follow_imports};
use gramc_syntax::{Diagnostic, Parse, SourceFile, Span};
use lsp_types::Location;
use parking_lot::Mutex;
use smol_str::SmolStr;

#[cfg(feature = "agents")]
use crate::checked_cases::CaseCache;
use crate::checked_cases::DataFile;
use crate::committed::Committed;
use crate::file::File;
use crate::position::{Encoding, Positions};
use crate::tool_index::ToolIndex;
use crate::trace_stats::TraceStats;

/// The settings of a project file and its diagnostics.
#[derive(Debug, Default)]
pub(crate) struct ProjectFile {
    pub(crate) project: gramc_project::Project,
    pub(crate) found: Vec<Diagnostic>,
    pub(crate) file: Option<Arc<File>>,
}

#[derive(Debug)]
pub(crate) struct MarkdownDocument {
    pub(crate) file: Arc<File>,
    pub(crate) fences: Vec<FenceFile>,
}

/// A fence of a Markdown document, which is a file of its own with the lines of the document.
#[derive(Debug)]
pub(crate) struct FenceFile {
    pub(crate) lines: Range<u32>,
    pub(crate) file: Arc<File>,
}

/// Imported files outside the project, kept until they change on disk.
pub(crate) type ImportCache = Mutex<HashMap<PathBuf, Option<Arc<File>>>>;

/// The state of a project that snapshots read.
#[derive(Debug, Clone)]
pub(crate) struct ProjectState {
    /// The folder that file names are relative to.
    pub(crate) root: Arc<Path>,
    pub(crate) file: Arc<ProjectFile>,
    /// Tool calls in the project's traces.
    pub(crate) trace_stats: Arc<TraceStats>,
    /// The JSON Lines files of the project: cases, recordings, traces.
    pub(crate) data_files: Arc<[PathBuf]>,
    /// The open documents of JSON Lines by canonical path.
    pub(crate) open_data: Arc<BTreeMap<PathBuf, Arc<File>>>,
    /// The Markdown document that the project consists of.
    pub(crate) markdown: Option<Arc<MarkdownDocument>>,
    /// The files of the project, sorted by path.
    pub(crate) files: Vec<Arc<File>>,
    pub(crate) indices: Arc<HashMap<PathBuf, usize>>,
    pub(crate) import_cache: Arc<ImportCache>,
    /// The project as it is in the last commit.
    pub(crate) committed: Arc<Mutex<Committed>>,
    /// The checked lines of open files of cases.
    #[cfg(feature = "agents")]
    pub(crate) case_cache: Arc<CaseCache>,
    /// The cached analyses of declarations.
    cache: Arc<Mutex<Cache>>,
}

impl ProjectState {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: Arc::from(root),
            file: Arc::default(),
            trace_stats: Arc::default(),
            data_files: Arc::default(),
            open_data: Arc::default(),
            markdown: None,
            files: Vec::new(),
            indices: Arc::default(),
            import_cache: Arc::default(),
            committed: Arc::default(),
            #[cfg(feature = "agents")]
            case_cache: Arc::default(),
            cache: Arc::default(),
        }
    }
}

/// An immutable snapshot of a project.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) project: ProjectState,
    pub(crate) encoding: Encoding,
    /// Open documents by canonical path. They take precedence over files on disk.
    open: Arc<HashMap<PathBuf, Arc<File>>>,
    /// Open files of cases and calls with their diagnostics, computed on first use.
    pub(crate) data_files: OnceLock<Vec<DataFile>>,
    derived: Derived,
}

/// The data derived from the files of a snapshot, computed on first use.
#[derive(Debug, Default)]
struct Derived {
    linked: OnceLock<LinkedFiles>,
    names: OnceLock<Names>,
    uses: OnceLock<Vec<Arc<Vec<Use>>>>,
    shared: OnceLock<Arc<PartialModule>>,
    partial: Mutex<HashMap<(usize, Span), Arc<PartialModule>>>,
    diagnostics: OnceLock<Vec<Vec<Diagnostic>>>,
    whole: OnceLock<PartialModule>,
    tool_index: OnceLock<ToolIndex>,
    fences: OnceLock<Vec<Arc<Snapshot>>>,
    #[cfg(feature = "agents")]
    valid: OnceLock<Option<gramc_check::Valid<gramc_model::Module>>>,
}

/// The files of a project and the files that they import.
#[derive(Debug)]
struct LinkedFiles {
    files: Vec<Arc<File>>,
    imports: ImportGraph,
}

impl Snapshot {
    pub(crate) fn new(
        project: ProjectState,
        encoding: Encoding,
        open: Arc<HashMap<PathBuf, Arc<File>>>,
    ) -> Self {
        let data_files = OnceLock::new();
        Self { project, encoding, open, data_files, derived: Derived::default() }
    }

    pub(crate) fn project_file(&self) -> &ProjectFile {
        &self.project.file
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.project_file().project.lints
    }

    fn linked_files(&self) -> &LinkedFiles {
        self.derived.linked.get_or_init(|| {
            let mut files = self.project.files.clone();
            let imports = follow_imports(
                &mut files,
                |_, file| file.imports(&self.project.root).to_vec(),
                |path| self.project.indices.get(path).copied(),
                |import| {
                    let name = import.shown.display().to_string();
                    self.read_external(&import.path, &name)
                        .ok_or_else(|| ImportPathError::Unreadable(format!("cannot read {name}")))
                },
            );
            LinkedFiles { files, imports }
        })
    }

    /// Reads an imported file outside the project.
    fn read_external(&self, path: &Path, name: &str) -> Option<Arc<File>> {
        if let Some(open) = self.open.get(path) {
            return Some(Arc::clone(open));
        }
        let mut import_cache = self.project.import_cache.lock();
        let read = || {
            let uri = crate::uri::of_path(path)?;
            File::read(path, name, uri).map(Arc::new)
        };
        import_cache.entry(path.to_owned()).or_insert_with(read).clone()
    }

    /// A snapshot of each fence of a Markdown document, with the fence as its only file.
    pub(crate) fn fences(&self) -> &[Arc<Self>] {
        self.derived.fences.get_or_init(|| {
            let fences = self.project.markdown.iter().flat_map(|markdown| &markdown.fences);
            let snapshot = |fence: &FenceFile| {
                let state = ProjectState {
                    files: vec![Arc::clone(&fence.file)],
                    markdown: None,
                    cache: Arc::default(),
                    ..self.project.clone()
                };
                Arc::new(Self::new(state, self.encoding, Arc::clone(&self.open)))
            };
            fences.map(snapshot).collect()
        })
    }

    pub(crate) fn fence_at(&self, line: u32) -> Option<&Arc<Self>> {
        let mut fences = self.project.markdown.as_ref()?.fences.iter();
        self.fences().get(fences.position(|fence| fence.lines.contains(&line))?)
    }

    /// Whether an imported file outside the project was read.
    pub(crate) fn imports_external(&self, path: &Path) -> bool {
        let mut fences = self.derived.fences.get().into_iter().flatten();
        if fences.any(|fence| fence.imports_external(path)) {
            return true;
        }
        let files =
            self.derived.linked.get().map(|linked| linked.files.as_slice()).unwrap_or_default();
        files.iter().skip(self.project.files.len()).any(|file| file.path.as_deref() == Some(path))
    }

    /// The files of the project, then imported files outside it.
    pub(crate) fn files(&self) -> &[Arc<File>] {
        &self.linked_files().files
    }

    pub(crate) fn text(&self, file: usize) -> Option<&File> {
        self.files().get(file).map(|file| &**file)
    }

    pub(crate) fn imports(&self) -> &ImportGraph {
        &self.linked_files().imports
    }

    /// The file of a source, which may be the project file or an open document of JSON Lines.
    pub(crate) fn file_of_source(&self, source: &Arc<SourceFile>) -> Option<&Arc<File>> {
        let others = self.project_file().file.iter().chain(self.project.open_data.values());
        let mut files = self.files().iter().chain(others);
        files.find(|file| Arc::ptr_eq(file.source(), source))
    }

    pub(crate) fn positions(&self, file: usize) -> Option<Positions<'_>> {
        Some(self.text(file)?.positions(self.encoding))
    }

    pub(crate) fn location(&self, file: usize, span: Span) -> Option<Location> {
        let text = self.text(file)?;
        Some(Location::new(text.uri.clone(), text.positions(self.encoding).range(span)))
    }

    pub(crate) fn parses(&self) -> Vec<Parse> {
        self.files().iter().map(|file| file.parse().clone()).collect()
    }

    pub(crate) fn diagnostics(&self) -> &[Vec<Diagnostic>] {
        self.derived.diagnostics.get_or_init(|| {
            let texts = self.parses();
            let mut cache = self.project.cache.lock();
            let found = cache.diagnostics(&texts, self.imports(), self.settings());
            drop(cache);
            let mut all: Vec<Vec<Diagnostic>> = texts.iter().map(|_| Vec::new()).collect();
            let sources = texts.iter().map(|text| Arc::as_ptr(text.source()));
            let files: HashMap<_, usize> = sources.zip(0..).collect();
            for diagnostic in found.into_iter().chain(self.agent_diagnostics(&texts)) {
                let file = files.get(&Arc::as_ptr(&diagnostic.source));
                if let Some(all) = file.and_then(|at| all.get_mut(*at)) {
                    all.push(diagnostic);
                }
            }
            all
        })
    }

    /// The diagnostics of the first file.
    pub(crate) fn own_diagnostics(&self) -> &[Diagnostic] {
        self.diagnostics().first().map(Vec::as_slice).unwrap_or_default()
    }

    #[cfg(not(feature = "agents"))]
    fn agent_diagnostics(&self, _: &[Parse]) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The references to what does not exist, and the agents that exceed the project's budget, if it
    /// has one and no file has an error.
    #[cfg(feature = "agents")]
    fn agent_diagnostics(&self, texts: &[Parse]) -> Vec<Diagnostic> {
        let unknown = texts.iter().zip(self.files()).flat_map(|(text, file)| {
            let folder = file.path.as_deref().and_then(Path::parent);
            gramc_agent::unknown_references(text, folder)
        });
        let mut found: Vec<_> = unknown.collect();
        let budget = &self.project_file().project.budget;
        if *budget != Budget::default()
            && let Some(module) = self.valid_module()
        {
            found.extend(gramc_agent::over_budget(module, budget));
        }
        found
    }

    /// All types, terms, agents and libraries, and the tools near a span of a file.
    pub(crate) fn partial_module(&self, file: usize, span: Span) -> Arc<PartialModule> {
        let mut known = self.derived.partial.lock();
        let read = || {
            let cache = self.project.cache.lock();
            let near = (file, span);
            Arc::new(cache.partial_module(&self.parses(), self.imports(), near))
        };
        Arc::clone(known.entry((file, span)).or_insert_with(read))
    }

    /// All types, terms, agents and libraries.
    pub(crate) fn shared_module(&self) -> &Arc<PartialModule> {
        self.derived.shared.get_or_init(|| self.partial_module(usize::MAX, Span::default()))
    }

    /// All declarations of all files.
    pub(crate) fn whole_module(&self) -> &PartialModule {
        self.derived.whole.get_or_init(|| {
            let cache = self.project.cache.lock();
            cache.whole_module(&self.parses(), self.imports())
        })
    }

    /// The module of all files, if they have no error.
    #[cfg(feature = "agents")]
    pub(crate) fn valid_module(&self) -> Option<&gramc_check::Valid<gramc_model::Module>> {
        let check = || gramc_check::check_linked(&self.parses(), self.imports()).module;
        self.derived.valid.get_or_init(check).as_ref()
    }

    /// All tools, for searches by type.
    pub(crate) fn tool_index(&self) -> &ToolIndex {
        self.derived.tool_index.get_or_init(|| ToolIndex::new(self.whole_module()))
    }

    pub(crate) fn names(&self) -> &Names {
        self.derived.names.get_or_init(|| {
            let mut types: Vec<SmolStr> =
                self.files().iter().flat_map(|file| file.own_types()).cloned().collect();
            types.sort_unstable();
            types.dedup();
            let types = Arc::new(types);
            let texts = self.files().iter().map(|file| file.declarations(&types)).collect();
            Names::new(texts, self.imports())
        })
    }

    /// The uses of names in each file.
    pub(crate) fn uses(&self) -> &[Arc<Vec<Use>>] {
        self.derived.uses.get_or_init(|| {
            let files = self.files().iter().enumerate();
            files.map(|(at, file)| file.uses(&self.names().list(at))).collect()
        })
    }

    pub(crate) fn uses_of(&self, file: usize) -> Arc<Vec<Use>> {
        match (self.derived.uses.get(), self.text(file)) {
            (Some(all), _) => all.get(file).cloned().unwrap_or_default(),
            (None, Some(text)) => text.uses(&self.names().list(file)),
            (None, None) => Arc::default(),
        }
    }

    pub(crate) fn declaration(&self, found: Found) -> Option<&Declaration> {
        self.names().declaration(found)
    }
}
