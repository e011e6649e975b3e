"""Middleware for FastMCP: `FastMCP("server", middleware=[middleware(bound)])`."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult

from .._native import Bound
from ._session_tools import ModelCall, SessionTools

__all__ = ["middleware"]


class _Middleware(Middleware):
    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._tools = SessionTools(bound.session(), "mcp")
        self._names = {name for _, name, _ in self._tools.tools}
        self._sessions: weakref.WeakKeyDictionary[Any, SessionTools] = weakref.WeakKeyDictionary()

    def _tools_of(self, context: MiddlewareContext[Any]) -> SessionTools:
        """The tools of the client's own session: it shares no limits with other clients."""
        try:
            session = context.fastmcp_context.session  # type: ignore[union-attr]
            if session not in self._sessions:
                self._sessions[session] = self._tools.of_session(self._bound.session())
            return self._sessions[session]
        except (AttributeError, RuntimeError, TypeError):
            return self._tools

    async def on_list_tools(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[Tool]]
    ) -> Sequence[Tool]:
        others = [tool for tool in await call_next(context) if tool.name not in self._names]
        own = [
            Tool(
                name=name,
                description=definition.get("description"),
                parameters=definition["inputSchema"],
            )
            for _, name, definition in self._tools.tools
        ]
        return [*own, *others]

    async def on_call_tool(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, ToolResult]
    ) -> ToolResult:
        name = context.message.name
        if name not in self._names:
            return await call_next(context)
        call = ModelCall(name, context.message.arguments or {})
        verdict = await self._tools_of(context).acall(call)
        structured = verdict.result if isinstance(verdict.result, dict) else None
        return ToolResult(
            content=verdict.message, structured_content=structured, is_error=not verdict.ok
        )


def middleware(bound: Bound) -> Middleware:
    """Serves the tools of a bound library.

    They are listed before the server's own tools, and replace those of the same name. Refused calls
    are errors with the message for the model. Each client has a session of its own.
    """
    return _Middleware(bound)
