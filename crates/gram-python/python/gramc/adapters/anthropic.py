"""A loop over the tool calls of the `anthropic` client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anthropic

from .._native import Session, Verdict
from ._offer import Offer

__all__ = ["arun", "run"]


def run(
    client: anthropic.Anthropic,
    session: Session,
    *,
    messages: Iterable[Any],
    max_requests: int = 10,
    **options: Any,
) -> anthropic.types.Message:
    """Ask the model until it answers without a tool call.

    `options` go to `client.messages.create`. The answer is the last message; if `messages` is a list, it
    grows by all messages before. Raises `RuntimeError` after `max_requests` requests.
    """
    offer = Offer(session, "anthropic")
    conversation = messages if isinstance(messages, list) else list(messages)
    for _ in range(max_requests):
        reply: Any = client.messages.create(
            messages=conversation, tools=offer.definitions, **options
        )
        calls = _calls(reply)
        if not calls:
            return reply  # type: ignore[no-any-return]
        results = [_result(call, offer.call(call.name, call.input, call.id)) for call in calls]
        _continue(conversation, reply, results)
    raise RuntimeError(f"the model still calls tools after {max_requests} requests")


async def arun(
    client: anthropic.AsyncAnthropic,
    session: Session,
    *,
    messages: Iterable[Any],
    max_requests: int = 10,
    **options: Any,
) -> anthropic.types.Message:
    """Like `run`, with an asynchronous client."""
    offer = Offer(session, "anthropic")
    conversation = messages if isinstance(messages, list) else list(messages)
    for _ in range(max_requests):
        reply: Any = await client.messages.create(
            messages=conversation, tools=offer.definitions, **options
        )
        calls = _calls(reply)
        if not calls:
            return reply  # type: ignore[no-any-return]
        results = []
        for call in calls:
            results.append(_result(call, await offer.acall(call.name, call.input, call.id)))
        _continue(conversation, reply, results)
    raise RuntimeError(f"the model still calls tools after {max_requests} requests")


def _calls(reply: Any) -> list[Any]:
    return [block for block in reply.content if block.type == "tool_use"]


def _result(call: Any, verdict: Verdict) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": call.id, "content": verdict.message}
    return result if verdict.ok else {**result, "is_error": True}


def _continue(conversation: list[Any], reply: Any, results: list[dict[str, Any]]) -> None:
    conversation.append({"role": "assistant", "content": reply.content})
    conversation.append({"role": "user", "content": results})
