"""Content: what the model is shown of a result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from gnomon.values import JSON, NotJson, snapshot


class TextBlock(TypedDict):
    """A piece of text."""

    type: Literal["text"]
    text: str


Content: TypeAlias = Sequence[dict[str, Any]]
"""Content blocks: plain JSON objects, each with a `type`."""


def text_content(text: str) -> Content:
    """One block of text."""
    return [{"type": "text", "text": text}]


def render_json(arguments: JSON, value: JSON) -> Content:
    """Show a value: a string as it is, anything else as JSON text."""
    return text_content(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def check_content(candidate: object) -> Content:
    """A frozen copy of content; raises `NotJson` if it is none (a JSON list of objects with a `type`)."""
    frozen = snapshot(candidate)
    if not isinstance(frozen, list):
        raise NotJson((), "content is a list of blocks")
    for index, block in enumerate(frozen):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise NotJson((index,), "a content block is an object with a `type`")
    return frozen  # type: ignore[return-value]
