"""Definitions from functions, and the command line of the package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal, Optional

import pydantic
import pytest

import gramc


class Guest(pydantic.BaseModel):
    name: str = pydantic.Field(description="Full name", min_length=1)
    age: Optional[int] = None


@gramc.tool
def book(
    city: str,
    nights: Annotated[int, pydantic.Field(ge=1, le=30, description="Number of nights")],
    guests: list[Guest],
    board: Literal["none", "half", "full"] = "none",
) -> Guest:
    """Book a room.

    The price is in euros.

    Args:
        city: Where to stay,
            in English.
        board (str): Meals.

    Returns:
        The guest.
    """
    return guests[0]


def test_text_and_function_agree():
    library = gramc.ToolLibrary("hotel")
    library.tool(book)
    session = book.specification.bind(library).session()
    (definition,) = book.specification.compile("openai")
    function = definition["function"]
    assert function["name"] == "book"
    assert function["description"] == "Book a room.\n\nThe price is in euros."
    properties = function["parameters"]["properties"]
    assert properties["city"]["description"] == "Where to stay, in English."
    assert properties["nights"]["maximum"] == 30
    assert properties["board"]["enum"] == ["none", "half", "full"]
    arguments = {"city": "Vienna", "nights": "3", "guests": [{"name": "Ada"}]}
    verdict = session.call("book", arguments)
    assert verdict.ok and verdict.result == {"name": "Ada", "age": None}
    assert session.call("book", {**arguments, "nights": 31}).error_type == "validation_error"


def test_styles_of_docstrings():
    @gramc.tool
    def numpy(a: int, b: str = "x") -> str:
        """Do it.

        Parameters
        ----------
        a : int
            The first
            number.
        b : str
            The text.

        Returns
        -------
        str
        """

    @gramc.tool(name="other")
    def sphinx(a: int) -> str:
        """Do it.

        :param a: The number.
        :returns: Text.
        """

    assert "The first number." in numpy.gram and "The text." in numpy.gram
    assert "The number." in sphinx.gram and sphinx.name == "other"
    for one in (numpy, sphinx):
        assert one.specification.compile("openai")[0]["function"]["description"] == "Do it."


def test_parameters_without_a_name():
    with pytest.raises(TypeError, match="without a name"):
        gramc.tool(_positional)


def _positional(a: int, /) -> int:
    return a


def command(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "gramc", *arguments]
    return subprocess.run(program, capture_output=True, text=True, timeout=60, **options)


def test_the_command_line(tmp_path):
    (tmp_path / "a.gram").write_text("[a:Tool | (x::Integr)==>(::Text)]")
    shown = command("check", "--format", "json", "a.gram", cwd=tmp_path)
    assert shown.returncode == 1
    here = Path.cwd()
    try:
        os.chdir(tmp_path)
        with pytest.raises(gramc.SpecError) as caught:
            gramc.load("a.gram")
    finally:
        os.chdir(here)
    assert [json.loads(line) for line in shown.stdout.splitlines()] == caught.value.diagnostics
    assert command("--version").stdout.startswith("gramc ")
    assert command("nonsense").returncode == 2


def test_programs_of_a_killed_command_line_end(tmp_path):
    """The watchdog is this package, too."""
    (tmp_path / "a.gram").write_text(
        "[a:Tool | ()==>(::Text)]\n"
        '[l:Library | (a:Command {run: ["sh", "-c", "echo $$ > pid; exec sleep 300"]})]'
    )
    arguments = [sys.executable, "-m", "gramc", "call", "a.gram", "a", "{}", "--library", "l"]
    process = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.DEVNULL)
    pid = tmp_path / "pid"
    _wait(lambda: pid.exists() and pid.read_text().strip())
    process.kill()
    process.wait()
    _wait(lambda: not Path(f"/proc/{pid.read_text().strip()}").exists())


def _wait(condition) -> None:
    import time

    start = time.perf_counter()
    while not condition():
        assert time.perf_counter() - start < 15
        time.sleep(0.02)
