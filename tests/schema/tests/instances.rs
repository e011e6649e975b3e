//! The schemas of random tools: valid in themselves, and of one mind with a plain reading of the
//! model on which values they accept. So is the checker, of defaults.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use gramc_check::check;
use gramc_json_schema::draft7::to_draft7;
use gramc_language_tests::modules::{Modules, Numbers, type_uses};
use gramc_language_tests::rng::Rng;
use gramc_language_tests::{campaign, reading};
use gramc_model::print::print;
use gramc_model::{Field, Module, Open, Optionality, Output, Tool, TypeUse, Types, ValueSource};
use gramc_schema::Draft;
use gramc_schema::emit::ParameterSchema;
use gramc_syntax::{SourceFile, parse};
use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::{Map, Value};

/// How many values each tool's schema is asked about.
const VALUES: usize = 24;

/// How many faults each thread reports before it stops.
const MAX_FAULTS: usize = 3;

/// A tool's schema, from its text. A key that occurs twice in one object fails here.
fn schema(types: &Types, tool: &Tool, draft: Draft) -> Result<Value, String> {
    let text = serde_json::to_string(&ParameterSchema::new(types, tool)).unwrap();
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
    // A map keeps one entry for each key, so a second one would be lost here.
    let again = value.to_string();
    if again != text {
        return Err(format!("a key stands twice:\n{text}\n{again}"));
    }
    Ok(match draft {
        Draft::Draft2020 => value,
        Draft::Draft7 => {
            let written = to_draft7(&value);
            if let [lost, ..] = &written.lost[..] {
                return Err(format!("{lost:?}: {text}"));
            }
            written.schema
        }
    })
}

fn validator(schema: &Value, draft: Draft) -> Result<Validator, String> {
    let (valid, draft) = match draft {
        Draft::Draft2020 => {
            (jsonschema::draft202012::meta::validate(schema), jsonschema::Draft::Draft202012)
        }
        Draft::Draft7 => (jsonschema::draft7::meta::validate(schema), jsonschema::Draft::Draft7),
    };
    valid.map_err(|error| format!("the metaschema rejects it: {error}\n{schema}"))?;
    // Draft 7 asserts encodings, and draft 2020-12 does not; draft 7 lacks two formats.
    let mut options = jsonschema::options()
        .with_draft(draft)
        .should_validate_formats(true)
        .with_keyword("contentEncoding", |_, _, _| Ok(Box::new(Base64)))
        .with_format("duration", |text: &str| reading::has_format("duration", text))
        .with_format("uuid", |text: &str| reading::has_format("uuid", text));
    for format in ["regex", "json-pointer", "uri-reference", "uri-template", "iri", "idn-email"] {
        options = options.with_format(format, |_: &str| true);
    }
    options.build(schema).map_err(|error| format!("{error}\n{schema}"))
}

/// The one encoding.
struct Base64;

impl<'i> Keyword<'i> for Base64 {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        let error = || ValidationError::custom("it is not base64");
        self.is_valid(instance).then_some(()).ok_or_else(error)
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        instance.as_str().is_none_or(reading::is_base64)
    }
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
    let module = modules.one_tool();
    let looked = look_at(&mut modules, &module, draft, verdicts);
    looked.map_err(|fault| format!("{fault}\n{}", print(&module)))
}

fn look_at(
    modules: &mut Modules<'_>,
    module: &Module,
    draft: Draft,
    verdicts: &mut Verdicts,
) -> Result<(), String> {
    let schema = schema(&module.types, &module.tools[0], draft)?;
    let validator = validator(&schema, draft)?;
    named_values(module, draft)?;
    agreement(modules, module, &validator, &schema, verdicts)
}

/// A tool that takes one thing.
fn alone(type_use: TypeUse) -> Tool {
    let name = "alone".into();
    let field = Field {
        name,
        type_use,
        optionality: Optionality::Required,
        source: ValueSource::Model,
        secret: false,
    };
    Tool {
        name: "tool".into(),
        description: None,
        title: None,
        deprecated: false,
        parameters: vec![field],
        result: Output { name: None, type_use: TypeUse::default() },
        open: Open::Unsaid,
        root: None,
        types: Vec::new(),
        attributes: Vec::new(),
    }
}

/// Whether all defaults, examples and pinned values are accepted by the schema of their place.
fn named_values(module: &Module, draft: Draft) -> Result<(), String> {
    for (type_use, host) in type_uses(module) {
        let TypeUse { default, details, .. } = &type_use;
        if details.as_ref().is_some_and(|details| details.unsound) {
            continue;
        }
        let pinned = match &host {
            Some(ValueSource::Pinned(value)) => Some(&**value),
            _ => None,
        };
        let examples = details.iter().flat_map(|details| &details.examples).flatten();
        let values: Vec<Value> =
            default.as_deref().into_iter().chain(pinned).chain(examples).cloned().collect();
        if values.is_empty() {
            continue;
        }
        // The place as that of the one parameter of a tool, so that its schema is written as
        // usual.
        let schema = schema(&module.types, &alone(type_use), draft)?;
        let validator = validator(&schema, draft)?;
        for value in values {
            let object = Map::from_iter([("alone".to_owned(), value.clone())]);
            if !validator.is_valid(&Value::Object(object)) {
                return Err(format!("the schema rejects its own value {value}\n{schema}"));
            }
        }
    }
    Ok(())
}

/// Whether schema and reading agree on random arguments.
fn agreement(
    modules: &mut Modules<'_>,
    module: &Module,
    validator: &Validator,
    schema: &Value,
    verdicts: &mut Verdicts,
) -> Result<(), String> {
    let tool = &module.tools[0];
    for _ in 0..VALUES {
        let Some(mut arguments) = modules.arguments(tool) else { break };
        if modules.decide(50) {
            modules.try_attributes(&tool.parameters, &mut arguments);
        }
        let mut arguments = Value::Object(arguments);
        // Most random values are refused at once; one that was nearly taken says more.
        if modules.decide(50) {
            modules.change(&mut arguments);
        }
        let read = reading::arguments(&module.types, tool, &arguments);
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
    let mut module = modules.one_tool();
    let Some(mut parameter) = module.tools[0].parameters.pop() else { return Ok(()) };
    let default = modules.try_value(&parameter.type_use.ty);
    let read = reading::type_use(&module.types, &parameter.type_use, &default);
    parameter.type_use.default = Some(Box::new(default));
    parameter.source = ValueSource::Model;
    if let Some(details) = &mut parameter.type_use.details {
        details.unsound = false;
    }
    module.tools[0].parameters = vec![parameter];
    let text = print(&module);
    // Schemas are for those who run them.
    if text.contains("schema: ") {
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
