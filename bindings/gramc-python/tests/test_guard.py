"""Guards of the tools that an agent has: the agent is the same, and calls that failed succeed."""

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import json
import logging
import pickle
import uuid
from typing import Annotated, Any, Optional

import pydantic
import pytest

import gramc

#: A model sends the list and the number as text.
MALFORMED = {"guests": '["Ada"]', "nights": "3"}
WRONG = {"guests": ["Ada"], "nights": 90}
DONE = "1 guest, 3 nights for Grace"
NIGHTS = "`nights` must be an integer from 1 to 30, got 90"

Nights = Annotated[int, pydantic.Field(ge=1, le=30)]


def describe(guests: list[str], nights: int, user: str) -> str:
    assert isinstance(guests, list) and isinstance(nights, int)
    return f"{len(guests)} guest, {nights} nights for {user}"


def reserve(guests: list[str], nights: Nights, user: gramc.Injected[str]) -> str:
    """Reserves a room."""
    return describe(guests, nights, user)


async def reserve_async(guests: list[str], nights: Nights, user: gramc.Injected[str]) -> str:
    """Reserves a room."""
    return describe(guests, nights, user)


def test_functions():
    verdicts: list[gramc.Verdict] = []
    guarded, guarded_async = gramc.guard([reserve, reserve_async], on_verdict=verdicts.append)
    for arguments in (json.dumps(MALFORMED), '{"guests": ["Ada"], "nights": 3,}', MALFORMED):
        assert guarded(arguments, user="Grace") == DONE
        assert asyncio.run(guarded_async(arguments, user="Grace")) == DONE
    assert guarded(**MALFORMED, user="Grace") == DONE
    assert guarded(["Ada"], 3, "Grace") == DONE
    # A model has no effect on the parameters of the program.
    with pytest.raises(gramc.CallRefused, match="`user` is not declared"):
        guarded({**MALFORMED, "user": "Eve"}, user="Grace")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'user'"):
        guarded(MALFORMED)
    with pytest.raises(gramc.CallRefused, match=NIGHTS) as refused:
        guarded(WRONG, user="Grace")
    assert isinstance(refused.value, ValueError)
    assert refused.value.verdict.error_type == "validation_error"
    # Several models may call the functions, so refused calls do not add up.
    for _ in range(5):
        with pytest.raises(gramc.CallRefused, match="Correct this"):
            guarded(WRONG, user="Grace")
    assert guarded.__name__ == "reserve" and guarded.__doc__ == "Reserves a room."
    assert "must be" not in gramc.guard({"book": reserve})["book"](MALFORMED, user="Grace")


class Hotel:
    """A hotel."""

    def __init__(self) -> None:
        self.booked: list[Any] = []

    def book(self, day: datetime.date, nights: int = 1) -> int:
        """Books a room."""
        self.booked.append((day, nights))
        return nights

    def __call__(self, guest: str) -> str:
        """Greets a guest."""
        return f"Hello {guest}"


def test_what_can_be_called():
    hotel, day = Hotel(), datetime.date(2026, 1, 2)
    for_two = functools.partial(hotel.book, nights=2)
    book, two, greet, traced = gramc.guard([hotel.book, for_two, hotel, traced_book(hotel)])
    assert book('{"day": "2026-01-02", "nights": "3"}') == 3
    # The model cannot set what the program has fixed.
    assert two({"day": "2026-01-02"}) == 2
    with pytest.raises(gramc.CallRefused, match="`nights` is not declared"):
        two({"day": "2026-01-02", "nights": 3})
    assert greet({"guest": "Ada"}) == "Hello Ada"
    assert traced({"day": "2026-01-02"}) == 1
    assert hotel.booked == [(day, 3), (day, 2), (day, 1)]
    text = json.dumps(gramc.specification([hotel.book, hotel]).compile("mcp"))
    assert "Books a room." in text and '"Hotel"' in text and "Greets a guest." in text
    assert "nights" not in json.dumps(gramc.specification([for_two]).compile("mcp"))


def traced_book(hotel: Hotel) -> Any:
    @functools.wraps(hotel.book)
    def traced(*arguments: Any, **keywords: Any) -> int:
        return hotel.book(*arguments, **keywords)

    return traced


