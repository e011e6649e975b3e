"""An MCP server with the tools of a help desk, which checks nothing and describes its tools badly."""

import json
import sys

TICKETS = {7: "The printer on floor 2 is jammed", 8: "Ada cannot log in", 9: "A new laptop for Grace"}


def tool(name, description, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "inputSchema": schema}


TEXT, NUMBER = {"type": "string"}, {"type": "integer", "minimum": 1}
TOOLS = [
    tool("search", "Search", text=TEXT),
    tool("fetch", "Fetch an item", id=NUMBER),
    tool("close", "Close an item", id=NUMBER),
    tool("assign", "Assign", id=NUMBER, person=TEXT),
]


def call(name, arguments):
    if name == "search":
        return "\n".join(title for title in TICKETS.values() if arguments["text"].lower() in title.lower())
    title = TICKETS[arguments["id"]]
    return title if name == "fetch" else f"Done: {title}"


for line in sys.stdin:
    request = json.loads(line)
    result = {}
    if request["method"] == "initialize":
        version = request["params"]["protocolVersion"]
        info = {"name": "tickets", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif request["method"] == "tools/list":
        result = {"tools": TOOLS}
    elif request["method"] == "tools/call":
        text = call(request["params"]["name"], request["params"]["arguments"])
        result = {"content": [{"type": "text", "text": text}]}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
