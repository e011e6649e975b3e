//! The state of a session.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::bind::Bound;
use crate::settings::{Expand, Settings};
use crate::throttle::Throttle;

/// The state of a session.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    pub(super) throttle: Throttle,
    /// The number of consecutive refused calls of each tool.
    refused: HashMap<u32, u32>,
    /// The expanded containers, and how long they stay expanded.
    expanded: HashMap<u32, Expand>,
    /// Statistics of container calls.
    containers: HashMap<u32, ContainerStats>,
    /// The number of runs by tool and hash of the arguments, if the implementation uses it.
    occurrences: HashMap<(u32, u64), u32>,
}

/// Statistics on the calls of a container in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

impl SessionState {
    /// Records a call that does not reach a tool.
    pub(super) fn count_unknown(&mut self, settings: &Settings, now: Duration) {
        // It counts towards all calls; its outcome is irrelevant.
        let _ = self.throttle.admit(None, &settings.throttle, now);
    }

    pub(super) fn accepted(&mut self, tool: u32) {
        self.refused.remove(&tool);
    }

    /// Records a refused call, and returns the number of consecutive refused calls.
    pub(super) fn refused(&mut self, tool: u32) -> u32 {
        let count = self.refused.entry(tool).or_default();
        *count = count.saturating_add(1);
        *count
    }

    pub(super) fn is_expanded(&self, container: u32) -> bool {
        self.expanded.contains_key(&container)
    }

    pub(super) fn expand(&mut self, container: u32, expand: Expand) {
        self.expanded.insert(container, expand);
    }

    pub(super) fn begin_turn(&mut self) {
        self.expanded.retain(|_, expand| *expand == Expand::Conversation);
    }

    pub(super) fn of_container(&mut self, container: u32) -> &mut ContainerStats {
        self.containers.entry(container).or_default()
    }

    /// Records a run, and returns the number of earlier runs with the same arguments.
    pub(super) fn occurrence(&mut self, tool: u32, arguments: u64) -> u32 {
        let count = self.occurrences.entry((tool, arguments)).or_default();
        let before = *count;
        *count = count.saturating_add(1);
        before
    }

    pub(super) fn reset(&mut self, tool: u32) {
        self.throttle.reset(tool);
        self.refused.remove(&tool);
    }

    pub(super) fn reset_all(&mut self) {
        self.throttle.reset_all();
        self.refused.clear();
    }

    pub(super) fn stats(&self, bound: &Bound, now: Duration) -> SessionStats {
        let stats = self.throttle.stats(now);
        let name = |tool: u32| bound.tool(tool).spec.name.clone();
        let mut containers: Vec<_> = self.containers.iter().collect();
        containers.sort_unstable_by_key(|(at, _)| **at);
        let container =
            |(at, stats): (&u32, &ContainerStats)| (bound.container(*at).spec.name.clone(), *stats);
        SessionStats {
            calls: stats.calls,
            failing: stats.failing.into_iter().map(|(tool, count)| (name(tool), count)).collect(),
            most_called: stats
                .most_called
                .into_iter()
                .map(|(tool, count)| (name(tool), count))
                .collect(),
            containers: containers.into_iter().map(container).collect(),
        }
    }
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
        let containers = self.containers.iter().map(|(name, stats)| {
            let stats = json!({
                "expansions": stats.expansions,
                "wrong_calls": stats.wrong_calls,
                "early_calls": stats.early_calls,
                "auto_expansions": stats.auto_expansions,
            });
            (name.to_string(), stats)
        });
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
