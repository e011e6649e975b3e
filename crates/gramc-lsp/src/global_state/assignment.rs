//! The projects of open documents.

use std::path::Path;
use std::sync::Arc;

use super::{GlobalState, Project, ProjectKey};
use crate::document_kind::DocumentKind;
use crate::fences::fences;
use crate::file::File;
use crate::load::project_file;
use crate::snapshot::{FenceFile, MarkdownDocument, ProjectFile};

impl GlobalState {
    /// Adds an open document to its project.
    pub(super) fn assign(&mut self, file: &Arc<File>) {
        match file.kind {
            DocumentKind::Project => self.assign_project_file(file),
            DocumentKind::Data => self.assign_data(file),
            DocumentKind::Markdown => self.assign_own_project(file),
            DocumentKind::Gram | DocumentKind::Fence => self.assign_gram(file),
            DocumentKind::Other => {}
        }
    }

    fn assign_gram(&mut self, file: &Arc<File>) {
        let path = file.path.clone();
        let root = path.as_deref().and_then(|path| self.root_of(path));
        let Some((root, path)) = root.zip(path) else { return self.assign_own_project(file) };
        let key = ProjectKey::Folder(root.clone());
        let Some(project) = self.projects.get_mut(&key) else {
            return self.request_load(root);
        };
        let known = project.state.indices.contains_key(&path);
        if known || !project.loaded || !path.exists() {
            project.put_file(&path, file);
        } else {
            // The file is ignored by Git, so it is not part of the project.
            self.assign_own_project(file);
        }
    }

    fn assign_project_file(&mut self, file: &Arc<File>) {
        let Some(root) = file.path.as_deref().and_then(Path::parent).map(Path::to_owned) else {
            return;
        };
        let key = ProjectKey::Folder(root.clone());
        let is_saved = file.path.as_deref().is_some_and(Path::is_file);
        let new = project_file(&root, &self.folders, Some(file));
        match self.projects.get_mut(&key) {
            Some(project) if project.loaded => {
                project.state.file = Arc::new(new);
                project.invalidate();
            }
            // Loading the project reads the open document.
            Some(_) => {}
            None if is_saved => self.request_load(root),
            // The folder is no project yet.
            None => {
                let key = ProjectKey::Document(file.uri.as_str().to_owned());
                let project = self.projects.entry(key).or_insert_with(|| Project::new(&root));
                project.loaded = true;
                project.state.file = Arc::new(new);
                project.invalidate();
            }
        }
    }

    /// Adds JSON Lines to the project that may name the file. Without one, they are not analyzed.
    fn assign_data(&mut self, file: &Arc<File>) {
        let Some(path) = file.path.clone() else { return };
        let Some(root) = self.root_of(&path) else { return };
        let Some(project) = self.projects.get_mut(&ProjectKey::Folder(root.clone())) else {
            return self.request_load(root);
        };
        Arc::make_mut(&mut project.state.open_data).insert(path, Arc::clone(file));
        project.invalidate();
    }

    /// Removes a closed document of JSON Lines from its project.
    pub(super) fn forget_data(&mut self, path: &Path) {
        for project in self.projects.values_mut() {
            if project.state.open_data.contains_key(path) {
                Arc::make_mut(&mut project.state.open_data).remove(path);
                project.invalidate();
            }
        }
    }

    /// Adds an open document as a project of its own.
    pub(super) fn assign_own_project(&mut self, file: &Arc<File>) {
        let folder = file.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let root = file.path.as_deref().and_then(|path| self.root_of(path));
        let settings = root.as_deref().map(|root| project_file(root, &self.folders, None));
        let root = root.unwrap_or_else(|| folder.to_owned());
        let key = ProjectKey::Document(file.uri.as_str().to_owned());
        let project = self.projects.entry(key).or_insert_with(|| Project::new(&root));
        project.loaded = true;
        // Diagnostics of the project file are reported for its own project.
        let settings = settings.unwrap_or_default();
        project.state.file = Arc::new(ProjectFile { found: Vec::new(), file: None, ..settings });
        project.state.import_cache = Arc::default();
        if file.kind == DocumentKind::Markdown {
            let fences = fences(file.text()).into_iter().map(|fence| FenceFile {
                lines: fence.lines,
                file: Arc::new(file.fence(fence.text)),
            });
            let fences = fences.collect();
            let document = MarkdownDocument { file: Arc::clone(file), fences };
            project.state.markdown = Some(Arc::new(document));
            project.invalidate();
        } else {
            project.set_files(vec![Arc::clone(file)]);
        }
    }
}
