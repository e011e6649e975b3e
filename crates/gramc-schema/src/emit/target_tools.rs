//! The tools of a specification as a model provider takes them, and the way back from its calls.

use std::collections::HashMap;

use gramc_check::Valid;
use gramc_model::Module;
use serde_json::Value;

use super::{Compilation, Options};
use crate::lower::{Restore, Target};

/// A tool in the form of a target.
#[derive(Debug)]
pub struct TargetTool {
    /// The name in the specification.
    pub own_name: String,
    /// The name in the target.
    pub name: String,
    /// The definition.
    pub definition: Value,
}

/// The tools of a specification in the form of a target.
#[derive(Debug)]
pub struct TargetTools {
    tools: Vec<TargetTool>,
    /// By name in the target: the name in the specification, and the way back.
    restores: HashMap<String, (String, Restore)>,
}

impl TargetTools {
    /// Compiles the tools of a module. `files` is the number of its files.
    pub fn new(module: &Valid<Module>, files: usize, target: Target) -> Self {
        let options = Options { expanded: true, ..Options::new(target, files) };
        let compilation = Compilation::new(module, &options);
        let (mut tools, mut restores) = (Vec::new(), HashMap::new());
        for entry in compilation.entries() {
            let own_name = entry.name().to_owned();
            let name = compilation.name_of(entry.name()).to_owned();
            let compiled = compilation.compile(*entry);
            restores.insert(name.clone(), (own_name.clone(), compiled.restore().into_owned()));
            tools.push(TargetTool { own_name, name, definition: compiled.into_json() });
        }
        Self { tools, restores }
    }

    /// The tools, with those in containers.
    pub fn tools(&self) -> &[TargetTool] {
        &self.tools
    }

    /// The name of a tool in the specification, if it is another one or its arguments may be changed.
    pub fn changed_name(&self, name: &str) -> Option<&str> {
        let (own_name, restore) = self.restores.get(name)?;
        (own_name != name || !restore.is_identity()).then_some(own_name)
    }

    /// The name and the arguments of a call as the specification has them.
    pub fn restore(&self, name: &str, arguments: Option<String>) -> (String, Option<String>) {
        let Some((own_name, restore)) = self.restores.get(name) else {
            return (name.to_owned(), arguments);
        };
        let restored = arguments.map(|text| match serde_json::from_str(&text) {
            // The check reports invalid JSON.
            Ok(value) if !restore.is_identity() => restore.arguments(value).to_string(),
            _ => text,
        });
        (own_name.clone(), restored)
    }
}
