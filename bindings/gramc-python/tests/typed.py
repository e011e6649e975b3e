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
    text = book(city="Vienna")
    user: gramc.Injected[str] = "Ada"
    functions = gramc.guard([find_order])
    found = functions[0](id="x")
    derived: gramc.Specification = gramc.specification([find_order, book])
    parameters: dict[str, Any] = derived["book"].schema
    tools: list[dict[str, Any]] = spec.compile("openai-strict")
    try:
        session = spec.bind(library).session(inject={"user": user}, on_verdict=print)
    except gramc.BindError as error:
        return str(error.gaps[0]["message"])
    verdict: gramc.Verdict = session.call("findOrder", {"id": "7"})
    verdict = await session.acall("findOrder", '{"id": "7"}')
    arguments: dict[str, Any] | None = verdict.arguments
    if verdict.exception is not None:
        raise verdict.exception
    return verdict.message if verdict.ok else f"{found} {text} {tools} {arguments} {parameters}"


async def compare_later(arms: dict[str, gramc.Bound]) -> str:
    report = await gramc.aexperiment(agent=clerk, arms=arms, cases="cases.jsonl", repeats=3)
    return report.text


async def clerk(session: gramc.Session, message: str) -> dict[str, Any]:
    verdict = await session.acall("findOrder", {"id": message})
    return {"output": verdict.message, "usage": {"input_tokens": 1, "output_tokens": 2}}


def compare(spec: gramc.Specification, library: gramc.ToolLibrary) -> bool:
    def build() -> gramc.Bound:
        return spec.bind(library)

    async def approve(name: str, arguments: dict[str, Any]) -> bool | str:
        return arguments["id"] == 7 or f"{name} is not for everyone"

    asking: gramc.Session = build().session(approve=approve)
    cases: list[str | dict[str, Any]] = ["Hello", {"input": "Hello", "tags": asking.names}]
    report: gramc.Report = gramc.experiment(
        agent=clerk, arms={"a": build(), "b": build}, cases=cases, time_limit=2.5, report="out"
    )
    found: dict[str, Any] = report.to_dict()
    return report.gate("success >= -1pp") and bool(found["comparisons"])
