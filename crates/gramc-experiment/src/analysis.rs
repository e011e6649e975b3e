//! Comparison of arms by their runs.

pub(crate) mod comparison;
pub(crate) mod counted;
pub(crate) mod drift;
pub(crate) mod gate;
pub(crate) mod labels;
pub(crate) mod planning;
pub(crate) mod rates;
pub(crate) mod tags;
pub(crate) mod unanswered;
pub(crate) mod verdict;
