//! `find_tools` and `call_tool`, which let a model load only the definitions that it needs.

use gramc_check::Valid;
use gramc_model::Module;
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Options};
use gramc_search::{Index, Query, Source};
use gramc_syntax::{SourceFile, parse};
use gramc_tools::{Call, Session, ToolLibrary};
use serde_json::{Map, Value, json};

use crate::error::ServeError;

pub(crate) const FIND: &str = "find_tools";
pub(crate) const CALL: &str = "call_tool";

/// Both tools. Their calls are checked and repaired like those of any other tool.
const TOOLS: &str = r#"
/** Finds tools and returns their definitions, best match first. Call them with `call_tool`. */
[find_tools:Tool {title: "Find tools", readOnly: true, idempotent: true, openWorld: false} |
  (query::Text {
    length: 1...,
    description: "What the tool does, such as `send an email`, or its signature, such as `(city::Text)==>(::Forecast)`, or both"
  })==>(limit::Integer {range: 1..20, default: 5})==>(::Any)
]
/** Calls a tool that `find_tools` returned. */
[call_tool:Tool {title: "Call a tool"} |
  (name::Text {description: "Name of the tool"})
  ==>(arguments::Object {description: "Arguments that match the tool's input schema"})
  ==>(::Any)
]
"#;

/// Finds the tools of a catalog.
pub(crate) struct Finder {
    index: Index,
    tools: Vec<Value>,
    /// Checks calls of both tools.
    check: Session,
}

/// A call of a tool behind `call_tool`.
#[derive(Debug, PartialEq)]
pub(crate) struct InnerCall {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl Finder {
    /// Finds the tools of a module, which clients know as `listed`.
    pub(crate) fn new(module: &Valid<Module>, listed: &[&Value]) -> Result<Self, ServeError> {
        let index = Index::build(vec![Source::of_module("", module)]);
        let own = search_module()?;
        let (bound, _) = ToolLibrary::default().bind_partly(&own);
        let tools = definitions(&own, listed);
        Ok(Self { index, tools, check: Session::new(&bound) })
    }

    /// Both tools as a result of `tools/list`.
    pub(crate) fn page(&self) -> Value {
        json!({ "tools": self.tools })
    }

    /// The result of a call of `find_tools`. `listed` is a tool as clients know it.
    pub(crate) fn find<'t>(
        &self,
        arguments: Option<String>,
        listed: impl Fn(&str) -> Option<&'t Value>,
    ) -> Map<String, Value> {
        let arguments = match self.check_arguments(FIND, arguments) {
            Ok(arguments) => arguments,
            Err(refused) => return refused,
        };
        let query = arguments["query"].as_str().unwrap_or_default();
        let limit = arguments["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok());
        // What looks like a signature and is none is words.
        let parsed = Query::parse(query).unwrap_or_else(|_| Query::of_words(query));
        let definitions: Vec<Value> = self
            .index
            .search(&parsed, limit.unwrap_or(1))
            .iter()
            .filter_map(|hit| Some(definition(listed(&hit.tool)?)))
            .collect();
        let text = if definitions.is_empty() {
            "no tool matches: use different words".to_owned()
        } else {
            Value::from(definitions.clone()).to_string()
        };
        Map::from_iter([
            ("content".to_owned(), json!([{"type": "text", "text": text}])),
            ("structuredContent".to_owned(), json!({"tools": definitions})),
            ("isError".to_owned(), false.into()),
        ])
    }

    /// The tool that a call of `call_tool` names, with its arguments.
    /// The error is the result that tells the model how to call `call_tool`.
    pub(crate) fn inner_call(
        &self,
        arguments: Option<String>,
    ) -> Result<InnerCall, Map<String, Value>> {
        let arguments = self.check_arguments(CALL, arguments)?;
        let name = arguments["name"].as_str().unwrap_or_default().to_owned();
        Ok(InnerCall { name, arguments: arguments["arguments"].to_string() })
    }

    /// The arguments of a call of one of both tools, or the result that tells the model what is wrong
    /// with them.
    fn check_arguments(
        &self,
        tool: &str,
        arguments: Option<String>,
    ) -> Result<Value, Map<String, Value>> {
        let call = Call { arguments, ..Call::new(tool, "") };
        let verdict = self.check.validate(call);
        let accepted = verdict.accepted().map(|accepted| serde_json::from_str(&accepted.arguments));
        match accepted {
            Some(Ok(arguments)) => Ok(arguments),
            _ => Err(Map::from_iter([
                ("content".to_owned(), json!([{"type": "text", "text": verdict.message()}])),
                ("isError".to_owned(), true.into()),
            ])),
        }
    }
}

/// What a model has to know of a tool to call it.
fn definition(tool: &Value) -> Value {
    json!({
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": tool["inputSchema"],
    })
}

/// The definitions of `find_tools` and `call_tool`, as clients get them.
pub fn search_tools() -> Value {
    search_module().map(|module| definitions(&module, &[])).unwrap_or_default().into()
}

/// The module of both tools.
fn search_module() -> Result<Valid<Module>, ServeError> {
    let module = gramc_check::check(&[parse(SourceFile::new("search", TOOLS))]).module;
    module.ok_or_else(|| ServeError::Tool("the tools for searching have errors".to_owned()))
}

/// The definitions of both tools, with the hints that are true of all tools that can be called.
fn definitions(module: &Valid<Module>, listed: &[&Value]) -> Vec<Value> {
    let reads = |tool: &&Value| tool["annotations"]["readOnlyHint"] == true;
    let read_only = listed.iter().all(reads);
    let harmless =
        listed.iter().all(|tool| reads(tool) || tool["annotations"]["destructiveHint"] == false);
    let options = Options::new(Target::Mcp, 1);
    let compilation = Compilation::new(module, &options);
    let compiled = compilation.entries().iter().map(|entry| compilation.compile(*entry));
    let mut tools: Vec<Value> =
        compiled.filter_map(|tool| serde_json::to_value(tool).ok()).collect();
    for tool in tools.iter_mut().filter(|tool| tool["name"] == CALL) {
        tool["annotations"] = json!({"readOnlyHint": read_only, "destructiveHint": !harmless});
    }
    tools
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by a panic")]
mod tests {
    use super::*;

    #[test]
    fn inner_calls_are_read() {
        let finder = Finder::new(&search_module().unwrap(), &[]).unwrap();
        let read = |text: &str| finder.inner_call(Some(text.to_owned())).ok();
        let call =
            |arguments: &str| Some(InnerCall { name: "a".to_owned(), arguments: arguments.into() });
        assert_eq!(read(r#"{"name": "a", "arguments": {"b": 1}}"#), call(r#"{"b":1}"#));
        // Models send objects as text, too.
        assert_eq!(read(r#"{"name": "a", "arguments": "{\"b\": 1}"}"#), call(r#"{"b":1}"#));
        for wrong in ["[]", "{}", r#"{"name": 1}"#, r#"{"arguments": {}}"#] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert!(finder.inner_call(None).is_err());
    }

    #[test]
    fn both_tools_are_search_module() {
        let tools = search_tools();
        let names: Vec<_> = [&tools[0], &tools[1]].map(|tool| tool["name"].clone()).into();
        assert_eq!(names, [FIND, CALL]);
        assert_eq!(tools[0]["inputSchema"]["required"], json!(["query"]));
        assert_eq!(tools[1]["inputSchema"]["required"], json!(["name", "arguments"]));
    }
}
