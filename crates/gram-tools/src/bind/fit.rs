//! Whether what an implementation declares fits a tool.

use gram_schema::emit::{ParameterSchema, ResultSchema};
use gram_schema::model::{Host, Module, Open, Presence, Tool, Types};
use gram_schema::{Draft, Link, Links};
use gram_syntax::{Severity, SourceFile, Span, parse};
use serde_json::{Map, Value, json};

use super::problem::{BindProblem, Misfit};
use crate::check::Undeclared;
use crate::fits::{Fit, covers};
use crate::invocation::Declared;
use crate::settings::Settings;

/// What does not fit, or cannot be decided.
pub(super) fn problems(
    module: &Module,
    types: &Types,
    tool: &Tool,
    declared: &Declared,
    settings: &Settings,
) -> Vec<BindProblem> {
    let (parameters, result) = match declared {
        Declared::Schemas { parameters, result } => (parameters.clone(), result.clone()),
        Declared::Signature { text, types } => match schemas(module, text, types) {
            Ok(schemas) => schemas,
            Err(why) => return vec![BindProblem::NoSignature { tool: tool.name.clone(), why }],
        },
    };
    let mut problems = Vec::new();
    let mut look = |misfit, fit| match fit {
        Fit::Yes => {}
        Fit::No(example) => {
            problems.push(BindProblem::Misfit { tool: tool.name.clone(), misfit, example });
        }
        Fit::Undecided(why) => {
            problems.push(BindProblem::Undecided { tool: tool.name.clone(), misfit, why });
        }
    };
    look(Misfit::Arguments, covers(&parameters, &received(types, tool, settings)));
    let wanted = ResultSchema::new(types, tool, Draft::Draft2020).map(value);
    // A tool that says nothing of its result takes everything.
    match (wanted, result) {
        (Some(wanted), Some(given)) => look(Misfit::Result, covers(&wanted, &given)),
        // What an implementation gives back that does not say what is text at least.
        (Some(wanted), None) if covers(&wanted, &json!({"type": "string"})) != Fit::Yes => {
            let why = "it does not say what it gives back".to_owned();
            look(Misfit::Result, Fit::Undecided(why));
        }
        _ => {}
    }
    problems
}

fn value(view: impl serde::Serialize) -> Value {
    // A view of the model writes no key that is no string.
    serde_json::to_value(view).unwrap_or_default()
}

/// The schemas of a signature. Its names mean what `types` declare, else types of the
/// specification.
pub(crate) fn schemas(
    module: &Module,
    signature: &str,
    types: &str,
) -> Result<(Value, Option<Value>), String> {
    let text = format!("[implementation:Tool | {signature}]");
    let read = |name: &str, text: &str| parse(SourceFile::new(name, text));
    let alone = [read("signature", &text), read("library", types)];
    let mut checked = gram_schema::check(&alone);
    if checked.module.is_none() && !module.types.0.is_empty() {
        let mut only_types = Module::default();
        only_types.types = module.types.clone();
        let [signature, types] = alone;
        let span = Span::empty(0);
        // What is imported goes before what other texts declare.
        let links = Links { of: vec![vec![Link { span, text: Ok(1) }]] };
        let texts = [signature, types, read("types", &gram_schema::print(&only_types))];
        checked = gram_schema::check_linked(&texts, &links);
    }
    let Some(module) = checked.module else {
        let error = checked.diagnostics.iter().find(|found| found.severity == Severity::Error);
        return Err(
            error.map_or_else(|| "it is no signature".to_owned(), |found| found.message.clone())
        );
    };
    let tool = module.tools.iter().find(|tool| tool.name == "implementation");
    tool.map(|tool| schemas_of(&module.types, tool)).ok_or_else(|| "it is no signature".to_owned())
}

/// The schemas of what a tool takes and gives.
pub(crate) fn schemas_of(types: &Types, tool: &Tool) -> (Value, Option<Value>) {
    let parameters = value(ParameterSchema::new(types, tool, Draft::Draft2020));
    (parameters, ResultSchema::new(types, tool, Draft::Draft2020).map(value))
}

/// What an implementation receives: what the model may send, with all that the host adds, and
/// without what is stripped.
fn received(types: &Types, tool: &Tool, settings: &Settings) -> Value {
    let mut tool = tool.clone();
    for parameter in &mut tool.parameters {
        if parameter.host != Host::No || parameter.slot.default.is_some() {
            parameter.presence = Presence::Required;
        }
        parameter.host = Host::No;
    }
    let strips = matches!(settings.check.undeclared, Undeclared::Strip | Undeclared::Reject);
    if strips && tool.open == Open::Unsaid {
        tool.open = Open::No;
    }
    let mut schema = value(ParameterSchema::new(types, &tool, Draft::Draft2020));
    if strips {
        close(&mut schema, 0);
    }
    schema
}

/// How deep schemas are looked at.
const MAX_DEPTH: u32 = 100;

/// Says of objects that nothing else is in them where the check strips what is not declared.
fn close(schema: &mut Value, depth: u32) {
    let Value::Object(map) = schema else { return };
    if depth > MAX_DEPTH {
        return;
    }
    let declares = map.get("properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
    let combines = ["$ref", "anyOf", "oneOf", "allOf", "not", "if", "patternProperties"];
    if declares
        && !map.contains_key("additionalProperties")
        && !combines.iter().any(|key| map.contains_key(*key))
    {
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    let each = |map: &mut Map<String, Value>, key: &str| {
        if let Some(Value::Object(schemas)) = map.get_mut(key) {
            schemas.values_mut().for_each(|schema| close(schema, depth + 1));
        }
    };
    each(map, "properties");
    each(map, "$defs");
    for key in ["items", "additionalProperties"] {
        if let Some(schema) = map.get_mut(key) {
            close(schema, depth + 1);
        }
    }
    for key in ["anyOf", "prefixItems"] {
        if let Some(Value::Array(schemas)) = map.get_mut(key) {
            for schema in schemas {
                close(schema, depth + 1);
            }
        }
    }
}
