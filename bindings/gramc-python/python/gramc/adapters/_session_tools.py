"""What adapters share: the tools of a session as a provider takes them, and calls of them."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from .._native import Session, Verdict

#: Errors that the model can correct by another call. It cannot do anything about the others.
CORRECTABLE = frozenset(
    {
        "container_invocation_error",
        "container_not_expanded",
        "malformed_arguments",
        "reply_cut_off",
        "unclosed_arguments",
        "unknown_tool",
        "validation_error",
    }
)


class ModelCall(NamedTuple):
    """A call of a model. `finish_reason` is how the reply ended, if the call is the last one in it."""

    name: str
    arguments: Any
    id: str | None = None
    finish_reason: str | None = None


class SessionTools:
    """The tools of a session in the form of a target."""

    def __init__(self, session: Session, target: str) -> None:
        self.session = session
        self._target_tools = session.bound.specification._tools_for(target)
        #: Name in the specification, name in the target, and definition.
        self.tools: list[tuple[str, str, dict[str, Any]]] = self._target_tools.tools

    def of_session(self, session: Session) -> SessionTools:
        """The same tools for another session of the same library."""
        tools = copy.copy(self)
        tools.session = session
        return tools

    @property
    def definitions(self) -> list[Any]:
        """The definitions for a request."""
        return [definition for _, _, definition in self.tools]

    def call(self, call: ModelCall) -> Verdict:
        """Check and run a call by its name in the target."""
        name, arguments = self._restore(call)
        return self.session.call(name, arguments, call_id=call.id, finish_reason=call.finish_reason)

    async def acall(self, call: ModelCall) -> Verdict:
        """Check and run a call in asynchronous programs."""
        name, arguments = self._restore(call)
        return await self.session.acall(
            name, arguments, call_id=call.id, finish_reason=call.finish_reason
        )

    def _restore(self, call: ModelCall) -> tuple[str, str | None]:
        name, arguments = self._target_tools.restore(call.name, call.arguments)
        # The model sees all tools, so none is hidden in a container.
        self.session.expand(name)
        return name, arguments
