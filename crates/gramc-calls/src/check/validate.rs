//! Validates parsed values against shapes, and writes the arguments for the implementation.

use jsonschema::Validator;
use smol_str::SmolStr;

use gramc_json_schema::keywords::name as k;
use gramc_json_schema::path::Path;
use gramc_json_schema::shorten::shorten;
use gramc_json_schema::type_set::TypeSet;

use super::problem::{Note, NoteDetail, ProblemCode, Repair, RepairRule};
use super::received::Received;
use super::shape::{Composition, Shape, Shapes};
use super::tape::{NodeKind, Tape};
use super::tool::Accepted;

/// The treatment of undeclared parameters and fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Undeclared {
    /// They are stripped and reported.
    #[default]
    Strip,
    /// They are errors.
    Reject,
    /// They are kept.
    Keep,
    /// They are kept unless the schema forbids them.
    Schema,
}

/// How strictly values are checked.
#[expect(clippy::struct_excessive_bools, reason = "each is switched on its own")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValidationRules {
    pub(crate) repair: bool,
    /// Whether a repair may lose information.
    pub(crate) lossy: bool,
    pub(crate) correct_names: bool,
    pub(crate) undeclared: Undeclared,
    /// Whether absent values are filled with defaults.
    pub(crate) fill: bool,
    /// Whether pinned values are filled in.
    pub(crate) pin: bool,
}

impl ValidationRules {
    /// Validation by the schema alone, without changes.
    pub(crate) const JUDGE: Self = Self {
        repair: false,
        lossy: false,
        correct_names: false,
        undeclared: Undeclared::Schema,
        fill: false,
        pin: false,
    };

    /// Stripping, repairs and defaults may violate constraints on whole values, so calls are also
    /// checked with fewer changes. The model is not to blame for changes of the host.
    pub(super) fn with_fewer_changes(self) -> [Self; 2] {
        let undeclared = match self.undeclared {
            Undeclared::Strip => Undeclared::Schema,
            other => other,
        };
        let pinned = Self { undeclared, pin: true, ..Self::JUDGE };
        [Self { fill: true, ..pinned }, pinned]
    }
}

/// The maximum number of steps of a validation of a short text. Nested unions can take exponential time.
const MAX_STEPS: usize = 2_000_000;

/// The maximum number of reported problems and of repairs of a call. Further ones are only counted.
pub(super) const MAX_NOTES: usize = 100;

/// The maximum number of secrets to search for in messages. If there are more, all values are
/// masked.
const MAX_SECRETS: usize = 100;

/// The maximum length in bytes of a value that a message shows in full.
const MAX_SHOWN: usize = 1_000;

pub(crate) struct ValidationRun<'s> {
    pub(super) shapes: &'s Shapes,
    pub(super) rules: ValidationRules,
    /// The output as JSON.
    pub(crate) out: String,
    pub(crate) notes: Vec<Note>,
    /// The number of notes in addition to these.
    pub(crate) more: usize,
    /// Repairs, stripped entries, omitted defaults and secrets.
    pub(crate) accepted: Accepted,
    pub(crate) filled: bool,
    /// The values of the fields of the objects in progress.
    pub(super) slots: Vec<u32>,
    /// The undeclared entries of the objects in progress.
    pub(super) extras: Vec<(u32, u32)>,
    /// The keys of undeclared entries that the notes of missing fields name.
    pub(super) reported: Vec<u32>,
    /// Whether only the verdict is needed.
    pub(super) quiet: bool,
    /// The number of stripped and repaired values, including those of quiet checks.
    pub(super) changes: usize,
    /// The number of defaults that were left out, including those of quiet checks.
    pub(super) omissions: usize,
    /// The number of nested arrays that a value is currently wrapped in.
    pub(super) alone: u32,
    /// The current nesting depth, including arrays and objects that were parsed from strings.
    pub(super) depth: usize,
    pub(super) steps: usize,
    /// The maximum number of steps, which grows with the text.
    pub(super) max_steps: usize,
    /// A reusable buffer for pointers.
    written: String,
    /// Whether the current value is masked in messages.
    pub(super) secret: bool,
}

