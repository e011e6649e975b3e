"""The examples of the documentation print what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
ADAPTERS = sorted((DOCS / "adapters").glob("*.md"))
#: The pages with examples in Python.
MANUAL = [DOCS / f"{name}.md" for name in ("python", "servers", "results", "observability")]
PAGES = [page for page in [*MANUAL, *ADAPTERS] if "```python\n" in page.read_text()]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_readme(monkeypatch):
    root = DOCS.parent
    monkeypatch.chdir(root)
    programs = [text for kind, text in BLOCK.findall((root / "README.md").read_text()) if kind == "python"]
    assert len(programs) == 1
    exec(compile(programs[0], "README.md", "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(page.read_text())
    namespace: dict[str, object] = {"__name__": "__main__"}
    for (kind, text), (following, expected) in zip(blocks, [*blocks[1:], ("", "")]):
        if kind == "gram":
            Path("shop.gram").write_text(text)
        elif kind == "python":
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown):
                exec(compile(text, page.name, "exec"), namespace)
            assert shown.getvalue() == (expected if following == "output" else ""), text


def test_there_are_examples():
    assert len(PAGES) == 10
