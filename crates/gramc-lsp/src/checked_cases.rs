//! What a snapshot keeps of open files of cases and calls.

use std::sync::Arc;

use gramc_syntax::Diagnostic;

use crate::file::File;

#[cfg(feature = "agents")]
pub(crate) use lines::{CaseCache, CheckedLine, CheckedLines};

/// An open file of cases or calls.
#[derive(Debug)]
pub(crate) struct DataFile {
    pub(crate) file: Arc<File>,
    pub(crate) found: Vec<Diagnostic>,
}

#[cfg(feature = "agents")]
mod lines {
    use std::collections::HashMap;
    use std::path::PathBuf;

    use gramc_experiment::CaseProblem;
    use parking_lot::Mutex;

    pub(crate) type CaseCache = Mutex<HashMap<PathBuf, CheckedLines>>;

    /// What is known of the lines of a file, by the hash of their text.
    #[derive(Debug, Default)]
    pub(crate) struct CheckedLines {
        /// Identifies the tools and agents that they were checked against, if there were any.
        pub(crate) calls: Option<u64>,
        pub(crate) lines: HashMap<u64, CheckedLine>,
    }

    #[derive(Debug, Clone)]
    pub(crate) enum CheckedLine {
        Empty,
        /// A case, with its id if it has one, and the calls that no run can make. `is_final` is false if
        /// the calls could not be checked, because the specification has an error.
        Case {
            id: Option<Box<str>>,
            problems: Box<[CaseProblem]>,
            is_final: bool,
        },
        /// Not a case. The reason is found out when it is shown.
        Invalid,
    }

    impl CheckedLine {
        /// Whether the line need not be checked again.
        pub(crate) fn is_final(&self) -> bool {
            !matches!(self, Self::Case { is_final: false, .. })
        }
    }
}
