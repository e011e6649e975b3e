"""Functions as implementations of tools."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from . import _content, _signature, _telemetry, _workers
from ._context import Context
from ._json import encode

if TYPE_CHECKING:
    from ._native import CallStream, Completion, PendingCall, Session, Verdict


async def await_call(call: Session | CallStream, *arguments: Any) -> Verdict:
    """Run a call in the event loop of the caller."""
    start: Callable[..., PendingCall] = call._start
    pending = start(*arguments, asyncio.get_running_loop())
    try:
        verdict: Verdict = await pending.future
    except asyncio.CancelledError:
        pending.cancel()
        raise
    return verdict


async def acall(session: Session, name: str, arguments: Any, call_id: str | None, *options: Any) -> Verdict:
    """Run a call of a session, in a program with asyncio or trio."""
    if (trio := sys.modules.get("trio")) and trio.lowlevel.in_trio_run():
        finish_reason, inject = options
        keywords = {"call_id": call_id, "finish_reason": finish_reason, "inject": inject}
        work = functools.partial(session.call, name, arguments, **keywords)
        return await trio.to_thread.run_sync(work)  # type: ignore[no-any-return]
    span = _telemetry.start(name, call_id)
    if span is None:
        return await await_call(session, name, arguments, call_id, *options)
    verdict = None
    try:
        verdict = await await_call(session, name, arguments, call_id, *options)
    finally:
        span.end(verdict)
    return verdict


def delta_text(delta: Any) -> str | None:
    """The text in a delta of a provider: an object or a dictionary."""
    function = _part(delta, "function") or delta
    for key in ("arguments", "partial_json", "delta"):
        text = _part(function, key)
        if text is not None:
            return text if isinstance(text, str) else delta_text(text)
    return None


def _part(of: Any, key: str) -> Any:
    return of.get(key) if isinstance(of, dict) else getattr(of, key, None)


class _Task:
    """A coroutine in an event loop of another thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None]) -> None:
        self._loop = loop
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False
        loop.call_soon_threadsafe(self._start, work)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = self._loop.create_task(work)
        if self._cancelled:
            self._task.cancel()

    def _cancel(self) -> None:
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    def cancel(self) -> None:
        self._loop.call_soon_threadsafe(self._cancel)


