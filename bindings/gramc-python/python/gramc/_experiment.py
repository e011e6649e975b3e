"""Experiments."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import math
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, Union

from . import _native
from ._code import code_hash, innermost
from ._functions import AgentRunner
from ._native import Bound, Report, Session
from ._workers import run_in_thread

if TYPE_CHECKING:
    Agent = Callable[[Session, str], Any]
    Arm = Union[Bound, Callable[[], Bound]]
    Cases = Union[str, os.PathLike[str], Iterable[Union[str, Mapping[str, Any]]]]

__all__ = ["Report", "aexperiment", "experiment"]

Parameters = ParamSpec("Parameters")

#: Cancels the experiment of an asynchronous program.
_cancellation: ContextVar[_native.Cancellation | None] = ContextVar("cancellation", default=None)


def experiment(
    *,
    agent: Agent,
    arms: Mapping[str, Arm],
    cases: Cases,
    name: str | None = None,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 8,
    rate: float | None = None,
    time_limit: float | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    max_time: float | None = None,
    margin: float | None = None,
    primary: str | None = None,
    sequential: bool = False,
    judge: str | None = None,
    model: str | None = None,
    version: str | None = None,
    report: str | os.PathLike[str] | None = None,
    shard: str | None = None,
    progress: bool = True,
    ray: bool | int = False,
) -> Report:
    """Run an agent on the same cases with several libraries, and compare the results.

    `agent` answers a message of the user: `agent(session, message)`, a function or a coroutine. It
    returns a string, or a dictionary with `output` and, if they are known, `usage` and `model`. `arms`
    are bound libraries by name, or functions that return one; all are compared with the first. `cases`
    are the path of a file, or a list of dictionaries or messages.

    `report` is a folder for runs and reports; the same call continues an interrupted experiment. `ray`
    runs the parts of the experiment as tasks of a Ray cluster; a number says how many parts.

    Raises `ExperimentError` if the experiment cannot run, or if no run could be counted.
    """
    options = {
        "name": name,
        "repeats": repeats,
        "seed": seed,
        "concurrency": concurrency,
        "rate": rate,
        "time_limit": time_limit,
        "max_cost": max_cost,
        "max_tokens": max_tokens,
        "max_time": max_time,
        "margin": margin,
        "primary": primary,
        "sequential": sequential,
        "judge": judge,
        "model": model,
        "agent_version": ", ".join(filter(None, (code_hash(agent), version and str(version)))) or None,
        "report": None if report is None else os.fsdecode(report),
        "shard": shard,
        "progress": progress,
    }
    if not callable(agent):
        raise TypeError("expected a function as `agent`")
    if not isinstance(arms, Mapping):
        raise TypeError("expected bound libraries by name as `arms`")
    _check(options)
    path, lines = _read_cases(cases)
    if not ray:
        return run(agent, arms, path, lines, options)
    from . import _ray

    return _ray.run(agent, dict(arms), path, lines, options, None if ray is True else ray)


def run(
    agent: Agent,
    arms: Mapping[str, Arm],
    path: str | None,
    lines: str | None,
    options: dict[str, Any],
) -> Report:
    """Run an experiment, or a part of one, in this process."""
    bound = [(name, _bound(name, arm)) for name, arm in arms.items()]
    agent_name = getattr(innermost(agent), "__name__", type(agent).__name__)
    return _native.run_experiment(
        AgentRunner(agent),
        agent_name,
        bound,
        path,
        lines,
        json.dumps(options),
        _cancellation.get() or _native.Cancellation(),
    )


def cancellation() -> _native.Cancellation | None:
    """What cancels the experiment that this thread runs, if an asynchronous program does."""
    return _cancellation.get()


def _bound(name: str, arm: Any) -> Bound:
    """The bound library of an arm, which may be a function that returns it."""
    if callable(arm):
        arm = arm()
    if not isinstance(arm, Bound):
        raise TypeError(
            f"expected a bound library as the arm `{name}`, such as `spec.bind(library)`, "
            f"found {type(arm).__name__}"
        )
    return arm


def _asynchronous(
    function: Callable[Parameters, Report],
) -> Callable[Parameters, Coroutine[Any, Any, Report]]:
    """The same for asynchronous programs. It runs in a thread, which ends when it is cancelled."""

    async def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Report:
        cancellation = _native.Cancellation()
        ended: concurrent.futures.Future[Report] = concurrent.futures.Future()
        # A running future stays one that the thread can complete when its waiter is cancelled.
        ended.set_running_or_notify_cancel()

        def work() -> None:
            _cancellation.set(cancellation)
            try:
                ended.set_result(function(*args, **kwargs))
            except BaseException as error:
                ended.set_exception(error)

        run_in_thread(work)
        waiter = asyncio.wrap_future(ended)
        try:
            return await asyncio.shield(waiter)
        except asyncio.CancelledError:
            cancellation.cancel()
            # The folder is in use until the thread has ended.
            await asyncio.wait([waiter])
            waiter.exception()
            raise

    return run


aexperiment = _asynchronous(experiment)


def _read_cases(cases: Cases) -> tuple[str | None, str | None]:
    """The path of a file of cases, or cases as JSON lines."""
    if isinstance(cases, (str, os.PathLike)):
        return os.fspath(cases), None
    if isinstance(cases, (Mapping, bytes)) or not isinstance(cases, Iterable):
        raise TypeError("expected a path or a list of cases as `cases`")
    return None, "".join(map(_line, cases))


def _line(case: Any) -> str:
    """A case as a line of JSON."""
    if isinstance(case, str):
        case = {"input": case}
    elif not isinstance(case, Mapping):
        raise TypeError(f"expected a dictionary or a message as a case, found {type(case).__name__}")
    return json.dumps(dict(case), allow_nan=False) + "\n"


def _check(options: dict[str, Any]) -> None:
    """Check what JSON cannot hold."""
    for name, value in options.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"expected a finite number as `{name}`")
