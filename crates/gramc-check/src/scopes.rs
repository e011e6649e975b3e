//! What names mean: in a tool first, then in its file, in the files that this one imports, and in
//! all others.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use gramc_syntax::NodeId;
use smol_str::SmolStr;

/// A table that is filled with all names of a project.
pub type NameMap<K, V> = HashMap<K, V, RandomState>;

/// A tool with type declarations of its own: its file and node.
pub(crate) type Local = (usize, NodeId);

/// The names of one kind of thing in all files.
#[derive(Debug, Clone)]
pub struct Scopes<T> {
    /// By name, with the file, in the order of the files.
    files: NameMap<SmolStr, Vec<(usize, T)>>,
    /// By tool and name.
    locals: HashMap<Local, HashMap<SmolStr, T>>,
    /// For each file, the files that it imports.
    imports: Vec<Vec<usize>>,
}

impl<T> Default for Scopes<T> {
    fn default() -> Self {
        Self { files: NameMap::default(), locals: HashMap::new(), imports: Vec::new() }
    }
}

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning<T> {
    /// Nothing.
    Unknown,
    /// One thing, and the file that declares it.
    One(usize, T),
    /// Different things in two other files, neither of which is imported.
    Ambiguous((usize, T), (usize, T)),
}

impl<T: Copy + PartialEq> Scopes<T> {
    /// No names, in files that import others.
    pub(crate) fn new(imports: &[Vec<usize>]) -> Self {
        Self { imports: imports.to_vec(), ..Self::default() }
    }

    /// Makes room for so many names.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.files.reserve(count);
    }

    /// Enters a name of a file, or gives what the file already has under that name.
    pub(crate) fn enter(&mut self, file: usize, name: &SmolStr, thing: T) -> Option<T> {
        // Most names are declared once.
        let things = self.files.entry(name.clone()).or_insert_with(|| Vec::with_capacity(1));
        // Files are read in order, so a file's own declaration is last.
        match things.last() {
            Some((last, first)) if *last == file => Some(*first),
            _ => {
                things.push((file, thing));
                None
            }
        }
    }

    /// Enters a name inside of a tool, or gives what the tool already has under that name.
    pub(crate) fn enter_local(&mut self, local: Local, name: &SmolStr, thing: T) -> Option<T> {
        let names = self.locals.entry(local).or_default();
        if let Some(first) = names.get(name) {
            return Some(*first);
        }
        names.insert(name.clone(), thing);
        None
    }

    /// What a name means in a file, and in a tool of it.
    pub fn find(&self, file: usize, local: Option<Local>, name: &str) -> Meaning<T> {
        let inner = local.and_then(|local| self.locals.get(&local)?.get(name));
        if let Some(thing) = inner {
            return Meaning::One(file, *thing);
        }
        let Some(things) = self.files.get(name) else { return Meaning::Unknown };
        let of = |file: usize| things.iter().find(|(at, _)| *at == file);
        let imported = self.imports.get(file).into_iter().flatten().copied();
        if let Some((file, thing)) = std::iter::once(file).chain(imported).find_map(of) {
            return Meaning::One(*file, *thing);
        }
        match things.as_slice() {
            [] => Meaning::Unknown,
            [(file, thing)] => Meaning::One(*file, *thing),
            [first, second, ..] => Meaning::Ambiguous(*first, *second),
        }
    }

    /// The scope of a file, as if it were checked alone.
    pub(crate) fn seen_from(&self, file: usize) -> Self {
        let mut seen = Self::default();
        for name in self.files.keys() {
            if let Meaning::One(_, thing) = self.find(file, None, name) {
                seen.enter(0, name, thing);
            }
        }
        seen
    }

    /// What a file itself declares under a name.
    pub fn of_file(&self, file: usize, name: &str) -> Option<T> {
        let things = self.files.get(name)?;
        things.iter().find(|(at, _)| *at == file).map(|(_, thing)| *thing)
    }

    /// All names that mean something in a file, in no order.
    pub(crate) fn names(&self, local: Option<Local>) -> impl Iterator<Item = &str> {
        let inner = local.and_then(|local| self.locals.get(&local));
        let inner = inner.into_iter().flat_map(HashMap::keys);
        inner.chain(self.files.keys()).map(SmolStr::as_str)
    }
}
