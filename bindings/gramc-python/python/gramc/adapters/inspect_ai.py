"""Tools and a scorer for Inspect: `use_tools(*gramc.guard(tools))`, `tools(session)`, `scorer()`."""

from __future__ import annotations

import copy
import functools
import json
import types
from collections.abc import Sequence
from typing import Any

import anyio.to_thread
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ContentImage,
    ContentText,
)
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    stderr,
)
from inspect_ai.scorer import scorer as register
from inspect_ai.solver import TaskState
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams

from .._guard import CallRefused, Guard, Options
from .._native import Grader, Session
from ._session_tools import ModelCall, SessionTools

__all__ = ["scorer", "tools"]


def tools(session: Session) -> list[Tool]:
    """The tools of a session. A refused call is a `ToolError` with the message for the model."""
    session_tools = SessionTools(session, "mcp")
    return [_tool(session_tools, name, definition) for _, name, definition in session_tools.tools]


def _tool(session_tools: SessionTools, name: str, definition: dict[str, Any]) -> Tool:
    async def execute(**arguments: Any) -> Any:
        verdict = await session_tools.acall(ModelCall(name, arguments))
        if not verdict.ok:
            raise ToolError(verdict.message)
        return verdict.message if verdict.content is None else [_content(one) for one in verdict.content]

    schema = definition["inputSchema"]
    # Inspect checks arguments before the session can repair them, so a schema also allows any value.
    properties: dict[str, Any] = {
        parameter: {"description": one.get("description", parameter), "anyOf": [one, {}]}
        for parameter, one in schema.get("properties", {}).items()
    }
    parameters = ToolParams(properties=properties, required=schema.get("required", []))
    description = definition.get("description") or name
    return ToolDef(execute, name=name, description=description, parameters=parameters).as_tool()


def _content(block: dict[str, Any]) -> ContentText | ContentImage:
    """A content block as Inspect takes it."""
    if block["type"] == "image":
        return ContentImage(image=f"data:{block['mimeType']};base64,{block['data']}")
    return ContentText(text=block.get("text") or f"[{block['type']}]")


@register(metrics=[accuracy(), stderr()])
def scorer(expect: dict[str, Any] | None = None) -> Scorer:
    """Score a sample by the conditions of an `expect` of gramc's cases.

    Without `expect`, it is that of the sample's metadata. The explanation lists the conditions that
    are not met.
    """

    async def score(state: TaskState, target: Target) -> Score:
        wanted = expect if expect is not None else (state.metadata or {}).get("expect")
        if wanted is None:
            raise ValueError("expected `expect` in the metadata of the sample")
        conversation = _conversation(state)
        # A grader may be a program.
        missed = await anyio.to_thread.run_sync(Grader(wanted).missed, conversation)
        return Score(
            value=INCORRECT if missed else CORRECT,
            answer=conversation["text"],
            explanation="; ".join(missed) or None,
        )

    return score


def _conversation(state: TaskState) -> dict[str, Any]:
    """The conversation of a sample, as graders read it."""
    calls = _calls(state.messages)
    messages = filter(None, (_message(message) for message in state.messages))
    return {
        "case": str(state.sample_id),
        "text": state.output.completion,
        "messages": list(messages),
        "calls": calls,
    }


def _calls(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The calls that have a result."""
    results = {one.tool_call_id: one for one in messages if isinstance(one, ChatMessageTool)}
    replies = (one for one in messages if isinstance(one, ChatMessageAssistant))
    calls = (call for reply in replies for call in reply.tool_calls or [])
    return [
        {"name": call.function, "arguments": call.arguments, "ok": results[call.id].error is None}
        for call in calls
        if call.id in results
    ]


def _message(message: ChatMessage) -> dict[str, Any] | None:
    if isinstance(message, ChatMessageAssistant):
        calls = [
            {"id": call.id, "name": call.function, "arguments": json.dumps(call.arguments)}
            for call in message.tool_calls or []
        ]
        return {"role": "assistant", "content": message.text, "tool_calls": calls}
    if isinstance(message, ChatMessageTool):
        name, id = message.function or "", message.tool_call_id or ""
        content = message.error.message if message.error else message.text
        return {"role": "tool", "id": id, "name": name, "content": content}
    return {"role": "user", "content": message.text} if message.role == "user" else None


def guard_tools(tools: Any, options: Options) -> Any:
    """Guard tools or a tool."""
    if isinstance(tools, Sequence):
        return [_guard_tool(tool, options) for tool in tools]
    return _guard_tool(tools, options)


def _copy_function(tool: Any) -> Any:
    if not isinstance(tool, types.FunctionType):
        return copy.copy(tool)
    name, defaults, closure = tool.__name__, tool.__defaults__, tool.__closure__
    made = types.FunctionType(tool.__code__, tool.__globals__, name, defaults, closure)
    made.__kwdefaults__ = tool.__kwdefaults__
    return functools.update_wrapper(made, tool)


def _guard_tool(tool: Any, options: Options) -> Any:
    defined = tool if isinstance(tool, ToolDef) else ToolDef(tool)
    schema = defined.parameters.model_dump(exclude_none=True)
    mcp = {"name": defined.name, "description": defined.description, "inputSchema": schema}
    guard = Guard.of(mcp, options)
    if guard is None:
        return tool
    # Inspect makes these public only to its own tools.
    from inspect_ai.model._call_tools import validate_tool_input
    from inspect_ai.solver._task_state import sample_state
    from inspect_ai.tool._tool_canonical import set_tool_canonical_arguments, tool_canonical_arguments

    own = tool_canonical_arguments(defined.tool)

    def is_accepted(arguments: dict[str, Any]) -> bool:
        return validate_tool_input(arguments, defined.parameters) is None

    # Inspect checks the schema after this.
    def check(arguments: dict[str, Any]) -> dict[str, Any]:
        arguments = arguments if own is None else own(arguments)
        state = sample_state()
        reply = len(state.messages) if state is not None else None
        try:
            return guard.check_dict(arguments, lambda: is_accepted(arguments), run=state, reply=reply)
        except CallRefused as refused:
            raise ToolError(str(refused)) from None

    guarded = _copy_function(defined.tool)
    set_tool_canonical_arguments(guarded, check)
    if not isinstance(tool, ToolDef):
        return guarded
    definition = copy.copy(tool)
    definition.tool = guarded
    return definition
