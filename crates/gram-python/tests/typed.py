"""The types of the interface. `mypy --strict` checks this file; it does not run."""

from __future__ import annotations

from typing import Any

import gramc


async def main() -> str:
    spec: gramc.Specification = gramc.load("shop.gram")
    library = gramc.ToolLibrary("stable", timeout=2.5)

    @library.tool("findOrder", concurrency=4)
    def find_order(id: str) -> dict[str, int]:
        return {id: 1}

    found: dict[str, int] = find_order("x")

    @gramc.tool
    def book(city: str) -> str:
        return city

    text: str = book.gram
    tools: list[dict[str, Any]] = spec.compile("openai-strict")
    try:
        session = spec.bind(library).session()
    except gramc.BindError as error:
        return str(error.gaps[0]["message"])
    verdict: gramc.Verdict = session.call("findOrder", {"id": "7"})
    verdict = await session.acall("findOrder", '{"id": "7"}')
    arguments: dict[str, Any] | None = verdict.arguments
    return verdict.message if verdict.ok else f"{verdict.error_type} {found} {text} {tools} {arguments}"
