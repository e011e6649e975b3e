//! The check of a value: what it was read to goes along its shape, and what an implementation
//! may have comes out.

use jsonschema::Validator;
use smol_str::SmolStr;

use json_schema_kit::path::Path;

use super::problem::{Note, NoteDetail, ProblemCode, Repair, RepairRule};
use super::shape::{Composition, Shape, ShapeId, Shapes, TypeSet};
use super::tape::{Node, NodeKind, Tape};

/// What happens to parameters and fields that are not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Undeclared {
    /// They are left out, and reported.
    #[default]
    Strip,
    /// They are errors.
    Reject,
    /// They are kept.
    Keep,
    /// What the schema says: they are kept where it does not forbid them.
    Schema,
}

/// How strictly values are checked.
#[expect(clippy::struct_excessive_bools, reason = "each is switched on its own")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValidationRules {
    pub(crate) repair: bool,
    /// Whether a repair may lose something of what was sent.
    pub(crate) lossy: bool,
    pub(crate) correct_names: bool,
    pub(crate) undeclared: Undeclared,
    /// Whether defaults stand in for what is absent.
    pub(crate) fill: bool,
    /// Whether pinned values do.
    pub(crate) pin: bool,
}

impl ValidationRules {
    /// As a schema judges, with nothing changed.
    pub(crate) const JUDGE: Self = Self {
        repair: false,
        lossy: false,
        correct_names: false,
        undeclared: Undeclared::Schema,
        fill: false,
        pin: false,
    };
}

/// How many values are looked at in one check. Unions of unions can ask for ever more of them.
const MAX_STEPS: u32 = 2_000_000;

/// How many problems of one call are told; of the others, how many there are.
pub(super) const MAX_NOTES: usize = 100;

/// How many secrets are looked for in what is told. Where there are more, no value is told.
const MAX_SECRETS: usize = 100;

/// The longest value that a message shows whole, in bytes.
const MAX_SHOWN: usize = 1_000;

