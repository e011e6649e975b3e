//! A project as it is in the last commit.

use std::path::Path;
use std::sync::Arc;

use gramc_check::Valid;
use gramc_model::Module;
use gramc_project::Revision;
use gramc_project::files::is_gram;

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
