"""Experiments whose agent is a function."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

import gramc

SPEC = """
[findOrder:Tool {description: "Finds an order"} | (id::Text)==>(::{id: Text, status: Text})]
[cancel:Tool | (id::Text)==>(reason::Text)==>(::Text)]
"""
ROOT = Path(__file__).parents[3]


def bound(name: str, broken=range(0), status: str = "open") -> gramc.Bound:
    """A library that finds the wrong state of some orders."""
    library = gramc.ToolLibrary(name)
    # Part of what identifies the arm.
    lost = json.dumps(list(broken))

    @library.tool("findOrder", inject={})
    def find_order(id: str) -> dict:
        return {"id": id, "status": "lost" if int(id) in json.loads(lost) else status}

    @library.tool("cancel")
    async def cancel(id: str, reason: str) -> str:
        return f"cancelled {id}: {reason}"

    return gramc.loads(SPEC).bind(library)


def order_cases(count: int) -> list[dict]:
    expect = {"contains": "is open", "calls": [{"name": "findOrder"}]}
    return [
        {"id": f"order-{number}", "input": f"Where is order {number}", "expect": expect}
        for number in range(count)
    ]


def clerk(session: gramc.Session, message: str) -> str:
    verdict = session.call("findOrder", {"id": message.split()[-1]})
    return f"Your order is {verdict.result['status']}."


def comparison(report: gramc.Report, outcome: str) -> dict:
    (found,) = [one for one in report.to_dict()["comparisons"] if one["outcome"] == outcome]
    return found


def runs(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def test_a_worse_library_is_found(tmp_path):
    arms = {"stable": bound("a"), "rewrite": bound("b", range(20))}
    report = gramc.experiment(
        agent=clerk, arms=arms, cases=order_cases(200), report=tmp_path / "report", name="replace"
    )
    found = report.to_dict()
    assert found["verdict"] == "rewrite worse by 10.0 points (95 % interval 5.5 to 14.3)"
    assert (found["name"], found["agent"], found["runs"]) == ("replace", "clerk", 400)
    success = comparison(report, "success")
    assert success["estimate"] == pytest.approx(-0.1)
    assert success["first"]["mean"] == 1 and comparison(report, "calls")["second"]["mean"] == 1
    assert len(found["flips"]) == 20 and found["flips"][0]["winner"] == "stable"
    assert report.gate("success >= -20pp") and not report.gate("success >= -1pp")
    assert str(report) == report.text and report.text.startswith(found["verdict"])
    assert found["verdict"] in repr(report) and "| success" in report._repr_markdown_()
    with pytest.raises(ValueError, match="did you mean `success`"):
        report.gate("sucess >= 0pp")
    files = {path.name for path in (tmp_path / "report").iterdir()}
    pages = {"report.json", "report.md", "report.html"}
    assert files == {"experiment.json", "runs.jsonl"} | pages
    assert json.loads((tmp_path / "report/report.json").read_text()) == found
    (first, *_) = runs(tmp_path / "report")
    roles = [message["role"] for message in first["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert first["messages"][1]["tool_calls"][0]["name"] == "findOrder"


def test_equal_arms_do_not_differ():
    arms = {"a": bound("a", range(10)), "b": bound("a", range(10))}
    report = gramc.experiment(agent=clerk, arms=arms, cases=order_cases(100), repeats=2)
    assert comparison(report, "success")["estimate"] == 0
    assert report.to_dict()["verdict"] == "no difference larger than 2.8 points"
    assert report.to_dict()["differences"] == [] and report.gate("success >= -3pp")


def test_the_report_says_how_libraries_differ():
    arms = {"a": bound("a"), "b": bound("b")}
    slow = gramc.ToolLibrary("slow", timeout=5)
    slow.add("findOrder", lambda id: {"id": id, "status": "open"}, inject={})
    slow.add("cancel", lambda id, reason: "no", max_attempts=1)
    arms["c"] = gramc.loads(SPEC).bind(slow)
    report = gramc.experiment(agent=clerk, arms=arms, cases=order_cases(30))
    differences = {one.get("tool"): one["arms"] for one in report.to_dict()["differences"]}
    assert differences[None] == ["", "", '{"timeout":"5000ms"}']
    assert differences["findOrder"][0] == differences["findOrder"][1]
    assert differences["cancel"][2].startswith('(cancel:Function {"maxAttempts":1,"code":"')


def test_gates_work_in_pytest(tmp_path):
    (tmp_path / "test_gate.py").write_text(f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_experiment import bound, clerk, gramc, order_cases

def compare(broken):
    arms = {{"stable": bound("a"), "rewrite": bound("b", range(broken))}}
    return gramc.experiment(agent=clerk, arms=arms, cases=order_cases(100))

def test_the_same_is_good_enough():
    report = compare(0)
    assert report.gate("success >= -5pp"), report.text

def test_a_worse_one_is_not():
    report = compare(30)
    assert report.gate("success >= -5pp"), report.text
""")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_gate.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "rewrite worse by 30.0 points" in done.stdout, done.stdout


