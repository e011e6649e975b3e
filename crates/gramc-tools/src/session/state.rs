//! The state of a session.

use std::collections::HashMap;
use std::time::Duration;

use crate::bind::Bound;
use crate::settings::{Expand, Settings};
use crate::stats::{ContainerStats, SessionStats};
use crate::throttle::Throttle;

#[derive(Debug, Default)]
pub(super) struct SessionState {
    pub(super) throttle: Throttle,
    /// The number of consecutive refused calls of each tool, and the reply of the last one.
    refused: HashMap<u32, Refusals>,
    /// The expanded containers, and how long they stay expanded.
    expanded: HashMap<u32, Expand>,
    /// Statistics of container calls.
    containers: HashMap<u32, ContainerStats>,
    /// The number of runs by tool and hash of the arguments, if the implementation uses it.
    occurrences: HashMap<(u32, u64), u32>,
}

#[derive(Debug, Default)]
struct Refusals {
    count: u32,
    reply: u64,
}

impl SessionState {
    /// Records a call that does not reach a tool.
    pub(super) fn count_unknown(&mut self, settings: &Settings, now: Duration) {
        // It counts towards all calls; its outcome is irrelevant.
        let _ = self.throttle.admit(None, &settings.throttle, now);
    }

    pub(super) fn note_acceptance(&mut self, tool: u32) {
        self.refused.remove(&tool);
    }

    /// Records a refused call, and returns the number of consecutive refused calls. Calls of one
    /// reply count as one.
    pub(super) fn note_refusal(&mut self, tool: u32) -> u32 {
        let reply = self.throttle.reply();
        let refused = self.refused.entry(tool).or_default();
        if reply == 0 || reply != refused.reply {
            *refused = Refusals { count: refused.count.saturating_add(1), reply };
        }
        refused.count
    }

    pub(super) fn is_expanded(&self, container: u32) -> bool {
        self.expanded.contains_key(&container)
    }

    pub(super) fn expand(&mut self, container: u32, expand: Expand) {
        self.expanded.insert(container, expand);
    }

    pub(super) fn begin_turn(&mut self) {
        self.throttle.begin_turn();
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
        let mut containers: Vec<_> = self.containers.iter().collect();
        containers.sort_unstable_by_key(|(at, _)| **at);
        let container =
            |(at, stats): (&u32, &ContainerStats)| (bound.container(*at).spec.name.clone(), *stats);
        SessionStats {
            containers: containers.into_iter().map(container).collect(),
            ..self.throttle.stats(now, |tool| bound.tool(tool).spec.name.clone())
        }
    }
}
