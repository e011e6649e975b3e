//! The kinds of declarations, and the spaces of names that they share.

use gramc_model::attributes::AttributeOwner;

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

/// The label, the word in sentences, the space of names and the owner of attributes of each kind.
const ROWS: [(&str, &str, Space, AttributeOwner); 10] = [
    ("Tool", "tool", Space::Tools, AttributeOwner::Tool),
    ("Agent", "agent", Space::Tools, AttributeOwner::Agent),
    ("Container", "container", Space::Tools, AttributeOwner::Container),
    ("Record", "record", Space::Types, AttributeOwner::Record),
    ("Enum", "enum", Space::Types, AttributeOwner::Enum),
    ("Union", "union", Space::Types, AttributeOwner::Union),
    ("Alias", "alias", Space::Types, AttributeOwner::Alias),
    ("Library", "library", Space::Libraries, AttributeOwner::Library),
    ("Experiment", "experiment", Space::Libraries, AttributeOwner::Experiment),
    ("", "vocabulary term", Space::Terms, AttributeOwner::Field),
];

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
        ROWS[self as usize].0
    }

    /// What a label declares.
    pub fn of_label(label: &str) -> Option<Self> {
        Self::LABELLED.into_iter().find(|kind| kind.label() == label)
    }

    /// The type that a label declares.
    pub(crate) fn of_type_label(label: &str) -> Option<Self> {
        Self::of_label(label).filter(|kind| kind.is_type())
    }

    /// An example of a type declaration.
    pub(crate) const fn example(self) -> &'static str {
        match self {
            Self::Record => "[Address::Record | (street::Text), (city::Text)]",
            Self::Enum => "[Unit::Enum | celsius, fahrenheit]",
            Self::Union => "[Answer::Union | Text, `Int[]`]",
            _ => "[Age::Alias | (::Integer {range: 0..150})]",
        }
    }

    /// What it shares names with.
    pub const fn space(self) -> Space {
        ROWS[self as usize].2
    }

    /// The owner of its attributes in the table of attributes.
    pub const fn attribute_owner(self) -> AttributeOwner {
        ROWS[self as usize].3
    }

    /// Whether it is a declared type.
    pub fn is_type(self) -> bool {
        self.space() == Space::Types
    }

    /// The word for it in sentences.
    pub const fn word(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// The word with its article.
    pub fn noun(self) -> String {
        let word = self.word();
        let article = if word.starts_with(['a', 'e']) { "an" } else { "a" };
        format!("{article} {word}")
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
