//! The schemas of random tools: valid in themselves, and of one mind with a plain reading of the
//! model on which values they accept. So is the checker, of defaults.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use gram_schema::emit::ParameterSchema;
use gram_schema::model::{Field, Host, Module, ObjectType, Open, Slot, Tool, Type};
use gram_schema::{Draft, check, print};
use gram_syntax::{SourceFile, parse};
use gramc_tests::modules::{Modules, Numbers};
use gramc_tests::rng::Rng;
use gramc_tests::{campaign, reading};
use jsonschema::Validator;
use serde_json::{Map, Value};

/// How many values each tool's schema is asked about.
const VALUES: usize = 24;

/// How many faults each thread reports before it stops.
const MAX_FAULTS: usize = 3;

/// A tool's schema, from its text. A key that stands twice in one object fails here.
fn schema(tool: &Tool, draft: Draft) -> Result<Value, String> {
    let text = serde_json::to_string(&ParameterSchema::new(tool, draft)).unwrap();
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
    // A map keeps one entry for each key, so a second one would be lost here.
    let again = value.to_string();
    if again != text {
        return Err(format!("a key stands twice:\n{text}\n{again}"));
    }
    Ok(value)
}

fn validator(schema: &Value, draft: Draft) -> Result<Validator, String> {
    let (valid, draft) = match draft {
        Draft::Draft2020 => {
            (jsonschema::draft202012::meta::validate(schema), jsonschema::Draft::Draft202012)
        }
        Draft::Draft7 => (jsonschema::draft7::meta::validate(schema), jsonschema::Draft::Draft7),
    };
    valid.map_err(|error| format!("the metaschema rejects it: {error}\n{schema}"))?;
    // Formats and encodings are remarks; what checks them at run time has tests of its own.
    jsonschema::options()
        .with_draft(draft)
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .build(schema)
        .map_err(|error| format!("{error}\n{schema}"))
}

/// How many values were accepted and rejected.
#[derive(Default)]
struct Verdicts {
    accepted: usize,
    rejected: usize,
}

/// Looks for what is wrong with the schema of a random tool.
fn look(rng: &mut Rng, draft: Draft, verdicts: &mut Verdicts) -> Result<(), String> {
    let mut modules = Modules::new(rng, Numbers::Doubles);
    let tool = modules.tool("tool");
    let schema = schema(&tool, draft)?;
    let validator = validator(&schema, draft)?;
    named_values(&tool, draft)?;
    agreement(&mut modules, &tool, &validator, &schema, verdicts)
}

/// Whether all fields' defaults, examples and pinned values are accepted by the schema of their
/// field.
fn named_values(tool: &Tool, draft: Draft) -> Result<(), String> {
    let mut fields: Vec<&Field> = tool.parameters.iter().collect();
    while let Some(field) = fields.pop() {
        fields.extend(inner_fields(&field.slot.ty));
        let Slot { default, details, .. } = &field.slot;
        if details.as_ref().is_some_and(|details| details.unsound) {
            continue;
        }
        let pinned = match &field.host {
            Host::Pinned(value) => Some(&**value),
            Host::No | Host::Injected => None,
        };
        let examples = details.iter().flat_map(|details| &details.examples).flatten();
        let values: Vec<&Value> =
            default.as_deref().into_iter().chain(pinned).chain(examples).collect();
        if values.is_empty() {
            continue;
        }
        // The field as the one parameter of a tool, so that its schema is written as usual.
        let alone = Field { host: Host::No, ..field.clone() };
        let alone = Tool {
            parameters: vec![alone],
            open: Open::Unsaid,
            attributes: Vec::new(),
            ..tool.clone()
        };
        let schema = schema(&alone, draft)?;
        let validator = validator(&schema, draft)?;
        for value in values {
            let object = Map::from_iter([(field.name.to_string(), value.clone())]);
            if !validator.is_valid(&Value::Object(object)) {
                return Err(format!("the schema rejects its own value {value}\n{schema}"));
            }
        }
    }
    Ok(())
}

/// The fields of an object type, where a type is one.
fn inner_fields(ty: &Type) -> impl Iterator<Item = &Field> {
    let ty = match ty {
        Type::Nullable(inner) => inner,
        ty => ty,
    };
    let fields = match ty {
        Type::Object(object) => {
            let ObjectType { fields, .. } = &**object;
            fields.as_deref()
        }
        _ => None,
    };
    fields.unwrap_or_default().iter()
}

