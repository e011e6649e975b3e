"""Says whether the Python packages of model providers take the tools that gramc writes.

Standard input has one JSON object a line, {"target": NAME, "tools": OUTPUT}, where OUTPUT is what
`gramc compile --target NAME` writes. For each a verdict is written, in order:
{"target": NAME, "ok": true or false, "errors": [TEXT, …]}. The exit code is 0 if all are good, 1
if some are not, and 2 if this program itself is wrong: before it reads anything it judges tools that
are known to be good and tools that are known to be bad.

Nothing goes over a network. Each package checks the tools against its types, where it has strict
ones, and then makes a whole request of them, which is caught; the tools in it must be the ones that
were given. A package that drops or rewrites a part of a tool is thus found out.
"""

import copy
import json
import logging
import os
import sys

import anthropic
import botocore.config
import botocore.session
import httpx2
import jsonschema
import mcp_types
import openai
import pydantic
from anthropic.lib._parse._transform import transform_schema
from anthropic.types import JSONOutputFormatParam, ToolParam
from anthropic.types.tool_param import InputSchemaTyped
from google import genai
from openai.lib._pydantic import _ensure_strict_json_schema
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.chat.completion_create_params import Function
from openai.types.responses import FunctionToolParam, ResponseFormatTextJSONSchemaConfigParam
from openai.types.shared_params import ResponseFormatJSONSchema

OPENAI_NAME = r"^[a-zA-Z0-9_-]{1,64}$"
ANTHROPIC_NAME = r"^[a-zA-Z0-9_-]{1,128}$"
BEDROCK_NAME = r"^[a-zA-Z0-9_-]{1,64}$"


class Caught(Exception):
    """A request was made; this is its body."""


def catch(request):
    raise Caught(json.loads(request.content))


def sent_by(call):
    """The body of the request that `call` makes."""
    try:
        call()
    except Exception as error:
        # The packages wrap what their transport raises.
        while error is not None and not isinstance(error, Caught):
            error = error.__cause__ or error.__context__
        if error is None:
            raise
        return error.args[0]
    raise AssertionError("no request was made")


HTTP = httpx2.Client(transport=httpx2.MockTransport(catch))
OPENAI = openai.OpenAI(api_key="placeholder", http_client=HTTP, max_retries=0)
ANTHROPIC = anthropic.Anthropic(api_key="placeholder", http_client=HTTP, max_retries=0)
GEMINI = genai.Client(
    api_key="placeholder",
    vertexai=False,
    http_options=genai.types.HttpOptions(httpx_client=HTTP),
)


def bedrock_client():
    # Of the machine's own settings none is wanted.
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ["AWS_CONFIG_FILE"] = os.devnull
    os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
    session = botocore.session.Session()
    client = session.create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        aws_access_key_id="placeholder",
        aws_secret_access_key="placeholder",
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )

    def catch_bytes(request, **_more):
        raise Caught(json.loads(request.body))

    client.meta.events.register("before-send.bedrock-runtime.Converse", catch_bytes)
    return client


BEDROCK = bedrock_client()


def text(value):
    """A value as text that is equal for equal JSON only: 1, 1.0 and true are different."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def unchanged(given, got, what):
    """Errors where `got` is not `given`; the first difference is named."""
    if text(given) != text(got):
        yield "%s: %s" % (what, difference(given, got))


def difference(given, got, at="#"):
    if isinstance(given, dict) and isinstance(got, dict):
        for key in list(given) + [key for key in got if key not in given]:
            where = "%s/%s" % (at, key)
            if key not in got:
                return "%s is lost" % where
            if key not in given:
                return "%s is added" % where
            if text(given[key]) != text(got[key]):
                return difference(given[key], got[key], where)
    if isinstance(given, list) and isinstance(got, list) and len(given) == len(got):
        for index, (one, other) in enumerate(zip(given, got)):
            if text(one) != text(other):
                return difference(one, other, "%s/%d" % (at, index))
    return "%s becomes %s instead of %s" % (at, text(got)[:200], text(given)[:200])


def typed(type_, value, what):
    """Errors where a value is not of a package's type; keys that the type lacks are errors."""
    try:
        read = pydantic.TypeAdapter(type_).validate_python(copy.deepcopy(value), strict=True)
    except pydantic.ValidationError as error:
        for detail in error.errors():
            yield "%s: %s: %s" % (what, "/".join(map(str, detail["loc"])), detail["msg"])
    else:
        yield from unchanged(value, read, what)


