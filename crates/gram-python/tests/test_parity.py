"""The same calls through the command line and this package give the same JSON, byte for byte."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import gramc

SPEC = """
[Stay::Record | (city::Text {length: 2...}), (nights::Int {range: 1..30}), (when::Date)]
[book:Tool | (stay::Stay)==>(guests::Text[])==>(board::"none"|"half"|"full" {default: "none"})
  ==>(price::Number?)==>(::Any)]
[find:Tool | (id::Int)==>(exact::Bool {default: false})==>(::Any)]
[note:Tool | (text::Text)==>(tags::{name: Text, weight: Number}[])==>(::Any)]
"""
LIBRARY = """
[l:Library {throttle: "off", maxAttempts: 0} |
  (book:Builtin {name: "echo"}), (find:Builtin {name: "echo"}), (note:Builtin {name: "echo"})]
"""
COUNT = 2000
SCENARIOS = Path(__file__).parents[3] / "tests" / "scenarios"


def value(random: random.Random, depth: int = 0) -> Any:
    """Any value of JSON, with those that tools take more often than others."""
    plain = ["Vienna", "", "3", " 7 ", "true", "none", "2026-01-02", "2026-13-45", "ä\u2028😀", "null", "[1]"]
    makers = [
        lambda: random.choice(plain),
        lambda: random.choice([0, 1, 3, 30, 31, -1, 2**53 + 1, 2**70]),
        lambda: random.choice([0.5, 3.0, 1e-7, 1e22, -0.0]),
        lambda: random.choice([True, False, None]),
        lambda: [value(random, depth + 1) for _ in range(random.randrange(3))],
        lambda: {
            random.choice(["city", "nights", "when", "name", "weight", "x"]): value(random, depth + 1)
            for _ in range(random.randrange(4))
        },
    ]
    return random.choice(makers if depth < 3 else makers[:4])()


def arguments(random: random.Random, tool: str) -> Any:
    """Arguments that are valid, could be repaired, or are wrong."""
    valid: dict[str, dict[str, Any]] = {
        "book": {
            "stay": {"city": "Vienna", "nights": 3, "when": "2026-01-02"},
            "guests": ["Ada"],
            "board": "half",
            "price": 12.5,
        },
        "find": {"id": 7, "exact": True},
        "note": {"text": "x", "tags": [{"name": "a", "weight": 0.5}]},
    }
    made = json.loads(json.dumps(valid.get(tool, {})))
    for _ in range(random.randrange(3)):
        name = random.choice([*made, "unknown"])
        if random.random() < 0.3:
            made.pop(name, None)
        elif isinstance(made.get(name), dict) and random.random() < 0.5:
            made[name][random.choice(["city", "nights", "when"])] = value(random)
        elif random.random() < 0.4 and name in made:
            made[name] = json.dumps(made[name])
        else:
            made[name] = value(random)
    return made


def calls() -> list[dict[str, Any]]:
    source = random.Random(22)
    made = []
    for at in range(COUNT):
        tool = source.choice(["book", "find", "note", "note", "book", "fnid", ""])
        call: dict[str, Any] = {"name": tool, "arguments": arguments(source, tool)}
        if source.random() < 0.3:
            call["arguments"] = json.dumps(call["arguments"], ensure_ascii=source.random() < 0.5)
            if source.random() < 0.5:
                # What models do to JSON: they stop early, or leave or add characters.
                place = source.randrange(len(call["arguments"]) + 1)
                call["arguments"] = (
                    call["arguments"][:place] + source.choice(["", ",", "}", "'", "\n", "```"])
                    + call["arguments"][place + source.randrange(2) :]
                )  # fmt: skip
        if source.random() < 0.2:
            call["id"] = f"call-{at}"
        if source.random() < 0.02:
            del call["arguments"]
        made.append(call)
    return made


def command_line(folder: Path, arguments: list[str], calls: list[dict[str, Any]]) -> list[str]:
    (folder / "calls.jsonl").write_text("\n".join(json.dumps(call) for call in calls))
    program = os.environ.get("GRAMC", "gramc")
    ended = subprocess.run(
        [program, *arguments, "--calls", "calls.jsonl"],
        cwd=folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode in (0, 1), ended.stderr
    # `splitlines` would also split at line separators within texts.
    return ended.stdout.split("\n")[:-1]


def compare(made: list[dict[str, Any]], expected: list[str], judge: Any) -> None:
    assert len(made) == len(expected)
    for call, line in zip(made, expected):
        verdict = judge(call["name"], call.get("arguments"), id=call.get("id"))
        assert verdict.to_json() == line, call
        assert verdict.to_dict() == json.loads(line)


def test_checks_are_the_same(tmp_path):
    (tmp_path / "spec.gram").write_text(SPEC)
    made = calls()
    expected = command_line(tmp_path, ["validate", "spec.gram"], made)
    compare(made, expected, gramc.load(tmp_path / "spec.gram").validate)
    assert 300 < sum('"ok":true' in line for line in expected) < COUNT - 300
    assert sum('"repairs":[{' in line for line in expected) > 100


def test_calls_are_the_same(tmp_path):
    (tmp_path / "spec.gram").write_text(SPEC)
    (tmp_path / "library.gram").write_text(LIBRARY)
    made = calls()
    expected = command_line(
        tmp_path, ["replay", "spec.gram", "--library", "library.gram"], made
    )
    library = gramc.ToolLibrary.load(tmp_path / "library.gram")
    session = gramc.load(tmp_path / "spec.gram").bind(library).session()
    compare(made, expected, session.call)


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
        expected = command_line(tmp_path, ["validate", "spec.gram"], made)
        compare(made, expected, gramc.load(tmp_path / "spec.gram").validate)
        count += len(made)
    assert count > 50
