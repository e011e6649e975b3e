"""Reading specifications."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union

from . import _native
from ._native import Specification

if TYPE_CHECKING:
    StrPath = Union[str, os.PathLike[str]]

__all__ = ["Specification", "SpecifiedTool", "load", "loads"]


@dataclasses.dataclass(frozen=True)
class SpecifiedTool:
    """A tool of a specification: `spec["findOrder"]`."""

    name: str
    description: str | None
    #: The JSON Schema of its arguments.
    schema: dict[str, Any]
    #: Its declaration.
    gram: str


def load(path: StrPath | Iterable[StrPath]) -> Specification:
    """Read a file or a folder, or several of them, with what they import.

    Raises `SpecError` if there are errors, and `OSError` if a file cannot be read.
    """
    one = isinstance(path, (str, os.PathLike))
    return _native.load([path] if one else list(path))  # type: ignore[list-item, arg-type]


def loads(text: str, name: str = "<string>") -> Specification:
    """Read a text in gram. `name` is the file name in diagnostics.

    Raises `SpecError` if there are errors.
    """
    return _native.loads(text, name)
