//! Libraries and experiments.

use super::layout::{self, INDENT, Layout};
use super::{Page, description, kept, text};
use crate::model::{Experiment, Implementation, Library};

impl Page<'_> {
    /// A library, one implementation on a line where not all of them fit on one.
    pub(super) fn library(&mut self, library: &Library) {
        let (doc, mut entries) = description(library.description.as_deref());
        entries.extend(kept(&library.attributes));
        if library.implementations.is_empty() {
            return self.head(doc.as_deref(), &library.name, "Library", entries, "]\n", 0);
        }
        let start = self.out.len();
        self.head(doc.as_deref(), &library.name, "Library", entries, " |\n", 0);
        for (at, implementation) in library.implementations.iter().enumerate() {
            let comma = usize::from(at + 1 < library.implementations.len());
            layout::indent(&mut self.out, INDENT);
            node(implementation).write(&mut self.out, INDENT, INDENT, comma);
            self.out.push_str(&","[..comma]);
            self.out.push('\n');
        }
        self.out.push(']');
        self.join(start, 0, 0);
        self.out.push('\n');
    }

    /// An experiment, which names its libraries.
    pub(super) fn experiment(&mut self, experiment: &Experiment) {
        let (doc, mut entries) = description(experiment.description.as_deref());
        entries.extend(kept(&experiment.attributes));
        let (name, libraries) = (&experiment.name, &experiment.libraries);
        self.print_group(doc.as_deref(), name, "Experiment", entries, libraries);
    }
}

pub(super) fn node(implementation: &Implementation) -> Layout {
    let start =
        format!("({}:{}", text::identifier(&implementation.tool), implementation.kind.name());
    let entries: Vec<_> = kept(&implementation.attributes).collect();
    if entries.is_empty() {
        return Layout::Text(format!("{start})"));
    }
    Layout::group(format!("{start} {{"), entries, "})")
}
