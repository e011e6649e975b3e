//! Random modules for every target: what comes out keeps to the target's rules, and the arguments
//! of a call lead back to those of the tool's own schema.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod encode;

use encode::Encoder;
use gramc_check::{Valid, check};
use gramc_language_tests::modules::{Modules, Numbers};
use gramc_language_tests::rng::Rng;
use gramc_language_tests::{campaign, reading};
use gramc_model::print::print;
use gramc_model::{Module, Tool};
use gramc_schema::Target;
use gramc_schema::emit::{Compilation, Entry, Options, ParameterSchema};
use gramc_schema::lower::{Became, Effect, Loss};
use gramc_schema_tests::rules;
use gramc_syntax::{SourceFile, parse};
use jsonschema::Validator;
use serde_json::{Map, Value};

/// How many values each tool's schema is asked about.
const VALUES: usize = 6;

/// How many faults each thread reports before it stops.
const MAX_FAULTS: usize = 3;

/// What reads schemas of draft 2020-12. Formats and encodings are remarks.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    let mut schema = schema.clone();
    escape_references(&mut schema);
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .build(&schema)
        .map_err(|error| format!("{error}\n{schema}"))
}

/// Real schemas refer to names with brackets, which a URI may not hold as they are.
fn escape_references(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "$ref" => {
                        *text = text.replace('[', "%5B").replace(']', "%5D");
                    }
                    value => escape_references(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(escape_references),
        _ => {}
    }
}

/// The schema of the parameters of a tool in a target's form.
fn parameters(target: Target, tool: &Value) -> Value {
    let path = match target {
        Target::JsonSchema => "",
        Target::OpenAi
        | Target::OpenAiStrict
        | Target::Mistral
        | Target::Ollama
        | Target::LlamaCpp
        | Target::Vllm => "/function/parameters",
        Target::OpenAiFunctions | Target::OpenAiResponses | Target::Gemini => "/parameters",
        Target::Anthropic | Target::AnthropicStrict => "/input_schema",
        Target::GeminiJson => "/parametersJsonSchema",
        Target::Bedrock => "/toolSpec/inputSchema/json",
        Target::Mcp => "/inputSchema",
        Target::OpenAiResponseFormat
        | Target::OpenAiTextFormat
        | Target::GeminiResponseSchema
        | Target::AnthropicOutputFormat => panic!("{target:?} has no tools"),
    };
    let schema = tool.pointer(path).cloned();
    // Gemini knows tools without parameters, whose arguments are an empty object.
    let schema = schema.unwrap_or_else(|| serde_json::json!({"type": "object"}));
    if target == Target::Gemini { as_json_schema(schema) } else { schema }
}

/// A schema of `OpenAPI` 3.0, which says `nullable`, as JSON Schema.
fn as_json_schema(schema: Value) -> Value {
    let Value::Object(mut map) = schema else { return schema };
    if let Some(items) = map.get_mut("items") {
        *items = as_json_schema(items.take());
    }
    if let Some(Value::Object(fields)) = map.get_mut("properties") {
        for field in fields.values_mut() {
            *field = as_json_schema(field.take());
        }
    }
    if let Some(Value::Array(members)) = map.get_mut("anyOf") {
        for member in members.iter_mut() {
            *member = as_json_schema(member.take());
        }
    }
    if map.remove("nullable") == Some(Value::Bool(true)) {
        if let Some(name) = map.get("type").cloned() {
            map.insert("type".to_owned(), Value::Array(vec![name, "null".into()]));
        }
        if let Some(Value::Array(values)) = map.get_mut("enum") {
            values.push(Value::Null);
        }
        if let Some(Value::Array(members)) = map.get_mut("anyOf") {
            members.push(serde_json::json!({"type": "null"}));
        }
    }
    Value::Object(map)
}

/// What was seen.
#[derive(Debug, Default)]
struct Tally {
    /// Calls that a target's schema accepts, and their own schema, too, once they are led back.
    accepted: usize,
    /// Calls that a target's schema refuses.
    refused: usize,
    /// Calls that were written by hand for a target's schema.
    encoded: usize,
    /// How often a target could not hold something.
    losses: usize,
}

