//! Random schemas of draft 2020-12, rewritten as draft 7.

use gramc_json_schema::draft7::to_draft7;
use gramc_language_tests::campaign;
use gramc_language_tests::rng::Rng;
use jsonschema::Draft;
use serde_json::Value;

use super::generate::Generator;
use super::random::{Counts, VALUES, assert_no_faults, referee};

/// The keywords under which a schema that allows more may make the whole allow less.
const TURNING: [&str; 3] = ["\"not\":", "\"if\":", "\"oneOf\":"];

fn judge(rng: &mut Rng, counts: &mut Counts) -> Result<(), String> {
    let mut generator = Generator::new(rng, Draft::Draft202012);
    let schema = generator.document();
    let values: Vec<Value> = (0..VALUES).map(|_| generator.instance(&schema)).collect();
    let written = to_draft7(&schema);
    let draft7 = &written.schema;
    jsonschema::draft7::meta::validate(draft7)
        .map_err(|error| format!("{error}\n{schema}\n{draft7}"))?;
    let text = schema.to_string();
    let turns = TURNING.iter().any(|key| text.contains(key));
    let (before, after) = (referee(&schema, Draft::Draft202012), referee(draft7, Draft::Draft7));
    for value in &values {
        let (valid, now) = (before.is_valid(value), after.is_valid(value));
        let agree = if written.lost.is_empty() { valid == now } else { turns || now || !valid };
        if !agree {
            return Err(format!("valid: {valid}, in draft 7: {now}: {value}\n{schema}\n{draft7}"));
        }
        counts.valid += usize::from(valid);
        counts.invalid += usize::from(!valid);
    }
    Ok(())
}

#[test]
fn random_schemas_mean_the_same_in_draft_7() {
    assert_no_faults(23, campaign::cases() / 4, |rng, _, counts| judge(rng, counts));
}
