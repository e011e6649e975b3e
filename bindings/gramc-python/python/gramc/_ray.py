"""Experiments on the machines of a Ray cluster.

Each part of the experiment is a task. Its journal is kept in a folder of the driver, so that a part
whose machine fails, or a later call, repeats only runs that are not finished.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _experiment, _native
from ._errors import ExperimentError

if TYPE_CHECKING:
    from ._native import Report

_FILES = ("experiment.json", "runs.jsonl")
#: Small parts cost little when a machine is lost.
_PARTS_PER_PROCESSOR = 4
#: Seconds between looks at whether the experiment is cancelled.
_INTERVAL = 0.5


def run(
    agent: _experiment.Agent,
    arms: dict[str, _experiment.Arm],
    path: str | None,
    lines: str | None,
    options: dict[str, Any],
    parts: int | None,
) -> Report:
    """Run all parts as tasks, and merge them."""
    ray: Any = importlib.import_module("ray")
    if parts is not None and (not isinstance(parts, int) or parts < 1):
        raise ValueError("expected `True` or a number of parts above 0 as `ray`")
    for name, arm in arms.items():
        if isinstance(arm, _native.Bound):
            raise TypeError(
                f"with `ray`, the arm `{name}` has to be a function that returns a bound library"
            )
    if options["shard"] is not None or options["sequential"]:
        raise ValueError("`ray` does not support `shard` and `sequential`")
    if not ray.is_initialized():
        ray.init()
    if parts is None:
        parts = _PARTS_PER_PROCESSOR * max(1, int(ray.cluster_resources().get("CPU", 1)))
    task = ray.remote(num_cpus=1, max_retries=10)(_run_part)
    shared = ray.put((agent, arms, path, lines, {**options, "progress": False}))
    with tempfile.TemporaryDirectory() as temporary:
        report = options["report"]
        kept = Path(temporary)
        if report is not None:
            kept = Path(report).with_name(Path(report).name + "-parts")
        folders = {f"{part}/{parts}": kept / f"{part}-of-{parts}" for part in range(1, parts + 1)}
        running = {
            task.remote(shared, shard, _read(folder)): shard for shard, folder in folders.items()
        }
        failures = []
        cancellation = _experiment.cancellation()
        try:
            while running:
                # Parts are stored as they complete, so that a failure does not affect the others.
                finished, _rest = ray.wait(list(running), timeout=_INTERVAL)
                if cancellation is not None and cancellation.is_cancelled:
                    raise ExperimentError("the experiment was cancelled")
                for done in finished:
                    shard = running.pop(done)
                    try:
                        files, failure = ray.get(done)
                    except ray.exceptions.RayError as error:
                        files, failure = {}, str(error)
                    _write(folders[shard], files)
                    if failure is not None:
                        failures.append(f"part {shard}: {failure}")
        finally:
            for task_of_part in running:
                ray.cancel(task_of_part)
        if failures:
            raise ExperimentError("\n".join(failures))
        return _native.merge_parts(list(folders.values()), report)


def _run_part(
    shared: tuple[Any, ...], shard: str, files: Mapping[str, bytes]
) -> tuple[dict[str, bytes], str | None]:
    """Run what is missing of a part. Return its journal, and why it failed."""
    agent, arms, path, lines, options = shared
    failure = None
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), files)
        own = {**options, "shard": shard, "report": folder}
        try:
            _experiment.run(agent, arms, path, lines, own)
        except ExperimentError as error:
            failure = str(error)
        return _read(Path(folder)), failure


def _read(folder: Path) -> dict[str, bytes]:
    """The journal of a part, if there is one."""
    paths = [folder / name for name in _FILES]
    return {path.name: path.read_bytes() for path in paths if path.exists()}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
