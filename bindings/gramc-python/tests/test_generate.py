"""Generated code with the package: handlers in a library, and a client of a session."""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
from typing import Any

import fastmcp
import gramc
from fastmcp.client.transports import StdioTransport

SHOP = """
[findOrder:Tool {description: "Finds an order"} |
  (id::Text {length: 1..9})==>(withItems::Bool {default: false})==>(::Order)
]
[Order::Record | (id::Text), (items?::Text[]), (price::Number)]
"""


def test_a_client_calls_an_implementation(tmp_path, monkeypatch):
    (tmp_path / "shop.gram").write_text(SHOP)
    run = [sys.executable, "-m", "gramc", "generate", "python", "shop.gram", "-o", "."]
    subprocess.run(run, cwd=tmp_path, check=True)
    monkeypatch.syspath_prepend(tmp_path)
    shop = importlib.import_module("shop")

    class Implementation(shop.Tools):
        async def find_order(self, parameters):
            items = ["a"] if parameters.withItems else None
            # What is not set is not sent.
            return shop.Order(id=parameters.id, price=2) if items is None else shop.Order(
                id=parameters.id, price=2, items=items
            )

    library = gramc.ToolLibrary("shop", throttle="off")
    for name, handler in shop.handlers(Implementation()).items():
        library.add(name, handler)
    session = gramc.loads(SHOP).bind(library).session()

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        verdict = await session.acall(name, arguments)
        if not verdict.ok:
            raise RuntimeError(verdict.message)
        return verdict.result

    async def main() -> None:
        client = shop.Client(call)
        order = await client.find_order(shop.FindOrderParameters(id="7"))
        assert order == shop.Order(id="7", price=2.0)
        assert "items" not in order.model_fields_set
        order = await client.find_order(shop.FindOrderParameters(id="7", withItems=True))
        assert order.items == ["a"]
        # A model cannot send what the specification refuses: neither by the client nor by itself.
        try:
            shop.FindOrderParameters(id="0123456789")
        except ValueError:
            pass
        else:
            raise AssertionError("the length is not checked")
        verdict = await session.acall("findOrder", {"id": "0123456789"})
        assert not verdict.ok

    asyncio.run(main())


SERVER = """
import fastmcp
import gramc
import shop
from gramc.adapters.fastmcp import middleware

class Implementation(shop.Tools):
    async def find_order(self, parameters):
        return shop.Order(id=parameters.id, price=2, items=["a"] if parameters.withItems else [])

library = gramc.ToolLibrary("shop")
for name, handler in shop.handlers(Implementation()).items():
    library.add(name, handler)
bound = gramc.load("shop.gram").bind(library)
fastmcp.FastMCP("shop", middleware=[middleware(bound)]).run(show_banner=False)
"""


def test_a_client_calls_an_implementation_over_mcp(tmp_path, monkeypatch):
    (tmp_path / "shop.gram").write_text(SHOP)
    (tmp_path / "server.py").write_text(SERVER)
    run = [sys.executable, "-m", "gramc", "generate", "python", "shop.gram", "-o", "."]
    subprocess.run(run, cwd=tmp_path, check=True)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("shop", None)
    shop = importlib.import_module("shop")

    async def main() -> None:
        # The package may be on a path of its own.
        environment = dict(os.environ)
        transport = StdioTransport(sys.executable, ["server.py"], environment, str(tmp_path))
        async with fastmcp.Client(transport) as connection:

            async def call(name: str, arguments: dict[str, Any]) -> Any:
                result = await connection.call_tool(name, arguments)
                return result.structured_content

            client = shop.Client(call)
            order = await client.find_order(shop.FindOrderParameters(id="7", withItems=True))
            assert order == shop.Order(id="7", price=2.0, items=["a"])
            # What the client would refuse reaches the server, which refuses it as well.
            refused = await connection.call_tool(
                "findOrder", {"id": "0123456789"}, raise_on_error=False
            )
            assert refused.is_error and "must be a string of 1 to 9" in refused.content[0].text, refused

    asyncio.run(main())
