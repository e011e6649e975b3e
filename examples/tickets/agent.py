"""Stands in for a model: it calls the tool whose definition shares the most words with the message."""

import json
import os
import re
import subprocess
import sys

COMMAND = json.loads(os.environ["GRAMC_MCP_COMMAND"])
SERVER = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(method, **params):
    print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), file=SERVER.stdin, flush=True)
    return next(reply for reply in map(json.loads, SERVER.stdout) if reply.get("id") == 1)["result"]


def words(text):
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def answer(message):
    tool = max(TOOLS, key=lambda tool: len(words(json.dumps(tool)) & words(message)))
    number = re.search(r"\d+", message)
    values = {"string": message, "integer": number and int(number[0])}
    properties = tool["inputSchema"]["properties"]
    arguments = {name: values[schema["type"]] for name, schema in properties.items()}
    return ask("tools/call", name=tool["name"], arguments=arguments)["content"][0]["text"]


client = {"name": "agent", "version": "1"}
ask("initialize", protocolVersion="2025-06-18", capabilities={"elicitation": {}}, clientInfo=client)
print('{"jsonrpc": "2.0", "method": "notifications/initialized"}', file=SERVER.stdin, flush=True)
TOOLS = ask("tools/list")["tools"]
for line in sys.stdin:
    print(json.dumps({"output": answer(json.loads(line)["input"])}), flush=True)
