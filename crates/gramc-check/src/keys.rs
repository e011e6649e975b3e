//! Keys of analyses: hashes of what they depend on.

use std::hash::Hasher as _;
use std::sync::Arc;

use gramc_syntax::Parse;

use crate::analyze::{FileAnalysis, ItemAnalysis, Reused};
use crate::checker::Checker;
use crate::fingerprints::{hash, hasher};
use crate::imports::ImportGraph;
use crate::index::{FileIndex, Item};
use crate::scopes::NameMap;
use gramc_model::walk::{names_of, strongly_connected};
use gramc_model::{Type, TypeId};

/// The keys of analyses: hashes of the declarations that items refer to.
pub(crate) struct Keys {
    /// Maps the hash of each type or term name to the hash of its possible declarations.
    meanings: NameMap<u64, u64>,
    /// The hash of the imports of each file.
    imports: Vec<u64>,
    /// The hash of all declared names.
    pub(crate) names: u64,
    /// The hash of all declared types.
    pub(crate) types: u64,
}

impl Keys {
    pub(crate) fn new(
        checker: &Checker<'_>,
        indexes: &[Arc<FileIndex>],
        imports: &ImportGraph,
    ) -> Self {
        let mut keys =
            Self { meanings: NameMap::default(), imports: Vec::new(), names: 0, types: 0 };
        let types = type_hashes(checker, indexes, true);
        for (at, declared) in checker.types.0.iter().enumerate() {
            let place = checker.module.spans.types.get(at).map_or(0, |place| place.file);
            keys.add(&declared.name, &[1, at as u64, place as u64, types[at]]);
        }
        for (at, (term, place)) in
            checker.module.terms.iter().zip(&checker.module.spans.terms).enumerate()
        {
            let mut whole = hasher();
            whole.write_u64(indexes[place.file].hash_at(&checker.texts[place.file], place));
            gramc_model::walk::names_of_type_use(&term.field.type_use, &mut |id| {
                whole.write_u64(types.get(id.0 as usize).copied().unwrap_or_default());
            });
            keys.add(&term.field.name, &[2, at as u64, place.file as u64, whole.finish()]);
        }
        for name in checker.unread_terms.iter() {
            keys.add(name, &[3]);
        }
        let mut names = keys.meanings.values().fold(0, |all, meaning| all ^ meaning);
        for (file, index) in indexes.iter().enumerate() {
            for entry in &index.others {
                let meaning = [4, file as u64, hash(entry.kind.label()), hash(&entry.name)];
                names ^= fold(&meaning);
            }
        }
        keys.names = names;
        keys.types = fold(&type_hashes(checker, indexes, false));
        keys.imports = imports
            .edges(indexes.len())
            .iter()
            .map(|files| fold(&files.iter().map(|file| *file as u64).collect::<Vec<_>>()))
            .collect();
        keys
    }

    fn add(&mut self, name: &str, meaning: &[u64]) {
        let name = hash(name);
        *self.meanings.entry(name).or_default() ^= fold(&[name, fold(meaning)]);
    }

    /// The key of an item's analysis; `None` if nothing tells what it depends on.
    fn key(&self, file: usize, text: &Parse, index: &FileIndex, item: usize) -> Option<u64> {
        let (own, references) = index.fingerprint(text, item)?;
        let mut key = hasher();
        key.write_u64(own);
        if !self.meanings.is_empty() {
            let meanings = references.iter().filter_map(|name| self.meanings.get(name));
            let mut meanings = meanings.peekable();
            if meanings.peek().is_some() {
                key.write_u64(self.imports.get(file).copied().unwrap_or_default());
            }
            meanings.for_each(|meaning| key.write_u64(*meaning));
        }
        Some(key.finish())
    }

    /// For each item of a file, its key and the analysis that is known by it.
    pub(crate) fn reuse<O>(
        &self,
        file: usize,
        text: &Parse,
        index: &FileIndex,
        before: Option<&FileAnalysis<O>>,
    ) -> Reused<O> {
        let known = before.map(|before| before.items.as_slice()).unwrap_or_default();
        let mut by_key: Option<NameMap<Option<u64>, &Arc<ItemAnalysis<O>>>> = None;
        let mut reuse = |(at, item): (usize, &Item)| {
            let Some(key) = self.key(file, text, index, at) else { return (None, None) };
            let key = Some(key);
            // Mostly nothing has changed but one item.
            let same = known.get(at).map(|(_, analysis)| analysis).filter(|it| it.key == key);
            let same = same.or_else(|| {
                let by_key = by_key.get_or_insert_with(|| {
                    known.iter().map(|(_, analysis)| (analysis.key, analysis)).collect()
                });
                by_key.get(&key).copied()
            });
            let holds = |it: &&Arc<ItemAnalysis<O>>| {
                it.reusable
                    && !item.broken
                    && it.names.is_none_or(|names| names == self.names)
                    && it.types.is_none_or(|types| types == self.types)
            };
            (key, same.filter(holds).cloned())
        };
        index.items.iter().enumerate().map(&mut reuse).collect()
    }
}

fn fold(numbers: &[u64]) -> u64 {
    let mut hasher = hasher();
    for number in numbers {
        hasher.write_u64(*number);
    }
    hasher.finish()
}

/// For each declared type, a hash of its own and of all that it refers to. The types of a cycle count
/// as one.
///
/// Most analyses depend on no more than the outlines of types: on all but the fields of records.
fn type_hashes(checker: &Checker<'_>, indexes: &[Arc<FileIndex>], outlines: bool) -> Vec<u64> {
    let types = &*checker.types;
    let mut hashes = vec![0; types.0.len()];
    let has_fields = |id: TypeId| {
        types.get(id).is_some_and(|declared| matches!(declared.type_use.ty, Type::Object(_)))
    };
    let next = |id: TypeId| {
        if outlines && has_fields(id) { Vec::new() } else { names_of(types, id) }
    };
    // What a group refers to comes before it.
    for group in strongly_connected(types.0.len(), next) {
        let mut whole = hasher();
        for id in &group {
            let place = checker.module.spans.types.get(id.0 as usize);
            let own = place.map_or(0, |place| {
                let (index, text) = (&indexes[place.file], &checker.texts[place.file]);
                let outline = outlines && has_fields(*id);
                if outline { index.outline_at(text, place) } else { index.hash_at(text, place) }
            });
            whole.write_u64(own);
            for other in next(*id) {
                whole.write_u64(hashes.get(other.0 as usize).copied().unwrap_or_default());
            }
        }
        let whole = whole.finish();
        for id in group {
            hashes[id.0 as usize] = whole;
        }
    }
    hashes
}
