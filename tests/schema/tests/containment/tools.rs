//! Whether `gramc-diff` finds what breaks: on edits of one keyword of the tools in
//! `tests/corpus/import`, and on random pairs of tools.

use std::time::{Duration, Instant};

use gramc_check::Valid;
use gramc_diff::{Breaking, Change, ChangeKind, diff};
use gramc_json_schema::containment::{Containment, decide};
use gramc_language_tests::campaign;
use gramc_language_tests::rng::Rng;
use gramc_model::Module;
use gramc_schema::emit::{ParameterSchema, ResultSchema};
use gramc_schema::import::{ImportOptions, import};
use gramc_syntax::{SourceFile, parse};
use serde_json::{Value, json};

use crate::containment::edited::{canonical, real_schemas};
use crate::containment::edits::{Edit, Effect, edits};
use crate::containment::{foreign, relatives, validator};

/// The edits of each tool that are looked at.
const EDITS: usize = 25;

/// The part of a tool that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Input,
    Result,
}

impl Part {
    /// The kinds of changes of this part: narrowed, widened and changed.
    fn kinds(self) -> [ChangeKind; 3] {
        match self {
            Self::Input => {
                [ChangeKind::InputNarrowed, ChangeKind::InputWidened, ChangeKind::InputChanged]
            }
            Self::Result => {
                [ChangeKind::ResultNarrowed, ChangeKind::ResultWidened, ChangeKind::ResultChanged]
            }
        }
    }
}

/// A specification with one tool, and the schema of its part.
fn module(schema: &Value, part: Part) -> Option<(Valid<Module>, Value)> {
    let tool = match part {
        Part::Input => json!({"name": "f", "inputSchema": schema}),
        Part::Result => {
            json!({"name": "f", "inputSchema": {"type": "object"}, "outputSchema": schema})
        }
    };
    let imported = import(&json!({"tools": [tool]}).to_string(), &ImportOptions::default()).ok()?;
    let module =
        gramc_check::check(&[parse(SourceFile::new("tools.gram", imported.text))]).module?;
    let (types, tool) = (&module.types, &module.tools[0]);
    let schema = match part {
        Part::Input => serde_json::to_value(ParameterSchema::new(types, tool)),
        Part::Result => serde_json::to_value(ResultSchema::new(types, tool)?),
    };
    // Some references are no URIs. No other program reads these.
    Some((module, schema.unwrap())).filter(|(_, it)| jsonschema::validator_for(it).is_ok())
}

/// What is wrong with the changes of an edit, and whether they are undecided.
fn judge(schema: &Value, edit: &Edit, part: Part) -> Option<(Result<(), String>, bool)> {
    let ((old, old_schema), (new, new_schema)) =
        (module(schema, part)?, module(&edit.schema, part)?);
    let changes = diff(&old, &new);
    let is_undecided = changes.iter().any(|change| change.breaking == Breaking::Unknown);
    let told = |fault: &str| format!("{fault}\n{changes:?}\nold: {old_schema}\nnew: {new_schema}");
    let fault = fault_of(&changes, (&old_schema, &new_schema), edit, part);
    Some((fault.map_or(Ok(()), |fault| Err(told(&fault))), is_undecided))
}

