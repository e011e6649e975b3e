//! Export of spans to an OpenTelemetry collector.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, StatusCode, Url};

use super::otlp::{Attribute, Span, SpanIds, export_request};
use crate::model::client::{self, ClientError};

/// Timeout of export requests, unless the environment sets one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of spans of a request.
const MAX_BATCH: usize = 512;

/// Maximum number of spans that wait for their export.
const MAX_QUEUE: usize = 2048;

/// The time after which spans are exported even if they are few.
const BATCH_TIME: Duration = Duration::from_secs(5);

/// A telemetry configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The protocol is not supported.
    #[error("unsupported protocol `{1}` in {0}: expected `http/protobuf`")]
    Protocol(&'static str, String),
    /// The address of the collector is invalid.
    #[error("invalid collector address: expected a URL such as `http://127.0.0.1:4318`")]
    Address,
    /// The HTTP client cannot be created.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The thread of the exporter cannot be started.
    #[error("cannot start the span exporter: {0}")]
    Exporter(#[from] std::io::Error),
}

/// Exports spans to a collector over OTLP and HTTP. A separate thread sends them in batches.
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
    /// The share of traces that are exported.
    ratio: f64,
    failures: Arc<Mutex<ExportFailures>>,
}

/// The number of spans that were not exported, and the last error.
#[derive(Debug, Default)]
struct ExportFailures {
    count: usize,
    why: String,
}

impl SpanQueue {
    /// New ids of a span, in the trace of its parent.
    pub(super) fn new_ids(parent: Option<SpanIds>) -> SpanIds {
        let random = || uuid::Uuid::new_v4().into_bytes();
        let mut span = [0; 8];
        span.copy_from_slice(&random()[8..]);
        SpanIds { trace: parent.map_or_else(random, |parent| parent.trace), span }
    }

    /// Exports a span, if its trace is sampled.
    pub(super) fn send(&self, span: Span) {
        let [.., a, b, c, d] = span.ids.trace;
        let place = f64::from(u32::from_be_bytes([a, b, c, d])) / f64::from(u32::MAX);
        if self.ratio < 1.0 && place >= self.ratio {
            return;
        }
        if self.sender.try_send(Some(span)).is_err() {
            self.failures.lock().add(1, &ExportError::Full);
        }
    }
}

impl ExportFailures {
    fn add(&mut self, count: usize, error: &ExportError) {
        *self = Self { count: self.count + count, why: error.to_string() };
    }
}

impl Telemetry {
    /// Configures telemetry from the standard environment variables. Returns `None` without
    /// `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn from_environment() -> Result<Option<Self>, TelemetryError> {
        let own = env_var("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let Some(endpoint) = own.clone().or_else(|| env_var("OTEL_EXPORTER_OTLP_ENDPOINT")) else {
            return Ok(None);
        };
        let is = |variable: &str, value: &str| {
            env_var(variable).is_some_and(|set| set.eq_ignore_ascii_case(value))
        };
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        for variable in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            let Some(protocol) = env_var(variable) else { continue };
            if !protocol.eq_ignore_ascii_case("http/protobuf") {
                return Err(TelemetryError::Protocol(variable, protocol));
            }
            break;
        }
        let endpoint = match own {
            Some(own) => own,
            None => format!("{}/v1/traces", endpoint.trim_end_matches('/')),
        };
        let url = Url::parse(&endpoint).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        // The value is not shown, because it may be a key in the wrong variable.
        let url = url.ok_or(TelemetryError::Address)?;
        Self::to(url).map(Some)
    }

    fn to(url: Url) -> Result<Self, TelemetryError> {
        let limit = env_of_traces("TIMEOUT").and_then(|value| value.trim().parse().ok());
        let limit = limit.map_or(DEFAULT_TIMEOUT, Duration::from_millis);
        let client = client::client(&url, limit)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (sender, spans) = mpsc::sync_channel(MAX_QUEUE);
        let queue = SpanQueue { sender, ratio: sampling_ratio(), failures: Arc::default() };
        let collector = redact(&url);
        let exporter = Exporter { client, url, headers: headers(), resource: resource() };
        let failures = Arc::clone(&queue.failures);
        let (running, end) = mpsc::channel();
        std::thread::Builder::new().name("spans".to_owned()).spawn(move || {
            let mut is_open = true;
            while let Some(batch) = next_batch(&spans, &mut is_open) {
                if let Err(error) = runtime.block_on(exporter.send(&batch)) {
                    failures.lock().add(batch.len(), &error);
                }
            }
            drop(running);
        })?;
        let contents = env_var("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        let contents = contents.map(|value| value.to_ascii_lowercase()).unwrap_or_default();
        let contents = matches!(&*contents, "true" | "span_only" | "span_and_event");
        Ok(Self { queue, contents, collector, end })
    }

    /// Exports the remaining spans within a time limit and describes failures of the export. Blocks
    /// the thread.
    pub fn shut_down(self, limit: Duration) -> Option<String> {
        let Self { queue, collector, end, .. } = self;
        // If the queue is full, the spans in it are lost anyway.
        let _ = queue.sender.try_send(None);
        let is_late = end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        let ExportFailures { count, why } = &*queue.failures.lock();
        match (count, is_late) {
            (0, false) => None,
            (0, true) => Some(format!("the collector at {collector} does not respond")),
            (1, _) => Some(format!("cannot export 1 span to the collector at {collector}: {why}")),
            (count, _) => {
                Some(format!("cannot export {count} spans to the collector at {collector}: {why}"))
            }
        }
    }
}

