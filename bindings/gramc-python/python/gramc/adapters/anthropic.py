"""A loop over the tool calls of the `anthropic` client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anthropic

from .._native import Session, Verdict
from . import _loop
from ._session_tools import ModelCall, SessionTools

__all__ = ["arun", "run"]


class _Conversation:
    def __init__(self, session: Session, messages: Iterable[Any]) -> None:
        self.tools = SessionTools(session, "anthropic")
        self.messages = messages if isinstance(messages, list) else list(messages)

    def calls(self, reply: anthropic.types.Message) -> list[ModelCall]:
        blocks = [block for block in reply.content if block.type == "tool_use"]
        if blocks:
            self.messages.append({"role": "assistant", "content": reply.content})
        calls = [ModelCall(block.name, block.input, block.id) for block in blocks]
        return _loop.cut_last(calls, reply.stop_reason)

    def add_results(self, calls: list[ModelCall], verdicts: list[Verdict]) -> None:
        results = [_result(call, verdict) for call, verdict in zip(calls, verdicts)]
        self.messages.append({"role": "user", "content": results})


def _result(call: ModelCall, verdict: Verdict) -> dict[str, Any]:
    content: Any = verdict.message
    if verdict.content is not None and any(block["type"] == "image" for block in verdict.content):
        content = [_content(block) for block in verdict.content]
    result = {"type": "tool_result", "tool_use_id": call.id, "content": content}
    return result if verdict.ok else {**result, "is_error": True}


def _content(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] != "image":
        return {"type": "text", "text": block.get("text") or f"[{block['type']}]"}
    source = {"type": "base64", "media_type": block["mimeType"], "data": block["data"]}
    return {"type": "image", "source": source}


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
    grows by all messages before. A call that a token limit cut off does not run. Raises `RuntimeError`
    after `max_requests` requests.
    """
    conversation = _Conversation(session, messages)
    reply: anthropic.types.Message = _loop.run(
        conversation, client.messages.create, max_requests, options
    )
    return reply


async def arun(
    client: anthropic.AsyncAnthropic,
    session: Session,
    *,
    messages: Iterable[Any],
    max_requests: int = 10,
    **options: Any,
) -> anthropic.types.Message:
    """Like `run`, with an asynchronous client."""
    conversation = _Conversation(session, messages)
    reply: anthropic.types.Message = await _loop.arun(
        conversation, client.messages.create, max_requests, options
    )
    return reply
