//! All that the server knows: which texts the client has, which projects they belong to, and what
//! is on the disk. One thread changes it; all others read [`Snapshot`]s.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use gram_lint::Cache;
use gram_project::files::{self, PROJECT_FILE};
use gram_syntax::SourceFile;
use lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::evidence::Evidence;
use crate::file::File;
use crate::load::{Loaded, Order, address, project_file};
use crate::position::{Encoding, Lines, Positions};
use crate::snapshot::{Parts, ProjectFile, Shelf, Snapshot};
use crate::uri::{path_of, real};

/// What tells projects apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A folder: its one path.
    Root(PathBuf),
    /// A text that belongs to no folder, or that its project ignores: its address.
    Lone(String),
}

/// Texts that are checked together.
#[derive(Debug)]
pub(crate) struct Project {
    root: Arc<Path>,
    /// Whether its folder was read.
    pub(crate) loaded: bool,
    file: Arc<ProjectFile>,
    evidence: Arc<Evidence>,
    /// In the order of their paths.
    named: Vec<Arc<File>>,
    places: Arc<HashMap<PathBuf, usize>>,
    shelf: Arc<Shelf>,
    /// The analyses of the last check.
    cache: Arc<Mutex<Cache>>,
    /// Tells its states apart.
    pub(crate) revision: u64,
    /// What it is now; nothing where nobody has asked since it changed.
    snapshot: Option<Arc<Snapshot>>,
}

impl Project {
    fn new(root: &Path) -> Self {
        Self {
            root: Arc::from(root),
            loaded: false,
            file: Arc::default(),
            evidence: Arc::default(),
            named: Vec::new(),
            places: Arc::default(),
            shelf: Arc::default(),
            cache: Arc::default(),
            revision: 0,
            snapshot: None,
        }
    }

    fn changed(&mut self) {
        // No two states of projects have the same number, be it that one is made anew.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.revision = NEXT.fetch_add(1, Ordering::Relaxed);
        self.snapshot = None;
    }

    /// Takes other texts, in the order of their paths.
    fn set_named(&mut self, mut named: Vec<Arc<File>>) {
        named.sort_by(|one, other| one.path.cmp(&other.path));
        let places = named.iter().enumerate();
        let places = places.filter_map(|(at, file)| Some((file.path.clone()?, at)));
        self.places = Arc::new(places.collect());
        self.named = named;
        self.changed();
    }

    /// Puts a text in the place of one with the same path, or beside the others.
    fn put(&mut self, path: &Path, file: &Arc<File>) {
        if let Some(known) = self.places.get(path).and_then(|at| self.named.get_mut(*at)) {
            *known = Arc::clone(file);
            self.changed();
        } else {
            let mut named = std::mem::take(&mut self.named);
            named.push(Arc::clone(file));
            self.set_named(named);
        }
    }

    fn remove(&mut self, gone: impl Fn(&Path) -> bool) -> bool {
        let before = self.named.len();
        let mut named = std::mem::take(&mut self.named);
        named.retain(|file| !file.path.as_deref().is_some_and(&gone));
        let less = named.len() < before;
        self.set_named(named);
        less
    }
}

/// All that the server knows.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) encoding: Encoding,
    /// The folders of the workspace: their one paths, and as the client writes them.
    folders: Vec<(PathBuf, PathBuf)>,
    pub(crate) projects: BTreeMap<Key, Project>,
    /// The texts that the client has, by address.
    open: HashMap<String, Arc<File>>,
    open_paths: Arc<HashMap<PathBuf, Arc<File>>>,
    /// Projects whose folders are to be read.
    orders: Vec<PathBuf>,
}

impl World {
    /// A world with the folders of a workspace.
    pub(crate) fn new(encoding: Encoding, folders: Vec<PathBuf>) -> Self {
        let mut world = Self { encoding, ..Self::default() };
        for folder in folders {
            world.add_folder(folder);
        }
        world
    }

