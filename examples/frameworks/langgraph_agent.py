"""An agent of LangGraph. gramc starts it for each run; GRAMC_MCP_COMMAND starts its tools."""

import asyncio
import json
import os
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI


async def main():
    command, *arguments = json.loads(os.environ["GRAMC_MCP_COMMAND"])
    server = {"transport": "stdio", "command": command, "args": arguments}
    messages = []
    async with MultiServerMCPClient({"tools": server}).session("tools") as session:
        tools = await load_mcp_tools(session)
        for line in sys.stdin:
            message = json.loads(line)
            agent = create_agent(
                ChatOpenAI(model=message["model"].removeprefix("openai/")),
                tools,
                system_prompt=message.get("instruction"),
            )
            before = len(messages)
            messages.append({"role": "user", "content": message["input"]})
            messages = (await agent.ainvoke({"messages": messages}))["messages"]
            replies = [reply for reply in messages[before:] if reply.type == "ai"]
            usage = [reply.usage_metadata or {} for reply in replies]
            answer = {
                "output": messages[-1].text,
                "usage": {
                    "input_tokens": sum(it.get("input_tokens", 0) for it in usage),
                    "output_tokens": sum(it.get("output_tokens", 0) for it in usage),
                    "requests": len(replies),
                },
            }
            print(json.dumps(answer), flush=True)


asyncio.run(main())
