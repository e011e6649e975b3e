"""Specifications from typed functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, Generic, ParamSpec, TypeVar, overload

from . import _native, _signature
from ._native import Specification

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Tool(Generic[P, R]):
    """A function with the definition that is derived from it. It can still be called."""

    def __init__(self, function: Callable[P, R], name: str, gram: str, notes: list[str]) -> None:
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

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        return self.function(*arguments, **keywords)

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(*, name: str | None = None) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Any:
    """Derive a definition from the annotations and the docstring of a function.

    The text in gram is `.gram`. Types other than `str`, `int`, `float`, `bool`, `list` and `dict` need
    pydantic. Raises `TypeError` if a parameter has no type.
    """
    if function is None:
        return lambda decorated: _derive(decorated, name)
    return _derive(function, name)


def _derive(function: Callable[..., Any], name: str | None) -> Tool[..., Any]:
    name = name or _signature.name_of(function)
    text, notes = _native.import_tools({"tools": [definition(name, function)]})
    return Tool(function, name, text, notes)


def specification(functions: Iterable[Callable[..., Any]]) -> Specification:
    """Derive the specification of functions from their annotations and docstrings.

    Parameters that the program or a framework supplies are left out. Raises `TypeError` if a parameter
    has no type.
    """
    return specify([(_signature.name_of(function), function) for function in functions])


def specify(functions: Iterable[tuple[str, Callable[..., Any]]]) -> Specification:
    """Derive the specification of functions with the names of their tools."""
    definitions = [definition(name, function) for name, function in functions]
    text, _ = _native.import_tools({"tools": definitions})
    return _native.loads(text, "<functions>")


def definition(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    """The definition of a function in the form of MCP."""
    if isinstance(function, Tool):
        function = function.function
    parameters = _signature.parameters_schema(function, strict=True)
    if parameters is None:
        raise TypeError(f"Python does not know the parameters of `{name}`")
    for one in _signature.signature(function).parameters.values():  # type: ignore[union-attr]
        if one.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
            raise TypeError(f"`{name}` has parameters without a name, such as `{one.name}`")
    summary, described = docstring(inspect.getdoc(_signature.implementation(function)) or "")
    for parameter, text in described.items():
        if parameter in parameters["properties"]:
            parameters["properties"][parameter].setdefault("description", text)
    defined: dict[str, Any] = {"name": name, "inputSchema": parameters}
    if summary:
        defined["description"] = summary
    returned = _signature.hints(function).get("return", Any)
    if returned is not type(None):
        try:
            defined["outputSchema"] = _signature.schema(returned, "serialization") or None
        except _signature.UntypedError:
            # Without a type, any result is allowed.
            pass
    return {key: value for key, value in defined.items() if value is not None}


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
