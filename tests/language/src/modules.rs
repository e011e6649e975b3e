//! Random modules, as the checker could have made them, and values for their types.
//!
//! They are made without any text, so that what prints them is tested against the model and not
//! against hand-written texts. A value always matches its attributes: the
//! checker refuses other modules.
//!
//! Types may refer to types that are not made yet, and what these turn out to be may contradict
//! what was said of a value before. So a module is made whole first, and then what is not true of
//! it is taken out.

mod bound;
mod declared;
mod repair;
mod types;
mod values;
mod visit;
mod words;

use std::ops::Range;
use std::rc::Rc;

use gramc_model::{
    Agent, Api, Container, Field, Module, Optionality, Output, Root, Source, Term, Tool, TypeId,
    Types, ValueSource,
};
use serde_json::Value;

use crate::reading::VERBATIM;
use crate::rng::Rng;

pub use visit::{type_uses, with_tool};

/// Which numbers modules contain.
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
    /// The declared types so far. Those that are not made yet have no name.
    types: Rc<Types>,
    /// The declared types that may be named: those of the top level, and of the tool that is made.
    visible: Vec<TypeId>,
    /// The declared types that are still to be made.
    coming: Range<u32>,
    /// Whether those may be named here, too: a value need not hold one.
    ahead: bool,
    /// Whether a list, tuple or object holds what is made.
    below: bool,
    /// How many parts the value that is made may still have.
    fuel: usize,
}

/// Attributes of tools and agents that are true or false.
const FLAGS: [&str; 4] = ["readOnly", "destructive", "idempotent", "openWorld"];

/// Attributes of tools, containers and agents that are part of the model, and so not only kept.
const READ: [&str; 16] = [
    "description",
    "title",
    "deprecated",
    "open",
    "instruction",
    "model",
    "maxIterations",
    "api",
    "result",
    "source",
    "requires",
    "schema",
    "defs",
    "schemaTitle",
    "schemaDescription",
    "schemaExtensions",
];

/// How deep the fields of objects nest.
const DEPTH: usize = 4;

impl<'r> Modules<'r> {
    /// A maker that takes its choices from `rng`.
    pub fn new(rng: &'r mut Rng, numbers: Numbers) -> Self {
        Self {
            rng,
            numbers,
            types: Rc::default(),
            visible: Vec::new(),
            coming: 0..0,
            ahead: false,
            below: false,
            fuel: 0,
        }
    }

    /// A module.
    pub fn module(&mut self) -> Module {
        let (tools, containers) = (self.rng.below(4), self.rng.below(5).saturating_sub(3));
        let agents = self.rng.below(3);
        let mut module = self.module_of(tools, containers, agents);
        (module.libraries, module.experiments) = self.bound();
        module
    }

    /// A module with one tool.
    pub fn one_tool(&mut self) -> Module {
        loop {
            let module = self.module_of(1, 0, 0);
            if !module.tools.is_empty() {
                return module;
            }
        }
    }

    /// A module with about as many of each.
    fn module_of(&mut self, tools: usize, containers: usize, agents: usize) -> Module {
        let mut module = Module::default();
        self.types = Rc::default();
        self.visible.clear();
        self.top_level_types();
        let count = self.rng.below(3);
        for name in self.names(count) {
            module.terms.push(Term { field: self.parameter(name) });
        }
        let names = self.names(tools + containers + agents);
        for (at, name) in names.iter().enumerate() {
            if at < tools {
                module.tools.push(self.tool(name));
            } else if at < tools + containers {
                let members = &names[..tools.min(names.len())];
                module.containers.push(self.container(name, members));
            } else {
                module.agents.push(self.agent(name, &names));
            }
        }
        module.types = Rc::unwrap_or_clone(std::mem::take(&mut self.types));
        repair::repair(&mut module);
        self.types = Rc::new(module.types.clone());
        module
    }

    /// A tool, and the types inside of it.
    fn tool(&mut self, name: &str) -> Tool {
        let outside = self.visible.clone();
        let types = self.local_types();
        let count = self.rng.below(4);
        let names = self.names(count);
        let parameters = names.into_iter().map(|name| self.parameter(name)).collect();
        let (type_use, _) = self.type_use(2);
        let tool = Tool {
            name: name.into(),
            description: self.rng.chance(50).then(|| self.text().into()),
            title: self.rng.chance(20).then(|| self.text().into()),
            deprecated: self.rng.chance(10),
            parameters,
            result: Output { name: self.rng.chance(20).then(|| self.name().into()), type_use },
            open: self.open(),
            root: None,
            types,
            attributes: self.attributes(),
        };
        let root = self.root(&tool);
        self.visible = outside;
        Tool { root, ..tool }
    }

    /// What is said of a tool's parameter object.
    fn root(&mut self, tool: &Tool) -> Option<Box<Root>> {
        if !self.rng.chance(30) {
            return None;
        }
        let mut defs = self.visible.clone();
        defs.retain(|_| self.rng.chance(20));
        let schema = |text: &str| serde_json::from_str(text).expect("a schema");
        let objects = VERBATIM.iter().filter(|(text, _)| text.starts_with("{\"type\":\"object\""));
        let objects: Vec<&str> = objects.map(|(text, _)| *text).collect();
        let root = Root {
            title: self.maybe(()).map(|()| self.text().into()),
            description: self.maybe(()).map(|()| self.text().into()),
            requires: self.requires(&tool.parameters),
            patterns: self.patterns(),
            defs,
            verbatim: self.rng.chance(10).then(|| schema(self.rng.pick(&objects))),
            extensions: if self.rng.chance(30) { self.extensions(false) } else { Vec::new() },
        };
        (root != Root::default()).then(|| Box::new(root))
    }

    fn container(&mut self, name: &str, tools: &[String]) -> Container {
        let members = tools.iter().filter(|_| self.rng.chance(60));
        let members = members.map(|member| member.as_str().into()).collect();
        Container {
            name: name.into(),
            description: self.rng.chance(50).then(|| self.text().into()),
            source: Source::ALL[self.rng.below(Source::ALL.len())],
            members,
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
            models: (0..self.rng.below(3)).map(|at| format!("openai/gpt-{at}").into()).collect(),
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
        field.source = match self.rng.below(12) {
            0 => ValueSource::Injected,
            1 => self
                .one_of(&values)
                .map_or(ValueSource::Model, |value| ValueSource::Pinned(Box::new(value))),
            _ => ValueSource::Model,
        };
        field.secret = self.rng.chance(5);
        field
    }

    /// A field, and values that it takes.
    fn field(&mut self, name: String, depth: usize) -> (Field, Vec<Value>) {
        let optionality = match self.rng.below(6) {
            0 => Optionality::Optional,
            1 => Optionality::Required,
            _ => Optionality::ByDefault,
        };
        let (type_use, values) =
            self.within(optionality == Optionality::Optional, |this| this.type_use(depth));
        let name = name.into();
        (Field { name, type_use, optionality, source: ValueSource::Model, secret: false }, values)
    }
}
