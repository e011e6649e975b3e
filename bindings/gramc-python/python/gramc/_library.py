"""Libraries of functions."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from typing import Any, TypeVar, overload

from . import _native, _signature
from ._code import code_hash
from ._functions import Runner, describe_by
from ._native import Bound, Specification
from ._tool import P, R, Tool, specify

Function = TypeVar("Function", bound=Callable[..., Any])


def _snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


#: The settings, with their names in gram.
_SETTINGS = {_snake_case(name): name for name in _native.setting_names()}


def _attributes(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as attributes of gram, such as `maxAttempts`."""
    for name in settings:
        if name not in _SETTINGS:
            known = ", ".join(sorted(_SETTINGS))
            raise TypeError(f"unknown setting `{name}`; expected one of {known}")
    attributes = {}
    for name, value in settings.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and not math.isfinite(value):
            value = str(value)
        elif is_number and name == "timeout":
            # 0 is no limit.
            value = f"{max(1, round(value * 1000)) if value > 0 else value}ms"
        attributes[_SETTINGS[name]] = value
    if fault := _native.setting_fault(attributes):
        name, expected = fault
        seconds = "seconds, or " if name == "timeout" else ""
        raise TypeError(f"`{_snake_case(name)}` expects {seconds}{expected}")
    return attributes


class ToolLibrary:
    """Functions that implement tools.

    Keyword arguments are settings for all tools that are added: `timeout` (seconds, or text such as
    `"5s"`), `max_attempts`, `concurrency`, `throttle` and the other attributes of a library in gram.
    `error_text` is a function from the exception of a tool to the text for the model. With
    `threads=False`, functions that are not coroutines run in the thread of the caller: without the cost
    of another thread, and without a time limit.
    """

    name: str
    _native: _native.Library

    def __init__(
        self,
        name: str,
        *,
        error_text: Callable[[BaseException], str] | None = None,
        threads: bool = True,
        **settings: Any,
    ) -> None:
        self.name = name
        self._threads = threads
        self._native = _native.Library(name, _attributes(settings))
        self._describe = describe_by(error_text)
        self._functions: dict[str, Callable[..., Any]] = {}

    @classmethod
    def load(cls, path: str | os.PathLike[str], name: str | None = None) -> ToolLibrary:
        """Read a library that a file in gram declares. `name` chooses one of several.

        Functions can be added to it. Raises `SpecError` if the file has errors.
        """
        library = cls(name or os.fspath(path))
        library._native = _native.load_library(path, name)
        return library

    @overload
    def tool(self, name: str, /, **settings: Any) -> Callable[[Function], Function]: ...
    @overload
    def tool(self, name: Tool[P, R], /, **settings: Any) -> Tool[P, R]: ...
    @overload
    def tool(self, name: Function, /, **settings: Any) -> Function: ...

    def tool(self, name: Any, /, **settings: Any) -> Any:
        """Add a function, as a decorator: `@library.tool("findOrder")`.

        The function receives the arguments as keyword arguments. Without a name, the tool has the name
        of the function. `inject` holds values of injected parameters; other keyword arguments are
        settings of this tool.
        """
        if isinstance(name, Tool):
            self.add(name.name, name.function, **settings)
            return name
        if callable(name):
            self.add(_signature.name_of(name), name, **settings)
            return name

        def decorate(function: Function) -> Function:
            target = function.function if isinstance(function, Tool) else function
            self.add(name, target, **settings)
            return function

        return decorate

    def specification(self) -> Specification:
        """Derive the specification of the functions, as `gramc.specification` does."""
        return specify(self._functions.items())

    def add(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        inject: dict[str, Any] | None = None,
        threads: bool | None = None,
        **settings: Any,
    ) -> None:
        """Add a function as the implementation of a tool. `threads` overrides that of the library.

        Raises `TypeError` if a parameter has a type that no argument of a model has.
        """
        if isinstance(function, Tool):
            function = function.function
        if not callable(function):
            raise TypeError(f"the implementation of `{name}` is not callable")
        if inject is not None and not isinstance(inject, dict):
            raise TypeError("expected a dictionary as `inject`")
        supplied = _signature.context_parameters(function)
        values = inject or {}
        self._native.add(
            name,
            Runner(
                name, function, values, self._describe, self._threads if threads is None else threads
            ),
            _signature.parameters_schema(function, strict=False),
            _attributes(settings),
            {key: value for key, value in values.items() if key not in supplied},
            code_hash(function),
        )
        self._functions[name] = function

    def bind(self, specification: Specification) -> Bound:
        """Bind the library, as `specification.bind(library)` does."""
        return specification.bind(self)

    def __repr__(self) -> str:
        return f"ToolLibrary({self.name!r})"
