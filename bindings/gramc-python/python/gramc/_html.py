"""Tables for notebooks."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Specification


def specification_html(specification: Specification) -> str:
    """The tools of a specification with their descriptions and parameters."""
    tools = (specification[name] for name in specification)
    return _table(
        (tool.name, tool.description or "", ", ".join(tool.schema.get("properties", {})))
        for tool in tools
    )


def verdict_html(verdict: dict[str, Any]) -> str:
    """The parts of a verdict."""
    return _table((key, json.dumps(value, ensure_ascii=False)) for key, value in verdict.items())


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
