"""Tools for LangChain and LangGraph: `create_agent(model, gramc.guard(tools))`, `tools(session)`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.tools import tool as as_tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from .._guard import CallRefused, Guard, Options, accepts_if
from .._native import Session, Verdict
from ._session_tools import ModelCall, SessionTools

__all__ = ["guard", "tools"]


def tools(session: Session) -> list[BaseTool]:
    """The tools of a session.

    A refused call becomes a tool message with the status `error` and the message for the model.
    """
    session_tools = SessionTools(session, "mcp")
    return [_tool(session_tools, name, definition) for _, name, definition in session_tools.tools]


def _tool(session_tools: SessionTools, name: str, definition: dict[str, Any]) -> BaseTool:
    def run(**arguments: Any) -> Any:
        return _content(session_tools.call(ModelCall(name, arguments)))

    async def run_async(**arguments: Any) -> Any:
        return _content(await session_tools.acall(ModelCall(name, arguments)))

    return StructuredTool(
        name=name,
        description=definition.get("description", ""),
        args_schema=definition["inputSchema"],
        func=run,
        coroutine=run_async,
        handle_tool_error=True,
    )


def _content(verdict: Verdict) -> Any:
    if not verdict.ok:
        raise ToolException(verdict.message)
    return verdict.message if verdict.content is None else [_block(one) for one in verdict.content]


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """A content block as LangChain takes it."""
    if block["type"] in ("image", "audio"):
        return {"type": block["type"], "base64": block["data"], "mime_type": block["mimeType"]}
    return {"type": "text", "text": block.get("text") or f"[{block['type']}]"}


def guard(
    tools: Sequence[BaseTool | Callable[..., Any]],
    *,
    on_verdict: Callable[[Verdict], Any] | None = None,
    **settings: Any,
) -> list[BaseTool]:
    """Like `gramc.guard`, for a list of tools and functions, which become tools by `@tool`."""
    return _guard_list(tools, Options(on_verdict, settings))


def guard_tools(tools: Any, options: Options) -> Any:
    """Guard tools or a tool."""
    return _guard_list(tools, options) if isinstance(tools, Sequence) else _guard_tool(tools, options)


def _guard_list(tools: Sequence[Any], options: Options) -> list[Any]:
    made = (tool if isinstance(tool, (BaseTool, dict)) else as_tool(tool) for tool in tools)
    return [_guard_tool(tool, options) for tool in made]


def _guard_tool(tool: Any, options: Options) -> Any:
    # Tools that the provider runs are dictionaries.
    if not isinstance(tool, BaseTool):
        return tool
    function = convert_to_openai_tool(tool)["function"]
    defined = {"name": tool.name, "inputSchema": function["parameters"]}
    if function.get("description"):
        defined["description"] = function["description"]
    guard = Guard.of(defined, options)
    if guard is None:
        return tool
    guarded = tool.model_copy()
    object.__setattr__(guarded, "__class__", _guarded_class(type(tool)))
    object.__setattr__(guarded, "_gramc_guard", guard)
    object.__setattr__(guarded, "_gramc_injected", _injected_names(tool, function["parameters"]))
    return guarded


def _injected_names(tool: BaseTool, schema: dict[str, Any]) -> frozenset[str]:
    """The arguments that LangGraph adds to a call."""
    fields: dict[str, Any] = getattr(tool.get_input_schema(), "model_fields", {})
    names = {*tool._injected_args_keys, *fields}
    return frozenset(names - set(schema.get("properties", {})))


@functools.cache
def _guarded_class(kind: type[BaseTool]) -> type[BaseTool]:
    """The class of guarded tools of a class."""

    class Guarded(kind):  # type: ignore[valid-type, misc]
        def run(self, tool_input: Any, *arguments: Any, **options: Any) -> Any:
            try:
                tool_input = _check(self, tool_input, options.get("tool_call_id"))
            except CallRefused as refused:
                return _refusal(self, refused).run(tool_input, *arguments, **options)
            return super().run(tool_input, *arguments, **options)

        async def arun(self, tool_input: Any, *arguments: Any, **options: Any) -> Any:
            try:
                tool_input = _check(self, tool_input, options.get("tool_call_id"))
            except CallRefused as refused:
                return await _refusal(self, refused).arun(tool_input, *arguments, **options)
            return await super().arun(tool_input, *arguments, **options)

    Guarded.__name__, Guarded.__qualname__ = kind.__name__, kind.__qualname__
    return Guarded


def _check(tool: Any, tool_input: Any, call_id: str | None) -> Any:
    if not isinstance(tool_input, dict):
        return tool_input
    injected = {key: value for key, value in tool_input.items() if key in tool._gramc_injected}
    arguments = {key: value for key, value in tool_input.items() if key not in injected}
    accepts = accepts_if(lambda: _validate(tool, tool_input, call_id))
    return {**tool._gramc_guard.check_dict(arguments, accepts, call_id=call_id), **injected}


def _validate(tool: BaseTool, tool_input: dict[str, Any], call_id: str | None) -> None:
    """Validate arguments as LangChain does."""
    if not isinstance(tool.args_schema, type):
        raise TypeError("LangChain does not check arguments by a JSON Schema")
    tool._parse_input(dict(tool_input), call_id)


def _refusal(tool: BaseTool, refused: CallRefused) -> BaseTool:
    """A tool in the place of another one, whose message has the status `error`."""

    def refuse(**arguments: Any) -> str:
        raise ToolException(str(refused))

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema={"type": "object", "properties": {}},
        func=refuse,
        handle_tool_error=True,
        callbacks=tool.callbacks,
        tags=tool.tags,
        metadata=tool.metadata,
    )
