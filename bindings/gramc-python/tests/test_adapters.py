"""Each adapter with the real framework: alone it fails on a malformed call, with gramc it succeeds."""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
from typing import Any

import pytest

import gramc

#: A model sends the list and the number as text.
MALFORMED = {"guests": '["Ada"]', "nights": "3"}
WRONG = {"guests": ["Ada"], "nights": 90}
VALID = {"guests": ["Ada"], "nights": 3}


def reserve(guests: list[str], nights: int, key: str = "") -> str:
    """Reserves a room."""
    if not isinstance(guests, list) or not isinstance(nights, int) or key != "s3cret-value":
        raise TypeError("malformed arguments")
    return f"{len(guests)} guest, {nights} nights"


def plain(guests: list[str], nights: int) -> str:
    """Reserves a room."""
    return reserve(guests, nights, "s3cret-value")


DONE = "1 guest, 3 nights"


@pytest.fixture
def bound() -> gramc.Bound:
    spec = gramc.loads("""
        [reserve:Tool {description: "Reserves a room"} |
          (key::Text {injected: true, secret: true})
          ==>(guests::Text[])==>(nights::Int {range: 1..30})==>(::Text)]
    """)
    library = gramc.ToolLibrary("hotel")
    library.add("reserve", reserve, inject={"key": "s3cret-value"})
    return spec.bind(library)


@pytest.fixture
def session(bound: gramc.Bound) -> gramc.Session:
    return bound.session()


def test_pydantic_ai(session):
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from gramc.adapters import pydantic_ai

    def model(*calls: Any) -> FunctionModel:
        left = list(calls)
        seen: list[Any] = []

        def answer(messages: Any, info: Any) -> ModelResponse:
            seen.append((messages[-1].parts[-1], info.function_tools))
            if left:
                return ModelResponse([ToolCallPart("reserve", left.pop(0))])
            return ModelResponse([TextPart(str(messages[-1].parts[-1].content))])

        made = FunctionModel(answer)
        made.seen = seen
        return made

    alone = Agent(model(MALFORMED, MALFORMED), tools=[plain])
    with pytest.raises(UnexpectedModelBehavior):
        alone.run_sync("Reserve")

    agent = Agent(model(json.dumps(MALFORMED)), toolsets=[pydantic_ai.toolset(session)])
    assert agent.run_sync("Reserve").output == DONE
    retried = model('{"guests": ["Ada"], "nights": 90', WRONG, VALID)
    agent = Agent(retried, toolsets=[pydantic_ai.toolset(session)])
    assert agent.run_sync("Reserve").output == DONE
    seen = [part for part, _ in retried.seen]
    corrections = [part for part in seen if getattr(part, "outcome", None) == "retried"]
    assert len(corrections) == 2 and "`nights` must be an integer from 1 to 30" in str(
        corrections[-1].content
    )
    assert "key" not in json.dumps(retried.seen[0][1][0].parameters_json_schema)


def test_openai_agents(session):
    from agents import function_tool
    from agents.exceptions import ModelBehaviorError
    from agents.tool_context import ToolContext

    from gramc.adapters import openai_agents

    def call(tool: Any, arguments: str) -> str:
        context = ToolContext(
            context=None, tool_name="reserve", tool_call_id="c", tool_arguments=arguments
        )
        return asyncio.run(tool.on_invoke_tool(context, arguments))

    alone = function_tool(plain, failure_error_function=None)
    with pytest.raises(ModelBehaviorError):
        call(alone, json.dumps(MALFORMED))
    (tool,) = openai_agents.tools(session)
    assert call(tool, json.dumps(MALFORMED)) == DONE
    assert call(tool, '{"guests": ["Ada"], "nights": 3,}') == DONE
    assert "`nights` must be an integer from 1 to 30" in call(tool, json.dumps(WRONG))
    assert "key" not in json.dumps(tool.params_json_schema)