    /// A folder joins the workspace.
    pub(crate) fn add_folder(&mut self, folder: PathBuf) {
        let one = real(&folder);
        if !one.is_dir() || self.folders.iter().any(|(known, _)| *known == one) {
            return;
        }
        let root = files::project_root(&one).unwrap_or(&one).to_owned();
        self.folders.push((one, folder));
        // The innermost folder says how an address is written.
        self.folders.sort_by_key(|(one, _)| std::cmp::Reverse(one.as_os_str().len()));
        self.order(root);
        self.place_all();
    }

    /// A folder leaves the workspace.
    pub(crate) fn remove_folder(&mut self, folder: &Path) {
        let one = real(folder);
        self.folders.retain(|(known, _)| *known != one);
        self.projects.remove(&Key::Root(one));
        self.place_all();
    }

    fn order(&mut self, root: PathBuf) {
        let key = Key::Root(root.clone());
        let project = self.projects.entry(key).or_insert_with(|| Project::new(&root));
        // What is asked from now on is answered when the folder was read.
        project.loaded = false;
        if !self.orders.contains(&root) {
            self.orders.push(root);
        }
    }

    /// The projects whose folders are to be read now.
    pub(crate) fn take_orders(&mut self) -> Vec<Order> {
        let orders = std::mem::take(&mut self.orders);
        let order = |root: PathBuf| {
            let project = self.projects.get(&Key::Root(root.clone()));
            let files = project.into_iter().flat_map(|project| &project.named);
            let known = files.filter_map(|file| Some((file.path.clone()?, Arc::clone(file))));
            Order { root, folders: self.folders.clone(), known: known.collect() }
        };
        orders.into_iter().map(order).collect()
    }

    /// Whether some folders are not read yet.
    pub(crate) fn is_loading(&self) -> bool {
        self.projects.values().any(|project| !project.loaded)
    }

    /// Takes what was read of a project.
    pub(crate) fn take_loaded(&mut self, loaded: Loaded) {
        let Loaded { root, file, files, nested, evidence, .. } = loaded;
        for inner in nested {
            if !self.projects.contains_key(&Key::Root(inner.clone())) {
                self.order(inner);
            }
        }
        let open_file = self.open_paths.get(&root.join(PROJECT_FILE));
        let file = match open_file {
            Some(open) => project_file(&root, &self.folders, Some(open)),
            None => file,
        };
        let Some(project) = self.projects.get_mut(&Key::Root(root)) else { return };
        project.loaded = true;
        project.file = Arc::new(file);
        project.evidence = Arc::new(evidence);
        project.shelf = Arc::default();
        project.set_named(files);
        self.refresh_open();
        self.place_all();
    }

