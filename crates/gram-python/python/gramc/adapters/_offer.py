"""What adapters share: the tools of a session as a provider takes them."""

from __future__ import annotations

from typing import Any

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


class Offer:
    """The tools of a session in the form of a target."""

    def __init__(self, session: Session, target: str) -> None:
        self.session = session
        self._offer = session.bound.specification._offer(target)
        #: Name in the specification, name in the target, and definition.
        self.tools: list[tuple[str, str, dict[str, Any]]] = self._offer.tools

    @property
    def definitions(self) -> list[Any]:
        """The definitions for a request."""
        return [definition for _, _, definition in self.tools]

    def call(self, name: str, arguments: Any, id: str | None = None) -> Verdict:
        """Check and run a call by its name in the target."""
        name, arguments = self._offer.restore(name, arguments)
        self._expand(name)
        return self.session.call(name, arguments, id=id)

    async def acall(self, name: str, arguments: Any, id: str | None = None) -> Verdict:
        """Check and run a call in asynchronous programs."""
        name, arguments = self._offer.restore(name, arguments)
        self._expand(name)
        return await self.session.acall(name, arguments, id=id)

    def _expand(self, name: str) -> None:
        # The model sees all tools, so none is hidden in a container.
        self.session.expand(name)
