"""A loop over the tool calls of a LangChain chat model, with a typed tool, an artifact and a failing tool."""

import asyncio
import json
import sys
from typing import Literal, Optional

import gramc
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field

CALLS = {
    "valid": [
        ("search", {"words": ["red", "shoe"], "filters": {"size": 42}}),
        ("order", {"item": 7, "speed": "fast"}),
        ("order", {"item": 13}),
    ],
    "broken": [
        ("search", {"words": '["red", "shoe"]', "filters": '{"size": 42}'}),
        ("order", {"item": "7 ", "speed": "FAST"}),
        ("order", {"item": 13}),
    ],
}


class Filters(BaseModel):
    size: int = Field(ge=20, le=50, description="Size in Europe.")
    colour: Optional[str] = None


@tool(response_format="content_and_artifact")
def search(words: list[str], filters: Filters) -> tuple[str, dict]:
    """Searches the shop."""
    assert isinstance(filters, Filters)
    return f"found {' '.join(words)} in {filters.size}", {"words": words}


@tool
async def order(item: int, speed: Literal["fast", "slow"] = "slow") -> str:
    """Orders an item."""
    if item == 13:
        raise ToolException("sold out")
    return f"ordered {item}, {speed}"


order.handle_tool_error = True
tools = [search, order]
tools = gramc.guard(tools)


async def main():
    script = [
        AIMessage("", tool_calls=[{"id": str(at), "name": name, "args": arguments}])
        for at, (name, arguments) in enumerate(CALLS[sys.argv[1]])
    ]
    model = GenericFakeChatModel(messages=iter([*script, AIMessage("Done")]))
    by_name = {tool.name: tool for tool in tools}
    messages = [HumanMessage("Buy red shoes")]
    while True:
        reply = await model.ainvoke(messages)
        messages.append(reply)
        if not reply.tool_calls:
            break
        for call in reply.tool_calls:
            messages.append(await by_name[call["name"]].ainvoke(call))
    definitions = [convert_to_openai_tool(tool) for tool in tools]
    results = [[one.content, one.status, one.artifact] for one in messages if one.type == "tool"]
    return [definitions, results, messages[-1].content]


print(json.dumps(asyncio.run(main()), indent=1))
