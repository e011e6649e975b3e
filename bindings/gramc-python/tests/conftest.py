"""The specification that most tests share."""

from __future__ import annotations

import pytest

import gramc

SHOP = """
[findOrder:Tool {description: "Finds an order"} | (id::Text)==>(::Any)]
[stay:Tool | (nights::Int {range: 1..30})==>(price::Number)==>(::Number)]
"""


@pytest.fixture
def shop() -> gramc.Specification:
    return gramc.loads(SHOP)


def bind_one(text: str, name: str, function, **settings) -> gramc.Session:
    """A session for a specification of one tool."""
    library = gramc.ToolLibrary("test", throttle="off")
    library.add(name, function, **settings)
    return gramc.loads(text).bind(library).session()
