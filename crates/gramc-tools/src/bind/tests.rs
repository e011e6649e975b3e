#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

use gramc_syntax::{SourceFile, parse};
use serde_json::json;

use super::*;
use crate::LoadOptions;
use crate::injected_source::InjectedSource;
use crate::invocation::{
    AnswerFuture, DeclaredInterface, Implementation, Invocation, InvocationError,
    InvocationErrorKind,
};

/// An implementation that declares its interface and never runs.
#[derive(Debug)]
struct Says {
    kind: &'static str,
    parameters: Value,
    result: Option<Value>,
}

impl Implementation for Says {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn invoke(&self, _: Invocation) -> AnswerFuture {
        let error = InvocationError::new(InvocationErrorKind::Failed, "it never runs");
        Box::pin(std::future::ready(Err(error)))
    }

    fn interface(&self) -> Option<DeclaredInterface> {
        let (parameters, result) = (self.parameters.clone(), self.result.clone());
        Some(DeclaredInterface::Schemas { parameters, result })
    }
}

fn module(text: &str) -> Valid<Module> {
    let checked = gramc_check::check(&[parse(SourceFile::new("spec", text))]);
    assert!(checked.module.is_some(), "{:?}", checked.diagnostics);
    checked.module.unwrap()
}

fn told(library: &ToolLibrary, text: &str) -> Vec<String> {
    let (bound, problems) = library.bind_partly(&module(text));
    problems.iter().chain(bound.warnings()).map(ToString::to_string).collect()
}

/// The problems of binding the tool `f` to an implementation with these parameters.
fn takes(spec: &str, parameters: Value) -> Vec<String> {
    let says = Says { kind: "Says", parameters, result: None };
    told(&ToolLibrary::new("l").with("f", says), spec)
}

/// The problems of binding a tool with a result type to a tool of an MCP server.
fn gives(wanted: &str, result: Value) -> Vec<String> {
    let parameters = json!({"type": "object"});
    let says = Says { kind: "Mcp", parameters, result: Some(result) };
    told(&ToolLibrary::new("l").with("f", says), &format!("[f:Tool | ()==>(::`{wanted}`)]"))
}

const NOTHING: [&str; 0] = [];

#[test]
fn tools_of_mcp_servers_give_back_text_and_wrapped_values() {
    let wrapped = |schema: Value| json!({"type": "object", "properties": {"result": schema}, "required": ["result"]});
    assert_eq!(gives("Text", wrapped(json!({"type": "integer"}))), NOTHING);
    assert_eq!(gives("Int", wrapped(json!({"type": "integer"}))), NOTHING);
    assert_eq!(gives("{result: Int}", wrapped(json!({"type": "integer"}))), NOTHING);
    let mut list = wrapped(json!({"type": "array", "items": {"$ref": "#/$defs/N"}}));
    list["$defs"] = json!({"N": {"type": "integer"}});
    assert_eq!(gives("Int[]", list.clone()), NOTHING);
    assert_eq!(gives("Text[]", list).len(), 1);
    assert_eq!(gives("Int", wrapped(json!({"type": "string"}))).len(), 1);
    // An optional `result` is not unwrapped, and neither is an object without properties.
    let object = json!({"type": "object", "properties": {"result": {"type": "integer"}}});
    assert_eq!(gives("Int", object).len(), 1);
    assert_eq!(gives("Int", json!({"type": "object"})).len(), 1);
}

#[test]
fn what_the_host_pins_is_one_value() {
    let spec = "[f:Tool | (region::Text {pinned: \"eu\"})==>(::Any)]";
    let region = |values: Value| json!({"type": "object", "properties": {"region": {"enum": values}}, "required": ["region"]});
    assert_eq!(takes(spec, region(json!(["eu", "us"]))), NOTHING);
    assert_eq!(takes(spec, region(json!(["us"]))).len(), 1);
}

#[test]
fn what_the_check_fills_in_is_there() {
    let wants = json!({"type": "object", "properties": {"a": {
        "type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"],
    }}, "required": ["a"]});
    let spec = |field: &str| format!("[R:Record | ({field})] [f:Tool | (a::R)==>(::Any)]");
    assert_eq!(takes(&spec("b::Int {default: 1}"), wants.clone()), NOTHING);
    assert_eq!(takes(&spec("b::Int {optional: true}"), wants).len(), 1);
}

