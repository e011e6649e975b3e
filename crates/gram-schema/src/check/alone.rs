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
    pub(crate) deprecated: bool,
    /// The types that are declared inside of it.
    pub(crate) types: Box<[TypeId]>,
}

impl Outline {
    pub(super) fn of(tool: &Tool, place: &Place) -> Self {
        Self {
            name: tool.name.clone(),
            span: place.name,
            deprecated: tool.deprecated,
            types: tool.types.as_slice().into(),
        }
    }
}

/// By what a tool is compared with all others: apart from its outline, for of most tools nothing else
/// is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prints {
    /// What its name hashes to.
    pub(super) name: u64,
    /// What its description hashes to, without the space around it. 0 stands for none.
    pub(crate) description: u64,
}

impl Prints {
    pub(super) fn of(tool: &Tool) -> Self {
        let description = tool.description.as_deref().map(str::trim);
        let description = description.filter(|text| !text.is_empty());
        Self {
            name: hash(&tool.name),
            description: description.map_or(0, |text| hash(text).max(1)),
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

/// What a name or description hashes to. That two names have the same hash costs but time; of
/// descriptions it is believed.
pub(super) fn hash(text: &str) -> u64 {
    foldhash::quality::FixedState::default().hash_one(text)
}

/// Whether all texts of the hashes are different. Of two with the same hash nothing is known.
pub(crate) fn all_differ(hashes: &[u64]) -> bool {
    // Much faster than a table of the texts, which are rarely the same. Half of the places stay free,
    // which 0 marks; each hash stands in the one that its lower bits name, or soon behind it.
    let mut places = vec![0; (hashes.len() * 2).next_power_of_two()];
    let mask = places.len() - 1;
    hashes.iter().all(|&hash| {
        let first = usize::try_from(hash & u64::from(u32::MAX)).unwrap_or_default() & mask;
        let mut near = (first..first + MOST_PLACES).map(|at| at & mask);
        let at = near.find(|at| places[*at] == 0 || places[*at] == hash);
        // Many that begin at one place were made so, or are the same.
        let free = at.filter(|at| places[*at] == 0 && hash != 0);
        free.map(|at| places[at] = hash).is_some()
    })
}

/// How far from its place a hash is looked for.
const MOST_PLACES: usize = 256;

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
    let read = Read::of(&mut module, false, visited);
    Some(Alone { found: found.all, names, read })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_different_hashes_differ() {
        let hashes: Vec<_> = (0..20_000).map(|number: u32| hash(&number.to_string())).collect();
        assert!(all_differ(&hashes) && all_differ(&[]));
        for at in [0, 10_000, 19_999] {
            let mut twice = hashes.clone();
            twice.push(hashes[at]);
            assert!(!all_differ(&twice), "{at}");
        }
        // Nothing is known of hashes that were made to stand in one place, nor is it of 0.
        let made: Vec<_> = (1..=10_000).map(|number: u64| number << 32).collect();
        assert!(all_differ(&made[..200]) && !all_differ(&made) && !all_differ(&[0]));
    }
}
