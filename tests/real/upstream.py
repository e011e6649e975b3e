"""A well-behaved MCP server over standard input and output, to put a guard in front of.

    upstream.py [TOOLS [PIDS [NAME]]]

TOOLS is a JSON file with the list of tools, by default or if it does not exist the list below. PIDS
gets the id of each process that is started. NAME is the name of a further resource and prompt. Each process counts its own calls of `count`. Only the
standard library is used.
"""

import json
import os
import sys
import threading
import time

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "say", "inputSchema": TEXT},
    {"name": "result", "inputSchema": TEXT},
    {
        "name": "weather",
        "inputSchema": TEXT,
        "outputSchema": {
            "type": "object",
            "properties": {"degrees": {"type": "number"}},
            "required": ["degrees"],
        },
    },
    {"name": "count", "inputSchema": NOTHING},
    {"name": "work", "inputSchema": NOTHING},
    {"name": "wait", "inputSchema": NOTHING},
    {"name": "ask", "inputSchema": TEXT},
    {"name": "change", "inputSchema": NOTHING},
]
RESOURCES = [
    {"uri": "test://text", "name": "text", "mimeType": "text/plain", "_meta": {"own/key": 1.50}},
    {"uri": "test://blob", "name": "blob"},
]
TEMPLATES = [{"uriTemplate": "test://item/{id}", "name": "item"}]
PROMPTS = [{"name": "greet", "arguments": [{"name": "who", "required": True}], "_meta": {"a": 1}}]
if len(sys.argv) > 3:
    RESOURCES.append({"uri": "test://" + sys.argv[3], "name": sys.argv[3]})
    PROMPTS.append({"name": sys.argv[3]})
CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "completions": {},
}

output = threading.Lock()
tasks = {}
state = {"count": 0, "level": "warning", "asked": 0, "client": {}}
# The replies of the client, by the ids of our requests.
replies = {}
arrived = threading.Condition()
cancelled = set()


def say(message):
    with output:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def note(method, params=None):
    say({"method": method, **({} if params is None else {"params": params})})


def ask(method, params):
    """Sends a request to the client, and waits for its reply."""
    with arrived:
        state["asked"] += 1
        number = state["asked"]
    say({"id": number, "method": method, "params": params})
    with arrived:
        arrived.wait_for(lambda: number in replies, timeout=30)
        return replies.pop(number, {"error": {"message": "no reply"}})


def words(text):
    return {"content": [{"type": "text", "text": text}]}


def call(request):
    params = request["params"]
    name, arguments = params["name"], params.get("arguments", {})
    if name in ("say", "weather") and arguments["text"].startswith("!"):
        return {**words(arguments["text"][1:]), "isError": True, "_meta": {"own/key": 1}}
    if name == "study":
        return {"error": {"code": -32601, "message": "the tool `study` only runs as a task"}}
    if name == "say":
        return words(arguments["text"])
    if name in ("result", "weather"):
        return json.loads(arguments["text"])
    if name == "count":
        state["count"] += 1
        return words(str(state["count"]))
    if name == "work":
        token = params.get("_meta", {}).get("progressToken")
        for step in range(1, 4):
            if token is not None:
                progress = {"progressToken": token, "progress": step, "total": 3}
                note("notifications/progress", {**progress, "message": "step %d" % step})
            note("notifications/message", {"level": "info", "logger": "work", "data": {"step": step}})
        return words("worked at the level " + state["level"])
    if name == "steps":
        token = params.get("_meta", {}).get("progressToken")
        for step in range(arguments["count"]):
            time.sleep(0.25)
            if arguments.get("progress"):
                note("notifications/progress", {"progressToken": token, "progress": step})
        return words("%d steps" % arguments["count"])
    if name == "wait":
        while request["id"] not in cancelled:
            time.sleep(0.01)
        with open("cancelled", "w", encoding="utf-8") as file:
            file.write("yes")
        return words("cancelled")
    if name == "ask":
        params = {"message": "Who?", "requestedSchema": NOTHING, "own": 1.50}
        reply = ask(arguments["text"], params)
        return words(json.dumps({"reply": reply, "client": state["client"]}))
    if name == "change":
        note("notifications/resources/list_changed")
        note("notifications/prompts/list_changed")
        note("notifications/resources/updated", {"uri": "test://text"})
        return words("changed")
    return {**words("unknown tool"), "isError": True}


