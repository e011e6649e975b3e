//! Checks the declared interface of an implementation against a tool.

use gramc_check::{ImportGraph, ResolvedImport};
use gramc_model::{Module, Open, Optionality, Tool, Types, ValueSource};
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use gramc_syntax::{Severity, SourceFile, Span, parse};
use serde_json::{Value, json};

use super::problem::{BindProblem, Incompatibility};
use crate::invocation::DeclaredInterface;
use crate::library::LibraryEntry;
use crate::settings::Settings;
use gramc_calls::check::{ToolCheck, Undeclared};
use gramc_json_schema::containment::{Containment, decide};
use gramc_json_schema::keywords::{Keyword, Keywords};

/// Incompatibilities between a tool and its implementation.
pub(super) fn problems(
    module: &Module,
    tool: &Tool,
    declared: &DeclaredInterface,
    entry: &LibraryEntry,
) -> Vec<BindProblem> {
    let types = &module.types;
    let (parameters, result) = match declared {
        DeclaredInterface::Schemas { parameters, result } => (parameters.clone(), result.clone()),
        DeclaredInterface::Signature { text, types } => match schemas(module, text, types) {
            Ok(schemas) => schemas,
            Err(error) => {
                let (tool, why) = (tool.name.clone(), error.to_string());
                return vec![BindProblem::NoSignature { tool, why }];
            }
        },
    };
    let mut problems = Vec::new();
    let mut look = |incompatibility, fit| match fit {
        Containment::Proven => {}
        Containment::Refuted(example) => {
            problems.push(BindProblem::Incompatible {
                tool: tool.name.clone(),
                incompatibility,
                example,
            });
        }
        Containment::Undecided(why) => {
            problems.push(BindProblem::Undecided { tool: tool.name.clone(), incompatibility, why });
        }
    };
    look(
        Incompatibility::Arguments,
        decide(&parameters, &received_schema(types, tool, &entry.settings)),
    );
    let is_mcp = entry.implementation.kind() == "Mcp";
    if is_mcp && wants_only_text(types, tool) {
        // The result is the text content of the answer.
        return problems;
    }
    let wanted = ResultSchema::new(types, tool).map(value);
    // A tool without a result schema allows any result.
    match (wanted, result) {
        (Some(wanted), Some(given)) => {
            let fit = decide(&wanted, &given);
            let within =
                if is_mcp && fit != Containment::Proven { within_result(&given) } else { None };
            look(Incompatibility::Result, within.map_or(fit, |within| decide(&wanted, &within)));
        }
        // An undeclared result is at least text.
        (Some(wanted), None)
            if decide(&wanted, &json!({"type": "string"})) != Containment::Proven =>
        {
            let why = "its result type is unknown".to_owned();
            look(Incompatibility::Result, Containment::Undecided(why));
        }
        _ => {}
    }
    problems
}

fn value(view: impl serde::Serialize) -> Value {
    // Serialization does not fail, because all keys are strings.
    serde_json::to_value(view).unwrap_or_default()
}

/// Why a text is not a signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SignatureError {
    #[error("invalid signature")]
    NoSignature,
    #[error("{0}")]
    Invalid(String),
}

/// The schemas of a signature. Names refer to the declarations in `types`, then to types of the
/// specification.
pub(crate) fn schemas(
    module: &Module,
    signature: &str,
    types: &str,
) -> Result<(Value, Option<Value>), SignatureError> {
    let text = format!("[implementation:Tool | {signature}]");
    let read = |name: &str, text: &str| parse(SourceFile::new(name, text));
    let alone = [read("signature", &text), read("library", types)];
    let mut checked = gramc_check::check(&alone);
    if checked.module.is_none() && !module.types.0.is_empty() {
        let only_types = Module { types: module.types.clone(), ..Module::default() };
        let [signature, types] = alone;
        let span = Span::empty(0);
        // Imports take precedence over declarations of other files.
        let imports = vec![vec![ResolvedImport { span, text: Ok(1) }]];
        let imports = ImportGraph { of: imports };
        let texts = [signature, types, read("types", &gramc_model::print::print(&only_types))];
        checked = gramc_check::check_linked(&texts, &imports);
    }
    let Some(module) = checked.module else {
        let error = checked.diagnostics.iter().find(|found| found.severity == Severity::Error);
        return Err(error.map_or(SignatureError::NoSignature, |found| {
            SignatureError::Invalid(found.message.clone())
        }));
    };
    let tool = module.tools.iter().find(|tool| tool.name == "implementation");
    tool.map(|tool| schemas_of(&module.types, tool)).ok_or(SignatureError::NoSignature)
}

