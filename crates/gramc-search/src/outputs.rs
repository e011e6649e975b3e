//! The parts of results that other tools may take.

use std::collections::VecDeque;

use serde_json::Value;

use crate::document::Document;
use crate::index::NamedSummary;
use crate::schema::{besides_null, only_reference, properties};
use crate::summary::{Summary, followed};
use crate::words::Analyzer;

/// The most parts of a result.
const MAX_OUTPUTS: usize = 60;

/// How deep they are.
const MAX_OUTPUT_DEPTH: usize = 3;

/// The most words of what an identifier belongs to.
const MAX_OWNER_WORDS: usize = 4;

/// A part of a result that is yet to be read.
struct Part<'s> {
    schema: &'s Value,
    path: String,
    name: String,
    /// The name of what it belongs to.
    owner: String,
    depth: usize,
}

/// The parts of the result of a tool with their paths, those near its root first.
pub(crate) fn outputs<'s>(
    analyzer: &Analyzer,
    tool: &'s Document,
    resolve: &dyn Fn(&str) -> Option<&'s Value>,
) -> Vec<(String, NamedSummary)> {
    let about = tool.result_name.clone().unwrap_or_else(|| noun(&tool.name));
    let mut open = VecDeque::from([Part {
        schema: &tool.result,
        path: String::new(),
        name: about.clone(),
        owner: about,
        depth: 0,
    }]);
    let mut found = Vec::new();
    while let Some(part) = open.pop_front().filter(|_| found.len() < MAX_OUTPUTS) {
        // What may be null is there most of the time.
        let value = besides_null(followed(part.schema, resolve));
        let type_name = only_reference(part.schema).or_else(|| only_reference(value));
        let schema = followed(value, resolve);
        let summary = Summary::of(schema, resolve);
        let name = analyzer.name_hash(&part.name);
        for (at, qualified) in qualified(analyzer, &part).iter().enumerate() {
            let qualified = analyzer.name_hash(qualified);
            let named = NamedSummary { name, qualified, is_required: at == 0, summary };
            found.push((part.path.clone(), named));
        }
        if part.depth == MAX_OUTPUT_DEPTH {
            continue;
        }
        let owner = type_name.unwrap_or_else(|| part.name.clone());
        let mut add = |schema, key: &str, name: &str| {
            let dot = if part.path.is_empty() || key.starts_with('[') { "" } else { "." };
            open.push_back(Part {
                schema,
                path: format!("{}{dot}{key}", part.path),
                name: name.to_owned(),
                owner: owner.clone(),
                depth: part.depth + 1,
            });
        };
        for (name, schema) in properties(schema).take(MAX_OUTPUTS) {
            // Dots separate the names of a path.
            let key = if name.contains(['.', '[']) { &format!("[{name:?}]") } else { name };
            add(schema, key, name);
        }
        if let Some(items) = schema.get("items") {
            add(items, "0", &owner);
        }
    }
    found
}

/// The names that a parameter may have which takes a part of a result, the likeliest first. The `id`
/// of a `TaskList` is a `taskListId`, a `tasklist`, a `listId` or a `list`.
fn qualified(analyzer: &Analyzer, part: &Part<'_>) -> Vec<String> {
    let Part { name, owner, .. } = part;
    if part.path.is_empty() {
        return vec![name.clone()];
    }
    let mut found = vec![format!("{owner} {name}")];
    if is_identifier(name) {
        found.push(owner.clone());
        let words = analyzer.stems(owner);
        let words = words.iter().take(MAX_OWNER_WORDS).filter(|_| words.len() > 1);
        found.extend(words.flat_map(|word| [format!("{word} {name}"), word.clone()]));
    }
    found
}

/// Whether a part of a result identifies what it belongs to.
fn is_identifier(name: &str) -> bool {
    ["id", "key", "name", "number", "slug", "uuid"].contains(&name.to_lowercase().as_str())
}

/// The words of a tool's name after its first one, which is a verb in most names.
fn noun(name: &str) -> String {
    let words: String = name
        .chars()
        .flat_map(|letter| [letter.is_uppercase().then_some(' '), Some(letter)])
        .flatten()
        .map(|letter| if letter.is_alphanumeric() { letter } else { ' ' })
        .collect();
    words.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
}
