//! The model: what a module declares, free of syntax.
//!
//! Names are resolved, attributes are read, and uses of vocabulary terms have their types and
//! attributes. Source locations are stored separately, in [`Spans`].

mod constraint;
mod library;
mod types;

use serde_json::Value;
use smol_str::SmolStr;

use crate::spans::Spans;
pub use constraint::{Constraint, ConstraintKind, ConstraintValue};
pub use library::{
    Experiment, ExperimentArm, Implementation, Library, OUTCOMES, Signature, WHOLE_SERVER,
};
pub use types::{FieldPattern, ObjectType, Open, Type, TypeDeclaration, TypeId, TypeKind, Types};

/// All declarations of the texts that were checked together.
///
/// Modules are equal if their declarations are, wherever they are in the source.
#[derive(Debug, Default)]
pub struct Module {
    /// All tools, in the order of the texts, those inside agents included.
    pub tools: Vec<Tool>,
    /// All agents, in the order of the texts.
    pub agents: Vec<Agent>,
    /// All containers, in the order of the texts, those inside agents included.
    pub containers: Vec<Container>,
    /// All libraries, in the order of the texts.
    pub libraries: Vec<Library>,
    /// All experiments, in the order of the texts.
    pub experiments: Vec<Experiment>,
    /// The vocabulary, in the order of the texts.
    pub terms: Vec<Term>,
    /// All declared types, those inside tools included. A [`TypeId`] is a place in it.
    pub types: Types,
    /// Where the declarations are in their texts.
    pub spans: Spans,
}

impl Module {
    /// The source locations of the declarations.
    pub fn spans(&self) -> &Spans {
        &self.spans
    }

    /// The tool of the given name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The agent of the given name.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// The library of the given name.
    pub fn library(&self, name: &str) -> Option<&Library> {
        self.libraries.iter().find(|library| library.name == name)
    }

    /// The experiment of the given name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == name)
    }

    /// The container of the given name.
    pub fn container(&self, name: &str) -> Option<&Container> {
        self.containers.iter().find(|container| container.name == name)
    }
}

impl PartialEq for Module {
    fn eq(&self, other: &Self) -> bool {
        self.tools == other.tools
            && self.agents == other.agents
            && self.containers == other.containers
            && self.libraries == other.libraries
            && self.experiments == other.experiments
            && self.terms == other.terms
            && self.types == other.types
    }
}

/// A tool: its name, signature and attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name, as written.
    pub name: SmolStr,
    /// What it does, for the model that calls it.
    pub description: Option<SmolStr>,
    /// A name for people.
    pub title: Option<SmolStr>,
    /// Whether it should no longer be used.
    pub deprecated: bool,
    /// What the model supplies, in the order of the signature.
    pub parameters: Vec<Field>,
    /// What comes back.
    pub result: Output,
    /// Whether the parameter object may hold more than the parameters.
    pub open: Open,
    /// Other attributes of the parameter object.
    pub root: Option<Box<Root>>,
    /// The types that are declared inside of it, in order.
    pub types: Vec<TypeId>,
    /// All other attributes, in order, as written.
    pub attributes: Vec<(SmolStr, Value)>,
}

impl Tool {
    /// Whether an attribute is true, such as `readOnly`.
    pub fn is_set(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|(key, value)| key == attribute && *value == true)
    }

    /// A tool with nothing but a name and a signature.
    pub fn of_signature(name: impl Into<SmolStr>, parameters: Vec<Field>, result: Output) -> Self {
        Self {
            name: name.into(),
            description: None,
            title: None,
            deprecated: false,
            parameters,
            result,
            open: Open::Unsaid,
            root: None,
            types: Vec::new(),
            attributes: Vec::new(),
        }
    }

    /// The type of the arguments that a model sends. Undeclared ones are errors, unless the tool is open.
    pub fn arguments_type(&self) -> Type {
        let is_sent = |field: &&Field| field.source != ValueSource::Injected;
        Type::Object(Box::new(ObjectType {
            fields: Some(self.parameters.iter().filter(is_sent).cloned().collect()),
            requires: self.root.as_deref().map_or_else(Vec::new, |root| root.requires.clone()),
            patterns: self.patterns().to_vec(),
            open: if self.open == Open::Unsaid { Open::No } else { self.open.clone() },
        }))
    }

    /// The types of arguments by patterns of their names.
    pub fn patterns(&self) -> &[FieldPattern] {
        self.root.as_deref().map_or(&[], |root| &root.patterns)
    }

    /// The types that arguments without a declaration have.
    pub fn undeclared_types(&self) -> impl Iterator<Item = &Type> {
        types::undeclared_types(self.patterns(), &self.open)
    }
}

/// Attributes of a tool's parameter object, apart from those of the tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Root {
    /// The schema's own title.
    pub title: Option<SmolStr>,
    /// The schema's own description.
    pub description: Option<SmolStr>,
    /// Names that `required` holds though no parameter has them.
    pub requires: Vec<SmolStr>,
    /// The types of arguments by patterns of their names.
    pub patterns: Vec<FieldPattern>,
    /// Unreferenced types in `$defs`.
    pub defs: Vec<TypeId>,
    /// The schema, word for word, in the place of the one that the signature gives.
    pub verbatim: Option<Value>,
    /// Keywords that gram has no word for, written as they are.
    pub extensions: Vec<(SmolStr, Value)>,
}

