//! The cases of experiments.

pub(crate) mod call_checks;
pub(crate) mod case;
pub(crate) mod case_problems;
pub(crate) mod checks;
pub(crate) mod expected_calls;
pub(crate) mod user;
