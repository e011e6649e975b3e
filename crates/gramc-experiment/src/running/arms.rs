//! The parts of arms, and the differences between arms.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use gramc_agent::AgentTeam;
use gramc_model::print::{
    identifier, print_declarations, print_implementation, print_specification,
};
use gramc_model::{Implementation, ImplementationKind, Library, Module};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::hash::hash;
use crate::running::manifest::{ArmManifest, Difference};

/// The parts of an arm.
#[derive(Debug, Clone)]
pub struct ArmParts<'a> {
    /// The name of the arm.
    pub name: String,
    /// The agent on the library.
    pub team: Arc<AgentTeam>,
    /// Attributes that replace those of the agent.
    pub attributes: &'a [(SmolStr, Value)],
    /// The specification.
    pub module: &'a Module,
    /// The declaration of the library.
    pub library: &'a Library,
    /// The functions of the host program in the library.
    pub functions: &'a [HostFunction],
    /// The content of the files that the library replays.
    pub recordings: &'a [u8],
}

/// A function of the host program that implements a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct HostFunction {
    /// The tool.
    pub tool: SmolStr,
    /// Its settings, and the identity of its code.
    pub attributes: Vec<(SmolStr, Value)>,
}

impl HostFunction {
    fn text(&self, attributes: &[(SmolStr, Value)]) -> String {
        format!("({}:Function {})", identifier(&self.tool), policy(attributes))
    }
}

/// The content of the files that a library of a file in `folder` replays. Unreadable ones are reported
/// when it is bound.
pub fn recordings(library: &Library, folder: &Path) -> Vec<u8> {
    let replays = library.implementations.iter();
    let files = replays.filter(|it| it.kind == ImplementationKind::Replay);
    let names = files.filter_map(|it| it.attribute("from")?.as_str().map(str::to_owned));
    names.filter_map(|name| fs::read(folder.join(name)).ok()).flatten().collect()
}

impl ArmParts<'_> {
    /// The arm of a manifest, which lists only differences from the first arm.
    pub fn manifest(&self, first: &ArmParts<'_>) -> ArmManifest {
        let Library { attributes, implementations, .. } = self.library;
        let functions = self.functions.iter().map(|it| it.text(&it.attributes));
        let implementations = implementations.iter().map(print_implementation).chain(functions);
        let all = format!("{}\n{}", policy(attributes), implementations.collect::<String>());
        let all = [all.as_bytes(), self.recordings].concat();
        let other = |own: &str, first: &str| (own != first).then(|| own.to_owned());
        let is_same = std::ptr::eq(self.module, first.module);
        let specification = (!is_same).then(|| self.specification());
        ArmManifest {
            name: self.name.clone(),
            library: hash(all),
            agent: other(self.team.agent(), first.team.agent()),
            model: other(self.team.model(), first.team.model()),
            specification: specification.filter(|own| *own != first.specification()),
            attributes: to_map(self.attributes),
        }
    }

    /// The hash of the specification.
    pub fn specification(&self) -> String {
        hash(print_specification(self.module))
    }
}

/// The differences between arms: their models, agents, declarations and libraries.
pub(crate) fn differences(arms: &[ArmParts<'_>]) -> Vec<Difference> {
    let texts =
        |name: fn(&AgentTeam) -> &str| arms.iter().map(|arm| name(&arm.team).to_owned()).collect();
    let model = difference("model", texts(AgentTeam::model));
    let agent = difference("agent", texts(AgentTeam::agent));
    let all = model.into_iter().chain(agent).chain(of_attributes(arms));
    all.chain(of_declarations(arms)).chain(of_libraries(arms)).collect()
}

/// A difference, if the texts are not all alike.
fn difference(what: &str, arms: Vec<String>) -> Option<Difference> {
    let differs = arms.iter().any(|text| *text != arms[0]);
    differs.then(|| Difference { tool: None, what: Some(what.to_owned()), arms })
}

/// The attributes that arms replace, as the specification writes them.
fn of_attributes(arms: &[ArmParts<'_>]) -> Vec<Difference> {
    let mut seen = HashSet::new();
    let names = arms.iter().flat_map(|arm| arm.attributes).map(|(key, _)| key);
    let of = |name: &SmolStr| {
        let text = |arm: &ArmParts<'_>| {
            let own = arm.attributes.iter().find(|(key, _)| key == name);
            own.map_or_else(String::new, |(_, value)| value.to_string())
        };
        difference(name, arms.iter().map(text).collect())
    };
    names.filter(|name| seen.insert(*name)).filter_map(of).collect()
}

fn of_declarations(arms: &[ArmParts<'_>]) -> Vec<Difference> {
    // Most arms have the same specification.
    if arms.iter().all(|arm| std::ptr::eq(arm.module, arms[0].module)) {
        return Vec::new();
    }
    let printed: Vec<_> = arms.iter().map(|arm| print_declarations(arm.module)).collect();
    let by_name: Vec<HashMap<&str, &str>> = printed
        .iter()
        .map(|all| all.iter().map(|(name, text)| (&**name, text.trim_end())).collect())
        .collect();
    let mut seen = HashSet::new();
    let names = printed.iter().flatten().map(|(name, _)| &**name);
    let of = |name: &str| {
        let text = |texts: &HashMap<&str, &str>| texts.get(name).map_or("", |it| *it).to_owned();
        difference(name, by_name.iter().map(text).collect())
    };
    names.filter(|name| seen.insert(*name)).filter_map(of).collect()
}

fn of_libraries(arms: &[ArmParts<'_>]) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut add = |tool: Option<&str>, texts: Vec<(String, String)>| {
        let (shown, whole): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
        if whole.iter().any(|text: &String| *text != whole[0]) {
            all.push(Difference { tool: tool.map(str::to_owned), what: None, arms: shown });
        }
    };
    let of_all = |arm: &ArmParts<'_>| {
        let attributes = &arm.library.attributes;
        (policy(&without_secrets(attributes)), policy(attributes))
    };
    add(None, arms.iter().map(of_all).collect());
    let mut seen = HashSet::new();
    let tools = arms.iter().flat_map(|arm| &arm.module.tools).map(|tool| &tool.name);
    for tool in tools.filter(|tool| seen.insert(*tool)) {
        let text = |arm: &ArmParts<'_>| {
            if let Some(function) = arm.functions.iter().find(|it| it.tool == *tool) {
                let shown = function.text(&without_secrets(&function.attributes));
                return (shown, function.text(&function.attributes));
            }
            let Some(whole) = arm.library.implementation(tool) else {
                return Default::default();
            };
            let attributes = without_secrets(&whole.attributes);
            let shown = Implementation { attributes, ..whole.clone() };
            (print_implementation(&shown), print_implementation(whole))
        };
        add(Some(tool), arms.iter().map(text).collect());
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

fn to_map(attributes: &[(SmolStr, Value)]) -> Map<String, Value> {
    attributes.iter().map(|(key, value)| (key.to_string(), value.clone())).collect()
}

/// The attributes of a library as JSON. Empty if it has none.
fn policy(attributes: &[(SmolStr, Value)]) -> String {
    if attributes.is_empty() {
        return String::new();
    }
    Value::from(to_map(attributes)).to_string()
}
