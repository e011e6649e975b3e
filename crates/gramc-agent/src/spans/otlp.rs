//! Spans in the binary form of OTLP, the protocol of OpenTelemetry: protocol buffers.

use std::time::{SystemTime, UNIX_EPOCH};

/// The ids of a span.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpanIds {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
}

/// A span.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) ids: SpanIds,
    /// The span that it belongs to.
    pub(super) parent: Option<SpanIds>,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start: SystemTime,
    pub(super) end: SystemTime,
    pub(super) attributes: Vec<Attribute>,
    /// Whether its status is an error.
    pub(super) failed: bool,
}

/// The kind of a span, with its number in the protocol.
#[derive(Debug, Clone, Copy)]
pub(super) enum SpanKind {
    Internal = 1,
    Client = 3,
}

/// An attribute of a span or a resource.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    key: String,
    value: AttributeValue,
}

impl Attribute {
    pub(super) fn new(key: impl Into<String>, value: impl Into<AttributeValue>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

#[derive(Debug, Clone)]
pub(super) enum AttributeValue {
    Text(String),
    Texts(Vec<String>),
    Integer(i64),
    Number(f64),
    Bool(bool),
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for AttributeValue {
    fn from(count: u64) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<f64> for AttributeValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for AttributeValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// The origin of spans.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) schema_url: &'static str,
}

/// The body of a request that exports spans. The comments name the messages and fields of the protocol.
pub(super) fn export_request(resource: &[Attribute], scope: &Scope, spans: &[Span]) -> Vec<u8> {
    // ExportTraceServiceRequest.resource_spans
    Message::default()
        .message(
            1,
            // ResourceSpans.resource, ResourceSpans.scope_spans
            Message::default().message(1, attributes(Message::default(), 1, resource)).message(
                2,
                spans
                    .iter()
                    .fold(
                        // ScopeSpans.scope: InstrumentationScope.name, InstrumentationScope.version
                        Message::default().message(
                            1,
                            Message::default()
                                .bytes(1, scope.name.as_bytes())
                                .bytes(2, scope.version.as_bytes()),
                        ),
                        // ScopeSpans.spans
                        |message, span| message.message(2, encode_span(span)),
                    )
                    // ScopeSpans.schema_url
                    .bytes(3, scope.schema_url.as_bytes()),
            ),
        )
        .0
}

fn encode_span(span: &Span) -> Message {
    // Span.trace_id, Span.span_id, Span.parent_span_id
    let message = Message::default().bytes(1, &span.ids.trace).bytes(2, &span.ids.span);
    let message = match &span.parent {
        Some(parent) => message.bytes(4, &parent.span),
        None => message,
    };
    // Span.name, Span.kind, Span.start_time_unix_nano, Span.end_time_unix_nano
    let message = message
        .bytes(5, span.name.as_bytes())
        .number(6, span.kind as u64)
        .fixed(7, nanoseconds(span.start))
        .fixed(8, nanoseconds(span.end));
    // Span.attributes
    let message = attributes(message, 9, &span.attributes);
    if !span.failed {
        return message;
    }
    // Span.status: Status.code, STATUS_CODE_ERROR
    message.message(15, Message::default().number(3, 2))
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn attributes(message: Message, field: u64, attributes: &[Attribute]) -> Message {
    attributes.iter().fold(message, |message, Attribute { key, value }| {
        // KeyValue.key, KeyValue.value
        let pair = Message::default().bytes(1, key.as_bytes()).message(2, encode_value(value));
        message.message(field, pair)
    })
}

/// The message `AnyValue`, in which the field is the type of the value.
fn encode_value(value: &AttributeValue) -> Message {
    let message = Message::default();
    match value {
        AttributeValue::Text(text) => message.bytes(1, text.as_bytes()),
        AttributeValue::Bool(value) => message.number(2, (*value).into()),
        // Negative numbers are sent as their two's complement.
        AttributeValue::Integer(number) => message.number(3, number.cast_unsigned()),
        AttributeValue::Number(number) => message.fixed(4, number.to_bits()),
        AttributeValue::Texts(texts) => {
            let text = |message: Message, text: &String| {
                message.message(1, Message::default().bytes(1, text.as_bytes()))
            };
            message.message(5, texts.iter().fold(Message::default(), text))
        }
    }
}

/// A message of protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    /// Adds a whole number of variable length.
    fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    /// Adds a number of eight bytes.
    fn fixed(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend(number.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "a message is built for its place")]
    fn message(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }
}
