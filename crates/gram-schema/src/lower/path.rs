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

    /// A place that is written already.
    pub(super) fn written(path: &'p str) -> Path<'p> {
        Path { before: Some(&Path::ROOT), step: Step::Written(path) }
    }

    /// Whether it is the root.
    pub(super) fn is_root(&self) -> bool {
        self.before.is_none()
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = match self.before {
            Some(before) => {
                before.fmt(f)?;
                if before.is_root() { "" } else { "." }
            }
            None => "",
        };
        match self.step {
            Step::Root => Ok(()),
            Step::Key(key) if key.is_empty() || key.contains(['.', '[', ']', '"']) => {
                write!(f, "[{key:?}]")
            }
            Step::Written(path) => f.write_str(path),
            Step::Key(key) => write!(f, "{dot}{key}"),
            Step::Index(index) => write!(f, "{dot}{index}"),
        }
    }
}
