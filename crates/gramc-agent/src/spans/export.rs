//! Export of spans to an OpenTelemetry collector.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanData};
use parking_lot::Mutex;
use reqwest::Url;
use tokio::runtime::Runtime;

use crate::model::client;

/// Timeout of export requests, unless the environment sets one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// A telemetry configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The protocol is not supported.
    #[error("unsupported protocol `{protocol}` in {variable}: expected `http/protobuf`")]
    Protocol {
        /// The environment variable.
        variable: &'static str,
        /// Its value.
        protocol: String,
    },
    /// The address of the collector is invalid.
    #[error("invalid collector address: expected a URL such as `http://127.0.0.1:4318`")]
    Address,
    /// The exporter cannot be created.
    #[error("{0}")]
    Exporter(String),
}

/// Exports spans to a collector over OTLP and HTTP. A separate thread sends them in batches.
#[derive(Debug)]
pub struct Telemetry {
    provider: SdkTracerProvider,
    pub(super) tracer: SdkTracer,
    /// Whether spans contain messages, arguments and results.
    pub(super) contents: bool,
    /// The address of the collector in messages.
    collector: String,
    failures: Arc<ExportFailures>,
}

/// The number of spans that were not exported, and the last error.
#[derive(Debug, Default)]
struct ExportFailures(Mutex<(usize, String)>);

impl Telemetry {
    /// Configures telemetry from the standard environment variables. Returns `None` without
    /// `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and `OTEL_EXPORTER_OTLP_ENDPOINT`.
    ///
    /// # Errors
    ///
    /// If a variable is invalid or not supported.
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
                return Err(TelemetryError::Protocol { variable, protocol });
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
        Self::to(&url).map(Some)
    }

    fn to(url: &Url) -> Result<Self, TelemetryError> {
        let failed = |error: &dyn fmt::Display| TelemetryError::Exporter(error.to_string());
        let why = Arc::new(Mutex::new(None));
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(url.as_str())
            .with_http_client(
                OtlpClient::new(url, Arc::clone(&why)).map_err(|error| failed(&error))?,
            )
            .build()
            .map_err(|error| failed(&error))?;
        let failures = Arc::new(ExportFailures::default());
        let exporter = CountingExporter { exporter, why, failures: Arc::clone(&failures) };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        let scope = InstrumentationScope::builder("gramc")
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_schema_url("https://opentelemetry.io/schemas/1.41.0")
            .build();
        let contents = env_var("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        let contents = contents.map(|value| value.to_ascii_lowercase()).unwrap_or_default();
        Ok(Self {
            tracer: provider.tracer_with_scope(scope),
            provider,
            contents: matches!(&*contents, "true" | "span_only" | "span_and_event"),
            collector: redact(url),
            failures,
        })
    }

    /// Exports the remaining spans within a time limit and describes failures of the export. Blocks
    /// the thread.
    pub fn shut_down(self, limit: Duration) -> Option<String> {
        let over = self.provider.shutdown_with_timeout(limit);
        let (count, why) = &*self.failures.0.lock();
        let collector = &self.collector;
        match (count, over) {
            (0, Ok(())) => None,
            (0, Err(_)) => Some(format!("the collector at {collector} does not respond")),
            (1, _) => Some(format!("cannot export 1 span to the collector at {collector}: {why}")),
            (count, _) => {
                Some(format!("cannot export {count} spans to the collector at {collector}: {why}"))
            }
        }
    }
}

/// Reads an environment variable that is not empty.
fn env_var(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.trim().is_empty())
}

/// An address without parts that may contain a key.
fn redact(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

/// The resource of the spans, with attributes from the environment.
fn resource() -> Resource {
    let own = [("service.name", "gramc"), ("service.version", env!("CARGO_PKG_VERSION"))];
    let resource = Resource::builder_empty()
        .with_attributes(own.map(|(key, value)| KeyValue::new(key, value)))
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match env_var("OTEL_SERVICE_NAME") {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}

/// The error of the last request, if it failed.
type LastError = Arc<Mutex<Option<String>>>;

/// An exporter that counts the spans that it could not send.
#[derive(Debug)]
struct CountingExporter {
    exporter: SpanExporter,
    why: LastError,
    failures: Arc<ExportFailures>,
}

impl opentelemetry_sdk::trace::SpanExporter for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let outcome = self.exporter.export(batch).await;
        if let Err(error) = &outcome {
            let why = self.why.lock().take();
            let mut failures = self.failures.0.lock();
            *failures = (failures.0 + count, why.unwrap_or_else(|| error.to_string()));
        }
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// The HTTP client of the exporter, whose thread has no `tokio` runtime.
#[derive(Debug)]
struct OtlpClient {
    client: reqwest::Client,
    /// `None` after the client is dropped.
    runtime: Option<Runtime>,
    why: LastError,
}

impl OtlpClient {
    fn new(url: &Url, why: LastError) -> Result<Self, String> {
        let variables = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
        let limit =
            variables.into_iter().find_map(env_var).and_then(|value| value.trim().parse().ok());
        let limit = limit.map_or(DEFAULT_TIMEOUT, Duration::from_millis);
        let client = client::client(url, limit).map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| format!("cannot start the span exporter: {error}"))?;
        Ok(Self { client, runtime: Some(runtime), why })
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let runtime = self.runtime.as_ref().ok_or("the run is over")?;
        let answer = runtime.block_on(self.client.send_bytes(request));
        let why = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("HTTP status {}", answer.status())),
            Err(error) => Some(cause(&**error)),
        };
        *self.why.lock() = why;
        answer
    }
}

/// The root cause of an error.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<reqwest::Error>()
        && error.is_timeout()
    {
        return "timed out".to_owned();
    }
    client::root_cause(error).to_lowercase()
}

impl HttpClient for OtlpClient {
    /// The exporter calls this on its own thread, which may block.
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move { self.send(request) })
    }
}

impl Drop for OtlpClient {
    fn drop(&mut self) {
        // Dropping a runtime on an async thread would panic.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
