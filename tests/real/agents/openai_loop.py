"""A loop of one's own over the tool calls of the openai client, with parallel calls and a session object."""

import contextvars
import json
import sys
from datetime import date
from enum import Enum

import gramc
import httpx
import openai
from pydantic import TypeAdapter

CALLS = {
    "valid": [
        ("book", '{"room": "double", "nights": ["2026-05-01", "2026-05-02"]}'),
        ("greet", '{"names": ["Ada", "Grace"]}'),
        ("greet", '{"names": []}'),
    ],
    "broken": [
        ("book", '{"room": "double", "nights": "[\\"2026-05-01\\", \\"2026-05-02\\"]"}'),
        ("greet", '{"names": "[\\"Ada\\", \\"Grace\\"]"}'),
        ("greet", '{"names": []}'),
    ],
}

user = contextvars.ContextVar("user")


class Room(Enum):
    single = "single"
    double = "double"


def book(room: Room, nights: list[date]) -> str:
    """Books a room."""
    room, nights = TypeAdapter(Room).validate_python(room), TypeAdapter(list[date]).validate_python(nights)
    return f"{room.name} from {min(nights):%d %B} for {user.get()}"


def greet(names: list[str]) -> str:
    """Greets people."""
    if not names:
        raise LookupError("nobody is there")
    return f"Hello {' and '.join(names)}"


def answer(request: httpx.Request) -> httpx.Response:
    """The model: makes all calls in one reply, and then repeats the results."""
    messages = json.loads(request.content)["messages"]
    results = [message["content"] for message in messages if message["role"] == "tool"]
    message = {"role": "assistant", "content": json.dumps(results)}
    if not results:
        message = {"role": "assistant", "content": None, "tool_calls": [
            {"id": str(at), "type": "function", "function": {"name": name, "arguments": text}}
            for at, (name, text) in enumerate(CALLS[sys.argv[1]])
        ]}  # fmt: skip
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    reply = {"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return httpx.Response(200, json=reply)


functions = {"book": book, "greet": greet}
functions = gramc.guard(functions)
client = openai.OpenAI(api_key="k", http_client=httpx.Client(transport=httpx.MockTransport(answer)))


def run_call(call) -> str:
    try:
        return functions[call.function.name](**json.loads(call.function.arguments))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def serve(name: str) -> str:
    user.set(name)
    messages: list = [{"role": "user", "content": "Book"}]
    while True:
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": run_call(call)})


print(json.dumps([json.loads(serve(name)) for name in ("Ada", "Grace")], indent=1))
