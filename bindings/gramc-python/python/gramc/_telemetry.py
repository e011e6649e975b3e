"""Spans of calls, with the conventions of OpenTelemetry for tools of generative AI."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Verdict


class Span:
    """The span of a call. It is the current one until it ends."""

    def __init__(self, span: Any, activation: Any) -> None:
        self._span = span
        self._activation = activation
        activation.__enter__()

    def end(self, verdict: Verdict | None) -> None:
        """End the span. There is no verdict if the call was interrupted."""
        if verdict is not None:
            describe(self._span, verdict)
        self._activation.__exit__(None, None, None)


def start(name: str, call_id: str | None) -> Span | None:
    """Start the span of a call, if the program records spans."""
    trace = _trace()
    if trace is None:
        return None
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    attributes["gen_ai.tool.type"] = "function"
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    span = trace.get_tracer("gramc").start_span(f"execute_tool {name}", attributes=attributes)
    # Exceptions are on the verdict.
    return Span(span, trace.use_span(span, end_on_exit=True, record_exception=False))


def trace_context() -> dict[str, str] | None:
    """The current span in the form of W3C Trace Context, if the program records spans."""
    if _trace() is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier


def annotate(verdict: Verdict) -> None:
    """Add the changes of a guarded call to the span of the framework."""
    trace = _trace()
    if trace is not None:
        describe(trace.get_current_span(), verdict)


def describe(span: Any, verdict: Verdict) -> None:
    """Add the outcome of a call to a span."""
    if not span.is_recording():
        return
    if rules := [repair["rule"] for repair in verdict.repairs]:
        span.set_attribute("gramc.repairs", rules)
    if verdict.stripped:
        span.set_attribute("gramc.stripped", verdict.stripped)
    if verdict.exception is not None:
        span.record_exception(verdict.exception)
    if verdict.error_type is not None:
        from opentelemetry.trace import StatusCode

        error = verdict.exception
        name = verdict.error_type if error is None else type(error).__qualname__
        span.set_attribute("error.type", name)
        span.set_status(StatusCode.ERROR, verdict.error_type)


def _trace() -> Any:
    """The module of OpenTelemetry, if the program has set a provider of spans."""
    trace = sys.modules.get("opentelemetry.trace")
    # The provider that does nothing until another one is set.
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None
    return trace