def test_parameters_without_a_type():
    def unannotated(a):
        """A."""

    def custom(a: Hotel) -> None:
        """A."""

    def unresolved(a: "NoSuchType") -> None:  # noqa: F821
        """A."""

    for function, why in (
        (unannotated, "`unannotated`: the parameter `a` has no type: it has no annotation"),
        (custom, "`custom`: the parameter `a` has no type for a model.*gramc.Injected.Hotel"),
        (unresolved, "`unresolved`: the parameter `a` has no type: cannot resolve `NoSuchType`"),
    ):
        for derive in (gramc.tool, lambda f: gramc.specification([f]), lambda f: gramc.guard([f])):
            with pytest.raises(TypeError, match=why):
                derive(function)
    with pytest.raises(TypeError, match="`custom`: the parameter `a`"):
        gramc.ToolLibrary("l").add("custom", custom)
    gramc.ToolLibrary("l").add("unannotated", unannotated)


def test_what_cannot_be_guarded():
    with pytest.raises(TypeError, match="found int"):
        gramc.guard([1])
    with pytest.raises(TypeError, match="found object"):
        gramc.guard(object())


def test_repairs_are_logged(caplog):
    caplog.set_level(logging.INFO, "gramc")
    (guarded,) = gramc.guard([reserve])
    guarded(MALFORMED, user="Grace")
    assert "repaired a call of `reserve`: guests (" in caplog.text
    with pytest.raises(gramc.CallRefused):
        guarded(WRONG, user="Grace")
    assert f"refused a call of `reserve`: `reserve`: {NIGHTS}" in caplog.text


@dataclasses.dataclass
class Deps:
    user: str


def model_of_pydantic_ai(*calls: Any, name: str = "reserve") -> Any:
    """A model that makes these calls, and then answers with the last result."""
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    left, seen = list(calls), []

    def answer(messages: Any, info: Any) -> ModelResponse:
        seen.append((messages[-1].parts[-1], info.function_tools))
        if left:
            return ModelResponse([ToolCallPart(name, left.pop(0))])
        return ModelResponse([TextPart(str(messages[-1].parts[-1].content))])

    model = FunctionModel(answer)
    model.seen = seen
    return model


def test_pydantic_ai():
    from pydantic_ai import Agent, ModelRetry, RunContext, Tool
    from pydantic_ai.exceptions import UnexpectedModelBehavior
    from pydantic_ai.toolsets import FunctionToolset

    from gramc.adapters import pydantic_ai

    def reserve(ctx: RunContext[Deps], guests: list[str], nights: Nights) -> str:
        """Reserves a room."""
        if nights == 13:
            raise ModelRetry("not 13")
        return describe(guests, nights, ctx.deps.user)

    def run(model: Any, **options: Any) -> str:
        return Agent(model, deps_type=Deps, **options).run_sync("Go", deps=Deps("Grace")).output

    plain = model_of_pydantic_ai(MALFORMED, MALFORMED)
    with pytest.raises(UnexpectedModelBehavior):
        run(plain, tools=[Tool(reserve)])
    forms: list[dict[str, Any]] = [
        {"tools": gramc.guard([Tool(reserve)])},
        {"tools": pydantic_ai.guard([reserve])},
        {"toolsets": [gramc.guard(FunctionToolset([reserve]))]},
        {"toolsets": gramc.guard([FunctionToolset([reserve]).prefixed("a").filtered(lambda *_: True)])},
    ]
    for form in forms:
        name = "a_reserve" if form is forms[-1] else "reserve"
        for call in (MALFORMED, json.dumps(MALFORMED), '{"guests": ["Ada"], "nights": 3,}'):
            model = model_of_pydantic_ai(call, name=name)
            assert run(model, **form) == DONE
        if name == "reserve":
            (now,), (before,) = model.seen[0][1], plain.seen[0][1]
            assert dataclasses.replace(now, toolset_id=before.toolset_id) == before
        model = model_of_pydantic_ai(WRONG, MALFORMED, name=name)
        assert run(model, **form) == DONE
        assert NIGHTS in model.seen[1][0].content and model.seen[1][0].outcome == "retried"
        with pytest.raises(UnexpectedModelBehavior):
            run(model_of_pydantic_ai(WRONG, WRONG, name=name), **form)
        model = model_of_pydantic_ai({**MALFORMED, "nights": 13}, MALFORMED, name=name)
        assert run(model, **form) == DONE
        assert "not 13" in model.seen[1][0].content


