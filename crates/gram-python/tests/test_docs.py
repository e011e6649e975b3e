"""The examples of the documentation print what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "python.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_readme(monkeypatch):
    root = PAGE.parents[1]
    monkeypatch.chdir(root)
    programs = [text for kind, text in BLOCK.findall((root / "README.md").read_text()) if kind == "python"]
    assert len(programs) == 1
    exec(compile(programs[0], "README.md", "exec"), {})


def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text())
    namespace: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for (kind, text), (following, expected) in zip(blocks, [*blocks[1:], ("", "")]):
        if kind == "gram":
            Path("shop.gram").write_text(text)
        elif kind == "python":
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown):
                exec(compile(text, "docs/python.md", "exec"), namespace)
            assert shown.getvalue() == (expected if following == "output" else ""), text
            count += 1
    assert count >= 10
