"""Threads that run blocking functions, and event loops for coroutines of blocking programs.

The threads are daemons, so that a function that never returns does not keep the process alive. There
is always an idle thread for the next function, so that functions that call tools cannot wait for each
other.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable


class Job:
    """A function that runs or waits for a thread."""

    __slots__ = ("_cancelled", "_context", "_work")

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work
        self._context = contextvars.copy_context()
        self._cancelled = False

    def cancel(self) -> None:
        """Do not start the function. A function that runs continues to its end."""
        self._cancelled = True

    def run(self) -> None:
        """Run the function once."""
        work, self._work = self._work, None
        if work is not None and not self._cancelled:
            self._context.run(work)


class _Threads:
    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def submit(self, job: Job) -> None:
        with self._lock:
            start = self._idle == 0
            if not start:
                self._idle -= 1
        if start:
            threading.Thread(target=self._serve, args=(job,), name="gramc-tool", daemon=True).start()
        else:
            self._jobs.put(job)

    def _serve(self, job: Job) -> None:
        while True:
            job.run()
            del job
            with self._lock:
                self._idle += 1
            job = self._jobs.get()


_threads = _Threads()
_loops: dict[str, asyncio.AbstractEventLoop] = {}
_lock = threading.Lock()


def run_in_thread(work: Callable[[], None]) -> Job:
    """Run a function in a thread, with the context variables of the caller."""
    job = Job(work)
    _threads.submit(job)
    return job


def background_loop(purpose: str = "tools") -> asyncio.AbstractEventLoop:
    """Return the event loop for coroutines of programs that have none.

    Agents have another one than tools, so that an agent can wait for a tool.
    """
    with _lock:
        loop = _loops.get(purpose)
        if loop is None or loop.is_closed():
            loop = _loops[purpose] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="gramc-loop", daemon=True).start()
        return loop


def forget_threads() -> None:
    """Start anew in a forked process, which has none of the threads of its parent."""
    global _threads, _loops, _lock
    _threads, _loops, _lock = _Threads(), {}, threading.Lock()
