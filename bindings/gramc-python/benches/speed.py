"""Compares gramc with pydantic and Pydantic AI, in one process and in turn.

Run it with a release build of the package: `pip install ./bindings/gramc-python` and
`python bindings/gramc-python/benches/speed.py`. Each figure is the best of nine rounds, in microseconds per
call.
"""

from __future__ import annotations

import asyncio
import json
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

ROUNDS = 9
SPEC = """[stay:Tool | (city::Text)==>(nights::Int {range: 1..30})==>(price::Number)
  ==>(board::"none"|"half"|"full")==>(guests::Text[])==>(::Number)]"""
TEXT = json.dumps(
    {"city": "Vienna", "nights": 3, "price": 80.5, "board": "half", "guests": ["Ada", "Grace"]}
)


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
    best = dict.fromkeys(work, float("inf"))
    for _ in range(ROUNDS):
        for name, run in work.items():
            start = time.perf_counter()
            asyncio.run(run(count))
            best[name] = min(best[name], (time.perf_counter() - start) / count * 1e6)
    return best


def main() -> None:
    spec = gramc.loads(SPEC)
    library = gramc.ToolLibrary("plain", throttle="off")
    library.add("stay", stay)
    session = spec.bind(library).session()
    library = gramc.ToolLibrary("async", throttle="off")
    library.add("stay", stay_async)
    asynchronous = spec.bind(library).session()
    assert session.call("stay", TEXT).result == 241.5

    async def validate(count: int) -> None:
        for _ in range(count):
            spec.validate("stay", TEXT)

    async def validate_json(count: int) -> None:
        for _ in range(count):
            Stay.model_validate_json(TEXT)

    async def call(count: int) -> None:
        for _ in range(count):
            session.call("stay", TEXT)

    async def acall(count: int) -> None:
        for _ in range(count):
            await asynchronous.acall("stay", TEXT)

    async def pydantic_ai(count: int) -> None:
        context: RunContext[Any] = RunContext(deps=None, model=TestModel(), usage=RunUsage())
        manager = await ToolManager(FunctionToolset([stay])).for_run_step(context)
        for _ in range(count):
            Stay.model_validate_json(TEXT)
            assert await manager.handle_call(ToolCallPart("stay", TEXT, "c")) == 241.5

    checks = measure({"spec.validate": validate, "pydantic validate_json": validate_json}, 20_000)
    calls = measure({"session.call": call, "session.acall": acall, "pydantic-ai": pydantic_ai}, 1_000)
    for name, best in {**checks, **calls}.items():
        print(f"{name:24} {best:9.2f} us")
    print(f"validate: {checks['pydantic validate_json'] / checks['spec.validate']:.2f} times as fast")
    for name in ("session.call", "session.acall"):
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