/// A check under way.
pub(crate) struct ValidationRun<'s> {
    pub(super) shapes: &'s Shapes,
    pub(super) rules: ValidationRules,
    /// The JSON that comes out.
    pub(crate) out: String,
    pub(crate) notes: Vec<Note>,
    /// How many notes there are beside these.
    pub(crate) more: usize,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) stripped: Vec<SmolStr>,
    /// What secret fields held.
    pub(crate) secrets: Vec<String>,
    /// Whether something was filled in.
    pub(crate) filled: bool,
    /// Which values objects under way hold for their fields.
    pub(super) slots: Vec<u32>,
    /// The entries of objects under way that no field names.
    pub(super) extras: Vec<(u32, u32)>,
    /// Whether only the verdict is asked for.
    pub(super) quiet: bool,
    /// How much was stripped or repaired, in quiet checks, too.
    pub(super) changes: usize,
    /// How many lists of one are being made of what stands alone, each in the one before it.
    pub(super) alone: u32,
    /// How many lists and objects of what was sent are open, those that stood in texts included.
    pub(super) depth: usize,
    steps: u32,
    /// The pointer that was written last, kept for its room.
    written: String,
    /// Whether the value at hand is kept out of messages.
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
            repairs: Vec::new(),
            stripped: Vec::new(),
            secrets: Vec::new(),
            filled: false,
            slots: Vec::new(),
            extras: Vec::new(),
            quiet: false,
            changes: 0,
            alone: 0,
            depth: 0,
            steps: 0,
            written: String::new(),
            secret: false,
        }
    }

    /// Checks a value and writes what comes out. Where it is refused, what was written is of no
    /// use.
    pub(crate) fn value(&mut self, t: &Tape<'_>, id: ShapeId, at: u32, path: &Path<'_>) -> bool {
        self.steps += 1;
        let shape = &self.shapes.list[id as usize];
        if self.steps > MAX_STEPS {
            return self.refuse(t, id, at, path, ProblemCode::TypeMismatch, NoteDetail::None);
        }
        let start = self.out.len();
        let fits = match &shape.others {
            Composition::None => self.own(t, shape, id, at, path),
            Composition::Same(other) => self.value(t, *other, at, path),
            Composition::Any(members) => self.any(t, id, members, at, path),
            Composition::One(members) => self.one(t, id, members, at, path),
        };
        match &shape.also {
            Some(validator) if fits => self.also(t, id, validator, start, at, path),
            _ => fits,
        }
    }

    /// A path as a JSON pointer.
    pub(super) fn pointer(&mut self, path: &Path<'_>) -> SmolStr {
        self.written.clear();
        path.write_pointer(&mut self.written);
        SmolStr::new(&self.written)
    }

    /// Notes a problem. Gives `false`, for the verdict.
    pub(super) fn refuse(
        &mut self,
        t: &Tape<'_>,
        shape: ShapeId,
        at: u32,
        path: &Path<'_>,
        code: ProblemCode,
        detail: NoteDetail,
    ) -> bool {
        if !self.quiet && self.notes.len() == MAX_NOTES {
            self.more += 1;
        } else if !self.quiet {
            let attempted = Some(self.shown(t.json(t.node(at))));
            let pointer = self.pointer(path);
            self.note(Note { code, pointer, shape, attempted, detail });
        }
        false
    }

    pub(super) fn note(&mut self, note: Note) {
        if !self.quiet && self.notes.len() == MAX_NOTES {
            self.more += 1;
        } else if !self.quiet {
            // Who makes one mistake makes some.
            if self.notes.is_empty() {
                self.notes.reserve(8);
            }
            self.notes.push(note);
        }
    }

    /// A received value for messages.
    pub(super) fn shown(&self, json: &str) -> SmolStr {
        if self.secret {
            return SmolStr::new_static("\"***\"");
        }
        if json.len() <= MAX_SHOWN {
            return json.into();
        }
        if self.shapes.secret {
            // A cut could leave a part of a secret, which nobody would find.
            return format!("\"… ({} bytes)\"", json.len()).into();
        }
        let kept: String = json.chars().take(100).collect();
        let text = format!("{kept}… ({} bytes)", json.len());
        serde_json::Value::from(text).to_string().into()
    }

    pub(super) fn repaired(
        &mut self,
        path: &Path<'_>,
        rule: RepairRule,
        from: &str,
        to: Option<&str>,
    ) {
        self.changes += 1;
        if !self.quiet {
            let (from, to) = (self.shown(from), to.map(|to| self.shown(to)));
            let pointer = self.pointer(path);
            self.repairs.push(Repair { pointer, rule, from, to });
        }
    }

    /// What a shape asks for by itself.
    fn own(&mut self, t: &Tape<'_>, shape: &Shape, id: ShapeId, at: u32, path: &Path<'_>) -> bool {
        let node = t.node(at);
        let kind = kind_of(t, node);
        if !shape.kinds.meets(kind) {
            return self.other_kind(t, shape, id, at, path);
        }
        if let Some(values) = &shape.values
            && !values.hold(t, node)
        {
            return self.other_value(t, values, id, at, path);
        }
        match node.kind {
            NodeKind::Number => self.number(t, shape, id, at, path),
            NodeKind::Plain | NodeKind::Escaped => self.text(t, shape, id, at, path),
            NodeKind::List => match &shape.list {
                Some(rules) => {
                    self.depth += 1;
                    let fits = self.list(t, rules, id, at, path);
                    self.depth -= 1;
                    fits
                }
                None => self.copy(t, node),
            },
            NodeKind::Object => match &shape.object {
                Some(rules) => {
                    self.depth += 1;
                    let fits = self.object(t, rules, id, at, path);
                    self.depth -= 1;
                    fits
                }
                None => self.copy(t, node),
            },
            NodeKind::Null | NodeKind::True | NodeKind::False => self.copy(t, node),
        }
    }

    /// Lets a value through as it is.
    pub(super) fn copy(&mut self, t: &Tape<'_>, node: Node) -> bool {
        self.out.push_str(t.json(node));
        true
    }

    /// What only a validator for all of JSON Schema can judge, of what was written.
    fn also(
        &mut self,
        t: &Tape<'_>,
        id: ShapeId,
        validator: &Validator,
        start: usize,
        at: u32,
        path: &Path<'_>,
    ) -> bool {
        let written = self.out.get(start..).unwrap_or_default();
        // What is written is JSON, for it was copied from JSON.
        let Ok(value) = serde_json::from_str(written) else { return false };
        if self.quiet {
            return validator.is_valid(&value);
        }
        let mut fits = true;
        for error in validator.iter_errors(&value) {
            fits = false;
            let below = error.instance_path().to_string();
            let pointer = format!("{}{below}", self.pointer(path)).into();
            let attempted = match below.as_str() {
                "" => self.shown(t.json(t.node(at))),
                below => {
                    self.shown(&value.pointer(below).map_or_else(String::new, ToString::to_string))
                }
            };
            let said = if self.secret { UNTOLD.to_owned() } else { error.to_string() };
            let detail = NoteDetail::Said(said.into());
            let attempted = Some(attempted);
            self.note(Note { code: code_of(&error), pointer, shape: id, attempted, detail });
        }
        fits
    }

    /// Runs a check of which only the verdict counts, and takes back what it wrote.
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

    /// Runs a check that notes nothing, and lets stand what it wrote, which is of use where the
    /// value fits.
    pub(super) fn trial(
        &mut self,
        rules: ValidationRules,
        check: impl FnOnce(&mut Self) -> bool,
    ) -> Trial {
        let saved = (self.rules, self.quiet, self.changes, self.filled);
        (self.rules, self.quiet, self.filled) = (rules, true, false);
        let fits = check(self);
        let (changes, filled) = (self.changes - saved.2, self.filled);
        (self.rules, self.quiet, self.changes, self.filled) = saved;
        Trial { fits, changes, filled }
    }

    /// Takes over what a trial wrote.
    pub(super) fn keep(&mut self, trial: &Trial) {
        self.changes += trial.changes;
        self.filled |= trial.filled;
    }
}