def test_langchain(session):
    from langchain_core.tools import tool as as_tool
    from pydantic import ValidationError

    from gramc.adapters import langchain

    def call(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"type": "tool_call", "id": "c", "name": "reserve", "args": arguments}

    with pytest.raises(ValidationError):
        as_tool(plain).invoke(call(MALFORMED))
    (tool,) = langchain.tools(session)
    message = tool.invoke(call(MALFORMED))
    assert (message.content, message.status) == (DONE, "success")
    assert asyncio.run(tool.ainvoke(call(MALFORMED))).content == DONE
    message = tool.invoke(call(WRONG))
    assert message.status == "error" and "`nights` must be an integer" in message.content
    assert "key" not in json.dumps(tool.tool_call_schema)


def test_langgraph(session):
    from langchain_core.messages import AIMessage
    from langgraph.graph import MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    from gramc.adapters import langchain

    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(langchain.tools(session)))
    graph.set_entry_point("tools")
    calls = [{"id": "a", "name": "reserve", "args": MALFORMED}]
    calls.append({"id": "b", "name": "reserve", "args": WRONG})
    ended = graph.compile().invoke({"messages": [AIMessage("", tool_calls=calls)]})
    assert ended["messages"][1].content == DONE
    assert "`nights` must be an integer" in ended["messages"][2].content


def test_fastmcp(bound):
    from fastmcp import Client, FastMCP
    from fastmcp.exceptions import ToolError

    from gramc.adapters import fastmcp

    alone = FastMCP("hotel", strict_input_validation=True)
    alone.tool(plain, name="reserve")
    server = FastMCP("hotel", middleware=[fastmcp.middleware(bound)])
    server.tool(plain, name="plain")

    async def run() -> None:
        async with Client(alone) as client:
            with pytest.raises(ToolError):
                await client.call_tool("reserve", MALFORMED)
        async with Client(server) as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            assert set(tools) == {"reserve", "plain"}
            assert "key" not in tools["reserve"].model_dump_json()
            assert (await client.call_tool("reserve", MALFORMED)).content[0].text == DONE
            assert (await client.call_tool("plain", VALID)).content[0].text == DONE
            with pytest.raises(ToolError, match="`nights` must be an integer from 1 to 30"):
                await client.call_tool("reserve", WRONG)

    asyncio.run(run())


def test_inspect_ai(session):
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, execute_tools
    from inspect_ai.tool import ToolCall, ToolDef

    from gramc.adapters import inspect_ai

    def call(tools: Any, arguments: dict[str, Any]) -> ChatMessageTool:
        made = ToolCall(id="c", function="reserve", arguments=arguments)
        message = ChatMessageAssistant(content="", tool_calls=[made])
        return asyncio.run(execute_tools([message], tools)).messages[0]

    async def alone(guests: list[str], nights: int) -> str:
        return plain(guests, nights)

    described = {"guests": "Guests", "nights": "Nights"}
    failed = call([ToolDef(alone, "reserve", "Reserves", described).as_tool()], MALFORMED)
    assert failed.error is not None
    tools = inspect_ai.tools(session)
    done = call(tools, MALFORMED)
    assert (done.error, done.text) == (None, DONE)
    refused = call(tools, WRONG)
    assert refused.error and "`nights` must be an integer from 1 to 30" in refused.error.message


def test_inspect_ai_scores_by_expectations(bound, tmp_path):
    from inspect_ai import Task, eval as run_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

    from gramc.adapters import inspect_ai

    @solver
    def with_tools() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            # Each sample is a conversation of its own.
            state.tools = inspect_ai.tools(bound.session())
            return state

        return solve

    made = {"calls": [{"name": "reserve", "arguments": {"nights": "3"}}], "max_calls": 1}
    expectations = [
        {**made, "contains": "reserved", "ignore_case": True},
        {**made, "not_contains": "Reserved"},
        {"calls": [{"name": "reserve", "arguments": {"nights": 4}}], "min_calls": 2},
        {"command": ["grep", "-q", '"role":"tool","id":".*","name":"reserve"']},
    ]
    outputs = []
    for _ in expectations:
        for arguments in (WRONG, MALFORMED):
            outputs.append(ModelOutput.for_tool_call("mockllm/model", "reserve", arguments))
        outputs.append(ModelOutput.from_content("mockllm/model", "Reserved"))
    for output in outputs:
        # Otherwise the model downloads what it counts tokens with.
        output.usage = ModelUsage()
    samples = [
        Sample(input="Reserve", id=str(at), metadata={"expect": expect})
        for at, expect in enumerate(expectations)
    ]
    task = Task(dataset=samples, solver=[with_tools(), generate()], scorer=inspect_ai.scorer())
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = run_eval(
        task, model=model, log_dir=str(tmp_path), display="none", max_samples=1, log_format="json"
    )
    assert log.status == "success", log.error
    scores = [sample.scores["scorer"] for sample in log.samples]
    assert [score.value for score in scores] == ["C", "I", "I", "C"]
    assert scores[0].answer == "Reserved" and scores[0].explanation is None
    assert scores[1].explanation == "the answer contains `Reserved`"
    assert scores[2].explanation == (
        'no call of `reserve` with {"nights":4}; the number of accepted calls is 1, fewer than 2'
    )
    for wrong in ({"contain": "x"}, {}, {"rubric": {"criteria": "It is polite."}}):
        with pytest.raises(gramc.ExperimentError, match="expect: "):
            gramc._native.Grader(wrong)


