"""What the loop of pydantic-ai costs an iteration, with the model that it has for tests.

Prints microseconds. Each run calls one tool, which adds two numbers, and asks the model twice.
"""

import asyncio
import time

from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

RUNS = 300
ITERATIONS = 2

agent = Agent(TestModel(), instructions="You add numbers.")


@agent.tool_plain
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b


async def main():
    for _ in range(20):
        await agent.run("1 and 2")
    start = time.perf_counter()
    for _ in range(RUNS):
        await agent.run("1 and 2")
    print((time.perf_counter() - start) * 1e6 / RUNS / ITERATIONS)


asyncio.run(main())
