//! Arguments that are sent without the record around them, or with another object around them.

use smol_str::SmolStr;

use gramc_json_schema::type_set::TypeSet;

use super::problem::{Repair, RepairRule};
use super::shape::{Composition, FieldRule, ObjectRules, ShapeId};
use super::tape::{NodeKind, Tape};
use super::tool::{Accepted, MASK, ToolCheck};
use super::validate::{Undeclared, ValidationRules};

/// Maximum bytes of arguments that a repair shows.
const MAX_SHOWN: usize = 1_000;

/// Names of objects that models put around the arguments.
const WRAPPERS: [&str; 14] = [
    "args",
    "arguments",
    "body",
    "data",
    "input",
    "inputs",
    "kwargs",
    "parameters",
    "params",
    "payload",
    "properties",
    "request",
    "toolarguments",
    "toolinput",
];

/// Whether a name is that of an object around the arguments.
pub(super) fn is_wrapper_name(name: &str) -> bool {
    WRAPPERS.contains(&&*crate::names::opposites::plain(name))
}

impl ToolCheck {
    /// Accepts the fields of a record without the parameter around them, if that is certain:
    /// `{"city": "Linz"}` for `{"address": {"city": "Linz"}}`. All received names must be fields of
    /// the record, and none the name of a parameter. No other parameter may be required.
    pub(super) fn group_fields(&self, tape: &Tape<'_>, rules: ValidationRules) -> Option<Accepted> {
        let parameters = self.shapes.list[self.shapes.root as usize].object.as_deref()?;
        if tape.node(0).kind != NodeKind::Object {
            return None;
        }
        let names: Vec<_> = tape.entries(0).map(|(key, _)| tape.content(tape.node(key))).collect();
        let is_field = |field: &FieldRule, name: &str| {
            self.record(field.shape).is_some_and(|it| it.field(name, 0).is_some())
        };
        let is_meant = |field: &&FieldRule| names.iter().any(|name| is_field(field, name));
        let mut meant = parameters.fields.iter().filter(is_meant);
        let (record, None) = (meant.next()?, meant.next()) else { return None };
        let is_certain = |name: &str| {
            is_field(record, name)
                && parameters.field(name, 0).is_none()
                && !parameters.is_injected(name)
        };
        let is_complete = parameters.required.is_empty()
            && parameters.fields.iter().all(|it| !it.required || it.name == record.name);
        if record.pinned.is_some() || !is_complete || !names.iter().all(|name| is_certain(name)) {
            return None;
        }
        let received = tape.json(tape.node(0));
        let json = ["{", &record.key, received, "}"].concat();
        let mut accepted = self.walk(&Tape::read(&json).ok()?, rules).ok()?;
        accepted
            .repairs
            .insert(0, self.describe_repair(RepairRule::FieldsToRecord, received, &json));
        Some(accepted)
    }

    /// Accepts arguments within a wrapper, if they are valid without any change:
    /// `{"input": {"city": "Linz"}}`.
    pub(super) fn unwrap(&self, tape: &Tape<'_>) -> Option<Accepted> {
        let parameters = self.shapes.list[self.shapes.root as usize].object.as_deref()?;
        if tape.node(0).kind != NodeKind::Object {
            return None;
        }
        let mut entries = tape.entries(0);
        let ((key, value), None) = (entries.next()?, entries.next()) else { return None };
        let (name, value) = (tape.content(tape.node(key)), tape.node(value));
        let is_declared = parameters.field(&name, 0).is_some() || parameters.is_injected(&name);
        let is_wrapper = is_wrapper_name(&name) && value.kind == NodeKind::Object;
        if is_declared || !is_wrapper || tape.nodes.len() <= 3 {
            return None;
        }
        let undeclared = Undeclared::Reject;
        let rules = ValidationRules { fill: true, pin: true, undeclared, ..ValidationRules::JUDGE };
        let inner = tape.json(value);
        let mut accepted = self.walk(&Tape::read(inner).ok()?, rules).ok()?;
        let received = tape.json(tape.node(0));
        accepted.repairs.push(self.describe_repair(RepairRule::Unwrapped, received, inner));
        Some(accepted)
    }

    /// The repair of the arguments as a whole.
    pub(super) fn describe_repair(&self, rule: RepairRule, from: &str, to: &str) -> Repair {
        let show = |json: &str| match json.len() {
            _ if self.shapes.secret => MASK,
            ..=MAX_SHOWN => json.into(),
            length => SmolStr::from(format!("\"… ({length} bytes)\"")),
        };
        Repair { pointer: SmolStr::default(), rule, from: show(from), to: Some(show(to)) }
    }

    /// The rules of a shape that accepts only objects with declared fields.
    fn record(&self, id: ShapeId) -> Option<&ObjectRules> {
        let shape = self.shapes.behind(id);
        let rules = shape.object.as_deref().filter(|rules| !rules.fields.is_empty())?;
        (shape.kinds == TypeSet::OBJECT && matches!(shape.others, Composition::None))
            .then_some(rules)
    }
}