/// Looks at all that a module is compiled to for one target.
fn look_at(
    module: &Valid<Module>,
    target: Target,
    values: &mut dyn FnMut(&Tool) -> Vec<Value>,
    tally: &mut Tally,
) -> Result<(), String> {
    let compilation = Compilation::new(module, &Options::new(target, 1));
    let request = serde_json::to_value(compilation.request()).unwrap();
    let complaints = rules::complaints(target.name(), &request);
    if !complaints.is_empty() {
        return Err(format!("{complaints:#?}"));
    }
    for entry in compilation.entries() {
        let Entry::Tool(tool) = entry else { continue };
        let values = values(tool);
        if values.is_empty() {
            continue;
        }
        let compiled = compilation.compile(*entry);
        tally.losses += compiled.losses().len();
        let restore = compiled.restore();
        let own = ParameterSchema::new(&module.types, tool);
        let own = serde_json::to_value(own).unwrap();
        let json = match compiled.json() {
            Some(json) => json.clone(),
            None => own.clone(),
        };
        let lowered = parameters(target, &json);
        let strict = matches!(target, Target::OpenAiStrict | Target::AnthropicStrict);
        let told = |loss: &Loss| loss.path == "additionalProperties";
        if strict
            && own.get("additionalProperties") != Some(&Value::Bool(false))
            && !compiled.losses().iter().any(told)
        {
            return Err(format!("nothing says that it is closed: {own}"));
        }
        let both = Both {
            own_validator: validator(&own)?,
            validator: validator(&lowered)?,
            encoder: Encoder { own: &own, target: &lowered },
            widens: compiled.losses().iter().any(|loss| {
                // An open object still accepts the key that was renamed, as any other one.
                let is_renamed = matches!(loss.became, Became::Renamed { .. });
                loss.effect() == Effect::Wider || is_renamed
            }),
        };
        for value in values {
            let arguments = |call: Value| restore.arguments(call);
            both.look(&value, &arguments, tally).map_err(|fault| {
                let losses = compiled.losses();
                format!("{fault}\nown     {own}\nlowered {lowered}\nlosses {losses:?}")
            })?;
        }
    }
    Ok(())
}

/// Both schemas of a tool.
struct Both<'s> {
    own_validator: Validator,
    validator: Validator,
    encoder: Encoder<'s>,
    /// Whether a loss admits values that the own schema refuses.
    widens: bool,
}

impl Both<'_> {
    /// Looks at a call that may be meant for either schema.
    fn look(
        &self,
        value: &Value,
        restored: &dyn Fn(Value) -> Value,
        tally: &mut Tally,
    ) -> Result<(), String> {
        // Whatever a model sends is led back somewhere, and stays what it was led back to.
        let back = restored(value.clone());
        let accepted = self.validator.is_valid(value) && self.own_validator.is_valid(&back);
        if !self.widens && self.validator.is_valid(value) && !accepted {
            return Err(format!("no loss is wider, but {value} is accepted, and {back} is not"));
        }
        tally.accepted += usize::from(accepted);
        tally.refused += usize::from(!accepted);
        if !self.own_validator.is_valid(value) {
            return Ok(());
        }
        let Some((call, meant)) = self.encoder.arguments(value) else { return Ok(()) };
        // What the target cannot be told may have been what mattered.
        if !self.own_validator.is_valid(&meant) {
            return Ok(());
        }
        tally.encoded += 1;
        if !self.validator.is_valid(&call) {
            let errors: Vec<_> =
                self.validator.iter_errors(&call).map(|error| error.to_string()).collect();
            return Err(format!("the schema refuses {call} for {meant}: {errors:?}"));
        }
        let back = restored(call.clone());
        if !self.own_validator.is_valid(&back) {
            return Err(format!("{call} for {meant} is led back to {back}, which is refused"));
        }
        if !reading::equal(&without_null(&back), &without_null(&meant)) {
            return Err(format!("{call} for {meant} is led back to {back}"));
        }
        Ok(())
    }
}

/// A value without properties that are null: what may be null may often be left out, too, and a
/// target may know one of both only.
fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_null(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_null).collect(),
        value => value.clone(),
    }
}

/// A module as the checker made it.
fn checked(text: &str) -> Result<Valid<Module>, String> {
    let checked = check(&[parse(SourceFile::new("module.gram", text))]);
    checked.module.ok_or_else(|| {
        let found: Vec<_> = checked.diagnostics.iter().map(|found| &found.message).collect();
        format!("{found:?}")
    })
}

fn look(rng: &mut Rng, case: usize, tally: &mut Tally) -> Result<(), String> {
    let mut modules = Modules::new(rng, Numbers::Doubles);
    let text = print(&modules.module());
    let at_fault = |target: Target, fault: String| format!("{}: {fault}\n{text}", target.name());
    let module = checked(&text).map_err(|fault| format!("{fault}\n{text}"))?;
    for (at, target) in Target::ALL.into_iter().enumerate() {
        // Each target's calls are looked at in one of some cases.
        let calls = at % 4 == case % 4;
        let mut values = |tool: &Tool| {
            let count = if calls { VALUES } else { 0 };
            let values = (0..count).filter_map(|_| {
                let mut value = Value::Object(modules.arguments(tool)?);
                if modules.decide(20) {
                    modules.change(&mut value);
                }
                Some(value)
            });
            values.collect()
        };
        look_at(&module, target, &mut values, tally).map_err(|fault| at_fault(target, fault))?;
    }
    Ok(())
}

