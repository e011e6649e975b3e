//! Undeclared entries that may be secret parameters under another name.

use super::received::Received;
use super::shape::{ExtraProperties, FieldRule, ObjectRules};
use super::similar_names;
use super::validate::ValidationRun;

/// The minimum length in bytes of an undeclared value that is masked wherever it occurs, and not
/// only where it was sent. Shorter values would match unrelated text.
const MIN_LENGTH: usize = 5;

impl ValidationRun<'_> {
    /// Masks an undeclared entry of an object from now on if the tool has secret parameters.
    pub(super) fn hide_undeclared(
        &mut self,
        object: Received<'_>,
        rules: &ObjectRules,
        key: u32,
        value: u32,
    ) {
        if !self.shapes.secret {
            return;
        }
        let t = object.tape;
        let name = &*t.content(t.node(key));
        let is_data = rules.fields.is_empty() || matches!(rules.extra, ExtraProperties::Of(_));
        // The rules of the host leave out what other shapes declare.
        let is_host = self.shapes.host == Some(object.shape);
        if is_data || is_host || !rules.shapes_by_pattern(name).is_empty() {
            return;
        }
        self.secret = true;
        let known = self.accepted.secrets.len();
        self.gather_secrets(t, value);
        let is_misnamed =
            |field: &FieldRule| field.secret && similar_names::is_near(name, &field.name);
        if !rules.fields.iter().any(is_misnamed) {
            let found = self.accepted.secrets.split_off(known);
            self.accepted.secrets.extend(found.into_iter().filter(|text| text.len() >= MIN_LENGTH));
        }
    }
}
