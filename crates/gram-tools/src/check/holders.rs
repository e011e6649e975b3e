//! Lists and objects.

use std::collections::HashSet;

use serde_json::Value;
use smol_str::SmolStr;

use json_schema_kit::path::Path;

use super::near;
use super::problem::{Code, Note, Remark, Rule};
use super::shape::{Extra, FieldRule, Id, Kinds, ListRules, ObjectRules, Others};
use super::tape::{Kind, Tape};
use super::walk::{Rules, Undeclared, Walk};

/// How many undeclared entries are looked at for names that were meant for others. Where there are
/// more, they are data.
const MOST_GUESSED: usize = 100;

/// How many declared names a message about another one keeps; it shows a few less.
const MOST_KNOWN: usize = 21;

/// No value, in the place of a node.
const ABSENT: u32 = u32::MAX;

impl Walk<'_> {
    pub(super) fn list(
        &mut self,
        t: &Tape<'_>,
        rules: &ListRules,
        id: Id,
        at: u32,
        path: &Path<'_>,
    ) -> bool {
        let mut fits = true;
        let mut count = 0_u64;
        let start = self.out.len();
        self.out.push('[');
        for (index, item) in t.items(at).enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            count += 1;
            fits &= match rules.first.get(index).copied().or(rules.rest) {
                Some(shape) => self.value(t, shape, item, &path.index(index)),
                None => self.copy(t, t.node(item)),
            };
            if self.quiet && !fits {
                return false;
            }
        }
        self.out.push(']');
        if count < rules.least || rules.most.is_some_and(|most| count > most) {
            fits = self.refuse(t, id, at, path, Code::WrongSize, Remark::None);
        }
        if fits && rules.unique && count > 1 && holds_twice(self.out.get(start..).unwrap_or("")) {
            fits = self.refuse(t, id, at, path, Code::NotUnique, Remark::None);
        }
        fits
    }

    pub(super) fn object(
        &mut self,
        t: &Tape<'_>,
        rules: &ObjectRules,
        id: Id,
        at: u32,
        path: &Path<'_>,
    ) -> bool {
        let (slots, extras) = (self.slots.len(), self.extras.len());
        let fits = self.sort_entries(t, rules, at, path);
        let fits = self.entries(t, rules, id, at, path, (slots, extras)) && fits;
        self.slots.truncate(slots);
        self.extras.truncate(extras);
        fits
    }

    /// Finds the field of each entry; of two entries with one name, the last counts.
    fn sort_entries(
        &mut self,
        t: &Tape<'_>,
        rules: &ObjectRules,
        at: u32,
        path: &Path<'_>,
    ) -> bool {
        let (slots, extras) = (self.slots.len(), self.extras.len());
        self.slots.resize(slots + rules.fields.len(), ABSENT);
        let mut guess = 0;
        let mut fits = true;
        for (key, value) in t.entries(at) {
            let node = t.node(key);
            let field = if node.kind == Kind::Plain {
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
                fits &= self.name(t, names, key, path);
            }
        }
        if self.extras.len() > extras + 1 {
            self.drop_repeated(t, extras);
        }
        fits
    }

    /// Whether an entry's name may be one.
    fn name(&mut self, t: &Tape<'_>, names: Id, key: u32, path: &Path<'_>) -> bool {
        let content = t.content(t.node(key));
        let length = self.out.len();
        // The name stays what it is, so a repair would change nothing.
        let strict = Rules { repair: false, ..self.rules };
        let fits = self.with(strict, |walk| walk.value(t, names, key, &path.key(&content)));
        self.out.truncate(length);
        fits
    }

    /// Of undeclared entries with one name, the last counts.
    fn drop_repeated(&mut self, t: &Tape<'_>, from: usize) {
        let mut seen = HashSet::new();
        let mut kept = self.extras.split_off(from);
        kept.reverse();
        kept.retain(|&(key, _)| seen.insert(t.content(t.node(key))));
        kept.reverse();
        self.extras.append(&mut kept);
    }

    fn entries(
        &mut self,
        t: &Tape<'_>,
        rules: &ObjectRules,
        id: Id,
        at: u32,
        path: &Path<'_>,
        (slots, extras): (usize, usize),
    ) -> bool {
        if self.rules.correct_names && self.extras.len() > extras {
            self.correct_names(t, rules, path, (slots, extras));
        }
        let mut fits = true;
        let mut count = 0_u64;
        let start = self.out.len();
        self.out.push('{');
        for (place, field) in rules.fields.iter().enumerate() {
            let value = self.slots[slots + place];
            let before = self.out.len();
            match self.field(t, rules, field, value, path, extras) {
                Outcome::Written => count += 1,
                Outcome::Filled => {}
                Outcome::Absent => self.out.truncate(before),
                Outcome::Refused if self.quiet => return false,
                // What is wrong is left out, so that what is right can be read.
                Outcome::Refused => {
                    self.out.truncate(before);
                    fits = false;
                }
            }
        }
        for place in extras..self.extras.len() {
            let (key, value) = self.extras[place];
            let before = self.out.len();
            match self.extra(t, rules, id, key, value, path) {
                Outcome::Refused if self.quiet => return false,
                Outcome::Refused => {
                    self.out.truncate(before);
                    fits = false;
                }
                Outcome::Written => count += 1,
                Outcome::Filled | Outcome::Absent => {}
            }
        }
        if self.out.ends_with(',') {
            self.out.pop();
        }
        self.out.push('}');
        for name in &rules.required {
            if !self.extras[extras..].iter().any(|&(key, _)| *t.content(t.node(key)) == **name) {
                fits = false;
                let pointer = self.pointer(&path.key(name));
                let (shape, remark) = match rules.extra {
                    Extra::Of(shape) => (shape, Remark::None),
                    _ => (id, Remark::Unsaid),
                };
                let code = Code::RequiredField;
                self.note(Note { code, pointer, shape, attempted: None, remark });
            }
        }
        if count < rules.least || rules.most.is_some_and(|most| count > most) {
            fits = self.refuse(t, id, at, path, Code::WrongSize, Remark::None);
        }
        debug_assert!(start < self.out.len());
        fits
    }

    /// Writes a field with its name and a comma.
    fn field(
        &mut self,
        t: &Tape<'_>,
        rules: &ObjectRules,
        field: &FieldRule,
        value: u32,
        path: &Path<'_>,
        extras: usize,
    ) -> Outcome {
        self.out.push_str(&field.key);
        let here = path.key(&field.name);
        let secret = self.secret;
        self.secret |= field.secret;
        if value != ABSENT {
            self.gather_secrets(t, value);
        }
        let outcome = self.field_value(t, rules, field, value, &here, extras);
        self.secret = secret;
        if outcome == Outcome::Written || outcome == Outcome::Filled {
            self.out.push(',');
        }
        outcome
    }

    fn field_value(
        &mut self,
        t: &Tape<'_>,
        rules: &ObjectRules,
        field: &FieldRule,
        value: u32,
        here: &Path<'_>,
        extras: usize,
    ) -> Outcome {
        if let Some((pinned, json)) = &field.pinned {
            if value != ABSENT && !leaves_out(t, value) && !is_value(t, value, pinned) {
                self.refuse(t, field.shape, value, here, Code::PinnedMismatch, Remark::None);
                return Outcome::Refused;
            }
            return if self.rules.pin { self.fill(json) } else { Outcome::Absent };
        }
        let absent = value == ABSENT;
        let null = !absent && t.node(value).kind == Kind::Null;
        if null && !self.takes_null(field.shape) {
            if field.required {
                return self.missing(t, rules, field, here, extras);
            }
            if self.rules.repair {
                self.repaired(here, Rule::NullToAbsent, "null", None);
                return match &field.default {
                    Some(json) if self.rules.fill => self.fill(json),
                    _ => Outcome::Absent,
                };
            }
        }
        if absent {
            return match &field.default {
                _ if field.required => self.missing(t, rules, field, here, extras),
                Some(json) if self.rules.fill => self.fill(json),
                _ => Outcome::Absent,
            };
        }
        if self.value(t, field.shape, value, here) { Outcome::Written } else { Outcome::Refused }
    }

    fn fill(&mut self, json: &str) -> Outcome {
        self.filled = true;
        self.out.push_str(json);
        if self.secret
            && let Ok(value) = Tape::read(json)
        {
            self.gather_secrets(&value, 0);
        }
        Outcome::Filled
    }

    /// Whether null is a value of a shape.
    fn takes_null(&mut self, shape: Id) -> bool {
        let known = &self.shapes.list[shape as usize];
        if matches!(known.others, Others::None) && known.also.is_none() {
            return known.kinds.meets(Kinds::NULL)
                && known.values.as_ref().is_none_or(|values| values.list.contains(&Value::Null));
        }
        let Ok(null) = Tape::read("null") else { return false };
        self.attempt(Rules::JUDGE, |walk| walk.value(&null, shape, 0, &Path::ROOT)).fits
    }

    /// Notes that a required field is missing, with what was sent in its place.
    fn missing(
        &mut self,
        t: &Tape<'_>,
        rules: &ObjectRules,
        field: &FieldRule,
        here: &Path<'_>,
        extras: usize,
    ) -> Outcome {
        if self.quiet {
            return Outcome::Refused;
        }
        // What the host supplies was not meant for anything else.
        let sent: Vec<_> = self.extras[extras..]
            .iter()
            .take(MOST_GUESSED)
            .map(|&(key, value)| (t.content(t.node(key)), value))
            .filter(|(name, _)| !rules.is_injected(name))
            .collect();
        let mut near: Vec<_> = sent
            .iter()
            .filter(|(name, _)| near::is_near(name, &field.name))
            .map(|(name, _)| name)
            .collect();
        if near.is_empty()
            && let [(name, value)] = &sent[..]
        {
            // The only thing that nobody asked for may well be what is missing.
            let judge = |walk: &mut Self| walk.value(t, field.shape, *value, &Path::ROOT);
            let asks = !self.shapes.list[field.shape as usize].is_any();
            let may_be = asks && self.attempt(Rules::JUDGE, judge).fits;
            if may_be && !near::are_opposite(name, &field.name) {
                near.push(name);
            }
        }
        let remark = near.first().map_or(Remark::None, |name| Remark::Sent(name.as_ref().into()));
        let (code, shape) = (Code::RequiredField, field.shape);
        let pointer = self.pointer(here);
        self.note(Note { code, pointer, shape, attempted: None, remark });
        Outcome::Refused
    }

    /// An entry that no field names.
    fn extra(
        &mut self,
        t: &Tape<'_>,
        rules: &ObjectRules,
        id: Id,
        key: u32,
        value: u32,
        path: &Path<'_>,
    ) -> Outcome {
        let name = t.content(t.node(key));
        let here = path.key(&name);
        if rules.is_injected(&name) {
            return self.strip(&here);
        }
        let refused = match self.rules.undeclared {
            Undeclared::Reject => true,
            Undeclared::Schema => rules.extra == Extra::No,
            Undeclared::Strip | Undeclared::Keep => false,
        };
        if rules.takes_nothing && !refused {
            return self.strip(&here);
        }
        // What has to be there is declared, whoever forgot to say what it is.
        let required = rules.required.iter().any(|required| **required == *name);
        let may_stay = match rules.extra {
            Extra::Yes | Extra::Of(_) => true,
            Extra::No => false,
            Extra::Unsaid => {
                required || !rules.closed || self.rules.undeclared == Undeclared::Schema
            }
        };
        let keep = match self.rules.undeclared {
            _ if rules.takes_nothing => false,
            Undeclared::Keep => true,
            Undeclared::Strip if !may_stay && !required => return self.strip(&here),
            _ => may_stay,
        };
        if !keep {
            let known = rules
                .fields
                .iter()
                .take(MOST_KNOWN)
                .map(|field| SmolStr::from(&*field.name))
                .collect();
            self.refuse(t, id, value, &here, Code::UnknownField, Remark::Known(known));
            return Outcome::Refused;
        }
        self.out.push_str(t.json(t.node(key)));
        self.out.push(':');
        let fits = match rules.extra {
            Extra::Of(shape) => self.value(t, shape, value, &here),
            _ => self.copy(t, t.node(value)),
        };
        self.out.push(',');
        if fits { Outcome::Written } else { Outcome::Refused }
    }

    fn strip(&mut self, here: &Path<'_>) -> Outcome {
        self.changes += 1;
        if !self.quiet {
            let pointer = self.pointer(here);
            self.stripped.push(pointer);
        }
        Outcome::Absent
    }

    /// Gives entries under nearly a field's name that name, where there is no doubt.
    fn correct_names(
        &mut self,
        t: &Tape<'_>,
        rules: &ObjectRules,
        path: &Path<'_>,
        (slots, extras): (usize, usize),
    ) {
        let guessed = self.extras.len() - extras <= MOST_GUESSED;
        if !self.rules.lossy || !rules.closed || !guessed {
            return;
        }
        let absent = |walk: &Self, place: usize| walk.slots[slots + place] == ABSENT;
        let mut pairs = Vec::new();
        for (entry, &(key, _)) in self.extras[extras..].iter().enumerate() {
            let name = t.content(t.node(key));
            let is_required = rules.required.iter().any(|required| **required == *name);
            if is_required || rules.is_injected(&name) {
                continue;
            }
            let mut near = rules.fields.iter().enumerate().filter(|(place, field)| {
                absent(self, *place) && field.pinned.is_none() && near::is_near(&name, &field.name)
            });
            if let (Some((place, _)), None) = (near.next(), near.next()) {
                pairs.push((entry, place));
            }
        }
        pairs.retain(|&(entry, place)| {
            let (shape, value) = (rules.fields[place].shape, self.extras[extras + entry].1);
            self.attempt(self.rules, |walk| walk.value(t, shape, value, &Path::ROOT)).fits
        });
        // Two names for one parameter: nobody knows which is meant.
        let alone = |pair: &(usize, usize)| pairs.iter().filter(|p| p.1 == pair.1).count() == 1;
        let is_sure = |&(entry, place): &(usize, usize)| {
            let name = t.content(t.node(self.extras[extras + entry].0));
            near::is_same(&name, &rules.fields[place].name)
        };
        let alone: Vec<_> =
            pairs.iter().copied().filter(|pair| alone(pair) && is_sure(pair)).collect();
        for &(entry, place) in &alone {
            let (key, value) = self.extras[extras + entry];
            self.slots[slots + place] = value;
            let field = &rules.fields[place];
            let to = Value::from(&*field.name).to_string();
            self.repaired(
                &path.key(&field.name),
                Rule::NameCorrected,
                t.json(t.node(key)),
                Some(&to),
            );
        }
        for &(entry, _) in alone.iter().rev() {
            self.extras.remove(extras + entry);
        }
    }
}

/// What became of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Written,
    /// A value of the specification was written.
    Filled,
    Absent,
    Refused,
}

/// Whether a value stands for none where the host has one: null or an empty text.
fn leaves_out(t: &Tape<'_>, at: u32) -> bool {
    let node = t.node(at);
    node.kind == Kind::Null || (node.kind == Kind::Plain && t.raw(node).is_empty())
}

fn is_value(t: &Tape<'_>, at: u32, value: &Value) -> bool {
    serde_json::from_str::<Value>(t.json(t.node(at)))
        .is_ok_and(|sent| gram_schema::numbers::same(&sent, value))
}

/// Whether a list holds the same value twice.
fn holds_twice(json: &str) -> bool {
    let Ok(Value::Array(items)) = serde_json::from_str::<Value>(json) else { return false };
    let mut seen = HashSet::new();
    !items.iter().all(|item| seen.insert(gram_schema::numbers::canonical(item)))
}
