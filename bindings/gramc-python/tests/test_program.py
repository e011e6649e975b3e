"""What the program supplies to tools, and what it sees of their calls."""

import asyncio
import contextvars
import dataclasses
import logging
import pickle
import subprocess
import sys
from typing import Any, Optional

import pytest
from conftest import bind_one

import gramc

ONE = "[f:Tool | (x::Text)==>(::Any)]"
USER = contextvars.ContextVar("user", default="nobody")


class User:
    """An object without a form in JSON."""

    def __init__(self, name: str) -> None:
        self.name = name


def greet(x: str, user: gramc.Injected[User]) -> list[str]:
    return [x, user.name]


async def greet_async(x: str, user: gramc.Injected[User], note: gramc.Injected[Optional[str]] = None) -> Any:
    return [x, user.name, note]


def test_values_of_the_session_and_the_call():
    ada, grace = User("Ada"), User("Grace")
    for function, rest in ((greet, []), (greet_async, [None])):
        bound = bind_one(ONE, "f", function).bound
        session = bound.session(inject={"user": ada})
        assert session.call("f", {"x": "a"}).result == ["a", "Ada", *rest]
        assert session.call("f", {"x": "a"}, inject={"user": grace}).result == ["a", "Grace", *rest]
        verdict = asyncio.run(session.acall("f", {"x": "a"}, inject={"user": grace}))
        assert verdict.result == ["a", "Grace", *rest] and "user" not in verdict.to_json()
        stream = session.begin("f")
        stream.feed('{"x": "a"}')
        assert stream.finish().result == ["a", "Ada", *rest]
        missing = bound.session().call("f", {"x": "a"})
        assert missing.error_type == "invocation_error" and missing.exception is None
        assert missing.error["detail"].startswith("`f` has no value for its parameter `user`: pass")
        assert bound.session().call("f", {"x": "a"}, inject={"user": ada}).ok
        # The values of the library come last.
        bound = bind_one(ONE, "f", function, inject={"user": ada}).bound
        assert bound.session().call("f", {"x": "a"}).result[1] == "Ada"
        assert bound.session(inject={"user": grace}).call("f", {"x": "a"}).result[1] == "Grace"
    session = bind_one(ONE, "f", greet_async).bound.session(inject={"user": ada, "note": "n"})
    assert session.call("f", {"x": "a"}).result == ["a", "Ada", "n"]


def test_a_model_cannot_set_what_the_program_supplies():
    def f(
        x: str, user: gramc.Injected[User], note: gramc.Injected[Optional[str]] = None, **others: Any
    ) -> Any:
        return [x, user.name, note, others]

    text = "[f:Tool {open: true} | (x::Text)==>(::Any)]"
    session = bind_one(text, "f", f, undeclared="keep").bound.session(inject={"user": User("Ada")})
    verdict = session.call("f", {"x": "a", "user": "Eve", "note": "Eve", "y": 1})
    assert verdict.result == ["a", "Ada", None, {"y": 1}]


def test_parameters_that_the_specification_injects(tmp_path):
    text = "[f:Tool | (key::Text {injected: true, secret: true})==>(x::Text)==>(::Any)]"

    def f(key: str, x: str) -> str:
        return f"{x} with {key}"

    bound = bind_one(text, "f", f).bound
    missing = bound.session().call("f", {"x": "a"})
    assert "no value for the injected parameter `key` of `f`" in missing.message
    session = bound.session(inject={"key": "s3cret-value"})
    assert session.call("f", {"x": "a"}).result == "a with ***"
    assert session.call("f", {"x": "a"}, inject={"key": "0ther-value"}).result == "a with ***"
    assert bound.session().call("f", {"x": "a"}, inject={"key": "0ther-value"}).ok
    # Programs get them, too.
    (tmp_path / "l.gram").write_text(f'{text} [l:Library | (f:Command {{run: ["cat"]}})]')
    library = gramc.ToolLibrary.load(tmp_path / "l.gram")
    session = gramc.load(tmp_path / "l.gram").bind(library).session(inject={"key": "s3cret-value"})
    assert session.call("f", {"x": "a"}).result == {"x": "a", "key": "***"}


def test_context_variables_reach_functions():
    async def wait(x: str) -> str:
        await asyncio.sleep(0)
        return USER.get()

    for function in (lambda x: USER.get(), wait):
        session = bind_one(ONE, "f", function)

        async def serve(name: str) -> Any:
            USER.set(name)
            return (await session.acall("f", {"x": name})).result

        async def main() -> Any:
            return await asyncio.gather(*(serve(name) for name in "abc"))

        assert asyncio.run(main()) == ["a", "b", "c"]


