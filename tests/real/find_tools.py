"""How often a small model calls the right one of 600 tools, which `gramc mcp --search` finds for it.

The tools and requests are those of the Berkeley Function Calling Leaderboard. The model is the one of
`llama.py`. It first writes a call of `find_tools`, then it sees the definitions that were found and calls
one of them. With `--all`, it sees the definitions of as many of the 600 tools as its context holds
instead. Both times, llama.cpp lets it write only calls of tools that it sees. The last line is a JSON object
with the counts.

    python3 find_tools.py GRAMC DATA [--tasks 50] [--all]
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import urllib.request

CATEGORIES = ["simple_python", "multiple", "live_simple", "live_multiple"]
TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array"}
TOOLS = 600
TASKS = 50
SEED = 7
CONTEXT = 4096
# Tokens of the context that are kept for the request and the call.
REST = 200

# Requests with the calls that show the model how it is done.
FINDS = [
    ("I need a table for two tonight.", {"query": "reserve a table at a restaurant"}),
    ("How many euros are 20 dollars?", {"query": "convert an amount to another currency"}),
    ("Who wrote the novel Dracula?", {"query": "look up the author of a book"}),
]
CALLS = [
    ("I need a table for two tonight.", "restaurant.reserve", {"people": 2, "day": "tonight"}),
    ("How many euros are 20 dollars?", "convert_currency", {"amount": 20, "from": "USD", "to": "EUR"}),
]


def schema(python):
    """A schema of the benchmark, whose types are those of Python, in JSON Schema."""
    if not isinstance(python, dict):
        return python
    found = {}
    for key, value in python.items():
        if key in ("default", "optional") or (key, value) == ("type", "any"):
            continue
        if key == "type" and isinstance(value, str):
            value = TYPES.get(value, value)
        elif key == "properties":
            value = {name: schema(part) for name, part in value.items()}
        elif key in ("items", "additionalProperties"):
            value = schema(value)
        found[key] = value
    return found


def benchmark(data):
    """The tools, and requests with the names of the tools that answer them."""
    lines = lambda file: [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    tools, tasks = {}, []
    for category in CATEGORIES:
        file = f"BFCL_v4_{category}.json"
        answers = {it["id"]: it["ground_truth"] for it in lines(data / "possible_answer" / file)}
        for line in lines(data / file):
            for function in line["function"]:
                tool = {"name": function["name"], "description": function["description"]}
                tools.setdefault(tool["name"], tool | {"inputSchema": schema(function["parameters"])})
            request, name = line["question"][0][-1]["content"], next(iter(answers[line["id"]][0]))
            if len(request) < REST:
                tasks.append((request, name))
    rng = random.Random(SEED)
    tasks = rng.sample([task for task in tasks if task[1] in tools], TASKS)
    needed = {name for _, name in tasks}
    names = sorted(needed) + rng.sample([name for name in tools if name not in needed], TOOLS - len(needed))
    rng.shuffle(names)
    return [tools[name] for name in names], tasks


class Model:
    def __init__(self):
        server = pathlib.Path(__file__).with_name("llama.py")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([sys.executable, server], text=True, **pipes)
        self.address = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def ask(self, path, body):
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)

    def tokens(self, text):
        return len(self.ask("/tokenize", {"content": text})["tokens"])

    def call(self, tools, shown, request):
        """The call that the model writes, its name and the text of its arguments, and the tokens that it read."""
        calls = [
            {
                "type": "object",
                "properties": {"name": {"const": tool["name"]}, "arguments": tool["inputSchema"]},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for tool in tools
        ]
        body = {
            "prompt": prompt(tools, shown, request),
            "json_schema": {"anyOf": calls},
            "n_predict": 128,
            "temperature": 0,
            "cache_prompt": True,
        }
        answer = self.ask("/completion", body)
        name = re.search(r'"name":\s*"([^"]+)"', answer["content"])
        arguments = re.search(r'"arguments":\s*(.*)\}', answer["content"], re.DOTALL)
        found = name and name.group(1), arguments.group(1) if arguments else ""
        return *found, answer["tokens_evaluated"]


def prompt(tools, shown, request):
    turn = lambda role, text: f"<|im_start|>{role}\n{text}<|im_end|>\n"
    keys = ("name", "description", "inputSchema")
    defined = json.dumps([{key: tool[key] for key in keys} for tool in tools])
    text = turn("system", f"You have tools: {defined}")
    for question, name, arguments in shown:
        call = json.dumps({"name": name, "arguments": arguments})
        text += turn("user", question) + turn("assistant", f"<tool_call>\n{call}\n</tool_call>")
    return f"{text}{turn('user', request)}<|im_start|>assistant\n<tool_call>\n"


class Server:
    """`gramc mcp --search` in front of the tools."""

    def __init__(self, gramc, tools):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(tools, self.file)
        self.file.flush()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        words = [gramc, "mcp", self.file.name, "--fake", "--search"]
        self.process, self.id = subprocess.Popen(words, text=True, **pipes), 0
        client = {"clientInfo": {"name": "find_tools.py", "version": "1"}, "capabilities": {}}
        self.ask("initialize", {"protocolVersion": "2025-06-18"} | client)
        self.say({"method": "notifications/initialized"})

    def say(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.id += 1
        self.say({"id": self.id, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.id:
                return answer["result"]

    def call(self, name, arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})


def with_search(model, gramc, tools, tasks):
    server = Server(gramc, tools)
    find, _ = server.ask("tools/list", {})["tools"]
    shown = [(request, "find_tools", arguments) for request, arguments in FINDS]
    counts = {"found": 0, "right": 0, "valid": 0, "tokens": 0}
    for request, wanted in tasks:
        name, arguments, tokens = model.call([find], shown, request)
        found = server.call("find_tools", arguments).get("structuredContent", {}).get("tools", [])
        counts["found"] += wanted in [tool["name"] for tool in found]
        if found:
            name, arguments, more = model.call(found, CALLS, request)
            answer = server.call("call_tool", {"name": name, "arguments": arguments})
            counts["right"] += name == wanted
            counts["valid"] += name == wanted and not answer["isError"]
            tokens += more
        counts["tokens"] += tokens
        print(f"{wanted}: called {name}", flush=True)
    return counts


def with_all(model, visible, tasks):
    counts = {"right": 0, "tokens": 0}
    for request, wanted in tasks:
        name, _, tokens = model.call(visible, CALLS, request)
        counts["right"] += name == wanted
        counts["tokens"] += tokens
        print(f"{wanted}: called {name}", flush=True)
    return counts


def fitting(model, tools):
    """As many of the tools as the context holds."""
    for count in range(1, len(tools)):
        if model.tokens(prompt(tools[:count], CALLS, "")) > CONTEXT - REST:
            return tools[: count - 1]
    return tools


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gramc")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    tools, tasks = benchmark(args.data)
    tasks = tasks[: args.tasks]
    model = Model()
    visible = fitting(model, tools)
    if args.all:
        counts = with_all(model, visible, tasks)
    else:
        counts = with_search(model, args.gramc, tools, tasks)
    names = [tool["name"] for tool in visible]
    counts["fitting"] = len(visible)
    counts["answerable"] = sum(wanted in names for _, wanted in tasks)
    counts["definitions"] = model.tokens(json.dumps(tools))
    print(json.dumps({"tasks": len(tasks)} | counts))


main()
