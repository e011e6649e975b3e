//! Export of spans and metrics to an OpenTelemetry collector.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, StatusCode, Url};

use super::histograms::Histograms;
use super::otlp::{Attribute, Span, SpanIds, encode_span, export_request};
use crate::model::client::{self, ClientError};

/// The supported protocol.
const PROTOCOL: &str = "http/protobuf";

/// Timeout of export requests, unless the environment sets one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of spans of a request.
const MAX_BATCH: usize = 512;

/// Maximum number of spans that wait for their export.
const MAX_QUEUE: usize = 2048;

/// The time after which spans are exported even if they are few.
const BATCH_TIME: Duration = Duration::from_secs(5);

/// The interval of exports of metrics, unless the environment sets one.
const METRICS_INTERVAL: Duration = Duration::from_mins(1);

/// A telemetry configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The protocol is not supported.
    #[error(
        "unsupported protocol `{1}` in OTEL_EXPORTER_OTLP_{0}PROTOCOL: expected `http/protobuf`"
    )]
    Protocol(String, String),
    /// The address of the collector is invalid.
    #[error("invalid collector address: expected a URL such as `http://127.0.0.1:4318`")]
    Address,
    /// The HTTP client cannot be created.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The thread of the exporter cannot be started.
    #[error("cannot start the exporter: {0}")]
    Exporter(#[from] std::io::Error),
}

/// Exports spans and metrics to a collector over OTLP and HTTP. A separate thread sends them.
#[derive(Debug)]
pub struct Telemetry {
    pub(super) queue: SpanQueue,
    /// Whether spans contain messages, arguments and results.
    pub(super) contents: bool,
    /// The address of the collector in messages.
    collector: String,
    /// Receives an error when the exporter has ended.
    end: Receiver<()>,
}

/// The way of finished spans to the exporter.
#[derive(Debug, Clone)]
pub(super) struct SpanQueue {
    /// `None` ends the exporter.
    sender: SyncSender<Option<Span>>,
    sampler: Sampler,
    pub(super) exports_spans: bool,
    /// The metrics, if they are exported.
    histograms: Option<Arc<Histograms>>,
    failures: Arc<Mutex<ExportFailures>>,
}

/// Failures of the export.
#[derive(Debug, Default)]
struct ExportFailures {
    /// The number of spans that were not exported, and the last error.
    spans: usize,
    why: String,
    /// The error of the last export of metrics, which would have contained those of earlier ones.
    metrics: Option<String>,
}

impl SpanQueue {
    /// New ids of a span, in the trace of its parent.
    pub(super) fn new_ids(&self, parent: Option<SpanIds>) -> SpanIds {
        let (span, _) = uuid::Uuid::new_v4().as_u64_pair();
        let trace = parent.map_or_else(|| uuid::Uuid::new_v4().as_u128(), |parent| parent.trace);
        SpanIds { trace, span, is_sampled: self.sampler.is_sampled(trace, parent) }
    }

    /// Measures a span, and exports it if its trace is sampled.
    pub(super) fn send(&self, span: Span) {
        if let Some(histograms) = &self.histograms {
            histograms.record(&span);
        }
        if self.exports_spans && span.ids.is_sampled && self.sender.try_send(Some(span)).is_err() {
            self.failures.lock().add(1, &ExportError::Full);
        }
    }
}

impl ExportFailures {
    fn add(&mut self, spans: usize, error: &ExportError) {
        self.spans += spans;
        self.why = error.to_string();
    }
}