def task(method, params):
    """The task `forever` ends when it is cancelled, others at once."""
    name = params["taskId"]
    if method == "tasks/cancel":
        tasks[name] = {**words("stopped"), "isError": True}
        with open("cancelled", "w", encoding="utf-8") as file:
            file.write(name)
        return {"taskId": name, "status": "cancelled"}
    while tasks[name] is None:
        time.sleep(0.01)
    return {**tasks[name], "_meta": {"io.modelcontextprotocol/related-task": {"taskId": name}}}


def instructions():
    if os.path.exists("instructions.txt"):
        with open("instructions.txt", encoding="utf-8") as file:
            return file.read()
    return "Ask before you act."


def result(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        state["client"] = params["capabilities"]
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": CAPABILITIES,
            "serverInfo": {"name": "upstream", "version": "1"},
            "instructions": instructions(),
        }
    if method == "tools/list":
        if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
            with open(sys.argv[1], encoding="utf-8") as file:
                return {"tools": json.load(file)}
        return {"tools": TOOLS}
    if method == "tools/call" and "task" in params:
        name = params["arguments"]["text"]
        tasks[name] = None if name == "forever" else words("studied " + name)
        return {"task": {"taskId": name, "status": "working", "ttl": None, "pollInterval": 5}}
    if method == "tools/call":
        return call(request)
    if method in ("tasks/result", "tasks/cancel"):
        return task(method, params)
    if method == "resources/list":
        # A page each.
        at = params.get("cursor", "0")
        if not at.isdigit():
            return {"error": {"code": -32602, "message": "invalid cursor"}}
        at = int(at)
        page = {"resources": RESOURCES[at : at + 1]}
        return {**page, "nextCursor": str(at + 1)} if at + 1 < len(RESOURCES) else page
    if method == "resources/templates/list":
        return {"resourceTemplates": TEMPLATES}
    if method == "resources/read":
        uri = params["uri"]
        if not uri.startswith("test://"):
            return {"error": {"code": -32002, "message": "no such resource", "data": {"uri": uri}}}
        return {"contents": [{"uri": uri, "text": "the text of " + uri, "_meta": {"own/key": 2}}]}
    if method == "prompts/list":
        return {"prompts": PROMPTS}
    if method == "prompts/get":
        text = "%s %s" % (params["name"], params.get("arguments", {}).get("who", "nobody"))
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
    if method == "completion/complete":
        return {"completion": {"values": ["Ada", "Alan"], "hasMore": False}}
    if method == "logging/setLevel":
        state["level"] = params["level"]
        return {}
    if method in ("resources/subscribe", "resources/unsubscribe", "ping"):
        return {}
    return None


def reply(request):
    answer = result(request)
    if answer is not None and "error" in answer:
        say({"id": request["id"], **answer})
    elif answer is None:
        say({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif request["id"] not in cancelled:
        say({"id": request["id"], "result": answer})


def main():
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write("%d\n" % os.getpid())
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            with arrived:
                replies[message["id"]] = {key: message[key] for key in ("result", "error") if key in message}
                arrived.notify_all()
        elif "id" in message:
            threading.Thread(target=reply, args=(message,), daemon=True).start()
        elif message["method"] == "notifications/cancelled":
            cancelled.add(message["params"]["requestId"])
        elif message["method"] == "notifications/roots/list_changed":
            note("notifications/message", {"level": "info", "data": "other roots"})


main()
