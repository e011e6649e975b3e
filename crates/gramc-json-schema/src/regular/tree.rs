//! Sequences, alternatives and repetitions: the form of regular expressions and of rules.

use std::hash::Hash;

/// Made by the functions below, which keep it simple: nothing nested that need not be, and
/// [`Tree::NEVER`] only by itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Tree<L> {
    /// A part without parts.
    Leaf(L),
    /// One after the other. Without parts, the empty text.
    Seq(Vec<Self>),
    /// One of these. Without alternatives, no text at all.
    Alt(Vec<Self>),
    /// Repeated, at least and at most so many times.
    Repeat(Box<Self>, u32, Option<u32>),
}

/// The parts that trees are made of.
pub trait Leaf: Clone + Eq + Hash {
    /// Removes repeated alternatives, and joins others where one can replace them.
    fn simplify(alternatives: Vec<Tree<Self>>) -> Vec<Tree<Self>>;

    /// Repeats a tree, at least and at most so many times.
    fn repeat(part: Tree<Self>, least: u32, most: Option<u32>) -> Tree<Self>;
}

impl<L> Tree<L> {
    /// No text.
    pub const NEVER: Self = Self::Alt(Vec::new());
    /// The empty text.
    pub const EMPTY: Self = Self::Seq(Vec::new());

    /// Whether it has no text by its form.
    pub fn is_never(&self) -> bool {
        matches!(self, Self::Alt(alternatives) if alternatives.is_empty())
    }

    /// Parts, one after the other.
    pub fn seq(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                never if never.is_never() => return Self::NEVER,
                Self::Seq(more) => flat.extend(more),
                other => flat.push(other),
            }
        }
        if flat.len() == 1 { flat.swap_remove(0) } else { Self::Seq(flat) }
    }

    /// The leaves, from left to right.
    pub fn leaves(&self) -> Vec<&L> {
        match self {
            Self::Leaf(leaf) => vec![leaf],
            Self::Seq(parts) | Self::Alt(parts) => parts.iter().flat_map(Self::leaves).collect(),
            Self::Repeat(part, ..) => part.leaves(),
        }
    }
}

impl<L: Leaf> Tree<L> {
    /// One of some alternatives.
    pub fn alt(alternatives: impl IntoIterator<Item = Self>) -> Self {
        let mut flat = Vec::new();
        for alternative in alternatives {
            match alternative {
                Self::Alt(more) => flat.extend(more),
                other => flat.push(other),
            }
        }
        let mut flat = L::simplify(flat);
        if flat.len() > 1
            && let Some(at) = flat.iter().position(|it| *it == Self::EMPTY)
        {
            flat.remove(at);
            return Self::alt(flat).optional();
        }
        if flat.len() == 1 { flat.swap_remove(0) } else { Self::Alt(flat) }
    }

    /// A repetition, at least and at most so many times.
    #[must_use]
    pub fn repeat(self, least: u32, most: Option<u32>) -> Self {
        L::repeat(self, least, most)
    }

    /// Itself or the empty text.
    #[must_use]
    pub fn optional(self) -> Self {
        self.repeat(0, Some(1))
    }
}