impl Telemetry {
    /// Configures telemetry from the standard environment variables. Returns `None` if they name no
    /// collector.
    pub fn from_environment() -> Result<Option<Self>, TelemetryError> {
        let traces = Exporter::from_environment("TRACES")?;
        let metrics = Exporter::from_environment("METRICS")?;
        let Some(first) = traces.as_ref().or(metrics.as_ref()) else { return Ok(None) };
        let collector = redact(&first.url);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (sender, spans) = mpsc::sync_channel(MAX_QUEUE);
        let queue = SpanQueue {
            sender,
            sampler: Sampler::from_environment(),
            exports_spans: traces.is_some(),
            histograms: metrics.is_some().then(|| Arc::new(Histograms::new())),
            failures: Arc::default(),
        };
        let (histograms, failures) = (queue.histograms.clone(), Arc::clone(&queue.failures));
        let (running, end) = mpsc::channel();
        std::thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            let (mut is_open, resource) = (true, resource());
            let interval = milliseconds(env_var("OTEL_METRIC_EXPORT_INTERVAL"));
            let interval = interval.unwrap_or(METRICS_INTERVAL);
            let mut next_metrics = Instant::now() + interval;
            while is_open {
                let batch = next_batch(&spans, next_metrics, &mut is_open);
                if let (Some(traces), false) = (&traces, batch.is_empty()) {
                    let body = export_request(&resource, batch.iter().map(encode_span));
                    if let Err(error) = runtime.block_on(traces.send(body)) {
                        failures.lock().add(batch.len(), &error);
                    }
                }
                if is_open && Instant::now() < next_metrics {
                    continue;
                }
                next_metrics = Instant::now() + interval;
                let body = histograms.as_ref().and_then(|it| it.export(&resource));
                if let (Some(metrics), Some(body)) = (&metrics, body) {
                    let error = runtime.block_on(metrics.send(body)).err();
                    let address = redact(&metrics.url);
                    failures.lock().metrics = error.map(|error| format!("{address}: {error}"));
                }
            }
            drop(running);
        })?;
        let contents = env_var("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        let contents = contents.map(|value| value.to_ascii_lowercase()).unwrap_or_default();
        let contents = matches!(&*contents, "true" | "span_only" | "span_and_event");
        Ok(Some(Self { queue, contents, collector, end }))
    }

    /// Exports the remaining telemetry within a time limit and describes failures of the export. Blocks
    /// the thread.
    pub fn shut_down(self, limit: Duration) -> Option<String> {
        let Self { queue, collector, end, .. } = self;
        // If the queue is full, the spans in it are lost anyway.
        let _ = queue.sender.try_send(None);
        let is_late = end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        let ExportFailures { spans, why, metrics } = &*queue.failures.lock();
        match (spans, metrics, is_late) {
            (0, None, false) => None,
            (0, None, true) => Some(format!("the collector at {collector} does not respond")),
            (0, Some(why), _) => Some(format!(
                "cannot export metrics to the collector at {why} \
                 (OTEL_METRICS_EXPORTER=none turns metrics off)"
            )),
            (1, ..) => Some(format!("cannot export 1 span to the collector at {collector}: {why}")),
            (count, ..) => {
                Some(format!("cannot export {count} spans to the collector at {collector}: {why}"))
            }
        }
    }
}

/// Waits for the spans of the next request, at most until metrics are exported. `is_open` becomes false
/// when the sender ends the export.
fn next_batch(queue: &Receiver<Option<Span>>, mut until: Instant, is_open: &mut bool) -> Vec<Span> {
    let mut spans = Vec::new();
    while spans.len() < MAX_BATCH {
        match queue.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Some(span)) => {
                if spans.is_empty() {
                    until = until.min(Instant::now() + BATCH_TIME);
                }
                spans.push(span);
            }
            Err(RecvTimeoutError::Timeout) => break,
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                *is_open = false;
                break;
            }
        }
    }
    spans
}

/// Telemetry that cannot be exported.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("timed out")]
    Timeout,
    #[error("{0}")]
    Request(String),
    #[error("HTTP status {0}")]
    Status(StatusCode),
    #[error("too many spans at once")]
    Full,
}

impl From<reqwest::Error> for ExportError {
    fn from(error: reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::Timeout;
        }
        Self::Request(client::root_cause(&error).to_lowercase())
    }
}

/// Sends telemetry of one kind to a collector.
struct Exporter {
    client: Client,
    url: Url,
    headers: HeaderMap,
}

impl Exporter {
    /// Configures the export of `TRACES` or `METRICS`.
    fn from_environment(signal: &str) -> Result<Option<Self>, TelemetryError> {
        let is = |variable: &str, value: &str| {
            env_var(variable).is_some_and(|set| set.eq_ignore_ascii_case(value))
        };
        if is("OTEL_SDK_DISABLED", "true") || is(&format!("OTEL_{signal}_EXPORTER"), "none") {
            return Ok(None);
        }
        let own = |name| exporter_var(&format!("{signal}_{name}"));
        let set = |name| own(name).or_else(|| exporter_var(name));
        let path = signal.to_ascii_lowercase();
        let join = |base: String| format!("{}/v1/{path}", base.trim_end_matches('/'));
        let Some(endpoint) = own("ENDPOINT").or_else(|| exporter_var("ENDPOINT").map(join)) else {
            return Ok(None);
        };
        if let Some(protocol) = set("PROTOCOL").filter(|it| !it.eq_ignore_ascii_case(PROTOCOL)) {
            let own = own("PROTOCOL").map(|_| format!("{signal}_")).unwrap_or_default();
            return Err(TelemetryError::Protocol(own, protocol));
        }
        let url = Url::parse(&endpoint).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        // The value is not shown, because it may be a key in the wrong variable.
        let url = url.ok_or(TelemetryError::Address)?;
        let limit = milliseconds(set("TIMEOUT")).unwrap_or(DEFAULT_TIMEOUT);
        let headers = read_headers(&set("HEADERS").unwrap_or_default());
        Ok(Some(Self { client: client::client(&url, limit)?, url, headers }))
    }

