"""An agent of Pydantic AI that streams, calls tools in parallel, and serves several users at once."""

import asyncio
import json
import sys
from datetime import date

import gramc
from pydantic_ai import Agent, FunctionToolset, RunContext
from pydantic_ai.messages import FunctionToolResultEvent, ModelResponse
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

CALLS = {
    "valid": ['{"city": "Vienna", "days": ["2026-05-01"]}', '{"city": "Graz", "days": ["2026-05-02", "2026-05-03"]}'],
    "broken": ['{"city": "Vienna", "days": "[\\"2026-05-01\\"]"}', '{"city": "Graz", "days": ["2026-05-02", "2026-05-03",]}'],
}  # fmt: skip

weather = FunctionToolset[str]()


@weather.tool
async def forecast(ctx: RunContext[str], city: str, days: list[date]) -> dict[str, str]:
    """Returns the weather."""
    await asyncio.sleep(0.01)
    assert all(isinstance(day, date) for day in days)
    return {f"{city} on {day:%d %B}": f"sunny for {ctx.deps}" for day in days}


async def model(messages, info):
    if any(isinstance(message, ModelResponse) for message in messages):
        yield "It will be "
        yield "sunny"
        return
    for at, text in enumerate(CALLS[sys.argv[1]]):
        yield {at: DeltaToolCall(name="forecast", tool_call_id=str(at))}
        for start in range(0, len(text), 7):
            yield {at: DeltaToolCall(json_args=text[start : start + 7])}


agent = Agent(FunctionModel(stream_function=model), deps_type=str, toolsets=[gramc.guard(weather)])


async def serve(user):
    results, text = {}, ""
    async with agent.run_stream_events("How is the weather?", deps=user) as events:
        async for event in events:
            if isinstance(event, FunctionToolResultEvent):
                results[event.part.tool_call_id] = event.part.content
            elif event.event_kind == "agent_run_result":
                text = event.result.output
    return [user, results, text]


async def main():
    return await asyncio.gather(*(serve(user) for user in ("Ada", "Grace", "Alan")))


print(json.dumps(asyncio.run(main()), indent=1, sort_keys=True))
