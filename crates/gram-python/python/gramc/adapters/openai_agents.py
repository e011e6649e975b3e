"""Tools for the OpenAI Agents SDK: `Agent(name=…, tools=tools(session))`."""

from __future__ import annotations

from typing import Any

from agents import FunctionTool, Tool
from agents.tool_context import ToolContext

from .._native import Session
from ._offer import Offer

__all__ = ["tools"]


def tools(session: Session) -> list[Tool]:
    """The tools of a session. The output of a refused call is the message for the model."""
    offer = Offer(session, "mcp")
    return [_tool(offer, name, definition) for _, name, definition in offer.tools]


def _tool(offer: Offer, name: str, definition: dict[str, Any]) -> Tool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        verdict = await offer.acall(name, arguments, getattr(context, "tool_call_id", None))
        return verdict.message

    return FunctionTool(
        name=name,
        description=definition.get("description", ""),
        params_json_schema=definition["inputSchema"],
        on_invoke_tool=invoke,
        # The schema is not in the strict form, and the session checks the arguments itself.
        strict_json_schema=False,
    )
