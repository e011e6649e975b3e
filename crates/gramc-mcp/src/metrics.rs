//! Metrics for Prometheus, in the format of `OpenMetrics`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use gramc_tools::{CallError, Verdict};
use parking_lot::Mutex;

pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The label of tools that do not exist. Their names are chosen by the client, which could fill the
/// memory with them.
const UNKNOWN_TOOL: &str = "unknown";
/// The number of buckets of durations, from 1 ms to 33 s, each twice as long as the one before.
const BUCKETS: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    calls: Counter,
    refusals: Counter,
    repairs: Counter,
    durations: [u64; BUCKETS],
    /// The number of calls, and the sum of their durations in seconds.
    count: u64,
    sum: f64,
}

/// Counts by tool and by another label.
type Counter = BTreeMap<(String, &'static str), u64>;

impl Metrics {
    /// Counts a call. `tool` is `None` if there is no such tool.
    pub(crate) fn count(&self, tool: Option<&str>, verdict: &Verdict, took: Duration) {
        let key = |label| (tool.unwrap_or(UNKNOWN_TOOL).to_owned(), label);
        let mut counts = self.0.lock();
        let outcome = match &verdict.outcome {
            Ok(_) => "ok",
            Err(CallError::Invocation { .. } | CallError::Timeout { .. }) => "failed",
            Err(error) => {
                *counts.refusals.entry(key(error.error_type())).or_default() += 1;
                "refused"
            }
        };
        for repair in verdict.outcome.iter().flat_map(|success| &success.repairs) {
            *counts.repairs.entry(key(repair.rule.name())).or_default() += 1;
        }
        *counts.calls.entry(key(outcome)).or_default() += 1;
        let seconds = took.as_secs_f64();
        counts.count += 1;
        counts.sum += seconds;
        if let Some(at) = limits().position(|limit| seconds <= limit) {
            counts.durations[at] += 1;
        }
    }

    pub(crate) fn text(&self) -> String {
        let counts = self.0.lock();
        let mut text = String::new();
        write_counter(&mut text, "calls", "Tool calls", "outcome", &counts.calls);
        let help = "Calls that did not reach a tool";
        write_counter(&mut text, "refusals", help, "error_type", &counts.refusals);
        write_counter(&mut text, "repairs", "Repairs of arguments", "rule", &counts.repairs);
        let name = "gramc_call_duration_seconds";
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} Duration of calls.\n# TYPE {name} histogram");
        let _ = writeln!(text, "{name}_sum {:?}\n{name}_count {}", counts.sum, counts.count);
        let mut total = 0;
        for (limit, count) in limits().zip(counts.durations) {
            total += count;
            let _ = writeln!(text, "{name}_bucket{{le=\"{limit:?}\"}} {total}");
        }
        let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {}\n# EOF", counts.count);
        text
    }
}

/// The upper limits of the buckets, in seconds.
fn limits() -> impl Iterator<Item = f64> {
    std::iter::successors(Some(0.001), |limit| Some(limit * 2.0)).take(BUCKETS)
}

fn write_counter(text: &mut String, name: &str, help: &str, label: &str, counter: &Counter) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP gramc_{name} {help}.\n# TYPE gramc_{name} counter");
    for ((tool, value), count) in counter {
        let tool = tool.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = writeln!(text, "gramc_{name}_total{{tool=\"{tool}\",{label}=\"{value}\"}} {count}");
    }
}
