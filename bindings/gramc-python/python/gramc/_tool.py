"""Specifications from typed functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, overload

from . import _native, _signature
from ._native import Specification


class Tool:
    """A function with the definition that is derived from it. It can still be called."""

    def __init__(self, function: Callable[..., Any], name: str, gram: str, notes: list[str]) -> None:
        self.function = function
        self.name = name
        self.gram = gram
        self.notes = notes
        self.__doc__ = function.__doc__
        self.__name__ = name
        self.__wrapped__ = function

    @property
    def specification(self) -> Specification:
        """The definition as a specification."""
        return _native.loads(self.gram, f"{self.name}.gram")

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.function(*arguments, **keywords)

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(*, name: str | None = None) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Any:
    """Derive a definition from the annotations and the docstring of a function.

    The text in gram is `.gram`. Types other than `str`, `int`, `float`, `bool`, `list` and `dict` need
    pydantic.
    """
    if function is None:
        return lambda decorated: _derive(decorated, name)
    return _derive(function, name)


def _derive(function: Callable[..., Any], name: str | None) -> Tool:
    name = name or function.__name__
    parameters = _signature.parameters_schema(function)
    if parameters is None:
        raise TypeError(f"Python does not know the parameters of `{name}`")
    for one in _signature.signature(function).parameters.values():  # type: ignore[union-attr]
        if one.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
            raise TypeError(f"`{name}` has parameters without a name, such as `{one.name}`")
    summary, described = docstring(inspect.getdoc(function) or "")
    for parameter, text in described.items():
        if parameter in parameters["properties"]:
            parameters["properties"][parameter].setdefault("description", text)
    definition: dict[str, Any] = {"name": name, "inputSchema": parameters}
    if summary:
        definition["description"] = summary
    returned = _signature.hints(function).get("return", inspect.Parameter.empty)
    if returned is not type(None):
        result = _signature.schema(returned, "serialization")
        if result:
            definition["outputSchema"] = result
    text, notes = _native.import_tools({"tools": [definition]})
    return Tool(function, name, text, notes)


_SECTION = re.compile(r"^(args|arguments|parameters|params):?\s*$", re.IGNORECASE)
_OTHER = re.compile(r"^[A-Z][A-Za-z ]*:?\s*$")
_GOOGLE = re.compile(r"^(\*{0,2}\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_NUMPY = re.compile(r"^(\w+)\s*(?::.*)?$")
_SPHINX = re.compile(r"^:param\s+(?:[^:]*\s)?(\w+):\s*(.*)$")


def docstring(text: str) -> tuple[str, dict[str, str]]:
    """The text before the sections of a docstring, and what it says about parameters.

    Knows the styles of Google, numpy and Sphinx.
    """
    lines = text.splitlines()
    summary: list[str] = []
    described: dict[str, list[str]] = {}
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        following = lines[at + 1].strip() if at + 1 < len(lines) else ""
        is_numpy = bool(following) and set(following) == {"-"}
        sphinx = _SPHINX.match(line)
        if sphinx:
            described[sphinx[1]] = [sphinx[2]]
            at += 1
        elif _SECTION.match(line) and (is_numpy or line.endswith(":")):
            at = _parameters(lines, at + (2 if is_numpy else 1), is_numpy, described)
        elif is_numpy or (line.endswith(":") and _OTHER.match(line)) or line.startswith(":"):
            break
        else:
            summary.append(line)
            at += 1
    joined = re.sub(r"\s*\n\s*\n\s*", "\n\n", "\n".join(summary).strip())
    paragraphs = (" ".join(part.split()) for part in joined.split("\n\n"))
    return "\n\n".join(paragraphs), {name: " ".join(text).strip() for name, text in described.items()}


def _parameters(lines: list[str], at: int, is_numpy: bool, described: dict[str, list[str]]) -> int:
    """Read a section of parameters. The answer is the line after it."""
    current: list[str] | None = None
    indent = None
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        depth = len(line) - len(line.lstrip())
        if indent is None:
            indent = depth
        if depth < indent or (not is_numpy and depth == 0):
            break
        found = (_NUMPY if is_numpy else _GOOGLE).match(line.strip())
        if depth == indent and found:
            if is_numpy and at + 1 < len(lines) and set(lines[at + 1].strip()) == {"-"}:
                break
            current = described.setdefault(found[1].lstrip("*"), [])
            if not is_numpy:
                current.append(found[2])
        elif current is not None:
            current.append(line.strip())
        at += 1
    return at