/// Waits for the spans of the next request, unless there are no more. `is_open` becomes false when the
/// sender ends the export.
fn next_batch(queue: &Receiver<Option<Span>>, is_open: &mut bool) -> Option<Vec<Span>> {
    if !*is_open {
        return None;
    }
    let mut spans = vec![queue.recv().ok()??];
    let end = Instant::now() + BATCH_TIME;
    while spans.len() < MAX_BATCH {
        match queue.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(Some(span)) => spans.push(span),
            Ok(None) => {
                *is_open = false;
                break;
            }
            Err(_) => break,
        }
    }
    Some(spans)
}

/// Spans that cannot be exported.
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

/// Sends spans to a collector.
struct Exporter {
    client: Client,
    url: Url,
    headers: HeaderMap,
    resource: Vec<Attribute>,
}

impl Exporter {
    async fn send(&self, spans: &[Span]) -> Result<(), ExportError> {
        let post = self.client.post(self.url.clone()).headers(self.headers.clone());
        let post = post.header(CONTENT_TYPE, "application/x-protobuf");
        let body = export_request(&self.resource, spans);
        match post.body(body).send().await?.status() {
            status if status.is_success() => Ok(()),
            status => Err(ExportError::Status(status)),
        }
    }
}

/// Reads an environment variable that is not empty.
fn env_var(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.trim().is_empty())
}

/// Reads a variable of the exporter, which may be set for traces alone.
fn env_of_traces(name: &str) -> Option<String> {
    env_var(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
        .or_else(|| env_var(&format!("OTEL_EXPORTER_OTLP_{name}")))
}

/// Reads a list such as `a=b,c=d`, whose values are percent-encoded.
fn pairs(list: &str) -> impl Iterator<Item = (&str, String)> {
    list.split(',').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        Some((key.trim(), percent_decode_str(value.trim()).decode_utf8_lossy().into_owned()))
    })
}

fn headers() -> HeaderMap {
    let list = env_of_traces("HEADERS").unwrap_or_default();
    let header = |(name, value): (&str, String)| {
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name).ok()?, value))
    };
    pairs(&list).filter_map(header).collect()
}

/// The share of traces that are exported.
fn sampling_ratio() -> f64 {
    let sampler = env_var("OTEL_TRACES_SAMPLER").unwrap_or_default().to_ascii_lowercase();
    // No trace has a parent in another process.
    match sampler.strip_prefix("parentbased_").unwrap_or(&sampler) {
        "always_off" => 0.0,
        "traceidratio" => {
            let ratio = env_var("OTEL_TRACES_SAMPLER_ARG").and_then(|ratio| ratio.parse().ok());
            ratio.unwrap_or(1.0)
        }
        _ => 1.0,
    }
}

/// An address without parts that may contain a key.
fn redact(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

/// The resource of the spans, with attributes from the environment.
fn resource() -> Vec<Attribute> {
    let version = env!("CARGO_PKG_VERSION");
    let mut all = vec![
        ("service.version".to_owned(), version.to_owned()),
        ("telemetry.sdk.language".to_owned(), "rust".to_owned()),
        ("telemetry.sdk.name".to_owned(), "gramc".to_owned()),
        ("telemetry.sdk.version".to_owned(), version.to_owned()),
    ];
    let list = env_var("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    all.extend(pairs(&list).map(|(key, value)| (key.to_owned(), value)));
    let service = env_var("OTEL_SERVICE_NAME");
    if service.is_some() || !all.iter().any(|(key, _)| key == "service.name") {
        all.retain(|(key, _)| key != "service.name");
        let service = service.unwrap_or_else(|| "gramc".to_owned());
        all.push(("service.name".to_owned(), service));
    }
    all.into_iter().map(|(key, value)| Attribute::new(key, value)).collect()
}