#[test]
fn what_the_check_strips_is_gone_from_exclusive_unions() {
    let spec = "[U::Union {oneOf: true} | `{kind: \"x\", n: Int}`, `{kind: \"y\", t: Text}`] \
                [f:Tool | (a::U)==>(::Any)]";
    let member = |kind: &str, name: &str, ty: &str| {
        json!({
            "type": "object", "additionalProperties": false, "required": ["kind", name],
            "properties": {"kind": {"const": kind}, name: {"type": ty}},
        })
    };
    let union = json!({"anyOf": [member("x", "n", "integer"), member("y", "t", "string")]});
    let wants = json!({"type": "object", "properties": {"a": union}, "required": ["a"]});
    assert_eq!(takes(spec, wants), NOTHING);
}

fn supplied(parameter: &str, value: Value) -> (ToolLibrary, Valid<Module>) {
    let says = Says { kind: "Says", parameters: json!({"type": "object"}), result: None };
    let library = ToolLibrary::new("l").with("f", says);
    let library = library.inject("f", "port", &InjectedSource::Value(value));
    (library, module(&format!("[f:Tool | ({parameter})==>(::Any)]")))
}

#[test]
fn injected_values_are_what_their_parameters_want() {
    for (parameter, text, wanted) in [
        ("port::Int {injected: true}", "8080", json!(8080)),
        ("port::Text {injected: true}", "8080", json!("8080")),
        ("port::Bool {injected: true}", "yes", json!(true)),
        ("port::`Int[]` {injected: true}", "[1, 2]", json!([1, 2])),
    ] {
        let (library, module) = supplied(parameter, json!(text));
        let bound = library.bind(&module).unwrap();
        assert_eq!(bound.tool(0).injected, [("port".into(), wanted)], "{parameter}");
    }
    let (library, module) = supplied("port::Int {injected: true, secret: true}", json!("hunter2"));
    let problems = library.bind(&module).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "the value of the injected parameter `port` of `f` does not match {port: integer}"
    );
    assert_eq!(problems.len(), 1);
}

#[tokio::test]
async fn a_missing_credential_only_stops_the_tools_that_need_it() {
    let spec = "[f:Tool | (key::Text {injected: true, secret: true})==>(::Any)] \
                [g:Tool | ()==>(::Any)] \
                [h:Tool | (key::Text {injected: true, secret: true, optional: true})==>(::Any)]";
    let mut library = ToolLibrary::new("l");
    let missing = InjectedSource::Environment("GRAMC_TEST_NO_SUCH_KEY".into());
    for tool in ["f", "g", "h"] {
        let says = Says { kind: "Says", parameters: json!({"type": "object"}), result: None };
        library = library.with(tool, says);
    }
    let library = library.inject("f", "key", &missing).inject("h", "key", &missing);
    let bound = library.bind(&module(spec)).unwrap();
    let warning = "no value for the injected parameter `key` of `f`: \
                   the environment variable GRAMC_TEST_NO_SUCH_KEY is not set";
    let warnings: Vec<_> = bound.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings, [warning]);
    let session = crate::Session::new(&bound);
    for (tool, detail) in [("f", warning), ("g", "it never runs"), ("h", "it never runs")] {
        let verdict = session.call(crate::Call::new(tool, "{}")).await;
        assert_eq!(verdict.json()["error"]["detail"], detail, "{tool}");
    }
}

#[test]
fn what_nobody_takes_is_not_injected_in_silence() {
    let (library, module) = supplied("prt::Int {injected: true, default: 1}", json!("8080"));
    let bound = library.bind(&module).unwrap();
    let told: Vec<_> = bound.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["`inject` sets `port`, but `f` has no injected parameter of this name; \
             did you mean `prt`?"]
    );
}

#[test]
fn what_cannot_be_used_is_reported_with_every_other_gap() {
    let text = "[f:Tool | ()==>(::Any)] [g:Tool | ()==>(::Any)] [h:Tool | ()==>(::Any)]\n\
                [l:Library | (f:Builtin {name: nwo}), (g:Replay {from: \"none.jsonl\"})]";
    let module = module(text);
    let folder = std::path::Path::new("/nowhere");
    let library = ToolLibrary::load(&module, &module.libraries[0], LoadOptions::new(folder));
    let (_, problems) = library.bind_partly(&module);
    let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("unknown builtin `nwo`"), "{told:?}");
    assert!(told[1].contains("`g`"), "{told:?}");
    assert!(told[2].contains("`h`"), "{told:?}");
}
