//! Places in a schema.

use std::fmt::Write as _;

/// A place in the original schema, made while it is walked. Each step stands on the stack of the
/// walk, so that nothing is allocated unless the path is written.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    before: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Property { key: &'p str, seen: &'p str },
    Written(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The root of the schema.
    pub(super) const ROOT: Path<'static> = Path { before: None, step: Step::Root };

    /// The place that a key leads to.
    pub(super) fn key(&'p self, key: &'p str) -> Path<'p> {
        Path { before: Some(self), step: Step::Key(key) }
    }

    /// The place of a member of a list.
    pub(super) fn index(&'p self, index: usize) -> Path<'p> {
        Path { before: Some(self), step: Step::Index(index) }
    }

    /// The place of a property, which the model sees under another key perhaps.
    pub(super) fn property(&'p self, key: &'p str, seen: &'p str) -> Path<'p> {
        Path { before: Some(self), step: Step::Property { key, seen } }
    }

    /// A place that a reference leads to from here, as it is written.
    pub(super) fn leads_to(&'p self, path: &'p str) -> Path<'p> {
        Path { before: Some(self), step: Step::Written(path) }
    }

    /// The place as one of the values that the model writes, by the keys that it sees: `rows[].id`.
    /// It is empty for the arguments as a whole.
    pub(super) fn seen(&self) -> String {
        let mut text = self.before.map(Path::seen).unwrap_or_default();
        match self.step {
            Step::Property { seen, .. } => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(seen);
            }
            Step::Key("items") => text.push_str("[]"),
            Step::Key("additionalProperties") => text.push_str(".*"),
            _ => {}
        }
        text
    }

    /// Whether it is the root.
    pub(super) fn is_root(&self) -> bool {
        self.before.is_none()
    }

    /// The place in the original schema: `properties.rows.items`.
    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(64);
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        // A reference leads away from what is before it.
        if let (Some(before), false) = (self.before, matches!(self.step, Step::Written(_))) {
            before.write(text);
        }
        if !text.is_empty() {
            text.push('.');
        }
        match self.step {
            Step::Root => {}
            Step::Written(path) => text.push_str(path),
            Step::Key(key) | Step::Property { key, .. }
                if key.is_empty() || key.contains(['.', '[', ']', '"']) =>
            {
                // A key in brackets follows without a dot.
                if text.ends_with('.') {
                    text.pop();
                }
                let _ = write!(text, "[{key:?}]");
            }
            Step::Key(key) | Step::Property { key, .. } => text.push_str(key),
            Step::Index(index) => {
                let _ = write!(text, "{index}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn a_place_is_written_as_the_schema_has_it_and_as_the_model_sees_it() {
        let (properties, inner) = (Path::ROOT.key("properties"), "properties");
        let rows = properties.property("my rows", "my_rows");
        let items = rows.key("items");
        let union = items.key("anyOf");
        let one = union.index(1);
        assert_eq!(one.text(), "properties.my rows.items.anyOf.1");
        assert_eq!(one.seen(), "my_rows[]");
        let definition = one.leads_to("$defs.Row");
        let inside = definition.key(inner);
        let cell = inside.property("a.b", "a_b");
        let values = cell.key("additionalProperties");
        assert_eq!(values.text(), "$defs.Row.properties[\"a.b\"].additionalProperties");
        assert_eq!(values.seen(), "my_rows[].a_b.*");
        assert_eq!(Path::ROOT.text(), "");
        assert_eq!(Path::ROOT.seen(), "");
        assert_eq!(Path::ROOT.key("").text(), "[\"\"]");
        assert_eq!(Path::ROOT.leads_to("").key("a").text(), "a");
    }
}
