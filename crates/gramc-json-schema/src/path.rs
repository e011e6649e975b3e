//! Paths in schemas and instances, built on the stack.

use std::fmt::Write as _;

use crate::keywords::name as k;
use crate::pointer::escape_token;

/// A path in a schema or an instance. Each step is on the stack of the function that took it, so
/// nothing is allocated until the path is written.
#[derive(Debug, Clone, Copy)]
pub struct Path<'p> {
    before: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Property { key: &'p str, seen: &'p str },
    Written(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The root.
    pub const ROOT: Path<'static> = Path { before: None, step: Step::Root };

    /// The path with a key added.
    #[must_use]
    pub fn key(&'p self, key: &'p str) -> Path<'p> {
        Path { before: Some(self), step: Step::Key(key) }
    }

    /// The path with an index added.
    #[must_use]
    pub fn index(&'p self, index: usize) -> Path<'p> {
        Path { before: Some(self), step: Step::Index(index) }
    }

    /// The path with a property added, which models may see under another key.
    #[must_use]
    pub fn property(&'p self, key: &'p str, seen: &'p str) -> Path<'p> {
        Path { before: Some(self), step: Step::Property { key, seen } }
    }

    /// The target of a reference, as it is written.
    #[must_use]
    pub fn leads_to(&'p self, path: &'p str) -> Path<'p> {
        Path { before: Some(self), step: Step::Written(path) }
    }

    /// The path of the instances that a schema describes, by the keys that models see: `rows[].id`.
    /// It is empty for the root.
    pub fn seen(&self) -> String {
        let mut text = self.before.map(Path::seen).unwrap_or_default();
        match self.step {
            Step::Property { seen, .. } => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(seen);
            }
            Step::Key(k::ITEMS) => text.push_str("[]"),
            Step::Key(k::ADDITIONAL_PROPERTIES) => text.push_str(".*"),
            _ => {}
        }
        text
    }

    /// Whether the path is the root.
    pub fn is_root(&self) -> bool {
        self.before.is_none()
    }

    /// The path in dotted notation: `properties.rows.items`.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(64);
        self.write(&mut text);
        text
    }

    /// Appends the path as a JSON pointer: `/rows/0/id`.
    pub fn write_pointer(&self, out: &mut String) {
        if let Some(before) = self.before {
            before.write_pointer(out);
        }
        match self.step {
            Step::Root => {}
            Step::Key(key) | Step::Property { key, .. } | Step::Written(key) => {
                out.push('/');
                out.push_str(&escape_token(key));
            }
            Step::Index(index) => {
                // Writing to a string does not fail.
                let _ = write!(out, "/{index}");
            }
        }
    }

    fn write(&self, text: &mut String) {
        // A reference replaces the steps before it.
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
        let mut pointer = String::new();
        Path::ROOT.key("a/b").index(0).key("c~").write_pointer(&mut pointer);
        assert_eq!(pointer, "/a~1b/0/c~0");
        assert_eq!(Path::ROOT.text(), "");
        assert_eq!(Path::ROOT.seen(), "");
        assert_eq!(Path::ROOT.key("").text(), "[\"\"]");
        assert_eq!(Path::ROOT.leads_to("").key("a").text(), "a");
    }
}
