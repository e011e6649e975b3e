"""A server of FastMCP with a context, progress, an image, a model and several clients."""

import asyncio
import json
import sys
from datetime import date
from typing import Annotated

import gramc
from fastmcp import Client, Context, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.utilities.types import Image
from pydantic import BaseModel, Field

CALLS = {
    "valid": [
        ("plan", {"stops": ["Graz", "Linz"], "trip": {"start": "2026-05-01", "days": 3}}),
        ("chart", {"values": [1, 2, 3]}),
        ("count", {}),
    ],
    "broken": [
        ("plan", {"stops": "['Graz', 'Linz']", "trip": {"start": "2026-05-01", "days": "3 "}}),
        ("chart", {"values": "[1, 2, 3,]"}),
        ("count", {}),
    ],
}


class Trip(BaseModel):
    start: date
    days: Annotated[int, Field(ge=1, le=30, strict=True)]


def currency() -> str:
    return "EUR"


server = FastMCP("travel")


@server.tool
async def plan(stops: list[str], trip: Trip, ctx: Context, money: str = Depends(currency)) -> dict:
    """Plans a trip."""
    await ctx.report_progress(1, 2)
    assert isinstance(trip.start, date)
    return {"stops": stops, "days": trip.days, "money": money}


@server.tool
def chart(values: list[float]) -> Image:
    """Draws values."""
    return Image(data=bytes(int(value) for value in values), format="png")


@server.tool
def count(ctx: Context) -> str:
    """Returns the name of the server."""
    return ctx.fastmcp.name


server = gramc.guard(server)


async def serve() -> list:
    progress = []

    async def note(*values) -> None:
        progress.append(values)

    async with Client(server, progress_handler=note) as client:
        listed = [tool.model_dump(mode="json", exclude_none=True) for tool in await client.list_tools()]
        results = []
        for name, arguments in CALLS[sys.argv[1]]:
            result = await client.call_tool(name, arguments, raise_on_error=False)
            blocks = [block.model_dump(mode="json", exclude_none=True) for block in result.content]
            results.append([blocks, result.structured_content, result.is_error])
    return [listed, results, progress]


async def main() -> list:
    return await asyncio.gather(*(serve() for _ in range(2)))


print(json.dumps(asyncio.run(main()), indent=1))