fn fault_of(
    changes: &[Change],
    (old, new): (&Value, &Value),
    edit: &Edit,
    part: Part,
) -> Option<String> {
    // Callers send what the old version takes, and receive what the new one returns.
    let (sent, taken) = if part == Part::Input { (old, new) } else { (new, old) };
    let [narrowed, widened, changed] = part.kinds();
    for change in changes {
        let is_text = matches!(change.kind, ChangeKind::Description | ChangeKind::Annotation);
        if !is_text && !part.kinds().contains(&change.kind) {
            return Some("a change of something else".to_owned());
        }
        let Some(witness) = &change.witness else { continue };
        if !validator(sent).is_valid(&witness.value) || validator(taken).is_valid(&witness.value) {
            return Some(format!("{} breaks nothing", witness.value));
        }
    }
    if changes.iter().any(|change| change.breaking == Breaking::Unknown) {
        return None;
    }
    // A property that is new for the consumer breaks nothing: no producer has sent it.
    let is_new = match part {
        Part::Input => edit.name.starts_with("a property, required: false"),
        Part::Result => edit.name.starts_with("no property"),
    };
    let has = |kind: ChangeKind| changes.iter().any(|change| change.kind == kind);
    let is_wrong_kind = match edit.effect {
        Effect::Narrows => has(widened) || has(changed),
        Effect::Widens => !is_new && (has(narrowed) || has(changed)),
        Effect::Any => false,
    };
    if is_wrong_kind {
        return Some(format!("a wrong kind of change, for {:?}", edit.effect));
    }
    let breaks = changes.iter().any(|change| change.breaking == Breaking::Yes);
    let harmless = if part == Part::Input { Effect::Widens } else { Effect::Narrows };
    let is_refused = matches!(decide(taken, sent), Containment::Refuted(_));
    match edit.effect {
        effect if effect == harmless => {
            breaks.then(|| "a harmless change breaks callers".to_owned())
        }
        // A map takes any name, so that a new name in it narrows it.
        Effect::Any
            if part == Part::Input
                && is_new
                && breaks
                && edit.name.ends_with("at \"\"")
                && old.get("propertyNames").is_none()
                && !old.get("additionalProperties").is_some_and(Value::is_object) =>
        {
            Some("a new optional property breaks callers".to_owned())
        }
        _ if is_refused && !breaks && !is_new => Some("nothing breaks".to_owned()),
        _ => None,
    }
}

/// Schemas that speak of names which they do not declare.
fn schemas_with_names() -> Vec<(String, Value)> {
    let text = json!({"type": "string"});
    let all = [
        json!({"type": "object", "properties": {"a": text}, "required": ["x"]}),
        json!({"type": "object", "properties": {"a": text}, "required": ["a", "x"],
               "additionalProperties": {"type": ["integer", "string"]}}),
        json!({"type": "object", "properties": {"a": text}, "patternProperties": {"^x-": text}}),
        json!({"type": "object", "properties": {"a": text}, "patternProperties": {"^x-": text},
               "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": text},
               "propertyNames": {"enum": ["a", "brand_new"]}}),
    ];
    let nested = all.iter().flat_map(|schema| {
        let list = json!({"type": "array", "items": schema});
        [schema.clone(), list].map(|part| json!({"type": "object", "properties": {"o": part}}))
    });
    let nested: Vec<_> = nested.collect();
    all.into_iter().chain(nested).map(|schema| ("names".to_owned(), schema)).collect()
}

#[test]
fn breaking_edits_of_real_tools_are_found() {
    let schemas = [schemas_with_names(), real_schemas()].concat();
    let seed = campaign::seed().wrapping_add(11);
    let found = campaign::each_thread(|first, step| {
        let (mut count, mut undecided, mut faults) = ([0, 0], Vec::new(), Vec::new());
        for (at, (name, schema)) in schemas.iter().enumerate().skip(first).step_by(step) {
            let mut rng = Rng::for_case(seed, at);
            let mut all = edits(schema);
            while name != "names" && all.len() > EDITS {
                all.swap_remove(rng.below(all.len()));
            }
            for edit in all {
                for part in [Part::Input, Part::Result] {
                    let Some((judged, is_undecided)) = judge(schema, &edit, part) else { continue };
                    count[part as usize] += 1;
                    if is_undecided {
                        undecided.push(format!("{name}: {part:?}: {}", edit.name));
                    }
                    let fault = judged.err();
                    let fault = fault.map(|it| format!("{name}: {part:?}: {}: {it}", edit.name));
                    faults.extend(fault);
                }
            }
        }
        (count, undecided, faults)
    });
    let (mut inputs, mut results) = (0, 0);
    let (mut undecided, mut faults) = (Vec::new(), Vec::new());
    for (some, unknown, wrong) in found {
        inputs += some[0];
        results += some[1];
        undecided.extend(unknown);
        faults.extend(wrong);
    }
    assert!(inputs > 1_000 && results > 1_000, "only {inputs} and {results} edits");
    let (count, few) = (inputs + results, faults.len().min(3));
    let first = faults[..few].join("\n\n");
    assert!(faults.is_empty(), "{} of {count} are wrong:\n{first}", faults.len());
    let some = undecided[..undecided.len().min(20)].join("\n");
    assert!(
        undecided.len() * 200 <= count,
        "{} of {count} are undecided:\n{some}",
        undecided.len()
    );
}