class OwnError(Exception):
    pass


def fail(x: str) -> None:
    raise OwnError(f"no {x} for s3cret-value")


async def fail_async(x: str) -> None:
    fail(x)


def test_exceptions_do_not_vanish(caplog):
    text = "[f:Tool | (key::Text {injected: true, secret: true})==>(x::Text)==>(::Any)]"

    async def fail_with_key(key: str, x: str) -> None:
        fail(x)

    for function in (lambda key, x: fail(x), fail_with_key, fail_async):
        injects = function is not fail_async
        options = {"inject": {"key": "s3cret-value"}} if injects else {}
        session = bind_one(text if injects else ONE, "f", function, **options)
        verdict = session.call("f", {"x": "a"})
        assert isinstance(verdict.exception, OwnError)
        traceback = verdict.exception.__traceback__
        while traceback.tb_next:
            traceback = traceback.tb_next
        assert traceback.tb_frame.f_code.co_name == "fail"
        shown = "OwnError: no a for ***" if injects else "OwnError: no a for s3cret-value"
        assert verdict.error["detail"] == shown and shown in verdict.message
        (record,) = [one for one in caplog.records if one.levelno == logging.ERROR]
        assert record.name == "gramc" and record.exc_info[1] is verdict.exception
        caplog.clear()
    verdict = asyncio.run(session.acall("f", {"x": "a"}))
    assert isinstance(verdict.exception, OwnError)


def test_the_text_of_exceptions_can_be_replaced():
    library = gramc.ToolLibrary("l", error_text=lambda error: f"sorry: {type(error).__name__}")
    library.add("f", fail)
    verdict = gramc.loads(ONE).bind(library).session().call("f", {"x": "a"})
    assert verdict.error["detail"] == "sorry: OwnError" and isinstance(verdict.exception, OwnError)


def test_verdicts_are_reported(caplog):
    seen: list[gramc.Verdict] = []
    session = bind_one("[f:Tool | (n::Int)==>(::Any)]", "f", lambda n: n).bound.session(on_verdict=seen.append)
    caplog.set_level(logging.INFO, "gramc")
    assert session.call("f", {"n": 1}).ok and caplog.text == ""
    session.call("f", {"n": "2"})
    asyncio.run(session.acall("f", {"n": "x"}))
    assert [one.ok for one in seen] == [True, True, False]
    assert "repaired a call of `f`: n (text-to-integer)" in caplog.text
    assert "refused a call of `f`: `f`: `n` must be an integer" in caplog.text
    # A fault of the callback does not end the call.
    faulty = session.bound.session(on_verdict=lambda verdict: 1 / 0)
    assert faulty.call("f", {"n": 1}).ok and "`on_verdict` failed for a call of `f`" in caplog.text


def test_spans():
    """In a process of its own, because a provider of spans can be set once."""
    program = """if True:
        import asyncio, gramc
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        tracer = trace.get_tracer("test")

        def f(n: int) -> int:
            with trace.get_tracer("tool").start_as_current_span("inside"):
                return 10 // n

        async def g(n: int) -> int:
            with trace.get_tracer("tool").start_as_current_span("inside"):
                return 10 // n

        library = gramc.ToolLibrary("l")
        library.add("f", f)
        library.add("g", g)
        session = library.specification().bind(library).session()
        session.call("f", {"n": 1})
        trace.set_tracer_provider(provider)

        session.call("f", {"n": "2"}, call_id="c1")
        asyncio.run(session.acall("g", {"n": 0}))
        with trace.get_tracer("framework").start_as_current_span("outer"):
            gramc.guard([f])[0]({"n": "5"})
        for span in exporter.get_finished_spans():
            parent = span.parent.span_id == {one.context.span_id: one for one in
                exporter.get_finished_spans()}.get(span.parent.span_id).context.span_id if span.parent else None
            events = [event.name for event in span.events]
            print(span.name, dict(span.attributes), span.status.status_code.name, events, parent)
    """
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    tool = "'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name'"
    kind = "'gen_ai.tool.type': 'function'"
    rules = "'gramc.repairs': ('text-to-integer',)"
    failed = "'error.type': 'ZeroDivisionError'"
    assert ended.stdout.splitlines() == [
        "inside {} UNSET [] True",
        f"execute_tool f {{{tool}: 'f', {kind}, 'gen_ai.tool.call.id': 'c1', {rules}}} UNSET [] None",
        "inside {} ERROR ['exception'] True",
        f"execute_tool g {{{tool}: 'g', {kind}, {failed}}} ERROR ['exception'] None",
        "inside {} UNSET [] True",
        f"outer {{{rules}}} UNSET [] None",
    ]


