//! The lints that the checker reports while it reads declarations.

use gramc_check::codes;
use gramc_syntax::Applicability::NeedsLook;
use gramc_syntax::Code;

use crate::lint::{Lint, LintPass};

pub(crate) static SUSPICIOUS_ATTRIBUTE: Lint =
    Lint { fix: Some(NeedsLook), ..by_checker(codes::SUSPICIOUS_ATTRIBUTE) };
pub(crate) static UNKNOWN_ATTRIBUTE: Lint =
    Lint { fix: Some(NeedsLook), ..by_checker(codes::UNKNOWN_ATTRIBUTE) };
pub(crate) static UNKNOWN_LABEL: Lint =
    Lint { fix: Some(NeedsLook), ..by_checker(codes::UNKNOWN_LABEL) };
pub(crate) static UNSOUND_IMPORT: Lint = by_checker(codes::UNSOUND_IMPORT);

const fn by_checker(code: Code) -> Lint {
    Lint { code, passes: &[LintPass::Checker], ..Lint::COMMON }
}
