"""The same calls through the command line and this package give the same JSON, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import gramc

FOLDER = Path(__file__).parents[3] / "tests" / "parity"
CALLS = FOLDER / "calls.jsonl"
SCENARIOS = Path(__file__).parents[3] / "tests" / "scenarios"


def read(file: Path) -> list[dict[str, Any]]:
    # `splitlines` would also split at line separators within texts.
    return [json.loads(line) for line in file.read_text().split("\n")[:-1]]


def command_line(arguments: list[str], calls: Path) -> list[str]:
    program = os.environ.get("GRAMC", "gramc")
    command = [program, *arguments, "--calls", str(calls)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout.split("\n")[:-1]


def compare(made: list[dict[str, Any]], expected: list[str], judge: Any) -> None:
    assert len(made) == len(expected)
    for call, line in zip(made, expected):
        verdict = judge(call["name"], call.get("arguments"), call_id=call.get("id"))
        assert verdict.to_json() == line, call
        assert verdict.to_dict() == json.loads(line)


def test_checks_are_the_same():
    expected = command_line(["validate", str(FOLDER / "spec.gram")], CALLS)
    compare(read(CALLS), expected, gramc.load(FOLDER / "spec.gram").validate)
    assert len(expected) == 2000
    assert 300 < sum('"ok":true' in line for line in expected) < 1700
    assert sum('"repairs":[{' in line for line in expected) > 100


def test_calls_are_the_same():
    spec, library = FOLDER / "spec.gram", FOLDER / "library.gram"
    expected = command_line(["replay", str(spec), "--library", str(library)], CALLS)
    session = gramc.load(spec).bind(gramc.ToolLibrary.load(library)).session()
    compare(read(CALLS), expected, session.call)


def test_calls_of_scenarios_are_the_same(tmp_path):
    count = 0
    for page in sorted(SCENARIOS.glob("*.md")):
        blocks = page.read_text().split("```")[1::2]
        spec = next(block[5:] for block in blocks if block.startswith("gram\n"))
        lines = page.read_text().splitlines()
        made = [json.loads(line[2:]) for line in lines if line.startswith("> {")]
        made = [
            {key: call[key] for key in ("name", "arguments", "id") if key in call}
            for call in made
            if isinstance(call.get("name"), str) and "finish_reason" not in call
        ]
        (tmp_path / "spec.gram").write_text(spec)
        lines = [json.dumps(call, separators=(",", ":"), ensure_ascii=False) for call in made]
        (tmp_path / "calls.jsonl").write_text("".join(line + "\n" for line in lines))
        spec = str(tmp_path / "spec.gram")
        expected = command_line(["validate", spec], tmp_path / "calls.jsonl")
        compare(made, expected, gramc.load(tmp_path / "spec.gram").validate)
        count += len(made)
    assert count > 50
