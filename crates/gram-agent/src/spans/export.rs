//! Where spans go: to the collector that the environment names.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanData};
use reqwest::Url;
use tokio::runtime::Runtime;

use crate::model::client;

/// How long a request may take, where the environment does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// LastError no spans are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetryError(String);

impl fmt::Display for TelemetryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TelemetryError {}

/// What sends the spans of runs to a collector, over OTLP and HTTP. They are collected, and sent by
/// a thread of their own.
#[derive(Debug)]
pub struct Telemetry {
    provider: SdkTracerProvider,
    pub(super) tracer: SdkTracer,
    /// Whether spans hold what is said, called and answered.
    pub(super) contents: bool,
    /// The collector, as messages name it.
    collector: String,
    lost: Arc<ExportFailures>,
}

/// What never arrived.
#[derive(Debug, Default)]
struct ExportFailures(Mutex<(usize, String)>);

impl ExportFailures {
    fn now(&self) -> MutexGuard<'_, (usize, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Telemetry {
    /// What the variables of the process's environment ask for, as OpenTelemetry has them: nothing
    /// without `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and `OTEL_EXPORTER_OTLP_ENDPOINT`.
    ///
    /// # Errors
    ///
    /// When what they say is wrong, or cannot be done.
    pub fn from_environment() -> Result<Option<Self>, TelemetryError> {
        let own = said("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let Some(endpoint) = own.clone().or_else(|| said("OTEL_EXPORTER_OTLP_ENDPOINT")) else {
            return Ok(None);
        };
        let is = |variable: &str, value: &str| {
            said(variable).is_some_and(|said| said.eq_ignore_ascii_case(value))
        };
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        for variable in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            let Some(protocol) = said(variable) else { continue };
            if !protocol.eq_ignore_ascii_case("http/protobuf") {
                return Err(TelemetryError(format!(
                    "{variable} asks for `{protocol}`, and gramc speaks `http/protobuf` alone"
                )));
            }
            break;
        }
        let endpoint = match own {
            Some(own) => own,
            None => format!("{}/v1/traces", endpoint.trim_end_matches('/')),
        };
        let url = Url::parse(&endpoint).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        // What is no address may be a key that stands in the wrong variable.
        let url = url.ok_or_else(|| {
            let wrong = "the address of the collector is none: one is `http://127.0.0.1:4318`";
            TelemetryError(wrong.to_owned())
        })?;
        Self::to(&url).map(Some)
    }

    fn to(url: &Url) -> Result<Self, TelemetryError> {
        let wrong = |error: &dyn fmt::Display| TelemetryError(error.to_string());
        let why = Arc::new(Mutex::new(None));
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(url.as_str())
            .with_http_client(
                OtlpClient::new(url, Arc::clone(&why)).map_err(|error| wrong(&error))?,
            )
            .build()
            .map_err(|error| wrong(&error))?;
        let lost = Arc::new(ExportFailures::default());
        let exporter = CountingExporter { exporter, why, lost: Arc::clone(&lost) };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        let scope = InstrumentationScope::builder("gramc")
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_schema_url("https://opentelemetry.io/schemas/1.41.0")
            .build();
        let contents = said("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        let contents = contents.map(|said| said.to_ascii_lowercase()).unwrap_or_default();
        Ok(Self {
            tracer: provider.tracer_with_scope(scope),
            provider,
            contents: matches!(&*contents, "true" | "span_only" | "span_and_event"),
            collector: shown(url),
            lost,
        })
    }

    /// Sends what is left, for so long at most, and gives what is to be told if the collector has
    /// not got all. Waits on this thread.
    pub fn end(self, most: Duration) -> Option<String> {
        let over = self.provider.shutdown_with_timeout(most);
        let (count, why) = &*self.lost.now();
        let collector = &self.collector;
        match (count, over) {
            (0, Ok(())) => None,
            (0, Err(_)) => Some(format!("the collector at {collector} does not answer")),
            (1, _) => Some(format!("1 span did not get to the collector at {collector}: {why}")),
            (count, _) => {
                Some(format!("{count} spans did not get to the collector at {collector}: {why}"))
            }
        }
    }
}

/// What a variable says, if it says anything.
fn said(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.trim().is_empty())
}

/// An address without what may be a key in it.
fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

/// Who sends the spans, as the environment says.
fn resource() -> Resource {
    let own = [("service.name", "gramc"), ("service.version", env!("CARGO_PKG_VERSION"))];
    let resource = Resource::builder_empty()
        .with_attributes(own.map(|(key, value)| KeyValue::new(key, value)))
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match said("OTEL_SERVICE_NAME") {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}

/// LastError the last request failed, where it did.
type LastError = Arc<Mutex<Option<String>>>;

/// An exporter that counts what it could not send.
#[derive(Debug)]
struct CountingExporter {
    exporter: SpanExporter,
    why: LastError,
    lost: Arc<ExportFailures>,
}

impl opentelemetry_sdk::trace::SpanExporter for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let outcome = self.exporter.export(batch).await;
        if let Err(error) = &outcome {
            let why = self.why.lock().unwrap_or_else(PoisonError::into_inner).take();
            let mut lost = self.lost.now();
            *lost = (lost.0 + count, why.unwrap_or_else(|| error.to_string()));
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

/// Our client, for an exporter whose thread knows nothing of `tokio`.
#[derive(Debug)]
struct OtlpClient {
    client: reqwest::Client,
    /// There until the end.
    runtime: Option<Runtime>,
    why: LastError,
}

impl OtlpClient {
    fn new(url: &Url, why: LastError) -> Result<Self, String> {
        let variables = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
        let limit = variables.into_iter().find_map(said).and_then(|said| said.trim().parse().ok());
        let client = client::client(url, limit.map_or(DEFAULT_TIMEOUT, Duration::from_millis))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("spans cannot be sent: {error}"))?;
        Ok(Self { client, runtime: Some(runtime), why })
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let runtime = self.runtime.as_ref().ok_or("the run is over")?;
        let answer = runtime.block_on(self.client.send_bytes(request));
        let why = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("it answered with HTTP status {}", answer.status())),
            Err(error) => Some(cause(&**error)),
        };
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = why;
        answer
    }
}

/// What is at the bottom of an error, in the system's words.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<reqwest::Error>()
        && error.is_timeout()
    {
        return "it did not answer in time".to_owned();
    }
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let cause = cause.to_string();
    cause.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl HttpClient for OtlpClient {
    /// The exporter calls this on its own thread, which may wait.
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
        // Elsewhere than on a thread that may wait, a runtime must not be waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
