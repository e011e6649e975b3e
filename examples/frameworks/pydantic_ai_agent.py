"""An agent of pydantic-ai. gramc starts it for each run; GRAMC_MCP_URL is its tools."""

import asyncio
import json
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel


async def main():
    tools = MCPToolset(os.environ["GRAMC_MCP_URL"])
    history = []
    async with tools:
        for line in sys.stdin:
            message = json.loads(line)
            agent = Agent(
                OpenAIChatModel(message["model"].removeprefix("openai/")),
                instructions=message.get("instruction"),
                toolsets=[tools],
                retries=3,
            )
            result = await agent.run(message["input"], message_history=history)
            history = result.all_messages()
            usage = result.usage
            answer = {
                "output": result.output,
                "usage": {
                    "input_tokens": usage.input_tokens,
                    "output_tokens": usage.output_tokens,
                    "requests": usage.requests,
                },
            }
            print(json.dumps(answer), flush=True)


asyncio.run(main())
