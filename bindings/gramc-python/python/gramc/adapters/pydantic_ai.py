"""Tools for Pydantic AI: `Agent(model, tools=gramc.guard(tools))`, `toolset(session)`."""

from __future__ import annotations

import base64
import copy
import dataclasses
import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic_ai import BinaryContent, ModelRetry, RunContext, Tool
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from .._guard import CallRefused, Guard, Options, accepts_if
from .._native import Session, Verdict
from ._session_tools import CORRECTABLE, ModelCall, SessionTools

__all__ = ["guard", "toolset"]

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
            return verdict.result if verdict.content is None else _contents(verdict.content)
        if verdict.error_type in CORRECTABLE:
            raise ModelRetry(verdict.message)
        return verdict.message


def _contents(blocks: list[dict[str, Any]]) -> list[Any]:
    """Content blocks as Pydantic AI takes them."""
    return [
        BinaryContent(base64.b64decode(block["data"]), media_type=block["mimeType"])
        if block["type"] in ("image", "audio")
        else block.get("text", block)
        for block in blocks
    ]


def toolset(session: Session, *, max_retries: int = 5) -> AbstractToolset[Any]:
    """The tools of a session as a toolset.

    Refused calls are retried with the message for the model (`ModelRetry`), `max_retries` times in a
    row for each tool. Failures that the model cannot correct are results.
    """
    return _Toolset(session, max_retries)


def guard(
    tools: Sequence[Tool[Any] | Callable[..., Any]],
    *,
    on_verdict: Callable[[Verdict], Any] | None = None,
    **settings: Any,
) -> list[Tool[Any]]:
    """Like `gramc.guard`, for a list of tools and functions that an agent accepts as tools."""
    return _guard_list(tools, Options(on_verdict, settings))


def guard_tools(tools: Any, options: Options) -> Any:
    """Guard tools, a tool or a toolset."""
    if isinstance(tools, AbstractToolset):
        return _GuardedToolset(tools, options)
    return _guard_tool(tools, options) if isinstance(tools, Tool) else _guard_list(tools, options)


def _guard_list(tools: Sequence[Tool[Any] | Callable[..., Any]], options: Options) -> list[Any]:
    made = (tool if isinstance(tool, (Tool, AbstractToolset)) else Tool(tool) for tool in tools)
    return [guard_tools(tool, options) for tool in made]


class _Validator:
    """Checks the arguments of the model before the validator of a tool builds its values."""

    def __init__(self, guard: Guard, validator: Any, context: RunContext[Any] | None) -> None:
        self._guard = guard
        self._validator = validator
        self._run = context.usage if context is not None else None
        self._step = context.run_step if context is not None else None

    def validate_json(self, input: str | bytes | bytearray, **options: Any) -> Any:
        if options.get("allow_partial", "off") != "off":
            return self._validator.validate_json(input, **options)
        text = input if isinstance(input, str) else bytes(input).decode("utf-8", "replace")
        checked = self._check(text, lambda: self._validator.validate_json(input, **options))
        return self._validator.validate_json(input if checked is None else checked, **options)

    def validate_python(self, input: Any, **options: Any) -> Any:
        # Values that another toolset has built have no form in JSON.
        if options.get("allow_partial", "off") != "off" or not _is_json(input):
            return self._validator.validate_python(input, **options)
        checked = self._check(input, lambda: self._validator.validate_python(input, **options))
        if checked is None:
            return self._validator.validate_python(input, **options)
        return self._validator.validate_json(checked, **options)

    def _check(self, arguments: Any, validate: Callable[[], Any]) -> str | None:
        accepts = accepts_if(validate)
        try:
            return self._guard.check(arguments, accepts, run=self._run, reply=self._step)
        except CallRefused as refused:
            raise ModelRetry(str(refused)) from None


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


class _Guarded(Tool[Any]):
    """A tool whose validator checks the arguments in the run that lists the tool."""

    _guard: Guard
    _context: RunContext[Any] | None
    _schema: Any

    @property
    def function_schema(self) -> Any:
        validator = _Validator(self._guard, self._schema.validator, self._context)
        return dataclasses.replace(self._schema, validator=validator)

    @function_schema.setter
    def function_schema(self, schema: Any) -> None:
        self._schema = schema

    async def prepare_tool_def(self, ctx: RunContext[Any]) -> ToolDefinition | None:
        prepared = await super().prepare_tool_def(ctx)
        # The toolset reads the validator next, before another run can list the tool.
        self._context = ctx
        return prepared


@functools.cache
def _guarded_class(kind: type[Tool[Any]]) -> type[Tool[Any]]:
    return _Guarded if kind is Tool else type(kind.__name__, (_Guarded, kind), {})


def _guard_tool(tool: Tool[Any], options: Options) -> Tool[Any]:
    schema = tool.function_schema
    guard = _guard_of(tool.name, tool.description, schema.json_schema, options)
    if guard is None or isinstance(tool, _Guarded):
        return tool
    guarded = copy.copy(tool)
    guarded.__class__ = _guarded_class(type(tool))  # type: ignore[arg-type]
    guarded.__dict__.pop("function_schema", None)
    guarded.__dict__.update(_guard=guard, _context=None, _schema=schema)
    return guarded


def _guard_of(name: str, description: str | None, schema: Any, options: Options) -> Guard | None:
    defined = {"name": name, "inputSchema": schema}
    if description:
        defined["description"] = description
    return Guard.of(defined, options)


class _GuardedToolset(WrapperToolset[Any]):
    """A toolset whose tools are guarded."""

    def __init__(self, wrapped: AbstractToolset[Any], options: Options) -> None:
        super().__init__(wrapped)
        self._options = options
        #: The guards by name, with the schemas of their tools.
        self._guards: dict[str, tuple[Any, Guard | None]] = {}

    async def for_run(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
        return self._with(await self.wrapped.for_run(ctx))

    async def for_run_step(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
        return self._with(await self.wrapped.for_run_step(ctx))

    def visit_and_replace(
        self, visitor: Callable[[AbstractToolset[Any]], AbstractToolset[Any]]
    ) -> AbstractToolset[Any]:
        return self._with(self.wrapped.visit_and_replace(visitor))

    def _with(self, wrapped: AbstractToolset[Any]) -> AbstractToolset[Any]:
        if wrapped is self.wrapped:
            return self
        toolset = copy.copy(self)
        toolset.wrapped = wrapped
        return toolset

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        tools = await self.wrapped.get_tools(ctx)
        return {name: self._guard_tool(name, tool, ctx) for name, tool in tools.items()}

    def _guard_tool(
        self, name: str, tool: ToolsetTool[Any], ctx: RunContext[Any]
    ) -> ToolsetTool[Any]:
        schema = tool.tool_def.parameters_json_schema
        known = self._guards.get(name)
        if known is None or known[0] != schema:
            guard = _guard_of(name, tool.tool_def.description, schema, self._options)
            known = self._guards[name] = (schema, guard)
        guard = known[1]
        if guard is None:
            return tool
        return dataclasses.replace(tool, args_validator=_Validator(guard, tool.args_validator, ctx))
