//! Graders of runs, and the models that evaluate them.

pub(crate) mod evaluators;
pub(crate) mod grader;
pub(crate) mod reply_cache;
pub(crate) mod transcript;
