//! What would make the tools of an agent take fewer tokens.

use std::collections::HashMap;

use gramc_model::{Container, Module, Source};
use gramc_schema::Target;
use gramc_schema::emit::container_text;
use gramc_schema::lower::RefRule;
use serde::Serialize;
use serde_json::{Value, json};
use smol_str::SmolStr;

use super::{ToolSize, count_tokens};

/// The minimum number of tools that are worth a container.
const MIN_GROUP: usize = 3;

/// The minimum number of tools that are worth a search.
const MIN_SEARCHED: usize = 10;

/// The minimum number of times that a description is worth mentioning.
const MIN_REPEATS: usize = 3;

/// The minimum number of tokens that a proposal saves.
const MIN_TOKENS: usize = 30;

/// The maximum number of proposals for an agent.
const MAX_PROPOSALS: usize = 5;

/// The maximum number of tools that a proposal names.
const MAX_NAMED: usize = 3;

/// A proposal that saves tokens in each request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Saving {
    /// `container` for some tools, `type` for a schema that repeats within a tool, `description` that
    /// repeats, or `search` in the tools of a server.
    kind: &'static str,
    /// The tokens that it saves, about.
    pub(super) tokens: usize,
    /// The tools that it concerns.
    tools: Vec<String>,
    /// The advice for people.
    pub(super) message: String,
}

