"""Exceptions."""

from __future__ import annotations

from typing import Any


class SpecError(Exception):
    """A specification or library has errors.

    `diagnostics` holds what `gramc check --format json` prints, one dictionary each.
    """

    diagnostics: list[dict[str, Any]]

    def __init__(self, diagnostics: list[dict[str, Any]]) -> None:
        super().__init__("\n".join(_line(found) for found in diagnostics))
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[Any, ...]:
        return (SpecError, (self.diagnostics,))


class BindError(Exception):
    """A library does not fit a specification.

    `gaps` holds all problems, each with the keys `tool` and `message`.
    """

    gaps: list[dict[str, Any]]

    def __init__(self, gaps: list[dict[str, Any]]) -> None:
        super().__init__("\n".join(gap["message"] for gap in gaps))
        self.gaps = gaps

    @property
    def diagnostics(self) -> list[dict[str, Any]]:
        """The same as `gaps`, with the key `severity` of `gramc bind --format json`."""
        return [{"severity": "error", **gap} for gap in self.gaps]

    def __reduce__(self) -> tuple[Any, ...]:
        return (BindError, (self.gaps,))


class ExperimentError(Exception):
    """An experiment cannot run, no run could be counted, or an expectation is invalid."""


def _line(found: dict[str, Any]) -> str:
    start = found["start"]
    place = f"{found['path']}:{start['line']}:{start['column']}"
    line = f"{place}: {found['severity']}[{found['code']}]: {found['message']}"
    return f"{line}\n  help: {found['help']}" if found.get("help") else line
