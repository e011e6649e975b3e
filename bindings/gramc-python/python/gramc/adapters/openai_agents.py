"""Tools for the OpenAI Agents SDK: `Agent(name=…, tools=tools(session))`."""

from __future__ import annotations

from typing import Any

from agents import FunctionTool, Tool
from agents.tool_context import ToolContext

from .._native import Session
from ._session_tools import ModelCall, SessionTools

__all__ = ["tools"]


def tools(session: Session) -> list[Tool]:
    """The tools of a session. The output of a refused call is the message for the model."""
    session_tools = SessionTools(session, "mcp")
    return [_tool(session_tools, name, definition) for _, name, definition in session_tools.tools]


def _tool(session_tools: SessionTools, name: str, definition: dict[str, Any]) -> Tool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        call = ModelCall(name, arguments, getattr(context, "tool_call_id", None))
        verdict = await session_tools.acall(call)
        return verdict.message

    return FunctionTool(
        name=name,
        description=definition.get("description", ""),
        params_json_schema=definition["inputSchema"],
        on_invoke_tool=invoke,
        # The schema is not in the strict form, and the session checks the arguments itself.
        strict_json_schema=False,
    )
