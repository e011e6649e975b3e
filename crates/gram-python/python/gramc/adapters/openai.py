"""A loop over the tool calls of the `openai` client, with chat completions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import openai

from .._native import Session, Verdict
from ._offer import Offer

__all__ = ["arun", "run"]


def run(
    client: openai.OpenAI,
    session: Session,
    *,
    messages: Iterable[Any],
    max_requests: int = 10,
    target: str = "openai",
    **options: Any,
) -> Any:
    """Ask the model until it answers without a tool call.

    `options` go to `client.chat.completions.create`; `target` is `openai` or `openai-strict`. The answer
    is the last completion; if `messages` is a list, it grows by all messages before. Raises
    `RuntimeError` after `max_requests` requests.
    """
    offer = Offer(session, target)
    conversation = messages if isinstance(messages, list) else list(messages)
    for _ in range(max_requests):
        reply: Any = client.chat.completions.create(
            messages=conversation, tools=offer.definitions, **options
        )
        message = reply.choices[0].message
        if not message.tool_calls:
            return reply
        conversation.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            verdict = offer.call(call.function.name, call.function.arguments, call.id)
            conversation.append(_result(call, verdict))
    raise RuntimeError(f"the model still calls tools after {max_requests} requests")


async def arun(
    client: openai.AsyncOpenAI,
    session: Session,
    *,
    messages: Iterable[Any],
    max_requests: int = 10,
    target: str = "openai",
    **options: Any,
) -> Any:
    """Like `run`, with an asynchronous client."""
    offer = Offer(session, target)
    conversation = messages if isinstance(messages, list) else list(messages)
    for _ in range(max_requests):
        reply: Any = await client.chat.completions.create(
            messages=conversation, tools=offer.definitions, **options
        )
        message = reply.choices[0].message
        if not message.tool_calls:
            return reply
        conversation.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            verdict = await offer.acall(call.function.name, call.function.arguments, call.id)
            conversation.append(_result(call, verdict))
    raise RuntimeError(f"the model still calls tools after {max_requests} requests")


def _result(call: Any, verdict: Verdict) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.id, "content": verdict.message}