def named(pattern, name):
    yield from schema_errors({"type": "string", "pattern": pattern}, name, "name")


def schema_errors(schema, value, what):
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        yield "%s: %s" % (what, error.message)


def good_schema(schema, what):
    """Errors of a schema itself, by the 2020-12 meta-schema."""
    yield from schema_errors(jsonschema.Draft202012Validator.META_SCHEMA, schema, what)


def openai_strict(schema):
    """The package makes a schema strict before it sends it; one that is strict stays as it is."""
    made = copy.deepcopy(schema)
    try:
        made = _ensure_strict_json_schema(made, path=(), root=made)
    except Exception as error:
        yield "the schema cannot be made strict: %r" % error
        return
    yield from unchanged(sorted_required(schema), sorted_required(made), "made strict")


def sorted_required(schema):
    """A copy in which lists of required names are in order, which has no meaning."""
    if isinstance(schema, list):
        return [sorted_required(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: sorted(value)
        if key == "required" and isinstance(value, list) and all(isinstance(v, str) for v in value)
        else sorted_required(value)
        for key, value in schema.items()
    }


def anthropic_strict(schema):
    """The package moves what strict mode cannot hold into descriptions; a strict schema stays as
    it is. Two things that it does are no sign of that: it leaves out the type beside constants,
    and takes a default for something that strict mode cannot hold, though the API's
    documentation lists it as supported."""

    def plain(node, is_schema=True):
        if isinstance(node, list):
            return [plain(each) for each in node]
        if not isinstance(node, dict):
            return node
        if not is_schema:
            return {key: plain(value) for key, value in node.items()}
        kept = {
            key: plain(value, key not in ("properties", "$defs"))
            if key not in ("enum", "const", "required", "description")
            else value
            for key, value in node.items()
            if key != "default"
        }
        if "enum" in kept or "const" in kept:
            kept.pop("type", None)
        return kept

    try:
        made = transform_schema(plain(schema))
    except Exception as error:
        yield "the schema cannot be made strict: %r" % error
        return
    yield from unchanged(plain(schema), made, "made strict")


def one_list(tools):
    if not isinstance(tools, list):
        yield "the output is not a list"


def json_schema(tools):
    if not isinstance(tools, dict):
        yield "the output is not an object"
        return
    for name, schema in tools.items():
        yield from prefixed(name, good_schema(schema, "schema"))


def prefixed(name, errors):
    for error in errors:
        yield "%s: %s" % (name, error)


MESSAGES = [{"role": "user", "content": "Hello"}]


def chat(tools, strict=False):
    yield from one_list(tools)
    for tool in tools:
        function = tool.get("function") or {}
        errors = [
            *typed(ChatCompletionFunctionToolParam, tool, "tool"),
            *named(OPENAI_NAME, function.get("name")),
            *good_schema(function.get("parameters"), "parameters"),
        ]
        if strict:
            if function.get("strict") is not True:
                errors.append("`strict` is not true")
            errors.extend(openai_strict(function.get("parameters")))
        yield from prefixed(function.get("name"), errors)
    body = sent_by(
        lambda: OPENAI.chat.completions.create(model="m", messages=MESSAGES, tools=tools)
    )
    yield from unchanged(tools, body.get("tools"), "sent")


def chat_strict(tools):
    yield from chat(tools, strict=True)


def functions(tools):
    yield from one_list(tools)
    for tool in tools:
        errors = [
            *typed(Function, tool, "function"),
            *named(OPENAI_NAME, tool.get("name")),
            *good_schema(tool.get("parameters"), "parameters"),
        ]
        yield from prefixed(tool.get("name"), errors)
    body = sent_by(
        lambda: OPENAI.chat.completions.create(model="m", messages=MESSAGES, functions=tools)
    )
    yield from unchanged(tools, body.get("functions"), "sent")


def responses(tools):
    yield from one_list(tools)
    for tool in tools:
        errors = [
            *typed(FunctionToolParam, tool, "tool"),
            *named(OPENAI_NAME, tool.get("name")),
            *good_schema(tool.get("parameters"), "parameters"),
        ]
        if tool.get("strict") is True:
            errors.extend(openai_strict(tool.get("parameters")))
        yield from prefixed(tool.get("name"), errors)
    body = sent_by(lambda: OPENAI.responses.create(model="m", input="Hello", tools=tools))
    yield from unchanged(tools, body.get("tools"), "sent")


def claude(tools, strict=False):
    yield from one_list(tools)
    for tool in tools:
        schema = tool.get("input_schema")
        errors = [
            *typed(ToolParam, tool, "tool"),
            # The type of a tool takes any object for a schema; this is what it should be.
            *typed(InputSchemaTyped, schema, "input_schema"),
            *named(ANTHROPIC_NAME, tool.get("name")),
            *good_schema(schema, "input_schema"),
        ]
        if strict:
            if tool.get("strict") is not True:
                errors.append("`strict` is not true")
            errors.extend(anthropic_strict(schema))
        yield from prefixed(tool.get("name"), errors)
    body = sent_by(
        lambda: ANTHROPIC.messages.create(model="m", max_tokens=1, messages=MESSAGES, tools=tools)
    )
    yield from unchanged(tools, body.get("tools"), "sent")


def claude_strict(tools):
    yield from claude(tools, strict=True)


def gemini(tools, field="parameters", result="response"):
    yield from one_list(tools)
    for tool in tools:
        try:
            genai.types.Tool.model_validate_json(json.dumps(tool), strict=True)
        except pydantic.ValidationError as error:
            for detail in error.errors():
                yield "tool: %s: %s" % ("/".join(map(str, detail["loc"])), detail["msg"])
            return
        for function in tool.get("functionDeclarations") or []:
            for other in set(function) - {"name", "description", field, result}:
                yield "%s: `%s` stands where `%s` should" % (function.get("name"), other, field)
    config = genai.types.GenerateContentConfig(tools=tools)
    body = sent_by(
        lambda: GEMINI.models.generate_content(model="m", contents="Hello", config=config)
    )
    sent = body.get("tools")
    yield from unchanged(gemini_plain(tools), gemini_plain(sent), "sent")


def gemini_plain(tools):
    """A copy of tools without what the package changes: it writes keys with underscores and types
    in capitals, which the API takes as well, and leaves out a default that is null."""
    tools = copy.deepcopy(tools)
    for tool in tools or []:
        for function in tool.get("functionDeclarations") or []:
            for key, own in (
                ("parameters_json_schema", "parametersJsonSchema"),
                ("response_json_schema", "responseJsonSchema"),
            ):
                if key in function:
                    function[own] = function.pop(key)
            for key in ("parameters", "response"):
                if key in function:
                    function[key] = gemini_schema(function[key])
    return tools


def gemini_schema(node):
    plain = {}
    for key, value in node.items():
        first, *others = key.split("_")
        key = first + "".join(other.capitalize() for other in others)
        if value is None:
            continue
        if key == "type":
            value = value.upper()
        elif key in ("minimum", "maximum"):
            value = float(value)
        elif key == "properties":
            value = {name: gemini_schema(each) for name, each in value.items()}
        elif key == "items":
            value = gemini_schema(value)
        elif key == "anyOf":
            value = [gemini_schema(each) for each in value]
        plain[key] = value
    return plain


def gemini_json(tools):
    yield from gemini(tools, "parametersJsonSchema", "responseJsonSchema")
    for tool in tools:
        for function in tool.get("functionDeclarations") or []:
            for key in ("parametersJsonSchema", "responseJsonSchema"):
                if key in function:
                    yield from prefixed(function.get("name"), good_schema(function[key], key))


def bedrock(tools):
    yield from one_list(tools)
    for tool in tools:
        spec = tool.get("toolSpec") or {}
        schema = (spec.get("inputSchema") or {}).get("json")
        errors = [*named(BEDROCK_NAME, spec.get("name")), *good_schema(schema, "inputSchema")]
        if not isinstance(schema, dict) or schema.get("type") != "object":
            errors.append("the type of `inputSchema` is not object")
        yield from prefixed(spec.get("name"), errors)
    messages = [{"role": "user", "content": [{"text": "Hello"}]}]
    config = {"tools": tools}
    body = sent_by(lambda: BEDROCK.converse(modelId="m", messages=messages, toolConfig=config))
    yield from unchanged(tools, body["toolConfig"].get("tools"), "sent")


def mcp(tools):
    try:
        read = mcp_types.ListToolsResult.model_validate_json(json.dumps(tools))
    except pydantic.ValidationError as error:
        for detail in error.errors():
            yield "%s: %s" % ("/".join(map(str, detail["loc"])), detail["msg"])
        return
    back = read.model_dump(mode="json", by_alias=True, exclude_unset=True)
    yield from unchanged(known_annotations(tools), back, "read")
    for tool in tools["tools"]:
        errors = list(named(r"^[A-Za-z0-9_.-]{1,128}$", tool["name"]))
        for key in ("inputSchema", "outputSchema"):
            if key in tool:
                errors.extend(good_schema(tool[key], key))
                if tool[key].get("type") != "object" and key == "inputSchema":
                    errors.append("the type of `inputSchema` is not object")
        yield from prefixed(tool["name"], errors)


def known_annotations(tools):
    """A copy without the annotations that the package does not know: servers add their own, which
    clients have to ignore."""
    tools = copy.deepcopy(tools)
    fields = mcp_types.ToolAnnotations.model_fields.items()
    known = {field.alias or name for name, field in fields}
    for tool in tools["tools"]:
        annotations = tool.get("annotations")
        if isinstance(annotations, dict):
            tool["annotations"] = {key: annotations[key] for key in annotations if key in known}
    return tools


def response_format(value):
    inner = value.get("json_schema") or {}
    yield from typed(ResponseFormatJSONSchema, value, "response_format")
    yield from strict_output(inner)
    body = sent_by(
        lambda: OPENAI.chat.completions.create(model="m", messages=MESSAGES, response_format=value)
    )
    yield from unchanged(value, body.get("response_format"), "sent")


def text_format(value):
    yield from typed(ResponseFormatTextJSONSchemaConfigParam, value, "format")
    yield from strict_output(value)
    body = sent_by(
        lambda: OPENAI.responses.create(model="m", input="Hello", text={"format": value})
    )
    yield from unchanged(value, (body.get("text") or {}).get("format"), "sent")


def strict_output(value):
    yield from named(OPENAI_NAME, value.get("name"))
    yield from good_schema(value.get("schema"), "schema")
    if value.get("strict") is not True:
        yield "`strict` is not true"
    yield from openai_strict(value.get("schema"))


def output_format(value):
    yield from typed(JSONOutputFormatParam, value, "format")
    yield from good_schema(value.get("schema"), "schema")
    yield from anthropic_strict(value.get("schema"))
    body = sent_by(
        lambda: ANTHROPIC.messages.create(
            model="m", max_tokens=1, messages=MESSAGES, output_config={"format": value}
        )
    )
    yield from unchanged(value, (body.get("output_config") or {}).get("format"), "sent")


def response_schema(value):
    try:
        config = genai.types.GenerateContentConfig.model_validate(value)
    except pydantic.ValidationError as error:
        for detail in error.errors():
            yield "config: %s: %s" % ("/".join(map(str, detail["loc"])), detail["msg"])
        return
    yield from good_schema(value.get("responseJsonSchema"), "schema")
    body = sent_by(
        lambda: GEMINI.models.generate_content(model="m", contents="Hello", config=config)
    )
    yield from unchanged(value, body.get("generationConfig"), "sent")


# These take OpenAI's form; packages of their own are not installed.
TARGETS = {
    "json-schema": json_schema,
    "openai": chat,
    "openai-functions": functions,
    "openai-strict": chat_strict,
    "openai-responses": responses,
    "anthropic": claude,
    "anthropic-strict": claude_strict,
    "gemini": gemini,
    "gemini-json": gemini_json,
    "bedrock": bedrock,
    "mistral": chat,
    "ollama": chat,
    "llamacpp": chat,
    "vllm": chat,
    "mcp": mcp,
    "openai-response-format": response_format,
    "openai-text-format": text_format,
    "gemini-response-schema": response_schema,
    "anthropic-output-format": output_format,
}


def judge(target, tools):
    """The errors of a target's tools."""
    if target not in TARGETS:
        return ["there is no package here for the target `%s`" % target]
    try:
        return list(TARGETS[target](tools))
    except Exception as error:
        return ["the package fails: %r" % error]


PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where"},
        "unit": {"type": "string", "enum": ["c", "f"]},
        "type": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["city", "unit", "type"],
    "additionalProperties": False,
}
OPEN = {key: value for key, value in PARAMETERS.items() if key != "additionalProperties"}
FUNCTION = {"name": "forecast", "description": "Says it", "parameters": PARAMETERS}
RESPONSE = {"type": "function", **FUNCTION, "strict": True}
CLAUDE = {"name": "forecast", "description": "Says it", "input_schema": PARAMETERS}
MCP = {"name": "forecast", "inputSchema": PARAMETERS, "annotations": {"readOnlyHint": True}}


