//! Whether schemas allow what others allow: on all edits of one keyword of the tools in
//! `tests/corpus/import`, and in the folder that the variable `TOOL_LISTS` names.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gramc_json_schema::containment::{Containment, decide};
use gramc_language_tests::campaign;
use gramc_language_tests::rng::Rng;
use gramc_schema::import::{ImportOptions, import};
use jsonschema::canonical::{self, Containment as Canonical};
use serde_json::Value;

use crate::containment::edits::{Edit, Effect, edits};
use crate::containment::{Verdicts, look};

/// The edits of one schema that are looked at in each run, at most.
const EDITS: usize = 60;

/// The schemas of parameters of real tools, by the names of their tools.
pub(crate) fn real_schemas() -> Vec<(String, Value)> {
    let corpus = gramc_language_tests::root().join("tests/corpus/import");
    let more = std::env::var_os("TOOL_LISTS").map(PathBuf::from);
    let mut found = Vec::new();
    for folder in [Some(corpus), more].into_iter().flatten() {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files.into_iter().filter(|file| file.extension().is_some_and(|it| it == "json"))
        {
            let json = std::fs::read_to_string(&file).unwrap();
            let Ok(imported) = import(&json, &ImportOptions::default()) else { continue };
            let text = gramc_syntax::SourceFile::new("tools", imported.text);
            let module = gramc_check::check(&[gramc_syntax::parse(text)]).module.unwrap();
            for tool in &module.tools {
                let schema = gramc_schema::emit::ParameterSchema::new(&module.types, tool);
                let name = format!("{}:{}", file.file_stem().unwrap().display(), tool.name);
                // Some references are no URIs. No other program reads these.
                let schema = serde_json::to_value(schema).unwrap();
                if jsonschema::validator_for(&schema).is_ok() {
                    found.push((name, schema));
                }
            }
        }
    }
    found
}

/// The verdict of another program.
pub(crate) fn canonical(wide: &Value, narrow: &Value) -> Option<bool> {
    let read =
        |schema| canonical::options().should_validate_formats(true).canonicalize(schema).ok();
    match read(wide)?.covers(&read(narrow)?) {
        Ok(Canonical::Yes) => Some(true),
        Ok(Canonical::No) => Some(false),
        _ => None,
    }
}

#[derive(Debug, Default)]
struct Outcome {
    verdicts: Verdicts,
    /// The pairs that the other program decides, too.
    judged: usize,
    slowest: Duration,
}

fn judge(rng: &mut Rng, schema: &Value, edit: &Edit, outcome: &mut Outcome) -> Result<(), String> {
    let Edit { effect, schema: edited, .. } = edit;
    let pairs = [(schema, edited, Effect::Narrows), (edited, schema, Effect::Widens)];
    for (wide, narrow, covered) in pairs {
        let start = Instant::now();
        let answer = decide(wide, narrow);
        outcome.slowest = outcome.slowest.max(start.elapsed());
        look(rng, wide, narrow, &mut outcome.verdicts)?;
        let decided = match answer {
            Containment::Proven => true,
            Containment::Refuted(_) => false,
            Containment::Undecided(_) => continue,
        };
        let pair = || format!("wide: {wide}\nnarrow: {narrow}");
        if *effect == covered && !decided {
            return Err(format!("{effect:?}, but refuted\n{}", pair()));
        }
        if let Some(other) = canonical(wide, narrow) {
            outcome.judged += 1;
            if other != decided {
                return Err(format!("the referee says {other}, not {decided}\n{}", pair()));
            }
        }
    }
    Ok(())
}

#[test]
fn all_edits_of_real_tools_are_decided() {
    let schemas = real_schemas();
    let seed = campaign::seed().wrapping_add(9);
    let is_campaign = std::env::var_os("TOOL_LISTS").is_some();
    let found = campaign::each_thread(|first, step| {
        let mut outcome = Outcome::default();
        for (at, (name, schema)) in schemas.iter().enumerate().skip(first).step_by(step) {
            let mut rng = Rng::for_case(seed, at);
            let mut all = edits(schema);
            while !is_campaign && all.len() > EDITS {
                all.swap_remove(rng.below(all.len()));
            }
            for edit in all {
                if let Err(fault) = judge(&mut rng, schema, &edit, &mut outcome) {
                    outcome.verdicts.faults.push(format!("{name}: {}: {fault}", edit.name));
                }
            }
        }
        outcome
    });
    let mut all = Outcome::default();
    for outcome in found {
        all.verdicts.merge(outcome.verdicts);
        all.judged += outcome.judged;
        all.slowest = all.slowest.max(outcome.slowest);
    }
    let Verdicts { yes, no, undecided, faults, reasons, .. } = &all.verdicts;
    let summary = format!(
        "{} tools: {yes} yes, {no} no, {undecided} undecided, {} judged, slowest {:?}\n",
        schemas.len(),
        all.judged,
        all.slowest
    );
    eprint!("{summary}");
    assert!(
        faults.is_empty(),
        "{summary}{} faults: {}",
        faults.len(),
        faults[..faults.len().min(5)].join("\n\n")
    );
    assert!(
        undecided * 200 <= yes + no + undecided,
        "{summary}{}",
        reasons.keys().take(5).cloned().collect::<Vec<_>>().join("\n")
    );
}
