//! Published diagnostics.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use lsp_types as lsp;
use serde_json::{Value, json};

use super::{ClientRequest, Server, ServerEvent};
use crate::client::REFRESHES;
use crate::diagnostics::reports;
use crate::global_state::ProjectKey;

/// The published diagnostics.
#[derive(Debug, Default)]
pub(super) struct Publications {
    diagnosed: BTreeMap<ProjectKey, u64>,
    documents: Arc<HashMap<String, PublishedReport>>,
}

type PublishedReport = (u64, ProjectKey);

/// The new diagnostics of some projects.
pub(crate) struct DiagnosticsUpdate {
    projects: Vec<(ProjectKey, u64)>,
    /// The changed documents, with their reports and the messages to send.
    changed: Vec<(String, Option<PublishedReport>, Value)>,
}

impl Server {
    /// Diagnoses all projects that changed since the last time.
    pub(super) fn diagnose(&mut self) {
        let stale = self.state.projects.iter().filter(|(key, project)| {
            project.loaded && self.published.diagnosed.get(key) != Some(&project.revision)
        });
        let stale: Vec<_> = stale.map(|(key, project)| (key.clone(), project.revision)).collect();
        let known = self.published.diagnosed.keys();
        let gone = known.filter(|key| !self.state.projects.contains_key(key)).cloned();
        let gone: Vec<ProjectKey> = gone.collect();
        if stale.is_empty() && gone.is_empty() {
            return;
        }
        let mut snapshots = Vec::new();
        for (key, _) in &stale {
            snapshots.extend(self.state.snapshot(key).map(|snapshot| (key.clone(), snapshot)));
        }
        for key in &gone {
            self.published.diagnosed.remove(key);
        }
        let (events, known) = (self.events.clone(), Arc::clone(&self.published.documents));
        // Queued diagnostics of older revisions are obsolete.
        self.diagnoser.replace_jobs(move || {
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
            // Documents that were removed from these projects.
            for (uri, (_, key)) in known.iter() {
                let theirs = gone.contains(key) || snapshots.iter().any(|(of, _)| of == key);
                if theirs && !seen.contains(uri) {
                    changed.push((uri.clone(), None, json!({"uri": uri, "diagnostics": []})));
                }
            }
            let _ =
                events.send(ServerEvent::Diagnosed(DiagnosticsUpdate { projects: stale, changed }));
        });
    }

    /// Publishes diagnostics, or starts again if a project changed in the meantime.
    pub(super) fn publish(&mut self, diagnosed: DiagnosticsUpdate) {
        let current = diagnosed.projects.iter().all(|(key, revision)| {
            self.state.projects.get(key).is_some_and(|project| project.revision == *revision)
        });
        if !current {
            return self.diagnose();
        }
        self.published.diagnosed.extend(diagnosed.projects);
        if diagnosed.changed.is_empty() {
            return;
        }
        let documents = Arc::make_mut(&mut self.published.documents);
        let mut messages = Vec::new();
        for (uri, key, message) in diagnosed.changed {
            let before = match key {
                Some(key) => documents.insert(uri, key),
                None => documents.remove(&uri),
            };
            // A first report of an unopened document is sent only if it has diagnostics.
            let empty = message["diagnostics"].as_array().is_some_and(Vec::is_empty);
            if before.is_some() || !empty || !message["version"].is_null() {
                messages.push(message);
            }
        }
        if self.client.pulls {
            // The client pulls the visible documents but does not know which others changed.
            self.refresh(&[0]);
            return;
        }
        for message in messages {
            self.notify("textDocument/publishDiagnostics", message);
        }
    }

    /// Sends the refresh requests that the client supports.
    pub(super) fn refresh(&mut self, what: &[usize]) {
        for at in what {
            let can = self.client.refreshes.get(*at).copied().unwrap_or_default();
            if let Some(method) = REFRESHES.get(*at).filter(|_| can) {
                self.ask(method, Value::Null, ClientRequest::Other);
            }
        }
    }
}
