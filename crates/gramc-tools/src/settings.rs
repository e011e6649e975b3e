//! Settings for the calls of a library's tools.

use std::time::Duration;

use gramc_model::units;
use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;

use crate::approval::ApprovalPolicy;
use crate::bind::OnChange;
use crate::throttle::ThrottlePolicy;
use gramc_calls::check::{Policy, Undeclared};

/// The maximum response size in bytes if no limit is configured. Unlimited output could exhaust the
/// memory.
pub(crate) const MAX_OUTPUT: usize = 1 << 30;

/// How long a called container stays expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expand {
    /// Until the end of the session.
    #[default]
    Conversation,
    /// Until the next message of the user.
    Turn,
}

/// The policy for the calls of a library's tools, or of a single tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How arguments are checked.
    pub check: Policy,
    /// Whether a result that does not match its type is an error instead of a warning.
    pub strict_result: bool,
    /// The number of consecutive refused calls after which a human review is required. 0: never.
    pub max_attempts: u32,
    /// The limits on the number of calls and failures.
    pub throttle: ThrottlePolicy,
    /// The response size in bytes above which a warning is added. 0: never.
    pub max_response: usize,
    /// The maximum response size in bytes. 0: 1 GiB.
    pub max_output: usize,
    /// Whether invalid calls of a container or its functions also expand it.
    pub auto_expand: bool,
    /// How long containers stay expanded.
    pub expand: Expand,
    /// The timeout of an invocation. Zero: no timeout.
    pub timeout: Duration,
    /// The maximum number of concurrent invocations of a tool in all sessions. 0: unlimited.
    pub concurrency: u32,
    /// The calls that have to be approved. `None`: the library does not say.
    pub approval: Option<ApprovalPolicy>,
    /// The treatment of a change of an MCP server. `None`: a server that refuses what the
    /// specification allows is not served, other changes are warnings.
    pub on_change: Option<OnChange>,
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
            approval: None,
            on_change: None,
        }
    }
}

impl Settings {
    /// The timeout of an invocation.
    pub fn time_limit(&self) -> Duration {
        if self.timeout.is_zero() { Duration::MAX } else { self.timeout }
    }

    /// The maximum response size in bytes.
    pub fn most_output(&self) -> usize {
        if self.max_output == 0 { MAX_OUTPUT } else { self.max_output }
    }

    /// Applies the attributes of a library or an implementation. Unknown attributes and values of
    /// the wrong type are ignored, because the checker reports them.
    pub fn take(&mut self, attributes: &[(SmolStr, Value)]) {
        // A profile is what the other attributes change, in whatever order they are written.
        let profile = attributes.iter().find(|(key, _)| key == "throttle");
        set(&mut self.throttle, profile.and_then(|(_, value)| throttle(value.as_str()?)));
        for (key, value) in attributes {
            self.take_one(key, value);
        }
    }

    fn take_one(&mut self, key: &str, value: &Value) {
        match key {
            "undeclared" => {
                set(&mut self.check.undeclared, value.as_str().and_then(parse_undeclared));
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
            "maxResponse" => set(&mut self.max_response, size(value)),
            "maxOutput" => set(&mut self.max_output, size(value)),
            "timeout" => set(&mut self.timeout, time(value)),
            "approval" => set(&mut self.approval, Deserialize::deserialize(value).ok()),
            "onChange" => set(&mut self.on_change, Deserialize::deserialize(value).ok()),
            "concurrency" => set(&mut self.concurrency, count(value)),
            "expand" => set(&mut self.expand, Deserialize::deserialize(value).ok()),
            _ => {}
        }
    }
}

fn set<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

/// Parses the name of a treatment of undeclared parameters.
pub fn parse_undeclared(name: &str) -> Option<Undeclared> {
    Some(match name {
        "strip" => Undeclared::Strip,
        "reject" => Undeclared::Reject,
        "keep" => Undeclared::Keep,
        "schema" => Undeclared::Schema,
        _ => return None,
    })
}

/// The throttle profile of a name.
fn throttle(name: &str) -> Option<ThrottlePolicy> {
    match name {
        "off" => Some(ThrottlePolicy::off()),
        "repeats" => Some(ThrottlePolicy::default()),
        "strict" => Some(ThrottlePolicy::strict()),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(settings: &Settings, attributes: &Value) -> ThrottlePolicy {
        let mut settings = settings.clone();
        let attributes = attributes.as_object().into_iter().flatten();
        let attributes: Vec<_> =
            attributes.map(|(key, value)| (SmolStr::from(key), value.clone())).collect();
        settings.take(&attributes);
        settings.throttle
    }

    #[test]
    fn single_limits_change_a_profile() {
        let plain = Settings::default();
        assert_eq!(taken(&plain, &json!({"throttle": "strict"})), ThrottlePolicy::strict());
        assert_eq!(taken(&plain, &json!({"throttle": "none"})), ThrottlePolicy::default());
        for attributes in [
            json!({"throttle": "off", "sameToolCalls": 7}),
            json!({"sameToolCalls": 7, "throttle": "off"}),
        ] {
            let policy = taken(&plain, &attributes);
            assert_eq!(policy, ThrottlePolicy { same_tool_calls: 7, ..ThrottlePolicy::off() });
        }
        let strict = Settings { throttle: ThrottlePolicy::strict(), ..Settings::default() };
        assert_eq!(taken(&strict, &json!({"allToolsCalls": 7})).same_tool_calls, 5);
        assert_eq!(taken(&strict, &json!({"throttle": "repeats"})), ThrottlePolicy::default());
    }
}
