"""Writes calls.jsonl: calls that are valid, could be repaired, or are wrong."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

COUNT = 2000
#: What texts alone hold exactly in all languages.
INEXACT = [2**53 + 1, 2**70, 3.0, 1e-7, 1e22, -0.0]


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


def is_inexact(value: Any) -> bool:
    """Whether a value has numbers that JavaScript writes in another way."""
    if isinstance(value, dict):
        return any(map(is_inexact, value.values()))
    if isinstance(value, list):
        return any(map(is_inexact, value))
    return value in INEXACT and not isinstance(value, bool) and str(value) != "0"


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
        if is_inexact(call["arguments"]):
            call["arguments"] = json.dumps(call["arguments"])
        if source.random() < 0.2:
            call["id"] = f"call-{at}"
        if source.random() < 0.02:
            del call["arguments"]
        made.append(call)
    return made


if __name__ == "__main__":
    lines = [json.dumps(call, separators=(",", ":"), ensure_ascii=False) + "\n" for call in calls()]
    Path(__file__).with_name("calls.jsonl").write_text("".join(lines), encoding="utf-8")
