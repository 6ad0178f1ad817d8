"""Content: what the model is shown of a result, and how a value becomes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

from gnomon.values import JSON, NotJson, snapshot, to_text


class TextBlock(TypedDict):
    """A piece of text."""

    type: Literal["text"]
    text: str


class ImageBlock(TypedDict):
    """A picture: its bytes in base64, and what kind of picture it is, such as `image/png`."""

    type: Literal["image"]
    data: str
    mimeType: str


class JsonBlock(TypedDict):
    """A JSON value."""

    type: Literal["json"]
    value: Any


Content: TypeAlias = Sequence[dict[str, Any]]
"""Content blocks: plain JSON objects, each with a `type`."""


@dataclass(frozen=True, slots=True)
class Card:
    """What people are shown: a title, and content below it. `generic` says that no tool had its say."""

    title: str
    content: Content = ()
    generic: bool = False


def text_content(text: str) -> Content:
    """One block of text."""
    return [{"type": "text", "text": text}]


def render_json(arguments: JSON, value: JSON) -> Content:
    """Show a value: a string as it is, anything else as JSON text. The default renderer (OUT-2)."""
    if isinstance(value, str):
        return text_content(value)
    try:
        return text_content(json.dumps(value, ensure_ascii=False))
    except ValueError:  # Python writes no integer of more than a few thousand digits at once
        return text_content(to_text(value))


def check_content(candidate: object) -> Content:
    """A frozen copy of content; raises `NotJson` if it is none (a JSON list of objects with a `type`)."""
    frozen: Any = snapshot(candidate)
    if not isinstance(frozen, list):
        raise NotJson((), "content is a list of blocks")
    for index, block in enumerate(frozen):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise NotJson((index,), "a content block is an object with a `type`")
    return frozen


def plain_text(content: Content) -> str:
    """The text of content: its text blocks joined by newlines, others as `[<type> content]` (PST-5)."""
    parts = []
    for block in content:
        shown = block.get("text") if block["type"] == "text" else None
        parts.append(shown if isinstance(shown, str) else f"[{block['type']} content]")
    return "\n".join(parts)
