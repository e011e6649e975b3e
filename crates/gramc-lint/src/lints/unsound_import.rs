use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint =
    Lint { code: gramc_check::codes::UNSOUND_IMPORT, passes: &[LintPass::Checker], ..Lint::COMMON };
