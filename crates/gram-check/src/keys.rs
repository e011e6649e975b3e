//! Keys of analyses: hashes of what they depend on.

use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use gram_syntax::{Node, Parse, TokenKind};

use crate::Checker;
use crate::analyze::{FileAnalysis, ItemAnalysis, Reused};
use crate::imports::ImportGraph;
use crate::index::{FileIndex, Item};
use crate::scopes::NameMap;
use gram_model::TypeId;
use gram_model::walk::strongly_connected;

/// The attributes whose strings contain type expressions or signatures.
const TYPE_ATTRIBUTES: [&str; 9] = [
    "fields",
    "elementType",
    "valueType",
    "keys",
    "open",
    "defs",
    "result",
    "signature",
    "requires",
];

/// What the analyses of items depend on, as hashes.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    pub(crate) items: Vec<Fingerprint>,
    /// The hashes of the names that the items mention.
    pub(crate) references: Vec<u64>,
}

/// What the analysis of an item depends on.
#[derive(Debug)]
pub(crate) struct Fingerprint {
    /// The hash of its text.
    pub(crate) text: u64,
    pub(crate) references: Range<usize>,
    /// Whether some names that it mentions may be hidden by escapes.
    pub(crate) escapes: bool,
}

impl Fingerprints {
    pub(crate) fn new(text: &Parse, items: &[Item]) -> Self {
        let mut all = Self { items: Vec::with_capacity(items.len()), references: Vec::new() };
        for item in items {
            let top = text.tree().node(item.node);
            let first = all.references.len();
            let escapes = all.add_references(top);
            let hash = hash_item(text.source().slice(item.span), top);
            let references = first..all.references.len();
            all.items.push(Fingerprint { text: hash, references, escapes });
        }
        all
    }

    /// Collects the names that an item mentions, as hashes: more of them than it refers to, since
    /// keys and values of attributes are words, too. Gives whether some may be hidden by escapes.
    fn add_references(&mut self, top: Node<'_>) -> bool {
        let first = self.references.len();
        let (mut strings, mut has_types, mut escapes) = (Vec::new(), false, false);
        for token in top.tokens() {
            match token.kind() {
                TokenKind::Symbol | TokenKind::Integer => {
                    let word = token.text();
                    has_types |= TYPE_ATTRIBUTES.contains(&word);
                    self.references.push(hash(word));
                }
                TokenKind::Backticked | TokenKind::QuoteText => {
                    let text = token.text();
                    escapes |= text.contains('\\');
                    self.references.push(hash(text.trim_matches('`')));
                    self.add_words(text);
                }
                kind if kind.is_string() => strings.push(token.text()),
                _ => {}
            }
        }
        if has_types {
            for text in strings {
                escapes |= text.contains('\\');
                self.add_words(text);
            }
        }
        let mut own = self.references.split_off(first);
        own.sort_unstable();
        own.dedup();
        self.references.append(&mut own);
        escapes
    }

    /// Collects the words of a text: names of types, and names of parameters, which have more
    /// characters.
    fn add_words(&mut self, text: &str) {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let is_name_part = |c: char| is_part(c) || matches!(c, '-' | '.' | '@');
        let types = text.split(|c| !is_part(c));
        let names = text.split(|c| !is_name_part(c));
        let words = types.chain(names).filter(|word| !word.is_empty());
        self.references.extend(words.map(hash));
    }
}

/// The hash of an item's text. The same text may fall into other tokens behind a string or comment
/// that is not closed, so their kinds count, too.
fn hash_item(text: &str, top: Node<'_>) -> u64 {
    let mut hasher = hasher();
    hasher.write(text.as_bytes());
    let mut kinds = 0_u64;
    for (at, token) in top.tokens().enumerate() {
        kinds = kinds << 8 | token.kind() as u64;
        if at % 8 == 7 {
            hasher.write_u64(kinds);
        }
    }
    hasher.write_u64(kinds);
    hasher.finish()
}

/// The hash of a name or description. Equal hashes are taken for equal texts.
pub(crate) fn hash(text: &str) -> u64 {
    foldhash::quality::FixedState::default().hash_one(text)
}

