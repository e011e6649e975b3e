"""Specifications, bindings, calls and their results."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import datetime
import enum
import json
import pickle
import threading
import time
from typing import Annotated, Literal

import pydantic
import pytest
from conftest import bind_one

import gramc


def test_ten_lines(tmp_path):
    file = tmp_path / "shop.gram"
    file.write_text("[findOrder:Tool | (id::Int)==>(::{id: Integer})]")
    spec = gramc.load(file)
    library = gramc.ToolLibrary("stable")

    @library.tool("findOrder")
    def find_order(id: int) -> dict:
        return {"id": id}

    session = spec.bind(library).session()
    verdict = session.call("findOrder", '{"id": "7"}')
    assert (verdict.ok, verdict.result, verdict.arguments) == (True, {"id": 7}, {"id": 7})
    assert [repair["rule"] for repair in verdict.repairs] == ["text-to-integer"]
    assert (verdict.message, verdict.error, verdict.errors) == ('{"id":7}', None, [])
    assert json.loads(verdict.to_json()) == verdict.to_dict()
    assert find_order(3) == {"id": 3}


def test_folders_and_lists_of_files(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.gram").write_text(f"[{name}:Tool | (x::Text)==>(::Text)]")
    assert gramc.load(tmp_path).names == ["a", "b"]
    assert gramc.load([str(tmp_path / "b.gram")]).names == ["b"]
    with pytest.raises(OSError, match="nowhere.gram"):
        gramc.load(tmp_path / "nowhere.gram")


def test_errors_are_diagnostics():
    with pytest.raises(gramc.SpecError, match="did you mean `Integer`") as caught:
        gramc.loads("[a:Tool | (x::Integr)==>(::Text)]", "a.gram")
    (found,) = caught.value.diagnostics
    assert (found["path"], found["code"], found["severity"]) == ("a.gram", "unknown-type", "error")
    assert pickle.loads(pickle.dumps(caught.value)).diagnostics == [found]
    with pytest.raises(gramc.SpecError, match="cannot import"):
        gramc.loads('{imports: ["x.gram"]}\n[a:Tool | (x::Text)==>(::Text)]')


def test_compile(shop):
    tools = shop.compile("openai-strict")
    assert [tool["function"]["name"] for tool in tools] == ["findOrder", "stay"]
    with pytest.raises(ValueError, match="unknown target `opnai`"):
        shop.compile("opnai")


def test_validate_runs_nothing(shop):
    assert shop.validate("stay", {"nights": 3, "price": 2.5}).ok
    verdict = shop.validate("stay", '{"nights": 90, "price": 1}')
    assert not verdict and verdict.error_type == "validation_error"
    assert [one["pointer"] for one in verdict.errors] == ["/nights"]
    assert shop.validate("stya").error_type == "unknown_tool"
    assert shop.validate("stay", "{").error_type == shop.validate("stay", "[").error_type
    assert shop.validate("stay", call_id="c1").to_dict()["id"] == "c1"


def test_all_gaps_are_listed(shop):
    library = gramc.ToolLibrary("gaps")

    @library.tool("stay")
    def stay(nights: int) -> float: ...

    @library.tool("findOrdr")
    def find(id: str) -> dict: ...

    with pytest.raises(gramc.BindError) as caught:
        shop.bind(library)
    gaps = {gap["tool"]: gap["message"] for gap in caught.value.gaps}
    assert set(gaps) == {"findOrder", "stay", "findOrdr"}
    assert "did you mean `findOrder`" in gaps["findOrdr"]
    assert "rejects" in gaps["stay"] and "price" in gaps["stay"]
    assert all(one["severity"] == "error" for one in caught.value.diagnostics)
    with pytest.raises(TypeError, match="ToolLibrary"):
        shop.bind("library")


def test_annotations_are_compared(shop):
    library = gramc.ToolLibrary("gaps")
    library.add("findOrder", lambda id: id)

    @library.tool("stay")
    def stay(nights: Literal[1, 2], price: float) -> float: ...

    with pytest.raises(gramc.BindError, match="`stay` rejects arguments"):
        shop.bind(library)


def test_unknown_settings_are_refused():
    for wrong in ({"timeout": -1}, {"timeout": float("nan")}, {"throttle": "x"}, {"max_attempts": -1}):
        (name,) = wrong
        with pytest.raises(TypeError, match=f"`{name}` expects"):
            gramc.ToolLibrary("l", **wrong)
    with pytest.raises(TypeError, match="a dictionary as `inject`"):
        gramc.ToolLibrary("l").add("f", len, inject=[1])
    gramc.ToolLibrary("l", timeout=1.15, undeclared="reject", same_tool_calls=3)
    with pytest.raises(TypeError, match="unknown setting `retries`"):
        gramc.ToolLibrary("x", retries=3)


ONE = "[f:Tool | (x::Text)==>(::Any)]"


def test_exceptions_are_invocation_errors():
    def fail(x):
        raise LookupError(f"no {x}")

    verdict = bind_one(ONE, "f", fail).call("f", {"x": "a"})
    assert (verdict.error_type, verdict.error["detail"]) == ("invocation_error", "LookupError: no a")
    assert "Traceback" not in verdict.to_json() and verdict.arguments == {"x": "a"}

    def silent(x):
        raise ValueError

    assert "ValueError" in bind_one(ONE, "f", silent).call("f", {"x": "a"}).message

    def leave(x):
        raise SystemExit(3)

    assert bind_one(ONE, "f", leave).call("f", {"x": "a"}).error_type == "invocation_error"

    def surrogate(x):
        raise ValueError("\ud800")

    assert bind_one(ONE, "f", surrogate).call("f", {"x": "a"}).error_type == "invocation_error"


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {(1, 2): 3}, b"x", "\ud800", {1, object()}, print]
)
def test_results_that_are_not_json(value):
    verdict = bind_one(ONE, "f", lambda x: value).call("f", {"x": "a"})
    assert verdict.error_type == "invocation_error"
    assert "cannot be written as JSON" in verdict.message


def test_circular_results():
    circle: list = []
    circle.append(circle)
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    for value in (circle, deep):
        verdict = bind_one(ONE, "f", lambda x, value=value: value).call("f", {"x": "a"})
        assert verdict.error_type == "invocation_error"


class Color(enum.Enum):
    RED = "red"


class Order(pydantic.BaseModel):
    id: int
    when: datetime.date


@dataclasses.dataclass
class Point:
    x: int
    order: Order


def test_results_of_python_types():
    day = datetime.date(2026, 1, 2)
    order = {"id": 1, "when": "2026-01-02"}
    for value, expected in [
        (Order(id=1, when=day), order),
        ([Point(2, Order(id=1, when=day))], [{"x": 2, "order": order}]),
        ({"c": Color.RED, "d": day, "s": {1}}, {"c": "red", "d": "2026-01-02", "s": [1]}),
        (None, None),
        (2**70, 2**70),
    ]:
        verdict = bind_one(ONE, "f", lambda x, value=value: value).call("f", {"x": "a"})
        assert (verdict.ok, verdict.result) == (True, expected)


def test_parameters_of_pydantic_types():
    seen = []

    def book(when: datetime.date, guests: list[Order], color: Color = Color.RED) -> str:
        seen.append((when, guests, color))
        return "ok"

    text = """[book:Tool | (when::Date)==>(guests::{id: Integer, when: Date}[])
               ==>(color::"red" {default: "red"})==>(::Text)]"""
    session = bind_one(text, "book", book)
    arguments = {"when": "2026-01-02", "guests": [{"id": 1, "when": "2026-02-03"}]}
    assert session.call("book", arguments).message == "ok"
    order = Order(id=1, when=datetime.date(2026, 2, 3))
    assert seen == [(datetime.date(2026, 1, 2), [order], Color.RED)]


def test_what_a_type_refuses_is_told_without_values():
    Even = Annotated[int, pydantic.AfterValidator(_even)]

    def f(x: Even): ...

    verdict = bind_one("[f:Tool | (x::Int)==>(::Any)]", "f", f).call("f", {"x": 12345})
    assert "even numbers only" in verdict.message and verdict.error_type == "invocation_error"
    assert "12345" not in verdict.error["detail"]


def _even(value: int) -> int:
    raise ValueError("even numbers only")


def test_timeouts():
    async def slow(x):
        await asyncio.sleep(30)

    for function in (slow, lambda x: time.sleep(2)):
        session = bind_one(ONE, "f", function, timeout=0.05)
        start = time.perf_counter()
        assert session.call("f", {"x": "a"}).error_type == "timeout"
        assert asyncio.run(_acall(session, "f", {"x": "a"})).error_type == "timeout"
        assert time.perf_counter() - start < 1.5


async def _acall(session, name, arguments):
    return await session.acall(name, arguments)


VARIABLE = contextvars.ContextVar("variable", default="unset")


def test_context_variables_reach_functions():
    async def asynchronous(x):
        await asyncio.sleep(0)
        return VARIABLE.get()

    async def run(session):
        VARIABLE.set("inner")
        return (await session.acall("f", {"x": "a"})).result

    for function in (asynchronous, lambda x: VARIABLE.get()):
        assert asyncio.run(run(bind_one(ONE, "f", function))) == "inner"


def test_secrets_are_injected_and_masked():
    text = "[f:Tool | (key::Text {injected: true, secret: true})==>(x::Text)==>(::Text)]"

    def f(x: str, key: str) -> str:
        return f"{x} with {key}"

    session = bind_one(text, "f", f, inject={"key": "s3cret-value"})
    verdict = session.call("f", {"x": "a"})
    assert verdict.ok and "s3cret-value" not in verdict.to_json()
    assert "key" not in json.dumps(session.bound.specification.compile("openai"))


def test_a_library_of_a_file(tmp_path):
    file = tmp_path / "library.gram"
    file.write_text('[local:Library | (now:Builtin {name: "now"})]')
    library = gramc.ToolLibrary.load(file, "local")
    library.add("f", lambda x: x)
    spec = gramc.loads(ONE + "\n[now:Tool | ()==>(::Text)]")
    session = spec.bind(library).session()
    assert session.call("f", {"x": "a"}).result == "a" and session.call("now").ok


WIPE = """
[wipe:Tool {approval: "always"} | (path::Text)==>(password::Text {secret: true})==>(::Text)]
[look:Tool | (path::Text)==>(::Text)]
"""


def wiping(approve=None) -> gramc.Session:
    library = gramc.ToolLibrary("files")
    library.add("wipe", lambda path, password: f"wiped {path}")
    library.add("look", lambda path: f"saw {path}")
    return gramc.loads(WIPE).bind(library).session(approve=approve)


def test_a_function_approves_calls():
    asked, answers = [], [True, False, "not today", None, 1, ValueError("no phone")]

    def approve(name, arguments):
        asked.append((name, arguments))
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    session = wiping(approve)
    call = {"path": "/tmp", "password": "hunter2-hunter2"}
    verdicts = [session.call("wipe", call) for _ in range(6)]
    assert asked == [("wipe", {"path": "/tmp", "password": "***"})] * 6
    assert verdicts[0].result == "wiped /tmp"
    assert verdicts[0].to_dict()["approval"] == {"approved": True, "by": "host"}
    refused = ["approval_refused"] * 2 + ["approval_required"] + ["approval_refused"] * 2
    assert [verdict.error_type for verdict in verdicts[1:]] == refused
    assert "not today" in verdicts[2].message and "no phone" in verdicts[5].message
    # What needs no approval, or is invalid, is not asked about.
    assert session.call("look", {"path": "/"}).ok
    assert session.call("wipe", {"path": 1}).error_type == "validation_error"
    assert len(asked) == 6
    assert wiping().call("wipe", call).error_type == "approval_required"
    with pytest.raises(TypeError, match="expected a function as `approve`"):
        wiping(3)


def test_a_coroutine_approves_calls_in_the_event_loop_of_the_caller():
    loops = []

    async def approve(name, arguments):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return arguments["path"] == "/tmp"

    session = wiping(approve)

    async def main():
        calls = [{"path": path, "password": "x" * 9} for path in ("/tmp", "/")]
        verdicts = await asyncio.gather(*(session.acall("wipe", call) for call in calls))
        assert loops == [asyncio.get_running_loop()] * 2
        return [verdict.error_type for verdict in verdicts]

    assert asyncio.run(main()) == [None, "approval_refused"]
    assert session.call("wipe", {"path": "/tmp", "password": "x" * 9}).ok


NUMBERS = "[f:Tool | (n::Int)==>(::{ok: Bool})]"


def find(n: int) -> dict[str, bool]:
    if n % 2 == 1:
        raise LookupError("no such number")
    return {"ok": n != 100}


def numbers(**settings) -> gramc.Session:
    library = gramc.ToolLibrary("l", **settings)
    library.add("f", find)
    return gramc.loads(NUMBERS).bind(library).session()


def test_parallel_calls_and_many_users_are_not_limited():
    async def reply(session):
        calls = [session.acall("f", {"n": n}) for n in (*range(8), *[2] * 8)]
        return [verdict.error_type for verdict in await asyncio.gather(*calls)]

    assert asyncio.run(reply(numbers())) == [None, "invocation_error"] * 4 + [None] * 8
    session = numbers()
    for user in range(50):
        assert session.call("f", {"n": 2}).ok
        assert session.call("f", {"n": 2 * user + 1}).error_type == "invocation_error"
    # The declared type allows this result.
    assert all(session.call("f", {"n": 100}).ok for _ in range(5))
    assert session.call("f", {"n": 100}).warnings == []


def test_the_fourth_of_identical_failing_calls_is_refused():
    session, other = numbers(), numbers()
    failed = ["invocation_error"] * 3
    arguments = ['{"n": 1}', "{n: '1'}", {"n": 1}, '{ "n": 1.0 }']
    assert [session.call("f", it).error_type for it in arguments] == [*failed, "throttled"]
    message = session.call("f", {"n": 1}).message
    assert message.startswith("`f` failed 3 times with the same arguments. Change the arguments,")
    assert other.call("f", {"n": 1}).error_type == "invocation_error"
    assert session.call("f", {"n": 3}).error_type == "invocation_error"
    session.begin_turn()
    assert session.call("f", {"n": 1}).error_type == "invocation_error"
    # Calls of one reply count as one.
    session.begin_turn()
    for _ in range(3):
        session.begin_reply()
        assert [session.call("f", {"n": 1}).error_type for _ in range(8)] == ["invocation_error"] * 8
    session.begin_reply()
    assert session.call("f", {"n": 1}).error_type == "throttled"


def test_the_strict_profile_limits_all_calls():
    session = numbers(throttle="strict")
    errors = [session.call("f", {"n": 2 * n}).error_type for n in range(6)]
    assert errors == [None] * 5 + ["throttled"]


def test_arguments_arrive_in_pieces():
    session = bind_one("[note:Tool | (text::Text)==>(n::Int)==>(::Any)]", "note", lambda text, n: [text, n])
    text = '{"text": "né😀 \\u00e9\\n", "n": "7"}'
    call = session.begin("note", call_id="c1")
    values = []
    for byte in text.encode():
        call.feed(bytes([byte]))
        values.append(call.value)
    assert values[-1] == {"text": "né😀 é\n", "n": 7}
    assert {"text": "né"} in values and {"text": "né😀 é\n"} in values
    verdict = call.finish(finish_reason="stop")
    whole = session.call("note", text, call_id="c1", finish_reason="stop")
    assert (verdict.id, verdict.to_json()) == ("c1", whole.to_json())
    with pytest.raises(RuntimeError, match="the call has ended"):
        call.feed("}")

    # Providers may split a character, and send deltas.
    call = session.begin("note")
    function = dataclasses.make_dataclass("Function", ["arguments"])
    for chunk in [
        '{"text": "\ud83d',
        {"type": "input_json_delta", "partial_json": "\ude00"},
        dataclasses.make_dataclass("Delta", ["index", "function"])(0, function('", ')),
        {"type": "response.function_call_arguments.delta", "delta": '"n": 1}'},
    ]:
        call.feed(chunk)
    assert asyncio.run(finish(call)).result == ["😀", 1]
    with pytest.raises(TypeError, match="a delta of a provider"):
        session.begin("note").feed(7)


async def finish(call):
    return await call.afinish()


def test_a_call_that_no_continuation_makes_valid_is_stopped():
    session = bind_one("[f:Tool | (x::Int)==>(y::Text)==>(::Any)]", "f", lambda **_: None)
    call = session.begin("f")
    call.feed('{"x": "many"')
    assert call.error is None
    call.feed(', "y": "')
    assert call.error["errors"][0]["pointer"] == "/x"
    assert call.value == {}
    verdict = call.stop()
    assert verdict.error_type == "validation_error" and "`x` must be an integer" in verdict.message
    assert session.begin("g").error["error_type"] == "unknown_tool"
    assert session.begin("f").stop().error_type == "reply_cut_off"


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1,
        2**63 - 1,
        2**63,
        -(10**40),
        0.1,
        -0.0,
        1e16,
        1e-7,
        1.0,
        "",
        'ü "\\ \n \u2028 \U0001f600 \0',
        [],
        {},
        [[], {}, [None, [False, 1.5]]],
        (1, (2, "x")),
        {"ä": {"": [1, {"b": "c"}]}},
        {1: "one", None: 2, True: 3},
        [Level.LOW],
        {"deep": [[[[[[[[{"x": [0]}]]]]]]]]},
    ],
)
def test_values_arrive_as_the_json_module_writes_and_reads_them(value):
    spec = gramc.loads("[take:Tool | (value::Any)==>(::Any)]")
    expected = json.loads(json.dumps({"value": value}))
    for arguments in ({"value": value}, json.dumps({"value": value})):
        verdict = spec.validate("take", arguments)
        assert repr(verdict.arguments) == repr(expected)
        assert repr(verdict.to_dict()["arguments"]) == repr(expected)


def test_what_the_json_module_refuses_is_refused():
    spec = gramc.loads("[take:Tool | (value::Any)==>(::Any)]")
    itself: list[object] = []
    itself.append(itself)
    with pytest.raises((ValueError, RecursionError)):
        spec.validate("take", {"value": itself})
    with pytest.raises(TypeError):
        spec.validate("take", {"value": object()})
    assert not spec.validate("take", {"value": float("nan")}).ok


def test_without_threads_functions_run_in_that_of_the_caller():
    def where() -> int:
        return threading.get_ident()

    def stop() -> int:
        raise KeyboardInterrupt

    spec = gramc.loads("[where:Tool | ()==>(::Int)] [stop:Tool | ()==>(::Int)]")
    library = gramc.ToolLibrary("here", threads=False)
    library.add("where", where)
    library.add("stop", stop)
    session = spec.bind(library).session()
    assert session.call("where").result == threading.get_ident()
    with pytest.raises(KeyboardInterrupt):
        session.call("stop")
    library = gramc.ToolLibrary("mixed", threads=False)
    library.add("where", where, threads=True)
    library.add("stop", stop)
    assert spec.bind(library).session().call("where").result != threading.get_ident()
