"""Tools for the OpenAI Agents SDK: `Agent(name=…, tools=gramc.guard(tools))`, `tools(session)`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from agents import FunctionTool, Tool, ToolOutputImage, ToolOutputText, function_tool
from agents.function_schema import function_schema
from agents.tool_context import ToolContext

from .._guard import CallRefused, Guard, Options, accepts_if
from .._native import Session, Verdict
from ._session_tools import ModelCall, SessionTools

__all__ = ["guard", "tools"]


def tools(session: Session) -> list[Tool]:
    """The tools of a session. The output of a refused call is the message for the model."""
    session_tools = SessionTools(session, "mcp")
    return [_tool(session_tools, name, definition) for _, name, definition in session_tools.tools]


def _tool(session_tools: SessionTools, name: str, definition: dict[str, Any]) -> Tool:
    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        call = ModelCall(name, arguments, getattr(context, "tool_call_id", None))
        verdict = await session_tools.acall(call)
        return verdict.message if verdict.content is None else [_output(one) for one in verdict.content]

    return FunctionTool(
        name=name,
        description=definition.get("description", ""),
        params_json_schema=definition["inputSchema"],
        on_invoke_tool=invoke,
        # The schema is not in the strict form, and the session checks the arguments itself.
        strict_json_schema=False,
    )


def _output(block: dict[str, Any]) -> Any:
    """A content block as the SDK takes it."""
    if block["type"] == "image":
        return ToolOutputImage(image_url=f"data:{block['mimeType']};base64,{block['data']}")
    return ToolOutputText(text=block.get("text") or f"[{block['type']}]")


def guard(
    tools: Sequence[Tool | Callable[..., Any]],
    *,
    on_verdict: Callable[[Verdict], Any] | None = None,
    **settings: Any,
) -> list[Tool]:
    """Like `gramc.guard`, for a list of tools and functions, which become tools by `function_tool`."""
    return _guard_list(tools, Options(on_verdict, settings))


def guard_tools(tools: Any, options: Options) -> Any:
    """Guard tools or a tool."""
    if isinstance(tools, Sequence):
        return _guard_list(tools, options)
    return _guard_tool(tools, options)


def _guard_list(tools: Sequence[Any], options: Options) -> list[Any]:
    made = (function_tool(tool) if _is_function(tool) else tool for tool in tools)
    return [_guard_tool(tool, options) for tool in made]


def _is_function(tool: Any) -> bool:
    return callable(tool) and not type(tool).__module__.startswith("agents.")


def _guard_tool(tool: Any, options: Options) -> Any:
    # The provider runs the other tools, such as its own search.
    if not isinstance(tool, FunctionTool):
        return tool
    schema = _with_optional(tool.params_json_schema) if tool.strict_json_schema else tool.params_json_schema
    defined = {"name": tool.name, "description": tool.description, "inputSchema": schema}
    guard = Guard.of(defined, options)
    if guard is None:
        return tool
    guarded = copy.copy(tool)
    guarded.on_invoke_tool = _Invocation(guarded.on_invoke_tool, guard, _model_of(tool))
    return guarded


def _model_of(tool: FunctionTool) -> Any:
    """The model of pydantic that checks the arguments of the tool, if it is made of a function."""
    function = getattr(tool, "__wrapped__", None)
    if function is None:
        return None
    return function_schema(function, strict_json_schema=False).params_pydantic_model


def _with_optional(schema: dict[str, Any]) -> dict[str, Any]:
    """A strict schema, without the requirement of parameters that the function does not need.

    The strict form requires all of them and forbids others. The SDK accepts calls without those that have
    a default.
    """
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if not _may_lack(properties.get(name, {}))]
    relaxed = {**schema, "required": required}
    # The SDK ignores other arguments, which the guard removes with a note.
    relaxed.pop("additionalProperties", None)
    return relaxed


def _may_lack(schema: dict[str, Any]) -> bool:
    types = schema.get("type"), *(one.get("type") for one in schema.get("anyOf", ()))
    return "default" in schema or any(kind == "null" or "null" in (kind or ()) for kind in types)


class _Invocation:
    """Checks the arguments before the tool reads them. All else is that of the tool."""

    def __init__(self, invoke: Any, guard: Guard, model: Any) -> None:
        self._invoke = invoke
        self._guard = guard
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._invoke, name)

    def __agents_bind_function_tool__(self, tool: FunctionTool) -> _Invocation:
        bind = getattr(self._invoke, "__agents_bind_function_tool__", None)
        return self if bind is None else _Invocation(bind(tool), self._guard, self._model)

    async def __call__(self, context: ToolContext[Any], arguments: str) -> Any:
        # The usage is that of the run, and counts its requests.
        usage, call_id = context.usage, getattr(context, "tool_call_id", None)
        options: dict[str, Any] = {"call_id": call_id, "run": usage, "reply": usage.requests}
        accepts = accepts_if(lambda: self._model(**json.loads(arguments)))
        try:
            checked = self._guard.check(arguments, accepts, **options)
        except CallRefused as refused:
            return str(refused)
        if checked is None:
            return await self._invoke(context, arguments)
        # The SDK has read the arguments before the repair if the call needed approval.
        context._function_tool_arguments = None
        return await self._invoke(context, checked)
