//! Fields of a record that are sent as if they were parameters.

use smol_str::SmolStr;

use gramc_json_schema::type_set::TypeSet;

use super::problem::{Repair, RepairRule};
use super::shape::{Composition, FieldRule, ObjectRules, ShapeId};
use super::tape::{NodeKind, Tape};
use super::tool::{Accepted, MASK, ToolCheck};
use super::validate::ValidationRules;

/// Maximum bytes of arguments that a repair shows.
const MAX_SHOWN: usize = 1_000;

impl ToolCheck {
    /// Accepts the fields of the only required parameter without the parameter around them, if that
    /// is certain: `{"city": "Linz"}` for `{"address": {"city": "Linz"}}`. All received names must be
    /// fields of the record, and none the name of a parameter.
    pub(super) fn group_fields(&self, tape: &Tape<'_>, rules: ValidationRules) -> Option<Accepted> {
        let parameters = self.shapes.list[self.shapes.root as usize].object.as_deref()?;
        let record = self.lone_record(parameters)?;
        if tape.node(0).kind != NodeKind::Object {
            return None;
        }
        let names: Vec<_> = tape.entries(0).map(|(key, _)| tape.content(tape.node(key))).collect();
        let is_field = |field: &FieldRule, name: &str| {
            self.record(field.shape).is_some_and(|it| it.field(name, 0).is_some())
        };
        let is_certain = |name: &str| {
            let mut with = parameters.fields.iter().filter(|field| is_field(field, name));
            parameters.field(name, 0).is_none()
                && !parameters.is_injected(name)
                && with.next().is_some_and(|first| first.name == record.name)
                && with.next().is_none()
        };
        if names.is_empty() || !names.iter().all(|name| is_certain(name)) {
            return None;
        }
        let received = tape.json(tape.node(0));
        let json = ["{", &record.key, received, "}"].concat();
        let mut accepted = self.walk(&Tape::read(&json).ok()?, rules).ok()?;
        let shown = |json: &str| match json.len() {
            _ if self.shapes.secret => MASK,
            ..=MAX_SHOWN => json.into(),
            length => SmolStr::from(format!("\"… ({length} bytes)\"")),
        };
        let (from, to) = (shown(received), Some(shown(&json)));
        let repair = Repair { pointer: "".into(), rule: RepairRule::FieldsToRecord, from, to };
        accepted.repairs.insert(0, repair);
        Some(accepted)
    }

    /// The only required parameter, if it is a record.
    fn lone_record<'p>(&self, parameters: &'p ObjectRules) -> Option<&'p FieldRule> {
        let mut required = parameters.fields.iter().filter(|field| field.required);
        let (field, None, []) = (required.next()?, required.next(), &parameters.required[..])
        else {
            return None;
        };
        (field.pinned.is_none() && self.record(field.shape).is_some()).then_some(field)
    }

    /// The rules of a shape that accepts only objects with declared fields.
    fn record(&self, id: ShapeId) -> Option<&ObjectRules> {
        let shape = self.shapes.behind(id);
        let rules = shape.object.as_deref().filter(|rules| !rules.fields.is_empty())?;
        (shape.kinds == TypeSet::OBJECT && matches!(shape.others, Composition::None))
            .then_some(rules)
    }
}
