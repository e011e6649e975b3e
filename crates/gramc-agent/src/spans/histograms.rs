//! Durations of operations as histograms.

use std::collections::BTreeMap;
use std::time::SystemTime;

use parking_lot::Mutex;

use super::otlp::{Attribute, Message, Span, encode_attributes, export_request, nanoseconds};

/// The number of bounds of all histograms.
const BOUNDS: usize = 14;
/// Maximum number of series of a histogram, as in other implementations of OpenTelemetry.
const MAX_SERIES: usize = 2_000;

/// The attributes of spans that distinguish series. Their values are few.
const SERIES_KEYS: [&str; 10] = [
    "mcp.method.name",
    "mcp.protocol.version",
    "gen_ai.operation.name",
    "gen_ai.tool.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "network.transport",
    "network.protocol.name",
    "rpc.response.status_code",
    "error.type",
];

/// A histogram of the semantic conventions, of durations in seconds.
#[derive(Debug)]
pub(super) struct Instrument {
    name: &'static str,
    bounds: [f64; BOUNDS],
}

pub(super) static MCP_OPERATION: Instrument = Instrument {
    name: "mcp.server.operation.duration",
    bounds: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0],
};

pub(super) static MODEL_OPERATION: Instrument = Instrument {
    name: "gen_ai.client.operation.duration",
    bounds: [
        0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ],
};

/// All histograms since the start, by name.
#[derive(Debug)]
pub(super) struct Histograms {
    start: SystemTime,
    by_name: Mutex<BTreeMap<&'static str, Histogram>>,
}

#[derive(Debug)]
struct Histogram {
    instrument: &'static Instrument,
    /// The series by their encoded attributes.
    series: BTreeMap<Vec<u8>, Series>,
}

#[derive(Debug, Default)]
struct Series {
    counts: [u64; BOUNDS + 1],
    sum: f64,
}

impl Histograms {
    pub(super) fn new() -> Self {
        Self { start: SystemTime::now(), by_name: Mutex::default() }
    }

    /// Adds the duration of a span.
    pub(super) fn record(&self, span: &Span) {
        let Some(instrument) = span.instrument else { return };
        let seconds = span.end.duration_since(span.start).unwrap_or_default().as_secs_f64();
        let mut key = encode_series(SERIES_KEYS.iter().filter_map(|key| span.attribute(key)));
        let mut by_name = self.by_name.lock();
        let new = || Histogram { instrument, series: BTreeMap::new() };
        let Histogram { series, .. } = by_name.entry(instrument.name).or_insert_with(new);
        if series.len() >= MAX_SERIES && !series.contains_key(&key) {
            key = encode_series([&Attribute::new("otel.metric.overflow", true)]);
        }
        let series = series.entry(key).or_default();
        series.counts[instrument.bounds.partition_point(|bound| *bound < seconds)] += 1;
        series.sum += seconds;
    }

    /// The body of a request that exports all histograms, if there are any.
    pub(super) fn export(&self, resource: &[Attribute]) -> Option<Vec<u8>> {
        let by_name = self.by_name.lock();
        let metrics = by_name.values().map(|histogram| histogram.encode(self.start));
        (!by_name.is_empty()).then(|| export_request(resource, metrics))
    }
}

/// `HistogramDataPoint.attributes`
fn encode_series<'a>(attributes: impl IntoIterator<Item = &'a Attribute>) -> Vec<u8> {
    encode_attributes(Message::default(), 9, attributes).0
}

impl Histogram {
    fn encode(&self, start: SystemTime) -> Message {
        let (start, now) = (nanoseconds(start), nanoseconds(SystemTime::now()));
        let bounds = self.instrument.bounds.map(f64::to_le_bytes);
        // Histogram.data_points
        let points = self.series.iter().fold(Message::default(), |all, (attributes, series)| {
            // HistogramDataPoint: start_time_unix_nano, time_unix_nano, count, sum, bucket_counts,
            // explicit_bounds
            let point = Message(attributes.clone())
                .double_word(2, start)
                .double_word(3, now)
                .double_word(4, series.counts.iter().sum())
                .double_word(5, series.sum.to_bits())
                .bytes(6, series.counts.map(u64::to_le_bytes).as_flattened())
                .bytes(7, bounds.as_flattened());
            all.message(1, point)
        });
        // Metric: name, unit, histogram; Histogram.aggregation_temporality, cumulative
        let metric = Message::default().bytes(1, self.instrument.name.as_bytes()).bytes(3, b"s");
        metric.message(9, points.number(2, 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spans::otlp::{SpanIds, SpanKind};

    #[test]
    fn the_number_of_series_is_limited() {
        let histograms = Histograms::new();
        let start = SystemTime::now();
        for number in 0..MAX_SERIES + 100 {
            histograms.record(&Span {
                ids: SpanIds { trace: 1, span: 1, is_sampled: true },
                parent: None,
                trace_state: String::new(),
                name: String::new(),
                kind: SpanKind::Server,
                start,
                end: start + std::time::Duration::from_millis(20),
                attributes: vec![Attribute::new("gen_ai.tool.name", number.to_string())],
                failed: false,
                instrument: Some(&MCP_OPERATION),
            });
        }
        let by_name = histograms.by_name.lock();
        let series = &by_name["mcp.server.operation.duration"].series;
        assert_eq!(series.len(), MAX_SERIES + 1);
        let overflow = encode_series([&Attribute::new("otel.metric.overflow", true)]);
        // A bound is the largest value of the bucket below it.
        assert_eq!(series[&overflow].counts[1], 100);
    }
}
