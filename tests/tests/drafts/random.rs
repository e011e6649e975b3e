//! Random schemas over the keywords of each draft.

use gramc_tests::campaign;
use gramc_tests::rng::Rng;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::generate::Generator;
use super::{DRAFTS, declared, imported, is_valid, wrapped};

/// How many values each schema is asked about.
const VALUES: usize = 12;

/// How many faults each thread reports before it stops.
const MAX_FAULTS: usize = 3;

/// The formats that are annotations to gramc.
const ANNOTATIONS: [&str; 4] = ["regex", "json-pointer", "uri-reference", "iri"];

fn referee(schema: &Value, draft: Draft) -> Validator {
    let mut options = jsonschema::options().with_draft(draft).should_validate_formats(true);
    for format in ANNOTATIONS {
        options = options.with_format(format, |_: &str| true);
    }
    options.build(schema).unwrap_or_else(|error| panic!("{error}\n{schema}"))
}

#[derive(Default)]
struct Counts {
    valid: usize,
    invalid: usize,
    faults: Vec<String>,
}

fn judge(rng: &mut Rng, draft: (Draft, &str, &str), counts: &mut Counts) -> Result<(), String> {
    let (draft, _, id) = draft;
    let mut generator = Generator::new(rng, draft);
    let schema = generator.document();
    let values: Vec<Value> = (0..VALUES).map(|_| generator.instance(&schema)).collect();
    let mut forms = vec![(declared(&schema, draft), false)];
    forms.extend(wrapped(&schema, draft, id).map(|schema| (schema, true)));
    for (schema, is_wrapped) in forms {
        let referee = referee(&schema, draft);
        let check = imported(&schema).map_err(|error| format!("{error}\n{schema}"))?;
        for value in &values {
            let value = if is_wrapped { json!({"value": value}) } else { value.clone() };
            let valid = referee.is_valid(&value);
            if is_valid(&check, &value) != valid {
                return Err(format!("valid: {valid}: {value}\n{schema}"));
            }
            counts.valid += usize::from(valid);
            counts.invalid += usize::from(!valid);
        }
    }
    Ok(())
}

#[test]
fn random_schemas_of_all_drafts_are_judged_as_by_the_referee() {
    let seed = campaign::seed().wrapping_add(19);
    let cases = campaign::cases() / 4;
    let found = campaign::each_thread(|first, step| {
        let mut counts = Counts::default();
        for case in (first..cases).step_by(step) {
            let draft = DRAFTS[case / step % DRAFTS.len()];
            let mut rng = Rng::for_case(seed, case);
            if let Err(fault) = judge(&mut rng, draft, &mut counts) {
                counts.faults.push(format!("case {case}: {fault}"));
            }
            if counts.faults.len() == MAX_FAULTS {
                break;
            }
        }
        counts
    });
    let faults: Vec<&str> = found.iter().flat_map(|found| &found.faults).map(|f| &**f).collect();
    assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n\n"));
    let valid: usize = found.iter().map(|counts| counts.valid).sum();
    let invalid: usize = found.iter().map(|counts| counts.invalid).sum();
    assert!(valid > cases * 3 && invalid > cases * 3, "{valid} valid, {invalid} invalid");
}
