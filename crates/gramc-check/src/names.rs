//! The names of texts: where each is declared and where it is used, errors or not.
//!
//! The checker resolves names; an editor needs the reverse: the name at a position, and its other
//! occurrences.

mod declared;
mod uses;

use std::sync::Arc;

use gramc_model::attributes::AttributeOwner;
use gramc_syntax::{NodeId, Span};
use smol_str::SmolStr;

use crate::agent::article;
use crate::{ImportGraph, Meaning, Scopes};

pub use declared::declarations;
pub use uses::{signature_text, type_word, types_in, uses, values_in};

/// What shares names: two things of one space cannot have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Tools, containers and agents.
    Tools,
    /// Types.
    Types,
    /// Vocabulary terms.
    Terms,
    /// Libraries and experiments.
    Libraries,
}

impl Space {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Types, Self::Terms, Self::Libraries];
}

/// What is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A tool.
    Tool,
    /// An agent.
    Agent,
    /// A container.
    Container,
    /// An object type.
    Record,
    /// A closed set of texts.
    Enum,
    /// One of several types.
    Union,
    /// A name for a constrained type.
    Alias,
    /// A library.
    Library,
    /// An experiment.
    Experiment,
    /// A vocabulary term.
    Term,
}

impl Kind {
    /// All that a label declares.
    pub const LABELLED: [Self; 9] = [
        Self::Tool,
        Self::Agent,
        Self::Container,
        Self::Record,
        Self::Enum,
        Self::Union,
        Self::Alias,
        Self::Library,
        Self::Experiment,
    ];

    /// The label that declares it; none of a term.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Tool => "Tool",
            Self::Agent => "Agent",
            Self::Container => "Container",
            Self::Record => "Record",
            Self::Enum => "Enum",
            Self::Union => "Union",
            Self::Alias => "Alias",
            Self::Library => "Library",
            Self::Experiment => "Experiment",
            Self::Term => "",
        }
    }

    /// What a label declares.
    pub fn of_label(label: &str) -> Option<Self> {
        Self::LABELLED.into_iter().find(|kind| kind.label() == label)
    }

    /// What it shares names with.
    pub const fn space(self) -> Space {
        match self {
            Self::Tool | Self::Agent | Self::Container => Space::Tools,
            Self::Record | Self::Enum | Self::Union | Self::Alias => Space::Types,
            Self::Library | Self::Experiment => Space::Libraries,
            Self::Term => Space::Terms,
        }
    }

    /// The owner of its attributes in the table of attributes.
    pub const fn attribute_owner(self) -> AttributeOwner {
        match self {
            Self::Tool => AttributeOwner::Tool,
            Self::Agent => AttributeOwner::Agent,
            Self::Container => AttributeOwner::Container,
            Self::Library => AttributeOwner::Library,
            Self::Experiment => AttributeOwner::Experiment,
            Self::Union => AttributeOwner::Union,
            Self::Record => AttributeOwner::Record,
            Self::Enum => AttributeOwner::Enum,
            Self::Alias => AttributeOwner::Alias,
            Self::Term => AttributeOwner::Field,
        }
    }

    /// Whether it is a declared type.
    pub fn is_type(self) -> bool {
        self.space() == Space::Types
    }

    /// The word for it in sentences.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Agent => "agent",
            Self::Container => "container",
            Self::Record => "record",
            Self::Enum => "enum",
            Self::Union => "union",
            Self::Alias => "alias",
            Self::Library => "library",
            Self::Experiment => "experiment",
            Self::Term => "vocabulary term",
        }
    }
}

impl Kind {
    /// The word with its article.
    pub fn noun(self) -> String {
        let word = self.word();
        format!("{} {word}", article(word))
    }

    /// What it is for.
    pub const fn documentation(self) -> &'static str {
        match self {
            Self::Tool => "A function that a model may call: parameters, then a result.",
            Self::Agent => "A model with an instruction and the tools that it may call.",
            Self::Container => "Tools that a model sees as one until it asks for them.",
            Self::Record => "An object type with named fields.",
            Self::Enum => "A closed set of strings.",
            Self::Union => "One of several types.",
            Self::Alias => "A name for a type with constraints.",
            Self::Library => "Implementations of tools, which are bound when an agent runs.",
            Self::Experiment => "A comparison of arms, each of which runs the same cases.",
            Self::Term => "A parameter or field that several declarations share.",
        }
    }
}

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
