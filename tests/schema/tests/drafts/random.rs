//! Random schemas over the keywords of each draft.

use gramc_language_tests::campaign;
use gramc_language_tests::rng::Rng;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::generate::Generator;
use super::{DRAFTS, declared, imported, is_valid, wrapped};

/// How many values each schema is asked about.
pub(crate) const VALUES: usize = 12;

/// How many faults each thread reports before it stops.
const MAX_FAULTS: usize = 3;

/// The formats that are annotations to gramc.
const ANNOTATIONS: [&str; 4] = ["regex", "json-pointer", "uri-reference", "iri"];

pub(crate) fn referee(schema: &Value, draft: Draft) -> Validator {
    let mut options = jsonschema::options().with_draft(draft).should_validate_formats(true);
    for format in ANNOTATIONS {
        options = options.with_format(format, |_: &str| true);
    }
    options.build(schema).unwrap_or_else(|error| panic!("{error}\n{schema}"))
}

/// The verdicts of the referee, and what is wrong.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) valid: usize,
    pub(crate) invalid: usize,
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

/// Judges random cases, each by its number.
pub(crate) fn assert_no_faults(
    salt: u64,
    cases: usize,
    judge: impl Fn(&mut Rng, usize, &mut Counts) -> Result<(), String> + Sync,
) {
    let seed = campaign::seed().wrapping_add(salt);
    let found = campaign::each_thread(|first, step| {
        let mut counts = Counts::default();
        for case in (first..cases).step_by(step) {
            if let Err(fault) = judge(&mut Rng::for_case(seed, case), case, &mut counts) {
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

#[test]
fn random_schemas_of_all_drafts_are_judged_as_by_the_referee() {
    assert_no_faults(19, campaign::cases() / 4, |rng, case, counts| {
        judge(rng, DRAFTS[case / 2 % DRAFTS.len()], counts)
    });
}
