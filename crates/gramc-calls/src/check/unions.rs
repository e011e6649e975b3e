//! Validation of unions.

use gramc_json_schema::type_set::TypeSet;
use serde_json::Value;

use super::problem::{Note, NoteDetail, ProblemCode};
use super::received::Received;
use super::shape::{ObjectRules, ShapeId};
use super::tape::NodeKind;
use super::validate::{Trial, Undeclared, ValidationRules, ValidationRun, kind_of};

/// A member of a union that accepts a value, with its output.
struct FittingMember {
    trial: Trial,
    member: ShapeId,
    written: String,
}

impl ValidationRun<'_> {
    /// Checks that at least one member accepts the value.
    pub(super) fn any(&mut self, received: Received<'_>, members: &[ShapeId]) -> bool {
        let strict = ValidationRules { repair: false, ..self.rules };
        let kind = kind_of(received);
        let mut best: Option<FittingMember> = None;
        for &member in members {
            if !self.shapes.kinds(member).meets(kind) {
                continue;
            }
            if let Some(found) = self.try_member(strict, received, member)
                && best.as_ref().is_none_or(|best| found.trial.changes < best.trial.changes)
            {
                let is_exact = found.trial.changes == 0;
                best = Some(found);
                if is_exact {
                    break;
                }
            }
        }
        match best {
            Some(found) => self.use_member(strict, received, &found),
            None => self.repaired_member(received, members),
        }
    }

    /// Checks a value against a member, and removes the output.
    fn try_member(
        &mut self,
        rules: ValidationRules,
        received: Received<'_>,
        member: ShapeId,
    ) -> Option<FittingMember> {
        let start = self.out.len();
        let trial = self.trial(rules, |run| run.value(received.against(member)));
        if trial.fits {
            return Some(FittingMember { trial, member, written: self.out.split_off(start) });
        }
        self.out.truncate(start);
        None
    }

    /// Writes the output of a member. It is checked again only if there is something to note:
    /// checking each level of a union twice doubles the work for all nested values.
    fn use_member(
        &mut self,
        rules: ValidationRules,
        received: Received<'_>,
        found: &FittingMember,
    ) -> bool {
        let FittingMember { trial, member, written } = found;
        if self.quiet || (trial.changes + trial.omissions == 0 && !self.secret) {
            self.keep(trial);
            return self.copy(written);
        }
        self.with(rules, |run| run.value(received.against(*member)))
    }

    /// Checks that exactly one member accepts the value, according to the schema before any
    /// changes.
    pub(super) fn one(&mut self, received: Received<'_>, members: &[ShapeId]) -> bool {
        let judge = ValidationRules { undeclared: Undeclared::Schema, ..ValidationRules::JUDGE };
        let mut found: Option<FittingMember> = None;
        for &member in members {
            let fitting = self.try_member(judge, received, member);
            if fitting.is_some() && found.is_some() {
                return self.refuse(received, ProblemCode::NoUnionMember, NoteDetail::Several);
            }
            found = fitting.or(found);
        }
        let strict = ValidationRules { repair: false, ..self.rules };
        match found {
            Some(found) if strict == judge => self.use_member(strict, received, &found),
            Some(FittingMember { member, .. }) => {
                self.with(strict, |run| run.value(received.against(member)))
            }
            None => self.repaired_member(received, members),
        }
    }

    pub(super) fn with<T>(
        &mut self,
        rules: ValidationRules,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let saved = std::mem::replace(&mut self.rules, rules);
        let outcome = work(self);
        self.rules = saved;
        outcome
    }

    /// Uses the only member that accepts the value after repairs, or notes the problem.
    fn repaired_member(&mut self, received: Received<'_>, members: &[ShapeId]) -> bool {
        if self.rules.repair {
            let mut fitting =
                members.iter().filter_map(|&member| self.try_member(self.rules, received, member));
            if let (Some(only), None) = (fitting.next(), fitting.next()) {
                return self.use_member(self.rules, received, &only);
            }
        }
        if self.quiet {
            return false;
        }
        if let Some(member) = self.meant(received, members) {
            let before = self.notes.len() + self.more;
            self.value(received.against(member));
            if self.notes.len() + self.more > before {
                return false;
            }
        }
        self.wrong_tag(received, members)
            .unwrap_or_else(|| self.refuse(received, ProblemCode::NoUnionMember, NoteDetail::None))
    }

    /// Refuses an object whose discriminator is missing or has another value than that of any
    /// member. `None` if the members have no discriminator: a field whose value each member fixes.
    fn wrong_tag(&mut self, received: Received<'_>, members: &[ShapeId]) -> Option<bool> {
        if received.node().kind != NodeKind::Object {
            return None;
        }
        let shapes = self.shapes;
        let objects = members.iter().filter(|&&id| shapes.kinds(id).meets(TypeSet::OBJECT));
        let objects: Vec<_> =
            objects.map(|&id| shapes.behind(id).object.as_deref()).collect::<Option<_>>()?;
        let tags_of = |rules: &ObjectRules, name: &str| {
            let field = rules.fields.get(rules.field(name, 0)?)?;
            let values = shapes.behind(field.shape).values.as_ref()?;
            values.texts.then(|| (field.shape, values.list.clone()))
        };
        let (first, rest) = objects.split_first().filter(|(_, rest)| !rest.is_empty())?;
        let (name, shape, tags) = first.fields.iter().find_map(|field| {
            let (shape, mut tags) = tags_of(first, &field.name)?;
            for rules in rest {
                tags.extend(tags_of(rules, &field.name)?.1);
            }
            Some((&*field.name, shape, tags))
        })?;
        let detail = NoteDetail::Tags(alternatives(&tags).into());
        let path = received.path.key(name);
        let t = received.tape;
        let sent = t.entries(received.at).find(|(key, _)| t.content(t.node(*key)) == name);
        if let Some((_, value)) = sent {
            return Some(self.refuse(
                received.part(value, shape, &path),
                ProblemCode::NotInEnum,
                detail,
            ));
        }
        let pointer = self.pointer(&path);
        let code = ProblemCode::RequiredField;
        self.note(Note { code, pointer, shape, attempted: None, detail });
        Some(false)
    }

    /// The member that a refused value is most likely meant for.
    fn meant(&self, received: Received<'_>, members: &[ShapeId]) -> Option<ShapeId> {
        let kind = kind_of(received);
        let mut fitting = members.iter().copied().filter(|&id| self.shapes.kinds(id).meets(kind));
        if let (Some(only), None) = (fitting.clone().next(), fitting.clone().nth(1)) {
            return Some(only);
        }
        // A constant property tags the object.
        (received.node().kind == NodeKind::Object)
            .then(|| fitting.find(|&id| self.is_tagged(received.against(id))))?
    }

    fn is_tagged(&self, received: Received<'_>) -> bool {
        let t = received.tape;
        let Some(object) = &self.shapes.behind(received.shape).object else { return false };
        t.entries(received.at).any(|(key, value)| {
            let Some(field) = object.field(&t.content(t.node(key)), 0) else { return false };
            let field = &self.shapes.list[object.fields[field].shape as usize];
            field
                .values
                .as_ref()
                .is_some_and(|values| values.list.len() == 1 && values.allow(t, t.node(value)))
        })
    }
}

/// `"circle", "square" or "triangle"`
fn alternatives(values: &[Value]) -> String {
    let mut all: Vec<_> = values.iter().map(Value::to_string).collect();
    all.dedup();
    match all.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}