class Runner:
    """Starts a function with the arguments of a call."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        inject: dict[str, Any],
        describe: Callable[[BaseException], str],
        threads: bool,
    ) -> None:
        self._name = name
        self._threads = threads
        self._function = function
        self._inject = inject
        self._describe = describe
        self._is_async = is_coroutine_function(function)
        self._read = _signature.reader(function)
        self._context = _signature.context_parameters(function)
        self._calls = _signature.call_parameters(function)

    def start(self, completion: Completion, arguments: str, hidden: list[str]) -> Any:
        """Start the function. The answer has a method `cancel`."""
        work = _Work(lambda: self._call(completion, arguments, hidden), completion, self._describe)
        if not self._threads and not self._is_async:
            return work.run()
        return work.start(completion.event_loop, self._is_async)

    def _call(self, completion: Completion, arguments: str, hidden: list[str]) -> Any:
        values = self._read(arguments)
        if self._context:
            declared = {name: values[name] for name in hidden if name in values}
            call = Context(self._name, completion.on_progress) if self._calls else None
            calls = dict.fromkeys(self._calls, call)
            supplied = {**calls, **declared, **self._inject, **(completion.injected or {})}
            _signature.supply(self._name, self._context, values, supplied)
        return self._function(**values)


class AgentRunner:
    """Starts an agent with a message of the user."""

    def __init__(self, function: Callable[[Session, str], Any]) -> None:
        self._function = function
        self._is_async = is_coroutine_function(function)

    def start(self, completion: Completion, session: Session, message: str) -> Any:
        """Start the agent. The answer has a method `cancel`."""
        work = _Work(lambda: self._function(session, message), completion, _describe_with_place)
        return work.start(None, self._is_async, "agents")


class ApprovalRunner:
    """Starts a function that approves calls."""

    def __init__(self, function: Callable[[str, dict[str, Any]], Any]) -> None:
        if not callable(function):
            raise TypeError("expected a function as `approve`")
        self._function = function
        self._is_async = is_coroutine_function(function)

    def start(self, completion: Completion, name: str, arguments: str) -> Any:
        """Start the function. The answer has a method `cancel`."""
        work = _Work(lambda: self._function(name, json.loads(arguments)), completion, describe)
        return work.start(completion.event_loop, self._is_async)


class _Work:
    """A call of a function, whose result or exception is handed over."""

    def __init__(
        self,
        call: Callable[[], Any],
        completion: Completion,
        describe: Callable[[BaseException], str],
    ) -> None:
        self._call = call
        self._completion = completion
        self._describe = describe

    def start(
        self, loop: asyncio.AbstractEventLoop | None, is_async: bool, purpose: str = "tools"
    ) -> Any:
        """Start a coroutine in an event loop, or a function in a thread."""
        if not is_async:
            return _workers.run_in_thread(self._run)
        if loop is not None:
            return loop.create_task(self._run_async(is_of_caller=True))
        return _Task(_workers.background_loop(purpose), self._run_async(is_of_caller=False))

    def run(self) -> _workers.Job:
        """Run a function in the thread of the caller. The answer is a job that is done."""
        self._run()
        return _workers.Job(lambda: None)

    def _run(self) -> None:
        try:
            result = self._call()
        except BaseException as error:
            self._fail(error)
        else:
            finish(self._completion, result)

    def _fail(self, error: BaseException) -> None:
        is_raised = not isinstance(error, _signature.ArgumentsError)
        self._completion.fail(self._describe(error), error if is_raised else None)

    async def _run_async(self, is_of_caller: bool) -> None:
        try:
            result = await self._call()
        except asyncio.CancelledError:
            self._completion.fail("the function was cancelled")
            raise
        except BaseException as error:
            self._fail(error)
            # `SystemExit` and `KeyboardInterrupt` end an event loop, which others need if it is shared.
            if is_of_caller and not isinstance(error, Exception):
                raise
        else:
            finish(self._completion, result)


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Whether a function is `async def`, or an object whose `__call__` is."""
    while isinstance(function, functools.partial):
        function = function.func
    call = getattr(type(function), "__call__", None)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def describe(error: BaseException) -> str:
    """The type and the message of an exception for the model, without a traceback."""
    if isinstance(error, _signature.ArgumentsError):
        return str(error)
    try:
        text = str(error).strip()
    except Exception:
        text = ""
    name = type(error).__name__
    return _utf8(f"{name}: {text}" if text else f"the function raised {name}")


def describe_by(error_text: Callable[[BaseException], str] | None) -> Callable[[BaseException], str]:
    """The description of exceptions by a function of the user."""
    if error_text is None:
        return describe

    def text(error: BaseException) -> str:
        return describe(error) if isinstance(error, _signature.ArgumentsError) else str(error_text(error))

    return text


def _describe_with_place(error: BaseException) -> str:
    """The type and the message of an exception of an agent, and where it was raised."""
    try:
        text = traceback.format_exception_only(type(error), error)[-1].strip()
    except Exception:
        text = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return _utf8(text) + place


def _utf8(text: str) -> str:
    """A text without halves of surrogate pairs, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def finish(completion: Completion, result: Any) -> None:
    """Hand over the result as JSON, or as content blocks."""
    try:
        if (content := _content.blocks(result)) is not None:
            return completion.finish_content(json.dumps(content, ensure_ascii=False))
        text = json.dumps(result, default=encode, allow_nan=False, ensure_ascii=False)
        text.encode()
    except RecursionError:
        completion.refuse_result("it contains itself or nests too deeply")
    except UnicodeEncodeError:
        completion.refuse_result("a text has half of a surrogate pair")
    except BaseException as error:
        completion.refuse_result(_utf8(str(error)) or type(error).__name__)
    else:
        completion.finish(text)
