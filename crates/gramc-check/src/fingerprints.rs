//! Hashes of what the analysis of a declaration depends on.

use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;

use gramc_syntax::{Node, Parse, SourceFile, TokenKind};

use crate::index::Item;

/// The attributes whose strings contain type expressions or signatures.
const TYPE_ATTRIBUTES: [&str; 11] = [
    "fields",
    "elementType",
    "valueType",
    "keys",
    "open",
    "fieldPatterns",
    "defs",
    "extends",
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
#[derive(Debug, Clone)]
pub(crate) struct Fingerprint {
    /// The hash of its text.
    pub(crate) text: u64,
    /// The hash of the kinds of its tokens.
    kinds: u64,
    pub(crate) references: Range<usize>,
    /// Whether some names that it mentions may be hidden by escapes.
    pub(crate) escapes: bool,
}

/// The fingerprints of an earlier version of a file.
#[derive(Clone, Copy)]
pub(crate) struct EarlierFingerprints<'a> {
    pub(crate) text: &'a SourceFile,
    pub(crate) items: &'a [Item],
    pub(crate) all: &'a Fingerprints,
}

impl EarlierFingerprints<'_> {
    /// The fingerprint of an item with the same text and tokens, at the same place from the start or
    /// from the end.
    fn find(&self, items: &[Item], at: usize, text: &str, kinds: u64) -> Option<&Fingerprint> {
        let from_end = (at + self.items.len()).checked_sub(items.len());
        [Some(at), from_end].into_iter().flatten().find_map(|at| {
            let known = self.all.items.get(at).filter(|known| known.kinds == kinds)?;
            (self.text.slice(self.items.get(at)?.span) == text).then_some(known)
        })
    }
}

impl Fingerprints {
    /// The fingerprints of the items of a file.
    pub(crate) fn new(
        text: &Parse,
        items: &[Item],
        before: Option<EarlierFingerprints<'_>>,
    ) -> Self {
        let mut all = Self::default();
        for (at, item) in items.iter().enumerate() {
            let top = text.tree().node(item.node);
            let own = text.source().slice(item.span);
            let kinds = hash_kinds(top, u32::MAX);
            let first = all.references.len();
            let known = before.and_then(|before| {
                let known = before.find(items, at, own, kinds)?;
                all.references.extend_from_slice(&before.all.references[known.references.clone()]);
                Some((known.text, known.escapes))
            });
            let (hash, escapes) =
                known.unwrap_or_else(|| (hash_text(own, kinds), all.add_references(top)));
            let references = first..all.references.len();
            all.items.push(Fingerprint { text: hash, kinds, references, escapes });
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

/// The hash of the tokens of a node that begin before a place.
pub(crate) fn hash_tokens(text: &str, top: Node<'_>, end: u32) -> u64 {
    hash_text(text, hash_kinds(top, end))
}

fn hash_text(text: &str, kinds: u64) -> u64 {
    let mut hasher = hasher();
    hasher.write(text.as_bytes());
    hasher.write_u64(kinds);
    hasher.finish()
}

/// The hash of the kinds of tokens. The same text may fall into other tokens behind a string or
/// comment that is not closed.
fn hash_kinds(top: Node<'_>, end: u32) -> u64 {
    let mut hasher = hasher();
    let mut kinds = 0_u64;
    for (at, token) in top.tokens().take_while(|token| token.span().start < end).enumerate() {
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
pub(crate) fn hasher() -> impl std::hash::Hasher {
    foldhash::quality::FixedState::default().build_hasher()
}
