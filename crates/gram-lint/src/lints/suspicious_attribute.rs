use crate::lint::{Lint, LintPass};

pub(crate) static LINT: Lint = Lint {
    code: gram_check::codes::SUSPICIOUS_ATTRIBUTE,
    fix: Some(gram_syntax::Applicability::NeedsLook),
    passes: &[LintPass::Checker],
    ..Lint::COMMON
};
