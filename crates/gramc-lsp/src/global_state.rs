//! The state of the server: open documents, projects and workspace folders. Only the main thread
//! changes it. Worker threads read [`Snapshot`]s.

mod assignment;
mod lone_documents;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gramc_project::files::{self, PROJECT_FILE};
use gramc_syntax::SourceFile;
use lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::document_kind::DocumentKind;
use crate::file::File;
use crate::load::{LoadRequest, LoadedProject, address, project_file};
use crate::position::{Encoding, Lines, Positions};
use crate::snapshot::{ProjectState, Snapshot};
use crate::uri::{path_of, real};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ProjectKey {
    /// The canonical path of the project's folder.
    Folder(PathBuf),
    /// The URI of a document outside of projects, or ignored by its project.
    Document(String),
}

/// Files that are checked together.
#[derive(Debug)]
pub(crate) struct Project {
    state: ProjectState,
    /// Whether the files of the folder are loaded.
    pub(crate) loaded: bool,
    /// Changes with every change of the project.
    pub(crate) revision: u64,
    /// The snapshot of the current revision, created on first use.
    snapshot: Option<Arc<Snapshot>>,
}

impl Project {
    fn new(root: &Path) -> Self {
        Self { state: ProjectState::new(root), loaded: false, revision: 0, snapshot: None }
    }

    fn invalidate(&mut self) {
        // Revisions are unique across projects, including removed ones.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.revision = NEXT.fetch_add(1, Ordering::Relaxed);
        self.snapshot = None;
    }

    fn set_files(&mut self, mut files: Vec<Arc<File>>) {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let indices = files.iter().enumerate();
        let indices = indices.filter_map(|(at, file)| Some((file.path.clone()?, at)));
        self.state.indices = Arc::new(indices.collect());
        self.state.files = files;
        self.invalidate();
    }

    fn put_file(&mut self, path: &Path, file: &Arc<File>) {
        let ProjectState { indices, files, .. } = &mut self.state;
        if let Some(known) = indices.get(path).and_then(|at| files.get_mut(*at)) {
            *known = Arc::clone(file);
            self.invalidate();
        } else {
            let mut files = std::mem::take(&mut self.state.files);
            files.push(Arc::clone(file));
            self.set_files(files);
        }
    }

    fn remove(&mut self, gone: impl Fn(&Path) -> bool) -> bool {
        let before = self.state.files.len();
        let mut files = std::mem::take(&mut self.state.files);
        files.retain(|file| !file.path.as_deref().is_some_and(&gone));
        let less = files.len() < before;
        self.set_files(files);
        less
    }
}

#[derive(Debug, Default)]
pub(crate) struct GlobalState {
    pub(crate) encoding: Encoding,
    /// The workspace folders: canonical path and the client's spelling.
    folders: Vec<(PathBuf, PathBuf)>,
    pub(crate) projects: BTreeMap<ProjectKey, Project>,
    /// The open documents by URI.
    open: HashMap<String, Arc<File>>,
    open_paths: Arc<HashMap<PathBuf, Arc<File>>>,
    /// Folders of projects to load.
    load_requests: Vec<PathBuf>,
}

impl GlobalState {
    /// The state of a workspace with these folders.
    pub(crate) fn new(encoding: Encoding, folders: Vec<PathBuf>) -> Self {
        let mut state = Self { encoding, ..Self::default() };
        for folder in folders {
            state.add_folder(folder);
        }
        state
    }

    pub(crate) fn add_folder(&mut self, folder: PathBuf) {
        let one = real(&folder);
        if !one.is_dir() || self.folders.iter().any(|(known, _)| *known == one) {
            return;
        }
        let root = files::project_root(&one).unwrap_or(&one).to_owned();
        self.folders.push((one, folder));
        // The innermost folder determines the spelling of URIs.
        self.folders.sort_by_key(|(one, _)| std::cmp::Reverse(one.as_os_str().len()));
        self.request_load(root);
        self.assign_all();
    }

    pub(crate) fn remove_folder(&mut self, folder: &Path) {
        let one = real(folder);
        self.folders.retain(|(known, _)| *known != one);
        self.projects.remove(&ProjectKey::Folder(one));
        self.assign_all();
    }

    fn request_load(&mut self, root: PathBuf) {
        let key = ProjectKey::Folder(root.clone());
        let project = self.projects.entry(key).or_insert_with(|| Project::new(&root));
        // Requests wait until the project is loaded.
        project.loaded = false;
        if !self.load_requests.contains(&root) {
            self.load_requests.push(root);
        }
    }

    /// Takes the projects to load.
    pub(crate) fn take_load_requests(&mut self) -> Vec<LoadRequest> {
        let requests = std::mem::take(&mut self.load_requests);
        let request = |root: PathBuf| {
            let project = self.projects.get(&ProjectKey::Folder(root.clone()));
            let files = project.into_iter().flat_map(|project| &project.state.files);
            let known = files.filter_map(|file| Some((file.path.clone()?, Arc::clone(file))));
            LoadRequest { root, folders: self.folders.clone(), known: known.collect() }
        };
        requests.into_iter().map(request).collect()
    }

