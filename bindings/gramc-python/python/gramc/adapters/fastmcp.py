"""Middleware for FastMCP: `gramc.guard(server)`, `FastMCP("server", middleware=[middleware(bound)])`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import weakref
from collections.abc import Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult
from mcp.types import ContentBlock
from pydantic import TypeAdapter

from .._context import Progress
from .._guard import CallRefused, Guard, Options
from .._native import Bound
from ._session_tools import ModelCall, SessionTools

__all__ = ["middleware"]


#: The reports of progress of the call, which may not have reached the client yet.
_reports: contextvars.ContextVar[list[concurrent.futures.Future[None]]] = contextvars.ContextVar(
    "reports"
)

_BLOCKS: TypeAdapter[list[ContentBlock]] = TypeAdapter(list[ContentBlock])


class _Middleware(Middleware):
    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._tools = SessionTools(bound.session(), "mcp")
        self._names = {name for _, name, _ in self._tools.tools}
        self._sessions: weakref.WeakKeyDictionary[Any, SessionTools] = weakref.WeakKeyDictionary()

    def _tools_of(self, context: MiddlewareContext[Any]) -> SessionTools:
        """The tools of the client's own session: it shares no limits with other clients."""
        client = _client(context)
        try:
            if client is not None and client not in self._sessions:
                report = functools.partial(_report_progress, asyncio.get_running_loop())
                session = self._bound.session(on_progress=report)
                self._sessions[client] = self._tools.of_session(session)
            return self._sessions.get(client, self._tools)
        except TypeError:
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
        reports: list[concurrent.futures.Future[None]] = []
        _reports.set(reports)
        verdict = await self._tools_of(context).acall(call)
        # Clients ignore progress after the result.
        await asyncio.gather(*map(asyncio.wrap_future, reports), return_exceptions=True)
        structured = verdict.result if isinstance(verdict.result, dict) else None
        content: Any = verdict.message
        if verdict.content is not None:
            content = _BLOCKS.validate_python(verdict.content)
        return ToolResult(content=content, structured_content=structured, is_error=not verdict.ok)


def _report_progress(loop: asyncio.AbstractEventLoop, progress: Progress) -> None:
    """Report the progress of a function to the client of the request."""
    report = get_context().report_progress(progress.done, progress.total, progress.message)
    _reports.get().append(asyncio.run_coroutine_threadsafe(report, loop))


def middleware(bound: Bound) -> Middleware:
    """Serves the tools of a bound library.

    They are listed before the server's own tools, and replace those of the same name. Refused calls
    are errors with the message for the model. Each client has a session of its own.
    """
    return _Middleware(bound)


class _GuardMiddleware(Middleware):
    def __init__(self, options: Options) -> None:
        self._options = options
        #: The guards by name, with the schemas of their tools.
        self._guards: dict[str, tuple[Any, Guard | None]] = {}

    async def on_call_tool(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, ToolResult]
    ) -> ToolResult:
        server = context.fastmcp_context.fastmcp if context.fastmcp_context is not None else None
        tool = await server.get_tool(context.message.name) if server is not None else None
        guard = self._guard_of(tool) if tool is not None else None
        if guard is None:
            return await call_next(context)
        sent = context.message.arguments or {}
        if not guard.is_valid(sent):
            try:
                return await call_next(context)
            except ValidationError:
                # FastMCP refuses the arguments, too.
                pass
        try:
            arguments = guard.check_dict(sent, lambda: False, run=_client(context))
        except CallRefused as refused:
            raise ToolError(str(refused)) from None
        message = context.message.model_copy(update={"arguments": arguments})
        return await call_next(context.copy(message=message))

    def _guard_of(self, tool: Tool) -> Guard | None:
        known = self._guards.get(tool.name)
        if known is None or known[0] != tool.parameters:
            defined = {"name": tool.name, "inputSchema": tool.parameters}
            if tool.description:
                defined["description"] = tool.description
            known = self._guards[tool.name] = (tool.parameters, Guard.of(defined, self._options))
        return known[1]


def _client(context: MiddlewareContext[Any]) -> Any:
    """The connection of the client, if there is one."""
    try:
        return context.fastmcp_context.session  # type: ignore[union-attr]
    except (AttributeError, RuntimeError):
        return None


def guard_tools(server: Any, options: Options) -> Any:
    """Guard the tools of a server."""
    if not isinstance(server, FastMCP):
        raise TypeError(f"expected a FastMCP server, found {type(server).__name__}")
    server.add_middleware(_GuardMiddleware(options))
    return server
