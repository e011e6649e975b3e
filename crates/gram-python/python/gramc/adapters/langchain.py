"""Tools for LangChain and LangGraph: `create_agent(model, tools(session))`."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from .._native import Session, Verdict
from ._offer import Offer

__all__ = ["tools"]


def tools(session: Session) -> list[BaseTool]:
    """The tools of a session.

    A refused call becomes a tool message with the status `error` and the message for the model.
    """
    offer = Offer(session, "mcp")
    return [_tool(offer, name, definition) for _, name, definition in offer.tools]


def _tool(offer: Offer, name: str, definition: dict[str, Any]) -> BaseTool:
    def run(**arguments: Any) -> str:
        return _content(offer.call(name, arguments))

    async def run_async(**arguments: Any) -> str:
        return _content(await offer.acall(name, arguments))

    return StructuredTool(
        name=name,
        description=definition.get("description", ""),
        args_schema=definition["inputSchema"],
        func=run,
        coroutine=run_async,
        handle_tool_error=True,
    )


def _content(verdict: Verdict) -> str:
    if not verdict.ok:
        raise ToolException(verdict.message)
    return verdict.message