def test_pydantic_ai_approvals_and_results():
    from pydantic_ai import Agent, DeferredToolRequests, Tool, ToolReturn
    from pydantic_ai.exceptions import ApprovalRequired

    def wipe(path: str) -> ToolReturn:
        return ToolReturn(return_value=f"wiped {path}", content="more", metadata={"path": path})

    def careful(path: str) -> str:
        raise ApprovalRequired

    for tool in (Tool(wipe, requires_approval=True), Tool(careful)):
        (guarded,) = gramc.guard([tool])
        model = model_of_pydantic_ai('{"path": "/tmp",}', name=tool.name)
        agent = Agent(model, tools=[guarded], output_type=[str, DeferredToolRequests])
        requests = agent.run_sync("Go").output
        assert [call.tool_name for call in requests.approvals] == [tool.name]
    (guarded,) = gramc.guard([Tool(wipe)])
    result = Agent(model_of_pydantic_ai('{"path": "/tmp",}', name="wipe"), tools=[guarded]).run_sync("Go")
    (returned,) = (
        part for message in result.all_messages() for part in message.parts
        if part.part_kind == "tool-return"
    )  # fmt: skip
    assert returned.metadata == {"path": "/tmp"} and returned.content == "wiped /tmp"


def test_pydantic_ai_runs_do_not_share_sessions():
    from pydantic_ai import Agent, Tool
    from pydantic_ai.exceptions import UnexpectedModelBehavior

    def stay(nights: Nights) -> str:
        """Stays."""
        return "ok"

    tools = gramc.guard([Tool(stay, max_retries=10)])
    wrong = [{"nights": 90}] * 3

    async def run() -> Any:
        model = model_of_pydantic_ai(*wrong, {"nights": 1}, name="stay")
        await Agent(model, tools=tools).run("Go")
        return [part.content for part, _ in model.seen[1:4]]

    async def main() -> None:
        for seen in await asyncio.gather(*(run() for _ in range(5))):
            # The third one in a row.
            assert ["human" in text for text in seen] == [False, False, True]

    asyncio.run(main())


def openai_call(tool: Any, arguments: str, user: str = "Grace") -> Any:
    from agents.tool_context import ToolContext

    context = ToolContext(
        context=Deps(user), tool_name=tool.name, tool_call_id="c", tool_arguments=arguments
    )
    return asyncio.run(tool.on_invoke_tool(context, arguments))


def test_openai_agents():
    from agents import RunContextWrapper, WebSearchTool, function_tool
    from agents.exceptions import ModelBehaviorError

    from gramc.adapters import openai_agents

    def reserve(ctx: RunContextWrapper[Deps], guests: list[str], nights: Nights, note: str = "") -> str:
        """Reserves a room."""
        if nights == 13:
            raise LookupError("not 13")
        return describe(guests, nights, ctx.context.user)

    plain = function_tool(reserve, failure_error_function=None)
    with pytest.raises(ModelBehaviorError):
        openai_call(plain, json.dumps(MALFORMED))
    search = WebSearchTool()
    guarded, same = gramc.guard([plain, search])
    assert same is search
    (made,) = openai_agents.guard([reserve])
    for tool in (guarded, made):
        assert tool.params_json_schema == plain.params_json_schema and tool.name == plain.name
        assert openai_call(tool, json.dumps(MALFORMED)) == DONE
        assert openai_call(tool, '{"guests": ["Ada"], "nights": 3,}') == DONE
        assert NIGHTS in openai_call(tool, json.dumps(WRONG))
        # The SDK fills in defaults and ignores others, although the schema requires and forbids them.
        assert openai_call(plain, json.dumps({"guests": ["Ada"], "nights": 3, "x": 1})) == DONE
        assert openai_call(tool, json.dumps({**MALFORMED, "x": 1})) == DONE
    with pytest.raises(LookupError):
        openai_call(guarded, json.dumps({**MALFORMED, "nights": 13}))
    assert "An error occurred" in openai_call(made, json.dumps({**MALFORMED, "nights": 13}))


