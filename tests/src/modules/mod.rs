//! Random modules, as the checker could have made them, and values for their types.
//!
//! They are made without any text, so that what prints them is tested against the model and not
//! against texts that somebody thought of. Whatever attributes say of a value is true of it: the
//! checker refuses other modules.

mod types;
mod values;
mod words;

use gram_schema::model::{Agent, Api, Field, Host, Module, Output, Presence, Term, Tool};
use serde_json::Value;

use crate::rng::Rng;

/// Which numbers stand in modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// All that JSON can write.
    Exact,
    /// Those that a double holds, for programs that know no others.
    Doubles,
}

/// A maker of modules.
#[derive(Debug)]
pub struct Modules<'r> {
    rng: &'r mut Rng,
    numbers: Numbers,
}

/// Attributes of tools and agents that are true or false.
const FLAGS: [&str; 4] = ["readOnly", "destructive", "idempotent", "openWorld"];

/// Attributes of tools and agents that are part of the model, and so not only kept.
const READ: [&str; 9] = [
    "description",
    "title",
    "deprecated",
    "open",
    "instruction",
    "model",
    "maxIterations",
    "api",
    "result",
];

/// How deep the fields of objects nest.
const DEPTH: usize = 4;

impl<'r> Modules<'r> {
    /// A maker that takes its choices from `rng`.
    pub fn new(rng: &'r mut Rng, numbers: Numbers) -> Self {
        Self { rng, numbers }
    }

    /// A module.
    pub fn module(&mut self) -> Module {
        let mut module = Module::default();
        let count = self.rng.below(3);
        for name in self.names(count) {
            module.terms.push(Term { field: self.parameter(name) });
        }
        let (tools, agents) = (self.rng.below(4), self.rng.below(3));
        let names = self.names(tools + agents);
        for (at, name) in names.iter().enumerate() {
            if at < tools {
                module.tools.push(self.tool(name));
            } else {
                module.agents.push(self.agent(name, &names));
            }
        }
        module
    }

    /// A tool.
    pub fn tool(&mut self, name: &str) -> Tool {
        let count = self.rng.below(4);
        let names = self.names(count);
        let parameters = names.into_iter().map(|name| self.parameter(name)).collect();
        let (slot, _) = self.slot(2);
        Tool {
            name: name.into(),
            description: self.rng.chance(50).then(|| self.text().into()),
            title: self.rng.chance(20).then(|| self.text().into()),
            deprecated: self.rng.chance(10),
            parameters,
            result: Output { name: self.rng.chance(20).then(|| self.name().into()), slot },
            open: self.open(),
            attributes: self.attributes(),
        }
    }

    fn agent(&mut self, name: &str, names: &[String]) -> Agent {
        let members = names.iter().filter(|member| *member != name && self.rng.chance(60));
        let members = members.map(|member| member.as_str().into()).collect();
        Agent {
            name: name.into(),
            description: self.rng.chance(50).then(|| self.text().into()),
            instruction: self.rng.chance(50).then(|| self.text().into()),
            model: self.rng.chance(50).then(|| "openai/gpt-4o-mini".into()),
            max_iterations: if self.rng.chance(50) { 10 } else { u64::MAX },
            api: if self.rng.chance(80) { Api::Tools } else { Api::Functions },
            result: self.rng.chance(30).then(|| self.ty(2)),
            members,
            attributes: self.attributes(),
        }
    }

    /// What a tool or an agent only keeps. Titles of agents are kept, too, but not of tools.
    fn attributes<K: From<&'static str> + From<String>>(&mut self) -> Vec<(K, Value)> {
        let mut attributes = Vec::new();
        for flag in FLAGS {
            if self.rng.chance(5) {
                attributes.push((flag.into(), Value::Bool(self.rng.chance(50))));
            }
        }
        let count = self.rng.below(3);
        for name in self.names(count) {
            if !READ.contains(&name.as_str()) {
                attributes.push((name.into(), self.any_value(3)));
            }
        }
        attributes
    }

    /// A parameter.
    fn parameter(&mut self, name: String) -> Field {
        let (mut field, values) = self.field(name, DEPTH);
        field.host = match self.rng.below(12) {
            0 => Host::Injected,
            1 => self.one_of(&values).map_or(Host::No, |value| Host::Pinned(Box::new(value))),
            _ => Host::No,
        };
        field.secret = self.rng.chance(5);
        field
    }

    /// A field, and values that it takes.
    fn field(&mut self, name: String, depth: usize) -> (Field, Vec<Value>) {
        let (slot, values) = self.slot(depth);
        let presence = match self.rng.below(6) {
            0 => Presence::Optional,
            1 => Presence::Required,
            _ => Presence::ByDefault,
        };
        let name = name.into();
        (Field { name, slot, presence, host: Host::No, secret: false }, values)
    }
}