/// What came of random pairs.
#[derive(Debug, Default)]
struct Tally {
    pairs: usize,
    breaking: usize,
    compatible: usize,
    undecided: usize,
    witnesses: usize,
    /// The pairs that another program decides, too.
    judged: usize,
    slowest: Duration,
    faults: Vec<String>,
}

impl Tally {
    fn add(&mut self, old: &Value, new: &Value) -> Option<()> {
        /// The length of a schema up to which the other program is asked.
        const MAX_JUDGED: usize = 4_000;
        let ((old, sent), (new, taken)) = (module(old, Part::Input)?, module(new, Part::Input)?);
        let start = Instant::now();
        let changes = diff(&old, &new);
        self.slowest = self.slowest.max(start.elapsed());
        self.pairs += 1;
        let breaks = changes.iter().any(|change| change.breaking == Breaking::Yes);
        let is_undecided = changes.iter().any(|change| change.breaking == Breaking::Unknown);
        match (breaks, is_undecided) {
            (true, _) => self.breaking += 1,
            (false, true) => self.undecided += 1,
            (false, false) => self.compatible += 1,
        }
        let mut report = |fault: &str| {
            self.faults.push(format!("{fault}\n{changes:?}\nold: {sent}\nnew: {taken}"));
        };
        let (accepted, refused) = (validator(&sent), validator(&taken));
        for witness in changes.iter().filter_map(|change| change.witness.as_ref()) {
            self.witnesses += 1;
            if !accepted.is_valid(&witness.value) || refused.is_valid(&witness.value) {
                report(&format!("{} breaks nothing", witness.value));
            }
        }
        let decided = match decide(&taken, &sent) {
            Containment::Proven => true,
            Containment::Refuted(_) => false,
            Containment::Undecided(_) => return Some(()),
        };
        if decided && breaks {
            report("a wider tool breaks callers");
        }
        if sent.to_string().len() + taken.to_string().len() < MAX_JUDGED
            && let Some(other) = canonical(&taken, &sent)
        {
            self.judged += 1;
            if other != decided {
                report(&format!("the referee says {other}, not {decided}"));
            }
        }
        Some(())
    }
}

#[test]
fn changes_of_random_tools_hold() {
    let seed = campaign::seed().wrapping_add(12);
    let found = campaign::each_thread(|first, step| {
        let mut tally = Tally::default();
        for case in (first..campaign::cases() / 20).step_by(step) {
            let mut rng = Rng::for_case(seed, case);
            let Some(old) = foreign(&mut rng, case % 4 == 0) else { continue };
            let new = relatives::relative(&mut rng, &old);
            tally.add(&old, &new);
        }
        tally
    });
    let mut all = Tally::default();
    for tally in found {
        all.pairs += tally.pairs;
        all.breaking += tally.breaking;
        all.compatible += tally.compatible;
        all.undecided += tally.undecided;
        all.witnesses += tally.witnesses;
        all.judged += tally.judged;
        all.slowest = all.slowest.max(tally.slowest);
        all.faults.extend(tally.faults);
    }
    let faults = std::mem::take(&mut all.faults);
    let first = faults[..faults.len().min(3)].join("\n\n");
    assert!(faults.is_empty(), "seed {seed}: {all:?}: {} faults:\n{first}", faults.len());
    assert!(all.breaking * 5 > all.pairs && all.judged * 5 > all.pairs, "{all:?}");
    assert!(all.undecided * 50 <= all.pairs, "{all:?}");
}
