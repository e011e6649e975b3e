"""What a function says about its parameters: JSON Schemas, and values of their types."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from ._code import innermost
from ._context import Context

T = TypeVar("T")

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


class ArgumentsError(ValueError):
    """Arguments that do not fit the types of a function."""


class _Marker:
    def __repr__(self) -> str:
        return "gramc.Injected"


_INJECTED = _Marker()

#: A parameter that the program supplies: `user: Injected[User]`. It is not in the definition of the tool.
Injected = Annotated[T, _INJECTED]

#: The types of parameters that frameworks supply, by package and name.
_CONTEXTS = {
    ("agents", "RunContextWrapper"),
    ("fastapi", "Depends"),
    ("fastmcp", "Context"),
    ("gramc", "Context"),
    ("langchain_core", "BaseRunManager"),
    ("langchain_core", "InjectedToolArg"),
    ("langchain_core", "RunnableConfig"),
    ("langchain_core", "_DirectlyInjectedToolArg"),
    ("mcp", "Context"),
    ("pydantic_ai", "RunContext"),
    ("uncalled_for", "Dependency"),
}


def _is_context(kind: type) -> bool:
    bases = ((base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__)
    return any(base in _CONTEXTS for base in bases)


def is_context(annotation: Any, default: Any = inspect.Parameter.empty) -> bool:
    """Whether the program or a framework supplies a parameter, and not the model."""
    if _is_context(type(default)):
        return True
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        marks = (mark if isinstance(mark, type) else type(mark) for mark in arguments[1:])
        return any(mark is _Marker or _is_context(mark) for mark in marks) or is_context(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return any(is_context(argument) for argument in arguments)
    kind = origin or annotation
    return isinstance(kind, type) and _is_context(kind)


def context_parameters(function: Callable[..., Any]) -> dict[str, bool]:
    """The parameters that the program or a framework supplies, and whether they are required."""
    known = signature(function)
    types_of = hints(function) if known is not None else {}
    found = {}
    for name, parameter in known.parameters.items() if known is not None else ():
        default = parameter.default
        if is_context(types_of.get(name), default):
            found[name] = default is inspect.Parameter.empty or _is_context(type(default))
    return found


def call_parameters(function: Callable[..., Any]) -> list[str]:
    """The parameters that get the call itself."""
    return [name for name, annotation in hints(function).items() if annotation is Context]


def supply(
    tool: str, context: dict[str, bool], values: dict[str, Any], supplied: dict[str, Any]
) -> None:
    """Set the parameters that the program supplies. Those of the model have no effect on them."""
    for name, is_required in context.items():
        values.pop(name, None)
        if name in supplied:
            values[name] = supplied[name]
        elif is_required:
            raise ArgumentsError(
                f"`{tool}` has no value for its parameter `{name}`: pass `inject={{\"{name}\": …}}` to"
                " the session or the call"
            )


def implementation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with the annotations and the docstring of a callable."""
    inner = innermost(function)
    if isinstance(inner, types.FunctionType) or not hasattr(type(inner), "__call__"):
        return inner
    call = getattr(type(inner), "__call__")
    return call if isinstance(call, types.FunctionType) else inner


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, or of the class of a callable object."""
    inner = innermost(function)
    name = getattr(function, "__name__", None) or getattr(inner, "__name__", None)
    return str(name or type(inner).__name__)


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function. Those whose names cannot be resolved are left out."""
    function = implementation(function)
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


class UntypedError(TypeError):
    """A type without a JSON Schema."""


def schema(annotation: Any, mode: str = "validation") -> dict[str, Any]:
    """The JSON Schema of a type. Raises `UntypedError` if it has none."""
    try:
        if annotation in _PLAIN:
            return dict(_PLAIN[annotation])
    except TypeError:
        pass
    known = adapter(annotation)
    if known is None:
        needs = "" if _has_pydantic() else "; types of this kind need pydantic"
        raise UntypedError(f"{_type_name(annotation)} has no JSON Schema{needs}")
    try:
        found: dict[str, Any] = known.json_schema(mode=mode)
    except Exception:
        raise UntypedError(f"{_type_name(annotation)} has no JSON Schema") from None
    return found


