//! The older field of OpenAI's chat completions.

use super::super::rules::{Rules, Shape};
use super::super::target::Target;
use super::openai;

/// The table.
pub(in super::super) static RULES: Rules = Rules {
    target: Target::OpenAiFunctions,
    about: "the older field `functions` of OpenAI's chat completions",
    shape: Shape::BareFunction,
    ..openai::RULES
};
