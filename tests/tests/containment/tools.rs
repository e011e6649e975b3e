//! Whether `gram-diff` finds what breaks: on edits of one keyword of the tools in
//! `tests/corpus/import`.

use gram_check::Valid;
use gram_diff::{Breaking, ChangeKind, diff};
use gram_model::Module;
use gram_schema::Draft;
use gram_schema::emit::ParameterSchema;
use gram_schema::import::{ImportOptions, import};
use gram_syntax::{SourceFile, parse};
use gramc_tests::campaign;
use gramc_tests::rng::Rng;
use json_schema_kit::containment::{Containment, decide};
use serde_json::{Value, json};

use crate::edited::real_schemas;
use crate::edits::{Edit, Effect, edits};
use crate::validator;

/// The edits of each tool that are looked at.
const EDITS: usize = 25;

/// A specification with one tool.
fn module(schema: &Value) -> Option<Valid<Module>> {
    let list = json!({"tools": [{"name": "f", "inputSchema": schema}]}).to_string();
    let imported = import(&list, &ImportOptions::default()).ok()?;
    gram_check::check(&[parse(SourceFile::new("tools.gram", imported.text))]).module
}

fn parameters(module: &Module) -> Value {
    let schema = ParameterSchema::new(&module.types, &module.tools[0], Draft::Draft2020);
    serde_json::to_value(schema).unwrap()
}

/// What is wrong with the changes of an edit, and whether they are undecided.
fn judge(schema: &Value, edit: &Edit) -> Option<(Result<(), String>, bool)> {
    let (old, new) = (module(schema)?, module(&edit.schema)?);
    let changes = diff(&old, &new);
    let (old, new) = (parameters(&old), parameters(&new));
    let is_undecided = changes.iter().any(|change| change.breaking == Breaking::Unknown);
    let breaks = changes.iter().any(|change| change.breaking == Breaking::Yes);
    let told = || format!("{changes:?}\nold: {old}\nnew: {new}");
    for change in &changes {
        let is_of_input = matches!(
            change.kind,
            ChangeKind::InputNarrowed
                | ChangeKind::InputWidened
                | ChangeKind::InputChanged
                | ChangeKind::Description
                | ChangeKind::Annotation
        );
        if !is_of_input {
            return Some((Err(format!("a change of something else\n{}", told())), false));
        }
        let Some(witness) = &change.witness else { continue };
        if !validator(&old).is_valid(&witness.value) || validator(&new).is_valid(&witness.value) {
            return Some((Err(format!("{} breaks nothing\n{}", witness.value, told())), false));
        }
    }
    // A new optional parameter breaks nothing.
    let is_new = edit.name.starts_with("a property, required: false");
    let is_refused = matches!(decide(&new, &old), Containment::Refuted(_));
    let fault = match edit.effect {
        _ if is_undecided => None,
        Effect::Widens if breaks => Some("a wider tool breaks callers"),
        // A map takes any name, so that a new name in it narrows it.
        Effect::Any if is_new && breaks && edit.name.ends_with("at \"\"") => {
            Some("a new optional parameter breaks callers")
        }
        Effect::Narrows | Effect::Any if is_refused && !breaks && !is_new => {
            Some("a narrower tool breaks nothing")
        }
        _ => None,
    };
    Some((fault.map_or(Ok(()), |fault| Err(format!("{fault}\n{}", told()))), is_undecided))
}

#[test]
fn breaking_edits_of_real_tools_are_found() {
    let schemas = real_schemas();
    let seed = campaign::seed().wrapping_add(11);
    let found = campaign::each_thread(|first, step| {
        let (mut count, mut undecided, mut faults) = (0, 0, Vec::new());
        for (at, (name, schema)) in schemas.iter().enumerate().skip(first).step_by(step) {
            let mut rng = Rng::for_case(seed, at);
            let mut all = edits(schema);
            while all.len() > EDITS {
                all.swap_remove(rng.below(all.len()));
            }
            for edit in all {
                let Some((judged, is_undecided)) = judge(schema, &edit) else { continue };
                count += 1;
                undecided += usize::from(is_undecided);
                faults.extend(judged.err().map(|fault| format!("{name}: {}: {fault}", edit.name)));
            }
        }
        (count, undecided, faults)
    });
    let (mut count, mut undecided, mut faults) = (0, 0, Vec::new());
    for (some, unknown, wrong) in found {
        count += some;
        undecided += unknown;
        faults.extend(wrong);
    }
    assert!(count > 1_000, "only {count} edits");
    let first = faults.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(faults.is_empty(), "{} of {count} are wrong:\n{first}", faults.len());
    assert!(undecided * 200 <= count, "{undecided} of {count} are undecided");
}