/// A group of tools that a model expands before it uses one.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// Its name, as written.
    pub name: SmolStr,
    /// What its tools are for.
    pub description: Option<SmolStr>,
    /// Where its tools come from.
    pub source: Source,
    /// The names of its tools, in order.
    pub members: Vec<SmolStr>,
    /// All other attributes, in order, as written.
    pub attributes: Vec<(SmolStr, Value)>,
}

/// Where a container's tools come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// A plugin of the host.
    #[default]
    Plugin,
    /// An MCP server.
    Mcp,
    /// The frontend that shows the conversation.
    Frontend,
    /// A skill.
    Skill,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plugin, Self::Mcp, Self::Frontend, Self::Skill];

    /// Its name in a specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::Mcp => "mcp",
            Self::Frontend => "frontend",
            Self::Skill => "skill",
        }
    }
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its name, where it has one.
    pub name: Option<SmolStr>,
    /// Its type and attributes.
    pub type_use: TypeUse,
}

/// A parameter of a tool, or a field of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The JSON property's name.
    pub name: SmolStr,
    /// Its type and attributes.
    pub type_use: TypeUse,
    /// Whether it can be omitted.
    pub optionality: Optionality,
    /// Where its value comes from.
    pub source: ValueSource,
    /// Whether its value is kept out of messages.
    pub secret: bool,
}

impl Field {
    /// Whether a caller has to supply it.
    pub fn required(&self) -> bool {
        match (&self.source, self.optionality) {
            (ValueSource::Pinned(_) | ValueSource::Injected, _) | (_, Optionality::Optional) => {
                false
            }
            (ValueSource::Model, Optionality::Required) => true,
            (ValueSource::Model, Optionality::ByDefault) => self.type_use.default.is_none(),
        }
    }
}

/// Whether a field can be omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Optionality {
    /// It can be omitted if it has a default.
    #[default]
    ByDefault,
    /// `optional: true`
    Optional,
    /// `optional: false`: it cannot be omitted even if it has a default.
    Required,
}

/// Where a parameter's value comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ValueSource {
    /// The model supplies it.
    #[default]
    Model,
    /// The host sets it to this value, and the model may omit it.
    Pinned(Box<Value>),
    /// The host supplies it when it binds the tool; the model does not see the parameter.
    Injected,
}

/// The use of a type by a field, result, term or declaration, with its attributes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypeUse {
    /// The type.
    pub ty: Type,
    /// What it is for.
    pub description: Option<SmolStr>,
    /// The value of an absent parameter.
    pub default: Option<Box<Value>>,
    /// What narrows the type, in the order of [`Constraint`]'s variants, each at most once.
    pub constraints: Vec<Constraint>,
    /// Attributes that are rarely set.
    pub details: Option<Box<Details>>,
}

impl TypeUse {
    /// A type without attributes.
    pub fn new(ty: Type) -> Self {
        Self { ty, ..Self::default() }
    }

    /// Whether the type has no attributes.
    pub fn is_bare(&self) -> bool {
        self.description.is_none()
            && self.default.is_none()
            && self.constraints.is_empty()
            && self.details.is_none()
    }

    /// Adds a constraint, in the place of one of its kind that is there.
    pub fn constrain(&mut self, constraint: Constraint) {
        Constraint::add(&mut self.constraints, constraint);
    }

    /// The details, added if there are none.
    pub fn details_mut(&mut self) -> &mut Details {
        self.details.get_or_insert_with(Box::default)
    }
}

/// Rare attributes of a type in its place.
#[expect(clippy::struct_excessive_bools, reason = "each is said by an attribute of its own")]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Details {
    /// A name for people.
    pub title: Option<SmolStr>,
    /// Sample values.
    pub examples: Option<Vec<Value>>,
    /// Whether it should no longer be used.
    pub deprecated: bool,
    /// Whether an import took over a default, example or enum that its own type rejects.
    pub unsound: bool,
    /// Whether a tuple may end early, and may hold more than its items.
    pub open_tuple: bool,
    /// Whether the members of a union are written as a list in `type`.
    pub type_list: bool,
    /// Keywords that gram has no word for, written as they are.
    pub extensions: Vec<(SmolStr, Value)>,
    /// The schema of this place, word for word, in the place of the one that the type gives.
    pub verbatim: Option<Box<Value>>,
}

/// A vocabulary term: a name that means the same in every signature.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The name and all that it brings.
    pub field: Field,
}

/// An agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its name, as written.
    pub name: SmolStr,
    /// What it is for.
    pub description: Option<SmolStr>,
    /// What its model is told before the conversation.
    pub instruction: Option<SmolStr>,
    /// Its models as provider and model, such as `openai/gpt-4o-mini`, in order of preference.
    pub models: Vec<SmolStr>,
    /// How often it may ask its model for one user message. Default: 10.
    pub max_iterations: u64,
    /// How it passes tools to the model.
    pub api: Api,
    /// The type of its answers, where they are not free text.
    pub result: Option<Type>,
    /// The names of its tools and agents, in order.
    pub members: Vec<SmolStr>,
    /// All other attributes, in order, as written.
    pub attributes: Vec<(SmolStr, Value)>,
}

/// How an agent passes tools to its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Api {
    /// In the field `tools`.
    #[default]
    Tools,
    /// In the older field `functions`.
    Functions,
}
