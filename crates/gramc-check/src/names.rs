//! The names of texts: where each is declared and where it is used, errors or not.
//!
//! The checker resolves names; an editor needs the reverse: the name at a position, and its other
//! occurrences.

mod declared;
mod uses;

use std::sync::Arc;

use gramc_syntax::{NodeId, Span};
use smol_str::SmolStr;

use crate::{ImportGraph, Meaning, Scopes};

pub use crate::kind::{Kind, Space};
pub use declared::declarations;
pub use uses::{signature_text, type_word, types_in, uses, values_in};

/// A declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// What is declared.
    pub kind: Kind,
    /// Its name, freed of quotes.
    pub name: SmolStr,
    /// The span of its name, including quotes.
    pub place: Span,
    /// All of it, with its annotations.
    pub span: Span,
    /// Its node: a subject pattern, or a term's node pattern.
    pub node: NodeId,
    /// Its parent declaration, by its place in the list: a type in a tool, a tool in a
    /// container or agent.
    pub holder: Option<usize>,
}

/// A place that uses a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// What kind of thing is named.
    pub space: Space,
    /// The name, freed of quotes.
    pub name: SmolStr,
    /// Its span, including quotes except in a type expression.
    pub place: Span,
    /// The index of the enclosing declaration.
    pub holder: Option<usize>,
}

/// A declaration among those of several texts: the text, and its place in that text's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Found {
    /// The text.
    pub file: usize,
    /// The place in its list of declarations.
    pub at: usize,
}

/// The names of texts that belong together.
#[derive(Debug, Clone)]
pub struct Names {
    texts: Vec<Arc<Vec<Declaration>>>,
    /// By [`Space`].
    scopes: [Scopes<Found>; 4],
}

impl Names {
    /// The names of texts with these declarations, of which some import others.
    pub fn new(texts: Vec<Arc<Vec<Declaration>>>, links: &ImportGraph) -> Self {
        let imports = links.of.iter().map(|of| of.iter().filter_map(|link| link.text.clone().ok()));
        let imports: Vec<Vec<usize>> = imports.map(Iterator::collect).collect();
        let mut scopes = Space::ALL.map(|_| Scopes::new(&imports));
        for space in Space::ALL {
            let own = texts.iter().flat_map(|own| own.iter());
            scopes[space as usize].reserve(own.filter(|one| one.kind.space() == space).count());
        }
        for (file, own) in texts.iter().enumerate() {
            for (at, declaration) in own.iter().enumerate() {
                let (thing, name) = (Found { file, at }, &declaration.name);
                let space = declaration.kind.space();
                let holder = declaration.holder.and_then(|holder| own.get(holder));
                let scope = &mut scopes[space as usize];
                // The checker reports duplicates; the first declaration keeps the name.
                let _ = match holder.filter(|_| space == Space::Types) {
                    Some(tool) => scope.enter_local((file, tool.node), name, thing),
                    None => scope.enter(file, name, thing),
                };
            }
        }
        Self { texts, scopes }
    }

    /// A declaration that was found.
    pub fn declaration(&self, found: Found) -> Option<&Declaration> {
        self.texts.get(found.file)?.get(found.at)
    }

    /// The declarations of a text.
    pub fn of(&self, file: usize) -> &[Declaration] {
        self.texts.get(file).map(|own| own.as_slice()).unwrap_or_default()
    }

    /// The declarations of a text, to keep.
    pub fn list(&self, file: usize) -> Arc<Vec<Declaration>> {
        self.texts.get(file).cloned().unwrap_or_default()
    }

    /// All declarations, in the order of the texts.
    pub fn all(&self) -> impl Iterator<Item = (Found, &Declaration)> {
        self.texts.iter().enumerate().flat_map(|(file, own)| {
            own.iter().enumerate().map(move |(at, declaration)| (Found { file, at }, declaration))
        })
    }

    /// What a name means in a text, inside of one of its declarations: one thing; several where
    /// nothing says which; or nothing.
    pub fn find(&self, file: usize, holder: Option<usize>, space: Space, name: &str) -> Vec<Found> {
        let mut local = holder.and_then(|at| self.texts.get(file)?.get(at));
        // A type in a tool sees what the tool does.
        while let Some(inner) = local.filter(|inner| inner.kind != Kind::Tool) {
            local = inner.holder.and_then(|at| self.texts.get(file)?.get(at));
        }
        let local = local.map(|tool| (file, tool.node));
        match self.scopes[space as usize].find(file, local, name) {
            Meaning::Unknown => Vec::new(),
            Meaning::One(_, found) => vec![found],
            // Tools and libraries have their names in all texts: the first one counts.
            Meaning::Ambiguous((_, first), _)
                if matches!(space, Space::Tools | Space::Libraries) =>
            {
                vec![first]
            }
            Meaning::Ambiguous(..) => {
                let all = self.all().filter(|(_, one)| one.kind.space() == space);
                let same = all.filter(|(_, one)| one.name == name && one.holder.is_none());
                same.map(|(found, _)| found).collect()
            }
        }
    }

    /// What a use means.
    pub fn meaning(&self, file: usize, used: &Use) -> Vec<Found> {
        self.find(file, used.holder, used.space, &used.name)
    }
}
