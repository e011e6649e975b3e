//! Validation of arrays and objects.

use std::collections::HashSet;

use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;
use smol_str::SmolStr;

use gramc_json_schema::path::Path;

use super::problem::{Note, NoteDetail, ProblemCode, RepairRule};
use super::received::{Received, is_value, leaves_out};
use super::shape::{Composition, ExtraProperties, FieldRule, ListRules, ObjectRules, ShapeId};
use super::similar_names;
use super::tape::{NodeKind, Tape};
use super::validate::{Undeclared, ValidationRules, ValidationRun};

/// The maximum number of undeclared entries that are checked for misspelled names. An object with
/// more of them is data.
const MAX_GUESSED: usize = 100;

/// The maximum number of declared names in a note: one more than a message shows.
const MAX_KNOWN: usize = 21;

/// The index of an absent value.
const ABSENT: u32 = u32::MAX;

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
        let fits = self.sort_entries(object);
        let fits = self.entries(object) && fits;
        self.slots.truncate(object.slots);
        self.extras.truncate(object.extras);
        fits
    }

    /// Finds the field of each entry. Of several entries with the same name, the last one counts.
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
                    self.slots[slots + field] = value;
                    guess = field + 1;
                }
                None => self.extras.push((key, value)),
            }
            if let Some(names) = rules.names {
                fits &= self.name(received, names, key);
            }
        }
        if self.extras.len() > extras + 1 {
            self.drop_repeated(t, extras);
        }
        fits
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

    /// Keeps the last of several undeclared entries with the same name.
    fn drop_repeated(&mut self, t: &Tape<'_>, from: usize) {
        let mut seen = HashSet::new();
        let mut kept = self.extras.split_off(from);
        kept.reverse();
        kept.retain(|&(key, _)| seen.insert(t.content(t.node(key))));
        kept.reverse();
        self.extras.append(&mut kept);
    }

    fn entries(&mut self, object: Object<'_>) -> bool {
        let Object { received, rules, slots, extras } = object;
        let t = received.tape;
        if self.rules.correct_names && self.extras.len() > extras {
            self.correct_names(object);
        }
        let mut fits = true;
        let mut count = 0_u64;
        let start = self.out.len();
        self.out.push('{');
        for (place, field) in rules.fields.iter().enumerate() {
            let value = self.slots[slots + place];
            let before = self.out.len();
            match self.field(object, field, value) {
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
        }
        for place in extras..self.extras.len() {
            let (key, value) = self.extras[place];
            let before = self.out.len();
            match self.extra(object, key, value) {
                FieldOutcome::Rejection if self.quiet => return false,
                FieldOutcome::Rejection => {
                    self.out.truncate(before);
                    fits = false;
                }
                FieldOutcome::Written => count += 1,
                FieldOutcome::Filled | FieldOutcome::Absent => {}
            }
        }
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
        debug_assert!(start < self.out.len());
        fits
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
            let unwanted_null = sent.node().kind == NodeKind::Null && !self.takes_null(field.shape);
            if !unwanted_null || !(field.required || self.rules.repair) {
                let fits = self.against_all(sent, &field.others);
                return if fits { FieldOutcome::Written } else { FieldOutcome::Rejection };
            }
            if !field.required {
                self.note_repair(path, RepairRule::NullToAbsent, "null", None);
            }
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
    fn against_all(&mut self, received: Received<'_>, others: &[ShapeId]) -> bool {
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
            self.omitted.push(pointer);
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
            .map(|&(key, value)| (t.content(t.node(key)), value))
            .filter(|(name, _)| !object.rules.is_injected(name))
            .collect();
        let mut near: Vec<_> = sent
            .iter()
            .filter(|(name, _)| similar_names::is_near(name, &field.name))
            .map(|(name, _)| name)
            .collect();
        if near.is_empty()
            && let [(name, value)] = &sent[..]
        {
            // A single undeclared value that is valid may be the missing one.
            let value = object.received.part(*value, field.shape, path);
            let judge = |run: &mut Self| run.value(value);
            let asks = !self.shapes.list[field.shape as usize].is_any();
            let may_be = asks && self.attempt(ValidationRules::JUDGE, judge).fits;
            if may_be && !similar_names::are_opposite(name, &field.name) {
                near.push(name);
            }
        }
        let detail =
            near.first().map_or(NoteDetail::None, |name| NoteDetail::Sent(name.as_ref().into()));
        let (code, shape) = (ProblemCode::RequiredField, field.shape);
        let pointer = self.pointer(path);
        self.note(Note { code, pointer, shape, attempted: None, detail });
        FieldOutcome::Rejection
    }

    /// Checks an undeclared entry.
    fn extra(&mut self, object: Object<'_>, key: u32, value: u32) -> FieldOutcome {
        let secret = self.secret;
        self.hide_undeclared(object.received, object.rules, key, value);
        let outcome = self.check_undeclared(object, key, value);
        self.secret = secret;
        outcome
    }

    fn check_undeclared(&mut self, object: Object<'_>, key: u32, value: u32) -> FieldOutcome {
        let Object { received, rules, .. } = object;
        let t = received.tape;
        let name = &t.content(t.node(key));
        let path = received.path.key(name);
        if rules.is_injected(name) {
            return self.strip(&path);
        }
        if let [first, others @ ..] = &*rules.shapes_by_pattern(name) {
            self.out.push_str(t.json(t.node(key)));
            self.out.push(':');
            let fits = self.against_all(received.part(value, *first, &path), others);
            self.out.push(',');
            return if fits { FieldOutcome::Written } else { FieldOutcome::Rejection };
        }
        let refused = match self.rules.undeclared {
            Undeclared::Reject => true,
            Undeclared::Schema => rules.extra == ExtraProperties::No,
            Undeclared::Strip | Undeclared::Keep => false,
        };
        if rules.takes_nothing && !refused {
            return self.strip(&path);
        }
        // Required names count as declared even without a schema.
        let required = rules.required.iter().any(|required| **required == *name);
        let may_stay = match rules.extra {
            ExtraProperties::Yes | ExtraProperties::Of(_) => true,
            ExtraProperties::No => false,
            ExtraProperties::Unsaid => {
                required || !rules.closed || self.rules.undeclared == Undeclared::Schema
            }
        };
        let keep = match self.rules.undeclared {
            _ if rules.takes_nothing => false,
            Undeclared::Keep => true,
            Undeclared::Strip if !may_stay && !required => return self.strip(&path),
            _ => may_stay,
        };
        if !keep {
            let known = rules
                .fields
                .iter()
                .take(MAX_KNOWN)
                .map(|field| SmolStr::from(&*field.name))
                .collect();
            let value = received.part(value, received.shape, &path);
            self.refuse(value, ProblemCode::UnknownField, NoteDetail::Known(known));
            return FieldOutcome::Rejection;
        }
        self.out.push_str(t.json(t.node(key)));
        self.out.push(':');
        let fits = match rules.extra {
            ExtraProperties::Of(shape) => self.value(received.part(value, shape, &path)),
            _ => self.copy(t.json(t.node(value))),
        };
        self.out.push(',');
        if fits { FieldOutcome::Written } else { FieldOutcome::Rejection }
    }

    fn strip(&mut self, path: &Path<'_>) -> FieldOutcome {
        self.changes += 1;
        if !self.quiet {
            let pointer = self.pointer(path);
            self.stripped.push(pointer);
        }
        FieldOutcome::Absent
    }

    /// Renames entries with a misspelled field name if the correction is unambiguous.
    fn correct_names(&mut self, object: Object<'_>) {
        let Object { received, rules, slots, extras } = object;
        let t = received.tape;
        let guessed = self.extras.len() - extras <= MAX_GUESSED;
        if !self.rules.lossy || !rules.closed || !guessed {
            return;
        }
        let absent = |run: &Self, place: usize| run.slots[slots + place] == ABSENT;
        let mut pairs = Vec::new();
        for (entry, &(key, _)) in self.extras[extras..].iter().enumerate() {
            let name = t.content(t.node(key));
            let is_required = rules.required.iter().any(|required| **required == *name);
            let is_declared = is_required || !rules.shapes_by_pattern(&name).is_empty();
            if is_declared || rules.is_injected(&name) {
                continue;
            }
            let mut near = rules.fields.iter().enumerate().filter(|(place, field)| {
                absent(self, *place)
                    && field.pinned.is_none()
                    && similar_names::is_near(&name, &field.name)
            });
            if let (Some((place, _)), None) = (near.next(), near.next()) {
                pairs.push((entry, place));
            }
        }
        pairs.retain(|&(entry, place)| {
            let (shape, value) = (rules.fields[place].shape, self.extras[extras + entry].1);
            let value = received.part(value, shape, &Path::ROOT);
            self.attempt(self.rules, |run| run.value(value)).fits
        });
        // Two candidates for one parameter are ambiguous.
        let alone = |pair: &(usize, usize)| pairs.iter().filter(|p| p.1 == pair.1).count() == 1;
        let is_sure = |&(entry, place): &(usize, usize)| {
            let name = t.content(t.node(self.extras[extras + entry].0));
            similar_names::is_same(&name, &rules.fields[place].name)
        };
        let alone: Vec<_> =
            pairs.iter().copied().filter(|pair| alone(pair) && is_sure(pair)).collect();
        for &(entry, place) in &alone {
            let (key, value) = self.extras[extras + entry];
            self.slots[slots + place] = value;
            let field = &rules.fields[place];
            let to = Value::from(&*field.name).to_string();
            self.note_repair(
                &received.path.key(&field.name),
                RepairRule::NameCorrected,
                t.json(t.node(key)),
                Some(&to),
            );
        }
        for &(entry, _) in alone.iter().rev() {
            self.extras.remove(extras + entry);
        }
    }
}

/// An object in progress.
#[derive(Clone, Copy)]
struct Object<'a> {
    received: Received<'a>,
    rules: &'a ObjectRules,
    /// The index of the value of its first field in `ValidationRun::slots`.
    slots: usize,
    /// The index of its first undeclared entry in `ValidationRun::extras`.
    extras: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldOutcome {
    Written,
    /// A default or pinned value was written.
    Filled,
    Absent,
    Rejection,
}

/// Whether an array contains duplicate values.
fn holds_twice(json: &str) -> bool {
    let Ok(Value::Array(items)) = serde_json::from_str::<Value>(json) else { return false };
    let mut seen = HashSet::new();
    !items.iter().all(|item| seen.insert(gramc_json_schema::values::canonical(item)))
}
