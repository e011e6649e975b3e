"""Tools for Inspect: `use_tools(*tools(session))`."""

from __future__ import annotations

from typing import Any

from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams

from .._native import Session
from ._session_tools import ModelCall, SessionTools

__all__ = ["tools"]


def tools(session: Session) -> list[Tool]:
    """The tools of a session. A refused call is a `ToolError` with the message for the model."""
    session_tools = SessionTools(session, "mcp")
    return [_tool(session_tools, name, definition) for _, name, definition in session_tools.tools]


def _tool(session_tools: SessionTools, name: str, definition: dict[str, Any]) -> Tool:
    async def execute(**arguments: Any) -> str:
        verdict = await session_tools.acall(ModelCall(name, arguments))
        if not verdict.ok:
            raise ToolError(verdict.message)
        return verdict.message

    schema = definition["inputSchema"]
    # Inspect checks arguments before the session can repair them, so a schema also allows any value.
    properties: dict[str, Any] = {
        parameter: {"description": one.get("description", parameter), "anyOf": [one, {}]}
        for parameter, one in schema.get("properties", {}).items()
    }
    parameters = ToolParams(properties=properties, required=schema.get("required", []))
    description = definition.get("description") or name
    return ToolDef(execute, name=name, description=description, parameters=parameters).as_tool()
