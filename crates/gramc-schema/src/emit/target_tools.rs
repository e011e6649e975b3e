//! The tools of a specification as a model provider takes them, and the way back from its calls.

use std::collections::HashMap;

use gramc_check::Valid;
use gramc_json_schema::keywords::name as k;
use gramc_model::Module;
use serde_json::Value;

use super::{Compilation, Options};
use crate::lower::{Restore, Target, ToolShape};

/// A tool in the form of a target.
#[derive(Debug)]
pub struct TargetTool {
    /// The name in the specification.
    pub own_name: String,
    /// The name in the target.
    pub name: String,
    /// The definition.
    pub definition: Value,
    shape: ToolShape,
}

impl TargetTool {
    /// The schema of the parameters. `None` if the target leaves out schemas without properties.
    pub fn parameters(&self) -> Option<&Value> {
        let path = self.shape.schema_path();
        path.iter().try_fold(&self.definition, |value, key| value.get(key))
    }

    /// The description, which may tell what the schema cannot.
    pub fn description(&self) -> Option<&str> {
        let tool = match self.shape.schema_path().as_slice() {
            [around, _, ..] => self.definition.get(around)?,
            _ => &self.definition,
        };
        tool.get(k::DESCRIPTION)?.as_str()
    }
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
            let (definition, shape) = (compiled.into_json(), target.spec().shape);
            tools.push(TargetTool { own_name, name, definition, shape });
        }
        Self { tools, restores }
    }

    /// The tools, with those in containers.
    pub fn tools(&self) -> &[TargetTool] {
        &self.tools
    }

    /// The tool with a name in the specification.
    pub fn tool(&self, own_name: &str) -> Option<&TargetTool> {
        self.tools.iter().find(|tool| tool.own_name == own_name)
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
