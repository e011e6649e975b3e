"""The tool of the bench `mcp` as a FastMCP server: fastmcp_server.py [PORT]."""

import sys

from fastmcp import FastMCP

server = FastMCP("bench")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b


if len(sys.argv) > 1:
    # Connections wait while the other servers have their turns.
    options = {"timeout_keep_alive": 600}
    server.run(
        transport="http",
        host="127.0.0.1",
        port=int(sys.argv[1]),
        show_banner=False,
        uvicorn_config=options,
    )
else:
    server.run(show_banner=False)