impl<'s> ValidationRun<'s> {
    pub(crate) fn new(shapes: &'s Shapes, rules: ValidationRules, room: usize) -> Self {
        Self {
            shapes,
            rules,
            out: String::with_capacity(room),
            notes: Vec::new(),
            more: 0,
            accepted: Accepted::default(),
            filled: false,
            slots: Vec::new(),
            extras: Vec::new(),
            reported: Vec::new(),
            quiet: false,
            changes: 0,
            omissions: 0,
            alone: 0,
            depth: 0,
            steps: 0,
            max_steps: MAX_STEPS.max(room.saturating_mul(4)),
            written: String::new(),
            secret: false,
        }
    }

    /// Checks a value and writes the output. If the value is refused, the output is unusable.
    pub(crate) fn value(&mut self, received: Received<'_>) -> bool {
        self.steps += 1;
        let shape = &self.shapes.list[received.shape as usize];
        if self.steps > self.max_steps {
            return self.refuse(received, ProblemCode::TypeMismatch, NoteDetail::None);
        }
        let start = self.out.len();
        let fits = match &shape.others {
            Composition::None => self.check_shape(received, shape),
            Composition::Same(other) => self.value(received.against(*other)),
            Composition::Any(members) => self.any(received, members),
            Composition::One(members) => self.one(received, members),
        };
        match &shape.also {
            Some(validator) if fits => self.also(received, validator, start),
            _ => fits,
        }
    }

    pub(super) fn pointer(&mut self, path: &Path<'_>) -> SmolStr {
        self.written.clear();
        path.write_pointer(&mut self.written);
        SmolStr::new(&self.written)
    }

    /// Notes a problem and returns `false`, the verdict.
    pub(super) fn refuse(
        &mut self,
        received: Received<'_>,
        code: ProblemCode,
        detail: NoteDetail,
    ) -> bool {
        if self.has_room() {
            let attempted = Some(self.display(received.json()));
            let pointer = self.pointer(received.path);
            self.notes.push(Note { code, pointer, shape: received.shape, attempted, detail });
        }
        false
    }

    pub(super) fn note(&mut self, note: Note) {
        if self.has_room() {
            self.notes.push(note);
        }
    }

    /// Whether a problem is noted. Further ones are only counted.
    pub(super) fn has_room(&mut self) -> bool {
        let is_full = self.notes.len() == MAX_NOTES;
        self.more += usize::from(is_full && !self.quiet);
        if self.notes.is_empty() && !self.quiet {
            // Calls with one problem often have several.
            self.notes.reserve(8);
        }
        !self.quiet && !is_full
    }

    /// A received value for messages.
    pub(super) fn display(&self, json: &str) -> SmolStr {
        if self.secret {
            return SmolStr::new_static("\"***\"");
        }
        if json.len() <= MAX_SHOWN {
            return json.into();
        }
        if self.shapes.secret {
            // Truncation could leave a part of a secret, which would not be masked.
            return format!("\"… ({} bytes)\"", json.len()).into();
        }
        let text = format!("{} ({} bytes)", shorten(json, 100), json.len());
        serde_json::Value::from(text).to_string().into()
    }

    pub(super) fn note_repair(
        &mut self,
        path: &Path<'_>,
        rule: RepairRule,
        from: &str,
        to: Option<&str>,
    ) {
        self.changes += 1;
        if !self.quiet && self.accepted.repairs.len() == MAX_NOTES {
            self.accepted.more_repairs += 1;
        } else if !self.quiet {
            let (from, to) = (self.display(from), to.map(|to| self.display(to)));
            let pointer = self.pointer(path);
            self.accepted.repairs.push(Repair { pointer, rule, from, to });
        }
    }

