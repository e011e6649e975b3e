//! A project as it is in the last commit.

use std::path::Path;
use std::sync::Arc;

use gram_check::Valid;
use gram_diff::{Breaking, Change, diff_tool};
use gram_model::Module;
use gram_project::Revision;
use gram_project::files::is_gram;

use crate::lookup::ToolRef;

/// The name of the last commit.
const HEAD: &str = "HEAD";

/// The specification of the last commit, kept until there is another one.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    commit: Option<String>,
    /// `None` if it has errors.
    module: Option<Arc<Valid<Module>>>,
}

impl Committed {
    /// The specification of the project in a folder. `None` outside of repositories, and if it has errors.
    pub(crate) fn module(&mut self, root: &Path) -> Option<Arc<Valid<Module>>> {
        let commit = Revision::commit(HEAD, root);
        if commit != self.commit {
            self.module = commit.as_ref().and_then(|_| read(root)).map(Arc::new);
            self.commit = commit;
        }
        self.module.clone()
    }
}

fn read(root: &Path) -> Option<Valid<Module>> {
    let revision = Revision::open(HEAD, root).ok()?;
    let files = revision.find("", |file| is_gram(Path::new(file)));
    if files.is_empty() {
        return None;
    }
    revision.check(files).ok()?.module
}

/// What breaks callers of the tool since the last commit, for people.
pub(crate) fn breaking(committed: &Module, tool: &ToolRef) -> Option<String> {
    let name = &tool.get()?.name;
    let changes = diff_tool(committed, tool.module.module(), name);
    let mut breaking = changes.iter().filter(|change| change.breaking == Breaking::Yes);
    let Change { message, .. } = breaking.next()?;
    let more = match breaking.count() {
        0 => String::new(),
        1 => ", and 1 more change".to_owned(),
        more => format!(", and {more} more changes"),
    };
    Some(format!("breaking since HEAD: {message}{more}"))
}