/// The proposals for the visible tools of an agent, those that save most first. `search` are the tokens of
/// the tools that a server with a search has.
pub(super) fn proposals(
    module: &Module,
    target: Target,
    sizes: &[ToolSize<'_>],
    search: usize,
) -> Vec<Saving> {
    let visible: Vec<_> = sizes.iter().filter(|tool| !tool.is_hidden).collect();
    let mut all = containers(module, &visible);
    if target.spec().refs != RefRule::Inline {
        all.extend(types(&visible));
    }
    all.extend(descriptions(&visible));
    if visible.len() >= MIN_SEARCHED {
        let tokens = visible.iter().map(|tool| tool.tokens).sum::<usize>().saturating_sub(search);
        let message = format!("`gramc mcp --search` instead of all tools ({search} tokens)");
        let tools = visible.iter().map(|tool| tool.name.to_string()).collect();
        all.push(Saving { kind: "search", tokens, tools, message });
    }
    all.retain(|saving| saving.tokens >= MIN_TOKENS);
    all.sort_by_key(|saving| std::cmp::Reverse(saving.tokens));
    all.truncate(MAX_PROPOSALS);
    all
}

/// Containers for the tools whose names begin with the same word.
fn containers(module: &Module, visible: &[&ToolSize<'_>]) -> Vec<Saving> {
    let mut groups: Vec<(&str, Vec<&ToolSize<'_>>)> = Vec::new();
    let is_tool = |tool: &&&ToolSize<'_>| module.tool(tool.name).is_some();
    for tool in visible.iter().copied().filter(|tool| is_tool(&tool)) {
        let word = first_word(tool.name);
        match groups.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(word)) {
            Some((_, group)) => group.push(tool),
            None => groups.push((word, vec![tool])),
        }
    }
    let groups = groups.into_iter().filter(|(_, group)| group.len() >= MIN_GROUP);
    let savings = groups.map(|(word, group)| {
        let names: Vec<SmolStr> = group.iter().map(|tool| tool.name.clone()).collect();
        let container = Container {
            name: word.into(),
            description: None,
            source: Source::default(),
            members: names.clone(),
            attributes: Vec::new(),
        };
        let stub = json!({"type": "function", "function": {
            "name": word,
            "description": container_text(module, &container),
            "parameters": {"type": "object", "properties": {}},
        }});
        let sum: usize = group.iter().map(|tool| tool.tokens).sum();
        let tokens = sum.saturating_sub(count_tokens(&stub.to_string()));
        let message = format!("a container for {}, expanded on demand", list_names(&names));
        Saving {
            kind: "container",
            tokens,
            tools: names.iter().map(SmolStr::to_string).collect(),
            message,
        }
    });
    savings.collect()
}

/// Types for the schemas that repeat within a tool: the one that saves most in each tool.
fn types(visible: &[&ToolSize<'_>]) -> Vec<Saving> {
    let reference = count_tokens(r##"{"$ref":"#/$defs/Type"}"##);
    let definition = count_tokens(r#","$defs":{"Type":}"#);
    let of_tool = |tool: &&ToolSize<'_>| {
        let mut schemas: HashMap<String, (usize, &str)> = HashMap::new();
        schemas_in(tool.json, "", &mut schemas);
        let repeated = schemas.into_iter().filter(|(_, (times, _))| *times > 1);
        let saved = repeated.map(|(schema, (times, key))| {
            let saved = count_tokens(&schema) * (times - 1);
            (saved.saturating_sub(reference * times + definition), times, key)
        });
        // Of equal ones the first in the alphabet, so that the proposal is always the same.
        let (tokens, times, key) =
            saved.max_by_key(|(tokens, _, key)| (*tokens, std::cmp::Reverse(*key)))?;
        let message =
            format!("a type for the schema of `{key}`, used {times} times in `{}`", tool.name);
        Some(Saving { kind: "type", tokens, tools: vec![tool.name.to_string()], message })
    };
    visible.iter().filter_map(of_tool).collect()
}

/// Counts the schemas of objects and enums, each with the key of its first place.
fn schemas_in<'j>(json: &'j Value, key: &'j str, found: &mut HashMap<String, (usize, &'j str)>) {
    match json {
        Value::Object(map) => {
            let is_schema = map.get("properties").is_some_and(Value::is_object)
                || map.get("enum").is_some_and(Value::is_array);
            if is_schema && !key.is_empty() {
                found.entry(json.to_string()).or_insert((0, key)).0 += 1;
            }
            for (inner, value) in map {
                let is_place =
                    !matches!(inner.as_str(), "items" | "properties" | "anyOf" | "$defs");
                schemas_in(value, if is_place { inner } else { key }, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                schemas_in(item, key, found);
            }
        }
        _ => {}
    }
}

/// Descriptions that repeat in all tools.
fn descriptions(visible: &[&ToolSize<'_>]) -> Vec<Saving> {
    let mut found: HashMap<&str, (usize, Vec<String>)> = HashMap::new();
    for tool in visible {
        descriptions_in(tool.json, &mut |text| {
            let (times, tools) = found.entry(text).or_default();
            *times += 1;
            if tools.last().is_none_or(|last| last != tool.name) {
                tools.push(tool.name.to_string());
            }
        });
    }
    let repeated = found.into_iter().filter(|(_, (times, _))| *times >= MIN_REPEATS);
    let mut savings: Vec<_> = repeated
        .map(|(text, (times, tools))| {
            let tokens = count_tokens(text) * (times - 1);
            let start: String = text.lines().next().unwrap_or_default().chars().take(40).collect();
            let more = if start.len() < text.len() { "…" } else { "" };
            let message = format!(
                "the description `{start}{more}` repeats {times} times: shorten it, or move it to the \
                 instruction"
            );
            Saving { kind: "description", tokens, tools, message }
        })
        .collect();
    // The order of the map is random.
    savings.sort_by(|a, b| a.message.cmp(&b.message));
    savings
}

fn descriptions_in<'j>(json: &'j Value, visit: &mut dyn FnMut(&'j str)) {
    match json {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "description" => visit(text),
                    value => descriptions_in(value, visit),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                descriptions_in(item, visit);
            }
        }
        _ => {}
    }
}

/// The first word of a name: `list` of `listOrders`, `list_orders` and `list-orders`.
fn first_word(name: &str) -> &str {
    let end = name.char_indices().skip(1).find(|(_, c)| c.is_uppercase() || !c.is_alphanumeric());
    name.get(..end.map_or(name.len(), |(at, _)| at)).unwrap_or(name)
}

/// The first few of some names.
fn list_names(names: &[SmolStr]) -> String {
    let first: Vec<_> = names.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(MAX_NAMED) {
        None | Some(0) => first.join(", "),
        Some(1) => format!("{} and 1 other", first.join(", ")),
        Some(more) => format!("{} and {more} others", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

    use gramc_syntax::{SourceFile, parse};
    use gramc_tools::ToolLibrary;

    use super::super::CostEstimate;

    fn savings(text: &str) -> Vec<String> {
        let module = gramc_check::check(&[parse(SourceFile::new("a.gram", text))]).module.unwrap();
        let (bound, _) = ToolLibrary::new("").bind_partly(&module);
        let costs = CostEstimate::of_agents(&module, &bound, &serde_json::json!([])).remove(0);
        costs.savings().map(|(tokens, what)| format!("{tokens}: {what}")).collect()
    }

    #[test]
    fn what_saves_most_comes_first() {
        let long = "One of the many places of the workspace, relative to its root folder";
        let item = format!("{{name: Text, size: Int, tags: Text[]}} {{description: \"{long}\"}}");
        let text = format!(
            r#"[listFiles:Tool {{description: "Lists"}} | (a::{item})==>(b::{item})==>(c::{item})==>(::Null)]
            [list_notes:Tool {{description: "Lists"}} | (in::Text {{description: "{long}"}})==>(::Null)]
            [list:Tool {{description: "Lists"}} | (in::Text {{description: "{long}"}})==>(::Null)]
            [other:Tool {{description: "Does it"}} | (b::Int)==>(::Null)]"#
        );
        let found = savings(&text);
        let starts: Vec<_> = found.iter().map(|it| it.split_once(": ").unwrap().1).collect();
        assert_eq!(
            starts,
            [
                "a container for `listFiles`, `list_notes`, `list`, expanded on demand",
                "a type for the schema of `a`, used 3 times in `listFiles`",
                "the description `One of the many places of the workspace,…` repeats 5 times: shorten it, or move it to the instruction",
            ],
            "{found:#?}"
        );
    }

    #[test]
    fn proposals_save_what_they_say() {
        let item = "{name: Text, size: Int, tags: Text[], deep: {a: Int, b: Int}}";
        let one = format!("[f:Tool | (a::{item})==>(b::{item})==>(c::{item})==>(::Null)]");
        let better = "[f:Tool | (a::Item)==>(b::Item)==>(c::Item)==>(::Null)]
            [Item::Record | (name::Text), (size::Int), (tags::Text[]), (deep::{a: Int, b: Int})]";
        let tokens = |text: &str| {
            let module =
                gramc_check::check(&[parse(SourceFile::new("a.gram", text))]).module.unwrap();
            let (bound, _) = ToolLibrary::new("").bind_partly(&module);
            CostEstimate::of_agents(&module, &bound, &serde_json::json!([])).remove(0).tokens
        };
        let saved = tokens(&one) - tokens(better);
        let said: usize = savings(&one)[0].split_once(':').unwrap().0.parse().unwrap();
        assert!(said.abs_diff(saved) <= 8, "{said} said, {saved} saved");
        assert_eq!(savings(better), [""; 0]);
    }
}