    /// Checks the constraints of the shape itself.
    fn check_shape(&mut self, received: Received<'_>, shape: &Shape) -> bool {
        if !shape.kinds.meets(kind_of(received)) {
            return self.other_kind(received, shape);
        }
        if let Some(values) = &shape.values
            && !values.allow(received.tape, received.node())
        {
            return self.other_value(received, values);
        }
        match received.node().kind {
            NodeKind::Number => self.number(received, shape),
            NodeKind::Plain | NodeKind::Escaped => self.text(received, shape),
            NodeKind::List => match &shape.list {
                Some(rules) => {
                    self.depth += 1;
                    let fits = self.list(received, rules);
                    self.depth -= 1;
                    fits
                }
                None => self.copy_data(received),
            },
            NodeKind::Object => match &shape.object {
                Some(rules) => {
                    self.depth += 1;
                    let fits = self.object(received, rules);
                    self.depth -= 1;
                    fits
                }
                None => self.copy_data(received),
            },
            NodeKind::Null | NodeKind::True | NodeKind::False => self.copy(received.json()),
        }
    }

    /// Copies a value unchanged to the output.
    pub(super) fn copy(&mut self, json: &str) -> bool {
        self.out.push_str(json);
        true
    }

    /// Checks the output with a full JSON Schema validator.
    fn also(&mut self, received: Received<'_>, validator: &Validator, start: usize) -> bool {
        let written = self.out.get(start..).unwrap_or_default();
        // The output is JSON because it was copied from JSON.
        let Ok(value) = serde_json::from_str(written) else { return false };
        if self.quiet {
            return validator.is_valid(&value);
        }
        let mut fits = true;
        for error in validator.iter_errors(&value) {
            fits = false;
            let below = error.instance_path().to_string();
            let pointer = format!("{}{below}", self.pointer(received.path)).into();
            let attempted = match below.as_str() {
                "" => self.display(received.json()),
                below => self
                    .display(&value.pointer(below).map_or_else(String::new, ToString::to_string)),
            };
            let said = if self.secret { UNTOLD.to_owned() } else { error.to_string() };
            let detail = NoteDetail::Said(said.into());
            let attempted = Some(attempted);
            self.note(Note {
                code: code_of(&error),
                pointer,
                shape: received.shape,
                attempted,
                detail,
            });
        }
        fits
    }

    /// Runs a quiet check, and removes its output.
    pub(super) fn attempt(
        &mut self,
        rules: ValidationRules,
        check: impl FnOnce(&mut Self) -> bool,
    ) -> Trial {
        let length = self.out.len();
        let trial = self.trial(rules, check);
        self.out.truncate(length);
        trial
    }

    /// Runs a quiet check, and keeps its output, which is only usable if the value is accepted.
    pub(super) fn trial(
        &mut self,
        rules: ValidationRules,
        check: impl FnOnce(&mut Self) -> bool,
    ) -> Trial {
        let saved = (self.rules, self.quiet, self.changes, self.omissions, self.filled);
        (self.rules, self.quiet, self.filled) = (rules, true, false);
        let fits = check(self);
        let (changes, omissions) = (self.changes - saved.2, self.omissions - saved.3);
        let filled = self.filled;
        (self.rules, self.quiet, self.changes, self.omissions, self.filled) = saved;
        Trial { fits, changes, omissions, filled }
    }

    /// Records the changes of a trial whose output is used.
    pub(super) fn keep(&mut self, trial: &Trial) {
        self.changes += trial.changes;
        self.filled |= trial.filled;
        self.omissions += trial.omissions;
    }
}

/// The outcome of a quiet check.
pub(super) struct Trial {
    pub(super) fits: bool,
    pub(super) changes: usize,
    pub(super) omissions: usize,
    pub(super) filled: bool,
}

pub(super) fn kind_of(received: Received<'_>) -> TypeSet {
    match received.node().kind {
        NodeKind::Null => TypeSet::NULL,
        NodeKind::True | NodeKind::False => TypeSet::BOOLEAN,
        NodeKind::Number if super::number::is_whole(received.raw()) => TypeSet::INTEGER,
        NodeKind::Number => TypeSet::FRACTION,
        NodeKind::Plain | NodeKind::Escaped => TypeSet::STRING,
        NodeKind::List => TypeSet::ARRAY,
        NodeKind::Object => TypeSet::OBJECT,
    }
}

