//! The older field of OpenAI's chat completions.

use super::super::rules::{Rules, Shape};
use super::super::target::Target;
use super::openai::{LIMITS, NAMES, ROOT};

/// The table.
pub(in super::super) static RULES: Rules = Rules {
    target: Target::OpenAiFunctions,
    about: "the older field `functions` of OpenAI's chat completions",
    shape: Shape::BareFunction,
    names: Some(NAMES),
    root: ROOT,
    arrays_need_items: true,
    limits: LIMITS,
    ..Rules::OPEN
};
