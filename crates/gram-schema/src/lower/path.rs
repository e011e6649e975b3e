//! Places in a schema.

use std::fmt;

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
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = match self.before {
            // It leads away from what is before it.
            _ if matches!(self.step, Step::Written(_)) => "",
            Some(before) => {
                before.fmt(f)?;
                if before.is_root() { "" } else { "." }
            }
            None => "",
        };
        match self.step {
            Step::Root => Ok(()),
            Step::Written(path) => f.write_str(path),
            Step::Key(key) | Step::Property { key, .. }
                if key.is_empty() || key.contains(['.', '[', ']', '"']) =>
            {
                write!(f, "[{key:?}]")
            }
            Step::Key(key) | Step::Property { key, .. } => write!(f, "{dot}{key}"),
            Step::Index(index) => write!(f, "{dot}{index}"),
        }
    }
}