/// The schemas of a tool's parameters and result.
pub(crate) fn schemas_of(types: &Types, tool: &Tool) -> (Value, Option<Value>) {
    let parameters = value(ParameterSchema::new(types, tool));
    (parameters, ResultSchema::new(types, tool).map(value))
}

fn wants_only_text(types: &Types, tool: &Tool) -> bool {
    matches!(ToolCheck::of_result(types, tool), Ok(Some(check)) if check.takes_only_text())
}

/// The schema of the property `result`, if it is the only one: servers of the Python SDK wrap
/// results that are not objects, and a call unwraps them.
fn within_result(schema: &Value) -> Option<Value> {
    let properties = schema.get("properties")?.as_object()?;
    if properties.len() != 1 || schema.get("required")? != &json!(["result"]) {
        return None;
    }
    let mut within = properties.get("result")?.clone();
    if let Value::Object(within) = &mut within {
        // References resolve against the whole document.
        for key in ["$schema", "$defs", "definitions"] {
            within.extend(schema.get(key).map(|value| (key.to_owned(), value.clone())));
        }
    }
    Some(within)
}

/// The schema of the arguments that an implementation receives: those that the model may send,
/// plus those that the host adds, minus those that are stripped.
fn received_schema(types: &Types, tool: &Tool, settings: &Settings) -> Value {
    let mut tool = tool.clone();
    let mut pinned = Vec::new();
    for parameter in &mut tool.parameters {
        if parameter.source != ValueSource::Model || parameter.type_use.default.is_some() {
            parameter.optionality = Optionality::Required;
        }
        if let ValueSource::Pinned(value) = std::mem::take(&mut parameter.source) {
            pinned.push((parameter.name.clone(), value));
        }
    }
    let strips = matches!(settings.check.undeclared, Undeclared::Strip | Undeclared::Reject);
    if strips && tool.open == Open::Unsaid {
        tool.open = Open::No;
    }
    let mut schema = value(ParameterSchema::new(types, &tool));
    apply_check(&mut schema, strips);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, value) in pinned {
            properties.insert(name.to_string(), json!({ "const": value }));
        }
    }
    schema
}

/// Keywords, in addition to in-place applicators, that make the effect of the check on an object
/// unknown.
const OPAQUE_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::PatternProperties,
    Keyword::Enum,
    Keyword::Const,
    Keyword::MinProperties,
    Keyword::MaxProperties,
]);

/// Keywords whose subschemas describe values that the check changes.
const CHECKED_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Defs,
    Keyword::Items,
    Keyword::AdditionalProperties,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::PrefixItems,
]);

/// Rewrites a schema to describe the output of the check: properties with a default are present,
/// and undeclared properties are absent if the check strips them.
fn apply_check(schema: &mut Value, strips: bool) {
    let Value::Object(map) = schema else { return };
    let is_opaque = |keyword: Keyword| keyword.applies_in_place() || OPAQUE_KEYWORDS.has(keyword);
    let is_plain = !map.keys().any(|key| is_opaque(Keyword::of(key)));
    if let Some(Value::Object(properties)) = map.get("properties")
        && is_plain
        && !properties.is_empty()
    {
        let defaults = properties.iter().filter(|(_, schema)| schema.get("default").is_some());
        let mut there: Vec<_> = defaults.map(|(name, _)| Value::from(name.as_str())).collect();
        if strips && !map.contains_key("additionalProperties") {
            map.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        let required = map.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(required) = required {
            there.retain(|name| !required.contains(name));
            required.append(&mut there);
        }
    }
    for (key, value) in map {
        let keyword = Keyword::of(key);
        if CHECKED_KEYWORDS.has(keyword) {
            for schema in keyword.subschemas_mut(value) {
                apply_check(schema, strips);
            }
        }
    }
}
