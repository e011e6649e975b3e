"""The call that runs a function."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """The progress of a function that runs."""

    tool: str
    done: float
    total: float | None = None
    message: str | None = None


class Context:
    """The call that runs a function, which gets it as a parameter: `context: gramc.Context`."""

    def __init__(self, tool: str, on_progress: Callable[[Progress], Any] | None) -> None:
        self.tool = tool
        self._on_progress = on_progress

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to the `on_progress` of the session, or to the client of a server."""
        if self._on_progress is not None:
            try:
                self._on_progress(Progress(self.tool, done, total, message))
            except Exception:
                logging.getLogger("gramc").exception("`on_progress` failed for `%s`", self.tool)