def _type_name(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _has_pydantic() -> bool:
    return importlib.util.find_spec("pydantic") is not None


def parameters_schema(function: Callable[..., Any], strict: bool) -> dict[str, Any] | None:
    """The JSON Schema of the parameters; `None` if Python does not know them.

    If `strict`, each parameter of the model needs a type, and those that the program supplies are left
    out. Otherwise a specification has the types.
    """
    known = signature(function)
    if known is None:
        return None
    types_of = hints(function)
    fixed = _fixed_keywords(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    definitions: dict[str, Any] = {}
    extra = False
    for name, parameter in known.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            extra = True
        is_several = parameter.kind in (
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        )
        if is_several or name in fixed:
            continue
        annotation = types_of.get(name, inspect.Parameter.empty)
        if is_context(annotation, parameter.default):
            # A specification may declare it as injected.
            if not strict:
                properties[name] = {}
            continue
        found = _parameter_schema(function, name, annotation, parameter, strict)
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


def _parameter_schema(
    function: Callable[..., Any],
    name: str,
    annotation: Any,
    parameter: inspect.Parameter,
    strict: bool,
) -> dict[str, Any]:
    if annotation is inspect.Parameter.empty:
        if not strict:
            return {}
        is_annotated = parameter.annotation is not inspect.Parameter.empty
        why = f"cannot resolve `{parameter.annotation}`" if is_annotated else "it has no annotation"
        raise TypeError(f"`{name_of(function)}`: the parameter `{name}` has no type: {why}")
    try:
        return schema(annotation)
    except UntypedError as error:
        # Without pydantic, a function gets values of such types as they are in JSON.
        if not strict and not _has_pydantic():
            return {}
        raise TypeError(
            f"`{name_of(function)}`: the parameter `{name}` has no type for a model: {error}. If the"
            f" program supplies it, annotate it with `gramc.Injected[{_type_name(annotation)}]`"
        ) from None


def _fixed_keywords(function: Callable[..., Any]) -> set[str]:
    """The keywords that a `functools.partial` sets."""
    fixed: set[str] = set()
    while isinstance(function, functools.partial):
        fixed.update(function.keywords)
        function = function.func
    return fixed


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
        if not is_plain(annotation) and not is_context(annotation):
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


def lenient_reader(function: Callable[..., Any]) -> Callable[[str], dict[str, Any]]:
    """A function from JSON text to keyword arguments that pydantic builds, or a `ValueError`.

    It accepts what pydantic accepts, such as dates without a time zone.
    """
    known, types_of, fixed = signature(function), hints(function), _fixed_keywords(function)
    adapters, required = {}, set()
    for name, parameter in known.parameters.items() if known is not None else ():
        annotation = types_of.get(name, inspect.Parameter.empty)
        if name in fixed or is_context(annotation, parameter.default):
            continue
        adapters[name] = adapter(annotation)
        if parameter.default is inspect.Parameter.empty:
            required.add(name)

    def read(arguments: str) -> dict[str, Any]:
        values = json.loads(arguments)
        if not isinstance(values, dict) or not required <= values.keys() <= adapters.keys():
            raise ValueError("other parameters")
        return {name: _build(adapters[name], value) for name, value in values.items()}

    return read


def _build(known_adapter: Any, value: Any) -> Any:
    if known_adapter is None:
        raise ValueError("pydantic does not know the type")
    return known_adapter.validate_json(json.dumps(value))


def _describe(parameter: str, error: Any) -> str:
    """What is wrong, without the values."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    places = (".".join(map(str, (parameter, *one["loc"]))) for one in found)
    texts = (f"{place}: {one['msg']}" for place, one in zip(places, found))
    return f"the function does not take these arguments: {'; '.join(texts)}"
