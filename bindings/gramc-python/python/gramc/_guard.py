"""Guards of the tools that an agent has: their calls are checked and repaired before they run."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import sys
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import _native, _signature, _telemetry
from ._context import Context
from ._errors import SpecError
from ._functions import is_coroutine_function
from ._json import encode
from ._tool import Tool, definition

if TYPE_CHECKING:
    from ._native import Bound, Session, Verdict

Tools = TypeVar("Tools")

#: The adapters of frameworks, by the package that defines their tools.
_ADAPTERS = {
    "agents": "openai_agents",
    "fastmcp": "fastmcp",
    "inspect_ai": "inspect_ai",
    "langchain_core": "langchain",
    "pydantic_ai": "pydantic_ai",
}


class CallRefused(ValueError):
    """A call that was refused. Its text is the message for the model."""

    verdict: Verdict

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict

    def __reduce__(self) -> tuple[Any, ...]:
        return (CallRefused, (self.verdict,))


def guard(
    tools: Tools, /, *, on_verdict: Callable[[Verdict], Any] | None = None, **settings: Any
) -> Tools:
    """Check and repair the calls of tools before they run.

    `tools` is a list of functions, a dictionary of functions by name, a list of the tools of Pydantic
    AI, the OpenAI Agents SDK, LangChain or Inspect, a toolset of Pydantic AI, or a server of FastMCP.
    The result is of the same kind; a server is changed in place. A model sees the same definitions as
    before.

    A guarded function accepts the arguments of the model as JSON text, as a dictionary or as keyword
    arguments, and raises `CallRefused` with the message for the model. `on_verdict` receives the
    verdict on each call. `settings` are settings of a library, such as `max_attempts`.
    """
    options = Options(on_verdict, settings)
    several: Sequence[Any] = tools if isinstance(tools, (list, tuple)) else [tools]
    adapters = {adapter for tool in several if (adapter := _adapter_of(tool)) is not None}
    if len(adapters) > 1:
        raise TypeError(f"expected tools of one framework, found {', '.join(sorted(adapters))}")
    for adapter in adapters:
        module = importlib.import_module(f"gramc.adapters.{adapter}")
        return module.guard_tools(tools, options)  # type: ignore[no-any-return]
    guarded: Any
    if isinstance(tools, Mapping):
        guarded = {name: guard_function(tool, name, options) for name, tool in tools.items()}
    elif several is tools:
        guarded = type(several)(guard_function(tool, None, options) for tool in several)  # type: ignore[call-arg]
    else:
        guarded = guard_function(tools, None, options)
    return guarded  # type: ignore[no-any-return]


def _adapter_of(tool: Any) -> str | None:
    if hasattr(tool, "__registry_info__"):
        return "inspect_ai"
    packages = {base.__module__.partition(".")[0] for base in type(tool).__mro__}
    # Programs have packages of this name, too.
    if "agents" in packages and not hasattr(sys.modules.get("agents"), "Runner"):
        packages.remove("agents")
    return next((_ADAPTERS[package] for package in packages if package in _ADAPTERS), None)


class Options(NamedTuple):
    """The options of a guard."""

    on_verdict: Callable[[Verdict], Any] | None
    settings: dict[str, Any]


class _RunSession(NamedTuple):
    run: weakref.ref[Any]
    session: Session
    #: The last reply of the model in the run.
    replies: list[Any]


class Guard:
    """Checks the calls of a tool that a framework runs."""

    def __init__(self, name: str, bound: Bound, options: Options) -> None:
        self.name = name
        self._bound = bound
        self._on_verdict = options.on_verdict
        self._shared = bound._shared_session(options.on_verdict)
        self._sessions: dict[int, _RunSession] = {}

    @staticmethod
    def of(defined: dict[str, Any], options: Options) -> Guard | None:
        """The guard of a tool from its definition in the form of MCP.

        `None` if gramc cannot express the definition, with a warning.
        """
        from ._library import ToolLibrary

        name = defined["name"]
        try:
            text, _ = _native.import_tools({"tools": [defined]})
            specification = _native.loads(text, f"{name}.gram")
        except (SpecError, ValueError) as error:
            why = str(error)
        else:
            if specification.names == [name]:
                library = ToolLibrary("guard", **options.settings)
                library.add(name, _run_elsewhere)
                return Guard(name, specification.bind(library), options)
            why = "its name is not possible in gram"
        # The caller of `gramc.guard`.
        warnings.warn(f"`{name}` is not guarded: {why}", stacklevel=_depth())
        return None

    def is_valid(self, arguments: Any) -> bool:
        """Whether a call would be accepted. It counts towards no limit."""
        return self._shared.validate(self.name, arguments).ok

    def check(
        self,
        arguments: Any,
        accepts: Callable[[], bool],
        *,
        call_id: str | None = None,
        run: Any = None,
        reply: Any = None,
    ) -> str | None:
        """Check the arguments of a call.

        The answer is the repaired arguments as JSON text, or `None` if they can be used as they are.
        `accepts` is whether the framework alone accepts the call; a guard never refuses such a call.
        `run` is an object that lives as long as the run of the agent, and `reply` identifies the reply
        of the model. Raises `CallRefused`.
        """
        if not self.is_valid(arguments) and accepts():
            return None
        session = self._shared if run is None else self._session_of(run, reply)
        verdict, checked, is_changed = session._check(self.name, arguments, call_id)
        _telemetry.annotate(verdict)
        if checked is None:
            raise CallRefused(verdict)
        return checked if is_changed else None

    def check_dict(
        self, arguments: dict[str, Any], accepts: Callable[[], bool], **options: Any
    ) -> dict[str, Any]:
        """Check arguments that the framework has parsed."""
        checked = self.check(arguments, accepts, **options)
        return arguments if checked is None else json.loads(checked)

    def _session_of(self, run: Any, reply: Any) -> Session:
        key = id(run)
        known = self._sessions.get(key)
        if known is None or known.run() is not run:
            try:
                reference = weakref.ref(run, lambda _: self._sessions.pop(key, None))
            except TypeError:
                return self._shared
            known = _RunSession(reference, self._bound.session(on_verdict=self._on_verdict), [])
            self._sessions[key] = known
        if known.replies[-1:] != [reply]:
            known.replies[:] = [reply]
            known.session.begin_reply()
        return known.session


def accepts_if(validate: Callable[[], Any]) -> Callable[[], bool]:
    """Whether a validation raises no exception."""

    def accepts() -> bool:
        try:
            validate()
        except Exception:
            return False
        return True

    return accepts


def _run_elsewhere(**arguments: Any) -> None:
    raise NotImplementedError("the framework runs this tool")


def _depth() -> int:
    """The number of frames of this package above the caller of `warnings.warn`."""
    depth, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("gramc."):
        depth, frame = depth + 1, frame.f_back
    return depth - 1


def guard_function(function: Any, name: str | None, options: Options) -> Any:
    """A function whose calls are checked and repaired."""
    if isinstance(function, Tool):
        function = function.function
    if not callable(function):
        raise TypeError(
            "expected functions, or tools of Pydantic AI, the OpenAI Agents SDK, LangChain, Inspect or"
            f" FastMCP, found {type(function).__name__}"
        )
    guard = Guard.of(definition(name or _signature.name_of(function), function), options)
    if guard is None:
        return function
    read = _signature.reader(function)
    read_leniently = _signature.lenient_reader(function)
    context = _signature.context_parameters(function)
    calls = _signature.call_parameters(function)
    known = inspect.signature(function)

    def prepare(positional: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
        arguments: Any
        if len(positional) == 1 and isinstance(positional[0], (str, bytes, dict)):
            supplied = {key: value for key, value in keywords.items() if key in context}
            if len(supplied) == len(keywords):
                return run_with(positional[0], supplied)
        try:
            given = known.bind_partial(*positional, **keywords).arguments
        except TypeError:
            if positional:
                raise
            given = keywords
        supplied = {key: value for key, value in given.items() if key in context}
        arguments = {key: value for key, value in given.items() if key not in context}
        for key, parameter in known.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                arguments.update(arguments.pop(key, {}))
        return run_with(json.dumps(arguments, default=encode), supplied)

    def run_with(arguments: Any, supplied: dict[str, Any]) -> dict[str, Any]:
        if isinstance(arguments, bytes):
            arguments = arguments.decode("utf-8", "replace")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        lenient: list[dict[str, Any]] = []
        accepts = accepts_if(lambda: lenient.append(read_leniently(text)))
        checked = guard.check(arguments, accepts)
        values = lenient[0] if lenient else read(text if checked is None else checked)
        # The model has no effect on the parameters of the program.
        values = {key: value for key, value in values.items() if key not in context}
        return {**values, **dict.fromkeys(calls, Context(guard.name, None)), **supplied}

    if is_coroutine_function(function):

        @functools.wraps(function)
        async def run_async(*positional: Any, **keywords: Any) -> Any:
            return await function(**prepare(positional, keywords))

        run_async.__name__ = guard.name
        return run_async

    @functools.wraps(function)
    def run(*positional: Any, **keywords: Any) -> Any:
        return function(**prepare(positional, keywords))

    run.__name__ = guard.name
    return run
