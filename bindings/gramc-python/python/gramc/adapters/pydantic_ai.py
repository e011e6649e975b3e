"""Tools for Pydantic AI: `Agent(model, toolsets=[toolset(session)])`."""

from __future__ import annotations

import json
from typing import Any

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from .._native import Session
from ._session_tools import CORRECTABLE, ModelCall, SessionTools

__all__ = ["toolset"]

#: The key of arguments that are not a JSON object, which the toolset receives as they were sent.
_TEXT = "\0text"


class _Unchecked:
    """Leaves the check of arguments to the session, which repairs them."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> dict[str, Any]:
        text = input if isinstance(input, str) else bytes(input).decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        return value if isinstance(value, dict) else {_TEXT: text}

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:
        return input if isinstance(input, dict) else {_TEXT: json.dumps(input)}


class _Toolset(AbstractToolset[Any]):
    def __init__(self, session: Session, max_retries: int) -> None:
        self._tools = SessionTools(session, "mcp")
        self._max_retries = max_retries

    @property
    def id(self) -> str | None:
        return "gramc"

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=name,
                    description=definition.get("description"),
                    parameters_json_schema=definition["inputSchema"],
                ),
                max_retries=self._max_retries,
                args_validator=_Unchecked(),
            )
            for _, name, definition in self._tools.tools
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        verdict = await self._tools.acall(
            ModelCall(name, tool_args.get(_TEXT, tool_args), ctx.tool_call_id)
        )
        if verdict.ok:
            return verdict.result
        if verdict.error_type in CORRECTABLE:
            raise ModelRetry(verdict.message)
        return verdict.message


def toolset(session: Session, *, max_retries: int = 5) -> AbstractToolset[Any]:
    """The tools of a session as a toolset.

    Refused calls are retried with the message for the model (`ModelRetry`), `max_retries` times in a
    row for each tool. Failures that the model cannot correct are results.
    """
    return _Toolset(session, max_retries)