#[test]
fn random_modules_keep_to_the_rules_of_all_targets() {
    let seed = campaign::seed().wrapping_add(6);
    let cases = campaign::cases() / 2;
    let found = campaign::each_thread(|first, step| {
        let (mut faults, mut tally) = (Vec::new(), Tally::default());
        for case in (first..cases).step_by(step) {
            if let Err(fault) = look(&mut Rng::for_case(seed, case), case, &mut tally) {
                faults.push(format!("case {case}: {fault}"));
            }
            if faults.len() == MAX_FAULTS {
                break;
            }
        }
        (faults, tally)
    });
    let faults: Vec<&str> = found.iter().flat_map(|(faults, _)| faults).map(|f| &**f).collect();
    assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n\n"));
    let sum = |part: fn(&Tally) -> usize| found.iter().map(|(_, tally)| part(tally)).sum::<usize>();
    for part in [
        (|tally: &Tally| tally.accepted) as fn(&Tally) -> usize,
        |tally| tally.refused,
        |tally| tally.encoded,
        |tally| tally.losses,
    ] {
        assert!(
            sum(part) > cases / 2,
            "{:?}",
            found.iter().map(|(_, tally)| tally).collect::<Vec<_>>()
        );
    }
}

/// A value as a schema of the corpus may take it: small, and made from the schema alone.
fn sample(rng: &mut Rng, root: &Value, schema: &Value, depth: usize) -> Value {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => root.pointer(&reference[1..]).unwrap_or(schema),
        None => schema,
    };
    let list =
        |key: &str| schema.get(key).and_then(Value::as_array).filter(|list| !list.is_empty());
    for key in ["enum", "examples"] {
        if let Some(values) = list(key) {
            return values[rng.below(values.len())].clone();
        }
    }
    for key in ["const", "default"] {
        if let Some(value) = schema.get(key).filter(|_| key == "const" || rng.chance(50)) {
            return value.clone();
        }
    }
    if let Some(members) = list("anyOf").or_else(|| list("oneOf")) {
        let at = rng.below(members.len());
        return sample(rng, root, &members[at], depth);
    }
    let ty = match schema.get("type") {
        Some(Value::Array(names)) => names[rng.below(names.len())].as_str(),
        Some(name) => name.as_str(),
        None if schema.get("properties").is_some() => Some("object"),
        None => None,
    };
    match ty {
        Some("null") => Value::Null,
        Some("boolean") => Value::Bool(rng.chance(50)),
        Some("integer" | "number") => {
            let least = schema.get("minimum").cloned();
            least.filter(|_| rng.chance(50)).unwrap_or_else(|| Value::from(rng.between(1, 20)))
        }
        Some("array") if depth > 0 => {
            let item = |rng: &mut Rng, at: usize| {
                let first = list("prefixItems").and_then(|prefix| prefix.get(at));
                let schema = first.or_else(|| schema.get("items")).unwrap_or(&Value::Null);
                sample(rng, root, schema, depth - 1)
            };
            let count = list("prefixItems").map_or_else(|| rng.between(1, 3), Vec::len);
            (0..count).map(|at| item(rng, at)).collect()
        }
        Some("array") => Value::Array(Vec::new()),
        Some("object") => {
            let mut map = Map::new();
            let fields = schema.get("properties").and_then(Value::as_object);
            for (name, field) in fields.into_iter().flatten() {
                let required =
                    list("required").is_some_and(|names| names.iter().any(|n| n == name));
                if required || (depth > 0 && rng.chance(50)) {
                    map.insert(name.clone(), sample(rng, root, field, depth.saturating_sub(1)));
                }
            }
            if let Some(rest) = schema.get("additionalProperties").filter(|rest| rest.is_object()) {
                map.insert("more".to_owned(), sample(rng, root, rest, depth.saturating_sub(1)));
            }
            Value::Object(map)
        }
        _ => rng.pick(&["", "a", "2026-03-02", "five words are in here"]).into(),
    }
}

#[test]
fn imported_tools_keep_to_the_rules_of_all_targets() {
    let folder = gramc_language_tests::root().join("tests/corpus/import");
    let mut tally = Tally::default();
    let (mut files, mut faults) = (0, Vec::new());
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_json = |path: &&std::path::PathBuf| path.extension().is_some_and(|ext| ext == "json");
    for path in paths.iter().filter(is_json) {
        let json = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy();
        let imported = import(&json, &name);
        let module =
            checked(&imported).unwrap_or_else(|fault| panic!("{name}: {fault}\n{imported}"));
        files += 1;
        for target in Target::ALL {
            let mut rng = Rng::new(campaign::seed());
            let mut values = |tool: &Tool| {
                let schema = ParameterSchema::new(&module.types, tool);
                let schema = serde_json::to_value(schema).unwrap();
                (0..40).map(|_| sample(&mut rng, &schema, &schema, 4)).collect()
            };
            if let Err(fault) = look_at(&module, target, &mut values, &mut tally) {
                faults.push(format!("{name}, {}: {fault}", target.name()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(files >= 15 && tally.encoded > 10_000 && tally.losses > 1_000, "{files} {tally:?}");
}

/// The gram text of a document that is imported.
fn import(json: &str, name: &str) -> String {
    use gramc_schema::import::{ImportOptions, Origin};
    let options = ImportOptions { from: Origin::default(), name, container: None };
    gramc_schema::import::import(json, &options)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .text
}
