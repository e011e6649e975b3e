"""JSON of results."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import os
import uuid
from typing import Any


def encode(value: Any) -> Any:
    """The JSON of a value that `json.dumps` does not know."""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, (uuid.UUID, decimal.Decimal, os.PathLike)):
        return str(value)
    raise TypeError(f"values of the type {type(value).__name__} have no form in JSON")