def test_anthropic(session):
    import anthropic
    from gramc.adapters import anthropic as adapter

    replies = [
        ("max_tokens", {"type": "tool_use", "id": "z", "name": "reserve", "input": VALID}),
        ("tool_use", {"type": "tool_use", "id": "a", "name": "reserve", "input": WRONG}),
        ("tool_use", {"type": "tool_use", "id": "b", "name": "reserve", "input": MALFORMED}),
        ("end_turn", {"type": "text", "text": "Reserved"}),
    ]
    with pytest.raises(TypeError):
        plain(**MALFORMED)

    def reply(at: int) -> dict[str, Any]:
        reason, block = replies[at]
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [block],
            "stop_reason": reason, "stop_sequence": None, "usage": usage,
        }  # fmt: skip

    for is_async in (False, True):
        requests, http = _scripted(reply, is_async, "httpx2")
        options = {"model": "m", "max_tokens": 10}
        messages: list[Any] = [{"role": "user", "content": "Reserve"}]
        if is_async:
            client = anthropic.AsyncAnthropic(api_key="k", http_client=http)
            work = adapter.arun(client, session, messages=messages, **options)
            ended = asyncio.run(work)
        else:
            client = anthropic.Anthropic(api_key="k", http_client=http)
            ended = adapter.run(client, session, messages=messages, **options)
        assert ended.content[0].text == "Reserved"
        results = [message["content"][0] for message in messages[2::2]]
        # What a token limit cut off does not run, whatever it looks like.
        assert results[0]["is_error"] and "token limit" in results[0]["content"]
        assert results[1]["is_error"] and "`nights` must be an integer" in results[1]["content"]
        assert results[2]["content"] == DONE and "is_error" not in results[2]
        assert len(requests) == 4 and "key" not in json.dumps(requests[0]["tools"])


