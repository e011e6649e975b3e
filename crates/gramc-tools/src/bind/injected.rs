//! Values that the host supplies for parameters that are hidden from the model.

use std::collections::HashSet;

use gramc_model::did_you_mean;
use gramc_model::{Field, Open, Optionality, Tool, Types, ValueSource};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::problem::BindProblem;
use super::{Binder, BoundTool, texts};
use crate::implementations::Fake;
use crate::library::{Injection, LibraryEntry};
use gramc_calls::check::{Policy, Rejection, ToolCheck, Undeclared};

fn injected_parameters(tool: &Tool) -> impl Iterator<Item = &Field> + Clone {
    tool.parameters.iter().filter(|known| known.source == ValueSource::Injected)
}

impl Binder<'_> {
    /// The injected parameters of a tool with their values.
    pub(super) fn inject(
        &mut self,
        tool: &Tool,
        entry: &LibraryEntry,
        missing: &mut Vec<(SmolStr, String)>,
    ) -> Vec<(SmolStr, Value)> {
        let mut injected = Vec::new();
        for parameter in injected_parameters(tool) {
            // The implementation's own values take precedence over the library's.
            let supply = entry.inject.iter().rev().find(|it| it.parameter == parameter.name);
            let value = match supply {
                Some(injection) => injection.supply.read().map_err(|error| error.to_string()),
                // It has no use for the value.
                None if entry.implementation.kind() == Fake::KIND => continue,
                None => match &parameter.type_use.default {
                    Some(default) => Ok((**default).clone()),
                    None => Err("add it to the library's `inject`".to_owned()),
                },
            };
            let (tool_name, name) = (tool.name.clone(), parameter.name.clone());
            match value.map(|value| convert_injected(&self.module.types, tool, parameter, value)) {
                Ok(Ok(value)) => {
                    if parameter.secret || supply.is_some_and(|it| it.supply.is_external()) {
                        texts(&value, &mut self.secrets);
                    }
                    injected.push((name, value));
                }
                Ok(Err(rejection)) => self.problems.push(BindProblem::InvalidInjected {
                    tool: tool_name,
                    parameter: name,
                    wanted: match rejection {
                        Rejection::Invalid(invalid) => invalid.schema_hint(),
                        Rejection::Malformed(malformed) => malformed.to_string(),
                    },
                }),
                // A credential that only some environments have.
                Err(_) if supply.is_some() && parameter.optionality == Optionality::Optional => {}
                Err(why) => {
                    let parameter = name.clone();
                    let problem = BindProblem::NotInjected { tool: tool_name, parameter, why };
                    missing.push((name, problem.to_string()));
                    // The other tools work without it.
                    let is_fatal = supply.is_none();
                    if is_fatal { &mut self.problems } else { &mut self.warnings }.push(problem);
                }
            }
        }
        let known = || injected_parameters(tool).map(|known| known.name.as_str());
        for Injection { parameter, .. } in entry.inject.iter().filter(|it| it.own) {
            if !known().any(|known| known == parameter) {
                self.warnings.push(BindProblem::NothingInjected {
                    tool: Some(tool.name.clone()),
                    parameter: parameter.clone(),
                    nearest: did_you_mean(parameter, known()),
                });
            }
        }
        injected
    }

    /// Warns about values of the library that no tool uses.
    pub(super) fn warn_of_unused_values(&mut self, tools: &[BoundTool]) {
        let of_entries = self.library.entries.iter().flat_map(|entry| &entry.inject);
        let of_sources = self.library.sources.iter().flat_map(|entry| &entry.inject);
        let for_all = of_entries.chain(of_sources).filter(|it| !it.own);
        let mut seen = HashSet::new();
        let for_all: Vec<_> =
            for_all.map(|it| &it.parameter).filter(|name| seen.insert(*name)).collect();
        if for_all.is_empty() {
            return;
        }
        let tools = tools.iter().filter(|tool| tool.entry.is_some()).map(|tool| &tool.spec);
        let known: HashSet<&str> =
            tools.flat_map(injected_parameters).map(|known| known.name.as_str()).collect();
        for parameter in for_all.into_iter().filter(|name| !known.contains(name.as_str())) {
            let nearest = did_you_mean(parameter, known.iter().copied());
            let parameter = parameter.clone();
            self.warnings.push(BindProblem::NothingInjected { tool: None, parameter, nearest });
        }
    }
}

/// Converts a value to the type of its parameter, because values from the environment are strings.
fn convert_injected(
    types: &Types,
    tool: &Tool,
    parameter: &Field,
    value: Value,
) -> Result<Value, Rejection> {
    let field = Field {
        source: ValueSource::Model,
        optionality: Optionality::Required,
        ..parameter.clone()
    };
    let alone = Tool {
        parameters: vec![field],
        open: Open::Unsaid,
        root: None,
        attributes: Vec::new(),
        ..tool.clone()
    };
    // Schemas that cannot be compiled are reported when the tool is bound.
    let Ok(check) = ToolCheck::of_tool(types, &alone) else { return Ok(value) };
    let name = parameter.name.to_string();
    let policy = Policy { undeclared: Undeclared::Keep, ..Policy::default() };
    let sent = Value::Object(Map::from_iter([(name.clone(), value)])).to_string();
    let accepted = check.check(&sent, policy)?;
    let mut converted: Map<String, Value> =
        serde_json::from_str(&accepted.arguments).unwrap_or_default();
    Ok(converted.remove(&name).unwrap_or_default())
}
