//! Statistics of a session.

use serde::Serialize;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

/// Statistics on the calls of a container in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ContainerStats {
    /// The number of valid calls.
    pub expansions: u32,
    /// The number of calls with parameters.
    pub wrong_calls: u32,
    /// The number of calls of its functions while it was collapsed.
    pub early_calls: u32,
    /// The number of expansions after an invalid call.
    pub auto_expansions: u32,
}

/// Statistics of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// The number of calls in the last 60 s, without those that the throttle refused.
    pub calls: usize,
    /// The tools whose last call failed with their number of consecutive failures, descending.
    pub failing: Vec<(SmolStr, u32)>,
    /// The tools called in the last 60 s with their number of calls, descending.
    pub most_called: Vec<(SmolStr, usize)>,
    /// The containers that were called in the session.
    pub containers: Vec<(SmolStr, ContainerStats)>,
}

impl SessionStats {
    /// The statistics as JSON.
    pub fn json(&self) -> Value {
        let failing = self.failing.iter();
        let failing: Map<_, _> =
            failing.map(|(name, count)| (name.to_string(), json!(count))).collect();
        let called = self.most_called.iter();
        let called = called.map(|(name, count)| json!({"tool": name.as_str(), "calls": count}));
        let containers = self.containers.iter();
        let containers = containers.map(|(name, stats)| (name.to_string(), json!(stats)));
        let errors: u32 =
            self.containers.iter().map(|(_, stats)| stats.wrong_calls + stats.early_calls).sum();
        json!({
            "calls_last_60_seconds": self.calls,
            "tools_with_failures": failing,
            "most_called_tools": called.collect::<Vec<_>>(),
            "container_errors": errors,
            "containers": containers.collect::<Map<_, _>>(),
        })
    }
}