    /// The root of the project that a file lies in; none where it stands alone.
    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let marked = path.parent().and_then(files::project_root).map(Path::to_owned);
        let folders = self.folders.iter().map(|(one, _)| one);
        marked.or_else(|| folders.filter(|one| path.starts_with(one)).max().cloned())
    }

    /// Looks anew at what hangs on the disk in the texts that are open: what they import, and what was
    /// found by other settings.
    fn refresh_open(&mut self) {
        let paths = Arc::make_mut(&mut self.open_paths);
        for file in self.open.values_mut() {
            *file = Arc::new(file.again());
            if let Some(path) = &file.path {
                paths.insert(path.clone(), Arc::clone(file));
            }
        }
    }

    /// Puts each open text into the project that it belongs to.
    fn place_all(&mut self) {
        self.projects.retain(|key, _| matches!(key, Key::Root(_)));
        let open: Vec<_> = self.open.values().cloned().collect();
        for file in open {
            self.place(&file);
        }
    }

    /// Puts an open text into the project that it belongs to.
    fn place(&mut self, file: &Arc<File>) {
        let path = file.path.clone();
        if let Some(path) = path.as_deref().filter(|path| is_project_file(path)) {
            let (root, key) = (path.parent().unwrap_or(path).to_owned(), path.parent());
            let key = Key::Root(key.unwrap_or(path).to_owned());
            if let Some(project) = self.projects.get_mut(&key).filter(|project| project.loaded) {
                let new = project_file(&root, &self.folders, Some(file));
                project.file = Arc::new(new);
                project.changed();
            }
            return;
        }
        let root = path.as_deref().and_then(|path| self.root_of(path));
        let Some((root, path)) = root.zip(path) else { return self.place_alone(file) };
        let key = Key::Root(root.clone());
        let Some(project) = self.projects.get_mut(&key) else {
            return self.order(root);
        };
        let known = project.places.contains_key(&path);
        if known || !project.loaded || !path.exists() {
            project.put(&path, file);
        } else {
            // Git ignores it, and so does its project.
            self.place_alone(file);
        }
    }

    /// A text that stands alone, with what it imports.
    fn place_alone(&mut self, file: &Arc<File>) {
        let folder = file.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let root = file.path.as_deref().and_then(|path| self.root_of(path));
        let settings = root.as_deref().map(|root| project_file(root, &self.folders, None));
        let root = root.unwrap_or_else(|| folder.to_owned());
        let key = Key::Lone(file.uri.as_str().to_owned());
        let project = self.projects.entry(key).or_insert_with(|| Project::new(&root));
        project.loaded = true;
        // What is wrong in the project file is said of the project.
        let settings = settings.unwrap_or_default();
        project.file = Arc::new(ProjectFile { found: Vec::new(), file: None, ..settings });
        project.shelf = Arc::default();
        project.set_named(vec![Arc::clone(file)]);
    }

    /// The client opens a text.
    pub(crate) fn open(&mut self, uri: &Uri, version: i32, text: String) {
        let path = path_of(uri).map(|path| real(&path));
        let root = path.as_deref().and_then(|path| self.root_of(path));
        let folder = path.as_deref().and_then(Path::parent).map(Path::to_owned);
        let root = root.or(folder);
        let name = match (&path, &root) {
            (Some(path), Some(root)) => {
                path.strip_prefix(root).unwrap_or(path).display().to_string()
            }
            _ => uri.as_str().to_owned(),
        };
        let mut file = File::open(uri.clone(), path.clone(), version, SourceFile::new(name, text));
        let mut projects = self.projects.values();
        let known = projects.find_map(|it| it.named.get(*it.places.get(path.as_ref()?)?));
        if let Some(known) = known {
            file = file.after(known);
        }
        self.keep(Arc::new(file));
        // A file that nobody has seen in its project may be ignored there, or new.
        let alone = self.projects.contains_key(&Key::Lone(uri.as_str().to_owned()));
        if let Some(root) = path.filter(|_| alone).and_then(|path| self.root_of(&path)) {
            self.order(root);
        }
    }

    /// Takes a text as the client has it.
    fn keep(&mut self, file: Arc<File>) {
        let uri = file.uri.as_str().to_owned();
        if let Some(path) = &file.path {
            Arc::make_mut(&mut self.open_paths).insert(path.clone(), Arc::clone(&file));
        }
        self.open.insert(uri, Arc::clone(&file));
        self.place(&file);
        self.brought(&file);
    }

    /// Tells the projects that import a text from elsewhere that it changed.
    fn brought(&mut self, file: &File) {
        let Some(path) = &file.path else { return };
        for project in self.projects.values_mut() {
            let shelf = project.shelf.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let concerned = shelf.contains_key(path)
                || project.snapshot.as_ref().is_some_and(|it| it.brings(path));
            drop(shelf);
            if concerned {
                project.changed();
            }
        }
    }

    /// The client changes a text. Gives false where it is not open.
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
                    let size = old.len() - span.len() + change.text.len();
                    let mut new = String::with_capacity(size);
                    new.push_str(old.get(..span.start).unwrap_or_default());
                    new.push_str(&change.text);
                    new.push_str(old.get(span.end..).unwrap_or_default());
                    new
                }
            });
        }
        let text = text.unwrap_or_else(|| file.text().to_owned());
        let new = file.edited(version, text);
        self.keep(Arc::new(new));
        true
    }

    /// The client closes a text: what is on the disk counts again.
    pub(crate) fn close(&mut self, uri: &Uri) {
        let Some(file) = self.open.remove(uri.as_str()) else { return };
        self.projects.remove(&Key::Lone(uri.as_str().to_owned()));
        let Some(path) = &file.path else { return };
        Arc::make_mut(&mut self.open_paths).remove(path);
        self.brought(&file);
        self.read_again(path);
    }

    /// Reads a file that changed on the disk. Gives whether it is one of a project.
    fn read_again(&mut self, path: &Path) -> bool {
        if is_project_file(path) {
            if let Some(folder) = path.parent() {
                self.order(folder.to_owned());
            }
            return true;
        }
        let Some(root) = self.root_of(path) else { return false };
        let Some(project) = self.projects.get_mut(&Key::Root(root)) else { return false };
        if !project.places.contains_key(path) {
            return false;
        }
        let name = path.strip_prefix(&project.root).unwrap_or(path).display().to_string();
        let uri = address(&self.folders, path);
        match uri.and_then(|uri| File::read(path, &name, uri)) {
            Some(file) => project.put(path, &Arc::new(file)),
            None => drop(project.remove(|known| known == path)),
        }
        true
    }

    /// Something changed on the disk.
    pub(crate) fn watched(&mut self, changed: &[PathBuf]) {
        let mut again = Vec::new();
        for path in changed.iter().map(|path| real(path)) {
            let name = path.file_name().unwrap_or_default();
            for project in self.projects.values_mut() {
                let mut shelf =
                    project.shelf.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let known = shelf.remove(&path).is_some();
                drop(shelf);
                if known {
                    project.changed();
                }
            }
            if name == PROJECT_FILE || name == ".gitignore" || name == ".ignore" {
                // Where projects begin, or which files they have, may be another thing now.
                again.extend(self.projects.keys().cloned());
                let folders: Vec<_> = self.folders.iter().map(|(one, _)| one.clone()).collect();
                for folder in folders {
                    again.push(Key::Root(
                        files::project_root(&folder).unwrap_or(&folder).to_owned(),
                    ));
                }
                self.projects.retain(|key, _| match key {
                    Key::Root(root) => {
                        root.join(PROJECT_FILE).is_file()
                            || self.folders.iter().any(|(one, _)| one == root)
                    }
                    Key::Lone(_) => true,
                });
                continue;
            }
            if self.open_paths.contains_key(&path) {
                continue;
            }
            let known = path.is_file() && self.read_again(&path);
            if !known {
                // It is new, or gone, and may be a folder.
                again.extend(self.root_of(&path).map(Key::Root));
            }
        }
        for key in again {
            let Key::Root(root) = key else { continue };
            let known = self.projects.contains_key(&Key::Root(root.clone()));
            if known || self.root_of(&root.join(PROJECT_FILE)).as_ref() == Some(&root) {
                self.order(root);
            }
        }
    }

    /// What a project is now.
    pub(crate) fn snapshot(&mut self, key: &Key) -> Option<Arc<Snapshot>> {
        let project = self.projects.get_mut(key)?;
        if let Some(known) = &project.snapshot {
            return Some(Arc::clone(known));
        }
        let snapshot = Arc::new(Snapshot::new(Parts {
            root: Arc::clone(&project.root),
            file: Arc::clone(&project.file),
            encoding: self.encoding,
            evidence: Arc::clone(&project.evidence),
            named: project.named.clone(),
            places: Arc::clone(&project.places),
            shelf: Arc::clone(&project.shelf),
            cache: Arc::clone(&project.cache),
            open: Arc::clone(&self.open_paths),
        }));
        project.snapshot = Some(Arc::clone(&snapshot));
        Some(snapshot)
    }

    /// The project that a document belongs to.
    pub(crate) fn key_of(&self, uri: &Uri) -> Option<Key> {
        let lone = Key::Lone(uri.as_str().to_owned());
        if self.projects.contains_key(&lone) {
            return Some(lone);
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
        Some(Key::Root(root)).filter(|key| self.projects.contains_key(key))
    }

    /// A text that the client has.
    pub(crate) fn document(&self, uri: &Uri) -> Option<&Arc<File>> {
        self.open.get(uri.as_str())
    }
}

pub(crate) fn is_project_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PROJECT_FILE)
}
