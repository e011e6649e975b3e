//! Calls of MCP clients as spans, following the semantic conventions for MCP.

use gramc_mcp::{CallFailure, CallTracer, StartedCall};
use serde_json::{Map, Value};

use super::contents;
use super::export::{SpanQueue, Telemetry};
use super::histograms::MCP_OPERATION;
use super::otlp::{Attribute, Span, SpanIds, SpanKind};

impl Telemetry {
    /// Traces calls of MCP clients. The parent of a call's span is in the metadata of the request, in
    /// which the span becomes the parent for MCP servers behind the library.
    pub fn call_tracer(&self) -> Box<CallTracer> {
        let (queue, has_contents) = (self.queue.clone(), self.contents);
        Box::new(move |call, meta| {
            let mut span = start_span(&queue, call, meta);
            if queue.exports_spans {
                if span.parent.is_none() {
                    meta.shift_remove("tracestate");
                }
                meta.insert("traceparent".to_owned(), span.ids.to_traceparent().into());
            }
            let queue = queue.clone();
            Box::new(move |finished, failure| {
                let mut put = |key, value: &str| span.attributes.push(Attribute::new(key, value));
                let error = failure.map(|failure| match failure {
                    CallFailure::Tool => "tool_error".to_owned(),
                    CallFailure::Rpc(code) => {
                        put("rpc.response.status_code", &code.to_string());
                        code.to_string()
                    }
                    CallFailure::Cancelled => "cancelled".to_owned(),
                });
                if let Err(error) = &finished.verdict.outcome {
                    put("gramc.error_type", error.error_type());
                }
                if has_contents {
                    span.attributes.extend(contents::call(finished.arguments, finished.verdict));
                }
                let end = span.start + finished.took;
                span.end(&queue, end, error.as_deref());
            })
        })
    }
}

fn start_span(queue: &SpanQueue, call: &StartedCall<'_>, meta: &Map<String, Value>) -> Span {
    let text = |key| meta.get(key).and_then(Value::as_str);
    let parent = text("traceparent").and_then(SpanIds::of_traceparent);
    let mut attributes = vec![
        Attribute::new("mcp.method.name", "tools/call"),
        Attribute::new("mcp.protocol.version", call.revision),
        Attribute::new("gen_ai.operation.name", "execute_tool"),
        Attribute::new("jsonrpc.request.id", call.id),
        Attribute::new("network.transport", if call.is_http { "tcp" } else { "pipe" }),
    ];
    let further = [
        ("gen_ai.tool.name", call.tool),
        ("mcp.session.id", call.session),
        ("network.protocol.name", call.is_http.then_some("http")),
    ];
    attributes
        .extend(further.into_iter().filter_map(|(key, value)| Some(Attribute::new(key, value?))));
    // Clients choose the names of tools that do not exist, and could send any number of them.
    let name = call.tool.map_or_else(|| "tools/call".to_owned(), |it| format!("tools/call {it}"));
    let state = parent.and_then(|_| text("tracestate"));
    Span {
        trace_state: state.unwrap_or_default().to_owned(),
        kind: SpanKind::Server,
        instrument: Some(&MCP_OPERATION),
        ..Span::start(queue, name, attributes, parent)
    }
}

impl SpanIds {
    /// Reads a `traceparent` of W3C Trace Context. Returns nothing if it is invalid.
    fn of_traceparent(text: &str) -> Option<Self> {
        // `u128::from_str_radix` accepts more.
        if !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-')) {
            return None;
        }
        let mut parts = text.split('-');
        let mut next = |digits| {
            let part = parts.next().filter(|part| part.len() == digits)?;
            u128::from_str_radix(part, 16).ok()
        };
        let (version, trace) = (next(2)?, next(32)?);
        let (span, flags) = (u64::try_from(next(16)?).ok()?, next(2)?);
        // Later versions may have more parts.
        let is_version = version < 0xff && (version > 0 || parts.next().is_none());
        let is_valid = is_version && trace != 0 && span != 0;
        is_valid.then_some(Self { trace, span, is_sampled: flags & 1 == 1 })
    }

    fn to_traceparent(self) -> String {
        let Self { trace, span, is_sampled } = self;
        format!("00-{trace:032x}-{span:016x}-{:02x}", u8::from(is_sampled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_trace_parents_are_read() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
        let read = |text: &str| SpanIds::of_traceparent(text).map(SpanIds::to_traceparent);
        for (flags, written) in [("01", "01"), ("00", "00"), ("ff", "01")] {
            let text = format!("00-{trace}-{flags}");
            assert_eq!(read(&text), Some(format!("00-{trace}-{written}")), "{text}");
        }
        let later = format!("cc-{trace}-01-abc");
        assert_eq!(read(&later), Some(format!("00-{trace}-01")));
        let none = "0".repeat(32);
        for wrong in [
            String::new(),
            format!("00-{trace}"),
            format!("00-{trace}-1"),
            format!("ff-{trace}-01"),
            format!("00-{trace}-01-abc"),
            format!("00-{}-01", trace.to_uppercase()),
            format!("00-{none}-00f067aa0ba902b7-01"),
            format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", &none[..16]),
            format!("00-{}-01", trace.replacen('4', "+", 1)),
        ] {
            assert_eq!(read(&wrong), None, "{wrong}");
        }
    }
}
