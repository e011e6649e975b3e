//! Limits of a whole request, and what only some deployments refuse. These are said to the user
//! and are no reason to change the output.

use serde_json::Value;

use super::walk::{self, Link};
use super::wrap::Tool;
use super::{Violations, dialect, wrap};

/// What the schemas of a request hold.
#[derive(Default)]
struct Sums {
    properties: usize,
    optional: usize,
    unions: usize,
    choices: usize,
    characters: usize,
}

/// The limits that a request with these tools exceeds. An unknown target has none.
pub fn limits(target: &str, output: &Value) -> Vec<String> {
    let mut violations = Violations::default();
    let Some(dialect) = dialect::dialect(target) else { return Vec::new() };
    let tools = wrap::tools(&dialect, output, &mut Violations::default());
    let mut most = |what: &str, count: usize, most: usize| {
        if count > most {
            violations.add("", "$", &format!("has {count} {what}; {most} are allowed"));
        }
    };
    let request = sums(&tools);
    match target {
        "openai" | "openai-functions" | "openai-responses" => most("tools", tools.len(), 128),
        "openai-strict" => {
            most("tools", tools.len(), 128);
            for tool in &tools {
                let sums = sums(std::slice::from_ref(tool));
                most("properties", sums.properties, 5_000);
                most("enum values", sums.choices, 1_000);
                most("characters of names and values", sums.characters, 120_000);
            }
        }
        "anthropic-strict" => {
            most("strict tools", tools.len(), 20);
            most("optional parameters", request.optional, 24);
            most("union parameters", request.unions, 16);
        }
        "gemini" | "gemini-json" => most("declarations", tools.len(), 128),
        _ => {}
    }
    for tool in &tools {
        one(target, tool, output, &mut violations);
    }
    violations.all
}

/// What some deployments and clients refuse in one tool.
fn one(target: &str, tool: &Tool<'_>, output: &Value, violations: &mut Violations) {
    let short = matches!(target, "anthropic" | "anthropic-strict" | "gemini" | "gemini-json");
    if short && tool.name.chars().count() > 64 {
        violations.add(tool.name, &tool.path, "has a name of more than 64 characters");
    }
    if !target.starts_with("openai") {
        return;
    }
    let long = |text: Option<&Value>| {
        text.and_then(Value::as_str).is_some_and(|text| text.chars().count() > 1_024)
    };
    let own = output.as_array().into_iter().flatten().any(|value| {
        let inner = value.get("function").unwrap_or(value);
        inner.get("name").is_some_and(|name| name == tool.name) && long(inner.get("description"))
    });
    if own {
        violations.add(tool.name, &tool.path, "has a description of more than 1024 characters");
    }
}

fn sums(tools: &[Tool<'_>]) -> Sums {
    let mut sums = Sums::default();
    for (path, schema) in tools.iter().filter_map(|tool| tool.schema.as_ref()) {
        for node in walk::nodes(schema, path) {
            if let Link::Property { required } = node.link {
                sums.properties += 1;
                sums.optional += usize::from(!required);
                let union = node.schema.get("anyOf").is_some()
                    || node.schema.get("type").is_some_and(Value::is_array);
                sums.unions += usize::from(union);
            }
            let choices = node.schema.get("enum").and_then(Value::as_array);
            for choice in choices.into_iter().flatten() {
                sums.choices += 1;
                sums.characters += choice.as_str().map_or(0, |text| text.chars().count());
            }
            let constant = node.schema.get("const").and_then(Value::as_str);
            sums.characters += constant.map_or(0, |text| text.chars().count());
            for keyword in ["properties", "$defs"] {
                let named = node.schema.get(keyword).and_then(Value::as_object);
                sums.characters +=
                    named.into_iter().flatten().map(|(key, _)| key.chars().count()).sum::<usize>();
            }
        }
    }
    sums
}