def with_(tool, *path_and_value):
    """A copy of a tool with another value at a path."""
    *path, last, value = path_and_value
    tool = copy.deepcopy(tool)
    place = tool
    for step in path:
        place = place[step]
    place[last] = value
    return tool


def chat_tool(**more):
    return {"type": "function", "function": {**FUNCTION, **more}}


def bedrock_tool(**more):
    spec = {"name": "forecast", "description": "Says it", "inputSchema": {"json": PARAMETERS}}
    return {"toolSpec": {**spec, **more}}


def gemini_tool(**more):
    return {"functionDeclarations": [{"name": "forecast", "description": "Says it", **more}]}


def known():
    """Targets with tools, and whether they are good."""
    city = ("properties", "city")
    yield "json-schema", {"forecast": PARAMETERS}, True
    yield "json-schema", {"forecast": with_(PARAMETERS, "required", "city")}, False
    for target in ("openai", "mistral", "ollama", "llamacpp", "vllm"):
        yield target, [chat_tool(strict=False, parameters=OPEN)], True
        yield target, [chat_tool(stict=False)], False
        yield target, [chat_tool(name="fore cast")], False
        yield target, [chat_tool(strict="no")], False
        yield target, [{"type": "function"}], False
        yield target, {"forecast": chat_tool()}, False
    yield "openai-functions", [FUNCTION], True
    yield "openai-functions", [{**FUNCTION, "strict": False}], False
    yield "openai-functions", [with_(FUNCTION, "parameters", [])], False
    yield "openai-strict", [chat_tool(strict=True)], True
    yield "openai-strict", [chat_tool(strict=False)], False
    yield "openai-strict", [chat_tool(strict=True, parameters=OPEN)], False
    less = with_(PARAMETERS, "required", ["city"])
    yield "openai-strict", [chat_tool(strict=True, parameters=less)], False
    beside = with_(PARAMETERS, *city, {"$ref": "#/$defs/city", "description": "Where"})
    beside["$defs"] = {"city": {"type": "string"}}
    yield "openai-strict", [chat_tool(strict=True, parameters=beside)], False
    yield "openai-responses", [RESPONSE], True
    yield "openai-responses", [{**RESPONSE, "strict": False, "parameters": OPEN}], True
    yield "openai-responses", [{**RESPONSE, "parameters": OPEN}], False
    yield "openai-responses", [chat_tool(strict=True)], False
    yield "openai-responses", [with_(RESPONSE, "strict", 1)], False
    yield "anthropic", [with_(CLAUDE, "input_schema", OPEN)], True
    yield "anthropic", [with_(CLAUDE, "input_schema", "type", "array")], False
    yield "anthropic", [{**CLAUDE, "parameters": {}}], False
    yield "anthropic", [{"name": "forecast"}], False
    strict = {**CLAUDE, "strict": True}
    yield "anthropic-strict", [strict], True
    yield "anthropic-strict", [with_(strict, "input_schema", *city, "default", "Wien")], True
    yield "anthropic-strict", [CLAUDE], False
    yield "anthropic-strict", [with_(strict, "input_schema", OPEN)], False
    yield "anthropic-strict", [with_(strict, "input_schema", *city, "maxLength", 9)], False
    yield "anthropic-strict", [with_(strict, "input_schema", *city, "format", "x")], False
    yield "gemini", [gemini_tool(parameters=OPEN)], True
    yield "gemini", [gemini_tool()], True
    full = with_(OPEN, *city, {"type": "string", "minLength": 1, "nullable": True, "default": None})
    full = with_(full, "properties", "min_size", {"type": "integer", "minimum": 1, "example": 2})
    yield "gemini", [gemini_tool(parameters=full)], True
    yield "gemini", [gemini_tool(parametersJsonSchema=OPEN)], False
    yield "gemini", [gemini_tool(parameters=with_(OPEN, *city, "const", "x"))], False
    yield "gemini", [gemini_tool(parameters=with_(OPEN, *city, "enum", [1]))], False
    yield "gemini", [gemini_tool(parameters=with_(OPEN, *city, "type", ["string", "null"]))], False
    yield "gemini-json", [gemini_tool(parametersJsonSchema=PARAMETERS)], True
    yield "gemini-json", [gemini_tool(parameters=OPEN)], False
    yield "gemini-json", [gemini_tool(parametersJsonSchema=less | {"required": 1})], False
    yield "gemini-json", [gemini_tool(parametersJsonSchema=PARAMETERS, strict=True)], False
    yield "bedrock", [bedrock_tool()], True
    yield "bedrock", [bedrock_tool(description="")], False
    yield "bedrock", [bedrock_tool(name="1 st")], False
    yield "bedrock", [bedrock_tool(inputSchema=PARAMETERS)], False
    yield "bedrock", [bedrock_tool(inputSchema={"json": {"type": "array"}})], False
    yield "bedrock", [bedrock_tool(parameters=PARAMETERS)], False
    yield "mcp", {"tools": [MCP]}, True
    yield "mcp", {"tools": [with_(MCP, "annotations", "own", 1)]}, True
    yield "mcp", {"tools": [{"name": "forecast"}]}, False
    yield "mcp", {"tools": [with_(MCP, "annotations", "readOnlyHint", "perhaps")]}, False
    yield "mcp", {"tools": [{**MCP, "parameters": {}}]}, False
    yield "mcp", {"tools": [with_(MCP, "inputSchema", "type", "array")]}, False
    yield "mcp", [MCP], False
    named_schema = {"name": "Forecast", "schema": PARAMETERS, "strict": True}
    chat_format = {"type": "json_schema", "json_schema": named_schema}
    yield "openai-response-format", chat_format, True
    yield "openai-response-format", {"type": "json_schema", **named_schema}, False
    yield "openai-response-format", with_(chat_format, "json_schema", "schema", OPEN), False
    yield "openai-response-format", with_(chat_format, "json_schema", "name", "a b"), False
    yield "openai-text-format", {"type": "json_schema", **named_schema}, True
    yield "openai-text-format", chat_format, False
    yield "anthropic-output-format", {"type": "json_schema", "schema": PARAMETERS}, True
    yield "anthropic-output-format", {"type": "json_schema", "schema": OPEN}, False
    yield "anthropic-output-format", {"type": "json_schema", **named_schema}, False
    mime = {"responseMimeType": "application/json"}
    yield "gemini-response-schema", {**mime, "responseJsonSchema": PARAMETERS}, True
    yield "gemini-response-schema", {**mime, "responseJsonSchem": PARAMETERS}, False
    yield "no-such-target", [], False


def check_itself():
    wrong = 0
    for target, tools, good in known():
        errors = judge(target, tools)
        if good == bool(errors):
            wrong += 1
            print("sdks.py: %s: %s for %s" % (target, errors, text(tools)), file=sys.stderr)
    return wrong == 0


def main():
    logging.disable(logging.WARNING)
    if not check_itself():
        return 2
    bad = 0
    for line in sys.stdin:
        case = json.loads(line)
        errors = judge(case["target"], case["tools"])
        bad += bool(errors)
        verdict = {"target": case["target"], "ok": not errors, "errors": errors}
        print(json.dumps(verdict, ensure_ascii=False), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
