"""What identifies the code of a function, so that experiments notice that it has changed."""

from __future__ import annotations

import functools
import hashlib
import inspect
import types
from collections.abc import Callable
from typing import Any


def code_hash(function: Callable[..., Any]) -> str | None:
    """Return a hash of the compiled code of a function, without that of what it calls.

    `None` if the function is not written in Python.
    """
    function = innermost(function)
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(type(function).__call__, "__code__", None)
    if not isinstance(code, types.CodeType):
        return None
    defaults = [getattr(function, name, None) for name in ("__defaults__", "__kwdefaults__")]
    text = _text(code) + "".join(map(_constants, defaults))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a method, of a `functools.partial`, or behind a decorator."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, types.FunctionType) and hasattr(function, "__wrapped__"):
            function = inspect.unwrap(function)
        else:
            return function


#: The flags of code that change what a call does.
_KIND = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


def _constants(defaults: Any) -> str:
    """Default values that are constants. Others have no text that does not depend on the process."""
    items = defaults.items() if isinstance(defaults, dict) else enumerate(defaults or ())
    plain = (str, bytes, int, float, bool, type(None))
    return _text(tuple((name, value) for name, value in items if isinstance(value, plain)))


def _text(value: Any) -> str:
    """A constant as text, which does not depend on the process."""
    if isinstance(value, types.CodeType):
        parameters = value.co_varnames[: value.co_argcount + value.co_kwonlyargcount]
        variables = (parameters, value.co_freevars, value.co_cellvars)
        kind = value.co_flags & _KIND
        return _text((value.co_code, value.co_names, value.co_consts, variables, kind))
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    return repr(value)
