//! The tools of an agent, as its model sees them.

use std::collections::HashMap;

use gram_schema::Target;
use gram_schema::emit::{Compilation, Entry};
use gram_schema::lower::Restore;
use gram_schema::model::{Agent, Module, Valid};
use gram_tools::Session;
use serde_json::Value;
use smol_str::SmolStr;

use crate::message::{Message, ModelCall, Said};

/// What a model may call, in order.
#[derive(Debug)]
pub(crate) struct Tools {
    all: Vec<Offered>,
    /// The names that the target takes, to places in `all`.
    by_name: HashMap<String, usize>,
    /// What is offered at first, in the target's form.
    at_first: Vec<Value>,
    /// Whether containers make more of it.
    grows: bool,
    /// Whether the target takes other names than the specification's.
    renamed: bool,
}

/// Something that a model may call.
#[derive(Debug)]
struct Offered {
    name: SmolStr,
    json: Value,
    restore: Restore,
    /// Whether it is seen only when a container is expanded.
    hidden: bool,
}

impl Tools {
    /// What an agent may call: its members, and the functions of its containers.
    pub(crate) fn new(module: &Valid<Module>, agent: &Agent, target: Target) -> Self {
        let compilation = Compilation::whole(module, target);
        let entries: HashMap<&str, Entry<'_>> =
            compilation.entries().iter().map(|entry| (entry.name(), *entry)).collect();
        let mut tools = Self {
            all: Vec::new(),
            by_name: HashMap::new(),
            at_first: Vec::new(),
            grows: false,
            renamed: false,
        };
        let containers: Vec<_> =
            agent.members.iter().filter_map(|name| module.container(name)).collect();
        for name in &agent.members {
            if let Some(entry) = entries.get(name.as_str()) {
                tools.offer(&compilation, *entry, false);
            }
            let container = containers.iter().find(|container| container.name == *name);
            for function in container.into_iter().flat_map(|container| &container.members) {
                // A function that is a member of the agent, too, is always seen.
                if !agent.members.contains(function)
                    && let Some(entry) = entries.get(function.as_str())
                {
                    tools.offer(&compilation, *entry, true);
                }
            }
        }
        tools
    }

    fn offer(&mut self, compilation: &Compilation<'_>, entry: Entry<'_>, hidden: bool) {
        let own = entry.name();
        let name = compilation.name_of(own).to_owned();
        if self.by_name.contains_key(&name) {
            return;
        }
        let compiled = compilation.compile(entry);
        let restore = compiled.restore().into_owned();
        let json = compiled.into_json();
        self.renamed |= name != own;
        self.grows |= hidden;
        if !hidden {
            self.at_first.push(json.clone());
        }
        self.by_name.insert(name, self.all.len());
        self.all.push(Offered { name: own.into(), json, restore, hidden });
    }

    /// What is offered now, in the target's form.
    pub(crate) fn now(&self, session: &Session) -> std::borrow::Cow<'_, [Value]> {
        if !self.grows {
            return self.at_first.as_slice().into();
        }
        let visible = session.visible();
        let seen = |it: &&Offered| !it.hidden || visible.contains(&it.name);
        self.all.iter().filter(seen).map(|it| it.json.clone()).collect::<Vec<_>>().into()
    }

    /// All that there is, in the target's form: at first, and with all containers expanded.
    pub(crate) fn sizes(&self) -> (&[Value], impl Iterator<Item = &Value>) {
        (&self.at_first, self.all.iter().map(|it| &it.json))
    }

    /// All that there is: its own name, its form, and whether only a container shows it.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&SmolStr, &Value, bool)> {
        self.all.iter().map(|it| (&it.name, &it.json, it.hidden))
    }

    /// The conversation with the names that the target takes.
    pub(crate) fn named<'m>(&self, messages: &'m [Message]) -> std::borrow::Cow<'m, [Message]> {
        if !self.renamed {
            return messages.into();
        }
        let names: HashMap<&str, &str> = self
            .by_name
            .iter()
            .filter_map(|(name, at)| Some((self.all.get(*at)?.name.as_str(), name.as_str())))
            .collect();
        let other =
            |name: &str| names.get(name).map_or_else(|| name.to_owned(), |&it| it.to_owned());
        let renamed = messages.iter().map(|message| match message {
            Message::User { .. } => message.clone(),
            Message::Tool { id, name, content } => {
                Message::Tool { id: id.clone(), name: other(name), content: content.clone() }
            }
            Message::Assistant(said) => {
                let calls = said.tool_calls.iter();
                let calls = calls.map(|call| ModelCall { name: other(&call.name), ..call.clone() });
                Message::Assistant(Said { tool_calls: calls.collect(), ..said.clone() })
            }
        });
        renamed.collect::<Vec<_>>().into()
    }

    /// A call under the specification's own names, with arguments for the tool's own schema.
    pub(crate) fn restored(&self, mut call: ModelCall) -> ModelCall {
        let Some(offered) = self.by_name.get(&call.name).and_then(|&at| self.all.get(at)) else {
            return call;
        };
        if call.name != offered.name {
            offered.name.as_str().clone_into(&mut call.name);
        }
        if !offered.restore.is_identity()
            && let Ok(arguments) = serde_json::from_str(&call.arguments)
        {
            call.arguments = offered.restore.arguments(arguments).to_string();
        }
        call
    }
}
