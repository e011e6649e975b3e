//! Differences between the libraries of the arms.

use gram_model::print::print_implementation;
use gram_model::{Implementation, Library, Module};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::manifest::{ArmManifest, Difference, hash};

/// The declaration of an arm's library.
#[derive(Debug, Clone)]
pub struct DeclaredLibrary<'l> {
    library: &'l Library,
    recordings: &'l [u8],
}

impl<'l> DeclaredLibrary<'l> {
    /// `recordings` is the content of the files that the library replays.
    pub fn new(library: &'l Library, recordings: &'l [u8]) -> Self {
        Self { library, recordings }
    }

    /// The arm of a manifest, with the hash of the library.
    pub fn manifest(&self) -> ArmManifest {
        let Library { name, attributes, implementations, .. } = self.library;
        let implementations = implementations.iter().map(print_implementation);
        let all = format!("{}\n{}", policy(attributes), implementations.collect::<String>());
        let all = [all.as_bytes(), self.recordings].concat();
        ArmManifest { name: name.to_string(), library: hash(all) }
    }
}

/// The differences between libraries, by tool and in their attributes.
pub fn differences(module: &Module, arms: &[DeclaredLibrary<'_>]) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut add = |tool: Option<&str>, texts: Vec<(String, String)>| {
        let (shown, whole): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
        if whole.iter().any(|text: &String| *text != whole[0]) {
            all.push(Difference { tool: tool.map(str::to_owned), arms: shown });
        }
    };
    let of_all = |arm: &DeclaredLibrary<'_>| {
        let attributes = &arm.library.attributes;
        (policy(&without_secrets(attributes)), policy(attributes))
    };
    add(None, arms.iter().map(of_all).collect());
    for tool in &module.tools {
        let text = |arm: &DeclaredLibrary<'_>| {
            let Some(whole) = arm.library.implementation(&tool.name) else {
                return Default::default();
            };
            let attributes = without_secrets(&whole.attributes);
            let shown = Implementation { attributes, ..whole.clone() };
            (print_implementation(&shown), print_implementation(whole))
        };
        add(Some(&tool.name), arms.iter().map(text).collect());
    }
    all
}

/// Masks values that are sent to servers, unless they refer to the environment or a file.
fn without_secrets(attributes: &[(SmolStr, Value)]) -> Vec<(SmolStr, Value)> {
    let is_elsewhere = |text: &str| text.starts_with("env:") || text.starts_with("file:");
    let mask = |(key, value): &(SmolStr, Value)| match (key.as_str(), value) {
        ("env" | "headers" | "inject", Value::Object(map)) => {
            let masked = map.iter().map(|(name, value)| match value.as_str() {
                Some(text) if is_elsewhere(text) => (name.clone(), value.clone()),
                _ => (name.clone(), "***".into()),
            });
            (key.clone(), Value::Object(masked.collect()))
        }
        _ => (key.clone(), value.clone()),
    };
    attributes.iter().map(mask).collect()
}

/// The attributes of a library as JSON. Empty if it has none.
fn policy(attributes: &[(SmolStr, Value)]) -> String {
    if attributes.is_empty() {
        return String::new();
    }
    let map: Map<_, _> =
        attributes.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
    Value::from(map).to_string()
}
