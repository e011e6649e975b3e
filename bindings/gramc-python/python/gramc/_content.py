"""Results that are no JSON: images, audio and content blocks of MCP."""

from __future__ import annotations

import base64
import dataclasses
import json
from typing import Any

from ._json import encode


class _Media:
    kind: str
    data: bytes
    media_type: str

    def to_block(self) -> dict[str, Any]:
        """The content block of MCP."""
        data = base64.b64encode(self.data).decode()
        return {"type": self.kind, "data": data, "mimeType": self.media_type}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        # A result of this type has no JSON Schema.
        from pydantic_core import core_schema

        return core_schema.any_schema()


@dataclasses.dataclass(frozen=True)
class Image(_Media):
    """An image as the result of a tool."""

    kind = "image"

    data: bytes
    media_type: str = "image/png"


@dataclasses.dataclass(frozen=True)
class Audio(_Media):
    """Audio as the result of a tool."""

    kind = "audio"

    data: bytes
    media_type: str = "audio/wav"


#: The methods of FastMCP's images, audio and files.
_CONVERSIONS = ("to_block", "to_image_content", "to_audio_content", "to_resource_content")


def _block(value: Any) -> dict[str, Any] | None:
    for name in _CONVERSIONS:
        convert = getattr(type(value), name, None)
        if convert is not None:
            value = convert(value)
            break
    if isinstance(value, dict):
        return value
    if type(value).__module__.partition(".")[0] in ("mcp", "mcp_types") and hasattr(value, "type"):
        dumped: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        return dumped
    return None


def blocks(result: Any) -> list[dict[str, Any]] | None:
    """The content blocks of a result with images, audio or blocks; `None` for other results."""
    several = result if isinstance(result, (list, tuple)) else [result]
    found = [None if isinstance(one, (dict, str)) else _block(one) for one in several]
    if not any(found):
        return None
    return [_text(one) if block is None else block for one, block in zip(several, found)]


def _text(value: Any) -> dict[str, Any]:
    text = value if isinstance(value, str) else json.dumps(value, default=encode, ensure_ascii=False)
    return {"type": "text", "text": text}
