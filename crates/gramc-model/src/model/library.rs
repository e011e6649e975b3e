//! Libraries and experiments: what is bound to tools at run time, as data.

use serde_json::Value;
use smol_str::SmolStr;

use super::{Field, Output};
use crate::attributes::ImplementationKind;

/// Implementations to bind to tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Library {
    /// Its name, as written.
    pub name: SmolStr,
    /// What it is for.
    pub description: Option<SmolStr>,
    /// Its implementations, in order; no two of them name one tool.
    pub implementations: Vec<Implementation>,
    /// Its policy and all other attributes, in order. Times and sizes are the text that they are
    /// written as, see [`units`](crate::units).
    pub attributes: Vec<(SmolStr, Value)>,
}

impl Library {
    /// The implementation of the tool of the given name.
    pub fn implementation(&self, tool: &str) -> Option<&Implementation> {
        self.implementations.iter().find(|implementation| implementation.tool == tool)
    }
}

/// The name of an implementation that binds all tools of an MCP server.
pub const WHOLE_SERVER: &str = "*";

/// What a library runs for a tool.
#[derive(Debug, Clone)]
pub struct Implementation {
    /// The tool's name, or [`WHOLE_SERVER`]. Nothing says that the tool is declared in the same
    /// texts.
    pub tool: SmolStr,
    /// What kind of thing is run.
    pub kind: ImplementationKind,
    /// All attributes, in order. Those that its kind needs are there, and of the right kind.
    pub attributes: Vec<(SmolStr, Value)>,
    /// What its attribute `signature` says. Nothing where there is none, or where it names a type
    /// that none of the texts declares: the specification that it is bound to may.
    pub signature: Option<Signature>,
}

/// What an implementation takes and gives, by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// What it takes.
    pub parameters: Vec<Field>,
    /// What it gives back.
    pub result: Output,
}

impl PartialEq for Implementation {
    fn eq(&self, other: &Self) -> bool {
        // The signature follows from its attribute and the declared types.
        self.tool == other.tool && self.kind == other.kind && self.attributes == other.attributes
    }
}

impl Implementation {
    /// The value of an attribute.
    pub fn attribute(&self, key: &str) -> Option<&Value> {
        self.attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }
}

/// The outcomes by which arms are compared, as `primary` names them.
pub const OUTCOMES: [&str; 11] = [
    "success",
    "score",
    "preference",
    "calls",
    "refused",
    "repairs",
    "attempts",
    "iterations",
    "tokens",
    "cost",
    "latency",
];

/// A comparison of arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name, as written.
    pub name: SmolStr,
    /// What it is to find out.
    pub description: Option<SmolStr>,
    /// The arms that it compares, in order; at least two.
    pub arms: Vec<ExperimentArm>,
    /// All other attributes, in order, as written.
    pub attributes: Vec<(SmolStr, Value)>,
}

/// An arm of an experiment: `stable`, or `(a:Arm {library: "stable", model: "openai/gpt-4o-mini"})`.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentArm {
    /// Its name. That of the library if it is written as one.
    pub name: SmolStr,
    /// The name of its library.
    pub library: SmolStr,
    /// Whether it is written as the name of a library.
    pub is_library: bool,
    /// What it has of its own, in order, as written: `spec`, `agent`, and attributes of the agent.
    pub attributes: Vec<(SmolStr, Value)>,
}