def test_langchain():
    from langchain_core.messages import AIMessage
    from langchain_core.tools import ToolException
    from langchain_core.tools import tool as as_tool
    from langgraph.graph import MessagesState, StateGraph
    from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime
    from langgraph.types import Command
    from pydantic import ValidationError

    class State(MessagesState):
        user: str

    @as_tool
    def reserve(
        guests: list[str],
        nights: Nights,
        user: Annotated[str, InjectedState("user")],
        runtime: ToolRuntime,
    ) -> Any:
        """Reserves a room."""
        assert runtime.tool_call_id
        if nights == 13:
            raise ToolException("not 13")
        if nights == 7:
            return Command(update={"user": "Eve"})
        return describe(guests, nights, user)

    def run(tool: Any, *calls: dict[str, Any]) -> Any:
        graph = StateGraph(State)
        graph.add_node("tools", ToolNode([tool]))
        graph.set_entry_point("tools")
        made = [{"id": str(at), "name": "reserve", "args": call} for at, call in enumerate(calls)]
        return graph.compile().invoke({"messages": [AIMessage("", tool_calls=made)], "user": "Grace"})

    (guarded,) = gramc.guard([reserve])
    assert type(guarded).__name__ == "StructuredTool" and isinstance(guarded, type(reserve))
    assert guarded.tool_call_schema.model_json_schema() == reserve.tool_call_schema.model_json_schema()
    assert "user" not in json.dumps(guarded.tool_call_schema.model_json_schema())
    call = {"type": "tool_call", "id": "c", "name": "plain", "args": MALFORMED}
    with pytest.raises(ValidationError):
        as_tool(plain).invoke(call)
    (tool,) = gramc.guard([as_tool(plain)])
    assert tool.invoke(call).content == DONE and asyncio.run(tool.ainvoke(call)).content == DONE
    refused = tool.invoke({**call, "args": WRONG})
    assert refused.status == "error" and NIGHTS in refused.content and refused.tool_call_id == "c"
    refused = asyncio.run(tool.ainvoke({**call, "args": WRONG}))
    assert refused.status == "error" and NIGHTS in refused.content
    with pytest.raises(Exception, match="not 13"):
        run(guarded, {**MALFORMED, "nights": 13})
    unguarded = run(reserve, MALFORMED)["messages"]
    assert unguarded[1].status == "error"
    messages = run(guarded, MALFORMED, {**WRONG, "user": "Eve"}, {**MALFORMED, "user": "Eve"})["messages"]
    assert messages[1].content == DONE and NIGHTS in messages[2].content
    assert messages[2].status == "error" and messages[3].content == DONE


def plain(guests: list[str], nights: Nights) -> str:
    """Reserves a room."""
    return describe(guests, nights, "Grace")


def test_fastmcp():
    from fastmcp import Client, Context, FastMCP
    from fastmcp.exceptions import ToolError
    from fastmcp.utilities.types import Image

    def make(strict: bool) -> FastMCP:
        server: FastMCP = FastMCP("hotel", strict_input_validation=strict)

        @server.tool
        async def reserve(guests: list[str], nights: Nights, ctx: Context) -> str:
            """Reserves a room."""
            await ctx.report_progress(1, 1)
            return describe(guests, nights, "Grace")

        @server.tool
        def picture(size: int) -> Image:
            """Draws."""
            return Image(data=b"abc", format="png")

        return server

    async def run() -> None:
        for strict in (False, True):
            async with Client(make(strict)) as client:
                listed = await client.list_tools()
                with pytest.raises(ToolError):
                    await client.call_tool("reserve", {**MALFORMED, "guests": "['Ada']"})
            server = make(strict)
            assert gramc.guard(server) is server
            async with Client(server) as client:
                assert await client.list_tools() == listed
                for call in (MALFORMED, {**MALFORMED, "guests": "['Ada']"}):
                    assert (await client.call_tool("reserve", call)).content[0].text == DONE
                with pytest.raises(ToolError, match=NIGHTS):
                    await client.call_tool("reserve", WRONG)
                (image,) = (await client.call_tool("picture", {"size": "1"})).content
                assert image.type == "image"
                with pytest.raises(ToolError, match="[Uu]nknown tool"):
                    await client.call_tool("missing", {})

    asyncio.run(run())


