"""Tools for LangChain and LangGraph: `create_agent(model, tools(session))`."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from .._native import Session, Verdict
from ._session_tools import ModelCall, SessionTools

__all__ = ["tools"]


def tools(session: Session) -> list[BaseTool]:
    """The tools of a session.

    A refused call becomes a tool message with the status `error` and the message for the model.
    """
    session_tools = SessionTools(session, "mcp")
    return [_tool(session_tools, name, definition) for _, name, definition in session_tools.tools]


def _tool(session_tools: SessionTools, name: str, definition: dict[str, Any]) -> BaseTool:
    def run(**arguments: Any) -> str:
        return _content(session_tools.call(ModelCall(name, arguments)))

    async def run_async(**arguments: Any) -> str:
        return _content(await session_tools.acall(ModelCall(name, arguments)))

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
