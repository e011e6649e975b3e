//! The tools of a specification as a model provider takes them, and the way back from its calls.

use std::collections::HashMap;

use gramc_project::Specification as Source;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use gramc_schema::lower::Restore;
use serde_json::Value;

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
    pub(crate) fn new(source: &Source, target: Target) -> Self {
        let options = Options { expanded: true, ..Options::new(target, source.files) };
        let compilation = Compilation::new(&source.module, &options);
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
