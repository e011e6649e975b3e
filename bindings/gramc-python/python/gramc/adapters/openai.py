"""A loop over the tool calls of the `openai` client, with chat completions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import openai

from .._native import Session, Verdict
from . import _loop
from ._session_tools import ModelCall, SessionTools

__all__ = ["arun", "run"]


class _Conversation:
    def __init__(self, session: Session, target: str, messages: Iterable[Any]) -> None:
        self.tools = SessionTools(session, target)
        self.messages = messages if isinstance(messages, list) else list(messages)

    def calls(self, reply: Any) -> list[ModelCall]:
        choice = reply.choices[0]
        written = choice.message.tool_calls or []
        if written:
            self.messages.append(choice.message.model_dump(exclude_none=True))
        calls = [
            ModelCall(call.function.name, call.function.arguments, call.id) for call in written
        ]
        return _loop.cut_last(calls, choice.finish_reason)

    def add_results(self, calls: list[ModelCall], verdicts: list[Verdict]) -> None:
        for call, verdict in zip(calls, verdicts):
            result = {"role": "tool", "tool_call_id": call.id, "content": verdict.message}
            self.messages.append(result)


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
    is the last completion; if `messages` is a list, it grows by all messages before. A call that a token
    limit cut off does not run. Raises `RuntimeError` after `max_requests` requests.
    """
    conversation = _Conversation(session, target, messages)
    return _loop.run(conversation, client.chat.completions.create, max_requests, options)


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
    conversation = _Conversation(session, target, messages)
    return await _loop.arun(conversation, client.chat.completions.create, max_requests, options)