/// A hasher whose results are the same in every process.
fn hasher() -> impl std::hash::Hasher {
    foldhash::quality::FixedState::default().build_hasher()
}

/// The keys of analyses: what the names that items mention stand for.
pub(crate) struct Keys {
    /// For the hash of each name of a type or term, the hash of all that it may stand for.
    meanings: NameMap<u64, u64>,
    /// The hash of the imports of each file.
    imports: Vec<u64>,
    /// The hash of all declared names and what they stand for.
    pub(crate) all: u64,
}

impl Keys {
    pub(crate) fn new(
        checker: &Checker<'_>,
        indexes: &[Arc<FileIndex>],
        imports: &ImportGraph,
    ) -> Self {
        let mut keys = Self { meanings: NameMap::default(), imports: Vec::new(), all: 0 };
        let types = type_hashes(checker, indexes);
        for (at, declared) in checker.types.0.iter().enumerate() {
            let place = checker.module.spans.types.get(at).map_or(0, |place| place.file);
            keys.add(&declared.name, &[1, at as u64, place as u64, types[at]]);
        }
        for (at, (term, place)) in
            checker.module.terms.iter().zip(&checker.module.spans.terms).enumerate()
        {
            let mut whole = hasher();
            whole.write_u64(indexes[place.file].hash_at(&checker.texts[place.file], place.name));
            gram_model::walk::names_of_slot(&term.field.slot, &mut |id| {
                whole.write_u64(types.get(id.0 as usize).copied().unwrap_or_default());
            });
            keys.add(&term.field.name, &[2, at as u64, place.file as u64, whole.finish()]);
        }
        for name in checker.unread_terms.iter() {
            keys.add(name, &[3]);
        }
        let mut all = keys.meanings.values().fold(0, |all, meaning| all ^ meaning);
        for (file, index) in indexes.iter().enumerate() {
            for entry in &index.others {
                let meaning = [4, file as u64, hash(entry.kind.label()), hash(&entry.name)];
                all ^= fold(&meaning);
            }
        }
        keys.all = all;
        keys.imports = imports
            .edges(indexes.len())
            .iter()
            .map(|files| fold(&files.iter().map(|file| *file as u64).collect::<Vec<_>>()))
            .collect();
        keys
    }

    /// Adds a meaning of a name.
    fn add(&mut self, name: &str, meaning: &[u64]) {
        let name = hash(name);
        *self.meanings.entry(name).or_default() ^= fold(&[name, fold(meaning)]);
    }

    /// The key of an item's analysis; `None` if nothing tells what it depends on.
    fn key(&self, (file, text): (usize, &Parse), index: &FileIndex, item: usize) -> Option<u64> {
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
        (file, text): (usize, &Parse),
        index: &FileIndex,
        before: Option<&FileAnalysis<O>>,
    ) -> Reused<O> {
        let known = before.map(|before| before.items.as_slice()).unwrap_or_default();
        let mut by_key: Option<NameMap<Option<u64>, &Arc<ItemAnalysis<O>>>> = None;
        let mut reuse = |(at, item): (usize, &Item)| {
            let Some(key) = self.key((file, text), index, at) else { return (None, None) };
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
                it.reusable && !item.broken && it.names.is_none_or(|names| names == self.all)
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

/// For each declared type, the hash of its text and of all that it refers to. The types of a cycle
/// count as one.
fn type_hashes(checker: &Checker<'_>, indexes: &[Arc<FileIndex>]) -> Vec<u64> {
    let types = &*checker.types;
    let mut hashes = vec![0; types.0.len()];
    let next = |id: TypeId| {
        let mut next = Vec::new();
        if let Some(declared) = types.get(id) {
            gram_model::walk::names_of_slot(&declared.slot, &mut |id| next.push(id));
        }
        next
    };
    // What a group refers to comes before it.
    for group in strongly_connected(types.0.len(), next) {
        let mut whole = hasher();
        for id in &group {
            let place = checker.module.spans.types.get(id.0 as usize);
            let own = place.map_or(0, |place| {
                indexes[place.file].hash_at(&checker.texts[place.file], place.name)
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
