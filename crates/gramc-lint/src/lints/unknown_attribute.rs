use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: gramc_check::codes::UNKNOWN_ATTRIBUTE,
    fix: Some(gramc_syntax::Applicability::NeedsLook),
    passes: &[LintPass::Checker],
    ..Lint::COMMON
};
