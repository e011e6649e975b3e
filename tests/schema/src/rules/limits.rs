//! Limits of a whole request, and reasons of some deployments and clients to refuse a tool. The output cannot
//! respect them, so they are warnings.

use serde_json::Value;

use super::Violations;
use super::target;
use super::walk::{self, Link};
use super::wrap::{self, Tool};

/// Counts of the schemas of a request.
#[derive(Default)]
struct Counts {
    properties: usize,
    optional: usize,
    unions: usize,
    choices: usize,
    characters: usize,
}

/// The limits that a request with these tools exceeds. An unknown target has none.
pub fn limits(name: &str, output: &Value) -> Vec<String> {
    let mut violations = Violations::default();
    let Some(target) = target::find_target(name) else { return Vec::new() };
    let tools = wrap::read_tools(&target, output, &mut Violations::default());
    let mut most = |things: &str, count: usize, most: usize| {
        if count > most {
            violations.add("", "$", &format!("has {count} {things}; {most} are allowed"));
        }
    };
    let request = count(&tools);
    match name {
        // OpenAI's API reference of chat completions, `tools` and `functions` (until 2025; no number since).
        "openai" | "openai-functions" | "openai-responses" => most("tools", tools.len(), 128),
        "openai-strict" => {
            most("tools", tools.len(), 128);
            // Guide "Structured model outputs": "Objects have limitations on nesting depth and size",
            // "Limitations on total string size", "Limitations on enum size" (2025-07).
            for tool in &tools {
                let counts = count(std::slice::from_ref(tool));
                most("properties", counts.properties, 5_000);
                most("enum values", counts.choices, 1_000);
                most("characters of names and values", counts.characters, 120_000);
            }
        }
        // "Structured outputs", "Schema complexity limits", "Explicit limits" (2026-09).
        "anthropic-strict" => {
            most("strict tools", tools.len(), 20);
            most("optional parameters", request.optional, 24);
            most("union parameters", request.unions, 16);
        }
        // `aiplatform.v1`, `Tool.functionDeclarations` (revision 20261106); 128 in revisions until 2025.
        "gemini" | "gemini-json" => most("declarations", tools.len(), 512),
        _ => {}
    }
    for tool in &tools {
        check_tool(name, tool, &mut violations);
    }
    violations.all
}

fn check_tool(target: &str, tool: &Tool<'_>, violations: &mut Violations) {
    // Anthropic, "Define tools": `^[a-zA-Z0-9_-]{1,64}$`; the service accepts 128. Vertex AI: 64 until 2025.
    let short = matches!(target, "anthropic" | "anthropic-strict" | "gemini" | "gemini-json");
    if short && tool.name.chars().count() > 64 {
        violations.add(tool.name, &tool.path, "has a name of more than 64 characters");
    }
    // OpenAI, error `string_above_max_length` (getsentry/sentry-mcp#106, 2025-04). Open: whether it still is.
    let long = tool.description.is_some_and(|text| text.chars().count() > 1_024);
    if long && target.starts_with("openai") {
        violations.add(tool.name, &tool.path, "has a description of more than 1024 characters");
    }
}

fn count(tools: &[Tool<'_>]) -> Counts {
    let mut counts = Counts::default();
    for schema in tools.iter().filter_map(|tool| tool.schema.as_ref()) {
        for node in walk::nodes(schema.value, &schema.path) {
            if let Link::Property { required } = node.link {
                counts.properties += 1;
                counts.optional += usize::from(!required);
                let union = node.schema.get("anyOf").is_some()
                    || node.schema.get("type").is_some_and(Value::is_array);
                counts.unions += usize::from(union);
            }
            let choices = node.schema.get("enum").and_then(Value::as_array);
            counts.choices += choices.map_or(0, Vec::len);
            let texts = choices.into_iter().flatten().chain(node.schema.get("const"));
            counts.characters +=
                texts.filter_map(Value::as_str).map(|text| text.chars().count()).sum::<usize>();
            for keyword in ["properties", "$defs"] {
                let named = node.schema.get(keyword).and_then(Value::as_object);
                counts.characters +=
                    named.into_iter().flatten().map(|(key, _)| key.chars().count()).sum::<usize>();
            }
        }
    }
    counts
}
