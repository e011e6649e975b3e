//! Libraries and experiments.

use super::{Page, description, print_attributes, text};
use crate::model::{Experiment, ExperimentArm, Implementation, Library};
use serde_json::Value;

impl Page<'_> {
    pub(super) fn library(&mut self, library: &Library) {
        let (doc, mut entries) = description(library.description.as_deref());
        entries.extend(print_attributes(&library.attributes));
        let nodes = library.implementations.iter().map(node);
        let nodes = nodes.collect::<Vec<_>>();
        self.declaration(doc.as_deref(), (&library.name, ":Library"), &entries, &nodes);
    }

    /// An experiment with its arms.
    pub(super) fn experiment(&mut self, experiment: &Experiment) {
        let (doc, mut entries) = description(experiment.description.as_deref());
        entries.extend(print_attributes(&experiment.attributes));
        let names = (&*experiment.name, ":Experiment");
        let arms: Vec<_> = experiment.arms.iter().map(arm).collect();
        self.declaration(doc.as_deref(), names, &entries, &arms);
    }
}

fn arm(arm: &ExperimentArm) -> String {
    if arm.is_library {
        return text::identifier(&arm.name);
    }
    let library = Value::from(arm.library.as_str());
    let all = std::iter::once(("library".into(), library)).chain(arm.attributes.iter().cloned());
    let entries: Vec<_> = print_attributes(&all.collect::<Vec<_>>()).collect();
    format!("({}:Arm{})", text::identifier(&arm.name), text::record(&entries))
}

pub(super) fn node(implementation: &Implementation) -> String {
    let entries: Vec<_> = print_attributes(&implementation.attributes).collect();
    let (tool, kind) = (text::identifier(&implementation.tool), implementation.kind.name());
    format!("({tool}:{kind}{})", text::record(&entries))
}
