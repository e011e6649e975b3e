"""The official Python client of MCP, against a server: client.py MODE URL, or client.py MODE WORD…

MODE is how the client begins: `auto` or `legacy`. It lists the tools, calls the one without container,
calls the container, and lists once more. Prints one JSON object.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main():
    mode, *words = sys.argv[1:]
    server = words[0] if "://" in words[0] else StdioServerParameters(command=words[0], args=words[1:])
    async with Client(server, mode=mode) as client:
        before = await client.list_tools()
        called = await client.call_tool("greet", {"name": "Ada"})
        refused = await client.call_tool("greet", {"name": 5})
        await client.call_tool("maths", {})
        after = await client.list_tools()
        summed = await client.call_tool("add", {"a": "1", "b": 2})
        answer = {
            "version": client.protocol_version,
            "before": [tool.name for tool in before.tools],
            "called": called.content[0].text,
            "refused": [refused.is_error, refused.content[0].text],
            "after": [tool.name for tool in after.tools],
            "summed": summed.content[0].text,
        }
        print(json.dumps(answer))


asyncio.run(main())