def test_programs_get_the_context_of_the_trace(tmp_path):
    (tmp_path / "l.gram").write_text(
        "[f:Tool | ()==>(::Text)]"
        '[l:Library | (f:Command {run: ["sh", "-c", "printf %s $TRACEPARENT"]})]'
    )
    program = """if True:
        import asyncio, gramc
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider

        session = gramc.load("l.gram").bind(gramc.ToolLibrary.load("l.gram")).session()
        assert session.call("f").result == ""
        trace.set_tracer_provider(TracerProvider())
        with trace.get_tracer("test").start_as_current_span("outer") as span:
            print(format(span.get_span_context().trace_id, "032x"))
            print(session.call("f").result, asyncio.run(session.acall("f")).result)
    """
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    outer, parents = ended.stdout.splitlines()
    assert [parent.split("-")[1] for parent in parents.split()] == [outer, outer], ended.stdout


def test_trio():
    import trio

    async def g(x: str) -> str:
        await asyncio.sleep(0)
        return x

    for function in (lambda x: x, g):
        session = bind_one(ONE, "f", function)
        verdict = trio.run(session.acall, "f", {"x": "a"})
        assert verdict.result == "a"


def test_misuse(shop, tmp_path):
    session = bind_one(ONE, "f", lambda x: x)
    for method in (session.call, session.acall, session.validate, shop.validate):
        with pytest.raises(TypeError, match=r'pass the arguments of the tool as a dictionary: \w+\("f", {"id": …}\)'):
            method("f", id=7)
    with pytest.raises(FileNotFoundError, match="no-such.gram"):
        gramc.load(tmp_path / "no-such.gram")
    with pytest.raises(FileNotFoundError):
        gramc.ToolLibrary.load(tmp_path / "no-such.gram")
    with pytest.raises(OSError, match="no .gram files"):
        gramc.load(tmp_path)
    with pytest.raises(ValueError, match="unknown target `opnai`; expected one of json-schema, openai, .*; did you mean `openai`"):
        shop.compile("opnai")


def work(steps: int, context: gramc.Context) -> int:
    for step in range(steps):
        context.progress(step + 1, steps, f"step {step + 1}")
    return steps


async def work_async(steps: int, context: gramc.Context) -> int:
    return work(steps, context)


def test_progress(caplog):
    from fastmcp import Client, FastMCP

    from gramc.adapters import fastmcp

    for function in (work, work_async):
        library = gramc.ToolLibrary("l")
        library.add("work", function)
        bound = library.specification().bind(library)
        assert list(bound.specification["work"].schema["properties"]) == ["steps"]
        seen: list[gramc.Progress] = []
        session = bound.session(on_progress=seen.append)
        assert session.call("work", {"steps": 2}).result == 2
        assert seen == [("work", 1, 2, "step 1"), ("work", 2, 2, "step 2")]
        assert asyncio.run(session.acall("work", {"steps": 1})).ok and len(seen) == 3
        assert bound.session().call("work", {"steps": 1}).ok
        assert gramc.guard(work)({"steps": "3"}) == 3
        assert bound.session(on_progress=lambda progress: 1 / 0).call("work", {"steps": 1}).ok
        assert "`on_progress` failed for `work`" in caplog.text

        async def of_server() -> None:
            heard: list[Any] = []

            async def hear(*progress: Any) -> None:
                heard.append(progress)

            server = FastMCP("s", middleware=[fastmcp.middleware(bound)])
            async with Client(server, progress_handler=hear) as client:
                assert (await client.call_tool("work", {"steps": 2})).content[0].text == "2"
                await asyncio.sleep(0.2)
            assert heard == [(1, 2, "step 1"), (2, 2, "step 2")]

        asyncio.run(of_server())


def test_contracts():
    def divide(n: int) -> float:
        return 10 / n

    async def double(n: int) -> int:
        return n * 2

    def wipe(n: int) -> int:
        raise AssertionError("destructive tools are not called")

    library = gramc.ToolLibrary("l")
    for function in (divide, double, wipe):
        library.tool(function)
    text = library.specification().gram.replace("[wipe:Tool {", "[wipe:Tool {destructive: true, ")
    bound = gramc.loads(text).bind(library)
    divided, doubled, wiped = bound.test(cases=20, seed=3)
    assert (divided["status"], doubled["status"], wiped["status"]) == ("failed", "passed", "skipped")
    (violation,) = divided["violations"]
    assert violation["arguments"] == {"n": 0} and "ZeroDivisionError" in violation["message"]
    assert [one["tool"] for one in bound.test(cases=2, tools=["double"])] == ["double"]


