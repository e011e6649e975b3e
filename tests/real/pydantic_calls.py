"""Prints how many nanoseconds pydantic takes for the calls of the bench `calls`, one a line."""

import pathlib
import sys
import time
from typing import Annotated, Literal, Optional

from pydantic import BaseModel, Field, ValidationError

CALLS = pathlib.Path(__file__).parent.parent / "benches" / "calls"
ROUNDS = 20_000


class Filter(BaseModel):
    author: Optional[str] = None
    labels: list[str]
    since: Optional[str] = None


class SearchIssues(BaseModel):
    query: Annotated[str, Field(min_length=1, max_length=200)]
    state: Literal["open", "closed", "all"] = "open"
    limit: Annotated[int, Field(ge=1, le=100)] = 30
    exact: Optional[bool] = None
    filter: Optional[Filter] = None


def measure(name, work):
    for _ in range(ROUNDS // 10):
        work()
    start = time.perf_counter_ns()
    for _ in range(ROUNDS):
        work()
    print(f"{name} {(time.perf_counter_ns() - start) / ROUNDS:.1f}")


def main():
    good = (CALLS / "good.json").read_bytes()
    mended = (CALLS / "mended.json").read_bytes()
    bad = (CALLS / "bad.json").read_bytes()
    read = SearchIssues.model_validate_json

    def refused():
        try:
            read(bad)
        except ValidationError as error:
            return error.errors()
        sys.exit("the bad call is refused")

    assert read(good).limit == 25 and read(mended).exact is False
    assert len(refused()) == 6
    measure("pydantic", lambda: read(good).model_dump())
    measure("pydantic, mended call", lambda: read(mended).model_dump())
    measure("pydantic, bad call told", refused)


main()
