"""Agents of the OpenAI Agents SDK with a context, parallel calls, an approval, and several users."""

import asyncio
import json
import sys
from dataclasses import dataclass, field

import gramc
from agents import Agent, ModelResponse, RunConfig, RunContextWrapper, Runner, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

CALLS = {
    "valid": [
        ("seats", '{"flight": "OS 1", "rows": [3, 4]}'),
        ("book", '{"flight": "OS 1", "seats": [{"row": 3, "letter": "A"}]}'),
        ("cancel", '{"flight": "OS 1"}'),
    ],
    "broken": [
        ("seats", '{"flight": "OS 1", "rows": "[3, 4]"}'),
        ("book", '{"flight": "OS 1", "seats": ["{\\"row\\": 3, \\"letter\\": \\"A\\"}"],}'),
        ("cancel", '{"flight": "OS 1", }'),
    ],
}


@dataclass
class Seat:
    row: int
    letter: str


@dataclass
class Booking:
    user: str
    log: list = field(default_factory=list)


@function_tool
def seats(wrapper: RunContextWrapper[Booking], flight: str, rows: list[int], window: bool = True) -> list[str]:
    """Lists free seats.

    Args:
        flight: The number of the flight.
        rows: The rows.
        window: Only seats at a window.
    """
    wrapper.context.log.append([flight, rows, window])
    return [f"{row}A" for row in rows]


@function_tool
async def book(wrapper: RunContextWrapper[Booking], flight: str, seats: list[Seat]) -> str:
    """Books seats."""
    await asyncio.sleep(0.01)
    taken = ", ".join(f"{seat.row}{seat.letter}" for seat in seats)
    wrapper.context.log.append([flight, taken])
    return f"{taken} for {wrapper.context.user}"


@function_tool(needs_approval=True)
def cancel(wrapper: RunContextWrapper[Booking], flight: str) -> str:
    """Cancels a flight."""
    wrapper.context.log.append(["cancelled", flight])
    return "cancelled"


class Script(Model):
    """Makes two calls in parallel, then the third one, and answers."""

    async def get_response(self, system_instructions, input, model_settings, tools, *rest, **options):
        definitions = [[tool.name, tool.description, tool.params_json_schema] for tool in tools]
        outputs = [item["output"] for item in input if item.get("type") == "function_call_output"]
        calls = CALLS[sys.argv[1]]
        chosen = calls[:2] if not outputs else calls[len(outputs) :]
        if not chosen:
            text = json.dumps([definitions, outputs])
            part = ResponseOutputText(annotations=[], text=text, type="output_text")
            message = ResponseOutputMessage(
                id="m", content=[part], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(requests=1), response_id=None)
        made = [
            ResponseFunctionToolCall(name=name, arguments=text, call_id=name, type="function_call")
            for name, text in chosen
        ]
        return ModelResponse(output=made, usage=Usage(requests=1), response_id=None)

    def stream_response(self, *arguments, **options):
        raise NotImplementedError


tools = [seats, book, cancel]
agent = Agent[Booking](name="travel", model=Script(), tools=gramc.guard(tools))


async def serve(user):
    booking = Booking(user)
    config = RunConfig(tracing_disabled=True)
    result = await Runner.run(agent, "Book", context=booking, run_config=config)
    approved = []
    while result.interruptions:
        state = result.to_state()
        for interruption in result.interruptions:
            approved.append(interruption.name)
            state.approve(interruption)
        result = await Runner.run(agent, state, run_config=config)
    return [user, booking.log, approved, json.loads(result.final_output)]


async def main():
    return await asyncio.gather(*(serve(user) for user in ("Ada", "Grace")))


print(json.dumps(asyncio.run(main()), indent=1))
