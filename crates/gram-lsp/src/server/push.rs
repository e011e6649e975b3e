//! Diagnostics that are sent without being asked for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use lsp_types as lsp;
use serde_json::{Value, json};

use super::{Asked, Event, Server};
use crate::client::REFRESHES;
use crate::diagnostics::reports;
use crate::world::Key;

/// What clients have, and what it comes from.
#[derive(Debug, Default)]
pub(super) struct Pushed {
    /// At which revision each project was diagnosed.
    diagnosed: BTreeMap<Key, u64>,
    /// By document, what tells its findings from others, and which project they come from.
    documents: Arc<HashMap<String, Known>>,
}

/// What tells the findings of a document from others, and which project they come from.
type Known = (u64, Key);

/// What was found in some projects.
pub(crate) struct Diagnosed {
    projects: Vec<(Key, u64)>,
    /// Documents whose findings changed: what tells them from others, and the message to send.
    changed: Vec<(String, Option<Known>, Value)>,
}

impl Server {
    /// Looks for findings in all projects that changed since the last time.
    pub(super) fn diagnose(&mut self) {
        let stale = self.world.projects.iter().filter(|(key, project)| {
            project.loaded && self.pushed.diagnosed.get(key) != Some(&project.revision)
        });
        let stale: Vec<_> = stale.map(|(key, project)| (key.clone(), project.revision)).collect();
        let gone: Vec<Key> = {
            let projects = &self.world.projects;
            let known = self.pushed.diagnosed.keys();
            known.filter(|key| !projects.contains_key(key)).cloned().collect()
        };
        if stale.is_empty() && gone.is_empty() {
            return;
        }
        let mut snapshots = Vec::new();
        for (key, _) in &stale {
            snapshots.extend(self.world.snapshot(key).map(|snapshot| (key.clone(), snapshot)));
        }
        for key in &gone {
            self.pushed.diagnosed.remove(key);
        }
        let (events, known) = (self.events.clone(), Arc::clone(&self.pushed.documents));
        // What is being looked for in an older text is of no use any more.
        self.diagnoser.run_instead(move || {
            let mut changed = Vec::new();
            let mut seen = HashSet::new();
            for (key, snapshot) in &snapshots {
                for report in reports(snapshot) {
                    let uri = report.uri.as_str().to_owned();
                    seen.insert(uri.clone());
                    if known.get(&uri).is_some_and(|(before, _)| *before == report.key) {
                        continue;
                    }
                    let message = json!(lsp::PublishDiagnosticsParams {
                        uri: report.uri.clone(),
                        diagnostics: report.items(snapshot),
                        version: report.version,
                    });
                    changed.push((uri, Some((report.key, key.clone())), message));
                }
            }
            // Documents that none of these projects has any more.
            for (uri, (_, key)) in known.iter() {
                let theirs = gone.contains(key) || snapshots.iter().any(|(of, _)| of == key);
                if theirs && !seen.contains(uri) {
                    changed.push((uri.clone(), None, json!({"uri": uri, "diagnostics": []})));
                }
            }
            let _ = events.send(Event::Diagnosed(Diagnosed { projects: stale, changed }));
        });
    }

    /// Sends what was found, unless something changed in the meantime: then it is looked for again.
    pub(super) fn diagnosed(&mut self, diagnosed: Diagnosed) {
        let current = diagnosed.projects.iter().all(|(key, revision)| {
            self.world.projects.get(key).is_some_and(|project| project.revision == *revision)
        });
        if !current {
            return self.diagnose();
        }
        self.pushed.diagnosed.extend(diagnosed.projects);
        if diagnosed.changed.is_empty() {
            return;
        }
        let documents = Arc::make_mut(&mut self.pushed.documents);
        let mut messages = Vec::new();
        for (uri, key, message) in diagnosed.changed {
            let before = match key {
                Some(key) => documents.insert(uri, key),
                None => documents.remove(&uri),
            };
            // Nobody has to be told that there is still nothing.
            let empty = message["diagnostics"].as_array().is_some_and(Vec::is_empty);
            if before.is_some() || !empty || !message["version"].is_null() {
                messages.push(message);
            }
        }
        if self.client.pulls {
            // It asks by itself for what it shows, but knows nothing of what follows elsewhere.
            self.refresh(&[0]);
            return;
        }
        for message in messages {
            self.notify("textDocument/publishDiagnostics", message);
        }
    }

    /// Tells the client to ask again, as far as it can be told.
    pub(super) fn refresh(&mut self, what: &[usize]) {
        for at in what {
            let can = self.client.refreshes.get(*at).copied().unwrap_or_default();
            if let Some(method) = REFRESHES.get(*at).filter(|_| can) {
                self.ask(method, Value::Null, Asked::Nothing);
            }
        }
    }
}
