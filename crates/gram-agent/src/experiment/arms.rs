//! In what the arms of an experiment differ.

use gram_schema::model::{Library, Module};
use gram_schema::print_implementation;
use serde_json::{Map, Value};

use super::about::{ArmAbout, Difference, hash};

/// What an arm's library declares.
#[derive(Debug, Clone)]
pub struct Declared<'l> {
    library: &'l Library,
}

impl<'l> Declared<'l> {
    /// Of a library as its file declares it.
    pub fn new(library: &'l Library) -> Self {
        Self { library }
    }

    /// The arm, with the hash of all that its library declares.
    pub fn about(&self) -> ArmAbout {
        let Library { name, attributes, implementations, .. } = self.library;
        let implementations = implementations.iter().map(print_implementation);
        let all = format!("{}\n{}", policy(attributes), implementations.collect::<String>());
        ArmAbout { name: name.to_string(), library: hash(all) }
    }
}

/// In which tools of a specification, and in what of all tools, libraries differ.
pub fn differences(module: &Module, arms: &[Declared<'_>]) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut add = |tool: Option<&str>, texts: Vec<String>| {
        if texts.iter().any(|text| *text != texts[0]) {
            all.push(Difference { tool: tool.map(str::to_owned), arms: texts });
        }
    };
    add(None, arms.iter().map(|arm| policy(&arm.library.attributes)).collect());
    for tool in &module.tools {
        let text = |arm: &Declared<'_>| {
            let implementation = arm.library.implementation(&tool.name);
            implementation.map(print_implementation).unwrap_or_default()
        };
        add(Some(&tool.name), arms.iter().map(text).collect());
    }
    all
}

/// What a library says of all its tools, as JSON; nothing where it says nothing.
fn policy(attributes: &[(smol_str::SmolStr, Value)]) -> String {
    if attributes.is_empty() {
        return String::new();
    }
    let map: Map<_, _> =
        attributes.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
    Value::from(map).to_string()
}
