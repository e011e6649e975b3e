"""What a function says about its parameters: JSON Schemas, and values of their types."""

from __future__ import annotations

import inspect
import json
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    dict: {"type": "object"},
    list: {"type": "array"},
    type(None): {"type": "null"},
    Any: {},
}


class ArgumentsError(Exception):
    """Arguments that do not fit the types of a function."""


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function. Those whose names cannot be resolved are left out."""
    names = _local_names(function)
    try:
        return typing.get_type_hints(function, localns=names, include_extras=True)
    except Exception:
        pass
    found = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        # A function without code, whose only annotation is this one.
        one = types.SimpleNamespace(__annotations__={name: annotation})
        namespace = {**getattr(function, "__globals__", {}), **names}
        try:
            found.update(typing.get_type_hints(one, namespace, include_extras=True))
        except Exception:
            continue
    return found


def _local_names(function: Callable[..., Any]) -> dict[str, Any]:
    """The local names where a function is defined within another one that still runs."""
    names = getattr(function, "__qualname__", "").split(".")
    code = getattr(function, "__code__", None)
    if len(names) < 3 or names[-2] != "<locals>" or code is None:
        return {}
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == names[-3] and frame.f_code.co_filename == code.co_filename:
            return dict(frame.f_locals)
        frame = frame.f_back
    return {}


def signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a function, if Python knows it."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def is_plain(annotation: Any) -> bool:
    """Whether values of JSON are values of the type as they are."""
    if annotation is inspect.Parameter.empty or annotation in (None, Any):
        return True
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        # Descriptions are texts; everything else may be a validator.
        return is_plain(arguments[0]) and all(isinstance(one, str) for one in arguments[1:])
    if origin is None:
        return annotation in (str, int, float, bool, dict, list, type(None), object)
    if origin is typing.Literal:
        return True
    if origin in (list, dict, typing.Union, types.UnionType):
        return all(is_plain(argument) for argument in arguments)
    return False


def adapter(annotation: Any) -> Any:
    """The `TypeAdapter` of pydantic for a type, or `None` without pydantic or for other types."""
    try:
        from pydantic import TypeAdapter
    except ImportError:
        return None
    try:
        return TypeAdapter(annotation)
    except Exception:
        return None


def schema(annotation: Any, mode: str = "validation") -> dict[str, Any]:
    """The JSON Schema of a type; `{}` for a type without one."""
    if annotation is inspect.Parameter.empty:
        return {}
    try:
        if annotation in _PLAIN:
            return dict(_PLAIN[annotation])
    except TypeError:
        pass
    known = adapter(annotation)
    if known is None:
        return {}
    try:
        found: dict[str, Any] = known.json_schema(mode=mode)
    except Exception:
        return {}
    return found


def parameters_schema(function: Callable[..., Any]) -> dict[str, Any] | None:
    """The JSON Schema of the parameters; `None` if Python does not know them."""
    known = signature(function)
    if known is None:
        return None
    types_of = hints(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    definitions: dict[str, Any] = {}
    extra = False
    for name, parameter in known.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            extra = True
        if parameter.kind in (
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        ):
            continue
        found = schema(types_of.get(name, inspect.Parameter.empty))
        definitions.update(found.pop("$defs", {}))
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif "default" not in found:
            _note_default(found, parameter.default)
        properties[name] = found
    result: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if not extra:
        result["additionalProperties"] = False
    if definitions:
        result["$defs"] = definitions
    return result


def _note_default(found: dict[str, Any], default: Any) -> None:
    if default is None:
        return
    try:
        json.dumps(default, allow_nan=False)
    except (RecursionError, TypeError, ValueError):
        return
    found["default"] = default


def reader(function: Callable[..., Any]) -> Callable[[str], dict[str, Any]]:
    """A function from JSON text to the keyword arguments of `function`."""
    known = signature(function)
    types_of = hints(function) if known is not None else {}
    adapters: dict[str, Any] = {}
    for name in known.parameters if known is not None else ():
        annotation = types_of.get(name, inspect.Parameter.empty)
        if not is_plain(annotation):
            found = adapter(annotation)
            if found is not None:
                adapters[name] = found
    if not adapters:
        return json.loads

    def read(arguments: str) -> dict[str, Any]:
        from pydantic import ValidationError

        values: dict[str, Any] = json.loads(arguments)
        for name, known_adapter in adapters.items():
            if name in values:
                try:
                    # JSON has no dates or tuples, which the mode for JSON reads from text.
                    values[name] = known_adapter.validate_json(json.dumps(values[name]))
                except ValidationError as error:
                    raise ArgumentsError(_describe(name, error)) from None
        return values

    return read


def _describe(parameter: str, error: Any) -> str:
    """What is wrong, without the values."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    places = (".".join(map(str, (parameter, *one["loc"]))) for one in found)
    texts = (f"{place}: {one['msg']}" for place, one in zip(places, found))
    return f"the function does not take these arguments: {'; '.join(texts)}"
