//! Libraries and experiments.

use super::{Page, description, kept, text};
use crate::model::{Experiment, Implementation, Library};

impl Page<'_> {
    pub(super) fn library(&mut self, library: &Library) {
        let (doc, mut entries) = description(library.description.as_deref());
        entries.extend(kept(&library.attributes));
        let nodes = library.implementations.iter().map(node);
        let nodes = nodes.collect::<Vec<_>>();
        self.declaration(doc.as_deref(), (&library.name, ":Library"), &entries, &nodes);
    }

    /// An experiment, which names its libraries.
    pub(super) fn experiment(&mut self, experiment: &Experiment) {
        let (doc, mut entries) = description(experiment.description.as_deref());
        entries.extend(kept(&experiment.attributes));
        let names = (&*experiment.name, ":Experiment");
        self.group(doc.as_deref(), names, &entries, &experiment.libraries);
    }
}

pub(super) fn node(implementation: &Implementation) -> String {
    let entries: Vec<_> = kept(&implementation.attributes).collect();
    let (tool, kind) = (text::identifier(&implementation.tool), implementation.kind.name());
    format!("({tool}:{kind}{})", text::record(&entries))
}