/// The problem code for an error of a JSON Schema validator.
fn code_of(error: &jsonschema::ValidationError<'_>) -> ProblemCode {
    let path = error.schema_path().to_string();
    match path.rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or_default() {
        "required" | k::DEPENDENT_REQUIRED => ProblemCode::RequiredField,
        k::ANY_OF | k::ONE_OF => ProblemCode::NoUnionMember,
        "enum" => ProblemCode::NotInEnum,
        "const" => ProblemCode::ConstMismatch,
        "minimum" | "maximum" | k::EXCLUSIVE_MINIMUM | k::EXCLUSIVE_MAXIMUM => {
            ProblemCode::OutOfRange
        }
        k::MULTIPLE_OF => ProblemCode::NotMultiple,
        k::MIN_LENGTH | k::MAX_LENGTH => ProblemCode::WrongLength,
        k::MIN_ITEMS | k::MAX_ITEMS | k::MIN_PROPERTIES | k::MAX_PROPERTIES => {
            ProblemCode::WrongSize
        }
        "pattern" => ProblemCode::PatternMismatch,
        "format" => ProblemCode::FormatMismatch,
        k::UNIQUE_ITEMS => ProblemCode::NotUnique,
        k::ADDITIONAL_PROPERTIES | k::UNEVALUATED_PROPERTIES => ProblemCode::UnknownField,
        _ => ProblemCode::TypeMismatch,
    }
}

/// The replacement of a message that quotes a secret.
const UNTOLD: &str = "details are omitted because they contain a secret";

impl ValidationRun<'_> {
    /// Collects all strings and numbers in a secret value.
    pub(super) fn gather_secrets(&mut self, t: &Tape<'_>, at: u32) {
        if !self.secret || self.quiet {
            return;
        }
        for &node in t.nodes.get(at as usize..t.node(at).next as usize).unwrap_or_default() {
            match node.kind {
                NodeKind::Plain | NodeKind::Number => {
                    self.accepted.secrets.push(t.raw(node).to_owned());
                }
                NodeKind::Escaped => {
                    let content = t.content(node).into_owned();
                    // Validators escape it in their own way.
                    let json = serde_json::Value::from(content.as_str()).to_string();
                    self.accepted
                        .secrets
                        .push(json.get(1..json.len() - 1).unwrap_or("").to_owned());
                    self.accepted.secrets.push(content);
                    self.accepted.secrets.push(t.raw(node).to_owned());
                }
                NodeKind::Null
                | NodeKind::True
                | NodeKind::False
                | NodeKind::List
                | NodeKind::Object => {}
            }
        }
    }

    /// Masks the values of secret fields in notes and repairs of enclosing values: a refused object
    /// is shown with all of its fields.
    pub(super) fn mask(&mut self) {
        if self.accepted.secrets.is_empty() {
            return;
        }
        self.accepted.secrets.sort_unstable();
        self.accepted.secrets.dedup();
        self.accepted.secrets.retain(|secret| !secret.is_empty());
        let (secrets, many) = (&self.accepted.secrets, self.accepted.secrets.len() > MAX_SECRETS);
        let tells = |text: &str| many || secrets.iter().any(|secret| text.contains(&**secret));
        let mask = |told: &mut SmolStr| {
            if tells(told) {
                *told = SmolStr::new_static("\"***\"");
            }
        };
        for note in &mut self.notes {
            note.attempted.iter_mut().for_each(mask);
            if matches!(&note.detail, NoteDetail::Said(said) if tells(said)) {
                note.detail = NoteDetail::Said(SmolStr::new_static(UNTOLD));
            }
        }
        for repair in &mut self.accepted.repairs {
            mask(&mut repair.from);
            repair.to.iter_mut().for_each(mask);
        }
    }
}
