"""Compares gramc with pydantic and Pydantic AI, in one process and in turn.

Run it with a release build of the package: `pip install ./bindings/gramc-python` and
`python bindings/gramc-python/benches/speed.py`. Each figure is the median of fifteen rounds, in microseconds
per call. Checks include reading the arguments.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

import pydantic
from pydantic_ai import RunContext, RunUsage
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.toolsets import FunctionToolset

import gramc

ROUNDS = 15
SPEC = """[stay:Tool | (city::Text)==>(nights::Int {range: 1..30})==>(price::Number)
  ==>(board::"none"|"half"|"full")==>(guests::Text[])==>(::Number)]"""
ARGUMENTS = {"city": "Vienna", "nights": 3, "price": 80.5, "board": "half", "guests": ["Ada", "Grace"]}
TEXT = json.dumps(ARGUMENTS)


class Stay(pydantic.BaseModel):
    city: str
    nights: Annotated[int, pydantic.Field(ge=1, le=30)]
    price: float
    board: Literal["none", "half", "full"]
    guests: list[str]


def stay(
    city: str,
    nights: Annotated[int, pydantic.Field(ge=1, le=30)],
    price: float,
    board: Literal["none", "half", "full"],
    guests: list[str],
) -> float:
    """Returns the price."""
    return nights * price


async def stay_async(
    city: str, nights: int, price: float, board: str, guests: list[str]
) -> float:
    return nights * price


def measure(work: dict[str, Callable[[int], Awaitable[None]]], count: int) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS):
        for name, run in work.items():
            start = time.perf_counter()
            asyncio.run(run(count))
            found[name].append((time.perf_counter() - start) / count * 1e6)
    return {name: statistics.median(times) for name, times in found.items()}


def main() -> None:
    spec = gramc.loads(SPEC)
    library = gramc.ToolLibrary("plain", throttle="off")
    library.add("stay", stay)
    session = spec.bind(library).session()
    library = gramc.ToolLibrary("direct", throttle="off", threads=False)
    library.add("stay", stay)
    direct = spec.bind(library).session()
    library = gramc.ToolLibrary("async", throttle="off")
    library.add("stay", stay_async)
    asynchronous = spec.bind(library).session()
    assert session.call("stay", TEXT).result == 241.5

    async def validate(count: int) -> None:
        for _ in range(count):
            _ = spec.validate("stay", TEXT).arguments

    async def validate_dict(count: int) -> None:
        for _ in range(count):
            _ = spec.validate("stay", ARGUMENTS).arguments

    async def validate_json(count: int) -> None:
        for _ in range(count):
            Stay.model_validate_json(TEXT)

    async def validate_python(count: int) -> None:
        for _ in range(count):
            Stay.model_validate(ARGUMENTS)

    async def call(count: int) -> None:
        for _ in range(count):
            session.call("stay", TEXT)

    async def call_directly(count: int) -> None:
        for _ in range(count):
            direct.call("stay", TEXT)

    async def acall(count: int) -> None:
        for _ in range(count):
            await asynchronous.acall("stay", TEXT)

    async def pydantic_ai(count: int) -> None:
        context: RunContext[Any] = RunContext(deps=None, model=TestModel(), usage=RunUsage())
        manager = await ToolManager(FunctionToolset([stay])).for_run_step(context)
        for _ in range(count):
            Stay.model_validate_json(TEXT)
            assert await manager.handle_call(ToolCallPart("stay", TEXT, "c")) == 241.5

    checks = measure(
        {
            "validate text": validate,
            "pydantic text": validate_json,
            "validate dict": validate_dict,
            "pydantic dict": validate_python,
        },
        20_000,
    )
    calls = measure(
        {
            "session.call": call,
            "threads=False": call_directly,
            "session.acall": acall,
            "pydantic-ai": pydantic_ai,
        },
        1_000,
    )
    for name, time_of_call in {**checks, **calls}.items():
        print(f"{name:24} {time_of_call:9.2f} us")
    for kind in ("text", "dict"):
        ratio = checks[f"pydantic {kind}"] / checks[f"validate {kind}"]
        print(f"validate {kind}: {ratio:.2f} times as fast")
    for name in ("session.call", "threads=False", "session.acall"):
        print(f"{name}: {calls['pydantic-ai'] / calls[name]:.2f} times as fast")
    for threads in (1, 2, 8):
        print(f"{threads} threads: {rate(spec, threads):,.0f} checks a second")


def rate(spec: gramc.Specification, count: int) -> float:
    def work() -> None:
        for _ in range(40_000 // count):
            spec.validate("stay", TEXT)

    threads = [threading.Thread(target=work) for _ in range(count)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 40_000 / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
