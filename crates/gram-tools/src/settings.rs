//! What a host wants of the calls of a library's tools.

use std::time::Duration;

use gram_model::units;
use serde_json::Value;
use smol_str::SmolStr;

use crate::check::{Policy, Undeclared};
use crate::throttle::ThrottlePolicy;

/// The most bytes of a response that are read where no limit is wanted. Nobody has memory for all
/// that a program may say.
pub(crate) const MAX_OUTPUT: usize = 1 << 30;

/// How long a container that was called stays expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expand {
    /// To the end of the session.
    #[default]
    Conversation,
    /// To the next message of the user.
    Turn,
}

/// The policy for the calls of a library's tools, or of one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How arguments are checked.
    pub check: Policy,
    /// Whether a result that does not fit its type is an error; a warning otherwise.
    pub strict_result: bool,
    /// After how many refused calls in a row a human is asked for. 0: never.
    pub max_attempts: u32,
    /// When calls are refused because there are too many.
    pub throttle: ThrottlePolicy,
    /// From how many bytes on a response is warned of. 0: never.
    pub max_response: usize,
    /// The most bytes of a response that are read. 0: 1 GiB.
    pub max_output: usize,
    /// Whether a container expands when it is called wrongly, too.
    pub auto_expand: bool,
    /// How long containers stay expanded.
    pub expand: Expand,
    /// How long an invocation may take. Zero: as long as it wants.
    pub timeout: Duration,
    /// How many invocations of a tool may run at a time, in all sessions together. 0: any number.
    pub concurrency: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            check: Policy::default(),
            strict_result: false,
            max_attempts: 3,
            throttle: ThrottlePolicy::default(),
            max_response: 100_000,
            max_output: 16 << 20,
            auto_expand: false,
            expand: Expand::Conversation,
            timeout: Duration::from_mins(1),
            concurrency: 0,
        }
    }
}

impl Settings {
    /// How long an invocation may take.
    pub(crate) fn time_limit(&self) -> Duration {
        if self.timeout.is_zero() { Duration::MAX } else { self.timeout }
    }

    /// The most bytes of a response that are read.
    pub(crate) fn most_output(&self) -> usize {
        if self.max_output == 0 { MAX_OUTPUT } else { self.max_output }
    }

    /// Takes over what attributes of a library, or of an implementation, say. The checker has seen
    /// that they are of the right kind; others are passed over.
    pub fn take(&mut self, attributes: &[(SmolStr, Value)]) {
        for (key, value) in attributes {
            self.take_one(key, value);
        }
    }

    fn take_one(&mut self, key: &str, value: &Value) {
        match key {
            "undeclared" => {
                if let Some(undeclared) = value.as_str().and_then(undeclared) {
                    self.check.undeclared = undeclared;
                }
            }
            "repair" => set(&mut self.check.repair, value.as_bool()),
            "correctNames" => set(&mut self.check.correct_names, value.as_bool()),
            "strictResult" => set(&mut self.strict_result, value.as_bool()),
            "autoExpand" => set(&mut self.auto_expand, value.as_bool()),
            "maxAttempts" => set(&mut self.max_attempts, count(value)),
            "maxConsecutiveFailures" => {
                set(&mut self.throttle.max_consecutive_failures, count(value));
            }
            "sameToolCalls" => set(&mut self.throttle.same_tool_calls, count(value)),
            "sameToolWindow" => set(&mut self.throttle.same_tool_window, time(value)),
            "allToolsCalls" => set(&mut self.throttle.all_tools_calls, count(value)),
            "allToolsWindow" => set(&mut self.throttle.all_tools_window, time(value)),
            "historyRetention" => set(&mut self.throttle.history_retention, time(value)),
            "maxResponse" => set(&mut self.max_response, size(value)),
            "maxOutput" => set(&mut self.max_output, size(value)),
            "timeout" => set(&mut self.timeout, time(value)),
            "concurrency" => set(&mut self.concurrency, count(value)),
            "expand" => set(&mut self.expand, expand(value)),
            _ => {}
        }
    }
}

fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

/// What happens to undeclared parameters, by the name that a library gives it.
pub fn undeclared(name: &str) -> Option<Undeclared> {
    Some(match name {
        "strip" => Undeclared::Strip,
        "reject" => Undeclared::Reject,
        "keep" => Undeclared::Keep,
        "schema" => Undeclared::Schema,
        _ => return None,
    })
}

fn expand(value: &Value) -> Option<Expand> {
    match value.as_str()? {
        "conversation" => Some(Expand::Conversation),
        "turn" => Some(Expand::Turn),
        _ => None,
    }
}

fn count(value: &Value) -> Option<u32> {
    value.as_u64().map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

fn time(value: &Value) -> Option<Duration> {
    match value {
        Value::Number(_) => (value.as_u64()? == 0).then_some(Duration::ZERO),
        _ => units::time(value.as_str()?),
    }
}

fn size(value: &Value) -> Option<usize> {
    match value {
        Value::Number(_) => usize::try_from(value.as_u64()?).ok(),
        _ => usize::try_from(units::size(value.as_str()?)?).ok(),
    }
}