def test_openai(session):
    import openai
    from gramc.adapters import openai as adapter

    with pytest.raises(TypeError):
        plain(**json.loads(json.dumps(MALFORMED)))
    cut_off = '{"guests": ["Ada"], "nights": 3'
    texts = [cut_off, json.dumps(WRONG), '{"guests": "[\\"Ada\\"]", "nights": "3",}']

    def reply(at: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "Reserved"}
        if at < len(texts):
            function = {"name": "reserve", "arguments": texts[at]}
            calls = [{"id": f"c{at}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        reason = "length" if at == 0 else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {
            "id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]
        }  # fmt: skip

    for is_async in (False, True):
        requests, http = _scripted(reply, is_async, "httpx")
        messages: list[Any] = [{"role": "user", "content": "Reserve"}]
        if is_async:
            client = openai.AsyncOpenAI(api_key="k", http_client=http)
            ended = asyncio.run(adapter.arun(client, session, messages=messages, model="m"))
        else:
            client = openai.OpenAI(api_key="k", http_client=http)
            ended = adapter.run(client, session, messages=messages, model="m")
        assert ended.choices[0].message.content == "Reserved"
        results = [message["content"] for message in messages if message["role"] == "tool"]
        assert "token limit" in results[0]
        assert "`nights` must be an integer from 1 to 30" in results[1] and results[2] == DONE
        assert len(requests) == 4 and "key" not in json.dumps(requests[0]["tools"])


def _scripted(reply: Any, is_async: bool, package: str) -> tuple[list[Any], Any]:
    """The requests, and a client whose server answers with `reply(index)`."""
    # Clients depend on either of them.
    httpx = importlib.import_module(package)
    requests: list[Any] = []

    def handle(request: Any) -> Any:
        requests.append(json.loads(request.content))
        return httpx.Response(200, json=reply(len(requests) - 1))

    transport = httpx.MockTransport(handle)
    client = httpx.AsyncClient if is_async else httpx.Client
    return requests, client(transport=transport)


PIXEL = b"\x89PNG-pixel"
PNG = base64.b64encode(PIXEL).decode()


def draw(size: int) -> Any:
    return ["a picture", gramc.Image(PIXEL)]


def draw_content(size: int) -> Any:
    from mcp.types import ImageContent, TextContent

    return [TextContent(type="text", text="a picture"), ImageContent(type="image", data=PNG, mimeType="image/png")]


@pytest.mark.parametrize("function", [draw, draw_content])
def test_images_reach_the_model(function):
    from agents import ToolOutputImage
    from agents.tool_context import ToolContext
    from fastmcp import Client, FastMCP
    from inspect_ai.tool import ToolDef
    from pydantic_ai import Agent, BinaryContent
    from pydantic_ai.models.test import TestModel

    from gramc.adapters import anthropic, fastmcp, inspect_ai, langchain, openai_agents, pydantic_ai
    from gramc.adapters._session_tools import ModelCall

    library = gramc.ToolLibrary("l", throttle="off")
    library.add("draw", function)
    bound = gramc.loads("[draw:Tool | (size::Int)==>(::Any)]").bind(library)
    session = bound.session()
    verdict = session.call("draw", {"size": 1})
    blocks = [{"type": "text", "text": "a picture"}, {"type": "image", "data": PNG, "mimeType": "image/png"}]
    assert verdict.content == blocks and verdict.message == "a picture\n[image: image/png]"
    assert session.validate("draw", {"size": 1}).content is None
    audio = gramc.Audio(b"abc").to_block()
    assert audio == {"type": "audio", "data": "YWJj", "mimeType": "audio/wav"}

    def typed(size: int) -> gramc.Image:
        return gramc.Image(PIXEL)

    library = gramc.ToolLibrary("typed")
    library.tool(typed)
    verdict_of_typed = library.specification().bind(library).session().call("typed", {"size": 1})
    assert verdict_of_typed.content == blocks[1:] and not verdict_of_typed.warnings

    result = Agent(TestModel(), toolsets=[pydantic_ai.toolset(session)]).run_sync("Draw")
    parts = [part for message in result.all_messages() for part in message.parts]
    (content,) = (part.content for part in parts if part.part_kind == "tool-return")
    assert content[0] == "a picture" and isinstance(content[1], BinaryContent)
    assert content[1].data == PIXEL

    (tool,) = openai_agents.tools(session)
    context = ToolContext(None, tool_name="draw", tool_call_id="c", tool_arguments="{}")
    text, image = asyncio.run(tool.on_invoke_tool(context, '{"size": 1}'))
    assert isinstance(image, ToolOutputImage) and image.image_url.endswith(PNG)

    call = {"type": "tool_call", "id": "c", "name": "draw", "args": {"size": 1}}
    text, image = langchain.tools(session)[0].invoke(call).content
    assert image == {"type": "image", "base64": PNG, "mime_type": "image/png"}

    async def of_server() -> Any:
        async with Client(FastMCP("s", middleware=[fastmcp.middleware(bound)])) as client:
            return (await client.call_tool("draw", {"size": 1})).content

    text, image = asyncio.run(of_server())
    assert (text.text, image.data) == ("a picture", PNG)
    text, image = asyncio.run(ToolDef(inspect_ai.tools(session)[0]).tool(size=1))
    assert image.image.endswith(PNG)
    result = anthropic._result(ModelCall("draw", {}, "c"), verdict)
    assert result["content"][1]["source"]["data"] == PNG
