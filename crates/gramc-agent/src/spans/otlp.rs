//! Telemetry in the binary form of OTLP, the protocol of OpenTelemetry: protocol buffers.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::histograms::Instrument;

/// The origin of spans.
const SCOPE: &str = "gramc";
const SCOPE_VERSION: &str = env!("CARGO_PKG_VERSION");
const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

#[derive(Debug, Clone, Copy)]
pub(super) struct SpanIds {
    pub(super) trace: u128,
    pub(super) span: u64,
    /// Whether the trace is exported.
    pub(super) is_sampled: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) ids: SpanIds,
    /// The span that it belongs to.
    pub(super) parent: Option<SpanIds>,
    /// The `tracestate` of W3C Trace Context.
    pub(super) trace_state: String,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start: SystemTime,
    pub(super) end: SystemTime,
    pub(super) attributes: Vec<Attribute>,
    /// Whether its status is an error.
    pub(super) failed: bool,
    /// The histogram of its duration.
    pub(super) instrument: Option<&'static Instrument>,
}

impl Span {
    pub(super) fn attribute(&self, key: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.key == key)
    }
}

/// The kind of a span, with its number in the protocol.
#[derive(Debug, Clone, Copy)]
pub(super) enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// An attribute of a span or a resource. Its value is a text, a number, a boolean or a list of texts.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    key: String,
    value: Value,
}

impl Attribute {
    pub(super) fn new(key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

/// The body of a request that exports spans or metrics. Both have the same field numbers; the comments
/// name the messages and fields of the protocol.
pub(super) fn export_request(
    resource: &[Attribute],
    items: impl Iterator<Item = Message>,
) -> Vec<u8> {
    // InstrumentationScope.name, InstrumentationScope.version
    let scope = Message::default().bytes(1, SCOPE.as_bytes()).bytes(2, SCOPE_VERSION.as_bytes());
    // ScopeSpans.scope, ScopeSpans.spans, ScopeSpans.schema_url
    let scope_spans = items
        .fold(Message::default().message(1, scope), |all, item| all.message(2, item))
        .bytes(3, SCHEMA_URL.as_bytes());
    // ResourceSpans.resource, ResourceSpans.scope_spans
    let resource = encode_attributes(Message::default(), 1, resource);
    let resource_spans = Message::default().message(1, resource).message(2, scope_spans);
    // ExportTraceServiceRequest.resource_spans
    Message::default().message(1, resource_spans).0
}

pub(super) fn encode_span(span: &Span) -> Message {
    // Span.trace_id, Span.span_id, Span.trace_state, Span.parent_span_id
    let message = Message::default()
        .bytes(1, &span.ids.trace.to_be_bytes())
        .bytes(2, &span.ids.span.to_be_bytes())
        .bytes(3, span.trace_state.as_bytes());
    let message = match &span.parent {
        Some(parent) => message.bytes(4, &parent.span.to_be_bytes()),
        None => message,
    };
    // Span.name, Span.kind, Span.start_time_unix_nano, Span.end_time_unix_nano
    let message = message
        .bytes(5, span.name.as_bytes())
        .number(6, span.kind as u64)
        .double_word(7, nanoseconds(span.start))
        .double_word(8, nanoseconds(span.end));
    // Span.attributes
    let message = encode_attributes(message, 9, &span.attributes);
    if !span.failed {
        return message;
    }
    // Span.status: Status.code, STATUS_CODE_ERROR
    message.message(15, Message::default().number(3, 2))
}

pub(super) fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn encode_attributes<'a>(
    message: Message,
    field: u64,
    attributes: impl IntoIterator<Item = &'a Attribute>,
) -> Message {
    attributes.into_iter().fold(message, |message, Attribute { key, value }| {
        // KeyValue.key, KeyValue.value
        let pair = Message::default().bytes(1, key.as_bytes()).message(2, encode_value(value));
        message.message(field, pair)
    })
}

/// The message `AnyValue`, in which the field is the type of the value.
fn encode_value(value: &Value) -> Message {
    let message = Message::default();
    match value {
        Value::String(text) => message.bytes(1, text.as_bytes()),
        Value::Bool(value) => message.number(2, (*value).into()),
        Value::Number(number) if number.is_f64() => {
            message.double_word(4, number.as_f64().unwrap_or_default().to_bits())
        }
        // Negative numbers are sent as their two's complement. Larger ones do not exist.
        Value::Number(number) => {
            message.number(3, number.as_i64().unwrap_or(i64::MAX).cast_unsigned())
        }
        // ArrayValue.values
        Value::Array(items) => message.message(
            5,
            items.iter().fold(Message::default(), |all, item| all.message(1, encode_value(item))),
        ),
        Value::Null | Value::Object(_) => message,
    }
}

/// A message of protocol buffers.
#[derive(Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    /// Adds a whole number of variable length.
    pub(super) fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    /// Adds a number of eight bytes.
    pub(super) fn double_word(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "a message is built for its place")]
    pub(super) fn message(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }
}
