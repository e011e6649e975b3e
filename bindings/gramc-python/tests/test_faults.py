"""Cancellation, threads, calls within calls, memory, and the end of the process."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import bind_one

ONE = "[f:Tool | (x::Int)==>(::Any)]"


def test_cancellation_reaches_the_coroutine():
    state = []

    async def wait(x):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            state.append("cancelled")
            raise

    async def run():
        task = asyncio.create_task(session.acall("f", {"x": 1}))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        assert state == ["cancelled"]

    session = bind_one(ONE, "f", wait)
    asyncio.run(run())


def test_a_cancelled_call_does_not_wait_for_a_blocking_function():
    session = bind_one(ONE, "f", lambda x: time.sleep(2))

    async def run():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(session.acall("f", {"x": 1}), 0.05)

    start = time.perf_counter()
    asyncio.run(run())
    assert time.perf_counter() - start < 1


def test_many_calls_at_once():
    async def echo(x):
        await asyncio.sleep(0.01)
        return x

    async def run(session):
        verdicts = await asyncio.gather(*(session.acall("f", {"x": x}) for x in range(500)))
        assert [verdict.result for verdict in verdicts] == list(range(500))

    asyncio.run(run(bind_one(ONE, "f", echo)))
    asyncio.run(run(bind_one(ONE, "f", lambda x: x)))


def test_threads_share_a_session():
    session = bind_one(ONE, "f", lambda x: x * 2)
    wrong = []

    def work(base):
        for x in range(base, base + 200):
            if session.call("f", {"x": x}).result != x * 2 or not session.validate("f", {"x": x}):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(at * 1000,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert wrong == []


def test_tools_may_call_tools():
    def count(x):
        return x + session.call("f", {"x": x - 1}).result if x else 0

    session = bind_one(ONE, "f", count)
    assert session.call("f", {"x": 20}).result == 210

    async def count_async(x):
        return x + (await asynchronous.acall("f", {"x": x - 1})).result if x else 0

    asynchronous = bind_one(ONE, "f", count_async)

    async def run():
        return (await asynchronous.acall("f", {"x": 20})).result

    assert asyncio.run(run()) == 210
    # Without an event loop of the caller, all run in the loop of the package.
    assert asynchronous.call("f", {"x": 20}).result == 210

    async def mixed(x):
        return mixed_session.call("f", {"x": x - 1}).result if x > 5 else x

    mixed_session = bind_one(ONE, "f", lambda x: x)
    assert mixed_session.call("f", {"x": 3}).result == 3


def test_memory_is_flat():
    session = bind_one(ONE, "f", lambda x: {"x": x})
    specification = session.bound.specification

    def run(count):
        for at in range(count):
            specification.validate("f", {"x": at}).to_dict()
            if at % 20 == 0:
                session.call("f", {"x": at})
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(20_000)
    after = run(180_000)
    assert after - before < 12_000, f"{before} KiB grew to {after} KiB"


PRELUDE = """
import asyncio, threading, time, gramc
library = gramc.ToolLibrary("x")
spec = gramc.loads("[f:Tool | (x::Int)==>(::Any)] [g:Tool | (x::Int)==>(::Any)]")
library.add("f", lambda x: time.sleep(x))
async def g(x):
    await asyncio.sleep(x)
library.add("g", g)
session = spec.bind(library).session()
"""


def run_program(text: str, **options) -> subprocess.CompletedProcess[str]:
    program = PRELUDE + textwrap.dedent(text)
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, **options)


@pytest.mark.parametrize("tool", ["f", "g"])
@pytest.mark.parametrize("seconds", [0.05, 100])
def test_the_process_ends_with_calls_under_way(tool, seconds):
    start = time.perf_counter()
    ended = run_program(f"""
        for _ in range(8):
            call = lambda: session.call("{tool}", dict(x={seconds!r} if {seconds!r} > 1 else 0))
            threading.Thread(target=call, daemon=True).start()
        time.sleep(0.02)
        print("bye")
    """)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "bye\n", "")
    assert time.perf_counter() - start < 10


def test_the_process_ends_while_threads_call():
    for _ in range(5):
        ended = run_program("""
            def work():
                while True:
                    session.validate("f", {"x": 1})
                    try:
                        session.call("g", {"x": 0})
                    except RuntimeError:
                        return
            for _ in range(8):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.1)
        """)
        assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_call():
    ended = run_program("""
        import os, warnings
        warnings.simplefilter("ignore")
        assert session.call("f", {"x": 0}).ok and session.call("g", {"x": 0}).ok
        child = os.fork()
        if child == 0:
            assert gramc.loads("[a:Tool | (x::Text)==>(::Text)]").names == ["a"]
            os._exit(0 if session.call("f", {"x": 0}).ok and session.call("g", {"x": 0}).ok else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert (ended.stdout, ended.stderr) == ("0\n", "")


def test_ctrl_c_interrupts_a_call():
    ended = run_program("""
        import _thread
        threading.Timer(0.3, _thread.interrupt_main).start()
        try:
            session.call("f", {"x": 20})
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert (ended.stdout, ended.returncode) == ("interrupted\n", 0)
