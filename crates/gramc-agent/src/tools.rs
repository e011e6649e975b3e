//! The tools of an agent in the form of its target.

use std::collections::HashMap;

use gramc_check::Valid;
use gramc_model::{Agent, Module};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Entry};
use gramc_schema::lower::Restore;
use gramc_tools::Session;
use serde_json::Value;
use smol_str::SmolStr;

use crate::message::{Message, ModelCall};

/// The tools of an agent, in order.
#[derive(Debug, Default)]
pub(crate) struct AgentTools {
    all: Vec<OfferedTool>,
    /// Indexes into `all` by the tool's name in the target.
    by_name: HashMap<String, usize>,
    /// The tools that are visible before any container is expanded, in the target's form.
    initial: Vec<Value>,
    /// Whether a tool has another name in the target.
    renamed: bool,
}

/// A tool, container or agent.
#[derive(Debug)]
struct OfferedTool {
    name: SmolStr,
    json: Value,
    restore: Restore,
    /// Whether only an expanded container shows it.
    hidden: bool,
}

impl AgentTools {
    /// Compiles the members of an agent and the functions of its containers.
    pub(crate) fn new(module: &Valid<Module>, agent: &Agent, target: Target) -> Self {
        let compilation = Compilation::whole(module, target);
        let entries: HashMap<&str, Entry<'_>> =
            compilation.entries().iter().map(|entry| (entry.name(), *entry)).collect();
        let mut tools = Self::default();
        let containers: Vec<_> =
            agent.members.iter().filter_map(|name| module.container(name)).collect();
        for name in &agent.members {
            if let Some(entry) = entries.get(name.as_str()) {
                tools.add(&compilation, *entry, false);
            }
            let container = containers.iter().find(|container| container.name == *name);
            for function in container.into_iter().flat_map(|container| &container.members) {
                // A function that is also a member of the agent is always visible.
                if !agent.members.contains(function)
                    && let Some(entry) = entries.get(function.as_str())
                {
                    tools.add(&compilation, *entry, true);
                }
            }
        }
        tools
    }

    fn add(&mut self, compilation: &Compilation<'_>, entry: Entry<'_>, hidden: bool) {
        let own = entry.name();
        let name = compilation.name_of(own).to_owned();
        if self.by_name.contains_key(&name) {
            return;
        }
        let compiled = compilation.compile(entry);
        let restore = compiled.restore().into_owned();
        let json = compiled.into_json();
        self.renamed |= name != own;
        if !hidden {
            self.initial.push(json.clone());
        }
        self.by_name.insert(name, self.all.len());
        self.all.push(OfferedTool { name: own.into(), json, restore, hidden });
    }

    /// The tools that are visible in a session, in the target's form.
    pub(crate) fn visible(&self, session: &Session) -> std::borrow::Cow<'_, [Value]> {
        if self.initial.len() == self.all.len() {
            return self.initial.as_slice().into();
        }
        let visible = session.visible();
        let seen = |it: &&OfferedTool| !it.hidden || visible.contains(&it.name);
        self.all.iter().filter(seen).map(|it| it.json.clone()).collect::<Vec<_>>().into()
    }

    /// Whether a name is that of a tool, in the target or in the specification.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name) || self.all.iter().any(|it| it.name == name)
    }

    /// All tools: name in the specification, target's form, and whether only a container shows it.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&SmolStr, &Value, bool)> {
        self.all.iter().map(|it| (&it.name, &it.json, it.hidden))
    }

    /// Renames the calls of a conversation to the target's names.
    pub(crate) fn rename_calls<'m>(
        &self,
        messages: &'m [Message],
    ) -> std::borrow::Cow<'m, [Message]> {
        if !self.renamed {
            return messages.into();
        }
        let names: HashMap<&str, &str> = self
            .by_name
            .iter()
            .filter_map(|(name, at)| Some((self.all.get(*at)?.name.as_str(), name.as_str())))
            .collect();
        let rename = |name: &mut String| {
            if let Some(own) = names.get(name.as_str()) {
                (*own).clone_into(name);
            }
        };
        let mut messages = messages.to_vec();
        for message in &mut messages {
            match message {
                Message::User { .. } => {}
                Message::Tool { name, .. } => rename(name),
                Message::Assistant(message) => {
                    message.tool_calls.iter_mut().for_each(|call| rename(&mut call.name));
                }
            }
        }
        messages.into()
    }

    /// The name of a tool as the specification declares it, and whether the arguments of its calls are
    /// those of the specification, too.
    pub(crate) fn original<'n>(&'n self, name: &'n str) -> (&'n str, bool) {
        let offered = self.by_name.get(name).and_then(|&at| self.all.get(at));
        offered.map_or((name, true), |it| (&it.name, it.restore.is_identity()))
    }

    /// Restores the tool's name and arguments as the specification declares them.
    pub(crate) fn restore_call(&self, mut call: ModelCall) -> ModelCall {
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