SLOW = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_experiment import bound, clerk, gramc, order_cases

def slow(session, message):
    with open("started.log", "a") as log:
        log.write(message + "\\n")
    time.sleep(0.02)
    return clerk(session, message)

arms = {{"a": bound("a"), "b": bound("b", range(5))}}
report = gramc.experiment(agent=slow, arms=arms, cases=order_cases(100), report="report", concurrency=4)
print(report.to_dict()["runs"])
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_experiment_continues(tmp_path, how):
    (tmp_path / "slow.py").write_text(SLOW)
    start = [sys.executable, "slow.py"]
    journal = tmp_path / "report/runs.jsonl"
    with subprocess.Popen(start, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while not journal.exists() or journal.read_bytes().count(b"\n") < 20:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(how)
        _, errors = process.communicate(timeout=20)
    if how == signal.SIGINT:
        assert process.returncode != 0 and "KeyboardInterrupt" in errors
    finished = journal.read_bytes().count(b"\n")
    assert 20 <= finished < 200
    started = len((tmp_path / "started.log").read_text().splitlines())
    second = subprocess.run(start, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert second.stdout == "200\n"
    again = len((tmp_path / "started.log").read_text().splitlines()) - started
    assert again == 200 - finished
    whole = gramc.experiment(
        agent=clerk, arms={"a": bound("a"), "b": bound("b", range(5))}, cases=order_cases(100)
    )
    found = json.loads((tmp_path / "report/report.json").read_text())
    (success,) = [one for one in found["comparisons"] if one["outcome"] == "success"]
    assert success == comparison(whole, "success")


def test_another_experiment_is_refused(tmp_path):
    def compare(agent=clerk, status="open", **options):
        arms = {"a": bound("a"), "b": bound("b", status=status)}
        return gramc.experiment(
            agent=agent, arms=arms, cases=order_cases(2), report=tmp_path / "report", **options
        )

    def other(session, message):
        return "Your order is open."

    compare()
    compare()
    with pytest.raises(gramc.ExperimentError, match="the agent differs"):
        compare(agent=other)
    other.__name__ = "clerk"
    with pytest.raises(gramc.ExperimentError, match="the code or version of the agent differs"):
        compare(agent=other)
    with pytest.raises(gramc.ExperimentError, match="the code or version of the agent differs"):
        compare(version="2")
    with pytest.raises(gramc.ExperimentError, match="the seed differs"):
        compare(seed=3)
    library = gramc.ToolLibrary("a")
    library.add("findOrder", lambda id: {"id": id, "status": "open", "changed": True}, inject={})
    library.add("cancel", lambda id, reason: "")
    arms = {"a": gramc.loads(SPEC).bind(library), "b": bound("b")}
    with pytest.raises(gramc.ExperimentError, match="the arms differ"):
        gramc.experiment(
            agent=clerk, arms=arms, cases=order_cases(2), report=tmp_path / "report"
        )


def test_an_agent_that_fails_counts_against_its_arm(tmp_path):
    def fragile(session, message):
        verdict = session.call("findOrder", {"id": message.split()[-1]})
        if verdict.result["status"] == "lost":
            raise KeyError("no such order")
        return "Your order is open."

    arms = {"a": bound("a"), "b": bound("b", range(30, 40))}
    cases = order_cases(40)
    report = gramc.experiment(
        agent=fragile, arms=arms, cases=cases, report=tmp_path / "r", concurrency=1
    )
    assert comparison(report, "success")["estimate"] == pytest.approx(-0.25)
    failed = [run for run in runs(tmp_path / "r") if not run["success"]]
    assert len(failed) == 10 and {run["end"] for run in failed} == {"failed"}
    line = fragile.__code__.co_firstlineno + 3
    missed = f"the agent `fragile` failed: KeyError: 'no such order' (test_experiment.py:{line})"
    assert missed in failed[0]["missed"][0]

    def broken(session, message):
        raise ValueError("no key")

    with pytest.raises(gramc.ExperimentError, match="could not be counted: .*ValueError: no key"):
        gramc.experiment(agent=broken, arms=arms, cases=cases)
    for wrong in (3, None, {"text": "misnamed"}, object()):
        with pytest.raises(gramc.ExperimentError, match="the agent `<lambda>` "):
            gramc.experiment(agent=lambda *_, wrong=wrong: wrong, arms=arms, cases=cases)


def test_runs_of_a_busy_provider_are_not_counted():
    asked = set()

    def busy(session, message):
        if message.endswith("7") and message not in asked:
            asked.add(message)
            return {"error": "the provider is busy"}
        return clerk(session, message)

    arms = {"a": bound("a"), "b": bound("b")}
    report = gramc.experiment(agent=busy, arms=arms, cases=order_cases(60), concurrency=1)
    found = report.to_dict()
    assert found["runs"] == 114 and sum(arm["runs"] for arm in found["unanswered"]) == 6
    assert found["stopped"].startswith("6 runs could not be counted: ")
    assert not report.gate("success >= -50pp")


def test_coroutines_run_in_one_event_loop_at_the_same_time():
    loops, most, now = set(), 0, 0

    async def clerk(session, message):
        nonlocal most, now
        loops.add(id(asyncio.get_running_loop()))
        now += 1
        most = max(most, now)
        verdict = await session.acall("findOrder", {"id": message.split()[-1]})
        await asyncio.sleep(0.01)
        now -= 1
        return {"output": f"Your order is {verdict.result['status']}."}

    arms = {"a": bound("a"), "b": bound("b", range(10))}

    async def main() -> gramc.Report:
        # This blocks the event loop of the caller, and waits for nothing in it.
        return gramc.experiment(agent=clerk, arms=arms, cases=order_cases(40), concurrency=16)

    report = asyncio.run(main())
    assert comparison(report, "success")["estimate"] == pytest.approx(-0.25)
    assert len(loops) == 1 and most == 16


@pytest.mark.parametrize("is_async", [False, True])
def test_agents_of_a_framework_are_compared(is_async, tmp_path):
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from gramc.adapters import pydantic_ai

    def model(messages, info) -> ModelResponse:
        last, id = messages[-1].parts[-1], messages[0].parts[-1].content.split()[-1]
        if last.part_kind == "user-prompt":
            # A number is no text.
            return ModelResponse([ToolCallPart("findOrder", {"id": int(id)})])
        if getattr(last, "outcome", None) == "retried":
            return ModelResponse([ToolCallPart("findOrder", {"id": id})])
        return ModelResponse([TextPart(f"Your order is {last.content}")])

    def framework_agent(session: gramc.Session) -> Agent:
        return Agent(FunctionModel(model), toolsets=[pydantic_ai.toolset(session)])

    async def run_async(session: gramc.Session, message: str) -> dict:
        result = await framework_agent(session).run(message)
        usage = {"input_tokens": 10, "output_tokens": 2, "requests": len(result.new_messages()) // 2}
        return {"output": result.output, "usage": usage}

    def run_sync(session: gramc.Session, message: str) -> dict:
        return asyncio.run(run_async(session, message))

    expect = {"contains": "open", "calls": [{"name": "findOrder"}]}
    cases = [{"input": f"Where is order {number}", "expect": expect} for number in range(40)]
    arms = {"stable": bound("a"), "rewrite": bound("b", range(10))}
    report = gramc.experiment(
        agent=run_async if is_async else run_sync, arms=arms, cases=cases, report=tmp_path / "r"
    )
    assert comparison(report, "success")["estimate"] == pytest.approx(-0.25)
    assert comparison(report, "refused")["second"]["mean"] == 1
    assert {run["iterations"] for run in runs(tmp_path / "r")} == {3}


def test_an_event_loop_goes_on_during_an_experiment(tmp_path):
    arms = {"a": bound("a"), "b": bound("b", range(3))}

    def slow(session, message):
        time.sleep(0.01)
        return clerk(session, message)

    options = {"agent": slow, "arms": arms, "cases": order_cases(100), "report": tmp_path / "r"}
    journal = tmp_path / "r/runs.jsonl"

    async def main() -> tuple[int, gramc.Report]:
        work = asyncio.create_task(gramc.aexperiment(**options, concurrency=2))
        while not journal.exists() or journal.read_bytes().count(b"\n") < 10:
            await asyncio.sleep(0.005)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        # The folder is free once the cancelled experiment has ended.
        while True:
            finished = journal.read_bytes().count(b"\n")
            try:
                return finished, await gramc.aexperiment(**options)
            except gramc.ExperimentError as error:
                assert "is in use" in str(error)
                await asyncio.sleep(0.01)

    finished, report = asyncio.run(main())
    assert 10 <= finished < 200 and report.to_dict()["runs"] == 200
    assert comparison(report, "success")["estimate"] == pytest.approx(-0.03)

    async def wrong() -> None:
        with pytest.raises(gramc.ExperimentError, match="`repeats`"):
            await gramc.aexperiment(**options, repeats=0)

    asyncio.run(wrong())


def test_a_coroutine_can_wait_for_a_coroutine():
    async def blocking(session, message):
        return session.call("cancel", {"id": "7", "reason": message}).result

    cases = [{"input": "late", "expect": {"equals": "cancelled 7: late"}}]
    arms = {"a": bound("a"), "b": bound("b")}
    report = gramc.experiment(agent=blocking, arms=arms, cases=cases, time_limit=10)
    assert [rate["successes"] for rate in report.to_dict()["rates"]] == [1, 1]


def test_the_code_of_a_function_is_known_by_what_it_does():
    from gramc._code import code_hash

    def of(text: str, name: str = "f") -> str | None:
        namespace: dict = {}
        exec(text, namespace)
        return code_hash(namespace[name])

    plain = of("def f(a):\n    return a in {'x', 'y', 'z'}")
    assert plain == of("# moved\n\ndef f(a):\n    # explained\n    return a in {'z', 'y', 'x'}")
    assert plain != of("def f(a):\n    return a in {'x', 'y', 'w'}")
    assert of("def f(a):\n    return g(a)") != of("def f(a):\n    return h(a)")
    nested = "def f(a):\n    return [lambda: {0}, a]"
    assert of(nested.format(1)) != of(nested.format(2))
    assert of("def f(a): return a") == of("async def g(): pass\ndef f(a): return a")
    wrapped = "import functools\ng = functools.partial(f, 1)\nclass C:\n    __call__ = f\nc = C()"
    text = f"def f(a):\n    return a in {{'x', 'y', 'z'}}\n{wrapped}"
    assert of(text, "g") == of(text, "c") == plain
    assert code_hash(len) is None


def test_a_conversation_has_one_session(tmp_path):
    sessions = weakref.WeakKeyDictionary()

    def remembers(session, message):
        heard = sessions.setdefault(session, [])
        heard.append(message)
        verdict = session.call("cancel", {"id": "7"})
        return f"{len(heard)} {verdict.error_type}"

    cases = [
        {
            "input": ["One", "Two", "Three"],
            # The third refused call in a row needs a human review.
            "expect": {"equals": "3 needs_human_review", "max_calls": 0},
        }
    ]
    arms = {"a": bound("a"), "b": bound("b")}
    report = gramc.experiment(
        agent=remembers, arms=arms, cases=cases, report=tmp_path / "r", repeats=5
    )
    assert [rate["successes"] for rate in report.to_dict()["rates"]] == [5, 5]
    (run, *_) = runs(tmp_path / "r")
    assert (run["calls"], run["refused"]) == (3, 3)
    assert len(sessions) == 0


def test_tokens_and_costs_are_those_that_the_agent_reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arms = {"a": bound("a"), "b": bound("b")}

    def reports(session, message):
        usage = {"input_tokens": 1000, "output_tokens": 200, "requests": 3}
        return {"output": clerk(session, message), "usage": usage, "model": "gpt-5-mini-2026"}

    options = {"agent": reports, "arms": arms, "cases": order_cases(50), "concurrency": 1}
    with pytest.raises(gramc.ExperimentError, match="needs the price of `openai/x` in gram.toml"):
        gramc.experiment(**options, max_cost=0.01, model="openai/x")
    Path("gram.toml").write_text('[prices]\n"openai/x" = { input = 1, output = 5 }\n')
    report = gramc.experiment(**options, max_cost=0.0199, model="openai/x", report="r")
    found = report.to_dict()
    assert found["runs"] == 10 and found["model"] == "openai/x"
    assert found["stopped"] == "reached the cost limit with 0.0200"
    (run, *_) = runs(Path("r"))
    assert (run["tokens"], run["iterations"], run["cost"]) == (1200, 3, pytest.approx(0.002))
    assert run["model"] == "gpt-5-mini-2026"


def test_a_time_limit_ends_a_turn_and_its_calls():
    verdicts = []

    def sleepy(session, message):
        if message.endswith("0"):
            time.sleep(0.4)
            verdicts.append(session.call("findOrder", {"id": "1"}))
        return clerk(session, message)

    arms = {"a": bound("a"), "b": bound("b")}
    report = gramc.experiment(agent=sleepy, arms=arms, cases=order_cases(2), time_limit=0.2)
    assert [rate["successes"] for rate in report.to_dict()["rates"]] == [1, 1]
    until = time.monotonic() + 5
    while len(verdicts) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert [verdict.error_type for verdict in verdicts] == ["invocation_error"] * 2
    assert "cancelled" in verdicts[0].message


def test_what_cannot_run_is_refused_before_anything_runs():
    arms = {"a": bound("a"), "b": bound("b")}

    def never(session, message):
        raise AssertionError

    def refuses(match, **options):
        with pytest.raises(gramc.ExperimentError, match=match):
            gramc.experiment(**{"agent": never, "arms": arms, "cases": ["Hi"], **options})

    refuses("at least two arms", arms={"a": bound("a")})
    unknown = {"input": "Hi", "expect": {"calls": [{"name": "findOder"}]}}
    refuses("unknown tool `findOder`; did you mean `findOrder`", cases=[unknown])
    refuses("cases:2: unknown key `expct`", cases=["Hi", {"input": "Hi", "expct": {}}])
    refuses("cannot read none.jsonl", cases="none.jsonl")
    refuses("no cases", cases=[])
    refuses("`repeats` to be from 1 to 10,000", repeats=0)
    refuses("unknown outcome `sucess`; did you mean `success`", primary="sucess")
    refuses("`sequential` requires `expect` in every case", sequential=True)
    rubric = {"input": "Hi", "expect": {"rubric": {"criteria": "It is polite."}}}
    refuses("needs a model for its judge or user: set `judge`", cases=[rubric])
    refuses("a positive number of seconds, found -1", time_limit=-1)
    refuses("invalid shard `3`", shard="3")
    refuses("invalid value of `repeats`: .a lot.", repeats="a lot")


def test_judges_are_models(tmp_path):
    says = {"when": {"user": "."}, "content": json.dumps({"score": 0.9, "reason": "Fine."})}
    (tmp_path / "judge.jsonl").write_text(json.dumps(says))
    case = {"input": "Where is order 1", "expect": {"rubric": {"criteria": "It is polite."}}}
    cases = [{**case, "id": number} for number in range(3)]
    arms = {"a": bound("a"), "b": bound("b")}
    judge = f"scripted/{tmp_path / 'judge.jsonl'}"
    report = gramc.experiment(agent=clerk, arms=arms, cases=cases, judge=judge)
    assert comparison(report, "score")["first"]["mean"] == pytest.approx(0.9)
    assert report.to_dict()["evaluation"]["requests"] == 6


def gramc_ab(*arguments, cwd=None) -> None:
    run = [os.environ["GRAMC"], "ab", *map(str, arguments)]
    done = subprocess.run(run, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def without_latency(report: dict) -> dict:
    """The report without what depends on the clock and on the parts."""
    for one in ("comparisons", "drift"):
        report[one] = [it for it in report[one] if it["outcome"] != "latency"]
    return report


def test_the_command_line_merges_shards(tmp_path):
    arms = {"a": bound("a"), "b": bound("b", range(12))}
    options = {"agent": clerk, "arms": arms, "cases": order_cases(60), "repeats": 2, "seed": 5}
    whole = gramc.experiment(**options)
    folders = []
    for part in range(1, 4):
        folders.append(tmp_path / f"part-{part}")
        report = gramc.experiment(**options, shard=f"{part}/3", report=folders[-1])
        assert report.to_dict()["runs"] == 80
    gramc_ab("merge", *folders, "--report", tmp_path / "merged")
    merged = json.loads((tmp_path / "merged/report.json").read_text())
    assert without_latency(merged) == without_latency(whole.to_dict())


PROGRAM = """
import json, os, subprocess, sys

command = json.loads(os.environ["GRAMC_MCP_COMMAND"])
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

def say(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    server.stdin.flush()

def ask(method, params):
    say({"id": 1, "method": method, "params": params})
    while True:
        message = json.loads(server.stdout.readline())
        if message.get("id") == 1:
            return message["result"]

def call(name, arguments):
    return ask("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]

client = {"name": "agent", "version": "1"}
ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
say({"method": "notifications/initialized"})
for line in sys.stdin:
    number = json.loads(line)["input"].split()[-1]
    if int(number) % 3 == 0:
        call("findOrder", {})
    found = call("findOrder", {"orderId": number})
    usage = {"input_tokens": 10 + int(number), "output_tokens": 5, "requests": 2}
    print(json.dumps({"output": "It is " + found, "usage": usage}), flush=True)
"""
REPLAY = """
[findOrder:Tool {description: "Finds an order"} | (orderId::Text)==>(::Text)]
[stable:Library | (findOrder:Replay {from: "stable.jsonl"})]
[rewrite:Library | (findOrder:Replay {from: "rewrite.jsonl"})]
"""


def test_numbers_are_those_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, broken in (("stable", 0), ("rewrite", 8)):
        states = ["lost" if number < broken else "open" for number in range(40)]
        Path(f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"name": "findOrder", "arguments": {"orderId": str(number)}, "result": it})
                + "\n"
                for number, it in enumerate(states)
            )
        )
    Path("shop.gram").write_text(REPLAY)
    Path("agent.py").write_text(PROGRAM)
    expect = {"contains": "open", "max_calls": 1}
    lines = [{"input": f"Where is order {number}", "expect": expect} for number in range(40)]
    Path("cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def agent(session, message):
        number = message.split()[-1]
        if int(number) % 3 == 0:
            assert not session.call("findOrder", {})
        found = session.call("findOrder", {"orderId": number})
        usage = {"input_tokens": 10 + int(number), "output_tokens": 5, "requests": 2}
        return {"output": f"It is {found.result}", "usage": usage}

    spec = gramc.load("shop.gram")
    libraries = {name: gramc.ToolLibrary.load("shop.gram", name) for name in ("stable", "rewrite")}
    arms = {name: spec.bind(library) for name, library in libraries.items()}
    own = gramc.experiment(agent=agent, arms=arms, cases="cases.jsonl", seed=7, report="own")
    command = f"{sys.executable} agent.py"
    libraries_of_ab = ["--library", "stable", "--library", "rewrite"]
    gramc_ab(
        "shop.gram", *libraries_of_ab, "--cases", "cases.jsonl", "--seed", "7",
        "--agent-command", command, "--report", "other",
    )  # fmt: skip
    names = ["comparisons", "flips", "rates", "planning", "verdict", "specification", "differences"]
    found, other = own.to_dict(), json.loads(Path("other/report.json").read_text())
    assert comparison(own, "success")["estimate"] == pytest.approx(-0.2)
    assert comparison(own, "refused")["first"]["mean"] == pytest.approx(14 / 40)
    for name in names:
        assert without_latency(found)[name] == without_latency(other)[name], name
    # The same journal has the same report, with all numbers.
    gramc_ab("merge", "own", "--report", "merged")
    assert json.loads(Path("merged/report.json").read_text()) == own.to_dict()


def test_ray_runs_the_parts(tmp_path):
    packages = ROOT / ".tools/experiments"
    assert packages.exists(), "tests/real/install installs it"
    script = tmp_path / "on_ray.py"
    script.write_text(f"""
import json, os, sys
os.environ["RAY_AUTH_MODE"] = "disabled"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
import ray
from test_experiment import bound, clerk, gramc, order_cases

def rewrite():
    return bound("b", range(6))

ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 * 1024 * 1024)
arms = {{"a": lambda: bound("a"), "b": rewrite}}
report = gramc.experiment(agent=clerk, arms=arms, cases=order_cases(30), report="report", ray=4)
again = gramc.experiment(agent=clerk, arms=arms, cases=order_cases(30), report="report", ray=4)
assert again.to_dict() == report.to_dict()
try:
    gramc.experiment(agent=clerk, arms={{"a": bound("a"), "b": rewrite}}, cases=["x"], ray=True)
except TypeError as error:
    assert "the arm `a` has to be a function" in str(error)
else:
    sys.exit("expected a TypeError")
print(json.dumps(report.to_dict()))
""")
    paths = [os.environ["PYTHONPATH"], str(packages), str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    run = [sys.executable, str(script)]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    arms = {"a": lambda: bound("a"), "b": bound("b", range(6))}
    here = gramc.experiment(agent=clerk, arms=arms, cases=order_cases(30))
    spread = json.loads(done.stdout.splitlines()[-1])
    assert without_latency(spread) == without_latency(here.to_dict())
    assert len(list((tmp_path / "report-parts").iterdir())) == 4


def test_mocks_are_agents_and_tools():
    from unittest.mock import Mock

    arms = {"a": bound("a"), "b": bound("b")}
    cases = [{"input": "Hi", "expect": {"contains": "open"}}]
    report = gramc.experiment(agent=Mock(return_value="open"), arms=arms, cases=cases)
    assert report.to_dict()["finished_cases"] == 1


def test_exits_of_coroutines_leave_the_event_loop_alive():
    async def leaves(session, message):
        raise SystemExit(3)

    async def answers(session, message):
        return "open"

    arms = {"a": bound("a"), "b": bound("b")}
    cases = [{"input": "Hi", "expect": {"contains": "open"}}]
    with pytest.raises(gramc.ExperimentError, match="SystemExit"):
        gramc.experiment(agent=leaves, arms=arms, cases=cases, time_limit=5)
    report = gramc.experiment(agent=answers, arms=arms, cases=cases, time_limit=5)
    assert report.to_dict()["finished_cases"] == 1


def test_the_hash_of_code_notices_names_and_defaults():
    from gramc._code import code_hash

    def make(text):
        space: dict[str, object] = {}
        exec(text, space)
        return code_hash(space["f"])

    texts = [
        "def f(a, b): return a - b",
        "def f(b, a): return b - a",
        "def f(a, b=1): return a - b",
        "def f(a, b=2): return a - b",
        "def f(a, *, b=2): return a - b",
        "async def f(a, b): return a - b",
    ]
    assert len(set(map(make, texts))) == len(texts)
    assert make(texts[0]) == make("def f(a, b):  # the same\n    return a - b")
    one, other = 1, 2
    assert code_hash(lambda: one) != code_hash(lambda: other)


def test_wrong_arguments_are_named():
    arms = {"a": bound("a"), "b": bound("b")}
    options = {"agent": clerk, "arms": arms, "cases": ["Hi"]}
    for wrong, message in [
        ({"agent": None}, "expected a function as `agent`"),
        ({"arms": list(arms.values())}, "expected bound libraries by name as `arms`"),
        ({"arms": {"a": bound("a").specification, "b": bound("b")}}, "a bound library as the arm `a`"),
        ({"arms": {"a": lambda: None, "b": bound("b")}}, "a bound library as the arm `a`"),
        ({"cases": {"input": "Hi"}}, "expected a path or a list of cases"),
        ({"cases": b"x.jsonl"}, "expected a path or a list of cases"),
        ({"cases": [5]}, "expected a dictionary or a message as a case, found int"),
        ({"rate": float("inf")}, "expected a finite number as `rate`"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            gramc.experiment(**{**options, **wrong})


def test_a_cancelled_experiment_has_left_its_folder(tmp_path):
    async def slow(session, message):
        await asyncio.sleep(0.05)
        return "open"

    async def run():
        arms = {"a": bound("a"), "b": bound("b")}
        cases = [{"input": str(at), "expect": {"contains": "open"}} for at in range(20)]
        options = {"agent": slow, "arms": arms, "cases": cases, "report": tmp_path / "report"}
        options["concurrency"] = 2
        task = asyncio.create_task(gramc.aexperiment(**options))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        report = await gramc.aexperiment(**options)
        assert report.to_dict()["finished_cases"] == 20

    asyncio.run(run())