/// What came of a check that noted nothing.
pub(super) struct Trial {
    pub(super) fits: bool,
    pub(super) changes: usize,
    /// Whether something was filled in.
    pub(super) filled: bool,
}

/// The kind of a value.
pub(super) fn kind_of(t: &Tape<'_>, node: Node) -> TypeSet {
    match node.kind {
        NodeKind::Null => TypeSet::NULL,
        NodeKind::True | NodeKind::False => TypeSet::BOOLEAN,
        NodeKind::Number if super::number::is_whole(t.raw(node)) => TypeSet::INTEGER,
        NodeKind::Number => TypeSet::FRACTION,
        NodeKind::Plain | NodeKind::Escaped => TypeSet::TEXT,
        NodeKind::List => TypeSet::LIST,
        NodeKind::Object => TypeSet::OBJECT,
    }
}

/// The code for what a validator of JSON Schema says.
fn code_of(error: &jsonschema::ValidationError<'_>) -> ProblemCode {
    let path = error.schema_path().to_string();
    match path.rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or_default() {
        "required" | "dependentRequired" => ProblemCode::RequiredField,
        "anyOf" | "oneOf" => ProblemCode::NoUnionMember,
        "enum" => ProblemCode::NotInEnum,
        "const" => ProblemCode::ConstMismatch,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => ProblemCode::OutOfRange,
        "multipleOf" => ProblemCode::NotMultiple,
        "minLength" | "maxLength" => ProblemCode::WrongLength,
        "minItems" | "maxItems" | "minProperties" | "maxProperties" => ProblemCode::WrongSize,
        "pattern" => ProblemCode::PatternMismatch,
        "format" => ProblemCode::FormatMismatch,
        "uniqueItems" => ProblemCode::NotUnique,
        "additionalProperties" | "unevaluatedProperties" => ProblemCode::UnknownField,
        _ => ProblemCode::TypeMismatch,
    }
}

/// What is said in the place of a sentence that quotes a secret.
const UNTOLD: &str = "it is not what is wanted";

impl ValidationRun<'_> {
    /// Notes all texts and numbers that a secret value holds.
    pub(super) fn gather_secrets(&mut self, t: &Tape<'_>, at: u32) {
        if !self.secret || self.quiet {
            return;
        }
        for &node in t.nodes.get(at as usize..t.node(at).next as usize).unwrap_or_default() {
            match node.kind {
                NodeKind::Plain | NodeKind::Number => self.secrets.push(t.raw(node).to_owned()),
                NodeKind::Escaped => {
                    let content = t.content(node).into_owned();
                    // Validators write it in their own way.
                    let json = serde_json::Value::from(content.as_str()).to_string();
                    self.secrets.push(json.get(1..json.len() - 1).unwrap_or("").to_owned());
                    self.secrets.push(content);
                    self.secrets.push(t.raw(node).to_owned());
                }
                NodeKind::Null
                | NodeKind::True
                | NodeKind::False
                | NodeKind::List
                | NodeKind::Object => {}
            }
        }
    }

    /// Takes what secret fields held out of what is told of the values around them: an object that
    /// is refused as a whole is shown with all that it holds.
    pub(super) fn mask(&mut self) {
        if self.secrets.is_empty() {
            return;
        }
        self.secrets.sort_unstable();
        self.secrets.dedup();
        self.secrets.retain(|secret| !secret.is_empty());
        let (secrets, many) = (&self.secrets, self.secrets.len() > MAX_SECRETS);
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
        for repair in &mut self.repairs {
            mask(&mut repair.from);
            repair.to.iter_mut().for_each(mask);
        }
    }
}
