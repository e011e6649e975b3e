use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint =
    Lint { code: gram_check::codes::UNSOUND_IMPORT, passes: &[LintPass::Checker], ..Lint::COMMON };