def test_inspect():
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, execute_tools
    from inspect_ai.tool import Tool, ToolCall, ToolDef, ToolError, ToolInfo, tool

    @tool
    def reserve() -> Tool:
        async def execute(guests: list[str], nights: int, note: Optional[str] = None) -> str:
            """Reserves a room.

            Args:
                guests: The guests.
                nights: The nights.
                note: A note.
            """
            if nights == 13:
                raise ToolError("not 13")
            return describe(guests, nights, "Grace")

        return execute

    def call(tools: Any, arguments: dict[str, Any]) -> ChatMessageTool:
        made = ToolCall(id="c", function="reserve", arguments=arguments)
        message = ChatMessageAssistant(content="", tool_calls=[made])
        return asyncio.run(execute_tools([message], tools)).messages[0]

    alone = reserve()
    assert call([alone], MALFORMED).error is not None
    for tools in (gramc.guard([alone]), gramc.guard([ToolDef(alone)])):
        done = call(tools, MALFORMED)
        assert (done.error, done.text) == (None, DONE)
        refused = call(tools, {"guests": ["Ada"], "nights": "many"})
        assert refused.error and '`nights` (The nights) must be an integer, got "many"' in refused.error.message
        assert "not 13" in call(tools, {**MALFORMED, "nights": 13}).error.message
    described, before = (
        ToolInfo.from_toolinfo(one) if hasattr(ToolInfo, "from_toolinfo") else ToolDef(one).parameters
        for one in (gramc.guard([alone])[0], alone)
    )
    assert described == before
    # The tool itself is unchanged.
    assert call([alone], MALFORMED).error is not None


def test_a_tool_that_cannot_be_imported_stays():
    from agents import FunctionTool

    async def invoke(context: Any, arguments: str) -> str:
        return arguments

    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}}
    tool = FunctionTool("odd", "Odd", schema, invoke, strict_json_schema=False)
    with pytest.warns(UserWarning, match="`odd` is not guarded: ") as caught:
        (same,) = gramc.guard([tool])
    assert same is tool and caught[0].filename == __file__


def test_refusals_can_be_raised_again():
    (guarded,) = gramc.guard([reserve])
    with pytest.raises(gramc.CallRefused) as refused:
        guarded(WRONG, user="Grace")
    again = pickle.loads(pickle.dumps(refused.value))
    assert str(again) == str(refused.value)


class Colour(enum.Enum):
    red = "red"


class Order(pydantic.BaseModel):
    id: int
    parts: list["Order"] = []
    note: Optional[str] = pydantic.Field(default=None, alias="remark")


#: Types, and values that pydantic accepts. The schema of some allows fewer than that.
LENIENT: list[tuple[Any, list[Any]]] = [
    (int, [1, "1", 1.0]),
    (bool, [True, "yes", 1]),
    (datetime.date, ["2026-05-01", "2026-05-01T00:00:00"]),
    (datetime.datetime, ["2026-05-01T10:00:00", "2026-05-01 10:00", "2026-05-01T10:00:00Z"]),
    (datetime.timedelta, ["PT1H", "01:00:00", 60]),
    (decimal.Decimal, ["1.50", 2]),
    (uuid.UUID, ["12345678-1234-5678-1234-567812345678", "12345678123456781234567812345678"]),
    (Colour, ["red"]),
    (set[str], [["a", "a"]]),
    (tuple[int, str], [[1, "a"]]),
    (dict[str, float], [{"a": "1.5"}]),
    (Order, [{"id": 1, "parts": [{"id": 2}], "remark": "x"}, {"id": "1"}]),
    (Optional[Order], [None, {"id": 1}]),
    (pydantic.AnyUrl, ["https://exämple.com/a"]),
]


def test_a_guard_refuses_nothing_that_the_framework_accepts():
    from agents import function_tool
    from fastmcp import Client, FastMCP
    from langchain_core.tools import tool as as_tool
    from pydantic_ai import Tool

    for at, (kind, values) in enumerate(LENIENT):

        def f(x: Any) -> str:
            """Shows a value."""
            return repr(x)

        f.__annotations__["x"] = kind
        server = FastMCP("s")
        server.tool(f)
        gramc.guard(server)
        (plain,), (of_langchain,) = gramc.guard([f]), gramc.guard([as_tool(f)])
        (of_pydantic_ai,) = gramc.guard([Tool(f)])
        (of_openai,) = gramc.guard([function_tool(f, strict_mode=False)])
        for value in values:
            text = json.dumps({"x": value})
            expected = repr(pydantic.TypeAdapter(kind).validate_json(json.dumps(value)))
            assert plain(text) == expected, (kind, value)
            validator = of_pydantic_ai.function_schema.validator
            assert validator.validate_json(text) is not None, (kind, value)
            assert openai_call(of_openai, text) == expected, (kind, value)
            assert of_langchain.invoke({"x": value}) == expected, (kind, value)

            async def call() -> str:
                async with Client(server) as client:
                    return (await client.call_tool("f", {"x": value})).content[0].text

            if at < 5:
                assert asyncio.run(call()) == expected, (kind, value)
