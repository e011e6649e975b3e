//! Metrics for Prometheus.

use std::fmt;
use std::time::Duration;

use gramc_tools::{CallError, Verdict};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The media type of the metrics.
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The label of tools that do not exist. Their names are chosen by the client, which could fill the
/// memory with them.
const UNKNOWN_TOOL: &str = "unknown";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    tool: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    tool: String,
    error_type: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RepairLabels {
    tool: String,
    rule: &'static str,
}

/// The metrics of a server.
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<OutcomeLabels, Counter>,
    refusals: Family<RefusalLabels, Counter>,
    repairs: Family<RepairLabels, Counter>,
    duration: Histogram,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let (calls, refusals, repairs) = (Family::default(), Family::default(), Family::default());
        // From 1 ms to 33 s.
        let duration = Histogram::new(exponential_buckets(0.001, 2.0, 16));
        let mut registry = Registry::with_prefix("gramc");
        // The registry adds `_total` to the names of counters.
        registry.register("calls", "Tool calls", calls.clone());
        registry.register("refusals", "Calls that did not reach a tool", refusals.clone());
        registry.register("repairs", "Repairs of arguments", repairs.clone());
        registry.register("call_duration_seconds", "Duration of calls", duration.clone());
        Self { registry, calls, refusals, repairs, duration }
    }
}

impl Metrics {
    /// Counts a call. `tool` is `None` if there is no such tool.
    pub(crate) fn count(&self, tool: Option<&str>, verdict: &Verdict, took: Duration) {
        let tool = tool.unwrap_or(UNKNOWN_TOOL).to_owned();
        let outcome = match &verdict.outcome {
            Ok(_) => "ok",
            Err(CallError::Invocation { .. } | CallError::Timeout { .. }) => "failed",
            Err(error) => {
                let labels = RefusalLabels { tool: tool.clone(), error_type: error.error_type() };
                self.refusals.get_or_create(&labels).inc();
                "refused"
            }
        };
        if let Ok(success) = &verdict.outcome {
            for repair in &success.repairs {
                let labels = RepairLabels { tool: tool.clone(), rule: repair.rule.name() };
                self.repairs.get_or_create(&labels).inc();
            }
        }
        self.calls.get_or_create(&OutcomeLabels { tool, outcome }).inc();
        self.duration.observe(took.as_secs_f64());
    }

    /// The metrics as text in the format of `OpenMetrics`.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
