//! Documents outside of all folders of the client, which reports no changes of what they import.

use std::path::Path;
use std::sync::Arc;

use super::{GlobalState, Project, ProjectKey};
use crate::file::{File, stamp};

impl GlobalState {
    /// Reads the imports of lone documents again that changed on disk. Whether there are any.
    pub(crate) fn refresh_lone_documents(&mut self) -> bool {
        let lone = self.projects.iter().filter(|(key, _)| matches!(key, ProjectKey::Document(_)));
        let changed: Vec<_> =
            lone.filter_map(|(_, project)| project.with_changed_imports()).collect();
        for file in &changed {
            self.assign_own_project(file);
        }
        !changed.is_empty()
    }

    pub(crate) fn has_lone_documents(&self) -> bool {
        self.projects.keys().any(|key| matches!(key, ProjectKey::Document(_)))
    }
}

impl Project {
    /// The lone document, if its imports are not what they were when they were read.
    fn with_changed_imports(&self) -> Option<Arc<File>> {
        if let Some(markdown) = &self.state.markdown {
            let mut fences = markdown.fences.iter();
            let is_changed = fences.any(|fence| self.has_changed_imports(&fence.file));
            return is_changed.then(|| Arc::clone(&markdown.file));
        }
        let file = self.state.files.first()?;
        self.has_changed_imports(file).then(|| Arc::new(file.with_unresolved_imports()))
    }

    fn has_changed_imports(&self, file: &File) -> bool {
        let root = &self.state.root;
        let mut cached = self.state.import_cache.lock().clone().into_iter();
        let is_read = |path: &Path, known: &Option<Arc<File>>| {
            stamp(path) == known.as_ref().and_then(|file| file.stamp)
        };
        let is_changed = cached.any(|(path, known)| !is_read(&path, &known));
        let missing =
            |file: &File| file.imports(root).iter().filter(|it| it.target.is_err()).count();
        let before = missing(file);
        is_changed || (before > 0 && missing(&file.with_unresolved_imports()) != before)
    }
}