    async fn send(&self, body: Vec<u8>) -> Result<(), ExportError> {
        let post = self.client.post(self.url.clone()).headers(self.headers.clone());
        let post = post.header(CONTENT_TYPE, "application/x-protobuf");
        match post.body(body).send().await?.status() {
            status if status.is_success() => Ok(()),
            status => Err(ExportError::Status(status)),
        }
    }
}

/// Decides which traces are exported.
#[derive(Debug, Clone, Copy)]
struct Sampler {
    /// The share of traces that are exported.
    ratio: f64,
    /// Whether the parent of a span decides, if it has one.
    is_parent_based: bool,
}

impl Sampler {
    fn from_environment() -> Self {
        let name = env_var("OTEL_TRACES_SAMPLER").unwrap_or_default().to_ascii_lowercase();
        let argument = env_var("OTEL_TRACES_SAMPLER_ARG").and_then(|ratio| ratio.parse().ok());
        let (ratio, is_named) = match name.strip_prefix("parentbased_").unwrap_or(&name) {
            "always_off" => (0.0, true),
            "traceidratio" => (argument.unwrap_or(1.0), true),
            root => (1.0, root == "always_on"),
        };
        let is_parent_based = !is_named || name.starts_with("parentbased_");
        Self { ratio, is_parent_based }
    }

    fn is_sampled(self, trace: u128, parent: Option<SpanIds>) -> bool {
        if let Some(parent) = parent.filter(|_| self.is_parent_based) {
            return parent.is_sampled;
        }
        let [.., a, b, c, d] = trace.to_be_bytes();
        let place = f64::from(u32::from_be_bytes([a, b, c, d])) / f64::from(u32::MAX);
        self.ratio >= 1.0 || place < self.ratio
    }
}

/// Reads an environment variable that is not empty.
fn env_var(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.trim().is_empty())
}

fn exporter_var(name: &str) -> Option<String> {
    env_var(&format!("OTEL_EXPORTER_OTLP_{name}"))
}

fn milliseconds(value: Option<String>) -> Option<Duration> {
    value?.trim().parse().ok().map(Duration::from_millis)
}

/// Reads a list such as `a=b,c=d`, whose values are percent-encoded.
fn pairs(list: &str) -> impl Iterator<Item = (&str, String)> {
    list.split(',').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        Some((key.trim(), percent_decode_str(value.trim()).decode_utf8_lossy().into_owned()))
    })
}

fn read_headers(list: &str) -> HeaderMap {
    let header = |(name, value): (&str, String)| {
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name).ok()?, value))
    };
    pairs(list).filter_map(header).collect()
}

/// An address without parts that may contain a key.
fn redact(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

/// The resource of the telemetry, with attributes from the environment.
fn resource() -> Vec<Attribute> {
    let version = env!("CARGO_PKG_VERSION");
    let mut all = vec![
        // Metrics of several processes must not be taken for those of one.
        ("service.instance.id".to_owned(), uuid::Uuid::new_v4().to_string()),
        ("service.version".to_owned(), version.to_owned()),
        ("telemetry.sdk.language".to_owned(), "rust".to_owned()),
        ("telemetry.sdk.name".to_owned(), "gramc".to_owned()),
        ("telemetry.sdk.version".to_owned(), version.to_owned()),
    ];
    let list = env_var("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    for (key, value) in pairs(&list) {
        all.retain(|(known, _)| known != key);
        all.push((key.to_owned(), value));
    }
    let service = env_var("OTEL_SERVICE_NAME");
    if service.is_some() || !all.iter().any(|(key, _)| key == "service.name") {
        all.retain(|(key, _)| key != "service.name");
        let service = service.unwrap_or_else(|| "gramc".to_owned());
        all.push(("service.name".to_owned(), service));
    }
    all.into_iter().map(|(key, value)| Attribute::new(key, value)).collect()
}
