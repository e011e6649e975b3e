//! The source locations of the parts of a module.

use std::sync::Arc;

use gramc_syntax::{NodeId, SourceFile, Span};

/// The place of every declaration of a module.
#[derive(Debug, Default)]
pub struct Spans {
    /// The checked texts.
    pub sources: Vec<Arc<SourceFile>>,
    /// The place of each tool.
    pub tools: Vec<Place>,
    /// The place of each agent.
    pub agents: Vec<Place>,
    /// The place of each container.
    pub containers: Vec<Place>,
    /// The place of each library.
    pub libraries: Vec<Place>,
    /// Of each library, the places of its implementations.
    pub implementations: Vec<Vec<Place>>,
    /// The place of each experiment.
    pub experiments: Vec<Place>,
    /// The place of each type.
    pub types: Vec<Place>,
    /// The place of each vocabulary term.
    pub terms: Vec<Place>,
}

/// The place of one declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which of the texts, in the order in which they were checked.
    pub file: usize,
    /// The declaration's node in that text's tree.
    pub node: NodeId,
    /// The declaration's name.
    pub name: Span,
}

impl Spans {
    /// The texts, in the order in which they were checked.
    pub fn sources(&self) -> &[Arc<SourceFile>] {
        &self.sources
    }

    /// The place of the tool of the given index.
    pub fn tool(&self, index: usize) -> Option<Place> {
        self.tools.get(index).copied()
    }

    /// The place of the agent of the given index.
    pub fn agent(&self, index: usize) -> Option<Place> {
        self.agents.get(index).copied()
    }

    /// The place of the container of the given index.
    pub fn container(&self, index: usize) -> Option<Place> {
        self.containers.get(index).copied()
    }

    /// The place of the library of the given index.
    pub fn library(&self, index: usize) -> Option<Place> {
        self.libraries.get(index).copied()
    }

    /// The place of an implementation: of which library, and of which of its implementations.
    pub fn implementation(&self, library: usize, index: usize) -> Option<Place> {
        self.implementations.get(library)?.get(index).copied()
    }

    /// The place of the experiment of the given index.
    pub fn experiment(&self, index: usize) -> Option<Place> {
        self.experiments.get(index).copied()
    }

    /// The place of a declared type.
    pub fn ty(&self, id: crate::model::TypeId) -> Option<Place> {
        self.types.get(id.0 as usize).copied()
    }

    /// The place of the vocabulary term of the given index.
    pub fn term(&self, index: usize) -> Option<Place> {
        self.terms.get(index).copied()
    }
}