    /// Whether a project is not loaded yet.
    pub(crate) fn is_loading(&self) -> bool {
        self.projects.values().any(|project| !project.loaded)
    }

    pub(crate) fn take_loaded(&mut self, loaded: LoadedProject) {
        let LoadedProject { root, file, files, nested, trace_stats, data_files, .. } = loaded;
        for inner in nested {
            if !self.projects.contains_key(&ProjectKey::Folder(inner.clone())) {
                self.request_load(inner);
            }
        }
        let open_file = self.open_paths.get(&root.join(PROJECT_FILE));
        let file = match open_file {
            Some(open) => project_file(&root, &self.folders, Some(open)),
            None => file,
        };
        let Some(project) = self.projects.get_mut(&ProjectKey::Folder(root)) else { return };
        project.loaded = true;
        project.state.file = Arc::new(file);
        project.state.trace_stats = Arc::new(trace_stats);
        project.state.data_files = data_files.into();
        project.state.import_cache = Arc::default();
        project.set_files(files);
        self.refresh_open();
        self.assign_all();
    }

    /// The root of the project that contains a file, if any.
    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let marked = path.parent().and_then(files::project_root).map(Path::to_owned);
        let folders = self.folders.iter().map(|(one, _)| one);
        marked.or_else(|| folders.filter(|one| path.starts_with(one)).max().cloned())
    }

    /// Resolves the imports of open documents again after a change on disk.
    fn refresh_open(&mut self) {
        let paths = Arc::make_mut(&mut self.open_paths);
        for file in self.open.values_mut() {
            *file = Arc::new(file.with_unresolved_imports());
            if let Some(path) = &file.path {
                paths.insert(path.clone(), Arc::clone(file));
            }
        }
    }

    /// Adds each open document to its project.
    fn assign_all(&mut self) {
        self.projects.retain(|key, _| matches!(key, ProjectKey::Folder(_)));
        let open: Vec<_> = self.open.values().cloned().collect();
        for file in open {
            self.assign(&file);
        }
    }

    pub(crate) fn open(&mut self, uri: &Uri, language: &str, version: i32, text: String) {
        let path = path_of(uri).map(|path| real(&path));
        let kind = DocumentKind::of(language, path.as_deref());
        let root = path.as_deref().and_then(|path| self.root_of(path));
        let folder = path.as_deref().and_then(Path::parent).map(Path::to_owned);
        let root = root.or(folder);
        let shown = path.as_deref().zip(root.as_deref());
        let shown = shown.map(|(path, root)| path.strip_prefix(root).unwrap_or(path).display());
        let name = shown.map_or_else(|| uri.as_str().to_owned(), |it| it.to_string());
        let source = SourceFile::new(name, text);
        let mut file = File::open(uri.clone(), path.clone(), kind, version, source);
        let mut projects = self.projects.values();
        let known =
            projects.find_map(|it| it.state.files.get(*it.state.indices.get(path.as_ref()?)?));
        if let Some(known) = known {
            file = file.reusing_parse(known);
        }
        self.store(Arc::new(file));
        // An unknown file may be new or ignored; loading the project again decides.
        let alone = self.projects.contains_key(&ProjectKey::Document(uri.as_str().to_owned()));
        let alone = alone && kind == DocumentKind::Gram;
        if let Some(root) = path.filter(|_| alone).and_then(|path| self.root_of(&path)) {
            self.request_load(root);
        }
    }

    fn store(&mut self, file: Arc<File>) {
        let uri = file.uri.as_str().to_owned();
        if let Some(path) = &file.path {
            Arc::make_mut(&mut self.open_paths).insert(path.clone(), Arc::clone(&file));
        }
        self.open.insert(uri, Arc::clone(&file));
        self.assign(&file);
        self.invalidate_importers(&file);
    }

    /// Invalidates the projects that import a changed file from outside.
    fn invalidate_importers(&mut self, file: &File) {
        let Some(path) = &file.path else { return };
        for project in self.projects.values_mut() {
            let concerned = project.state.import_cache.lock().contains_key(path)
                || project.snapshot.as_ref().is_some_and(|it| it.imports_external(path));
            if concerned {
                project.invalidate();
            }
        }
    }

    /// Changes a document. Returns false if it is not open.
    pub(crate) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> bool {
        let Some(file) = self.open.get(uri.as_str()) else { return false };
        let mut text: Option<String> = None;
        for change in changes {
            text = Some(match change.range {
                None => change.text,
                Some(range) => {
                    let old = text.as_deref().unwrap_or_else(|| file.text());
                    let lines;
                    let positions = if text.is_some() {
                        lines = Lines::new(old);
                        Positions::new(old, &lines, self.encoding)
                    } else {
                        file.positions(self.encoding)
                    };
                    let span = positions.span(range).range();
                    let before = old.get(..span.start).unwrap_or_default();
                    [before, &change.text, old.get(span.end..).unwrap_or_default()].concat()
                }
            });
        }
        let text = text.unwrap_or_else(|| file.text().to_owned());
        let new = file.with_text(version, text);
        self.store(Arc::new(new));
        true
    }

    pub(crate) fn close(&mut self, uri: &Uri) {
        let Some(file) = self.open.remove(uri.as_str()) else { return };
        self.projects.remove(&ProjectKey::Document(uri.as_str().to_owned()));
        let Some(path) = &file.path else { return };
        Arc::make_mut(&mut self.open_paths).remove(path);
        self.invalidate_importers(&file);
        self.forget_data(path);
        self.reload(path);
    }

    /// Reads a file that changed on disk. Returns whether it is part of a project.
    fn reload(&mut self, path: &Path) -> bool {
        if is_project_file(path) {
            if let Some(folder) = path.parent() {
                self.request_load(folder.to_owned());
            }
            return true;
        }
        let Some(root) = self.root_of(path) else { return false };
        let Some(project) = self.projects.get_mut(&ProjectKey::Folder(root)) else { return false };
        if !project.state.indices.contains_key(path) {
            return false;
        }
        let name = path.strip_prefix(&project.state.root).unwrap_or(path).display().to_string();
        let uri = address(&self.folders, path);
        match uri.and_then(|uri| File::read(path, &name, uri)) {
            Some(file) => project.put_file(path, &Arc::new(file)),
            None => drop(project.remove(|known| known == path)),
        }
        true
    }

    /// Handles changes of files on disk.
    pub(crate) fn files_changed(&mut self, changed: &[PathBuf]) {
        let mut reload_keys = Vec::new();
        for path in changed.iter().map(|path| real(path)) {
            let name = path.file_name().unwrap_or_default();
            for project in self.projects.values_mut() {
                if project.state.import_cache.lock().remove(&path).is_some() {
                    project.invalidate();
                }
            }
            if name == PROJECT_FILE || name == ".gitignore" || name == ".ignore" {
                // The set of projects or of their files may have changed.
                reload_keys.extend(self.projects.keys().cloned());
                let folders = self.folders.iter().map(|(one, _)| one);
                let roots = folders.map(|one| files::project_root(one).unwrap_or(one).to_owned());
                reload_keys.extend(roots.map(ProjectKey::Folder));
                self.projects.retain(|key, _| match key {
                    ProjectKey::Folder(root) => {
                        root.join(PROJECT_FILE).is_file()
                            || self.folders.iter().any(|(one, _)| one == root)
                    }
                    ProjectKey::Document(_) => true,
                });
                continue;
            }
            if self.open_paths.contains_key(&path) {
                continue;
            }
            let known = path.is_file() && self.reload(&path);
            if !known {
                // The path is new or removed, and may be a folder.
                reload_keys.extend(self.root_of(&path).map(ProjectKey::Folder));
            }
        }
        for key in reload_keys {
            let ProjectKey::Folder(root) = key else { continue };
            let known = self.projects.contains_key(&ProjectKey::Folder(root.clone()));
            if known || self.root_of(&root.join(PROJECT_FILE)).as_ref() == Some(&root) {
                self.request_load(root);
            }
        }
    }

    pub(crate) fn snapshot(&mut self, key: &ProjectKey) -> Option<Arc<Snapshot>> {
        let project = self.projects.get_mut(key)?;
        if let Some(known) = &project.snapshot {
            return Some(Arc::clone(known));
        }
        let open = Arc::clone(&self.open_paths);
        let snapshot = Arc::new(Snapshot::new(project.state.clone(), self.encoding, open));
        project.snapshot = Some(Arc::clone(&snapshot));
        Some(snapshot)
    }

    /// The project that a document belongs to.
    pub(crate) fn key_of(&self, uri: &Uri) -> Option<ProjectKey> {
        let document = ProjectKey::Document(uri.as_str().to_owned());
        if self.projects.contains_key(&document) {
            return Some(document);
        }
        let known = self.open.get(uri.as_str()).and_then(|file| file.path.clone());
        let path = match known {
            Some(path) => path,
            None => real(&path_of(uri)?),
        };
        let root = match path.parent().filter(|_| is_project_file(&path)) {
            Some(folder) => folder.to_owned(),
            None => self.root_of(&path)?,
        };
        Some(ProjectKey::Folder(root)).filter(|key| self.projects.contains_key(key))
    }

    pub(crate) fn document(&self, uri: &Uri) -> Option<&Arc<File>> {
        self.open.get(uri.as_str())
    }
}

pub(crate) fn is_project_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PROJECT_FILE)
}
