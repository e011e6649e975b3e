"""An agent of the OpenAI Agents SDK. gramc starts it for each run; GRAMC_MCP_URL is its tools."""

import asyncio
import json
import os
import sys

from agents import Agent, Runner, set_default_openai_api, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

set_default_openai_api("chat_completions")
set_tracing_disabled(True)


async def main():
    history = []
    async with MCPServerStreamableHttp({"url": os.environ["GRAMC_MCP_URL"]}) as tools:
        for line in sys.stdin:
            message = json.loads(line)
            agent = Agent(
                name="agent",
                instructions=message.get("instruction"),
                model=message["model"].removeprefix("openai/"),
                mcp_servers=[tools],
            )
            history.append({"role": "user", "content": message["input"]})
            result = await Runner.run(agent, history)
            history = result.to_input_list()
            usage = result.context_wrapper.usage
            answer = {
                "output": result.final_output,
                "usage": {
                    "input_tokens": usage.input_tokens,
                    "output_tokens": usage.output_tokens,
                    "requests": usage.requests,
                },
            }
            print(json.dumps(answer), flush=True)


asyncio.run(main())
