//! `find_tools` and `call_tool`, which let a model load only the definitions that it needs.

use gram_check::Valid;
use gram_model::Module;
use gram_search::{Index, Query, Source};
use rmcp::model::{ListToolsResult, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// The tool that finds tools.
pub(crate) const FIND: &str = "find_tools";
/// The tool that calls tools.
pub(crate) const CALL: &str = "call_tool";

/// The number of definitions that a call returns, unless it says another one.
const DEFAULT_LIMIT: u64 = 5;
/// The most definitions that a call returns.
const MAX_LIMIT: u64 = 20;

/// Finds the tools of a catalog.
#[derive(Debug)]
pub(crate) struct Finder {
    index: Index,
    tools: [Tool; 2],
}

/// A call of a tool behind `call_tool`.
#[derive(Debug, PartialEq)]
pub(crate) struct InnerCall {
    pub(crate) name: String,
    pub(crate) arguments: Option<String>,
}

impl Finder {
    /// Finds the tools of a module, which clients know as `listed`.
    pub(crate) fn new(module: &Valid<Module>, listed: &[&Tool]) -> serde_json::Result<Self> {
        let index = Index::build(&[Source::of_module("", module)], "");
        let tools =
            [serde_json::from_value(find_tool())?, serde_json::from_value(call_tool(listed))?];
        Ok(Self { index, tools })
    }

    pub(crate) fn page(&self) -> ListToolsResult {
        ListToolsResult::with_all_items(self.tools.to_vec())
    }

    /// The result of a call of `find_tools`. `listed` is a tool as clients know it.
    pub(crate) fn find<'t>(
        &self,
        arguments: Option<&str>,
        listed: impl Fn(&str) -> Option<&'t Tool>,
    ) -> Map<String, Value> {
        let arguments: Option<Value> = arguments.and_then(|text| serde_json::from_str(text).ok());
        let arguments = arguments.unwrap_or_default();
        let Some(query) = arguments["query"].as_str().filter(|query| !query.trim().is_empty())
        else {
            return error(&format!("`{FIND}` takes an object with a `query`, a text"));
        };
        let limit = arguments["limit"].as_u64().unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let limit = usize::try_from(limit).unwrap_or_default();
        // What looks like a signature and is none is words.
        let parsed = Query::parse(query).unwrap_or_else(|_| Query::of_words(query));
        let definitions: Vec<Value> = self
            .index
            .search(&parsed, limit)
            .iter()
            .filter_map(|hit| Some(definition(listed(&hit.tool)?)))
            .collect();
        let text = if definitions.is_empty() {
            "no tool matches: use other words".to_owned()
        } else {
            Value::from(definitions.clone()).to_string()
        };
        Map::from_iter([
            ("content".to_owned(), json!([{"type": "text", "text": text}])),
            ("structuredContent".to_owned(), json!({"tools": definitions})),
            ("isError".to_owned(), false.into()),
        ])
    }
}

/// The tool that a call of `call_tool` names, with its arguments.
///
/// # Errors
///
/// The result that tells the model how to call `call_tool`.
pub(crate) fn inner_call(arguments: Option<&str>) -> Result<InnerCall, Map<String, Value>> {
    let usage = || {
        error(&format!(
            "`{CALL}` takes an object with the `name` of a tool and its `arguments`, an object; \
             `{FIND}` shows both"
        ))
    };
    let arguments: Option<Value> = arguments.and_then(|text| serde_json::from_str(text).ok());
    let Some(Value::Object(mut arguments)) = arguments else { return Err(usage()) };
    let Some(Value::String(name)) = arguments.shift_remove("name") else { return Err(usage()) };
    let arguments = arguments.shift_remove("arguments").map(|arguments| match arguments {
        // Models send objects as text, too.
        Value::String(text) => text,
        other => other.to_string(),
    });
    Ok(InnerCall { name, arguments })
}

fn error(message: &str) -> Map<String, Value> {
    Map::from_iter([
        ("content".to_owned(), json!([{"type": "text", "text": message}])),
        ("isError".to_owned(), true.into()),
    ])
}

/// What a model has to know of a tool to call it.
fn definition(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": *tool.input_schema,
    })
}

/// The definitions of `find_tools` and `call_tool`, as clients get them.
pub fn search_tools() -> Value {
    json!([find_tool(), call_tool(&[])])
}

fn find_tool() -> Value {
    json!({
        "name": FIND,
        "title": "Find tools",
        "description": "Finds tools and returns their definitions, best match first. Call them with \
                        `call_tool`.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What the tool does, such as `send an email`, or its signature, \
                                    such as `(city::Text)==>(::Forecast)`, or both",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "default": DEFAULT_LIMIT,
                },
            },
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
    })
}

fn call_tool(listed: &[&Tool]) -> Value {
    let all = |hint: &dyn Fn(&ToolAnnotations) -> bool| {
        listed.iter().all(|tool| tool.annotations.as_ref().is_some_and(hint))
    };
    let read_only = all(&|hints| hints.read_only_hint == Some(true));
    let harmless =
        all(&|hints| hints.read_only_hint == Some(true) || hints.destructive_hint == Some(false));
    json!({
        "name": CALL,
        "title": "Call a tool",
        "description": "Calls a tool that `find_tools` returned.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Name of the tool"},
                "arguments": {
                    "type": "object",
                    "description": "Arguments that match the tool's input schema",
                },
            },
            "required": ["name", "arguments"],
        },
        "annotations": {"readOnlyHint": read_only, "destructiveHint": !harmless},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_calls_are_read() {
        let read = |text| inner_call(Some(text)).ok();
        let call = |arguments: Option<&str>| {
            Some(InnerCall { name: "a".to_owned(), arguments: arguments.map(str::to_owned) })
        };
        assert_eq!(read(r#"{"name": "a", "arguments": {"b": 1}}"#), call(Some(r#"{"b":1}"#)));
        assert_eq!(read(r#"{"name": "a", "arguments": "{\"b\": 1}"}"#), call(Some(r#"{"b": 1}"#)));
        assert_eq!(read(r#"{"name": "a"}"#), call(None));
        for wrong in ["", "[]", "{}", r#"{"name": 1}"#, r#"{"arguments": {}}"#] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert!(inner_call(None).is_err());
    }
}
