//! A second reading of what each target accepts.
//!
//! The compiler has its own rules for what it writes for a provider. This module reads the finished
//! output and says what the target would refuse; it was written from the page on the targets alone,
//! so a rule that one of the two has misread shows.

mod dialect;
mod gemini;
mod limits;
mod meta;
mod nodes;
mod patterns;
mod texts;
mod walk;
mod wrap;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;

pub use limits::limits;

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

/// The names of the targets that take a type for answers, and no tools.
pub const OUTPUTS: [&str; 4] = [
    "openai-response-format",
    "openai-text-format",
    "gemini-response-schema",
    "anthropic-output-format",
];

/// What was found, each as a sentence.
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

/// What a target would refuse in the output of `gramc compile --target`, each with the tool and the
/// JSON path in the output; nothing where it accepts all. An unknown target is the only complaint.
///
/// Limits of a whole request are no complaints; [`limits`] has them.
pub fn complaints(target: &str, output: &Value) -> Vec<String> {
    let mut violations = Violations::default();
    let Some(dialect) = dialect::dialect(target) else {
        violations.add("", "$", &format!("there is no target `{target}`"));
        return violations.all;
    };
    let mut names = BTreeSet::new();
    for tool in wrap::tools(&dialect, output, &mut violations) {
        if !names.insert(tool.name) {
            violations.add(tool.name, &tool.path, "has the name of another tool");
        }
        if dialect.names.is_some_and(|rule| !rule.allow(tool.name)) {
            violations.add(tool.name, &tool.path, "has a name that is not allowed");
        }
        let held = match dialect.wrap {
            dialect::Wrap::FlatFunction if tool.strict => dialect::OPENAI_STRICT,
            _ => dialect,
        };
        if let Some((path, schema)) = &tool.schema {
            nodes::check(&held, tool.name, (path, schema), &mut violations);
        }
        if let Some((path, schema)) = &tool.result {
            // The root's rules are the arguments' alone.
            let result = dialect::Dialect { root_object: false, ..dialect };
            nodes::check(&result, tool.name, (path, schema), &mut violations);
        }
    }
    violations.all
}