/// Whether schema and reading agree on random arguments.
fn agreement(
    modules: &mut Modules<'_>,
    tool: &Tool,
    validator: &Validator,
    schema: &Value,
    verdicts: &mut Verdicts,
) -> Result<(), String> {
    for _ in 0..VALUES {
        let Some(mut arguments) = modules.arguments(&tool.parameters, &tool.open, 2) else {
            break;
        };
        if modules.decide(50) {
            modules.try_attributes(&tool.parameters, &mut arguments);
        }
        let mut arguments = Value::Object(arguments);
        // Most random values are refused at once; one that was nearly taken says more.
        if modules.decide(50) {
            modules.change(&mut arguments);
        }
        let read = match &arguments {
            Value::Object(map) => reading::fields(&tool.parameters, &tool.open, map),
            _ => false,
        };
        let accepted = validator.is_valid(&arguments);
        if read != accepted {
            let verdict = if accepted { "accepts" } else { "rejects" };
            let errors: Vec<_> = validator.iter_errors(&arguments).map(|e| e.to_string()).collect();
            return Err(format!(
                "the schema {verdict} {arguments} and should not: {errors:?}\n{schema}"
            ));
        }
        verdicts.accepted += usize::from(accepted);
        verdicts.rejected += usize::from(!accepted);
    }
    Ok(())
}

/// Whether the checker refuses exactly those defaults that the reading refuses.
fn defaults(rng: &mut Rng, verdicts: &mut Verdicts) -> Result<(), String> {
    let mut modules = Modules::new(rng, Numbers::Doubles);
    let mut tool = modules.tool("tool");
    let Some(mut parameter) = tool.parameters.pop() else { return Ok(()) };
    let default = modules.try_value(&parameter.slot.ty);
    let read = reading::slot(&parameter.slot, &default);
    parameter.slot.default = Some(Box::new(default));
    parameter.host = Host::No;
    if let Some(details) = &mut parameter.slot.details {
        details.unsound = false;
    }
    let mut module = Module::default();
    module.tools.push(Tool { parameters: vec![parameter], ..tool });
    let text = print(&module);
    // Regular expressions are for those who run them.
    if text.contains("pattern: ") {
        return Ok(());
    }
    let checked = check(&[parse(SourceFile::new("default.gram", text.as_str()))]);
    let accepted = checked.module.is_some();
    verdicts.accepted += usize::from(accepted);
    verdicts.rejected += usize::from(!accepted);
    if read == accepted {
        return Ok(());
    }
    let found: Vec<_> = checked.diagnostics.iter().map(|found| &found.message).collect();
    let verdict = if accepted { "accepts" } else { "refuses" };
    Err(format!("the checker {verdict} the default and should not: {found:?}\n{text}"))
}

fn assert_no_faults(
    cases: usize,
    look: impl Fn(&mut Rng, &mut Verdicts) -> Result<(), String> + Sync,
) {
    let seed = campaign::seed().wrapping_add(4);
    let found = campaign::each_thread(|first, step| {
        let (mut faults, mut verdicts) = (Vec::new(), Verdicts::default());
        for case in (first..cases).step_by(step) {
            if let Err(fault) = look(&mut Rng::for_case(seed, case), &mut verdicts) {
                faults.push(format!("case {case}: {fault}"));
            }
            if faults.len() == MAX_FAULTS {
                break;
            }
        }
        (faults, verdicts)
    });
    let faults: Vec<&str> = found.iter().flat_map(|(faults, _)| faults).map(|f| &**f).collect();
    assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n\n"));
    let accepted: usize = found.iter().map(|(_, verdicts)| verdicts.accepted).sum();
    let rejected: usize = found.iter().map(|(_, verdicts)| verdicts.rejected).sum();
    let few = cases / 10;
    assert!(accepted > few && rejected > few, "{accepted} accepted, {rejected} rejected");
}

#[test]
fn schemas_of_random_tools_say_what_the_model_says() {
    assert_no_faults(campaign::cases() / 4, |rng, verdicts| look(rng, Draft::Draft2020, verdicts));
}

#[test]
fn schemas_of_draft_7_say_the_same() {
    assert_no_faults(campaign::cases() / 8, |rng, verdicts| look(rng, Draft::Draft7, verdicts));
}

#[test]
fn the_checker_refuses_the_same_defaults() {
    assert_no_faults(campaign::cases() / 4, defaults);
}
