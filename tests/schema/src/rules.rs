//! Referees: the rules of providers for tools and structured output, applied to finished output.
//!
//! The rules are written from the documents of the providers, their clients and their servers alone; each names
//! its source. The tables of gramc-schema are not a source, so a misreading of either shows as a complaint.
//! "Open" marks a question that no document answers; the rule beside it is the stricter answer, or there is none.

mod anthropic;
mod bounds;
mod engines;
mod google;
mod limits;
mod meta;
mod nodes;
mod openai;
mod others;
mod patterns;
mod target;
mod texts;
mod walk;
mod wrap;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;

pub use limits::limits;
use nodes::Subject;
use wrap::Located;

/// The names of all targets.
pub const TARGETS: [&str; 15] = [
    "json-schema",
    "openai",
    "openai-functions",
    "openai-strict",
    "openai-responses",
    "anthropic",
    "anthropic-strict",
    "gemini",
    "gemini-json",
    "bedrock",
    "mistral",
    "ollama",
    "llamacpp",
    "vllm",
    "mcp",
];

/// The names of the targets for structured output, which have a type instead of tools.
pub const OUTPUTS: [&str; 4] = [
    "openai-response-format",
    "openai-text-format",
    "gemini-response-schema",
    "anthropic-output-format",
];

/// The complaints, each a sentence.
#[derive(Debug, Default)]
struct Violations {
    all: Vec<String>,
}

impl Violations {
    /// Adds a violation: which tool, at which JSON path of the output, and what is wrong there.
    fn add(&mut self, tool: &str, path: &str, wrong: &str) {
        let tool = if tool.is_empty() { String::new() } else { format!("{tool}: ") };
        self.all.push(format!("{tool}{path} {wrong}"));
    }
}

/// The reasons why a target refuses the output of `gramc compile --target`, each with the tool and the JSON
/// path; none if it accepts everything. The only complaint about an unknown target is its name.
///
/// Limits of a whole request are no complaints; [`limits`] returns them.
pub fn complaints(name: &str, output: &Value) -> Vec<String> {
    let mut violations = Violations::default();
    let Some(target) = target::find_target(name) else {
        violations.add("", "$", &format!("there is no target `{name}`"));
        return violations.all;
    };
    let mut names = BTreeSet::new();
    for tool in wrap::read_tools(&target, output, &mut violations) {
        if !names.insert(tool.name) {
            violations.add(tool.name, &tool.path, "has the name of another tool");
        }
        if target.names.is_some_and(|names| !names.allow(tool.name)) {
            violations.add(tool.name, &tool.path, "has a name that is not allowed");
        }
        let more = if tool.strict { target.if_strict } else { &[] };
        let rules = [target.rules, more].concat();
        for (schema, rules) in [(&tool.schema, &rules[..]), (&tool.result, target.result_rules)] {
            if let Some(Located { path, value }) = schema {
                let subject = Subject { tool: tool.name, path, root: value };
                nodes::check(&subject, rules, &mut violations);
            }
        }
    }
    violations.all
}
