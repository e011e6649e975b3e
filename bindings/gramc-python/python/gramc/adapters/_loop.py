"""Loops over the tool calls of a client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from .._native import Verdict
from ._session_tools import ModelCall, SessionTools


class Conversation(Protocol):
    """The messages of a conversation in the form of a client, and the tools of a session."""

    tools: SessionTools
    messages: list[Any]

    def calls(self, reply: Any) -> list[ModelCall]:
        """The calls of a reply, which becomes a message if there are any."""

    def add_results(self, calls: list[ModelCall], verdicts: list[Verdict]) -> None:
        """Add the messages for the model."""


def run(
    conversation: Conversation,
    create: Callable[..., Any],
    max_requests: int,
    options: dict[str, Any],
) -> Any:
    """Ask the model until it answers without a tool call."""
    for _ in range(max_requests):
        reply = create(
            messages=conversation.messages, tools=conversation.tools.definitions, **options
        )
        calls = conversation.calls(reply)
        if not calls:
            return reply
        conversation.tools.session.begin_reply()
        conversation.add_results(calls, [conversation.tools.call(call) for call in calls])
    raise _unfinished(max_requests)


async def arun(
    conversation: Conversation,
    create: Callable[..., Awaitable[Any]],
    max_requests: int,
    options: dict[str, Any],
) -> Any:
    """Like `run`, with an asynchronous client."""
    for _ in range(max_requests):
        reply = await create(
            messages=conversation.messages, tools=conversation.tools.definitions, **options
        )
        calls = conversation.calls(reply)
        if not calls:
            return reply
        conversation.tools.session.begin_reply()
        verdicts = [await conversation.tools.acall(call) for call in calls]
        conversation.add_results(calls, verdicts)
    raise _unfinished(max_requests)


def _unfinished(max_requests: int) -> RuntimeError:
    return RuntimeError(f"the model still calls tools after {max_requests} requests")


def cut_last(calls: list[ModelCall], finish_reason: str | None) -> list[ModelCall]:
    """The calls of a reply that ended for a reason: only its last call can be incomplete."""
    return [*calls[:-1], *(call._replace(finish_reason=finish_reason) for call in calls[-1:])]
