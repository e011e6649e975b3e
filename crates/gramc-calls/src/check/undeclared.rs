//! Undeclared entries of objects: other forms of a declared name, and entries to strip or refuse.

use gramc_json_schema::path::Path;
use serde_json::Value;
use smol_str::SmolStr;

use super::containers::{ABSENT, FieldOutcome, Object};
use super::flat_record::is_wrapper_name;
use super::problem::{NoteDetail, ProblemCode, RepairRule};
use super::shape::{ExtraProperties, FieldRule};
use super::similar_names;
use super::tape::NodeKind;
use super::validate::{Undeclared, ValidationRun};

/// The maximum number of undeclared entries that are compared with declared names. An object with
/// more of them is data.
pub(super) const MAX_GUESSED: usize = 100;

/// The maximum number of declared names in a note: one more than a message shows.
const MAX_KNOWN: usize = 21;

impl ValidationRun<'_> {
    /// Checks an undeclared entry.
    pub(super) fn extra(&mut self, object: Object<'_>, key: u32, value: u32) -> FieldOutcome {
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
        if rules.is_injected(name) || (received.path.is_root() && self.is_of_host(name)) {
            return self.strip(&path);
        }
        if let [first, others @ ..] = &*rules.shapes_by_pattern(name) {
            self.out.push_str(t.json(t.node(key)));
            self.out.push(':');
            let fits = self.against_all(received.part(value, *first, &path), others);
            self.out.push(',');
            return if fits { FieldOutcome::Written } else { FieldOutcome::Rejection };
        }
        // Required names count as declared even without a schema.
        let required = rules.required.iter().any(|required| **required == *name);
        let policy = self.rules.undeclared;
        let is_allowed = match rules.extra {
            ExtraProperties::Yes | ExtraProperties::Of(_) => true,
            ExtraProperties::No => false,
            ExtraProperties::Unsaid => required || !rules.closed || policy == Undeclared::Schema,
        };
        let is_data = rules.takes_nothing
            && (policy == Undeclared::Keep || (policy == Undeclared::Schema && is_allowed));
        if is_data {
            return self.strip(&path);
        }
        if policy != Undeclared::Keep && (rules.takes_nothing || !is_allowed) {
            if policy == Undeclared::Strip
                && !required
                && self.is_without_effect(object, key, value)
            {
                return self.strip(&path);
            }
            self.refuse_undeclared(object, key, value, &path);
            return FieldOutcome::Rejection;
        }
        self.out.push_str(t.json(t.node(key)));
        self.out.push(':');
        let fits = match rules.extra {
            ExtraProperties::Of(shape) => self.value(received.part(value, shape, &path)),
            _ => self.copy_data(received.part(value, received.shape, &path)),
        };
        self.out.push(',');
        if fits { FieldOutcome::Written } else { FieldOutcome::Rejection }
    }

    /// Whether a parameter has rules of the host besides the schema.
    fn is_of_host(&self, name: &str) -> bool {
        let host = self.shapes.host.map(|id| &self.shapes.list[id as usize]);
        host.and_then(|host| host.object.as_deref()).is_some_and(|it| it.field(name, 0).is_some())
    }

    fn refuse_undeclared(&mut self, object: Object<'_>, key: u32, value: u32, path: &Path<'_>) {
        let Object { received, rules, .. } = object;
        let t = received.tape;
        // Comparing names is expensive.
        if self.reported.contains(&key) || !self.has_room() {
            return;
        }
        let name = &t.content(t.node(key));
        let only = |is_meant: &dyn Fn(&FieldRule) -> bool| {
            let mut meant = rules.fields.iter().filter(|field| is_meant(field));
            meant.next().filter(|_| meant.next().is_none()).map(|it| SmolStr::from(&*it.name))
        };
        let near = only(&|field| similar_names::is_same(name, &field.name));
        let within = only(&|field| self.declares(field, name));
        let detail = match (near, within) {
            (Some(near), _) => NoteDetail::Near(near),
            _ if is_wrapper_name(name) && !rules.fields.is_empty() => NoteDetail::Wrapper,
            (_, Some(record)) => NoteDetail::Within(record),
            _ => {
                let known = rules.fields.iter().take(MAX_KNOWN);
                let known = known.map(|field| SmolStr::from(&*field.name));
                NoteDetail::Known(known.collect())
            }
        };
        let value = received.part(value, received.shape, path);
        self.refuse(value, ProblemCode::UnknownField, detail);
    }

    /// Whether a call means the same without an undeclared entry: it is empty, or it cannot be meant
    /// for a declared parameter. Nothing is stripped from calls of destructive tools.
    fn is_without_effect(&mut self, object: Object<'_>, key: u32, value: u32) -> bool {
        let Object { received, rules, slots, extras } = object;
        let t = received.tape;
        if !self.rules.lossy || rules.extra == ExtraProperties::No {
            return false;
        }
        let node = t.node(value);
        if matches!(t.json(node), "null" | "\"\"" | "[]" | "{}") {
            return true;
        }
        let name = &t.content(t.node(key));
        if self.extras.len() - extras > MAX_GUESSED || is_wrapper(object, key, value) {
            return false;
        }
        rules.fields.iter().enumerate().filter(|(_, field)| field.pinned.is_none()).all(
            |(place, field)| {
                if similar_names::is_near(name, &field.name) || self.declares(field, name) {
                    return false;
                }
                let is_absent = self.slots[slots + place] == ABSENT;
                let value = received.part(value, field.shape, &Path::ROOT);
                !(is_absent && self.attempt(self.rules, |run| run.value(value)).fits)
            },
        )
    }

    /// Whether a parameter is a record with a field of this name.
    fn declares(&self, parameter: &FieldRule, name: &str) -> bool {
        let record = self.shapes.behind(parameter.shape).object.as_deref();
        record.is_some_and(|record| record.field(name, 0).is_some())
    }

    fn strip(&mut self, path: &Path<'_>) -> FieldOutcome {
        self.changes += 1;
        if !self.quiet {
            let pointer = self.pointer(path);
            self.accepted.stripped.push(pointer);
        }
        FieldOutcome::Absent
    }

    /// Renames entries with a misspelled field name if the correction is unambiguous.
    pub(super) fn correct_names(&mut self, object: Object<'_>) {
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
            let is_near = if self.rules.correct_names {
                similar_names::is_near
            } else {
                similar_names::is_variant
            };
            let mut near = rules.fields.iter().enumerate().filter(|(place, field)| {
                absent(self, *place) && field.pinned.is_none() && is_near(&name, &field.name)
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

/// Whether an undeclared entry probably contains declared ones.
fn is_wrapper(object: Object<'_>, key: u32, value: u32) -> bool {
    let t = object.received.tape;
    let is_declared = |key: u32| object.rules.field(&t.content(t.node(key)), 0).is_some();
    let is_object = t.node(value).kind == NodeKind::Object;
    (is_object && t.entries(value).any(|(key, _)| is_declared(key)))
        || (!object.rules.fields.is_empty() && is_wrapper_name(&t.content(t.node(key))))
}
