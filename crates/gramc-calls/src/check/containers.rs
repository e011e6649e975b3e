//! Validation of arrays and objects.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use gramc_json_schema::path::Path;

use super::problem::{Note, NoteDetail, ProblemCode, RepairRule};
use super::received::{Received, is_value, leaves_out};
use super::shape::{Composition, ExtraProperties, FieldRule, ListRules, ObjectRules, ShapeId};
use super::similar_names;
use super::tape::{NodeKind, Tape};
use super::undeclared::MAX_GUESSED;
use super::validate::{Undeclared, ValidationRules, ValidationRun};

/// The index of an absent value.
pub(super) const ABSENT: u32 = u32::MAX;

impl ValidationRun<'_> {
    pub(super) fn list(&mut self, received: Received<'_>, rules: &ListRules) -> bool {
        let mut fits = true;
        let mut count = 0_u64;
        let start = self.out.len();
        self.out.push('[');
        for (index, item) in received.tape.items(received.at).enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            count += 1;
            fits &= match rules.first.get(index).copied().or(rules.rest) {
                Some(shape) => self.value(received.part(item, shape, &received.path.index(index))),
                None => self.copy(received.tape.json(received.tape.node(item))),
            };
            if self.quiet && !fits {
                return false;
            }
        }
        self.out.push(']');
        if count < rules.least || rules.most.is_some_and(|most| count > most) {
            fits = self.refuse(received, ProblemCode::WrongSize, NoteDetail::None);
        }
        if fits && rules.unique && count > 1 && holds_twice(self.out.get(start..).unwrap_or("")) {
            fits = self.refuse(received, ProblemCode::NotUnique, NoteDetail::None);
        }
        fits
    }

    pub(super) fn object(&mut self, received: Received<'_>, rules: &ObjectRules) -> bool {
        let object = Object { received, rules, slots: self.slots.len(), extras: self.extras.len() };
        let reported = self.reported.len();
        let fits = self.sort_entries(object);
        let fits = self.entries(object) && fits;
        self.reported.truncate(reported);
        self.slots.truncate(object.slots);
        self.extras.truncate(object.extras);
        fits
    }

    /// Finds the field of each entry. Entries with the same name and another value are refused.
    fn sort_entries(&mut self, object: Object<'_>) -> bool {
        let Object { received, rules, slots, extras } = object;
        let t = received.tape;
        self.slots.resize(slots + rules.fields.len(), ABSENT);
        let mut guess = 0;
        let mut fits = true;
        for (key, value) in t.entries(received.at) {
            let node = t.node(key);
            let field = if node.kind == NodeKind::Plain {
                rules.field(t.raw(node), guess)
            } else {
                rules.field(&t.content(node), guess)
            };
            match field {
                Some(field) => {
                    let first = self.slots[slots + field];
                    if first == ABSENT {
                        self.slots[slots + field] = value;
                    } else {
                        fits &= self.repeat(received, key, first, value);
                    }
                    guess = field + 1;
                }
                None => self.extras.push((key, value)),
            }
            if let Some(names) = rules.names {
                fits &= self.name(received, names, key);
            }
        }
        let mut undeclared = self.extras.split_off(extras);
        fits &= self.remove_repeated(received, &mut undeclared);
        self.extras.append(&mut undeclared);
        fits
    }

    /// Checks an entry whose name was sent before: both values have to be equal.
    fn repeat(&mut self, object: Received<'_>, key: u32, first: u32, value: u32) -> bool {
        let t = object.tape;
        let (one, other) = (t.json(t.node(first)), t.json(t.node(value)));
        if one == other || canonical(one) == canonical(other) {
            return true;
        }
        let name = t.content(t.node(key));
        let path = object.path.key(&name);
        let detail = NoteDetail::Twice(self.display(one));
        let value = object.part(value, object.shape, &path);
        self.refuse(value, ProblemCode::DuplicateField, detail)
    }

    /// Removes repetitions from entries. Returns whether each name has one value.
    fn remove_repeated(&mut self, object: Received<'_>, entries: &mut Vec<(u32, u32)>) -> bool {
        if entries.len() < 2 {
            return true;
        }
        let t = object.tape;
        let mut first: HashMap<_, u32> = HashMap::with_capacity(entries.len());
        let mut fits = true;
        entries.retain(|&(key, value)| match first.entry(t.content(t.node(key))) {
            Entry::Vacant(slot) => {
                slot.insert(value);
                true
            }
            Entry::Occupied(slot) => {
                fits &= self.repeat(object, key, *slot.get(), value);
                false
            }
        });
        fits
    }

    /// Copies a value without constraints, in which a name must not have two values.
    pub(super) fn copy_data(&mut self, received: Received<'_>) -> bool {
        self.has_single_values(received) && self.copy(received.json())
    }

    fn has_single_values(&mut self, received: Received<'_>) -> bool {
        let Received { tape: t, at, shape, path } = received;
        match t.node(at).kind {
            NodeKind::List => t.items(at).enumerate().fold(true, |fits, (index, item)| {
                self.has_single_values(received.part(item, shape, &path.index(index))) && fits
            }),
            NodeKind::Object => {
                let mut entries: Vec<_> = t.entries(at).collect();
                let mut fits = self.remove_repeated(received, &mut entries);
                for (key, value) in entries {
                    let name = t.content(t.node(key));
                    fits &= self.has_single_values(received.part(value, shape, &path.key(&name)));
                }
                fits
            }
            _ => true,
        }
    }

    /// Checks the name of an entry.
    fn name(&mut self, object: Received<'_>, names: ShapeId, key: u32) -> bool {
        let content = object.tape.content(object.tape.node(key));
        let length = self.out.len();
        // Names are not repaired.
        let strict = ValidationRules { repair: false, ..self.rules };
        let path = object.path.key(&content);
        let fits = self.with(strict, |run| run.value(object.part(key, names, &path)));
        self.out.truncate(length);
        fits
    }

    fn entries(&mut self, object: Object<'_>) -> bool {
        let Object { received, rules, slots, extras } = object;
        let t = received.tape;
        if self.rules.repair && self.extras.len() > extras {
            self.correct_names(object);
        }
        let mut fits = true;
        let mut count = 0_u64;
        self.out.push('{');
        let start = self.out.len();
        let declared = rules.fields.len();
        let is_in_order = self.is_in_order(object);
        let mut pieces = Vec::new();
        for place in 0..declared + self.extras.len() - extras {
            let before = self.out.len();
            let (outcome, sent) = if let Some(field) = rules.fields.get(place) {
                let value = self.slots[slots + place];
                (self.field(object, field, value), value)
            } else {
                let (key, value) = self.extras[extras + place - declared];
                (self.extra(object, key, value), value)
            };
            match outcome {
                FieldOutcome::Written => count += 1,
                FieldOutcome::Filled => {}
                FieldOutcome::Absent => self.out.truncate(before),
                FieldOutcome::Rejection if self.quiet => return false,
                // Invalid fields are left out, so that the output stays valid JSON.
                FieldOutcome::Rejection => {
                    self.out.truncate(before);
                    fits = false;
                }
            }
            if !is_in_order {
                pieces.push((sent, before..self.out.len()));
            }
        }
        self.put_in_order(start, pieces);
        if self.out.ends_with(',') {
            self.out.pop();
        }
        self.out.push('}');
        for name in &rules.required {
            if !self.extras[extras..].iter().any(|&(key, _)| *t.content(t.node(key)) == **name) {
                fits = false;
                let pointer = self.pointer(&received.path.key(name));
                let (shape, detail) = match rules.extra {
                    ExtraProperties::Of(shape) => (shape, NoteDetail::None),
                    _ => (received.shape, NoteDetail::Unsaid),
                };
                let code = ProblemCode::RequiredField;
                self.note(Note { code, pointer, shape, attempted: None, detail });
            }
        }
        if count < rules.least || rules.most.is_some_and(|most| count > most) {
            fits = self.refuse(received, ProblemCode::WrongSize, NoteDetail::None);
        }
        fits
    }

    /// Whether the fields were sent in the order of their declaration, and others after them.
    fn is_in_order(&self, object: Object<'_>) -> bool {
        let fields = self.slots[object.slots..].iter().filter(|&&value| value != ABSENT);
        let others = self.extras[object.extras..].iter().map(|(_, value)| value);
        fields.chain(others).is_sorted()
    }

    /// Puts the entries that were written from a position on in the order in which they were sent. Those
    /// that were not sent follow.
    fn put_in_order(&mut self, start: usize, mut pieces: Vec<(u32, Range<usize>)>) {
        if pieces.is_empty() {
            return;
        }
        pieces.sort_by_key(|(sent, _)| *sent);
        let entries = pieces.into_iter().filter_map(|(_, piece)| self.out.get(piece));
        let sorted: String = entries.collect();
        self.out.truncate(start);
        self.out.push_str(&sorted);
    }

    /// Writes a field with its name and a comma.
    fn field(&mut self, object: Object<'_>, field: &FieldRule, value: u32) -> FieldOutcome {
        self.out.push_str(&field.key);
        let path = object.received.path.key(&field.name);
        let sent = (value != ABSENT).then(|| object.received.part(value, field.shape, &path));
        let secret = self.secret;
        self.secret |= field.secret;
        if let Some(sent) = sent {
            self.gather_secrets(sent.tape, sent.at);
        }
        let outcome = self.field_value(object, field, sent, &path);
        self.secret = secret;
        if outcome == FieldOutcome::Written || outcome == FieldOutcome::Filled {
            self.out.push(',');
        }
        outcome
    }

    /// Checks the value of a parameter on its own.
    pub(super) fn parameter(
        &mut self,
        arguments: Received<'_>,
        rules: &ObjectRules,
        field: &FieldRule,
        value: u32,
    ) -> FieldOutcome {
        let object = Object { received: arguments, rules, slots: 0, extras: 0 };
        let path = arguments.path.key(&field.name);
        let sent = arguments.part(value, field.shape, &path);
        self.field_value(object, field, Some(sent), &path)
    }

    fn field_value(
        &mut self,
        object: Object<'_>,
        field: &FieldRule,
        sent: Option<Received<'_>>,
        path: &Path<'_>,
    ) -> FieldOutcome {
        if let Some((pinned, json)) = &field.pinned {
            if let Some(sent) = sent
                && !leaves_out(sent)
                && !is_value(sent, pinned)
            {
                self.refuse(sent, ProblemCode::PinnedMismatch, NoteDetail::None);
                return FieldOutcome::Rejection;
            }
            return if self.rules.pin { self.fill(json) } else { FieldOutcome::Absent };
        }
        if let Some(sent) = sent {
            let is_null = sent.node().kind == NodeKind::Null;
            if field.required && is_null && !self.takes_null(field.shape) {
                self.refuse(sent, ProblemCode::RequiredField, NoteDetail::None);
                return FieldOutcome::Rejection;
            }
            let absence = if field.required { None } else { self.absence(sent, field.shape) };
            let Some(rule) = absence else {
                let fits = self.reuse(sent) || self.against_all(sent, &field.others);
                return if fits { FieldOutcome::Written } else { FieldOutcome::Rejection };
            };
            self.note_repair(path, rule, sent.json(), None);
        }
        match &field.default {
            _ if field.required => self.missing(object, field, path),
            Some(json) if self.rules.fill && !field.refuses_default => self.fill(json),
            // A null that the schema refuses says that there is no default.
            Some(json) if self.rules.pin && !(field.refuses_default && **json == *"null") => {
                self.omit(path);
                FieldOutcome::Absent
            }
            _ => FieldOutcome::Absent,
        }
    }

    /// Checks a value against its shape and others. The first one may repair the value; the others
    /// have to accept the outcome unchanged.
    pub(super) fn against_all(&mut self, received: Received<'_>, others: &[ShapeId]) -> bool {
        if others.is_empty() {
            return self.value(received);
        }
        // What one of them does not declare, another one may.
        let undeclared = match self.rules.undeclared {
            Undeclared::Keep => Undeclared::Keep,
            _ => Undeclared::Schema,
        };
        let rules = ValidationRules { undeclared, correct_names: false, ..self.rules };
        let judge = ValidationRules { undeclared, ..ValidationRules::JUDGE };
        let start = self.out.len();
        if !self.with(rules, |run| run.value(received)) {
            return false;
        }
        let written = self.out.split_off(start);
        let Ok(tape) = Tape::read(&written) else { return false };
        let mut fits = true;
        for &shape in others {
            let value = received.replace_with(&tape).against(shape);
            fits &= self.with(judge, |run| run.value(value));
            self.out.truncate(start);
        }
        self.out.push_str(&written);
        fits
    }

    /// Notes that a default is not filled in.
    fn omit(&mut self, path: &Path<'_>) {
        self.omissions += 1;
        if !self.quiet {
            let pointer = self.pointer(path);
            self.accepted.omitted_defaults.push(pointer);
        }
    }

    fn fill(&mut self, json: &str) -> FieldOutcome {
        self.filled = true;
        self.out.push_str(json);
        if self.secret
            && let Ok(value) = Tape::read(json)
        {
            self.gather_secrets(&value, 0);
        }
        FieldOutcome::Filled
    }

    /// The repair of a value that stands for the absence of an optional one.
    fn absence(&mut self, sent: Received<'_>, shape: ShapeId) -> Option<RepairRule> {
        if !self.rules.repair {
            return None;
        }
        match sent.node().kind {
            NodeKind::Null => (!self.takes_null(shape)).then_some(RepairRule::NullToAbsent),
            // A word may be an item of an array.
            NodeKind::Plain
                if self.rules.lossy
                    && (sent.raw().trim().is_empty()
                        || (is_absence(sent.raw())
                            && !self.shapes.kinds(shape).meets(TypeSet::ARRAY))) =>
            {
                let fits = self.attempt(self.rules, |run| run.value(sent.against(shape))).fits;
                (!fits).then_some(RepairRule::EmptyToAbsent)
            }
            _ => None,
        }
    }

    fn takes_null(&mut self, shape: ShapeId) -> bool {
        let known = &self.shapes.list[shape as usize];
        if matches!(known.others, Composition::None) && known.also.is_none() {
            return known.kinds.meets(TypeSet::NULL)
                && known.values.as_ref().is_none_or(|values| values.list.contains(&Value::Null));
        }
        let Ok(null) = Tape::read("null") else { return false };
        let null = Received::root(&null, shape);
        self.attempt(ValidationRules::JUDGE, |run| run.value(null)).fits
    }

    /// Notes that a required field is missing, with a similar name that was sent.
    fn missing(&mut self, object: Object<'_>, field: &FieldRule, path: &Path<'_>) -> FieldOutcome {
        let t = object.received.tape;
        if self.quiet {
            return FieldOutcome::Rejection;
        }
        // Injected parameters are not misspellings.
        let sent: Vec<_> = self.extras[object.extras..]
            .iter()
            .take(MAX_GUESSED)
            .map(|&(key, value)| (key, t.content(t.node(key)), value))
            .filter(|(_, name, _)| !object.rules.is_injected(name))
            .collect();
        let mut near = sent.iter().find(|(_, name, _)| similar_names::is_near(name, &field.name));
        if near.is_none()
            && let [only @ (_, name, value)] = &sent[..]
        {
            // A single undeclared value that is valid may be the missing one.
            let value = object.received.part(*value, field.shape, path);
            let judge = |run: &mut Self| run.value(value);
            let asks = !self.shapes.list[field.shape as usize].is_any();
            let may_be = asks && self.attempt(ValidationRules::JUDGE, judge).fits;
            near = (may_be && !similar_names::are_opposite(name, &field.name)).then_some(only);
        }
        let detail = match near {
            None => NoteDetail::None,
            Some((key, name, _)) => {
                self.reported.push(*key);
                if similar_names::is_same(name, &field.name) {
                    NoteDetail::Sent(name.as_ref().into())
                } else {
                    NoteDetail::Similar(name.as_ref().into())
                }
            }
        };
        let (code, shape) = (ProblemCode::RequiredField, field.shape);
        let pointer = self.pointer(path);
        self.note(Note { code, pointer, shape, attempted: None, detail });
        FieldOutcome::Rejection
    }
}

/// An object in progress.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    pub(super) received: Received<'a>,
    pub(super) rules: &'a ObjectRules,
    /// The index of the value of its first field in `ValidationRun::slots`.
    pub(super) slots: usize,
    /// The index of its first undeclared entry in `ValidationRun::extras`.
    pub(super) extras: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldOutcome {
    Written,
    /// A default or pinned value was written.
    Filled,
    Absent,
    Rejection,
}

/// Whether a string is a word for the absence of a value.
fn is_absence(text: &str) -> bool {
    ["null", "none", "nil"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// The canonical form of a value.
fn canonical(json: &str) -> Option<String> {
    let value: Value = serde_json::from_str(json).ok()?;
    Some(gramc_json_schema::values::canonical(&value))
}

/// Whether an array contains duplicate values.
fn holds_twice(json: &str) -> bool {
    let Ok(Value::Array(items)) = serde_json::from_str::<Value>(json) else { return false };
    let mut seen = HashSet::new();
    !items.iter().all(|item| seen.insert(gramc_json_schema::values::canonical(item)))
}
