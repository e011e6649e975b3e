//! Reads the file of a gateway, and reads it again when it changes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gramc_project::files::{decode, read_bytes};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::member::Members;
use super::servers_file::read_members;
use crate::failure::Failure;
use crate::output::say;

/// The maximum size of a file in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// How long to wait after a change: editors write in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// Keeps the members of a gateway those of a file.
pub(super) struct FileWatch {
    _watcher: RecommendedWatcher,
    _work: AbortOnDropHandle<()>,
}

impl FileWatch {
    /// Sets the members, and sets them again when the file changes. Fails if no member can be used.
    pub(super) fn start(
        path: &Path,
        members: &Arc<watch::Sender<Members>>,
    ) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let read = {
            let name = name.clone();
            move || Ok::<_, Failure>(decode(&name, read_bytes(&path, MAX_BYTES)?)?)
        };
        let fails = |error: String| Failure::new(format!("{name}: {error}"));
        let mut text = read()?;
        let first = read_members(&text, &folder, &Members::default());
        let first = first.map_err(|error| fails(error.to_string()))?;
        if first.all.is_empty() {
            return Err(fails("no MCP server can be used".to_owned()));
        }
        members.send_replace(first);
        let (changes, mut changed) = mpsc::unbounded_channel();
        let report = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // The receiver may be gone.
                let _ = changes.send(());
            }
        };
        let unwatchable = |error: notify::Error| fails(format!("cannot watch the file: {error}"));
        let mut watcher = notify::recommended_watcher(report).map_err(unwatchable)?;
        // Editors replace files, so the folder is watched.
        watcher.watch(&folder, RecursiveMode::NonRecursive).map_err(unwatchable)?;
        let members = Arc::clone(members);
        let work = tokio::spawn(async move {
            while changed.recv().await.is_some() {
                sleep(QUIET).await;
                while changed.try_recv().is_ok() {}
                // While an editor replaces it, the file is missing.
                let Some(new) = read().ok().filter(|new| *new != text) else { continue };
                text = new;
                let known = members.borrow().clone();
                match read_members(&text, &folder, &known) {
                    Ok(new) => {
                        say(format_args!("note: {name} was read again"));
                        members.send_replace(new);
                    }
                    Err(error) => {
                        say(format_args!("error: {name}: {error}; keeping the previous servers"));
                    }
                }
            }
        });
        Ok(Self { _watcher: watcher, _work: AbortOnDropHandle::new(work) })
    }
}
