//! Where a line of a file of calls is wrong, for editors.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gramc_calls::check::{Policy, Rejection, ToolCheck};
use gramc_check::codes;
use gramc_model::nearest::nearest;
use gramc_model::{Module, Tool};
use gramc_syntax::{Code, Diagnostic, SourceFile};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::cases::case_problems::{CasePlace, CaseProblem};

/// Checks calls that are recorded in a file, one in a line: `{"name": …, "arguments": …}`. It finds what
/// `gramc validate --calls` refuses.
#[derive(Debug)]
pub struct CallChecks<'m> {
    module: &'m Module,
    tools: HashMap<&'m str, CallableTool<'m>>,
}

#[derive(Debug)]
struct CallableTool<'m> {
    tool: &'m Tool,
    check: OnceLock<Option<ToolCheck>>,
}

/// A line of a file of calls.
#[derive(Deserialize)]
struct CallLine<'l> {
    name: String,
    #[serde(borrow)]
    arguments: &'l RawValue,
    /// Lines of traces have a type, and hold calls that were refused when they were made.
    #[serde(rename = "type")]
    kind: Option<IgnoredAny>,
}

impl<'l> CallLine<'l> {
    fn read(line: &'l str) -> Option<Self> {
        serde_json::from_str(line).ok().filter(|call: &Self| call.kind.is_none())
    }
}

impl<'m> CallChecks<'m> {
    /// The calls of the tools of a specification without errors.
    pub fn new(module: &'m Module) -> Self {
        let tools = module.tools.iter();
        let tools = tools.map(|tool| (&*tool.name, CallableTool { tool, check: OnceLock::new() }));
        Self { module, tools: tools.collect() }
    }

    /// Whether a line is a call of a tool of the specification.
    pub fn is_call(&self, line: &str) -> bool {
        CallLine::read(line).is_some_and(|call| self.tools.contains_key(&*call.name))
    }

    /// The diagnostics of a line. `line` is a part of the text of the source.
    pub fn diagnostics(&self, source: &Arc<SourceFile>, line: &str) -> Vec<Diagnostic> {
        let Some(call) = CallLine::read(line) else { return Vec::new() };
        let Some(known) = self.tools.get(&*call.name) else {
            let problem = self.unknown_tool(&call.name);
            return problem
                .map(|it| diagnostic(&it, &codes::UNKNOWN_NAME, source, line))
                .into_iter()
                .collect();
        };
        let check = || ToolCheck::of_tool(&self.module.types, known.tool).ok();
        let Some(check) = known.check.get_or_init(check) else { return Vec::new() };
        // Providers send the arguments as text.
        let text: Option<String> = serde_json::from_str(call.arguments.get()).ok();
        let arguments = text.as_deref().unwrap_or(call.arguments.get());
        let Err(rejection) = check.check(arguments, Policy::default()) else { return Vec::new() };
        let place = |pointer: &str| {
            let pointer = if text.is_some() { "" } else { pointer };
            CasePlace::Value(format!("/arguments{pointer}"))
        };
        let problems = match rejection {
            Rejection::Malformed(malformed) => {
                vec![CaseProblem::new(place(""), malformed.to_string())]
            }
            Rejection::Invalid(invalid) => {
                let all = invalid.problems().into_iter();
                all.map(|it| CaseProblem::new(place(&it.pointer), it.message)).collect()
            }
        };
        let problems = problems.iter();
        problems.map(|it| diagnostic(it, &codes::REJECTED_VALUE, source, line)).collect()
    }

    fn unknown_tool(&self, name: &str) -> Option<CaseProblem> {
        let module = self.module;
        let is_other = module.agent(name).is_some() || module.container(name).is_some();
        let place = CasePlace::Value("/name".to_owned());
        let near = nearest(name, self.tools.keys().copied()).into_iter().map(str::to_owned);
        let near = near.collect();
        let message = format!("unknown tool `{name}`");
        (!is_other).then_some(CaseProblem { place, message, near })
    }
}

fn diagnostic(
    problem: &CaseProblem,
    code: &'static Code,
    source: &Arc<SourceFile>,
    line: &str,
) -> Diagnostic {
    problem.diagnostic_of(code, "correct the call, or the tool", source, line)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
mod tests {
    use gramc_syntax::parse;

    use super::*;

    const SPEC: &str = "[find:Tool | (order::Text {length: 1..9})==>(limit?::Int)==>(::Text)]
        [pick:Tool | (token::Text {injected: true})==>(at::{x: Int})==>(::Text)]
        [files:Container | pick]";

    fn found(line: &str) -> Vec<String> {
        let module = gramc_check::check(&[parse(SourceFile::new("a.gram", SPEC))]).module.unwrap();
        let calls = CallChecks::new(&module);
        let source = Arc::new(SourceFile::new("calls.jsonl", line));
        let found = calls.diagnostics(&source, source.text());
        found.iter().map(|it| format!("{}: {}", source.slice(it.span()), it.message)).collect()
    }

    #[test]
    fn refused_calls_are_found() {
        for fine in [
            r#"{"name": "find", "arguments": {"order": "a", "limit": 3}}"#,
            // A repair, and removed arguments.
            r#"{"id": 1, "name": "find", "arguments": {"order": "a", "limit": "3", "more": 1}}"#,
            r#"{"name": "find", "arguments": "{\"order\": \"a\"}"}"#,
            r#"{"name": "files", "arguments": {}}"#,
            // A line of a trace.
            r#"{"type": "call", "name": "find", "arguments": "{}"}"#,
            r#"{"input": "Hello"}"#,
            "no JSON",
        ] {
            assert_eq!(found(fine), Vec::<String>::new(), "{fine}");
        }
        assert_eq!(
            found(r#"{"name": "find", "arguments": {"order": "", "limit": "many"}}"#).len(),
            2
        );
        assert_eq!(found(r#"{"name": "fnd", "arguments": {}}"#), ["\"fnd\": unknown tool `fnd`"]);
        let nested = found(r#"{"name": "pick", "arguments": {"at": {"x": "left"}}}"#);
        assert!(nested[0].starts_with("\"left\": "), "{nested:?}");
        assert_eq!(found(r#"{"name": "find", "arguments": "{\"limit\": 1}"}"#).len(), 1);
    }

    #[test]
    fn calls_of_the_specification_are_told_from_other_lines() {
        let module = gramc_check::check(&[parse(SourceFile::new("a.gram", SPEC))]).module.unwrap();
        let calls = CallChecks::new(&module);
        assert!(calls.is_call(r#"{"name": "find", "arguments": {}}"#));
        assert!(!calls.is_call(r#"{"name": "other", "arguments": {}}"#));
        assert!(!calls.is_call(r#"{"input": "find"}"#));
    }
}
