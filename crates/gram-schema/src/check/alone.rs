//! Texts that can be read alone, and pieces of texts: what others declare means nothing to them.

use std::hash::BuildHasher as _;

use gram_syntax::{Diagnostic, Node, NodeKind as N, Parse, Span};
use smol_str::SmolStr;

use super::parts::{Known, Read, SHARE};
use super::{Checker, Kind};
use crate::model::{Module, Tool, TypeId};
use crate::spans::Place;

/// The most findings about a text that is read alone: with many, it matters what else is found.
const MOST_FOUND: usize = 50;

/// What is known of a tool when its text has been looked at.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub(crate) name: SmolStr,
    /// Where its name stands.
    pub(crate) span: Span,
    pub(crate) description: Option<SmolStr>,
    /// What its name hashes to, and its description without the space around it.
    pub(crate) name_hash: u64,
    pub(crate) description_hash: u64,
    pub(crate) deprecated: bool,
    /// The types that are declared inside of it.
    pub(crate) types: Vec<TypeId>,
}

impl Outline {
    pub(super) fn of((tool, place): (&mut Tool, &Place), keep: bool) -> Self {
        let description = &mut tool.description;
        Self {
            name: tool.name.clone(),
            span: place.name,
            name_hash: hash(&tool.name),
            description_hash: hash(description.as_deref().unwrap_or_default().trim()),
            description: if keep { description.clone() } else { description.take() },
            deprecated: tool.deprecated,
            types: tool.types.clone(),
        }
    }
}

/// A text that was read alone.
#[derive(Debug)]
pub(crate) struct Alone<R> {
    /// What was found in it; no error.
    pub(super) found: Vec<Diagnostic>,
    /// The names of its parameters, hashed. A term of such a name says something of it.
    names: Vec<u64>,
    pub(crate) read: Read<R>,
}

impl<R> Alone<R> {
    /// Whether it is the same together with others that declare terms, whose names' hashes are
    /// sorted.
    pub(super) fn holds(&self, terms: &[u64]) -> bool {
        terms.is_empty() || !self.names.iter().any(|name| terms.binary_search(name).is_ok())
    }
}

/// Names that are told apart by their hashes. That two have the same one costs but time.
pub(super) fn hash(name: &str) -> u64 {
    foldhash::quality::FixedState::default().hash_one(name)
}

/// Whether all names of the hashes are different. Of two with the same hash nothing is known.
pub(crate) fn all_differ(mut hashes: Vec<u64>) -> bool {
    // Much faster than a table of the names, which are rarely the same.
    hashes.sort_unstable();
    hashes.windows(2).all(|pair| pair[0] != pair[1])
}

/// Whether a text has more patterns than are read at once.
pub(crate) fn is_large(text: &Parse) -> bool {
    text.tree().root().children().nth(SHARE).is_some()
}

/// Reads a text alone, as far as that is the same as together with others. It declares nothing but
/// tools, which name built-in types alone, and has no errors; else there is `None`.
pub(crate) fn read_alone<R>(
    text: &Parse,
    visit: impl FnOnce(Known<'_>, &Module) -> R,
) -> Option<Alone<R>> {
    if !text.diagnostics().is_empty() {
        return None;
    }
    let mut tops = text.tree().root().children();
    if tops.next().is_some_and(|first| first.kind() == N::Record) {
        // A header imports.
        return None;
    }
    if is_large(text) {
        // It likely declares more than one thread reads; that is not worth a closer look.
        return None;
    }
    read_patterns(text, text.tree().root().children(), visit)
}

/// Reads some patterns of a text alone, likewise.
pub(super) fn read_patterns<'t, R>(
    text: &'t Parse,
    tops: impl Iterator<Item = Node<'t>>,
    visit: impl FnOnce(Known<'_>, &Module) -> R,
) -> Option<Alone<R>> {
    let mut checker = Checker::new(std::slice::from_ref(text));
    let own = checker.collect_patterns(0, tops);
    let other = own.others.iter().any(|declaration| declaration.kind != Kind::Tool);
    // What is large is shared among threads, together with the others.
    if other || own.others.len() > SHARE || !own.types.is_empty() || !own.terms.is_empty() {
        return None;
    }
    checker.module.tools.reserve_exact(own.others.len());
    for declaration in &own.others {
        checker.read(declaration);
        if checker.asked {
            return None;
        }
    }
    let mut module = std::mem::take(&mut checker.module);
    let visited = visit(checker.known(), &module);
    let found = checker.end(0);
    if found.errors > 0 || found.all.len() > MOST_FOUND {
        return None;
    }
    let fields = module.tools.iter().flat_map(|tool| &tool.parameters);
    let names = fields.map(|field| hash(&field.name)).collect();
    let read = Read { tools: Read::<R>::outlines(&mut module, false), visited };
    Some(Alone { found: found.all, names, read })
}