@dataclasses.dataclass
class Holder:
    specification: gramc.Specification
    verdict: gramc.Verdict


def test_objects_can_be_looked_at(shop):
    assert (len(shop), list(shop), "stay" in shop, "x" in shop) == (2, ["findOrder", "stay"], True, False)
    tool = shop["findOrder"]
    assert tool.description == "Finds an order" and tool.schema["required"] == ["id"]
    assert tool.gram.startswith('/** Finds an order */\n[findOrder:Tool | (id::Text)')
    with pytest.raises(KeyError, match="there is no tool `findorder`; did you mean `findOrder`"):
        shop["findorder"]
    assert repr(shop) == "<Specification of findOrder, stay>" and "(id::Text)" in shop.gram
    assert "<td>findOrder</td><td>Finds an order</td><td>id</td>" in shop._repr_html_()
    session = bind_one(ONE, "f", lambda x: x)
    assert (repr(session), repr(session.bound), len(session.bound)) == ("<Session with f>", "<Bound of f>", 1)
    assert "<td>result</td><td>&quot;&lt;&quot;</td>" in session.call("f", {"x": "<"})._repr_html_()
    assert gramc.__version__[0].isdigit()


def test_objects_can_be_pickled(shop):
    session = bind_one("[f:Tool | (n::Int)==>(::Any)]", "f", lambda n: 10 // n)
    for arguments, call_id in (({"n": "5"}, "c1"), ({"n": 0}, None), ({"n": "x"}, None)):
        verdict = session.call("f", arguments, call_id=call_id)
        held = pickle.loads(pickle.dumps(Holder(shop, verdict)))
        assert held.specification.compile("mcp") == shop.compile("mcp")
        again = held.verdict
        for name in ("ok", "name", "id", "result", "arguments", "repairs", "error", "error_type", "message"):
            assert getattr(again, name) == getattr(verdict, name), name
        assert again.to_json() == verdict.to_json() and bool(again) == bool(verdict)
        assert repr(again) == repr(verdict) and repr(again.exception) == repr(verdict.exception)
    assert pickle.loads(pickle.dumps(again)).to_dict() == verdict.to_dict()


def test_types_of_decorated_functions(tmp_path):
    """Each line with the comment `wrong` is an error for mypy, and no other one is."""
    mypy = pytest.importorskip("mypy.api")
    program = tmp_path / "user.py"
    program.write_text('''
import gramc

@gramc.tool
def book(city: str, nights: int = 1) -> list[str]:
    return [city] * nights

nights: list[str] = book("Vienna", nights=2)
book(town="Vienna")  # wrong
book("Vienna", nights="2")  # wrong
text: str = book("Vienna")  # wrong

library = gramc.ToolLibrary("l")

@library.tool
def find(id: int, user: gramc.Injected[str]) -> str:
    return user + 1  # wrong

found: str = find(7, "Ada")
find("7", "Ada")  # wrong
find(7)  # wrong

spec = gramc.specification([book, find])
spec["book"].schemas  # wrong
session = spec.bind(library).session(inject=3)  # wrong
session = spec.bind(library).session()
verdict = session.call("find", id=7)  # wrong
verdict = session.call("find", {"id": 7}, call_id=7)  # wrong
verdict.ok()  # wrong
error: ValueError = verdict.exception  # wrong
functions = gramc.guard([find])
result: str = functions[0](7, "Ada")
number: int = functions[0](7, "Ada")  # wrong
gramc.guard([find], on_verdict=lambda: None)  # wrong
gramc.tool(3)  # wrong
gramc.loads(b"")  # wrong
library.tool("find")(3)  # wrong
gramc.ToolLibrary("l", error_text=lambda error: 3)  # wrong
for name in spec:
    name.schema  # wrong
try:
    pass
except gramc.CallRefused as refused:
    refused.verdicts  # wrong
''')
    shown, _, _ = mypy.run(["--strict", "--no-error-summary", "--cache-dir", str(tmp_path), str(program)])
    found = {int(line.split(":")[1]) for line in shown.splitlines() if ": error:" in line}
    lines = program.read_text().splitlines()
    planted = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(planted) == 20 and found == planted, shown
